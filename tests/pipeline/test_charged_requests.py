"""The budget reserves each request that may be charged, and calls give back what they leave."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis_servers import RedisServer

from webtools import WebTools
from webtools._internal.pipeline import retries
from webtools._internal.pipeline.tool_call import call_services, forget_calls
from webtools.errors import QuotaError, WebToolsError
from webtools.providers import PROVIDERS

PRICE = PROVIDERS["exa"].about.prices["auto"]  # of a search without options
PAGE = "https://page.example/"
ANSWER = {"results": [{"id": PAGE, "url": PAGE, "title": "A page", "text": "words"}]}
PAID_ANSWER = {**ANSWER, "statuses": [], "costDollars": {"total": PRICE}}
WHOLE = httpx.Response(200, json=ANSWER).content
LIMITS: dict[str, Callable[[int], float]] = {
    "usdPerDay": lambda number: number * PRICE,
    "callsPerDay": lambda number: number,
    "usdPerProcess": lambda number: number * PRICE,
    "callsPerProcess": lambda number: number,
}


def lose(_: httpx.Request) -> httpx.Response:
    raise httpx.ReadError("reset")


def wait_in_vain(_: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("no answer")


def break_protocol(_: httpx.Request) -> httpx.Response:
    raise httpx.RemoteProtocolError("closed without an answer")


def cut(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200, content=WHOLE[:-9], headers={"content-type": "application/json"})


def stop_short(_: httpx.Request) -> httpx.Response:
    headers = {"content-length": str(len(WHOLE) + 50)}
    return httpx.Response(200, headers=headers, stream=httpx.ByteStream(WHOLE))


CHARGED = [lose, wait_in_vain, break_protocol, cut, stop_short]


def refuse_connection(_: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused")


def be_busy(_: httpx.Request) -> httpx.Response:
    return httpx.Response(503)


FREE = [refuse_connection, be_busy]


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["SQLite", "Redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    cache = {"path": str(tmp_path / "webtools.sqlite3"), "enabled": False}
    settings: dict[str, Any] = {"cache": cache}
    if request.param == "Redis":
        server = request.getfixturevalue("redis_server")
        server.client.flushall()
        settings["storage"] = {"url": server.url}
    forget_calls()
    yield settings
    forget_calls()


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)


def client(respond: Callable[[httpx.Request], Any], **settings: Any) -> WebTools:
    provider = {"name": "exa", "type": "exa", "apiKey": "test-key-of-exa"}
    provider |= settings.pop("entry", {})
    return WebTools({"providers": [provider], **settings}, transport=httpx.MockTransport(respond))


def search(web: WebTools, runtime: str, query: str = "apples") -> None:
    with suppress(WebToolsError):
        if runtime == "async":
            asyncio.run(web.asearch(query))
        else:
            web.search(query)


def spent(web: WebTools) -> Any:
    return call_services(web._settings.accounts()).budget.spent()


@pytest.mark.parametrize("runtime", ["blocking", "async"])
@pytest.mark.parametrize("limit", LIMITS)
def test_no_more_is_sent_than_the_budget_allows(
    store: dict[str, Any], limit: str, runtime: str
) -> None:
    for failure in CHARGED:
        for allowed in (1, 2):
            forget_calls()
            sent: list[httpx.Request] = []

            def respond(
                request: httpx.Request,
                failure: Callable[[httpx.Request], httpx.Response] = failure,
                sent: list[httpx.Request] = sent,
            ) -> httpx.Response:
                sent.append(request)
                return failure(request)

            path = f"{store['cache']['path']}-{failure.__name__}-{allowed}"
            budget = {limit: LIMITS[limit](allowed)}
            if "storage" in store and limit.endswith("Day"):
                budget = {limit: LIMITS[limit](allowed + today(store))}
            settings = {**store, "cache": {"path": path, "enabled": False}, "budget": budget}
            with client(respond, **settings) as web:
                for number in range(3):
                    search(web, runtime, f"apples {number}")
            assert len(sent) == allowed


def today(store: dict[str, Any]) -> int:
    """Return the number of calls that the server has counted, each at its full price."""
    with client(be_busy, **store, budget={"callsPerDay": 10**6}) as web:
        return int(spent(web).today.calls)


@pytest.mark.parametrize("failure", FREE)
def test_what_is_not_charged_is_sent_again_without_another_reservation(
    store: dict[str, Any], failure: Callable[[httpx.Request], httpx.Response]
) -> None:
    attempts: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        attempts.append(request)
        return failure(request) if len(attempts) < 3 else httpx.Response(200, json=ANSWER)

    with client(respond, **store, budget={"callsPerDay": 1}) as web:
        assert web.search("apples").results
        assert spent(web).today.calls == 1


CALLS: dict[str, Callable[[WebTools], Any]] = {
    "search": lambda web: web.search("apples"),
    "several": lambda web: web.search(["apples", "pears"]),
    "fetch": lambda web: web.fetch(PAGE, text=True),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("failure", [lose, wait_in_vain, break_protocol, stop_short, *FREE])
def test_a_retry_that_may_be_charged_shows_in_the_cost_of_a_single_provider(
    failure: Callable[[httpx.Request], httpx.Response], call: str
) -> None:
    requests: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return failure(request) if len(requests) == 1 else httpx.Response(200, json=PAID_ANSWER)

    with client(respond, cache={"enabled": False}) as web:
        response = CALLS[call](web)
    assert len(requests) == (3 if call == "several" else 2)
    is_charged = failure in CHARGED
    assert response.cost_is_estimate is is_charged
    assert any("cost_usd" in warning for warning in response.warnings) is is_charged


@pytest.mark.parametrize("failure", [lose, wait_in_vain, break_protocol, cut])
def test_a_failed_paid_request_shows_although_a_free_provider_served(
    failure: Callable[[httpx.Request], httpx.Response],
) -> None:
    wiki = {"query": {"pages": []}, "batchcomplete": True}

    def respond(request: httpx.Request) -> httpx.Response:
        return failure(request) if "exa" in request.url.host else httpx.Response(200, json=wiki)

    exa = {"name": "exa", "type": "exa", "apiKey": "test-key-of-exa"}
    settings: dict[str, Any] = {"providers": [exa, {"name": "wikipedia", "type": "wikipedia"}]}
    settings["cache"] = {"enabled": False}
    with WebTools(settings, transport=httpx.MockTransport(respond)) as web:
        response = web.search("apples")
    assert response.cost_usd == 0
    assert response.cost_is_estimate
    assert any("cost_usd" in warning for warning in response.warnings)


# --- calls that are cancelled ------------------------------------------------------------------


class Interrupted(BaseException):
    """Stands in for Ctrl-C and the like."""


def test_cancelled_calls_that_sent_nothing_cost_nothing(store: dict[str, Any]) -> None:
    budget = {"usdPerDay": 100, "callsPerDay": 1000, "usdPerProcess": 100}
    sent: list[httpx.Request] = []

    async def respond(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        await asyncio.sleep(30)
        raise AssertionError

    async def run(web: WebTools) -> None:
        for delay in (0.0, 0.0, 0.001, 0.01):
            tasks = [asyncio.create_task(web.asearch(f"{delay} {n}")) for n in range(40)]
            await asyncio.sleep(delay)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await settle(web, lambda: spent(web).today.calls == len(sent))

    with client(respond, **store, budget=budget) as web:
        asyncio.run(run(web))
        total = spent(web)
    assert total.today.calls == total.process.calls == len(sent)
    assert total.today.usd == pytest.approx(len(sent) * PRICE)


async def settle(web: WebTools, is_done: Callable[[], bool]) -> None:
    """Wait for work that threads finish after a cancelled call."""
    for _ in range(200):
        if await asyncio.to_thread(is_done):
            return
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("error", [KeyboardInterrupt, Interrupted, GeneratorExit])
def test_a_call_interrupted_before_its_request_gives_everything_back(
    store: dict[str, Any], monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def interrupt(_: float) -> None:
        raise error

    entry = {"maxRequestsPerSecond": 0.5}
    with client(lambda _: httpx.Response(200, json=ANSWER), **store, entry=entry,
                budget={"callsPerDay": 3, "callsPerProcess": 3}) as web:  # fmt: skip
        web.search("apples")
        with monkeypatch.context() as patch:
            patch.setattr("webtools._internal.io.blocking.time.sleep", interrupt)
            for number in range(5):
                with pytest.raises(error):
                    web.search(f"pears {number}")
        total = spent(web)
        assert (total.today.calls, total.process.calls) == (1, 1)
        waits: list[float] = []
        monkeypatch.setattr("webtools._internal.io.blocking.time.sleep", waits.append)
        web.search("plums")
    assert len(waits) == 1
    assert waits[0] <= 2.0  # the next slot, not that after those of the interrupted calls


def test_cancelled_calls_give_their_slots_back(store: dict[str, Any]) -> None:
    entry = {"maxRequestsPerSecond": 0.5}

    async def run(web: WebTools) -> float:
        await web.asearch("apples")
        tasks = [asyncio.create_task(web.asearch(f"pears {n}")) for n in range(10)]
        await asyncio.sleep(0.3)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.2)
        return time.monotonic()

    with client(lambda _: httpx.Response(200, json=ANSWER), **store, entry=entry) as web:
        asyncio.run(run(web))
        waits: list[float] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("webtools._internal.io.blocking.time.sleep", waits.append)
            web.search("plums")
    assert all(wait <= 2.0 for wait in waits)


def test_a_cancelled_trial_lets_the_next_call_be_the_trial(store: dict[str, Any]) -> None:
    reply: list[Any] = [httpx.Response(401, json={"error": "no such key"})]
    late = time.time

    async def respond(_: httpx.Request) -> httpx.Response:
        if reply[0] is None:
            await asyncio.sleep(30)
        return reply[0]  # type: ignore[no-any-return]

    def respond_blocking(_: httpx.Request) -> httpx.Response:
        return reply[0]  # type: ignore[no-any-return]

    second = {"name": "second", "type": "exa", "apiKey": "test-key-of-second"}
    first = {"name": "first", "type": "exa", "apiKey": "test-key-of-first"}
    hosts: list[str] = []

    async def count(request: httpx.Request) -> httpx.Response:
        hosts.append(request.headers["x-api-key"])
        if request.headers["x-api-key"] == "test-key-of-second":
            return httpx.Response(200, json=ANSWER)
        return await respond(request)

    config = {"providers": [first, second], **store}
    transport = httpx.MockTransport(count)

    async def run() -> None:
        with pytest.MonkeyPatch.context() as patch:
            async with WebTools(config, async_transport=transport) as web:
                await web.asearch("apples")
                assert hosts == ["test-key-of-first", "test-key-of-second"]
                hosts.clear()
                await web.asearch("pears")
                assert hosts == ["test-key-of-second"]
                patch.setattr("time.time", lambda: late() + 100)
                reply[0] = None
                hosts.clear()
                task = asyncio.create_task(web.asearch("plums"))
                await asyncio.sleep(0.3)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                assert hosts == ["test-key-of-first"]
                reply[0] = httpx.Response(200, json=ANSWER)
                hosts.clear()
                await asyncio.sleep(0.2)
                assert (await web.asearch("figs")).provider == "first"

    asyncio.run(run())


def test_a_refused_retry_ends_with_the_failure_of_the_request(store: dict[str, Any]) -> None:
    lock, sent = threading.Lock(), list[int]()

    def respond(request: httpx.Request) -> httpx.Response:
        with lock:
            sent.append(1)
        return lose(request)

    with client(respond, **store, budget={"callsPerProcess": 1}) as web:
        with pytest.raises(WebToolsError) as caught:
            web.search("apples")
        assert not isinstance(caught.value, QuotaError)
        with pytest.raises(QuotaError):
            web.search("apples")
    assert sent == [1]
