"""OpenAI gets back no sources, and nothing else of a conversation changes."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from vendor_responses import OTHER, URL
from vendor_responses import openai as openai_response

from webtools.native import read_response, without_sources

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.just("sources"), inner, max_size=3)
    ),
    max_leaves=10,
)


def test_sources_and_null_queries_are_removed_at_any_depth() -> None:
    output = openai_response()["output"]
    output[0]["action"]["query"] = None
    history = [{"role": "user", "content": "?"}, *output, {"content": [{"nested": output}]}]
    before = copy.deepcopy(history)
    sent = json.dumps(without_sources(history))
    assert history == before
    assert OTHER not in sent
    assert '"query"' not in sent
    assert URL in sent  # the citation stays
    assert sent.count('"queries"') == 2


@pytest.mark.parametrize("make", [list, tuple])
def test_objects_of_the_sdk_lose_their_sources_too(make: type) -> None:
    responses = pytest.importorskip("openai.types.responses")
    items = TypeAdapter(list[responses.ResponseOutputItem])
    output = items.validate_python(openai_response()["output"])
    sent = without_sources(make([{"role": "user", "content": "?"}, *output]))
    texts = [item if isinstance(item, dict) else item.to_dict() for item in sent]
    assert OTHER not in json.dumps(texts)
    assert URL in json.dumps(texts)
    assert read_response("openai", sent).queries == ("café zénith horaires",)
    assert without_sources(sent) is sent


def test_what_was_searched_can_still_be_read() -> None:
    found = read_response("openai", without_sources(openai_response()["output"]))
    assert found.queries == ("café zénith horaires",)
    assert found.searches == 1


@given(history=JSON)
def test_other_histories_are_the_same_object(history: object) -> None:
    assert without_sources(history) is history


def test_a_history_that_contains_itself_is_no_trap() -> None:
    history: list[object] = []
    history.append(history)
    assert without_sources(history)
