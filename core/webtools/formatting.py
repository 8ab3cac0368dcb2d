"""What the model reads: numbered results, page sections, and what went wrong beside them."""

from __future__ import annotations

from collections.abc import Sequence

from webtools.results import FetchResponse, Page, QueryError, SearchResponse, SearchResult

INDENT = "   "
NO_RESULTS = "No results found."


def search_text(results: Sequence[SearchResult]) -> str:
    """List results, numbered from 1; a blank line stands between two."""
    if not results:
        return NO_RESULTS
    return "\n\n".join([_numbered(i, result) for i, result in enumerate(results, 1)])


def _numbered(number: int, result: SearchResult) -> str:
    lines = [f"{number}. {result.title}", result.url]
    if result.snippet:
        lines.append(result.snippet)
    if facts := _facts(result):
        lines.append(facts)
    return f"\n{INDENT}".join(lines)


def _facts(item: SearchResult | Page) -> str:
    """Give `YYYY-MM-DD · Author`, as far as known."""
    day = f"{item.published_at:%Y-%m-%d}" if item.published_at else ""
    if day and item.author:
        return f"{day} · {item.author}"
    return day or item.author or ""


def page_sections(response: FetchResponse) -> list[str]:
    """Give one section per page: `## Title`, the URL, what is known of it, the content."""
    return [_section(page) for page in response.pages]


def _section(page: Page) -> str:
    head = f"## {page.title or page.url}\n{page.url}"
    if page.error:
        return f"{head}\nFailed: {' '.join(page.error.split())}"
    if facts := _facts(page):
        head += f"\n{facts}"
    parts = [page.summary, _bullets(page.highlights), page.text]
    content = "\n\n".join(part for part in parts if part)
    return f"{head}\n\n{content or 'The page has no content.'}"


def _bullets(highlights: Sequence[str]) -> str:
    return "\n".join(f"- {highlight}" for highlight in highlights)


def footer(errors: Sequence[QueryError], warnings: Sequence[str]) -> str:
    """Say what failed and what to beware of; empty when there is nothing to say."""
    told = [f"Warning: {_short(warning)}" for warning in warnings]
    told += [f'Query "{_short(e.query, 100)}" failed: {_short(e.message)}' for e in errors]
    return "\n".join(told)


def _short(text: str, most: int = 400) -> str:
    """Cut what would crowd out the rest; the details have all of it."""
    return text if len(text) <= most else f"{text[:most]}…"


def search_footer(response: SearchResponse) -> str:
    """Give the footer of a search."""
    return footer(response.errors, response.warnings)
