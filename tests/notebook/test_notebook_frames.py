from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import notebook_samples as samples
import pytest

from webtools.results import FetchResponse, SearchResponse

pandas: Any = pytest.importorskip("pandas")


def test_a_search_gives_typed_columns() -> None:
    frame = samples.SEARCH.to_dataframe()
    assert list(frame.columns) == [
        "rank",
        "title",
        "url",
        "snippet",
        "published_at",
        "score",
        "source_provider",
        "author",
        "query",
    ]
    assert str(frame.dtypes["rank"]) == "int64"
    assert str(frame.dtypes["score"]) == "float64"
    assert str(frame.dtypes["published_at"]) == "datetime64[us, UTC]"
    assert frame.published_at[0] == samples.NOW
    assert frame.published_at.isna().tolist() == [False, True, True, True]
    assert frame.title[0] == "What's New In Python 3.10"


def test_no_result_keeps_the_columns_and_their_types() -> None:
    empty, full = samples.NOTHING.to_dataframe(), samples.SEARCH.to_dataframe()
    assert list(empty.columns) == list(full.columns)
    assert len(empty) == 0
    for column in ("rank", "score", "published_at"):
        assert empty.dtypes[column] == full.dtypes[column]
    assert len(FetchResponse(provider="p", pages=[]).to_dataframe()) == 0


def test_times_become_utc_and_years_outside_of_pandas_are_missing() -> None:
    moments = [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, tzinfo=UTC),
        datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    ]
    hits = [samples.result("T", "https://a.example/", published_at=moment) for moment in moments]
    frame = SearchResponse(provider="p", queries=["q"], results=hits).to_dataframe()
    assert [str(moment) for moment in frame.published_at] == [
        "NaT",
        "NaT",
        "2026-01-01 06:30:00+00:00",
        "NaT",
    ]


def test_pages_that_failed_are_rows_with_the_reason() -> None:
    frame = samples.FETCH.to_dataframe()
    assert frame.error.isna().tolist() == [True, False, True]
    assert frame.error[1] == "The page answered 404; check the URL."
    assert frame.highlights[0] == ["Matching sequences", "- Matching multiple patterns"]


def test_without_pandas_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        samples.SEARCH.to_dataframe()
