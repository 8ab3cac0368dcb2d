"""Imports of what most processes do not need, by name."""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def resolve(name: str) -> Any:
    """Import a function or class that is written as `module:name` below `webtools`."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"webtools.{module}"), attribute)
