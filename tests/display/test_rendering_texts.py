"""The words, one line each; how they look is in the snapshots."""

from __future__ import annotations

from typing import Any

import pytest
import rendering_samples as samples

from webtools._internal.text.fencing import fenced
from webtools.rendering import render_call, render_result, to_text
from webtools.tools import ToolResult

RESEARCH_LINE = "5 results · medium confidence · 3 citations"


def call(tool: str, arguments: Any, **more: Any) -> str:
    return to_text(render_call(tool, arguments, **more), 10_000)


def head(tool: str, result: Any, **more: Any) -> str:
    return to_text(render_result(tool, result, **more), 10_000).split("\n")[0]


def lines(tool: str, result: Any, width: int = 10_000) -> list[str]:
    return to_text(render_result(tool, result, expanded=True), width).split("\n")


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("web_search", {"queries": ["q1", "q2"]}, 'web_search "q1", "q2"'),
        ("web_search", {"query": "q1", "limit": 3}, 'web_search "q1"'),
        ("web_search", {"queries": "q1"}, 'web_search "q1"'),
        ("web_search", "q1", 'web_search "q1"'),
        ("web_search", {}, "web_search"),
        ("web_search", None, "web_search"),
        ("web_search", {"queries": [1, None, {"a": "b"}, "q"]}, 'web_search "q"'),
        ("web_fetch", {"urls": ["https://a/", "b"]}, 'web_fetch "https://a/", "b"'),
        ("web_fetch", {"url": "https://a/"}, 'web_fetch "https://a/"'),
        ("web_fetch", "https://a/", 'web_fetch "https://a/"'),
        ("summarize", {"url": "https://a/"}, 'summarize "https://a/"'),
        (
            "summarize",
            {"url": "https://a/", "engine": "cecil", "summary_type": "summary"},
            'summarize "https://a/"',
        ),
        (
            "summarize",
            {"url": "https://a/", "summary_type": "takeaway", "engine": "agnes"},
            'summarize "https://a/" (agnes, takeaway)',
        ),
        (
            "summarize",
            {"url": "https://a/", "summaryType": "takeaway", "targetLanguage": "DE"},
            'summarize "https://a/" (takeaway, DE)',
        ),
        ("web_research", {"query": "q", "command": "web"}, 'web_research "q"'),
        ("web_research", {"query": "q", "command": "web-deep"}, 'web_research "q" (web-deep)'),
        ("web_read", {"handle": "h-1", "offset": 12_000}, "web_read h-1 at 12,000"),
        ("web_read", {"handle": "h-1"}, "web_read h-1"),
        ("web_read", {"offset": -1}, "web_read"),
        ("get_weather", {"city": "Rome", "days": 3, "more": ["x"]}, 'get_weather "Rome", "x"'),
    ],
)
def test_a_call_names_the_tool_and_what_it_is_asked(
    tool: str, arguments: Any, expected: str
) -> None:
    assert call(tool, arguments) == expected


def test_a_call_shows_the_name_that_the_agent_knows() -> None:
    assert call("web_search", {"query": "q"}, label="team_web_search") == 'team_web_search "q"'


def test_a_call_with_very_many_urls_names_the_first_and_counts_the_rest() -> None:
    shown = call("web_fetch", {"urls": [f"https://a/{n}" for n in range(100)]})
    assert shown.endswith('"https://a/19", ... and 80 more')


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("web_search", "Searching..."),
        ("web_fetch", "Fetching..."),
        ("summarize", "Summarizing..."),
        ("web_research", "Researching..."),
        ("web_read", "Reading..."),
        ("get_weather", "Running..."),
    ],
)
def test_a_running_call_says_what_it_does(tool: str, words: str) -> None:
    assert head(tool, None, partial=True) == words
    assert lines(tool, samples.search())[0] != words


@pytest.mark.parametrize(
    ("tool", "result", "expected"),
    [
        ("web_search", samples.search(), "0 results"),
        ("web_search", samples.many(1), "1 result (truncated)"),
        ("web_search", samples.search(samples.PLAIN, samples.WIDE), "2 results"),
        (
            "web_search",
            samples.search(samples.PLAIN, errors=[samples.FAILED_QUERY]),
            "1 result · 1 query failed",
        ),
        (
            "web_search",
            samples.search(errors=[samples.FAILED_QUERY] * 2),
            "0 results · 2 queries failed",
        ),
        ("web_fetch", samples.FETCHED, "3 fetched · 1 failed (truncated)"),
        ("summarize", samples.SUMMARY, "agnes · takeaway · 1,234 tokens"),
        (
            "summarize",
            ToolResult(" ", samples.SUMMARY.details | {"tokens": 0}),
            "No summary available",
        ),
        (
            "web_research",
            samples.RESEARCH,
            RESEARCH_LINE,
        ),
        (
            "web_read",
            samples.READ,
            "characters 12,000 to 12,189 of 90,000 · next offset 12,199",
        ),
    ],
)
def test_a_collapsed_result_is_one_line(tool: str, result: Any, expected: str) -> None:
    assert to_text(render_result(tool, result), 10_000) == expected


def test_plain_research_says_no_more_than_there_is() -> None:
    meta = samples.RESEARCH.details["meta"]
    bare = {key: meta[key] for key in ("query", "command", "normalized_query", "retrieved_at")}
    bare |= {"provider_chain": [], "provider_used": "exa", "confidence": "high"}
    details = {"results": [samples.PLAIN], "meta": bare, "synthesis": None, "error": None}
    assert head("web_research", details) == "1 result · high confidence"
    nothing = {"results": [], "meta": bare | {"provider_used": None, "confidence": "low"}}
    assert head("web_research", nothing) == "0 results · low confidence"
    assert lines("web_research", nothing) == [
        "0 results · low confidence · 2026-11-22 10:02 UTC",
        "",
        "No results found.",
    ]


@pytest.mark.parametrize("tool", ["web_search", "web_fetch", "summarize", "web_research", "x"])
def test_a_failed_call_gives_its_reason(tool: str) -> None:
    failed = samples.failure("exa: no credit\nleft")
    assert to_text(render_result(tool, failed)) == "Error: exa: no credit left"
    assert to_text(render_result(tool, failed.details)) == "Error: exa: no credit left"
    assert to_text(render_result(tool, {}, is_error=True)).startswith("Error: ")
    assert to_text(render_result(tool, {"error": "gone"})) == "Error: gone"
    assert to_text(render_result(tool, ToolResult("oops", {}, is_error=True))) == "Error: oops"


def test_a_long_reason_is_shown_further_when_expanded() -> None:
    failed = samples.failure("word " * 200)
    assert len(head("web_search", failed)) < 310
    assert len(head("web_search", failed, expanded=True)) == len("Error: ") + 999


def test_an_expanded_search_shows_ten_results_and_where_the_rest_is() -> None:
    shown = lines("web_search", samples.many(12))
    assert shown[:5] == [
        "12 results · exa · 0.005 USD (estimate) (truncated)",
        "",
        " 1. Title 0",
        "    https://example.com/0",
        "    Snippet 0",
    ]
    assert shown[-4:] == [
        "    https://example.com/9",
        "    Snippet 9",
        "… and 2 more results",
        "Full output: /tmp/webtools/output.txt",
    ]


def test_an_expanded_search_shows_what_failed_and_each_warning_once() -> None:
    hits = [samples.hit("", "https://a.example/")]
    warnings = ["No dates.", "No dates.", *(f"{n}" for n in range(21))]
    result = samples.search(*hits, errors=[samples.FAILED_QUERY], warnings=warnings)
    assert lines("web_search", result)[1:7] == [
        "",
        " 1. https://a.example/",
        "",
        "✗ “zebra” failed: exa answered 500: <b>safe</b>",
        "! No dates.",
        "! 0",
    ]
    assert lines("web_search", result)[-1] == "! … and 2 more warnings"


def test_an_expanded_summary_shows_twenty_lines_without_what_stands_below_it() -> None:
    shown = lines("summarize", samples.SUMMARY)
    assert shown[21].startswith(" • Point 19:")
    assert shown[22:] == ["… and 10 more lines", "", "! target_language was not applied."]


def test_a_cut_summary_leaves_out_the_notice_for_the_model() -> None:
    text = "one\n\ntwo\n\n[Output truncated: showing 2 of 9 lines]"
    cut = {"truncation": {"total_lines": 9, "output_lines": 2}, "full_output_path": "/tmp/x"}
    assert lines("summarize", ToolResult(text, samples.SUMMARY.details | cut)) == [
        "agnes · takeaway · 1,234 tokens · exa · 0.005 USD (estimate) (truncated)",
        "",
        "one",
        "",
        "two",
        "",
        "! target_language was not applied.",
        "Full output: /tmp/x",
    ]


def test_a_summary_may_speak_of_warnings_itself() -> None:
    details = samples.SUMMARY.details | {"warnings": []}
    shown = lines("summarize", ToolResult("a\n\nWarning: hot", details))
    assert shown[2:] == ["a", "", "Warning: hot"]


def test_expanded_pages_say_for_each_url_how_it_went() -> None:
    assert lines("web_fetch", samples.FETCHED)[6:11] == [
        "✗ https://gone.example/x",
        "  HTTP 404 Not Found",
        "✓ https://bare.example/",
        "",
        "! The page was cut gpj.exe",
    ]


def test_expanded_research_shows_the_answer_one_list_of_sources_and_doubts() -> None:
    shown = lines("web_research", samples.RESEARCH)
    assert shown[1:9] == [
        "",
        "Python 3.10 added match [1]. マッチ文です [2].",
        "",
        "It is soft [1].",
        "",
        "Sources:",
        " 1. Structural Pattern Matching",
        f"    {samples.PLAIN['url']}",
    ]
    assert shown[11] == " 3. javascript:alert(1)"
    assert shown.count(f"    {samples.PLAIN['url']}") == 1
    assert shown[-2:] == [
        "! Uncertainty: Limited source count.",
        shown[-1],
    ]
    assert shown[-1].startswith("✗ Degraded: brave, synthesis ")


def test_a_claim_that_is_not_word_for_word_has_its_quotation_below_it() -> None:
    url = samples.PLAIN["url"]
    claims = [
        {"text": "It is so.", "status": status, "citations": [dict(quote, url=url)]}
        for status, quote in [
            ("quoted", {"title": "T", "quotation": "It is so."}),
            ("uncertain", {"title": "T", "quotation": "It may\nbe so."}),
        ]
    ]
    synthesis = samples.RESEARCH.details["synthesis"] | {"citations": [url], "claims": claims}
    shown = lines("web_research", samples.RESEARCH.details | {"synthesis": synthesis})
    assert shown[0].startswith("5 results · exa · medium confidence · 1 claim quoted · 1 claim unc")
    assert shown[2:7] == ["It is so. [1]", "", "It is so. [1]", "  uncertain: “It may be so.”", ""]


@pytest.mark.parametrize("tool", ["get_weather", "web_search", "summarize", "web_fetch"])
def test_what_is_no_result_of_the_tool_is_shown_as_text(tool: str) -> None:
    text = "\n".join(f"row {n}" for n in range(30))
    assert head(tool, ToolResult(text)) == "row 0 … and 29 more lines"
    assert head(tool, ToolResult("one\ntwo")) == "one … and 1 more line"
    assert head(tool, ToolResult("")) == "Done"
    assert head(tool, None) == "Done"
    assert lines(tool, ToolResult(text))[:2] == ["row 0", "row 1"]
    assert lines(tool, ToolResult(text))[-2:] == ["row 20", "… and 9 more lines"]


def test_a_text_in_a_fence_is_shown_without_it() -> None:
    assert lines("web_fetch", ToolResult(fenced("row 0\nrow 1"))) == ["row 0", "row 1"]
    assert head("web_fetch", ToolResult(fenced("row 0\nrow 1"))) == "row 0 … and 1 more line"


def of_query(query: str, *titles: str) -> list[dict[str, Any]]:
    return [samples.hit(title, f"https://a.example/{title}") | {"query": query} for title in titles]


def test_the_results_of_several_queries_stand_under_their_query() -> None:
    hits = [*of_query("one", "a", "b"), *of_query("two\x1b[1m", "c")]
    result = samples.search(*hits, errors=[{"query": "bad", "message": "exa failed"}])
    details = result.details | {"queries": ["one", "none", "bad", "two\x1b[1m"]}
    shown = [text for text in lines("web_search", details)[1:] if text and "https" not in text]
    assert shown == [
        *('"one"', " 1. a", " 2. b"),
        *('"none"', "    No results found."),
        *('"two"', " 1. c"),
        "✗ “bad” failed: exa failed",
    ]


def test_a_query_whose_results_are_all_hidden_does_not_seem_to_have_none() -> None:
    hits = [*of_query("one", *"abcdefghijk"), *of_query("two", "l")]
    shown = lines("web_search", samples.search(*hits).details | {"queries": ["one", "two"]})
    assert shown[2] == '"one"'
    assert '"two"' not in shown
    assert shown[-1] == "… and 2 more results"


@pytest.mark.parametrize(
    "junk",
    [None, 7, "text", [], {}, [None], [7], {"a": 1}, 10**5000],
    ids=lambda junk: type(junk).__name__,
)
def test_details_of_the_wrong_type_count_as_nothing(junk: Any) -> None:
    keys = [
        *("results", "errors", "warnings", "meta", "synthesis", "truncation", "full_output_path"),
        *("result_count", "fetched_count", "failed_count", "tokens", "engine", "summary_type"),
        *("characters", "total_characters"),
    ]
    for tool in ["web_search", "web_fetch", "summarize", "web_research", "web_read", "x"]:
        assert lines(tool, dict.fromkeys(keys, junk))
        assert lines(tool, {"results": [{"url": junk, "title": junk}], "meta": {"degraded": junk}})
        call(tool, junk)
        call(tool, dict.fromkeys(["queries", "urls", "url", "query", "handle", "offset"], junk))


@pytest.mark.parametrize("width", [8, 80])
def test_an_empty_line_of_an_indented_block_holds_no_blanks(width: int) -> None:
    result = ToolResult("one\n\n  two \n\nthree")
    shown = to_text(render_result("x", result, expanded=True).indented(2), width)
    assert shown.split("\n") == ["  one", "", "    two", "", "  three"]


@pytest.mark.parametrize("tool", ["web_search", "web_research"])
def test_of_ten_thousand_results_ten_are_shown(tool: str) -> None:
    details = samples.RESEARCH.details if tool == "web_research" else samples.many(1).details
    details = details | {"results": samples.many(10_000).details["results"], "queries": ["q"]}
    shown = lines(tool, details)
    assert shown[0].startswith("10,000 results")
    assert "… and 9,990 more results" in shown
    assert len(shown) < 60


def test_of_ten_thousand_pages_a_hundred_are_shown() -> None:
    pages = [samples.page(f"https://a.example/{n}") for n in range(10_000)]
    shown = lines("web_fetch", samples.FETCHED.details | {"results": pages})
    assert len([text for text in shown if "https" in text]) == 100
    assert "… and 9,900 more pages" in shown


@pytest.mark.parametrize(
    ("published", "author", "told"),
    [
        ("2026-11-21T08:00:00+00:00", "Ada\n\x1b[2J", "    2026-11-21 · Ada"),
        ("2026-11-21T00:00:00Z", None, "    2026-11-21"),
        (None, "Ada", "    Ada"),
        (None, None, None),
    ],
)
def test_an_expanded_result_has_its_date_and_author(
    published: Any, author: Any, told: str | None
) -> None:
    found = samples.hit("T", "https://a.example", "s") | {
        "published_at": published,
        "author": author,
    }
    _, *lines = to_text(
        render_result("web_search", samples.search(found), expanded=True)
    ).splitlines()
    assert [*map(str.rstrip, lines)][4:] == ([told] if told else [])
