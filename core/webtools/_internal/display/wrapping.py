"""Long lines broken between words, as people on a terminal read them."""

from __future__ import annotations

import os
import re
import unicodedata
from contextlib import suppress
from typing import Any

_LEAD = re.compile(r"\s*(?:(?:[-*•]|\d{1,3}\.|\[\d{1,3}\])\s+|[^\s:][^:]{0,29}:\s{2,})?")
_WORD = re.compile(r"\s*\S+")
_WIDE = {"W", "F"}
_USUAL_WIDTH = 80  # where the terminal does not say


def width_of(stream: Any) -> int:
    """Return the columns of the terminal that a stream leads to, or what `COLUMNS` asks for."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked):
        return int(asked)
    with suppress(AttributeError, OSError, ValueError):  # no stream, or one without a descriptor
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    return _USUAL_WIDTH


def wrapped(text: str, width: int, hanging: int = 0) -> str:
    """Break the lines that are longer than a number of columns.

    What a line wraps to is indented as its own text is, also below a number, a dash or what
    stands right of a label in columns. A word that is longer than a line, such as a URL, stays
    whole: it can then be copied. The indent has `hanging` columns at least.
    """
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width, hanging))


def _broken(line: str, width: int, hanging: int) -> list[str]:
    line = line.rstrip()  # from each of many blanks `_WORD` would look for a word to the end
    if _columns(line) <= width:
        return [line]
    lead = _LEAD.match(line)
    indent = " " * min(max(hanging, len(lead[0]) if lead else 0), width // 2)
    lines, taken = list[str](), ""
    for word in _WORD.findall(line):
        if taken and _columns(taken) + _columns(word) > width:
            lines.append(taken)
            taken = indent + word.lstrip()
        else:
            taken += word
    return [*lines, taken]


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(each) in _WIDE for each in text)
