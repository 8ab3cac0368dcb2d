"""Write snippets of documentation as Markdown, one result per page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urldefrag

from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.cutting import cut_at_line
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.redaction import redactor_for
from webtools.providers.about import Account
from webtools.results import SearchResult

_MAX_PAGE_CHARACTERS = 4_000  # of the snippets of one page together
_LANGUAGE = re.compile(r"[\w.+#-]{1,30}")


def fenced(code: str, language: str | None) -> str:
    """Return code in a fence that the code itself does not close, or "" for blank code."""
    body = without_controls(code).strip("\n")
    if not body.strip():
        return ""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", body)), default=0))
    name = language if language and _LANGUAGE.fullmatch(language) else ""
    return f"{fence}{name}\n{body}\n{fence}"


def by_page(snippets: Iterable[SearchResult], account: Account) -> list[SearchResult]:
    """Merge the snippets of each page into one result, in the order of their first snippets."""
    pages: dict[str, list[SearchResult]] = {}
    for snippet in snippets:
        if snippet.snippet:
            pages.setdefault(urldefrag(snippet.url).url, []).append(snippet)
    return [
        parts[0].model_copy(update={"snippet": _joined(parts, account)}) for parts in pages.values()
    ]


def _joined(snippets: list[SearchResult], account: Account) -> str:
    """Join the snippets of a page, with titles, up to a maximum length.

    The first snippet is cut if it is too long. Of the others, only whole ones are left out.
    """
    text = _within_limit(snippets[0].snippet, account)
    for count, snippet in enumerate(snippets[1:], 1):
        part = f"### {snippet.title}\n\n{snippet.snippet}"
        if len(text) + len(part) > _MAX_PAGE_CHARACTERS:
            return f"{text}\n\n[{len(snippets) - count} more snippets of this page are left out.]"
        text = f"{text}\n\n{part}"
    return text


def _within_limit(text: str, account: Account) -> str:
    """Cut a long text at the end of a line, and close an open block of code."""
    if len(text) <= _MAX_PAGE_CHARACTERS:
        return text
    # Redact keys before the cut: half a key would not be recognized.
    clean = redactor_for(account.secrets).text(without_invisible(text))
    start = cut_at_line(clean, _MAX_PAGE_CHARACTERS)
    fence = _open_fence(start)
    return f"{start}\n{fence}\n…" if fence else f"{start} …"


def _open_fence(text: str) -> str:
    """Return the fence of the block of code that is open at the end of a text, or ""."""
    fence = ""
    for row in text.splitlines():
        ticks = row[: len(row) - len(row.lstrip("`"))]
        if fence and row == fence:
            fence = ""
        elif not fence and len(ticks) >= len("```"):
            fence = ticks
    return fence
