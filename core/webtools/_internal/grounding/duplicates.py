"""Recognise near-duplicate passages by their shingles."""

from __future__ import annotations

import re
from collections.abc import Iterable

SAME = 0.7  # minimum share of common shingles, of the shorter passage
_SHINGLE_WORDS = 4  # words of a shingle
_WORDS = re.compile(r"[^\W_]+")
_LONG_WORD = 12  # minimum characters of a word in a script without spaces

Shingles = frozenset[tuple[str, ...]]


def shingles_of(text: str) -> Shingles:
    """Return the runs of neighbouring words of a text, without case and marks."""
    words: list[str] = []
    for word in _WORDS.findall(text.lower()):
        words += word if len(word) > _LONG_WORD and not word.isascii() else [word]
    size = min(_SHINGLE_WORDS, len(words))
    return frozenset(tuple(words[at : at + size]) for at in range(len(words) - size + 1) if size)


def is_repeated(shingles: Shingles, others: Iterable[Shingles]) -> bool:
    """Return whether any of `others` has mostly the same shingles."""
    return any(
        len(shingles & other) >= SAME * max(1, min(len(shingles), len(other))) for other in others
    )
