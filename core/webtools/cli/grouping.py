"""The results of several queries, those of each under its name; a model reads them as one list."""

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
    """Return the text of a search; it is cut where the model's text was, each query fairly."""
    known = {name: details[name] for name in SearchResponse.model_fields}
    response = SearchResponse.model_validate(known)
    text = _SEPARATOR.join(_blocks(response))
    if details["truncation"] is not None:
        text = _cut(response, text, details["full_output_path"])
    return _SEPARATOR.join(
        filter(None, [text, formatting.footer(response.errors, response.warnings)])
    )


def _cut(response: SearchResponse, text: str, path: str | None) -> str:
    brief = response.model_copy(update={"results": formatting.brief(response.results)})
    kept, _ = fit_sections(_blocks(brief), _SEPARATOR, MAX_LINES, MAX_BYTES)
    shown, whole = fit(kept, MAX_LINES, MAX_BYTES), fit(text, MAX_LINES, MAX_BYTES)
    lines, sizes = (shown.total_lines, whole.total_lines), (shown.total_bytes, whole.total_bytes)
    return _SEPARATOR.join([kept, notice(*lines, *sizes, path)])


def _blocks(response: SearchResponse) -> list[str]:
    """List the results, those of each query numbered from 1 and under its name."""
    return [
        f'"{subject(query)}":\n\n{formatting.search_text(found)}'
        for query, found in sorted_results(response).items()
    ]
