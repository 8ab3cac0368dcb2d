from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from math import inf
from typing import Any

import offline
import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline import arun, detached, metered_exchange, run
from pydantic import SecretStr

from webtools import WebTools
from webtools._internal.http.messages import Request, Response
from webtools._internal.io.runtime import run as run_coroutine
from webtools._internal.pipeline import retries
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.retries import send_with_retries
from webtools.config import Config, Settings
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestError,
    RequestTimeoutError,
    ResponseFormatError,
    UnavailableError,
    WebToolsError,
)
from webtools.providers import Account
from webtools_sandbox import SandboxServer

POST = Request("POST", "https://api.exa.ai/search", {"x-api-key": "k"}, json={"query": "rust"})
Answer = Response | RequestError


def answer(status: int, **headers: str) -> Response:
    return Response(status, {name.replace("_", "-"): text for name, text in headers.items()}, b"{}")


OK = answer(200)


def account(**settings: Any) -> Account:
    entry = {"name": "exa-main", "type": "exa", "api_key": "test-key-exa", **settings}
    (made,) = Settings(Config(providers=[entry])).accounts().accounts  # type: ignore[list-item]
    return made


def job(capability: Any = "search", **settings: Any) -> ApiCall:
    return ApiCall(account(**settings), capability, "rust async", call=detached())


@dataclass
class World:
    """Carries flows out in no time: a clock that only sleeping and slow answers move."""

    answers: Iterator[Answer]
    clock: float = 1000.0
    answer_seconds: float = 0.0
    sent: list[tuple[Request, float]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def drive(self, coroutine: Any) -> Any:
        offline.IO.current = self
        return run_coroutine(coroutine)

    def now(self) -> float:
        return self.clock

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock += seconds

    async def call_blocking(self, function: Any, **_: Any) -> Any:
        return function()

    async def send(self, request: Request, deadline: float) -> Response:
        self.sent.append((request, deadline))
        self.clock += self.answer_seconds
        got = next(self.answers)
        if isinstance(got, RequestError):
            raise got
        return got


def world(*answers: Answer, **settings: Any) -> World:
    return World(iter(answers), **settings)


def retried(there: World, **settings: Any) -> Response:
    what = job(**settings)
    response: Response = there.drive(send_with_retries(POST, what, there.clock + what.timeout))
    return response


def asked(
    there: World, read: Callable[[Response], Any] = lambda r: r.status, **settings: Any
) -> Any:
    what = job(**settings)
    return there.drive(metered_exchange(what, POST, read))


# --- retries -----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_retried_twice_at_most(status: int) -> None:
    there = world(*[answer(status)] * 5)
    assert retried(there).status == status
    assert (len(there.sent), len(there.slept)) == (3, 2)


@pytest.mark.parametrize(
    "status", [200, 204, 301, 400, 401, 402, 403, 404, 408, 409, 425, 500, 501]
)
def test_other_responses_are_not_retried(status: int) -> None:
    there = world(answer(status))
    assert retried(there).status == status
    assert (len(there.sent), there.slept) == (1, [])


def test_network_errors_are_retried_unless_permanent() -> None:
    there = world(*[RequestError("reset")] * 5)
    with pytest.raises(RequestError, match="reset"):
        retried(there)
    assert len(there.sent) == 3
    there = world(RequestError("too large", retryable=False))
    with pytest.raises(RequestError, match="too large"):
        retried(there)
    assert len(there.sent) == 1


@pytest.mark.parametrize("failures", [[answer(503)], [RequestError("reset"), answer(429)]])
def test_the_first_good_answer_is_taken(failures: list[Answer]) -> None:
    there = world(*failures, OK)
    assert retried(there) is OK
    assert len(there.sent) == len(failures) + 1


WHOLE = b'{"results": [{"url": "https://a.example"}]}'
CUT = [
    Response(200, {"content-length": "99"}, WHOLE),
    Response(200, {}, WHOLE[:-1]),
    Response(200, {}, WHOLE[:20]),
    Response(200, {}, b'{"results": [{"title": "\xc3'),
]


@pytest.mark.parametrize("cut", CUT)
def test_a_cut_success_is_retried(cut: Response) -> None:
    there = world(cut, OK)
    assert retried(there) is OK
    assert len(there.sent) == 2


def test_a_generated_answer_is_not_retried() -> None:
    there = world(CUT[1], OK)
    assert there.drive(send_with_retries(POST, job("synthesize"), inf)) is CUT[1]


@pytest.mark.parametrize(
    "body", [WHOLE, b"", b"<html>", b"{}{}", b'{"a": NaN}', b'{"a": ["b"}', b"null"]
)
def test_a_complete_body_is_not_retried(body: bytes) -> None:
    there = world(Response(200, {}, body), OK)
    assert retried(there).body == body
    assert len(there.sent) == 1


@pytest.mark.parametrize("headers", [{"content-length": "20"}, {"transfer-encoding": "chunked"}])
def test_a_body_with_a_marked_end_is_complete(headers: dict[str, str]) -> None:
    assert not Response(200, headers, WHOLE[:20]).is_cut()


def test_a_compressed_body_may_be_longer_or_shorter_than_announced() -> None:
    headers = {"content-length": "999", "content-encoding": "gzip"}
    assert not Response(200, headers, WHOLE).is_cut()


def test_a_response_cut_at_every_attempt_is_retryable() -> None:
    with pytest.raises(ResponseFormatError) as caught:
        asked(world(*[CUT[1]] * 3), Response.json)
    assert caught.value.retryable


def test_a_response_shortened_by_redaction_is_not_cut() -> None:
    body = b"[]" + b"test-key-exa" * 9
    with pytest.raises(ResponseFormatError) as caught:
        asked(world(Response(200, {"content-length": str(len(body))}, body)), Response.json)
    assert not caught.value.retryable


def test_a_shape_that_is_not_documented_stays_so() -> None:
    with pytest.raises(ResponseFormatError) as caught:
        asked(world(Response(200, {}, b"<html>")), Response.json)
    assert "JSONDecodeError in " in str(caught.value)
    assert not caught.value.retryable


def test_a_retry_sends_the_same_request_with_the_same_deadline() -> None:
    there = world(answer(503), RequestError("reset"), OK)
    retried(there)
    assert there.sent == [(POST, 1030.0)] * 3


def test_the_wait_has_full_jitter_below_a_ceiling_that_doubles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked_for: list[tuple[float, float]] = []

    def highest(low: float, high: float) -> float:
        asked_for.append((low, high))
        return high

    monkeypatch.setattr(random, "uniform", highest)
    there = world(*[answer(503)] * 3)
    retried(there)
    assert asked_for == [(0.0, 0.5), (0.0, 1.0)]
    assert there.slept == [0.5, 1.0]


ANY_JOB = job()


@given(st.integers(0, 60))
def test_no_wait_is_longer_than_the_longest_delay(attempt: int) -> None:
    delay = retries._delay(answer(503), ANY_JOB, attempt)
    assert delay is not None
    assert 0 <= delay <= retries.LONGEST_DELAY == 8.0


# --- Retry-After -------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "waited"), [("0", 0), ("7", 7), ("1.5", 1.5), ("20", 20)])
def test_retry_after_in_seconds_is_obeyed(text: str, waited: float) -> None:
    there = world(answer(429, retry_after=text), OK)
    assert retried(there) is OK
    assert there.slept == [waited]


def test_retry_after_as_a_date_is_obeyed() -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=10), usegmt=True)
    there = world(answer(503, retry_after=when), OK)
    assert retried(there) is OK
    assert 8 <= there.slept[0] <= 10


def test_a_date_that_has_passed_means_at_once() -> None:
    there = world(answer(503, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), OK)
    assert retried(there) is OK
    assert there.slept == [0]


@pytest.mark.parametrize("text", ["soon", "-5", "nan", "", "Wed, 99 Oct", "0x10"])
def test_an_unreadable_retry_after_is_as_none(text: str) -> None:
    there = world(answer(503, retry_after=text), OK)
    assert retried(there) is OK
    assert there.slept[0] <= 0.5


def test_up_to_sixty_seconds_are_waited_where_the_deadline_allows() -> None:
    there = world(answer(429, retry_after="60"), OK)
    assert retried(there, capability="summarize") is OK
    assert there.slept == [60]


@pytest.mark.parametrize(("text", "seconds"), [("61", 61), ("3600", 3600), ("inf", 86400)])
def test_a_longer_wait_is_not_retried(text: str, seconds: float) -> None:
    there = world(answer(429, retry_after=text))
    with pytest.raises(RateLimitError) as caught:
        asked(there, capability="summarize")
    assert there.slept == []
    assert (caught.value.retry_after, caught.value.retryable) == (seconds, True)


def test_a_wait_beyond_the_deadline_is_not_retried() -> None:
    there = world(answer(429, retry_after="31"))
    with pytest.raises(RateLimitError) as caught:
        asked(there)
    assert (there.slept, caught.value.retry_after) == ([], 31)


# --- the time allowed --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("capability", "settings", "seconds"),
    [
        ("search", {}, 30),
        ("fetch", {}, 30),
        ("summarize", {}, 120),
        ("search", {"timeout_ms": 2500}, 2.5),
        ("summarize", {"timeout_ms": 2500}, 2.5),
    ],
)
def test_the_time_allowed_is_the_configured_or_the_usual(
    capability: str, settings: dict[str, Any], seconds: float
) -> None:
    there = world(OK)
    retried(there, capability=capability, **settings)
    assert there.sent[0][1] == 1000 + seconds


def test_the_time_allowed_covers_the_retries_and_the_waits() -> None:
    there = world(*[answer(503, retry_after="10")] * 5, answer_seconds=6.0)
    retried(there)
    assert len(there.sent) == 2  # 6 + 10 + 6, and another 10 would be too late
    assert there.clock <= 1030


def test_a_late_response_is_not_retried() -> None:
    there = world(RequestTimeoutError("late"), answer_seconds=30.0)
    with pytest.raises(RequestTimeoutError):
        retried(there)
    assert (len(there.sent), there.slept) == (1, [])


async def again(paced: ApiCall) -> Any:
    """Make the call of a job with a new deadline."""
    what = replace(paced, deadline=inf)
    return await metered_exchange(what, POST, lambda r: r.status)


# --- pacing ------------------------------------------------------------------------------------


def test_pacing_spaces_the_calls_of_a_provider() -> None:
    there, paced = world(*[OK] * 4), job(max_requests_per_second=2.0)
    for _ in range(4):
        there.drive(again(paced))
    assert there.slept == [0.5, 0.5, 0.5]


def test_pacing_counts_retries_too() -> None:
    there = world(answer(429, retry_after="0"), answer(429, retry_after="0"), OK)
    retried(there, max_requests_per_second=2.0)
    assert there.slept == [0, 0.5, 0, 0.5]


def test_a_slow_enough_caller_does_not_wait() -> None:
    there, paced = world(*[OK] * 3, answer_seconds=0.6), job(max_requests_per_second=2.0)
    for _ in range(3):
        there.drive(again(paced))
    assert there.slept == []


def test_no_free_moment_within_the_time_allowed_is_a_timeout_that_names_the_setting() -> None:
    there, paced = world(OK), job(max_requests_per_second=0.01, timeout_ms=5000)
    there.drive(again(paced))
    with pytest.raises(RequestTimeoutError, match="maxRequestsPerSecond") as caught:
        there.drive(again(paced))
    assert (len(there.sent), there.slept, caught.value.provider) == (1, [], "exa-main")


def test_calls_that_find_no_free_moment_take_none_from_later_ones() -> None:
    there, paced = world(OK, OK), job(max_requests_per_second=0.1, timeout_ms=5000)
    there.drive(again(paced))
    for _ in range(20):
        with pytest.raises(RequestTimeoutError):
            there.drive(again(paced))
    there.clock += 6.0
    there.drive(again(paced))
    assert there.slept == [4.0]


def test_pacing_holds_over_threads_and_event_loops() -> None:
    paced, times, lock = job(max_requests_per_second=50.0), [], threading.Lock()

    def note() -> Response:
        with lock:
            times.append(time.monotonic())
        return OK

    class Blocking:
        def send(self, request: Request, deadline: float) -> Response:
            return note()

    class Awaited:
        async def send(self, request: Request, deadline: float) -> Response:
            return note()

    def in_thread() -> None:
        for _ in range(3):
            run(again(paced), Blocking())

    def in_loop() -> None:
        for _ in range(3):
            asyncio.run(arun(again(paced), Awaited()))

    threads = [threading.Thread(target=target) for target in (in_thread, in_loop) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(times) == 12
    assert max(times) - min(times) > 11 * 0.02 - 0.02


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "named"),
    [
        (RequestError("Connection refused"), '"rust async": Connection refused. '),
        (RequestError("too large", retryable=False, status=200), '"rust async": too large. '),
        (
            RequestError(
                'the host name "a.example" could not be looked up (no such host)',
                unknown_host='the host name "a.example"',
            ),
            "HTTPS_PROXY",
        ),
        (RequestTimeoutError("late"), "timeoutMs"),
    ],
)
def test_a_network_error_keeps_its_facts(failure: RequestError, named: str) -> None:
    failure.__cause__ = OSError("why")
    with pytest.raises(type(failure)) as caught:
        asked(world(*[failure] * 3))
    error = caught.value
    assert named in str(error)
    assert (error.provider, error.status) == ("exa-main", failure.status)
    assert error.retryable is failure.retryable
    assert str(error.__cause__) == "why"


@pytest.mark.parametrize(
    ("capability", "action", "subject"),
    [
        ("fetch", "fetching", "https://a.example"),
        ("summarize", "summarizing", "https://b.example"),
    ],
)
def test_the_error_names_the_action_and_its_subject(
    capability: Any, action: str, subject: str
) -> None:
    made = ApiCall(account(), capability, subject, call=detached())
    flow = metered_exchange(made, POST, lambda r: r)
    with pytest.raises(RequestError, match=f'{action} "{subject}": reset'):
        world(*[RequestError("reset")] * 3).drive(flow)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (204, ResponseFormatError),
        (302, ResponseFormatError),
        (400, BadRequestError),
        (401, AuthenticationError),
        (402, QuotaError),
        (403, AuthenticationError),
        (404, BadRequestError),
        (429, RateLimitError),
        (500, UnavailableError),
        (503, UnavailableError),
    ],
)
def test_an_error_status_is_sorted_into_the_tree(status: int, kind: type[WebToolsError]) -> None:
    with pytest.raises(ProviderError) as caught:
        asked(world(*[answer(status)] * 3))
    assert type(caught.value) is kind
    assert (caught.value.provider, caught.value.status) == ("exa-main", status)


def test_a_busy_response_after_all_retries_has_its_wait() -> None:
    with pytest.raises(RateLimitError) as caught:
        asked(world(*[answer(429, retry_after="2")] * 3))
    assert (caught.value.retry_after, caught.value.retryable) == (2, True)
    assert " 2 s " in str(caught.value)


@pytest.mark.parametrize("bug", [KeyError("x"), TypeError(), ValueError(), RecursionError()])
def test_an_undocumented_shape_is_a_format_error_that_quotes_nothing(bug: Exception) -> None:
    def read(_: Response) -> None:
        raise bug

    with pytest.raises(ResponseFormatError, match='parse Exa API response for "rust async"') as got:
        asked(world(OK), read)
    assert (got.value.provider, got.value.status) == ("exa-main", 200)
    assert (got.value.__cause__, got.value.__context__) == (None, None)


def test_what_was_read_is_the_result() -> None:
    assert asked(world(answer(503), OK)) == 200


def test_the_key_that_an_answer_repeats_is_gone_before_it_is_read() -> None:
    echo = Response(200, {}, b'{"said": "test-key-exa"}')
    assert asked(world(echo), lambda r: r.json()) == {"said": "[redacted]"}


def test_half_a_key_does_not_survive_where_a_long_message_is_cut() -> None:
    for length in range(480, 505):
        said = json.dumps({"error": "x" * length + "test-key-exa"}).encode()
        with pytest.raises(AuthenticationError) as caught:
            asked(world(Response(401, {}, said)))
        assert "xt" not in str(caught.value)


def test_the_configured_proxy_goes_with_the_request_and_not_into_its_repr() -> None:
    there = world(OK)
    asked(there, proxy="http://user:secret@127.0.0.1:3128")
    assert there.sent[0][0].proxy == SecretStr("http://user:secret@127.0.0.1:3128")
    assert "secret" not in repr(there.sent[0])


# --- over the wire -----------------------------------------------------------------------------


def test_a_retried_post_arrives_with_the_same_body(
    webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    webtools_sandbox.fault(status=503)
    webtools_sandbox.fault(reset=True)
    with WebTools(config=Config.model_validate(webtools_sandbox.config())) as web:
        assert web.search("json", provider="exa").results
    first, *others = [sent["body"] for sent in webtools_sandbox.stats()["last"]]
    assert others == [first] * 2
