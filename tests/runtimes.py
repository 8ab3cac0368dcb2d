"""Calls in both runtimes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from webtools import WebTools

BOTH = pytest.mark.parametrize("is_async", [False, True])


def either(is_async: bool, web: WebTools, method: str, *args: Any, **kwargs: Any) -> Any:
    """Call a method, or its async twin."""
    if not is_async:
        return getattr(web, method)(*args, **kwargs)
    call: Callable[..., Any] = getattr(web, f"a{method}")
    return asyncio.run(call(*args, **kwargs))
