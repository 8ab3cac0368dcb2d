"""The links that a reader of an answer in Markdown or HTML opens or loads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

_TO_ANOTHER_SITE = re.compile(r"(https?:)?([/\\]*)(.*)", re.IGNORECASE | re.DOTALL)
_IN_TEXT = re.compile(r"(?:https?:[/\\]+|(?<![\w/.@-])www\.)[^\s<>\"/\\][^\s<>\"]*", re.IGNORECASE)
_LONG = 5_000  # characters of HTML
_IN_LONG_HTML = re.compile(r"(?:https?:|//)[^\s<>]{0,2000}", re.IGNORECASE)
_CJK_SIGNS = re.compile("[\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f]")
_BEHIND = ".,;:!?'*_~…·)]}`|"  # what may follow a link in a text
_IN_ATTRIBUTES = re.compile(r"[\s,;()'\"]+")  # between the URLs of `srcset` and `style`


def links_in(answer: str) -> Iterator[str]:
    """Yield the URLs of other sites in an answer, but not those in code.

    Also those that cannot be requested here. A table can split code, so the answer is read with
    tables and without.
    """
    for parser in (_Parser("commonmark"), _Parser("commonmark").enable("table")):
        known: dict[str, Any] = {}
        yield from _links_of(parser.parse(answer, known))
        for definition in known.get("references", {}).values():
            yield from _in_text(definition["href"])


class _Parser(MarkdownIt):
    """Leaves URLs as they are."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802
        return True


class _Attributes(HTMLParser):
    """Collects the URLs of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        for _, value in attrs:
            url = re.sub(r"[\t\n\r]", "", value or "").strip()
            for part in (url, *_IN_ATTRIBUTES.split(url)):
                self.urls += _absolute(part)

    def handle_data(self, data: str) -> None:
        self.urls += _in_text(data)


def _links_of(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        yield from _absolute(str(token.attrGet("href") or token.attrGet("src") or ""))
        if token.type.startswith("html_"):
            yield from _in_html(token.content)
        elif token.type == "text":
            yield from _in_text(token.content)
        yield from _links_of(token.children or ())


def _in_html(html: str) -> Iterable[str]:
    """Return the URLs of HTML. The parser is slow for long HTML: there, they are not compared."""
    return _Attributes(html).urls if len(html) <= _LONG else _IN_LONG_HTML.findall(html)


def _absolute(url: str) -> Iterator[str]:
    """Yield a URL with its scheme, if it may lead to another site."""
    match = _TO_ANOTHER_SITE.fullmatch(url.strip())
    if match and (match[1] or len(match[2]) > 1):
        yield f"{(match[1] or 'https:').lower()}//{match[3]}"


def _in_text(text: str) -> Iterator[str]:
    for match in _IN_TEXT.finditer(text):
        whole = _CJK_SIGNS.split(match[0])[0]
        url = whole.rstrip(_BEHIND)
        behind = whole[len(url) :]
        closing = len(behind) - len(behind.lstrip(")"))
        url += ")" * min(closing, url.count("(") - url.count(")"))  # none if that is negative
        yield from _absolute(url if url[:4].lower() == "http" else f"https://{url}")
