"""Stores of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from webtools._internal.storage.stores import Stores

TTL, ROOM = 60.0, 2**20  # seconds, bytes
Make: TypeAlias = Callable[..., Stores]  # another one over the same file or server each time
