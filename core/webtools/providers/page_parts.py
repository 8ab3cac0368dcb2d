"""The parts of a page where its provider sends whole texts alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from webtools.providers.about import Account
from webtools.providers.fetched import PageFields, read_page_list
from webtools.providers.hits import Item
from webtools.providers.protocols import PageQuery, Pages
from webtools.results import Page

_HIGHLIGHTS = 3
_LONGEST_HIGHLIGHT = 500
_SHORTEST_HIGHLIGHT = 60
_NO_PROSE = re.compile(r"\s*(?:#|```|\||[-*+] |\d+\. |>|\[Page )")


def read_texts(
    items: Iterable[Item],
    fields: PageFields,
    query: PageQuery,
    account: Account,
    faults: Mapping[str, str],
) -> Pages:
    """Read one page per URL, of which the whole texts come alone, with the parts asked for."""
    whole = read_page_list(items, fields, replace(query, text=True), account, faults)
    most = query.text_max_characters or account.options.default_fetch_text_max_characters
    shown = [with_parts(page, query, most) for page in whole]
    said = [warning for _, warnings in shown for warning in warnings]
    return Pages([page for page, _ in shown], warnings=[*missing_parts(query, account.name), *said])


def with_parts(page: Page, query: PageQuery, most: int | None) -> tuple[Page, list[str]]:
    """Return a page that has its whole text with the parts asked for, and what was cut."""
    if page.error:
        return page, []
    whole = page.text or ""
    wants_text = query.text or not query.highlights  # a summary cannot be had
    text = cut(whole, most) if most else whole
    highlights = lead(whole) if query.highlights else []
    shown = page.model_copy(update={"text": text if wants_text else None, "highlights": highlights})
    if not wants_text or len(text) == len(whole):
        return shown, []
    return shown, [f"{page.url}: the first {len(text):,} of {len(whole):,} characters."]


def missing_parts(query: PageQuery, name: str) -> list[str]:
    """Name which parts a provider of texts does not have, and what comes instead."""
    said: list[str] = []
    if query.summary:
        instead = "" if query.text or query.highlights else " The text is given instead."
        said.append(f'Provider "{name}" cannot summarize pages.{instead}')
    if query.highlights:
        said.append(
            f'Highlights of provider "{name}" are the first paragraphs of each page, as there is '
            "no query to choose by."
        )
    return said


def cut(text: str, most: int) -> str:
    """Cut a text to so many characters, at white space where there is some nearby."""
    if len(text) <= most:
        return text
    kept = text[:most]
    end = max(kept.rfind(" "), kept.rfind("\n"))
    return kept[:end].rstrip() if end > most * 0.8 else kept


def lead(text: str) -> list[str]:
    """Return the first paragraphs of prose: what a fetch without a query has for highlights."""
    paragraphs = [p.strip() for p in text.split("\n\n") if p.strip() and not _NO_PROSE.match(p)]
    long = [p for p in paragraphs if len(p) >= _SHORTEST_HIGHLIGHT]
    return [cut(p, _LONGEST_HIGHLIGHT) for p in (long or paragraphs)[:_HIGHLIGHTS]]
