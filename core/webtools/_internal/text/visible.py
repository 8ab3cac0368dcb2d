"""What may be shown to people: foreign text without tricks, links that lead where they say."""

from __future__ import annotations

import os
import re
import string
import unicodedata
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

from webtools._internal.text.cleaning import is_web_url, without_controls
from webtools._internal.text.invisible_table import INVISIBLE

LONGEST_URL = 600  # characters shown of one; a longer one is no link
_MOST_MARKS = 4  # accents on one letter: no script needs more, and a tower covers its neighbours
_RAW_PER_SHOWN = 4  # characters looked at for each one that may be shown
_RAW_AT_LEAST = 400
_MOST_BLANKS = 40  # columns between two words of a line: code is aligned, nothing goes off screen
_DUMB = {"dumb", "unknown"}

# What takes no room or turns the direction: format characters, fillers, variation selectors, tags.
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_BLANKS = re.compile(r"\s+")


def display_text(value: Any, most: int = 200) -> str:
    """Make foreign text fit to be shown on one line: nothing in it acts, hides or reorders.

    What is long is cut before anything looks at it, so a huge text costs no more than a short one.

    Args:
        value: The text; anything but a string counts as none.
        most: Characters at most; a cut text ends in an ellipsis.
    """
    if not isinstance(value, str):
        return ""
    raw = value[: max(most * _RAW_PER_SHOWN, _RAW_AT_LEAST)]
    text = " ".join(_harmless(raw).split())
    if len(text) <= most and len(raw) == len(value):
        return text
    return f"{text[: most - 1].rstrip()}…" if text else ""


def _harmless(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        text = _INVISIBLE.sub("", without_controls(text))
    if not text.isascii():
        text = "".join(_without_towers(text))
    return text


def _without_towers(text: str) -> Iterator[str]:
    """Keep the first few of the marks that stand on one letter."""
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in {"Mn", "Me"} else 0
        if marks <= _MOST_MARKS:
            yield character


def display_lines(text: Any, most_lines: int, most: int = 1000) -> tuple[list[str], int]:
    """Make the first lines of a foreign text fit to be shown, with its blanks as they were.

    Args:
        text: The text; anything but a string counts as none.
        most_lines: Lines at most.
        most: Characters of one line at most.

    Returns:
        The lines, and how many more there are.
    """
    if not isinstance(text, str) or not text.strip():
        return [], 0
    lines = text.split("\n", most_lines)
    more = text.count("\n") + 1 - most_lines
    return [_indented(line, most) for line in lines[:most_lines]], max(more, 0)


def _indented(line: str, most: int) -> str:
    raw = line[: max(most * _RAW_PER_SHOWN, _RAW_AT_LEAST)].expandtabs(4)
    shown = _BLANKS.sub(lambda run: " " * min(len(run[0]), _MOST_BLANKS), _harmless(raw)).rstrip()
    if len(shown) <= most and len(raw) >= len(line):
        return shown
    return f"{shown[: most - 1].rstrip()}…" if shown.strip() else ""


def link_target(url: str, shown: str) -> str | None:
    """Return what a shown URL may link to, in ASCII; None when it should be no link.

    A link is an http(s) URL that is shown whole and as it is, with a host that no other
    alphabet imitates and nothing before the host that could be taken for it.
    """
    if url != shown or not is_web_url(url):
        return None
    place = urlsplit(url).netloc
    if "@" in place or not place.isascii():
        return None
    return quote(url, safe=string.punctuation)


def is_terminal(stream: Any) -> bool:
    """Return whether a stream leads to a terminal on which lines can be drawn anew."""
    try:
        return bool(stream.isatty()) and os.environ.get("TERM", "").lower() not in _DUMB
    except (AttributeError, OSError, ValueError):  # no stream, or a closed one
        return False
