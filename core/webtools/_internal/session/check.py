"""Checks the links and numbers of an answer against what a session has seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from webtools._internal.session.links import urls_in

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_MARK = re.compile(
    r"[\[【]\^?\s?(\d{1,6}(?:\s?[,;\u2013-]\s?\d{1,6}){0,50})(?:†[^\]】\n]{0,80})?[\]】](?!\()"
)
_PART = re.compile(r"(\d{1,6})(?:\s?[\u2013-]\s?(\d{1,6}))?")
_DEFINITION = re.compile(
    r"^\s{0,9}(?:[-*+]\s{1,3})?(?:\[\^?(\d{1,6})\]:?|(\d{1,3})[.)])\s", re.MULTILINE
)
_LONGEST_RANGE = 100


class Cited:
    """What an answer cites.

    Args:
        answer: The answer. What it has in code is no citation.

    Attributes:
        links: The URLs in it.
        numbers: The numbers in it, without those that its own list of sources defines.
    """

    def __init__(self, answer: str) -> None:
        text = _CODE.sub(" ", answer)
        self.links = list(dict.fromkeys(urls_in(text)))
        own = _own_references(text)
        self.numbers = sorted({number for number in _numbers(text) if number not in own})


def _numbers(text: str) -> Iterator[int]:
    for mark in _MARK.finditer(text):
        for first, last in _PART.findall(mark[1]):
            start, end = int(first), int(last or first)
            yield from (
                range(start, min(end, start + _LONGEST_RANGE) + 1) if end >= start else (start,)
            )


def _own_references(text: str) -> Mapping[int, str]:
    """Return the URLs by number that the answer itself lists, as in `[1]: https://…`."""
    references: dict[int, str] = {}
    for match in _DEFINITION.finditer(text):
        end = text.find("\n", match.end())
        line = text[match.end() : end if end >= 0 else None]
        if url := next(urls_in(line), ""):
            references[int(match[1] or match[2])] = url
    return references
