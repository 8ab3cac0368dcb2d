"""Retries: which requests are sent again, how long a call waits, and what its error says."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from offline import KEY, Clock, Stub, account, answer, detached, run
from pydantic import SecretStr

from webtools import WebTools
from webtools._internal.pipeline import retries
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.requests import request
from webtools.errors import (
    AuthenticationError,
    RateLimitError,
    RequestError,
    RequestTimeoutError,
    ResponseFormatError,
    UnavailableError,
)
from webtools.messages import Request, Response
from webtools.providers import exa
from webtools.providers.protocols import Hits, PageQuery, Query, SearchQuery, Summary, SummaryQuery
from webtools_sandbox import SandboxServer

POST = Request("POST", "https://api.exa.ai/search", {"x-api-key": "k"}, json={"query": "rust"})
OK = answer({})


QUERIES: dict[str, Query] = {
    "search": SearchQuery("rust async", 5),
    "fetch": PageQuery(("https://a.example/",)),
    "summarize": SummaryQuery("https://a.example/"),
}


def api_call(capability: str = "search", **settings: Any) -> ApiCall:
    return ApiCall(detached(), account("exa", **settings), QUERIES[capability], inf)


def send(
    stub: Stub,
    call: ApiCall | None = None,
    read: Callable[[Response], Any] = lambda response: response.status,
) -> Any:
    """Send the request over the stub, and read the response."""
    values: list[Any] = []

    def read_as(result: Any) -> Callable[..., Any]:
        return lambda response, *_: (values.append(read(response)), result)[1]

    with pytest.MonkeyPatch.context() as patch:
        for name in ("search_request", "summary_request"):
            patch.setattr(exa, name, lambda *_: POST, raising=False)
        patch.setattr(exa, "summary_price", lambda *_: 0.0, raising=False)
        patch.setattr(exa, "read_search", read_as(Hits([])))
        patch.setattr(exa, "read_summary", read_as(Summary("text", 0)), raising=False)
        run(request(call or api_call()), stub)
    return values[0]


@pytest.mark.usefixtures("clock")
def test_network_errors_are_retried_unless_permanent() -> None:
    for error, count in ((RequestError("reset"), 3), (RequestError("huge", retryable=False), 1)):
        stub = Stub(error)
        with pytest.raises(RequestError):
            send(stub)
        assert len(stub.requests) == count


COMPLETE = b'{"results": [{"url": "https://a.example"}]}'
CUT = [
    Response(200, {"content-length": "99"}, COMPLETE),
    Response(200, {}, COMPLETE[:-1]),
    Response(200, {}, COMPLETE[:20]),
    Response(200, {}, b'{"results": [{"title": "\xc3'),
]


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("cut", CUT)
def test_a_cut_success_is_retried(cut: Response) -> None:
    stub = Stub(cut, OK)
    assert send(stub, read=Response.json) == {}
    assert len(stub.requests) == 2


@pytest.mark.parametrize(
    "body", [COMPLETE, b"", b"<html>", b"{}{}", b'{"a": NaN}', b'{"a": ["b"}', b"null"]
)
def test_a_complete_body_is_not_retried(body: bytes) -> None:
    stub = Stub(answer(body=body), OK)
    assert send(stub, read=lambda response: response.body) == body
    assert len(stub.requests) == 1


@pytest.mark.usefixtures("clock")
def test_only_a_response_that_was_cut_is_a_retryable_format_error() -> None:
    redacted = b"[]" + KEY.encode() * 9  # shorter than its length says, once the key is redacted
    lengthy = answer(body=redacted, content_length=str(len(redacted)))
    for response, is_retryable in ((CUT[1], True), (lengthy, False)):
        with pytest.raises(ResponseFormatError) as caught:
            send(Stub(response), read=Response.json)
        assert caught.value.retryable is is_retryable


def test_the_wait_has_full_jitter_below_a_ceiling_that_doubles(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: high - low)
    with pytest.raises(UnavailableError):
        send(Stub(answer({}, 503)))
    assert clock.slept == [0.5, 1.0]


# --- waits and deadlines -----------------------------------------------------------------------


def test_up_to_sixty_seconds_are_waited_where_the_deadline_allows(clock: Clock) -> None:
    assert send(Stub(answer({}, 429, retry_after="60"), OK), api_call("summarize")) == 200
    assert clock.slept == [60]


@pytest.mark.parametrize(
    ("capability", "text", "seconds"),
    [
        ("summarize", "61", 61),
        ("summarize", "3600", 3600),
        ("summarize", "inf", 86400),
        ("search", "31", 31),  # beyond its deadline
    ],
)
def test_a_longer_wait_is_not_retried(
    clock: Clock, capability: str, text: str, seconds: float
) -> None:
    with pytest.raises(RateLimitError) as caught:
        send(Stub(answer({}, 429, retry_after=text)), api_call(capability))
    assert clock.slept == []
    assert (caught.value.retry_after, caught.value.retryable) == (seconds, True)


@pytest.mark.parametrize(
    ("capability", "settings", "seconds"),
    [
        ("search", {}, 30),
        ("fetch", {}, 30),
        ("summarize", {}, 120),
        ("summarize", {"timeoutMs": 2500}, 2.5),
    ],
)
def test_a_call_has_the_configured_or_the_usual_time(
    capability: str, settings: dict[str, Any], seconds: float
) -> None:
    assert api_call(capability, **settings).timeout == seconds


def test_the_time_of_a_call_includes_retries_and_waits(clock: Clock) -> None:
    def slow(_: Request) -> Response:
        clock.now += 6
        return answer({}, 503, retry_after="10")

    stub = Stub(slow)
    with pytest.raises(UnavailableError):
        send(stub)
    assert len(stub.requests) == 2  # 6 + 10 + 6, and another 10 would be too late
    assert clock.now <= 1030


def test_without_time_for_a_retry_the_response_is_reported(clock: Clock) -> None:
    call = api_call(maxRequestsPerSecond=0.02)
    with pytest.raises(UnavailableError, match="HTTP 503: down"):
        send(Stub(answer({"error": "down"}, 503)), call)
    assert call.requests == 1
    assert clock.now < 1030


def test_without_time_for_a_request_nothing_is_sent(clock: Clock) -> None:
    first = api_call(maxRequestsPerSecond=0.02)
    send(Stub(OK), first)
    second = ApiCall(detached(), first.account, QUERIES["search"], clock.now + 12.5)
    with pytest.raises(RequestTimeoutError, match=r"\b12\.5 s\b"):
        send(Stub(OK), second)
    assert second.requests == 0


# --- errors ------------------------------------------------------------------------------------


def unknown_host() -> RequestError:
    error = RequestError("no such host")
    error.unknown_host = 'the host name "a.example"'
    return error


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("failure", "part"),
    [
        (RequestError("Connection refused"), '"rust async"'),
        (RequestError("too large", retryable=False, status=200), '"rust async"'),
        (unknown_host(), "HTTPS_PROXY"),
        (RequestTimeoutError("late"), "timeoutMs"),
    ],
)
def test_a_network_error_keeps_its_facts(failure: RequestError, part: str) -> None:
    failure.__cause__ = OSError("why")
    with pytest.raises(type(failure)) as caught:
        send(Stub(failure))
    error = caught.value
    assert part in str(error)
    assert (error.provider, error.status) == ("my-exa", failure.status)
    assert error.retryable is failure.retryable
    assert str(error.__cause__) == "why"


@pytest.mark.parametrize("bug", [KeyError("x"), TypeError(), ValueError(), RecursionError()])
def test_an_undocumented_shape_is_a_format_error_that_quotes_nothing(bug: Exception) -> None:
    def read(_: Response) -> None:
        raise bug

    with pytest.raises(ResponseFormatError, match='"rust async"') as caught:
        send(Stub(OK), read=read)
    assert (caught.value.provider, caught.value.status) == ("my-exa", 200)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


# --- secrets -----------------------------------------------------------------------------------


def test_a_key_in_a_response_is_redacted_before_it_is_read() -> None:
    assert send(Stub(answer({"said": KEY})), read=Response.json) == {"said": "[redacted]"}


def test_a_long_message_is_never_cut_within_a_key() -> None:
    for length in range(480, 505):
        body = json.dumps({"error": "x" * length + KEY}).encode()
        with pytest.raises(AuthenticationError) as caught:
            send(Stub(answer(body=body, status=401)))
        assert f"x{KEY[0]}" not in str(caught.value)


def test_the_configured_proxy_goes_with_the_request_and_not_into_its_repr() -> None:
    stub = Stub(OK)
    send(stub, api_call(proxy="http://user:secret@127.0.0.1:3128"))
    assert stub.requests[0].proxy == SecretStr("http://user:secret@127.0.0.1:3128")
    assert "secret" not in repr(stub.requests[0])


# --- over the wire -----------------------------------------------------------------------------


def test_a_retried_post_arrives_with_the_same_body(
    webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    webtools_sandbox.fault(status=503)
    webtools_sandbox.fault(reset=True)
    with WebTools(webtools_sandbox.config()) as web:
        assert web.search("json", provider="exa").results
    bodies = [request["body"] for request in webtools_sandbox.stats()["last"]]
    assert bodies == [bodies[0]] * 3
