"""The words, one line each; how they look is in the snapshots."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
import rendering_samples as samples

from webtools.fencing import add_fence
from webtools.rendering import render_call, render_result, to_text
from webtools.results import SearchResponse, SearchResult
from webtools.tools import ToolResult


def call(tool: str, arguments: Any, **more: Any) -> str:
    return to_text(render_call(tool, arguments, **more), 10_000)


def head(tool: str, result: Any, **more: Any) -> str:
    return to_text(render_result(tool, result, **more), 10_000).split("\n")[0]


def lines(tool: str, result: Any, width: int = 10_000) -> list[str]:
    return to_text(render_result(tool, result, expanded=True), width).split("\n")


def test_an_expanded_search_shows_ten_results_and_the_path_of_the_rest() -> None:
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


def test_a_text_in_a_fence_is_shown_without_it() -> None:
    assert lines("web_fetch", ToolResult(add_fence("row 0\nrow 1"))) == ["row 0", "row 1"]
    assert head("web_fetch", ToolResult(add_fence("row 0\nrow 1"))) == "row 0 … and 1 more line"


def of_query(query: str, *titles: str) -> list[dict[str, Any]]:
    return [samples.hit(title, f"https://a.example/{title}") | {"query": query} for title in titles]


def test_the_results_of_several_queries_are_grouped_by_query() -> None:
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


@pytest.mark.parametrize(
    "snippet",
    [
        "+------+-----+ | Name | Age | +======+=====+ | Ada | 36 | +------+-----+",
        "Name Age ===== ===== Ada 36 ===== =====",
        "| Name | Age | | --- | ---: | | Ada | 36 |",
        "| Name | Age | |:---|:---:| | Ada | 36 |",
        "\u250c\u2500\u2500\u2500\u2500\u252c\u2500\u2500\u2510 Name Age Ada 36",
        "Name Age ---------------- Ada 36",
        "---- Ada 36 ----",
    ],
)
def test_the_rules_of_a_table_on_one_line_are_not_shown(snippet: str) -> None:
    found = SearchResult(
        title="t", url="https://a.example/", source_provider="exa", query="q", snippet=snippet
    )
    shown = SearchResponse(provider="exa", queries=["q"], results=[found])._repr_markdown_()
    assert "Ada" in shown
    assert "36" in shown
    line = next(line for line in shown.split("\n") if "Ada" in line)
    assert not re.search("[-=\u2500]{2,}", line)


@pytest.mark.parametrize("text", ["a -- b", "x --- y", "git log --oneline", "a == b", "a-b_c"])
def test_dashes_of_a_sentence_stay(text: str) -> None:
    found = SearchResult(
        title="t", url="https://a.example/", source_provider="exa", query="q", snippet=text
    )
    shown = SearchResponse(provider="exa", queries=["q"], results=[found])._repr_html_()
    assert text in html.unescape(shown)
