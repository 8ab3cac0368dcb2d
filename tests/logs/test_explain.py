"""Events of the log are shown as plain lines, whatever the file holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webtools.logs import explain, tail_line

ID = "6w3k0n8q2r7t"


def event(at_ms: int, name: str, **facts: Any) -> dict[str, Any]:
    ts = f"2026-11-22T10:00:{at_ms // 1000:02}.{at_ms % 1000:03}Z"
    return {"ts": ts, "event": name, "call": ID, "pid": 7, **facts}


STORY = [
    event(0, "call", tool="web_search", queries=["rust async"], limit=5),
    event(1, "provider_skipped", provider="exa", kind="quota", until=1795341840),
    event(312, "provider_error", provider="brave", status=503, message="brave is overloaded."),
    event(2531, "done", is_error=False, provider_used="kagi"),
]


def test_explain_lists_time_event_provider_and_fields() -> None:
    assert (
        explain(STORY)
        == f"""\
Call {ID} at 2026-11-22 10:00:00 UTC

  +0.000 s  call                            tool=web_search queries=["rust async"] limit=5
  +0.001 s  provider_skipped  exa           kind=quota until="2026-11-22 10:04:00 UTC"
  +0.312 s  provider_error    brave         status=503 message="brave is overloaded."
  +2.531 s  done                            is_error=false provider_used=kagi"""
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = ("ts", "event", "call", "pid", "provider", "until", "message", "ms")


@pytest.mark.no_cover
@settings(max_examples=60, deadline=None)
@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, JSON)), max_size=4))
def test_a_log_with_anything_in_it_can_be_shown(events: list[dict[str, Any]]) -> None:
    for text in (explain(events), *map(tail_line, events)):
        assert all(char.isprintable() or char == "\n" for char in text)
