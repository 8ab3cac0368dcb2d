"""Picks the passages of a page that say most about a query."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import log

_SHORTEST, _LONGEST = 250, 1000  # bounds of what a passage may have at most, in characters
_GAP = "\n\n[…]\n\n"
_BLANK_LINES = re.compile(r"\n\s*\n")
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts whose words stand unspaced
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


def best_passages(text: str, query: str, max_characters: int) -> str:
    """Cut a text to what suits a query best, in the text's order; else to its beginning.

    Args:
        text: Any text; paragraphs are told by blank lines.
        query: What it should say something about; may be empty.
        max_characters: Most characters to return, the marks `[…]` included.
    """
    if len(text) <= max_characters:
        return text
    longest = min(max(_SHORTEST, max_characters // 4), _LONGEST, max_characters)
    passages = [*_passages(text, longest)]
    return _joined(passages, _chosen(passages, _scores(passages, query), max_characters))


def _passages(text: str, longest: int) -> Iterator[str]:
    """Part a text; paragraphs that fit stay together, and a heading begins a new passage."""
    passage = ""
    for piece in _pieces(text, longest):
        joined = f"{passage}\n\n{piece}" if passage else piece
        if len(joined) > longest or (piece.startswith("#") and len(passage) > longest // 2):
            yield passage
            joined = piece
        passage = joined
    if passage:
        yield passage


def _pieces(text: str, longest: int) -> Iterator[str]:
    for paragraph in _BLANK_LINES.split(text):
        start = 0
        while start < len(paragraph):
            end = _end(paragraph, start, longest)
            if piece := paragraph[start:end].strip():
                yield piece
            start = end


def _end(text: str, start: int, longest: int) -> int:
    """Find where a piece may end: after a line, a sentence or a word, in its second half."""
    stop = start + longest
    if stop >= len(text):
        return len(text)
    for mark in ("\n", ". ", "。", " "):
        place = text.rfind(mark, start + longest // 2, stop)
        if place > start:
            return place + len(mark)
    return stop


def _scores(passages: list[str], query: str) -> list[float]:
    """Rate each passage by the query's words in it; a word counts the more the rarer it is."""
    wanted = {*_words(query)}
    found = [wanted.intersection(_words(passage)) for passage in passages]
    passages_with = Counter(word for words in found for word in words)
    return [sum(log(1 + len(passages) / passages_with[word]) for word in words) for words in found]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _chosen(passages: list[str], scores: list[float], room: int) -> list[int]:
    """Take the best that fit, of equal ones the earlier; those that say nothing only if all do."""
    telling = [index for index, score in enumerate(scores) if score] or range(len(passages))
    chosen: list[int] = []
    for index in sorted(telling, key=lambda index: (-scores[index], index)):
        size = len(passages[index]) + (len(_GAP) if chosen else 0)
        if size <= room:
            chosen.append(index)
            room -= size
    return sorted(chosen)


def _joined(passages: list[str], chosen: list[int]) -> str:
    text = passages[chosen[0]] if chosen else ""
    for before, index in pairwise(chosen):
        text += ("\n\n" if index == before + 1 else _GAP) + passages[index]
    return text
