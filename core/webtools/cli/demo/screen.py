"""How the demo looks: steps, calls and excerpts within 80 columns, or fewer on a terminal."""

from __future__ import annotations

import json
import re
import shlex
import sys
import textwrap
from collections.abc import Sequence

from webtools.cli.demo.script import Call
from webtools.display.wrapping import width_of
from webtools.text.fencing import unfenced
from webtools.text.visible import is_terminal

_WIDEST = 78
_EXCERPT_LINES = 6
_INDENT = "   "


def heading(text: str) -> None:
    """Begin a part."""
    print(f"\n{text}\n{'=' * len(text)}", flush=True)


def text(words: str) -> None:
    """Print a paragraph."""
    print(_wrap(words), flush=True)


def command(words: Sequence[str]) -> None:
    """Print a command as one types it, continued on more lines where it is long."""
    lines = ["$"]
    for word in map(shlex.quote, words):
        if len(lines[-1]) + len(word) + 3 > _width():
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    print("\n" + "\n".join(lines), flush=True)


def call(wanted: Call) -> None:
    """Print a tool call."""
    arguments = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in wanted.arguments.items()
    )
    print("\n" + _wrap(f"{wanted.tool}({arguments})", "-> ", "     "), flush=True)


def result(given: str, *, is_error: bool = False) -> None:
    """Print the beginning of what a tool gave, without the fence that models see round it."""
    if is_error:
        print("   failed:")
    lines = [line for line in unfenced(given).split("\n") if line.strip()]
    if len(lines) == 1:
        print(_wrap(lines[0], _INDENT, _INDENT), flush=True)
        return
    print("\n".join(map(_cut, lines[:_EXCERPT_LINES])))
    if len(lines) > _EXCERPT_LINES:
        print(f"{_INDENT}… {len(lines) - _EXCERPT_LINES} more lines")
    print(end="", flush=True)


def answer(given: str) -> None:
    """Print an answer in full."""
    print("\nAnswer:")
    print("\n".join(map(_answer_line, given.split("\n"))), flush=True)


def _width() -> int:
    return min(width_of(sys.stdout), _WIDEST) if is_terminal(sys.stdout) else _WIDEST


def _answer_line(line: str) -> str:
    """Wrap a line; a numbered one goes on below its words."""
    number = re.match(r"\d+\. ", line)
    return _wrap(line, _INDENT, _INDENT + " " * (number.end() if number else 0))


def _cut(line: str) -> str:
    line = _INDENT + line
    is_url = "://" in line and " " not in line.strip()
    width = _width()
    return line if len(line) <= width or is_url else line[: width - 1] + "…"


def _wrap(words: str, first: str = "", others: str = "") -> str:
    """Wrap at blanks alone, so that a URL stays whole."""
    own = words[: len(words) - len(words.lstrip())]
    return textwrap.fill(
        words.strip(),
        _width(),
        initial_indent=first + own,
        subsequent_indent=others + own,
        break_long_words=False,
        break_on_hyphens=False,
    )
