"""The data files of the package: news, lists of values, tables of errors."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

_FOLDER = files("webtools_sandbox") / "data"


def text(name: str) -> str:
    """Return the text of a file."""
    return (_FOLDER / name).read_text(encoding="utf-8")


@cache
def table(name: str) -> dict[str, Any]:
    """Return a TOML file, read once."""
    return tomllib.loads(text(f"{name}.toml"))


def guide(name: str) -> str:
    """Return the sandbox's own text about a module, or an empty string."""
    file = _FOLDER / "guides" / f"{name}.md"
    return file.read_text(encoding="utf-8").strip() if file.is_file() else ""
