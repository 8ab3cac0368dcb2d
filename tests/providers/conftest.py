"""Fixtures that play recorded calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import offline
import pytest
from offline import run
from recording import CASSETTES, SCENARIOS

from webtools._internal.http.clients import BlockingHTTP


@pytest.fixture(scope="module")
def vcr_cassette_dir() -> str:
    return str(CASSETTES)


@pytest.fixture
def play(default_cassette_name: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Run the call that the cassette of the test was recorded from."""
    monkeypatch.setattr("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0)
    scenario = SCENARIOS[default_cassette_name]
    account = scenario.account(offline.account(scenario.provider))
    return lambda: run(scenario.flow(account), BlockingHTTP())
