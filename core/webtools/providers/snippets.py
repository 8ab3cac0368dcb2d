"""Snippets of documentation as Markdown: code to the letter, those of one page together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urldefrag

from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.redaction import redactor_for
from webtools.providers.about import Account
from webtools.results import SearchResult

_PAGE_CHARACTERS = 4_000  # of the snippets of one page together
_LANGUAGE = re.compile(r"[\w.+#-]{1,30}")


def fenced(code: str, language: str | None) -> str:
    """Write a block of code in a fence that nothing in it closes; blank code gives nothing."""
    body = without_controls(code).strip("\n")
    if not body.strip():
        return ""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", body)), default=0))
    name = language if language and _LANGUAGE.fullmatch(language) else ""
    return f"{fence}{name}\n{body}\n{fence}"


def by_page(snippets: Iterable[SearchResult], account: Account) -> list[SearchResult]:
    """Make one result of the snippets of a page, in the order of each page's first one."""
    pages: dict[str, list[SearchResult]] = {}
    for snippet in snippets:
        if snippet.snippet:
            pages.setdefault(urldefrag(snippet.url).url, []).append(snippet)
    return [
        parts[0].model_copy(update={"snippet": _joined(parts, account)}) for parts in pages.values()
    ]


def _joined(snippets: list[SearchResult], account: Account) -> str:
    """Join the snippets of a page, the further ones under their titles, as far as they fit.

    Only whole snippets are left out; the first one alone is cut where it is too long.
    """
    kept = _cut(snippets[0].snippet, account)
    for count, each in enumerate(snippets[1:], 1):
        part = f"### {each.title}\n\n{each.snippet}"
        if len(kept) + len(part) > _PAGE_CHARACTERS:
            return f"{kept}\n\n[{len(snippets) - count} more of this page are left out.]"
        kept = f"{kept}\n\n{part}"
    return kept


def _cut(words: str, account: Account) -> str:
    """Cut a long text at the end of a line, and close a block of code that is then open."""
    if len(words) <= _PAGE_CHARACTERS:
        return words
    # Keys go before the cut, or half of one may be left.
    words = redactor_for(account.secrets).text(without_invisible(words))
    kept = words[:_PAGE_CHARACTERS]
    kept = kept.rpartition("\n")[0] or kept.rpartition(" ")[0] or kept
    fence = _open_fence(kept)
    return f"{kept}\n{fence}\n…" if fence else f"{kept} …"


def _open_fence(words: str) -> str:
    """Find the fence of the block of code that a text ends in."""
    fence = ""
    for row in words.splitlines():
        ticks = row[: len(row) - len(row.lstrip("`"))]
        if fence and row == fence:
            fence = ""
        elif not fence and len(ticks) >= len("```"):
            fence = ticks
    return fence
