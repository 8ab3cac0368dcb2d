"""A stream says the same as the whole response, also if it is cut off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vendor_responses import MAKERS, URL, groq

from webtools.native import read_response, read_stream
from webtools_sandbox.models.events import EVENTS

each_vendor = pytest.mark.parametrize("vendor", EVENTS)


def events_of(vendor: str) -> list[dict[str, Any]]:
    return [*EVENTS[vendor](MAKERS[vendor]())]


@each_vendor
def test_a_stream_is_read_like_the_response(vendor: str) -> None:
    assert read_stream(vendor, events_of(vendor)) == read_response(vendor, MAKERS[vendor]())


@each_vendor
def test_a_stream_that_is_cut_anywhere_keeps_what_came(vendor: str) -> None:
    events = events_of(vendor)
    whole = read_stream(vendor, events)
    for count in range(len(events)):
        found = read_stream(vendor, events[:count])
        if events[count - 1].get("type") == "message_delta":
            assert found.stop == ""  # it has the reason why the answer ends
        else:
            assert found.stop == "cut"
        assert whole.text.startswith(found.text)
        assert {item.url for item in found.sources} <= {item.url for item in whole.sources}
        assert found.searches + found.pending <= whole.searches
    last = read_stream(vendor, events[:-1])
    if vendor != "google":  # the last chunk has the sources
        assert replace(last, stop="", is_count_estimated=False) == replace(
            whole, is_count_estimated=False
        )


def test_a_search_whose_result_did_not_come_is_pending() -> None:
    events = events_of("anthropic")
    [index] = [
        index
        for index, event in enumerate(events)
        if event.get("content_block", {}).get("type") == "web_search_tool_result"
    ]
    found = read_stream("anthropic", events[:index])
    assert (found.pending, found.searches) == (1, 0)
    assert found.queries == ("café zénith horaires",)


def test_the_searches_of_a_stream_without_usage_are_counted() -> None:
    events = [event for event in events_of("anthropic") if event["type"] != "message_delta"]
    found = read_stream("anthropic", events)
    assert (found.searches, found.is_count_estimated, found.cost_usd) == (1, True, 0.01)


@each_vendor
def test_an_error_in_a_stream_is_read(vendor: str) -> None:
    error = {"type": "overloaded_error", "message": "later"}
    found = read_stream(vendor, [*events_of(vendor)[:2], {"type": "error", "error": error}])
    assert [item.message for item in found.errors] == ["later"]


def test_the_chunks_of_groq_are_joined() -> None:
    message = groq()["choices"][0]["message"]
    chunks = [
        {"choices": [{"delta": {"executed_tools": message["executed_tools"]}}]},
        {"choices": [{"delta": {"content": message["content"]}, "finish_reason": "stop"}]},
    ]
    found = read_stream("groq", chunks)
    assert (found.stop, found.searches, found.sources[0].url) == ("", 1, URL)


EVENT = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "delta",
                    "index",
                    "item",
                    "message",
                    "response",
                    "content_block",
                    "citation",
                ]
            ),
            inner | st.sampled_from(["message_start", "content_block_delta", "response.completed"]),
            max_size=4,
        )
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("vendor", MAKERS)
@given(events=st.lists(EVENT, max_size=5), place=st.integers(0, 9))
def test_no_event_raises(vendor: str, events: list[Any], place: int) -> None:
    good = events_of(vendor) if vendor in EVENTS else []
    assert read_stream(vendor, [*good[:place], *events, *good[place:]]).vendor == vendor


def test_a_vendor_that_is_unknown_is_named() -> None:
    with pytest.raises(ValueError, match="acme"):
        read_stream("acme", [])
