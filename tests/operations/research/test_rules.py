"""The rules of research: dates, duplicate pages and confidence."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from webtools._internal.operations.research.rules import (
    is_docs_lookup,
    is_time_sensitive,
    judge,
    normalize_url,
    recency_days,
    relevant,
    remove_repeats,
)
from webtools._internal.operations.search import normalize_query
from webtools.results import SearchResult

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def hit(url: str, days_old: float | None = None, title: str = "t") -> SearchResult:
    published = None if days_old is None else NOW - timedelta(days=days_old)
    return SearchResult(
        title=title, url=url, published_at=published, source_provider="exa", query="q"
    )


def hits(*hosts: str, days_old: float | None = None) -> list[SearchResult]:
    return [hit(f"https://{host}/{i}", days_old) for i, host in enumerate(hosts)]


# --- the question ------------------------------------------------------------------------------


def test_equal_questions_are_normalized_to_the_same_text() -> None:
    assert normalize_query("  Heap\tQueue \n") == normalize_query("heap queue") == "heap queue"


@pytest.mark.parametrize(
    "word",
    [
        *("latest", "today", "current", "currently", "now", "recent", "newest", "breaking"),
        *("this week", "THIS month"),
    ],
)
def test_a_word_of_time_makes_a_question_time_sensitive(word: str) -> None:
    assert is_time_sensitive(f"python {word} release", "web")


@pytest.mark.parametrize(
    "word",
    [
        *("api", "SDK", "doc", "docs", "documentation"),
        *("reference", "library", "framework", "package"),
    ],
)
def test_a_word_of_programming_makes_a_question_a_docs_lookup(word: str) -> None:
    assert is_docs_lookup(f"the {word} of it", "web")


@pytest.mark.parametrize(
    ("asked", "query", "command", "days"),
    [
        (3, "latest python", "web-news", 3),
        (None, "python", "web-news", 7),
        (None, "latest python", "web", 30),
        (None, "python", "web-deep", None),
    ],
)
def test_the_age_comes_from_the_caller_the_command_or_the_question(
    asked: int | None, query: str, command: str, days: int | None
) -> None:
    assert recency_days(asked, query, command) == days  # type: ignore[arg-type]


# --- URLs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("https://a.example/x/#part", "https://a.example/x"),
        ("https://A.example/x?b=2&a=1", "https://a.example/x?a=1&b=2"),
        (
            "https://a.example/?utm_source=s&UTM_Medium=m&fbclid=1&gclid=2&ref=r",
            "https://a.example/",
        ),
        ("https://a.example", "https://a.example/"),
        ("https://a.example/x?a=2&a=1&b=", "https://a.example/x?a=2&a=1&b="),
    ],
)
def test_spellings_of_one_page_are_the_same(url: str, same: str) -> None:
    assert normalize_url(url) == normalize_url(same) == same


def test_the_first_result_of_a_page_stays_with_the_url_that_the_provider_gave() -> None:
    first, again = hit("https://a.example/x?utm_source=s"), hit("https://a.example/x#y")
    other = hit("https://a.example/z")
    assert remove_repeats([first, again, other]) == [first, other]


# --- confidence --------------------------------------------------------------------------------

FOUR = ("a.example", "b.example", "c.example", "d.example")


@pytest.mark.parametrize(
    ("results", "confidence", "counts", "named"),
    [
        ([], "low", [], ""),
        (hits("a.example"), "medium", [], ""),
        (hits("a.example", "b.example"), "medium", ["2", "2"], ""),
        (hits(*FOUR), "high", ["4", "4"], ""),
        (
            hits("a.example", "x.a.example", "a.example", "a.example"),
            "medium",
            ["4"],
            "a.example",
        ),
    ],
)
def test_confidence_counts_sources_and_domains(
    results: list[SearchResult], confidence: str, counts: list[str], named: str
) -> None:
    judgment = judge(results, time_sensitive=False, days=None, now=NOW)
    assert (judgment.confidence, re.findall(r"\d+", judgment.rule)) == (confidence, counts)
    assert (judgment.uncertainty is None) == (confidence == "high")
    assert named in (judgment.uncertainty or "")


@pytest.mark.parametrize(
    ("results", "confidence", "named"),
    [
        (hits(*FOUR), "low", "30 days"),
        (hits(*FOUR, days_old=31), "low", "30 days"),
        (hits(*FOUR, days_old=-1), "low", "30 days"),
        ([*hits("a.example", days_old=2), *hits("b.example", "c.example")], "medium", "30 days"),
        (hits("a.example", "b.example", days_old=2), "high", ""),
        (hits("a.example", "www.a.example", days_old=2), "medium", "a.example"),
    ],
)
def test_time_sensitive_questions_count_recent_sources(
    results: list[SearchResult], confidence: str, named: str
) -> None:
    judgment = judge(results, time_sensitive=True, days=None, now=NOW)
    assert judgment.confidence == confidence
    assert (judgment.uncertainty is None) == (confidence == "high")
    assert named in (judgment.uncertainty or "")


def test_a_single_old_source_of_a_widened_search_has_low_confidence() -> None:
    def confidence(*, is_widened: bool, days_old: float | None = None) -> str:
        judgment = judge(
            hits("a.example", days_old=days_old),
            time_sensitive=True,
            days=30,
            now=NOW,
            is_widened=is_widened,
        )
        return judgment.confidence

    assert confidence(is_widened=False) == "medium"
    assert confidence(is_widened=True) == "low"
    assert confidence(is_widened=True, days_old=3) == "medium"


@pytest.mark.parametrize(
    ("query", "title", "is_off"),
    [
        ("Who built the ferry?", "Recipes for pear cake", True),
        ("Who built the ferry?", "Ferries of the north", False),
        ("What does SysRq do?", "A system with an rq", False),
        ("Woher kommt die Fähre?", "Woher? Es kommt so.", True),
    ],
)
def test_results_without_a_content_word_of_the_question_are_off_topic(
    query: str, title: str, is_off: bool
) -> None:
    results = [hit("https://a.example/1"), hit("https://b.example/2")]
    titled = hit("https://c.example/3", title=title)
    assert relevant(query, [*results, titled]) == ([] if is_off else [titled])


def test_a_result_that_shares_one_of_many_words_is_off_topic() -> None:
    query = "What is the maximum weight of a parcel on the ferry to Tarn Quay?"
    off = [hit(f"https://{n}.example/", title="The weight of a word") for n in range(6)]
    right = hit("https://c.example/", title="Parcel weight on the ferry")
    assert relevant(query, off) == []
    assert relevant(query, [*off, right]) == [right]
