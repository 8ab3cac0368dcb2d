"""The text that a model reads: its layout, line by line."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from inline_snapshot import snapshot
from offline import IO, Stub, run

from webtools import formatting
from webtools._internal.call.present import (
    present_error,
    present_pages,
    present_search,
)
from webtools.errors import RateLimitError
from webtools.fencing import STATEMENT
from webtools.results import (
    FetchResponse,
    Page,
    QueryError,
    SearchResponse,
    SearchResult,
)
from webtools.tools import ToolResult

pytestmark = pytest.mark.usefixtures("own_temp")

MAY = datetime(2026, 5, 3, 23, 59, tzinfo=UTC)


def result(title: str, url: str, **fields: Any) -> SearchResult:
    return SearchResult(title=title, url=url, source_provider="exa", query="q", **fields)


RESULTS = [
    result("Whole", "https://a.example/1", snippet="A snippet.", published_at=MAY, author="B. Cee"),
    result("Bare", "https://b.example/2"),
    result("Dated", "https://c.example/3", published_at=MAY),
    result("Signed", "https://d.example/4", snippet="Text.", author="D. Eff"),
]
PAGES = [
    Page(url="https://a.example/1", title="Whole", text="# Whole\n\nText.\n", published_at=MAY),
    Page(
        url="https://b.example/2",
        title="Parts",
        author="B. Cee",
        summary="In short.",
        highlights=["one", "two lines"],
        text="Text.",
    ),
    Page(url="https://c.example/3", error="CRAWL_NOT_FOUND (HTTP 404)"),
    Page(url="https://d.example/4", title="Empty"),
]


def present(flow: Any) -> ToolResult:
    result: ToolResult = run(flow, Stub())
    return result


def without_mark(flow: Any) -> str:
    """Return the text with MARK in place of the random mark of its fence."""
    text = present(flow).text.replace(STATEMENT, "STATEMENT")
    return re.sub(r"web-data [0-9a-f]{12}\b", "web-data MARK", text)


def test_results_are_numbered_and_indented() -> None:
    assert formatting.search_text(RESULTS) == snapshot("""\
1. Whole
   https://a.example/1
   A snippet.
   2026-05-03 · B. Cee

2. Bare
   https://b.example/2

3. Dated
   https://c.example/3
   2026-05-03

4. Signed
   https://d.example/4
   Text.
   D. Eff\
""")


def test_failed_queries_and_warnings_follow_the_results() -> None:
    response = SearchResponse(
        provider="exa",
        queries=["q", "r"],
        results=RESULTS[1:2],
        errors=[QueryError(query="r", message="Exa API returned HTTP 500. Try again later.")],
        warnings=["Filter category is not supported.", "Two."],
    )
    assert present(present_search(response, IO)).text == snapshot("""\
1. Bare
   https://b.example/2

Warning: Filter category is not supported.
Warning: Two.
Query "r" failed: Exa API returned HTTP 500. Try again later.\
""")


def test_pages_are_sections() -> None:
    response = FetchResponse(provider="exa", pages=PAGES, warnings=["One."])
    assert without_mark(present_pages(response, IO)) == snapshot("""\
STATEMENT
<<<untrusted-web-data MARK
## Whole
https://a.example/1
2026-05-03

# Whole

Text.


## Parts
https://b.example/2
B. Cee

In short.

- one
- two lines

Text.

## https://c.example/3
https://c.example/3
Failed: CRAWL_NOT_FOUND (HTTP 404)

## Empty
https://d.example/4

The page has no content.
untrusted-web-data MARK>>>

Warning: One.\
""")


# --- details -----------------------------------------------------------------------------------


def test_the_details_of_a_cut_search_say_that_lines_were_cut() -> None:
    long = [result("t" * 3000, f"https://a.example/{n}") for n in range(20)]
    many = [result("Short", f"https://a.example/{n}") for n in range(2000)]
    for results, is_partial in ((long, True), (many, False), (many + long, False)):
        response = SearchResponse(provider="exa", queries=["q"], results=results)
        cut = present(present_search(response, IO)).details["truncation"]
        assert cut["last_line_partial"] is is_partial
        assert not cut["first_line_exceeds_limit"]


def test_an_error_is_its_text_and_its_facts() -> None:
    error = RateLimitError("Slow down.", provider="exa", status=429, retry_after=7.0)
    result = present(present_error(error, IO))
    assert (result.text, result.is_error) == ("Slow down.", True)
    assert result.details == snapshot(
        {
            "provider": "exa",
            "results": [],
            "warnings": [],
            "result_count": 0,
            "cost_usd": None,
            "cost_is_estimate": False,
            "truncation": None,
            "full_output_path": None,
            "read_handle": None,
            "error": {
                "type": "RateLimitError",
                "message": "Slow down.",
                "provider": "exa",
                "status": 429,
                "retryable": True,
                "retry_after": 7.0,
                "code": None,
            },
        }
    )
