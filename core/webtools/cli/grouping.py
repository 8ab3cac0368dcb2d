"""Show the results of several queries, grouped by query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtools import formatting
from webtools._internal.display.contents import by_query as sorted_results
from webtools._internal.display.outline import subject
from webtools.results import SearchResponse
from webtools.truncation import MAX_BYTES, MAX_LINES, fit, fit_sections, notice

_SEPARATOR = "\n\n"


def by_query(details: Mapping[str, Any]) -> str:
    """Return the text of a search. If the model's text was cut, cut each query fairly."""
    fields = {name: details[name] for name in SearchResponse.model_fields}
    response = SearchResponse.model_validate(fields)
    text = _SEPARATOR.join(_blocks(response))
    if details["truncation"] is not None:
        text = _cut(response, text, details["full_output_path"])
    return _SEPARATOR.join(
        filter(None, [text, formatting.footer(response.errors, response.warnings)])
    )


def _cut(response: SearchResponse, text: str, path: str | None) -> str:
    brief = response.model_copy(update={"results": formatting.brief(response.results)})
    text_cut, _ = fit_sections(_blocks(brief), _SEPARATOR, MAX_LINES, MAX_BYTES)
    part, full = fit(text_cut, MAX_LINES, MAX_BYTES), fit(text, MAX_LINES, MAX_BYTES)
    lines, sizes = (part.total_lines, full.total_lines), (part.total_bytes, full.total_bytes)
    return _SEPARATOR.join([text_cut, notice(*lines, *sizes, path)])


def _blocks(response: SearchResponse) -> list[str]:
    """Return a block per query, with results numbered from 1."""
    return [
        f'"{subject(query)}":\n\n{formatting.search_text(results)}'
        for query, results in sorted_results(response).items()
    ]
