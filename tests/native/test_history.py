"""OpenAI gets back no sources, and nothing else of a conversation changes."""

from __future__ import annotations

import copy
import json

from hypothesis import given
from hypothesis import strategies as st
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
