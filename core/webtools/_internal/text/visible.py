"""Text and links for people: foreign text without tricks, links that show their target."""

from __future__ import annotations

import os
import re
import string
import unicodedata
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.invisible_table import INVISIBLE
from webtools._internal.text.web_urls import is_web_url

LONGEST_URL = 600  # characters shown of one; a longer one is not a link
_MAX_MARKS = 4  # accents on one letter: no script needs more, and a tower covers its neighbours
_RAW_PER_SHOWN = 4  # characters looked at for each one that may be shown
_MIN_RAW = 400
_MAX_BLANKS = 40  # columns between two words of a line: code is aligned, nothing goes off screen
_DUMB = {"dumb", "unknown"}

# What takes no room or turns the direction: format characters, fillers, variation selectors, tags.
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_BLANKS = re.compile(r"\s+")


def display_text(value: Any, limit: int = 200) -> str:
    """Clean foreign text for display on one line: nothing in it acts, hides or reorders.

    What is long is cut before anything looks at it, so a huge text costs no more than a short one.

    Args:
        value: The text; anything but a string counts as empty.
        limit: Maximum number of characters; a cut text ends in an ellipsis.
    """
    if not isinstance(value, str):
        return ""
    raw = value[: max(limit * _RAW_PER_SHOWN, _MIN_RAW)]
    text = " ".join(_harmless(raw).split())
    if len(text) <= limit and len(raw) == len(value):
        return text
    return f"{text[: limit - 1].rstrip()}…" if text else ""


def _harmless(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        text = _INVISIBLE.sub("", without_controls(text))
    if not text.isascii():
        text = "".join(_without_towers(text))
    return text


def _without_towers(text: str) -> Iterator[str]:
    """Keep the first few accents of each letter."""
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in {"Mn", "Me"} else 0
        if marks <= _MAX_MARKS:
            yield character


def display_lines(text: Any, max_lines: int, limit: int = 1000) -> tuple[list[str], int]:
    """Clean the first lines of a foreign text for display; indentation is kept.

    Args:
        text: The text; anything but a string counts as empty.
        max_lines: Maximum number of lines.
        limit: Maximum number of characters of a line.

    Returns:
        The lines, and how many more there are.
    """
    if not isinstance(text, str) or not text.strip():
        return [], 0
    lines = text.split("\n", max_lines)
    more = text.count("\n") + 1 - max_lines
    return [_indented(line, limit) for line in lines[:max_lines]], max(more, 0)


def _indented(line: str, limit: int) -> str:
    raw = line[: max(limit * _RAW_PER_SHOWN, _MIN_RAW)].expandtabs(4)
    text = _BLANKS.sub(lambda run: " " * min(len(run[0]), _MAX_BLANKS), _harmless(raw)).rstrip()
    if len(text) <= limit and len(raw) >= len(line):
        return text
    return f"{text[: limit - 1].rstrip()}…" if text.strip() else ""


def link_target(url: str, shown: str) -> str | None:
    """Return what a shown URL may link to, in ASCII; None when it must not be a link.

    A link is an http(s) URL that is shown in full, with a host in ASCII and nothing before the
    host that could be taken for it.
    """
    if url != shown or not is_web_url(url):
        return None
    host = urlsplit(url).netloc
    if "@" in host or not host.isascii():
        return None
    return quote(url, safe=string.punctuation)


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is a terminal on which lines can be redrawn."""
    try:
        return bool(stream.isatty()) and os.environ.get("TERM", "").lower() not in _DUMB
    except (AttributeError, OSError, ValueError):  # no stream, or a closed one
        return False
