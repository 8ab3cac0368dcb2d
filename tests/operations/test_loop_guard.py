"""A conversation that searches for nearly the same again is shown other results."""

from __future__ import annotations

import json
import threading
from typing import Any

import httpx
import pytest

from webtools import InputError, ToolResult, WebTools
from webtools.pipeline.conversations import (
    MAX_CONVERSATIONS,
    MAX_SEARCHES,
    SECONDS,
    Conversations,
    is_alike,
    terms,
)
from webtools.providers.protocols import SearchQuery

FOUND = 5  # pages that the provider knows


def answer(request: httpx.Request) -> httpx.Response:
    count = min(json.loads(request.content)["numResults"], FOUND)
    hits = [{"title": f"Page {i}", "url": f"https://p{i}.example/"} for i in range(count)]
    return httpx.Response(200, json={"results": hits})


def web(**settings: Any) -> WebTools:
    entry = {"name": "exa", "type": "exa", "apiKey": "test-key-0123456789"}
    quiet = {"cache": {"enabled": False}, "log": {"enabled": False}}
    return WebTools(
        {"providers": [entry], **quiet, **settings}, transport=httpx.MockTransport(answer)
    )


def pages(result: ToolResult) -> list[int]:
    return [int(each["title"].removeprefix("Page ")) for each in result.details["results"]]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("python asyncio timeout", "Timeouts in Python's asyncio", True),
        ("read a zip file in Python", "Python: reading zip files", True),
        ("fix error ECONNREFUSED node", "node ECONNREFUSED error: how to fix?", True),
        ("python 3.12 release notes", "python 3.13 release notes", False),
        ("rust async runtime", "rust web framework", False),
        ("the", "the", True),
        ("!!", "!!", False),
    ],
)
def test_queries_are_alike_by_their_stems_and_numbers(one: str, other: str, expected: bool) -> None:
    assert is_alike(terms(one), terms(other)) is expected


def test_what_was_shown_gives_way_to_the_next_best_until_there_is_nothing_new() -> None:
    tools = web()
    shown = [
        tools.call_tool("web_search", {"query": query, "limit": 3}, conversation="thread")
        for query in ("asyncio timeout", "timeouts in asyncio", "timeout asyncio")
    ]
    assert [pages(each) for each in shown] == [[0, 1, 2], [3, 4], [0, 1, 2]]
    assert "3 results shown before are left out" in shown[1].text
    assert "3 of these results were shown before, and there is nothing new" in shown[2].text
    assert shown[0].details["warnings"] == []


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({}, {}),
        ({"conversation": "another"}, {}),
        ({"conversation": "thread", "cache": "bypass"}, {}),
        ({"conversation": "thread"}, {"include_domains": ["p0.example", "p1.example"]}),
        ({"conversation": "thread"}, {"query": "event loops"}),
    ],
)
def test_other_searches_are_left_as_they_are(
    options: dict[str, Any], given: dict[str, Any]
) -> None:
    tools, arguments = web(), {"query": "asyncio timeout", "limit": 2}
    tools.call_tool("web_search", arguments, conversation="thread")
    again = tools.call_tool("web_search", arguments | given, **options)
    assert pages(again) == [0, 1]
    assert again.details["warnings"] == []


def test_the_setting_switches_it_off() -> None:
    tools, arguments = web(loopGuard=False), {"query": "asyncio", "limit": 2}
    first, second = (
        tools.call_tool("web_search", arguments, conversation="thread") for _ in range(2)
    )
    assert first.text == second.text


def test_only_the_query_that_was_made_before_is_served_anew() -> None:
    tools = web()
    tools.call_tool("web_search", {"query": "asyncio", "limit": 2}, conversation="thread")
    both = {"queries": ["asyncio", "event loop"], "limit": 2}
    assert pages(tools.call_tool("web_search", both, conversation="thread")) == [2, 3, 0, 1]


def test_a_conversation_has_a_name() -> None:
    with pytest.raises(InputError, match=r"^conversation must be a text"):
        web().call_tool("web_search", {"query": "a"}, conversation=7)  # type: ignore[arg-type]


def test_the_memory_is_bounded_and_forgets_in_time() -> None:
    now = 0.0
    known, query = Conversations(clock=lambda: now), SearchQuery("asyncio", 5)
    known.remember("first", query, frozenset({"a"}))
    assert known.shown("first", query) == {"a"}
    now = SECONDS + 1
    assert known.shown("first", query) == frozenset()
    for number in range(MAX_SEARCHES + 1):
        known.remember("long", SearchQuery(f"topic {number}", 5), frozenset({str(number)}))
    assert known.shown("long", SearchQuery("topic 0", 5)) == frozenset()
    assert known.shown("long", SearchQuery("topic 1", 5)) == {"1"}
    for number in range(MAX_CONVERSATIONS):
        known.remember(str(number), query, frozenset({"a"}))
    assert known.shown("long", SearchQuery("topic 1", 5)) == frozenset()


def test_threads_may_share_it() -> None:
    known, query = Conversations(), SearchQuery("asyncio", 5)

    def work(number: int) -> None:
        for step in range(20):
            known.remember("thread", query, frozenset({f"{number}-{step}"}))
            known.shown("thread", query)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(known.shown("thread", query)) == 60
