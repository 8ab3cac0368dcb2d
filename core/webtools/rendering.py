"""Moved to `webtools.display.terminal`; this name goes with the next minor version."""

import warnings
from importlib import import_module
from typing import Any

warnings.warn("webtools.display.terminal is the new name", DeprecationWarning, stacklevel=2)


def __getattr__(name: str) -> Any:
    """Load a name from its new place."""
    return getattr(import_module("webtools.display.terminal"), name)
