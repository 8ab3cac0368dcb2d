"""Wrap long lines between words, for a terminal."""

from __future__ import annotations

import os
import re
import unicodedata
from contextlib import suppress
from typing import Any

_LEAD = re.compile(r"\s*(?:(?:[-*•]|\d{1,3}\.|\[\d{1,3}\])\s+|[^\s:][^:]{0,29}:\s{2,})?")
_WORD = re.compile(r"\s*\S+")
_WIDE = {"W", "F"}
_DEFAULT_WIDTH = 80  # if the terminal reports none


def width_of(stream: Any) -> int:
    """Return the width of a stream's terminal in columns; `COLUMNS` overrides it."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns):
        return int(columns)
    with suppress(AttributeError, OSError, ValueError):  # not a stream, or one without a descriptor
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    return _DEFAULT_WIDTH


def wrapped(text: str, width: int, hanging: int = 0) -> str:
    """Wrap the lines that are longer than `width` columns.

    Continuation lines align with the text of their line: after a number, a dash or a label.
    A word that is longer than a line, such as a URL, is not split, so that it can be copied. The
    indent has at least `hanging` columns.
    """
    return "\n".join(part for line in text.split("\n") for part in _wrap_line(line, width, hanging))


def _wrap_line(line: str, width: int, hanging: int) -> list[str]:
    line = line.rstrip()  # many trailing blanks would make `_WORD` quadratic
    if _columns(line) <= width:
        return [line]
    lead = _LEAD.match(line)
    indent = " " * min(max(hanging, len(lead[0]) if lead else 0), width // 2)
    lines, current = list[str](), ""
    for word in _WORD.findall(line):
        if current and _columns(current) + _columns(word) > width:
            lines.append(current)
            current = indent + word.lstrip()
        else:
            current += word
    return [*lines, current]


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(character) in _WIDE for character in text)
