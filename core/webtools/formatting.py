"""What the model reads: numbered results, page sections, and what went wrong beside them."""

from __future__ import annotations

from collections.abc import Sequence

from webtools.results import (
    FetchResponse,
    Page,
    QueryError,
    ResearchEnvelope,
    ResearchResult,
    SearchResponse,
    SearchResult,
)

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


# --- research ----------------------------------------------------------------------------------


def research_text(envelope: ResearchEnvelope) -> str:
    """Give the answer, then the sources numbered as it cites them, then the rest of them."""
    if not envelope.results:
        return NO_RESULTS
    if envelope.synthesis is None:
        return "\n\n".join([_source(i, result) for i, result in enumerate(envelope.results, 1)])
    # The answer says what the snippets would.
    bare = (each.model_copy(update={"snippet": ""}) for each in cited_first(envelope))
    sources = "\n".join([_source(i, result) for i, result in enumerate(bare, 1)])
    return f"{envelope.synthesis.summary}\n\nSources:\n{sources}"


def cited_first(envelope: ResearchEnvelope) -> list[ResearchResult]:
    """Order the results so that the n-th is the one that the answer cites as `[n]`."""
    by_url = {result.url: result for result in envelope.results}
    cited = [by_url[url] for url in (envelope.synthesis.citations if envelope.synthesis else ())]
    return [*cited, *(result for result in envelope.results if result not in cited)]


def _source(number: int, result: ResearchResult) -> str:
    lines = [f"{number}. {result.title}", result.url, result.snippet]
    if result.published_at:
        lines.append(f"{result.published_at:%Y-%m-%d}")
    return f"\n{INDENT}".join(line for line in lines if line)


def research_footer(envelope: ResearchEnvelope) -> str:
    """Say where the results are from, how sure one may be, and what to beware of."""
    meta = envelope.meta
    why = f" ({meta.confidence_rule})" if meta.confidence_rule else ""
    lines = [f"Confidence: {meta.confidence}{why}."]
    if meta.uncertainty:
        lines.append(f"Uncertainty: {meta.uncertainty}")
    kept = ", from the cache" if meta.cache_hit else ""
    served = meta.provider_used or "no provider"
    lines.append(f"Retrieved {meta.retrieved_at:%Y-%m-%d %H:%M} UTC by {served}{kept}.")
    if meta.degraded:
        lines.append(f"Degraded: {', '.join(meta.degraded)} did not serve.")
    return "\n".join([*lines, *filter(None, [footer((), meta.warnings)])])
