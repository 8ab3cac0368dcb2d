"""How the demo looks: steps, calls and excerpts within 80 columns, or fewer on a terminal."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections.abc import Sequence
from functools import partial

from webtools.cli.demo.script import Call
from webtools.display.wrapping import width_of, wrapped
from webtools.text.fencing import unfenced
from webtools.text.visible import is_terminal

_WIDEST = 78
_EXCERPT_LINES = 6
_INDENT = "   "
_print = partial(print, flush=True)


def heading(text: str) -> None:
    """Begin a part."""
    _print(f"\n{text}\n{'=' * len(text)}")


def text(words: str, indent: str = "") -> None:
    """Print a text; what its lines wrap to is indented as they are."""
    _print(textwrap.indent(wrapped(words, _width() - len(indent)), indent))


def command(words: Sequence[str]) -> None:
    """Print a command as one types it, continued on more lines where it is long."""
    lines = ["$"]
    for word in map(shlex.quote, words):
        if len(lines[-1]) + len(word) + 3 > _width():
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    _print("\n" + "\n".join(lines))


def call(wanted: Call) -> None:
    """Print a tool call."""
    given = wanted.arguments.items()
    arguments = ", ".join(f"{name}={json.dumps(each, ensure_ascii=False)}" for name, each in given)
    text(f"\n-> {wanted.tool}({arguments})")


def result(given: str, *, is_error: bool = False) -> None:
    """Print the beginning of what a tool gave, without the fence that models see round it."""
    if is_error:
        _print("   failed:")
    lines = [line for line in unfenced(given).split("\n") if line.strip()]
    if len(lines) == 1:
        text(lines[0], _INDENT)
        return
    shown = [*map(_cut, lines[:_EXCERPT_LINES])]
    if len(lines) > _EXCERPT_LINES:
        shown.append(f"… {len(lines) - _EXCERPT_LINES} more lines")
    _print(textwrap.indent("\n".join(shown), _INDENT))


def answer(given: str) -> None:
    """Print an answer in full."""
    _print("\nAnswer:")
    text(given, _INDENT)


def _width() -> int:
    return min(width_of(sys.stdout), _WIDEST) if is_terminal(sys.stdout) else _WIDEST


def _cut(line: str) -> str:
    is_url = "://" in line and " " not in line.strip()
    room = _width() - len(_INDENT)
    return line if len(line) <= room or is_url else line[: room - 1] + "…"
