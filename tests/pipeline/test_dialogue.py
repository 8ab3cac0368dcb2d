"""Dialogues: what a generator asks for is sent, paced and retried, all in the time of one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import offline
import pytest
from offline import Clock, Stub, answer, detached, metered_look_up, run
from pydantic import SecretStr

from webtools._internal.http.messages import Request, Response
from webtools._internal.pipeline.api_call import ApiCall
from webtools.errors import (
    AuthenticationError,
    RateLimitError,
    RequestError,
    RequestTimeoutError,
    ResponseFormatError,
)
from webtools.providers import context7
from webtools.providers.protocols import DocsCall


def talk(speaker: Callable[[DocsCall], Any], *answers: Any, **settings: Any) -> Any:
    account = offline.account("context7", **settings)
    job = ApiCall(account, "docs", "q", call=detached())
    return run(metered_look_up(job, speaker), Stub(*answers))


GET = Request("GET", "https://context7.com/api/v2/context")


def test_a_dialogue_without_requests_has_its_result() -> None:
    async def speaker(call: DocsCall) -> Any:
        return 5

    assert talk(speaker) == 5


def test_each_request_of_a_dialogue_is_retried(clock: Clock) -> None:
    async def speaker(call: DocsCall) -> Any:
        first = await call.send(GET)
        second = await call.send(GET)
        return [first.status, second.status]

    busy = answer({}, 429, retry_after="3")
    assert talk(speaker, busy, answer({}), busy, answer({})) == [200, 200]
    assert clock.slept == [3.0, 3.0]


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


def test_a_network_error_of_a_dialogue_names_its_subject() -> None:
    async def speaker(call: DocsCall) -> Any:
        await call.send(GET)

    with pytest.raises(RequestError, match=r'"q": no way\.'):
        talk(speaker, RequestError("no way", retryable=False))


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
            answered = await call.send(GET)
            return answered.status

    with pytest.raises(RequestTimeoutError, match="31 s more"):
        talk(patient)
    assert talk(clever) == "gave up"
    assert talk(persistent, answer({})) == 200
    assert clock.slept == []


def test_a_speaker_is_closed_when_the_dialogue_ends_early() -> None:
    ended: list[str] = []

    async def speaker(call: DocsCall) -> Any:
        try:
            await call.send(GET)
        finally:
            ended.append("closed")

    with pytest.raises(AuthenticationError):
        talk(speaker, answer({}, 401))
    assert ended == ["closed"]


def test_a_dialogue_is_paced(clock: Clock) -> None:
    async def speaker(call: DocsCall) -> Any:
        await call.send(GET)
        await call.send(GET)
        return None

    talk(speaker, answer({}), maxRequestsPerSecond=0.5)
    assert clock.slept == [2.0]


def test_a_dialogue_goes_through_the_proxy() -> None:
    async def speaker(call: DocsCall) -> Any:
        await call.send(GET)
        await call.send(GET)

    stub = Stub(answer({}))
    account = offline.account("context7", proxy="http://127.0.0.1:3128")
    job = ApiCall(account, "docs", "q", call=detached())
    run(metered_look_up(job, speaker), stub)
    assert [request.proxy for request in stub.requests] == [SecretStr("http://127.0.0.1:3128")] * 2


def test_an_exception_over_a_response_is_a_format_error() -> None:
    async def speaker(call: DocsCall) -> Any:
        response = await call.send(GET)
        return response.json()["results"]

    with pytest.raises(ResponseFormatError, match='"q"'):
        talk(speaker, answer({}))


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
