"""Plays the recorded call that a test names, once blocking and once on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import offline
import pytest
from offline import arun, run
from recording import CASSETTES, SCENARIOS

from webtools._internal.http.clients import AsyncHTTP, BlockingHTTP


@pytest.fixture(scope="module")
def vcr_cassette_dir() -> str:
    return str(CASSETTES)


@pytest.fixture(params=["blocking", "async"])
def play(
    request: pytest.FixtureRequest,
    default_cassette_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], Any]:
    """Run the call that the cassette of the test was recorded from."""
    monkeypatch.setattr("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0)
    scenario = SCENARIOS[default_cassette_name]
    account = scenario.account(offline.account(scenario.provider))

    async def on_a_loop() -> Any:
        transport = AsyncHTTP()
        try:
            return await arun(scenario.flow(account), transport)
        finally:
            await transport.aclose()

    if request.param == "async":
        return lambda: asyncio.run(on_a_loop())
    return lambda: run(scenario.flow(account), BlockingHTTP())
