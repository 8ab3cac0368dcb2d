"""What everything does that keeps the states of circuit breakers, in a file or on a server."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from stores_made import Make

from webtools._internal.storage import redis_circuits
from webtools._internal.storage.circuit_states import State

STATE = State(1, 0, 0.0, "failing", "it is in trouble", time.time())


def test_a_state_is_read_changed_and_deleted(make: Make) -> None:
    states, elsewhere = make().circuits, make().circuits
    assert states.read("exa") is None
    assert states.change("exa", lambda state: state or STATE) == STATE
    assert elsewhere.read("exa") == STATE
    assert elsewhere.read("kagi") is None
    assert elsewhere.change("exa", lambda _: None) is None
    assert states.read("exa") is None


def test_no_change_of_a_state_is_lost(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_circuits, "PATIENCE", 60.0)  # a busy machine lets some wait for long
    every = [make().circuits for _ in range(3)]

    def worsen(number: int) -> None:
        every[number % 3].change(
            "exa", lambda state: replace(state, failures=state.failures + 1) if state else STATE
        )

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(worsen, range(60)))
    state = every[0].read("exa")
    assert state is not None
    assert state.failures == 60
