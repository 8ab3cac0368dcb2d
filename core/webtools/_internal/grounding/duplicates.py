"""Recognise passages that say the same in nearly the same words, by their shingles."""

from __future__ import annotations

import re
from collections.abc import Iterable

SAME = 0.7  # share of the shorter one's shingles from which on two passages are the same
_SIZE = 4  # words of a shingle
_WORDS = re.compile(r"[^\W_]+")
_UNSPACED = 12  # characters of a word from which on it is a script without spaces, or nearly

Shingles = frozenset[tuple[str, ...]]


def shingles_of(text: str) -> Shingles:
    """Return the runs of neighbouring words of a text, case and marks left out."""
    words: list[str] = []
    for word in _WORDS.findall(text.lower()):
        words += word if len(word) > _UNSPACED and not word.isascii() else [word]
    size = min(_SIZE, len(words))
    return frozenset(tuple(words[at : at + size]) for at in range(len(words) - size + 1) if size)


def is_repeated(shingles: Shingles, others: Iterable[Shingles]) -> bool:
    """Return whether any of others has most of the same shingles."""
    return any(
        len(shingles & other) >= SAME * max(1, min(len(shingles), len(other))) for other in others
    )
