from __future__ import annotations

import socket
import ssl
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import webtools_sandbox as sandbox
from webtools import WebTools
from webtools_sandbox import EXA_KEY, SandboxServer, serve

if TYPE_CHECKING:
    from sandbox_caller import Caller


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("name", ["nosuch", "direct"])
def test_a_config_with_a_provider_that_is_not_simulated_is_refused(
    webtools_sandbox: SandboxServer, name: str
) -> None:
    with pytest.raises(KeyError, match=name):
        webtools_sandbox.config(name)


def test_without_aiohttp_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "webtools_sandbox.server")
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with pytest.raises(ImportError, match=r"pip install 'agent-webtools\[sandbox\]'"):
        _ = sandbox.SandboxServer


def test_stop_leaves_no_thread_and_frees_the_port() -> None:
    before = threads().count("webtools-sandbox")  # of other tests
    with SandboxServer() as server:
        port = server.port
        httpx.get(server.url, trust_env=False)
    with SandboxServer(port=port) as again:
        assert again.port == port
    assert threads().count("webtools-sandbox") == before


def test_stop_does_not_wait_for_delayed_responses() -> None:
    server = SandboxServer()
    server.start()
    server.fault(provider="pages", delay=60)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(httpx.get, server.url, trust_env=False)
        while not server.stats()["requests"]:
            time.sleep(0.005)
        started = time.monotonic()
        server.stop()
        assert time.monotonic() - started < 30  # half of the delay
        assert isinstance(waiting.exception(), httpx.RemoteProtocolError | httpx.ReadError)


def test_a_server_can_be_started_again_but_not_twice() -> None:
    server = SandboxServer()
    for _ in range(2):
        with server:
            assert httpx.get(server.url + "/docs/", trust_env=False).status_code == 200
            with pytest.raises(RuntimeError, match="running already"):
                server.start()


def test_a_port_in_use_is_a_clear_error(webtools_sandbox: SandboxServer) -> None:
    port = webtools_sandbox.port
    with pytest.raises(OSError, match=str(port)):
        SandboxServer(port=port).start()


def test_a_server_that_is_not_running_has_no_url() -> None:
    for name in ("url", "docs_url", "latency"):
        with pytest.raises(RuntimeError):
            getattr(SandboxServer(), name)


def test_only_loopback_addresses_are_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts: list[str] = []
    create = socket.create_server

    def record(address: tuple[str, int], **options: Any) -> socket.socket:
        hosts.append(address[0])
        return create(address, **options)

    monkeypatch.setattr(socket, "create_server", record)
    with SandboxServer():
        assert hosts == ["127.0.0.1", "::1"]


def test_the_config_sends_all_requests_to_the_server(webtools_sandbox: SandboxServer) -> None:
    config = webtools_sandbox.config()
    assert config["defaultProvider"] == "exa"
    for entry in config["providers"]:
        assert entry["baseUrl"] == webtools_sandbox.base_url(entry["type"])
        assert entry["apiKey"].startswith("test-key-")
    types = [entry["type"] for entry in config["providers"]]
    assert types == ["exa", "kagi", "brave", "perplexity", "context7"]
    assert config["providers"][1]["options"] == {"v0ApiKey": "test-key-kagi-v0"}
    *default, other = webtools_sandbox.config("tavily")["providers"]
    assert default == config["providers"]
    assert (other["type"], other["apiKey"]) == ("tavily", "test-key-tavily")


def test_an_unknown_provider_is_an_error_with_the_known_ones(
    webtools_sandbox: SandboxServer,
) -> None:
    with pytest.raises(KeyError, match="exa, kagi"):
        webtools_sandbox.base_url("bing")


def test_additional_keys_are_accepted() -> None:
    with SandboxServer(keys=["my-key"]) as server:
        url = server.base_url("exa") + "/search"
        answer = httpx.post(
            url, json={"query": "json"}, headers={"x-api-key": "my-key"}, trust_env=False
        )
    assert answer.status_code == 200


def test_made_up_hosts_can_be_searched_and_fetched() -> None:
    docs, news = "https://docs.example", "https://news.example/daily/"
    headers = {"x-api-key": EXA_KEY}
    with (
        SandboxServer(docs_url=docs, news_url=news) as server,
        httpx.Client(base_url=server.base_url("exa"), headers=headers, trust_env=False) as http,
    ):
        found = http.post("/search", json={"query": "json streaming"}).json()["results"]
        urls = [found[0]["url"], found[1]["url"]]
        assert urls[0] == "https://news.example/daily/2026/03/json-streaming-parser.html"
        assert urls[1] == "https://docs.example/library/json.html"
        pages = http.post("/contents", json={"urls": urls}).json()["results"]
        assert [page["url"] for page in pages] == urls
        assert http.get(f"{server.url}/docs/library/json.html").status_code == 200


@pytest.mark.parametrize("version", ["3", "3.12"])
def test_pages_of_docs_python_org_can_be_fetched(
    webtools_sandbox: SandboxServer, version: str
) -> None:
    url = f"https://docs.python.org/{version}/library/json.html"
    with WebTools(webtools_sandbox.config()) as web:
        assert [(page.url, page.error) for page in web.fetch([url]).pages] == [(url, None)]
        assert web.summarize(url).text


@pytest.mark.parametrize("provider", ["exa", "kagi", "brave", "perplexity"])
def test_a_search_of_the_python_documentation_has_hits(
    webtools_sandbox: SandboxServer, provider: str
) -> None:
    with WebTools(webtools_sandbox.config()) as web:
        found = web.search(["json"], include_domains=["docs.python.org"], provider=provider)
    assert found.results
    assert all(result.url.startswith("https://docs.python.org/3/") for result in found.results)


def test_latency_delays_concurrent_responses_together(caller: Caller) -> None:
    caller.server.latency = 0.3
    spans: list[tuple[float, float]] = []

    def search() -> int:
        started = time.monotonic()
        answer = caller.exa("/search", query="json")
        spans.append((started, time.monotonic()))
        return answer.status_code

    with ThreadPoolExecutor(8) as pool:
        assert {item.result() for item in [pool.submit(search) for _ in range(8)]} == {200}
    assert min(end - start for start, end in spans) >= 0.3
    assert sum(end - start for start, end in spans) > max(end for _, end in spans) - min(
        start for start, _ in spans
    ), "the responses were sent one after the other"


def test_latency_can_be_set_over_http(caller: Caller) -> None:
    control = f"{caller.server.url}/_sandbox/latency"
    assert caller.http.post(control, json={"seconds": 0.01}).status_code == 200
    assert caller.server.latency == 0.01
    assert caller.http.post(control, json={"seconds": -1}).status_code == 400
    assert caller.http.post(control, json=[]).status_code == 400
    caller.server.reset()
    assert caller.server.latency == 0


def test_an_unknown_control_is_not_found(caller: Caller) -> None:
    assert caller.http.get(f"{caller.server.url}/_sandbox/nothing").status_code == 404


def test_a_body_over_a_mebibyte_is_refused(caller: Caller) -> None:
    assert caller.exa("/search", query="x" * (1024**2)).status_code == 413


def test_stats_count_requests_and_connections(caller: Caller) -> None:
    caller.exa("/search", query="one")
    caller.exa("/search", query="two")
    caller.v0("/search", q="three")
    stats = caller.server.stats()
    assert stats["requests"] == {"/exa/search": 2, "/kagi/api/v0/search": 1}
    assert stats["connections"] == 1
    assert [call["body"] for call in stats["last"]] == [{"query": "one"}, {"query": "two"}, None]
    assert stats["last"][2]["query"] == {"q": "three"}
    assert stats == caller.http.get(f"{caller.server.url}/_sandbox/stats").json()


def test_stats_show_the_scheme_of_a_key_but_not_the_key(caller: Caller) -> None:
    caller.exa("/search", query="x")
    caller.v1("/search", query="x")
    stats = caller.server.stats()
    assert stats["last"][0]["headers"]["x-api-key"] == "***"
    assert stats["last"][1]["headers"]["authorization"] == "Bearer ***"
    assert "test-key" not in str(stats)


def test_stats_can_be_reset(caller: Caller) -> None:
    caller.exa("/search", query="x")
    caller.server.reset_stats()
    assert caller.server.stats() == {"requests": {}, "connections": 0, "last": []}
    caller.http.get(f"{caller.server.url}/docs/library/json.html")
    assert caller.server.stats()["requests"] == {"/docs/library/json.html": 1}


def test_https_is_served_with_a_context() -> None:
    trustme = pytest.importorskip("trustme")
    authority = trustme.CA()
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(serving)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with (
        SandboxServer(ssl_context=serving) as server,
        httpx.Client(verify=trusting, trust_env=False) as http,
    ):
        assert server.url.startswith("https://")
        assert http.get(f"{server.docs_url}/library/json.html").status_code == 200
        assert http.get(f"{server.news_url}/").status_code == 200
        server.fault(provider="pages", reset=True)
        with pytest.raises(httpx.HTTPError):
            http.get(server.url)


def test_serve_ends_on_ctrl_c() -> None:
    ready: list[str] = []

    def announce(server: SandboxServer) -> None:
        ready.append(httpx.get(f"{server.url}/docs/", trust_env=False).text)
        raise KeyboardInterrupt

    before = threads()
    serve(port=0, announce=announce)
    assert ready
    assert threads() == before
