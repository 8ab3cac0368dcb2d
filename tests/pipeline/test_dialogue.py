"""A look-up of several requests is paced and retried within the time of one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import offline
import pytest
from offline import Clock, Stub, answer, requested, run

from webtools.errors import (
    RateLimitError,
    RequestTimeoutError,
)
from webtools.messages import Request, Response
from webtools.providers import Account, context7
from webtools.providers.protocols import DocsCall, DocsQuery, Hits


def talk(speaker: Callable[[DocsCall], Any], *answers: Any, **settings: Any) -> Any:
    values: list[Any] = []

    async def lookup(_query: DocsQuery, _account: Account, call: DocsCall) -> Hits:
        values.append(await speaker(call))
        return Hits([])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context7, "lookup", lookup)
        account = offline.account("context7", **settings)
        run(requested(DocsQuery("q", 5), account), Stub(*answers))
    return values[0]


GET = Request("GET", "https://context7.com/api/v2/context")


def test_a_dialogue_shares_the_time_of_one_call(clock: Clock) -> None:
    async def speaker(call: DocsCall) -> Any:
        for _ in range(9):
            await call.send(GET)
        return "done"

    def slow(request: Request) -> Response:
        clock.now += 4
        return answer({}, 429, retry_after="8")

    with pytest.raises(RateLimitError):
        talk(speaker, slow)
    assert clock.now <= 1030.0


def test_a_wait_that_does_not_fit_is_an_error_that_the_speaker_may_handle(clock: Clock) -> None:
    async def patient(call: DocsCall) -> Any:
        await call.sleep(31.0)

    async def clever(call: DocsCall) -> Any:
        try:
            await call.sleep(31.0)
        except RequestTimeoutError:
            return "gave up"

    async def persistent(call: DocsCall) -> Any:
        try:
            await call.sleep(31.0)
        except RequestTimeoutError:
            response = await call.send(GET)
            return response.status

    with pytest.raises(RequestTimeoutError, match="31 s more"):
        talk(patient)
    assert talk(clever) == "gave up"
    assert talk(persistent, answer({})) == 200
    assert clock.slept == []


def test_a_dialogue_is_paced(clock: Clock) -> None:
    async def speaker(call: DocsCall) -> Any:
        await call.send(GET)
        await call.send(GET)
        return None

    talk(speaker, answer({}), maxRequestsPerSecond=0.5)
    assert clock.slept == [2.0]


def test_a_busy_server_with_an_unreadable_error_is_retried(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_error(response: Response, *_: Any) -> None:
        if response.status != 200:
            raise TypeError

    async def speaker(call: DocsCall) -> Any:
        response = await call.send(GET)
        return response.status

    monkeypatch.setattr(context7, "read_error", read_error)
    assert talk(speaker, answer({}, 503, retry_after="4"), answer({})) == 200
    assert clock.slept == [4.0]
