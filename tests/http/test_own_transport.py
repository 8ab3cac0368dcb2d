"""Transports of the caller, and hooks into httpx."""

from __future__ import annotations

import asyncio
import pickle
import time
from typing import Any

import httpx
import pytest

from webtools import ConfigError, RequestError, RequestTimeoutError, WebTools
from webtools._internal.http.async_clients import AsyncHTTP
from webtools._internal.http.clients import BlockingHTTP
from webtools.messages import Request
from webtools_sandbox import SandboxServer

CONFIG: dict[str, Any] = {
    "providers": [{"name": "exa", "type": "exa", "apiKey": "test-key-0123456789"}],
    "cache": {"enabled": False},
    "log": {"enabled": False},
}
HIT = {"title": "Asyncio", "url": "https://docs.example/asyncio"}
PAGE = Request("GET", "https://docs.example:8443/a?b=c")


class Answering(httpx.MockTransport):
    """Answers blocking and async requests alike, and remembers them."""

    def __init__(self, body: bytes = b"", **answer: Any) -> None:
        self.seen: list[httpx.Request] = []
        answer = {"content": body} if body else answer or {"json": {"results": [HIT]}}

        def reply(request: httpx.Request) -> httpx.Response:
            self.seen.append(request)
            return httpx.Response(200, headers={"set-cookie": "a=b"}, **answer)

        super().__init__(reply)


@pytest.fixture(autouse=True)
def proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # where no server listens


async def test_one_transport_serves_both_kinds_of_calls_and_no_proxy_is_used() -> None:
    own = Answering()
    web = WebTools(CONFIG, transport=own)
    assert web.search("asyncio").results[0].url == HIT["url"]
    assert (await web.asearch("event loop")).results[0].url == HIT["url"]
    hosts = [(item.url.host, "cookie" in item.headers) for item in own.seen]
    assert hosts == [("api.exa.ai", False), ("api.exa.ai", False)]


async def test_calls_of_the_kind_without_a_transport_are_refused_not_sent() -> None:
    with pytest.raises(ConfigError, match="async_transport="):
        await WebTools(CONFIG, transport=httpx.HTTPTransport()).asearch("asyncio")
    with pytest.raises(ConfigError, match=" transport="):
        WebTools(CONFIG, async_transport=httpx.AsyncHTTPTransport()).search("asyncio")


def test_the_proxy_of_an_entry_is_not_passed_over_silently() -> None:
    entry = {**CONFIG["providers"][0], "proxy": "http://127.0.0.1:9"}
    web = WebTools({**CONFIG, "providers": [entry]}, transport=Answering())
    with pytest.raises(ConfigError, match=r"providers\[0\]\.proxy has no effect"):
        web.search("asyncio")
    entry["proxy"] = "none"
    WebTools({**CONFIG, "providers": [entry]}, transport=Answering()).search("asyncio")


def test_a_page_is_requested_at_the_address_that_was_checked() -> None:
    own = Answering()
    checked = Request("GET", PAGE.url, addresses=("192.0.2.7", "192.0.2.8"))
    BlockingHTTP(own).send(checked, time.monotonic() + 60)
    [sent] = own.seen
    assert (str(sent.url), sent.headers["host"]) == (
        "https://192.0.2.7:8443/a?b=c",
        "docs.example:8443",
    )
    assert sent.extensions["sni_hostname"] == "docs.example"


def test_pages_of_private_hosts_are_refused_before_they_reach_the_transport() -> None:
    own = Answering()
    config = {**CONFIG, "providers": [{"name": "direct", "type": "direct"}]}
    result = WebTools(config, transport=own).call_tool("web_fetch", {"url": "http://127.0.0.1/"})
    assert result.is_error
    assert own.seen == []


class Dripping(httpx.SyncByteStream, httpx.AsyncByteStream):
    """Brings a body that does not end in time."""

    def __iter__(self) -> Any:
        while True:
            time.sleep(0.01)
            yield b"x"

    async def __aiter__(self) -> Any:
        while True:
            await asyncio.sleep(0.01)
            yield b"x"


async def test_the_deadline_bounds_a_body_that_drips() -> None:
    own = Answering(stream=Dripping())
    with pytest.raises(RequestTimeoutError):
        BlockingHTTP(own).send(PAGE, time.monotonic() + 0.1)
    with pytest.raises(RequestTimeoutError):
        await AsyncHTTP(own).send(PAGE, time.monotonic() + 0.1)


async def test_errors_of_the_transport_become_ours_and_others_stay_what_they_are() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no", request=request)

    own = httpx.MockTransport(refuse)
    with pytest.raises(RequestError, match=r"could not connect to https://docs.example"):
        BlockingHTTP(own).send(PAGE, time.monotonic() + 60)
    with pytest.raises(RequestError, match=r"could not connect to https://docs.example"):
        await AsyncHTTP(own).send(PAGE, time.monotonic() + 60)
    with pytest.raises(AssertionError, match=r"not mocked"):
        BlockingHTTP(httpx.MockTransport(_not_mocked)).send(PAGE, time.monotonic() + 60)


def _not_mocked(_: httpx.Request) -> httpx.Response:
    raise AssertionError("not mocked")


async def test_closing_leaves_the_callers_transport_open() -> None:
    own = Answering()
    async with WebTools(CONFIG, transport=own) as web:
        web.search("asyncio")
        await web.asearch("asyncio")
    assert web.search("asyncio").results


def test_hooks_into_the_clients_of_httpx_see_each_request(
    webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[tuple[str, bool]] = []
    send, asend = httpx.Client.send, httpx.AsyncClient.send

    def hooked(self: httpx.Client, request: httpx.Request, **how: Any) -> httpx.Response:
        requests.append((request.url.path, "cookie" in request.headers))
        return send(self, request, **how)

    async def ahooked(
        self: httpx.AsyncClient, request: httpx.Request, **how: Any
    ) -> httpx.Response:
        requests.append((request.url.path, "cookie" in request.headers))
        return await asend(self, request, **how)

    monkeypatch.setattr(httpx.Client, "send", hooked)
    monkeypatch.setattr(httpx.AsyncClient, "send", ahooked)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    config = webtools_sandbox.config() | {"defaultProvider": "exa", "cache": {"enabled": False}}

    async def search(web: WebTools) -> None:
        assert (await web.asearch("asyncio")).results

    with WebTools(config) as web:
        assert web.search("asyncio").results
        asyncio.run(search(web))
    assert requests == [("/exa/search", False)] * 2


def test_a_pickle_never_loses_a_transport() -> None:
    with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
        pickle.dumps(WebTools("web-search.json", transport=Answering()))
