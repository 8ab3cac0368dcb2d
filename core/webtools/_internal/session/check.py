"""Checks the links and numbers of an answer against what a session has seen."""

from __future__ import annotations

import re
from collections.abc import Container

from webtools._internal.grounding.citation_marks import TOKEN, numbers_in
from webtools._internal.session.gate import Gate
from webtools._internal.session.history import History
from webtools._internal.text.answer_links import links_in
from webtools._internal.text.links import key_of, urls_in
from webtools.page_urls import page_key

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
        self.links = list(dict.fromkeys(links_in(answer)))
        text = _CODE.sub(" ", answer)
        own = _own_references(text)
        numbers = {
            number
            for match in TOKEN.finditer(text)
            if match["mark"]
            for number in numbers_in(match["mark"])
            if number in known or not (match["weak"] or match["note"])
        }
        self.numbers = sorted(numbers - own)

    def not_seen(self, history: History, gate: Gate) -> list[str]:
        """Return the links that were not seen."""
        return [link for link in self.links if not _is_known(link, history, gate)]


def _own_references(text: str) -> set[int]:
    """Return the numbers for which the answer itself lists URLs, as in `[1]: https://…`."""
    references = set[int]()
    for match in _DEFINITION.finditer(text):
        end = text.find("\n", match.end())
        line = text[match.end() : end if end >= 0 else None]
        if any(urls_in(line)):
            references.add(int(match[1] or match[2]))
    return references


def _is_known(link: str, history: History, gate: Gate) -> bool:
    """Return whether the link of an answer is one that was seen.

    It may have another fragment, another slash at its end and the parameter that OpenAI adds, or
    lack `utm_` parameters.
    """
    source = history.sources.get(page_key(link))
    link = link.partition("#")[0]
    for end in ("?utm_source=openai", "&utm_source=openai"):
        link = link.removesuffix(end)
    plain = _without_slash(link)
    base, mark, query = plain.partition("?")
    if any(map(gate.find, (link, plain, f"{base}/{mark}{query}"))):
        return True
    if source is None or source.how == "argument":
        return False
    url = source.url.partition("#")[0]
    spellings = (url, _without_campaign(url))
    return key_of(plain) in {key_of(_without_slash(spelling)) for spelling in spellings}


def _without_campaign(url: str) -> str:
    base, _, query = url.partition("?")
    fields = [field for field in query.split("&") if field and not field.lower().startswith("utm_")]
    return f"{base}?{'&'.join(fields)}" if fields else base


def _without_slash(url: str) -> str:
    base, mark, query = url.partition("?")
    return f"{base.removesuffix('/')}{mark}{query}"
