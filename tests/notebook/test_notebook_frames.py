from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import notebook_samples as samples
import pytest

from webtools.errors import InputError
from webtools.results import FetchResponse, ResearchEnvelope, SearchResponse

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


def test_rank_counts_within_a_query() -> None:
    frame = samples.SEARCHES.model_copy(
        update={
            "results": [
                samples.result("A", "https://a.example/", query="pattern matching"),
                samples.result("B", "https://b.example/", query="nothing at all"),
                samples.result("C", "https://c.example/", query="pattern matching"),
            ]
        }
    ).to_dataframe()
    assert frame[["query", "rank", "title"]].to_numpy().tolist() == [
        ["pattern matching", 1, "A"],
        ["pattern matching", 2, "C"],
        ["nothing at all", 1, "B"],
    ]


def test_what_rows_cannot_say_is_in_the_attributes() -> None:
    attributes = samples.SEARCHES.to_dataframe().attrs
    assert attributes["provider"] == "exa-main"
    assert attributes["errors"] == [
        {"query": "failing", "message": "exa answered 500; try again later."}
    ]
    assert json.dumps(attributes)
    assert json.dumps(samples.ENVELOPE.to_dataframe().attrs)


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


def test_research_says_which_sources_are_cited() -> None:
    frame = samples.ENVELOPE.to_dataframe()
    assert frame.citation.tolist()[:2] == [1, 2]
    assert frame.citation.isna().tolist() == [False, False, True, True]
    assert frame.attrs["confidence"] == "medium"
    assert frame.attrs["degraded"] == ["kagi-main"]
    plain = ResearchEnvelope(results=samples.sources(), meta=samples.ENVELOPE.meta)
    assert plain.to_dataframe().citation.isna().all()


@pytest.mark.parametrize("response", [samples.PLAN, samples.PART], ids=["plan", "part"])
def test_a_response_without_rows_is_refused(response: Any) -> None:
    with pytest.raises(InputError, match="data frame"):
        response.to_dataframe()


def test_without_pandas_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        samples.SEARCH.to_dataframe()
