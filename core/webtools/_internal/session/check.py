"""Checks the links and numbers of an answer against what a session has seen."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

from webtools._internal.grounding.citation_marks import TOKEN, numbers_in
from webtools._internal.text.links import urls_in

_CODE = re.compile(  # a fence begins a line
    r"^[ \t>*+-]{0,20}(?P<fence>`{3,}|~{3,})[^`\n]*\n.*?(?:^[ \t>]{0,20}(?P=fence)|\Z)"
    r"|(?<![`\\])(?P<ticks>`{1,9})(?!`)[^\n]{0,2000}?(?<!`)(?P=ticks)(?!`)",
    re.DOTALL | re.MULTILINE,
)
_DEFINITION = re.compile(
    r"^\s{0,9}(?:[-*+]\s{1,3})?(?:\[\^?(\d{1,6})\]:?|(\d{1,3})[.)])\s", re.MULTILINE
)


class AnswerCitations:
    """What an answer cites.

    Args:
        answer: The answer. What it has in code is no citation.
        known: The numbers of the sources.

    Attributes:
        links: The URLs in it.
        numbers: The numbers in it, without those that its own list of sources defines. Numbers with
            a word that may mean something else, such as `[page 7]`, count if they are known.
    """

    def __init__(self, answer: str, known: Container[int]) -> None:
        text = _CODE.sub(" ", answer)
        self.links = list(dict.fromkeys(urls_in(text, are_requested=False)))
        own = _own_references(text)
        numbers = {
            number
            for match in TOKEN.finditer(text)
            if match["mark"]
            for number in numbers_in(match["mark"])
            if number in known or not (match["weak"] or match["note"])
        }
        self.numbers = sorted(numbers - own.keys())


def _own_references(text: str) -> Mapping[int, str]:
    """Return the URLs by number that the answer itself lists, as in `[1]: https://…`."""
    references: dict[int, str] = {}
    for match in _DEFINITION.finditer(text):
        end = text.find("\n", match.end())
        line = text[match.end() : end if end >= 0 else None]
        if url := next(urls_in(line), ""):
            references[int(match[1] or match[2])] = url
    return references
