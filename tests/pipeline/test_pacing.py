"""Pacing: a retry for which there is no free moment loses nothing of the answer before it."""

from __future__ import annotations

import pytest
from offline import Clock, Stub, account, answer, detached, metered_exchange, run

from webtools._internal.http.messages import Request
from webtools._internal.pipeline.api_call import ApiCall
from webtools.errors import RequestTimeoutError, UnavailableError

POST = Request("POST", "https://api.exa.ai/search", {})


def test_without_time_for_a_retry_the_response_is_reported(clock: Clock) -> None:
    job = ApiCall(
        account("exa", maxRequestsPerSecond=0.02),
        "search",
        "json",
        call=detached(),
    )
    stub = Stub(answer({"error": "down"}, 503))
    with pytest.raises(UnavailableError, match="HTTP 503: down"):
        run(metered_exchange(job, POST, lambda response: response), stub)
    assert (len(stub.requests), job.requests) == (1, 1)
    assert clock.now < 1030


def test_without_time_for_a_request_nothing_is_sent(clock: Clock) -> None:
    made = account("exa", maxRequestsPerSecond=0.02)
    stub = Stub(answer({}))
    first, job = (ApiCall(made, "search", each, call=detached()) for each in "ab")
    run(metered_exchange(first, POST, lambda r: r), stub)
    job.deadline = clock.now + 12.5
    with pytest.raises(RequestTimeoutError, match=r"\b12\.5 s\b"):
        run(metered_exchange(job, POST, lambda r: r), stub)
    assert job.requests == 0
