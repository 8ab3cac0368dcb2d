"""Proxies from the environment: chosen as httpx does, and named in errors without their login."""

from __future__ import annotations

import asyncio
import socket
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import httpx
import pytest
from offline import KEY
from servers import Proxy, RawServer, answering, response, silent

from webtools import Config, ConfigError, RequestError, WebTools
from webtools._internal.http.proxies import environment_proxies
from webtools._internal.pipeline import retries
from webtools.config import Settings
from webtools.config.description import describe
from webtools_sandbox import SandboxServer

HITS = b'{"results": [{"title": "A", "url": "https://a.example/", "id": "1"}]}'
PAGE = response(
    b"<html><head><title>Ferry</title></head><body><p>The ferry crosses the Sound forty times a "
    b"day and carries one hundred and twenty cars on every trip.</p></body></html>",
    headers=[("Content-Type", "text/html")],
)
DIRECT = {"providers": [{"name": "direct", "type": "direct"}], "cache": {"enabled": False}}
SetProxy = Callable[..., None]
Search = Callable[[Any], Any]


@pytest.fixture
def set_variables(monkeypatch: pytest.MonkeyPatch) -> SetProxy:
    """Set variables of the environment."""

    def set_all(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_all


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)


@pytest.fixture(params=["blocking", "async"])
def search(request: pytest.FixtureRequest) -> Search:
    def blocking(config: Any) -> Any:
        with WebTools(config) as web:
            return web.search("ferry")

    async def awaited(config: Any) -> Any:
        async with WebTools(config) as web:
            return await web.asearch("ferry")

    return blocking if request.param == "blocking" else lambda it: asyncio.run(awaited(it))


def settings(base_url: str = "http://api.example", **entry: Any) -> dict[str, Any]:
    exa = {"name": "exa", "type": "exa", "apiKey": KEY, "baseUrl": base_url, **entry}
    off = {"enabled": False}
    return {"providers": [exa], "cache": off, "log": off}


# --- which one ---------------------------------------------------------------------------------

URLS = [
    "http://example.com/",
    "https://example.com/",
    "https://www.example.com/",
    "https://notexample.com/",
    "https://example.com:8443/",
    "http://127.0.0.1:8080/",
    "http://localhost/",
    "http://10.1.2.3/",
    "http://[::1]/",
    "https://api.internal:444/",
]


@pytest.mark.parametrize(
    "no_proxy",
    [
        *("", "*", "example.com", ".example.com", "www.example.com", "com", " example.com , x"),
        *("127.0.0.1", "::1", "localhost", "10.1.2.3", "http://example.com"),
        *("example.com:8443", "https://api.internal:444", "all://example.com", ",,", "a,*"),
    ],
)
@pytest.mark.parametrize("lower", [False, True])
def test_the_proxy_is_the_one_that_httpx_chooses(
    set_variables: SetProxy, no_proxy: str, lower: bool
) -> None:
    named = {"HTTP_PROXY": "p.example:1", "ALL_PROXY": "http://p.example:3", "NO_PROXY": no_proxy}
    set_variables(**{name.lower() if lower else name: value for name, value in named.items()})
    client = httpx.Client()
    own = environment_proxies()
    for url in URLS:
        transport: Any = client._transport_for_url(httpx.URL(url))
        foreign = getattr(transport._pool, "_proxy_url", None)
        place = foreign and f"http://p.example:{foreign.port}"
        chosen = own.choose(url)
        assert (chosen and chosen.url) == place, url


def test_lower_case_variables_come_first_and_cgi_headers_are_ignored(
    set_variables: SetProxy,
) -> None:
    set_variables(HTTP_PROXY="http://upper.example", http_proxy="http://lower.example")
    chosen = environment_proxies().choose("http://a.example/")
    assert chosen is not None
    assert (chosen.place, chosen.source) == ("http://lower.example", "http_proxy")
    set_variables(http_proxy="", REQUEST_METHOD="GET")
    assert environment_proxies().choose("http://a.example/") is None


@pytest.mark.parametrize("url", ["http://[::1", "ftp://p.example", "http://", "http://p:99999999"])
def test_an_invalid_proxy_is_an_error_that_names_its_variable(
    set_variables: SetProxy, url: str
) -> None:
    set_variables(HTTPS_PROXY=url)
    with pytest.raises(ConfigError, match=r"^HTTPS_PROXY is not the URL of a proxy"):
        environment_proxies().choose("https://a.example/")
    assert environment_proxies().choose("http://a.example/") is None


# --- through it --------------------------------------------------------------------------------


def test_an_api_is_requested_through_the_proxy_of_the_environment(
    search: Search, set_variables: SetProxy
) -> None:
    with Proxy(refuse=response(HITS)) as proxy:
        set_variables(HTTP_PROXY=f"http://me:secretword@127.0.0.1:{proxy.port}")
        assert search(settings()).results[0].title == "A"
    (request,) = proxy.requests
    assert request.startswith(b"POST http://api.example/search ")
    assert b64encode(b"me:secretword") in request


def test_https_is_tunnelled_and_the_proxy_of_an_entry_goes_first(
    search: Search, set_variables: SetProxy
) -> None:
    refusal = response(b"", "403 Forbidden")
    with Proxy(refuse=refusal) as named, Proxy(refuse=refusal) as own:
        set_variables(HTTPS_PROXY=named.url)
        for config in (
            settings("https://api.example"),
            settings("https://api.example", proxy=own.url),
        ):
            with pytest.raises(RequestError, match="proxy"):
                search(config)
    assert {request.split(b"\r\n")[0] for request in named.requests + own.requests} == {
        b"CONNECT api.example:443 HTTP/1.1"
    }
    assert len(named.requests) == len(own.requests)


@pytest.mark.usefixtures("nowhere")
def test_the_sandbox_is_beside_the_proxy(webtools_sandbox: SandboxServer) -> None:
    with WebTools(webtools_sandbox.config()) as web:
        assert web.search("zip file").results


@pytest.fixture
def nowhere(set_variables: SetProxy) -> None:
    set_variables(HTTP_PROXY="http://127.0.0.1:1", ALL_PROXY="http://127.0.0.1:1")


@pytest.mark.usefixtures("nowhere")
def test_an_entry_can_go_without_any_proxy(search: Search) -> None:
    with RawServer(answering(response(HITS))) as api:
        assert search(settings(api.url, proxy="none")).results[0].title == "A"


# --- what goes wrong ---------------------------------------------------------------------------


def closed(connection: socket.socket) -> None:
    connection.recv(65536)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("script", [silent, closed, None], ids=["silent", "closes", "dead"])
def test_an_error_names_the_proxy_without_its_login_and_the_variable(
    search: Search, set_variables: SetProxy, scheme: str, script: Any
) -> None:
    with RawServer(script or closed) as proxy:
        port = proxy.port if script else 1
        variable = f"{scheme.upper()}_PROXY"
        set_variables(**{variable: f"http://test-key-canary:@127.0.0.1:{port}"})
        with pytest.raises(RequestError) as caught:
            search(settings(f"{scheme}://api.example", timeoutMs=400))
    assert f"through the proxy http://127.0.0.1:{port} (from {variable})" in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_refused_proxy_login_is_not_retried(
    search: Search, set_variables: SetProxy, scheme: str
) -> None:
    with Proxy(refuse=response(b"", "407 Proxy Authentication Required")) as proxy:
        set_variables(ALL_PROXY=f"http://me:test-key-canary@127.0.0.1:{proxy.port}")
        with pytest.raises(RequestError, match="HTTP 407.*ALL_PROXY") as caught:
            search(settings(f"{scheme}://api.example"))
    assert not caught.value.retryable
    assert len(proxy.requests) == 1


# --- pages -------------------------------------------------------------------------------------


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Stand in for the name server: what it does not know, it does not know."""
    known: dict[str, str] = {}
    look_up = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if host in {"127.0.0.1", *known.values()}:
            return look_up(host, port, *args, **kwargs)
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[host], port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return known


@pytest.mark.usefixtures("names")
def test_a_page_is_read_through_the_proxy_where_there_are_no_other_names(
    set_variables: SetProxy,
) -> None:
    with Proxy(refuse=PAGE) as proxy, WebTools(DIRECT) as web:
        set_variables(http_proxy=proxy.url)
        response = web.fetch("http://news.example/ferry")
    assert "forty times" in (response.pages[0].text or "")
    assert proxy.requests[0].startswith(b"GET http://news.example/ferry ")
    assert "The proxy from http_proxy looks up the hosts" in response.warnings[0]


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "10.1.2.3", "169.254.169.254", "localhost", "inside.example"),
        *("metadata.goog", "metadata.google.internal", "metadata.tencentyun.com"),
        *("kubernetes.default.svc", "vault.service.consul", "wiki.internal"),
    ],
)
def test_the_guard_refuses_through_a_proxy_what_it_refuses_without(
    set_variables: SetProxy, names: dict[str, str], host: str
) -> None:
    names["inside.example"] = "10.9.8.7"
    with Proxy(refuse=PAGE) as proxy, WebTools(DIRECT) as web:
        set_variables(HTTP_PROXY=proxy.url)
        result = web.call_tool("web_fetch", {"urls": [f"http://{host}/"]})
    assert result.is_error
    assert "blocked by webtools" in result.text
    assert not proxy.requests


def test_a_redirect_through_the_proxy_is_checked_too(
    set_variables: SetProxy, names: dict[str, str]
) -> None:
    away = response(b"", "302 Found", [("Location", "http://inside.example/")])
    names["inside.example"] = "192.168.7.7"
    with Proxy(refuse=away) as proxy, WebTools(DIRECT) as web:
        set_variables(HTTP_PROXY=proxy.url)
        result = web.call_tool("web_fetch", {"urls": ["http://a.example/"]})
    assert "192.168.7.7, which is a private address" in result.text
    assert len(proxy.requests) == 1


# --- secrets -----------------------------------------------------------------------------------


def test_the_login_of_the_environments_proxy_is_redacted(
    search: Search, set_variables: SetProxy
) -> None:
    secret = "test-key-canary-env"
    sent = b64encode(f"{secret}:".encode()).decode()
    body = HITS.replace(b'"A"', f'"{secret} {sent}"'.encode())
    with Proxy(refuse=response(body)) as proxy:
        set_variables(HTTP_PROXY=f"http://{secret}@127.0.0.1:{proxy.port}")
        title = search(settings()).results[0].title
    assert title == "[redacted] [redacted]"


def frames(error: BaseException | None) -> Iterator[FrameType]:
    """List the frames outside of this file of an error, its causes and its contexts."""
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename != __file__:
                yield frame
        error = error.__cause__ or error.__context__


LOGIN = "canary%2Fuser:canary-password"
REFUSED = response(f"{LOGIN} canary/user canary-password".encode(), "407 canary-password")


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("is_entry", [True, False])
@pytest.mark.parametrize("refuse", [b"", REFUSED], ids=["closes", "refuses"])
def test_no_local_of_a_traceback_holds_the_login_of_a_proxy(
    search: Search, set_variables: SetProxy, scheme: str, is_entry: bool, refuse: bytes
) -> None:
    with Proxy(refuse=refuse) as proxy:
        config = settings(f"{scheme}://api.example")
        if is_entry:
            config["providers"][0]["proxy"] = f"http://{LOGIN}@127.0.0.1:{proxy.port}"
        else:
            set_variables(**{f"{scheme.upper()}_PROXY": f"http://{LOGIN}@127.0.0.1:{proxy.port}"})
        with pytest.raises(RequestError) as caught:
            search(Config.model_validate(config))
    values = [repr(value) for frame in frames(caught.value) for value in frame.f_locals.values()]
    assert len(values) > 10
    assert not [text for text in values if "canary" in text]


def test_config_check_names_the_proxies_of_the_environment_without_logins(
    set_variables: SetProxy,
) -> None:
    set_variables(HTTPS_PROXY="http://me:test-key-canary@p.example:3128")
    lines = describe(Settings(settings()).accounts(), {})
    assert "Proxy for https URLs: http://p.example:3128, set by HTTPS_PROXY" in lines
    assert "canary" not in "".join(lines)


def test_config_check_warns_of_a_password_too_short_to_be_found(set_variables: SetProxy) -> None:
    set_variables(HTTPS_PROXY="http://me:abc@p.example:3128")
    lines = describe(Settings(settings(proxy="http://me:test-key-canary@q.example")).accounts(), {})
    (warning,) = [line for line in lines if line.startswith("Warning: the password")]
    assert "HTTPS_PROXY has fewer than 4 characters" in warning
    assert "abc" not in warning
