"""Turn responses into pandas data frames."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from webtools._internal.display.short_texts import MissingLibraryError
from webtools.errors import InputError
from webtools.formatting import by_query, page_content
from webtools.results import FetchResponse, ResearchEnvelope, SearchResponse, Verified

_SOURCE = "rank title url snippet published_at score source_provider"
_PAGE = "url title text error highlights summary published_at author"
_TYPES = {"rank": "int64", "score": "float64", "citation": "Int64"}
_ATTRIBUTES = {"provider", "cost_usd", "cost_is_estimate", "cache_hit", "warnings", "errors"}


def to_data_frame(response: Any) -> Any:
    """Return the results of a response as rows, with the facts of the call in `attrs`.

    Raises:
        InputError: The response has no rows.
        ImportError: pandas is not installed.
    """
    try:
        pandas: Any = import_module("pandas")
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise MissingLibraryError("to_dataframe needs pandas: pip install pandas") from error
    columns, rows = _rows(response)
    frame = pandas.DataFrame({name: _column(pandas, name, rows) for name in columns.split()})
    meta = response.meta if isinstance(response, ResearchEnvelope) else None
    include = None if meta else _ATTRIBUTES
    frame.attrs.update((meta or response).model_dump(mode="json", include=include))
    return frame


def _rows(response: Any) -> tuple[str, list[Mapping[str, Any]]]:
    rows: list[Mapping[str, Any]] = []
    if isinstance(response, SearchResponse):
        for results in by_query(response).values():
            for rank, result in enumerate(results, 1):
                text = page_content(result.content) if result.content else None
                rows.append({**vars(result), "rank": rank, "content": text})
        columns = f"{_SOURCE} author query"
        return f"{columns} content" if any(row["content"] for row in rows) else columns, rows
    if isinstance(response, FetchResponse):
        return _PAGE, [vars(page) for page in response.pages]
    if isinstance(response, ResearchEnvelope):
        cited = response.synthesis.citations if response.synthesis else []
        for rank, source in enumerate(response.results, 1):
            citation = cited.index(source.url) + 1 if source.url in cited else None
            rows.append({**vars(source), "rank": rank, "citation": citation})
        return f"{_SOURCE} citation", rows
    if isinstance(response, Verified):
        return "text status citations nearest reasons", [vars(claim) for claim in response.claims]
    raise InputError(f"{type(response).__name__} has no data frame.")


def _column(pandas: Any, name: str, rows: list[Mapping[str, Any]]) -> Any:
    values: Any = [row[name] for row in rows]
    if name != "published_at":
        return pandas.Series(values, dtype=_TYPES.get(name))
    # The range of pandas before 2.0.
    moments = [time if time and 1678 <= time.year < 2262 else None for time in values]  # noqa: PLR2004
    return pandas.to_datetime(pandas.Series(moments, dtype="object"), utc=True).dt.as_unit("us")
