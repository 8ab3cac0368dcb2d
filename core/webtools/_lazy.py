"""Packages whose names are loaded when they are first used: importing them costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_package(
    package: str, homes: Mapping[str, Sequence[str]], *, needs: str = "", remedy: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a package's `__getattr__` and `__dir__`.

    Args:
        package: Its name.
        homes: By module of the package, the public names that live there.
        needs: Top-level name of the framework that the modules import, if any.
        remedy: What to tell whoever has not installed it.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def load(name: str) -> Any:
        """Load a public name from its module."""
        if name not in home_of:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        try:
            home = import_module(f"{package}.{home_of[name]}")
        except ModuleNotFoundError as error:
            if not needs or (error.name or "").partition(".")[0] != needs:
                raise
            raise ImportError(remedy) from error
        value = getattr(home, name)
        setattr(sys.modules[package], name, value)
        return value

    def public() -> list[str]:
        """List the public names."""
        return list(sys.modules[package].__all__)

    return load, public
