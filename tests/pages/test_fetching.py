from __future__ import annotations

import _socket
import asyncio
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
from offline import IO, Stub, arun, detached, run
from servers import RawServer, read_request, response, secured
from test_reading_pages import pdf
from test_ssrf import PRIVATE_URLS

from langchain_webtools._documents import page_document
from llamaindex_webtools._nodes import page_document as node_document
from webtools import WebTools
from webtools._internal.http import tls
from webtools._internal.http.async_clients import AsyncHTTP
from webtools._internal.http.clients import BlockingHTTP
from webtools._internal.http.proxies import NO_PROXIES
from webtools._internal.operations.fetch import fetch
from webtools._internal.pages import missing_libraries
from webtools._internal.text.cutting import cut_at_space
from webtools.config import Settings, load
from webtools.config.accounts import keyless_account
from webtools.errors import (
    ConfigError,
    InputError,
    ProviderError,
    RequestError,
)
from webtools.formatting import page_sections
from webtools.messages import Response
from webtools.providers import Account
from webtools.providers.operator_domains import NO_DOMAINS
from webtools.providers.protocols import PageQuery
from webtools.results import FetchResponse
from webtools.tools import FETCH
from webtools_sandbox.server import SandboxServer

IMPLICIT = keyless_account("direct", NO_PROXIES, NO_DOMAINS)
PUBLIC = "93.184.216.34"  # what the tests' name server returns for other names
POLICY = "blocked by webtools"
PARAGRAPH = (
    "The ferry crosses the Sound forty times a day and carries one hundred and twenty cars. "
)
HTML = (
    "<!DOCTYPE html><html><head><title>Ferry</title></head><body><article><h1>Ferry</h1>"
    f"<p>{PARAGRAPH * 3}</p><p>{PARAGRAPH}It charges for seven minutes.</p></article></body></html>"
).encode()


def html(body: bytes = HTML, **more: str) -> bytes:
    return response(body, headers=[("Content-Type", "text/html; charset=utf-8"), *more.items()])


def moved(location: str, status: str = "302 Found") -> bytes:
    return response(b"", status, [("Location", location)])


class Site(RawServer):
    """Answers by path, and keeps the requests."""

    def __init__(self, *, context: ssl.SSLContext | None = None, **answers: bytes) -> None:
        self.answers = {f"/{name}": answer for name, answer in answers.items()}
        script = self._answer if context is None else secured(self._answer, context)
        super().__init__(script)

    def _answer(self, connection: socket.socket) -> None:
        while request := read_request(connection):
            self.requests.append(request)
            path = request.split(b" ")[1].decode().partition("?")[0]
            connection.sendall(self.answers.get(path, html()))

    @property
    def hosts(self) -> list[str]:
        lines = [line for request in self.requests for line in request.split(b"\r\n")]
        return [line[6:].decode() for line in lines if line.lower().startswith(b"host: ")]


class Internet:
    """Stands in for name servers and the network: what is connected to, and where that ends."""

    def __init__(self) -> None:
        self.names: dict[str, list[list[str]]] = {}  # answers in turn; the last one for ever
        self.servers: dict[str, int] = {}  # local port that an address leads to
        self.looked_up: list[str] = []
        self.connected: list[str] = []
        self._look_up = socket.getaddrinfo

    def name(self, host: str, *answers: list[str]) -> None:
        self.names[host] = list(answers)

    def getaddrinfo(self, host: Any, port: Any, *args: Any, **kwargs: Any) -> list[Any]:
        text = host.decode() if isinstance(host, bytes) else str(host)
        if text.replace(".", "").isdigit() or ":" in text:
            return self._look_up(host, port, *args, **kwargs)
        self.looked_up.append(text)
        answers = self.names.get(text, [[PUBLIC]])
        result = answers.pop(0) if len(answers) > 1 else answers[0]
        if not result:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (address, port),
            )
            for address in result
        ]

    def connect(self, sock: socket.socket, address: Any) -> None:
        self.connected.append(address[0])
        port = self.servers.get(address[0])
        if port is None:
            raise ConnectionRefusedError(111, "refused by the test")
        _socket.socket.connect(sock, ("127.0.0.1", port))


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Internet:
    internet = Internet()
    monkeypatch.setattr(socket, "getaddrinfo", internet.getaddrinfo)
    monkeypatch.setattr(socket.socket, "connect", _bound(internet))
    monkeypatch.setattr("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0)
    return internet


def _bound(internet: Internet) -> Callable[..., None]:
    def connect(self: socket.socket, address: Any) -> None:
        if self.family in {socket.AF_INET, socket.AF_INET6}:
            internet.connect(self, address)
        else:
            _socket.socket.connect(self, address)

    return connect


def account(**settings: Any) -> Account:
    entry = {"name": "direct", "type": "direct", **settings}
    return Settings(load(json.dumps({"providers": [entry]}), "x")).accounts().accounts[0]


def allowing(*sites: str, **settings: Any) -> Account:
    return account(options={"allowPrivateHosts": list(sites)}, **settings)


Fetch = Callable[..., FetchResponse]


def _blocking(provider: Account, *urls: str, **query: Any) -> FetchResponse:
    transport = BlockingHTTP()
    try:
        return run(fetch([provider], PageQuery(urls, **query), detached()), transport)
    finally:
        transport.close()


def _async(provider: Account, *urls: str, **query: Any) -> FetchResponse:
    async def go() -> FetchResponse:
        transport = AsyncHTTP()
        try:
            return await arun(fetch([provider], PageQuery(urls, **query), detached()), transport)
        finally:
            await transport.aclose()

    return asyncio.run(go())


@pytest.fixture(params=[_blocking, _async], ids=["blocking", "async"])
def get(request: pytest.FixtureRequest) -> Fetch:
    driver: Fetch = request.param
    return driver


def refusal(get: Fetch, provider: Account, url: str) -> str:
    with pytest.raises(ProviderError) as caught:
        get(provider, url)
    return str(caught.value)


# --- nothing private is connected to -----------------------------------------------------------


@pytest.fixture
def everywhere(internet: Internet) -> Iterator[Site]:
    """A network where each name leads to loopback and each address answers."""
    with Site() as site:
        internet.servers = _Always(site.port)
        internet.names = _Always([["127.0.0.1"]])
        yield site


class _Always(dict[str, Any]):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self._value = value

    def get(self, key: str, default: Any = None) -> Any:
        return self._value


@pytest.mark.parametrize(
    "url", [*PRIVATE_URLS, "http://public-looking.example/", "http://127.0.0.1.nip.io/"]
)
def test_no_spelling_of_a_private_address_reaches_a_socket(
    get: Fetch, internet: Internet, everywhere: Site, url: str
) -> None:
    with pytest.raises(ProviderError, match=POLICY):
        get(IMPLICIT, url)
    assert internet.connected == []
    assert everywhere.connections == 0


def test_the_network_of_that_test_would_have_let_them_through(
    get: Fetch, internet: Internet, everywhere: Site
) -> None:
    response = get(allowing("wiki.corp"), "http://wiki.corp/")
    assert response.pages[0].title == "Ferry"
    assert internet.connected == ["127.0.0.1"]
    assert everywhere.connections == 1


@pytest.mark.parametrize("private", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1"])
def test_a_name_with_one_private_address_is_not_connected_to(
    get: Fetch, internet: Internet, private: str
) -> None:
    internet.name("mixed.example", [PUBLIC, private])
    text = refusal(get, IMPLICIT, "http://mixed.example/")
    assert POLICY in text
    assert f'"mixed.example" has the address {private}' in text
    assert internet.connected == []


def test_a_rebound_name_leads_to_the_address_that_was_checked(
    get: Fetch, internet: Internet
) -> None:
    with Site() as site, Site() as secret:
        internet.servers = {PUBLIC: site.port, "127.0.0.1": secret.port}
        internet.name("rebind.example", [PUBLIC], ["127.0.0.1"])
        assert get(IMPLICIT, "http://rebind.example/").pages[0].title == "Ferry"
        assert internet.looked_up == ["rebind.example"]
        assert internet.connected == [PUBLIC]
        assert secret.connections == 0


def test_a_name_that_is_rebound_between_two_hops_is_refused(get: Fetch, internet: Internet) -> None:
    with Site(start=moved("/next")) as site, Site() as secret:
        internet.servers = {PUBLIC: site.port, "127.0.0.1": secret.port}
        internet.name("rebind.example", [PUBLIC], ["127.0.0.1"])
        text = refusal(get, IMPLICIT, "http://rebind.example/start")
        assert "127.0.0.1" in text
        assert set(internet.connected) == {PUBLIC}
        assert secret.connections == 0


def test_a_retry_goes_to_the_checked_address_without_another_look_up(
    get: Fetch, internet: Internet
) -> None:
    with Site(busy=response(b"", "503 Busy")) as site:
        internet.servers = {PUBLIC: site.port}
        internet.name("rebind.example", [PUBLIC], ["127.0.0.1"])
        assert "HTTP 503" in refusal(get, IMPLICIT, "http://rebind.example/busy")
        assert len(site.requests) == 3
        assert internet.looked_up == ["rebind.example"]


REDIRECTS = [
    *("http://127.0.0.1/", "http://127.0.0.1:8080/", "//127.0.0.1/", "http://localhost/"),
    *("http://[::1]/", "http://2130706433/", "http://0x7f.1/", "http://169.254.169.254/latest/"),
    *("http://inside.example/", "//inside.example/x", "http://user@public.example/"),
    *("http://[::ffff:127.0.0.1]/", "http://10.0.0.1/", "file:///etc/passwd", "gopher://a/"),
    *("http://public.example:25/", "http://metadata.google.internal/", "javascript:alert(1)"),
]


@pytest.mark.parametrize("location", REDIRECTS)
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 Other", "307 Same", "308 Same"])
def test_a_redirect_to_something_private_is_not_followed(
    internet: Internet, location: str, status: str
) -> None:
    with Site(start=moved(location, status)) as site, Site() as secret:
        internet.servers = {PUBLIC: site.port, "127.0.0.1": secret.port, "::1": secret.port}
        internet.name("inside.example", ["127.0.0.1"])
        text = refusal(_blocking, IMPLICIT, "http://public.example/start")
        assert POLICY in text
        assert internet.connected == [PUBLIC]
        assert secret.connections == 0


def test_a_chain_of_redirects_is_checked_at_every_hop(get: Fetch, internet: Internet) -> None:
    hops = {"a": moved("http://two.example/b"), "b": moved("/c"), "c": moved("http://in.example/")}
    with Site(**hops) as site, Site() as secret:
        internet.servers = {PUBLIC: site.port, "192.168.1.1": secret.port}
        internet.name("in.example", ["192.168.1.1"])
        assert "192.168.1.1" in refusal(get, IMPLICIT, "http://one.example/a")
        assert site.hosts == ["one.example", "two.example", "two.example"]
        assert internet.looked_up == ["one.example", "two.example", "two.example", "in.example"]
        assert secret.connections == 0


def test_a_public_site_cannot_lead_to_a_private_one_that_is_open(
    get: Fetch, internet: Internet
) -> None:
    with Site(start=moved("http://wiki.corp/delete")) as site, Site() as wiki:
        internet.servers = {PUBLIC: site.port, "10.0.0.7": wiki.port}
        internet.name("wiki.corp", ["10.0.0.7"])
        opened = allowing("wiki.corp")
        assert POLICY in refusal(get, opened, "http://public.example/start")
        assert wiki.connections == 0
        assert get(opened, "http://wiki.corp/page").pages[0].title == "Ferry"


def test_a_connection_of_one_account_is_not_used_for_another(internet: Internet) -> None:
    transport = BlockingHTTP()
    query = PageQuery(("http://wiki.example/",))
    with Site() as public, Site() as private:
        internet.servers = {PUBLIC: public.port, "10.0.0.7": private.port}
        internet.name("wiki.example", ["10.0.0.7"], [PUBLIC])
        run(fetch([allowing("wiki.example")], query, detached()), transport)
        run(fetch([IMPLICIT], query, detached()), transport)
        transport.close()
        assert (private.connections, public.connections) == (1, 1)


# --- what is sent ------------------------------------------------------------------------------


def test_the_request_names_this_program_and_has_no_key_or_cookie(
    get: Fetch, internet: Internet
) -> None:
    cookie = ("Set-Cookie", "session=1; Path=/")
    first = response(b"", "302 Found", [("Location", "/next"), cookie])
    with Site(start=first) as site:
        internet.servers = {PUBLIC: site.port}
        get(account(apiKey="canary-4417"), "http://user.example/start")
        for request in site.requests:
            head = request.decode().lower()
            assert "user-agent: agent-webtools/" in head
            assert "accept: text/markdown," in head
            assert head.count("accept:") == 1
            assert "canary" not in head
            assert "cookie" not in head
            assert "authorization" not in head
            assert "referer" not in head


def test_the_host_header_is_the_name_and_the_fragment_stays_here(
    get: Fetch, internet: Internet
) -> None:
    with Site() as site:
        internet.servers = {PUBLIC: site.port}
        get(IMPLICIT, "http://Example.COM:8080/x?y=1#z")
        assert site.requests[0].startswith(b"GET /x?y=1 HTTP/1.1\r\nHost: example.com:8080\r\n")


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[trustme.CA]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    tls.tls_context.cache_clear()
    yield authority
    tls.tls_context.cache_clear()


def _serving(authority: trustme.CA, name: str, server_names: list[str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)

    def note(_socket: object, server_name: str | None, _context: object) -> None:
        server_names.append(str(server_name))

    context.sni_callback = note
    return context


def test_tls_uses_the_name_although_the_connection_uses_an_address(
    get: Fetch, internet: Internet, authority: trustme.CA
) -> None:
    server_names: list[str] = []
    with Site(context=_serving(authority, "secure.example", server_names)) as site:
        internet.servers = {PUBLIC: site.port}
        assert get(IMPLICIT, "https://secure.example/").pages[0].title == "Ferry"
        assert server_names == ["secure.example"]
        assert site.hosts == ["secure.example"]


def test_a_certificate_for_another_name_is_refused(
    get: Fetch, internet: Internet, authority: trustme.CA
) -> None:
    with Site(context=_serving(authority, "other.example", [])) as site:
        internet.servers = {PUBLIC: site.port}
        assert "certificate" in refusal(get, IMPLICIT, "https://secure.example/").lower()
        assert site.requests == []


# --- redirects that are fine -------------------------------------------------------------------


def test_a_redirect_to_another_site_is_followed_and_reported(
    get: Fetch, internet: Internet
) -> None:
    with Site(start=moved("http://new.example/page"), here=moved("/page")) as site:
        internet.servers = {PUBLIC: site.port}
        response = get(IMPLICIT, "http://old.example/start")
        assert response.pages[0].url == "http://old.example/start"
        [warning] = response.warnings
        assert warning.startswith("http://old.example/start ")
        assert "http://new.example/page" in warning
        assert get(IMPLICIT, "http://old.example/here").warnings == []


@pytest.mark.parametrize("letter", [b"\xc3\xbc", b"\xfc"], ids=["UTF-8", "Latin-1"])
def test_a_location_in_bare_bytes_is_understood(
    get: Fetch, internet: Internet, letter: bytes
) -> None:
    raw = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /" + letter + b"\r\n\r\n"
    with Site(start=raw) as site:
        internet.servers = {PUBLIC: site.port}
        get(IMPLICIT, "http://a.example/start")
        assert site.requests[1].startswith(b"GET /%C3%BC HTTP/1.1\r\n")


@pytest.mark.parametrize("hops", [5, 6])
def test_five_redirects_are_followed_and_no_sixth(
    get: Fetch, internet: Internet, hops: int
) -> None:
    steps = {f"s{n}": moved(f"/s{n + 1}") for n in range(hops)}
    with Site(**steps) as site:
        internet.servers = {PUBLIC: site.port}
        if hops == 5:
            assert get(IMPLICIT, "http://a.example/s0").pages[0].title == "Ferry"
        else:
            assert "more than 5 times" in refusal(get, IMPLICIT, "http://a.example/s0")
        assert len(site.requests) == 6


@pytest.mark.parametrize("answer", [response(b"", "302 Found"), response(b"x", "304 Same")])
def test_a_redirect_that_leads_nowhere_is_an_error(
    get: Fetch, internet: Internet, answer: bytes
) -> None:
    with Site(start=answer) as site:
        internet.servers = {PUBLIC: site.port}
        assert "redirect without" in refusal(get, IMPLICIT, "http://a.example/start")


# --- what sites answer -------------------------------------------------------------------------


def test_a_file_larger_than_the_bound_is_an_error(get: Fetch, internet: Internet) -> None:
    file = response(b"%PDF-1.7\n" + bytes(16 * 1024 * 1024))
    with Site(x=file) as site:
        internet.servers = {PUBLIC: site.port}
        assert "16 MiB" in refusal(get, IMPLICIT, "http://a.example/x")


# --- many pages --------------------------------------------------------------------------------


class Crowd(RawServer):
    """Counts how many requests it holds at the same time; the first wait until some are there."""

    def __init__(self, some: int) -> None:
        self.now = self.most = 0
        self._some, self._are_there = some, threading.Event()
        super().__init__(self._hold)

    def _hold(self, connection: socket.socket) -> None:
        while request := read_request(connection):
            with self._lock:
                self.requests.append(request)
                self.now += 1
                self.most = max(self.most, self.now)
                if self.most >= self._some:
                    self._are_there.set()
            self._are_there.wait(5)
            time.sleep(0.03)  # for those that are too many
            with self._lock:
                self.now -= 1
            connection.sendall(html())


def test_a_host_gets_four_requests_at_once_and_no_more(get: Fetch, internet: Internet) -> None:
    with Crowd(4) as crowd:
        internet.servers = {PUBLIC: crowd.port}
        urls = [f"http://a.example/{n}" for n in range(12)]
        assert all(page.error is None for page in get(IMPLICIT, *urls).pages)
        assert crowd.most == 4


# --- what comes back ---------------------------------------------------------------------------


def test_text_is_cut_at_a_word_with_a_warning(get: Fetch, internet: Internet) -> None:
    with Site() as site:
        internet.servers = {PUBLIC: site.port}
        response = get(IMPLICIT, "http://a.example/", text_max_characters=100)
        text = response.pages[0].text or ""
        assert 80 <= len(text) <= 100
        complete = get(IMPLICIT, "http://a.example/").pages[0].text or ""
        assert text.split() == complete.split()[: len(text.split())]
        assert f" {len(text)} of " in response.warnings[0]
        bounded = account(options={"defaultFetchTextMaxCharacters": 50})
        assert len(get(bounded, "http://a.example/").pages[0].text or "") <= 50


def test_highlights_are_the_first_paragraphs_with_a_warning(get: Fetch, internet: Internet) -> None:
    with Site() as site:
        internet.servers = {PUBLIC: site.port}
        response = get(IMPLICIT, "http://a.example/", text=False, highlights=True)
        page = response.pages[0]
        assert page.text is None
        assert page.highlights[0].startswith("The ferry crosses the Sound")
        assert '"direct"' in response.warnings[0]


def test_a_cut_keeps_what_is_short_and_splits_what_has_no_white_space() -> None:
    assert cut_at_space("one two", 7) == "one two"
    assert cut_at_space("some longer words", 13) == "some longer"
    assert cut_at_space("x" * 50, 10) == "x" * 10


# --- a proxy -----------------------------------------------------------------------------------


def test_behind_a_proxy_literal_addresses_are_checked(get: Fetch, internet: Internet) -> None:
    with Site() as proxy:
        internet.servers = {"192.0.2.99": proxy.port}
        behind = account(proxy="http://192.0.2.99:3128")
        for url in ("http://127.0.0.1/", "http://localhost/", "http://2130706433/"):
            assert POLICY in refusal(get, behind, url)
        assert internet.connected == []
        response = get(behind, "http://a.example/")
        assert response.pages[0].title == "Ferry"
        assert "proxy" in response.warnings[0]
        assert internet.looked_up == []
        assert proxy.requests[0].startswith(b"GET http://a.example/ HTTP/1.1\r\n")


# --- looking up --------------------------------------------------------------------------------


def test_a_silent_name_server_holds_a_call_no_longer_than_its_time(
    get: Fetch, internet: Internet, monkeypatch: pytest.MonkeyPatch
) -> None:
    asleep = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [asleep.wait(60)][:0])
    try:
        with pytest.raises(ProviderError, match=r"slow\.example"):
            _blocking(account(timeoutMs=200), "http://slow.example/")
        assert not asleep.is_set()
    finally:
        asleep.set()


# --- as a provider among others ----------------------------------------------------------------


def web(*entries: dict[str, Any]) -> WebTools:
    return WebTools(load(json.dumps({"providers": list(entries)}), "x"))


EXA = {"name": "exa", "type": "exa", "apiKey": "test-key-exa"}
KAGI = {"name": "kagi", "type": "kagi", "apiKey": "test-key-kagi-v1"}
BRAVE = {"name": "brave", "type": "brave", "apiKey": "test-key-1"}


def test_the_sandbox_is_fetched_where_its_site_is_opened(
    webtools_sandbox: SandboxServer,
) -> None:
    site = f"127.0.0.1:{webtools_sandbox.port}"
    url = f"{webtools_sandbox.url}/news/2026/02/tidal-pool-opens.html"
    entry = {"name": "d", "type": "direct", "options": {"allowPrivateHosts": [site]}}
    with web(entry) as tools:
        page = tools.fetch(url).pages[0]
        second = asyncio.run(_afetch(tools, url))
    assert second.pages[0] == page
    assert page.title == "Harbour town of Vellmouth opens its tidal pool after a decade of argument"
    assert page.author == "Ines Kolbe"
    assert page.published_at is not None  # a day that follows today's
    age = datetime.now(UTC) - page.published_at
    assert timedelta(days=1) < age < timedelta(days=400)
    assert (page.published_at.hour, page.published_at.minute) == (8, 30)
    assert "The swimming club will run lessons" in (page.text or "")
    for clutter in ("cookies", "newsletter", "All rights reserved", "window.visits"):
        assert clutter not in (page.text or "")


async def _afetch(tools: WebTools, url: str) -> FetchResponse:
    async with tools:
        return await tools.afetch(url)


def test_the_sandbox_is_refused_otherwise(webtools_sandbox: SandboxServer) -> None:
    with web(KAGI) as tools:
        for host in ("127.0.0.1", "localhost"):
            result = tools.call_tool(
                "web_fetch", {"url": f"http://{host}:{webtools_sandbox.port}/"}
            )
            assert result.is_error
            assert POLICY in result.text


def test_it_serves_where_no_configured_provider_can_fetch(internet: Internet) -> None:
    with Site() as site, web(KAGI) as tools:
        internet.servers = {PUBLIC: site.port}
        assert tools.fetch("http://a.example/").provider == "direct"


def test_without_the_extra_the_error_has_the_command(
    internet: Internet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "webtools._internal.pages.find_spec", lambda name: None if name == "pypdf" else object()
    )
    command = r"pip install 'agent-webtools\[fetch\]'"
    assert isinstance(missing_libraries(), ConfigError)
    with web({"name": "d", "type": "direct"}) as tools:
        with pytest.raises(ConfigError, match=f"pypdf.*{command}"):
            tools.fetch("http://a.example/")
    types = '"exa", "kagi", "tavily", "firecrawl", "parallel", "jina"'
    with web(BRAVE) as tools:
        with pytest.raises(ConfigError, match=f"(?s){types}.*{command}"):
            tools.fetch("http://a.example/")
    assert internet.looked_up == []


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"allowPrivateHosts": ["*.corp"]}, "options.allowPrivateHosts"),
        ({"allowPrivateHosts": "a.corp"}, "options.allowPrivateHosts"),
        ({"allowPrivateHost": []}, 'did you mean "allowPrivateHosts"?'),
        ({"allowFakeIps": "yes"}, "options.allowFakeIps"),
    ],
)
def test_a_faulty_option_is_named(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        account(options=options)
    assert fault in str(caught.value)


# --- as a fallback -----------------------------------------------------------------------------


def exa_answer(*failed: str, good: str = "") -> Response:
    results = [{"id": good, "url": good, "title": "From Exa", "text": "t"}] if good else []
    statuses = [
        {"id": url, "status": "error", "error": {"tag": "CRAWL_NOT_FOUND", "httpStatusCode": 404}}
        for url in failed
    ]
    return Response(200, {}, json.dumps({"results": results, "statuses": statuses}).encode())


class Rescue(Stub):
    """Exa has the scripted response; everything else is a page."""

    def __init__(self, exa: Response | RequestError, page: Response) -> None:
        super().__init__(lambda request: exa if "exa.ai" in request.url else page)

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        return (PUBLIC,)


PAGE = Response(200, {"content-type": "text/html"}, HTML)
A, B = "http://a.example/", "http://b.example/"


def fetch_with_fallback(
    exa: Response | RequestError, page: Response = PAGE, **call: Any
) -> FetchResponse:
    tools = web({**EXA, "fetchFallback": "direct"})
    return run(tools._dispatcher.call(IO, FETCH, {"urls": [A, B], **call}), Rescue(exa, page))


def test_a_fallback_fetches_missing_pages_with_a_warning() -> None:
    response = fetch_with_fallback(exa_answer(B, good=A))
    assert [page.title for page in response.pages] == ["From Exa", "Ferry"]
    assert response.provider == "exa"
    [warning] = [line for line in response.warnings if B in line]
    assert re.search(r'"direct" .*"exa" .*CRAWL_NOT_FOUND \(HTTP 404\)', warning)


def test_a_failing_provider_is_replaced() -> None:
    response = fetch_with_fallback(Response(401, {}, b'{"error": "Invalid API key"}'))
    assert [page.title for page in response.pages] == ["Ferry", "Ferry"]
    assert any("Invalid API key" in warning for warning in response.warnings)


def test_when_both_providers_fail_the_first_error_is_raised() -> None:
    with pytest.raises(ProviderError, match="CRAWL_NOT_FOUND"):
        fetch_with_fallback(exa_answer(A, B), Response(404, {}, b""))
    mixed = fetch_with_fallback(exa_answer(B, good=A), Response(404, {}, b""))
    assert [bool(page.error) for page in mixed.pages] == [False, True]


def test_a_named_provider_has_no_fallback() -> None:
    with pytest.raises(ProviderError, match="CRAWL_NOT_FOUND"):
        fetch_with_fallback(exa_answer(A, B), provider="exa")


# --- pages that refresh to others --------------------------------------------------------------


def meta(location: str, delay: str = "0", text: str = "") -> bytes:
    content = f'<meta http-equiv="Refresh" content="{delay}; URL={location}">'
    return html(
        f"<html><head>{content}<title>Moved</title></head><body>{text}</body></html>".encode()
    )


def header(location: str, delay: str = "0", text: str = "") -> bytes:
    refresh = ("Refresh", f"{delay};url={location}")
    return response(text.encode(), headers=[("Content-Type", "text/html"), refresh])


REFRESHES = pytest.mark.parametrize("refresh", [meta, header], ids=["meta", "header"])


@REFRESHES
@pytest.mark.parametrize("location", REDIRECTS)
def test_a_refresh_to_something_private_is_not_followed(
    get: Fetch, internet: Internet, location: str, refresh: Callable[..., bytes]
) -> None:
    with Site(start=refresh(location)) as site, Site() as secret:
        internet.servers = {PUBLIC: site.port, "127.0.0.1": secret.port, "::1": secret.port}
        internet.name("inside.example", ["127.0.0.1"])
        text = refusal(get, IMPLICIT, "http://public.example/start")
        assert POLICY in text
        assert internet.connected == [PUBLIC]
        assert secret.connections == 0


@REFRESHES
def test_a_refresh_cannot_lead_to_a_private_site_that_is_open(
    get: Fetch, internet: Internet, refresh: Callable[..., bytes]
) -> None:
    with Site(start=refresh("http://wiki.corp/delete")) as site, Site() as wiki:
        internet.servers = {PUBLIC: site.port, "10.0.0.7": wiki.port}
        internet.name("wiki.corp", ["10.0.0.7"])
        assert POLICY in refusal(get, allowing("wiki.corp"), "http://public.example/start")
        assert wiki.connections == 0


@REFRESHES
def test_a_refresh_to_a_site_that_is_not_allowed_is_refused(
    get: Fetch, internet: Internet, refresh: Callable[..., bytes]
) -> None:
    with Site(start=refresh("http://other.example/page")) as site:
        internet.servers = {PUBLIC: site.port}
        config = {
            "providers": [{"name": "direct", "type": "direct"}],
            "fetch": {"denyDomains": ["other.example"]},
        }
        denied = Settings(load(json.dumps(config), "x")).accounts().accounts[0]
        assert "other.example" in refusal(get, denied, "http://public.example/start")
        assert site.hosts == ["public.example"]


@REFRESHES
@pytest.mark.parametrize("text", ["", "<p>This page has moved.</p>"])
def test_a_refresh_is_followed_and_its_target_is_the_final_url(
    get: Fetch, internet: Internet, refresh: Callable[..., bytes], text: str
) -> None:
    with Site(start=refresh("new/page?x=1", "3", text)) as site:
        internet.servers = {PUBLIC: site.port}
        [page] = get(IMPLICIT, "http://old.example/start").pages
        assert page.title == "Ferry"
        assert (page.url, page.url_final) == (
            "http://old.example/start",
            "http://old.example/new/page?x=1",
        )


@REFRESHES
@pytest.mark.parametrize(
    ("location", "delay", "text"),
    [
        ("/next", "60", "<p>The score is 2 to 1.</p>"),
        ("/next", "0", f"<p>{PARAGRAPH * 9}</p>"),
        ("", "5", "<p>The score is 2 to 1.</p>"),
        ("/start#top", "5", "<p>The score is 2 to 1.</p>"),
    ],
)
def test_a_page_with_content_stays(
    get: Fetch,
    internet: Internet,
    refresh: Callable[..., bytes],
    location: str,
    delay: str,
    text: str,
) -> None:
    with Site(start=refresh(location, delay, text)) as site:
        internet.servers = {PUBLIC: site.port}
        [page] = get(IMPLICIT, "http://a.example/start").pages
        assert page.text in text.replace("<p>", "")
        assert len(site.requests) == 1


@REFRESHES
def test_refreshes_and_redirects_that_never_end_are_an_error(
    get: Fetch, internet: Internet, refresh: Callable[..., bytes]
) -> None:
    with Site(a=refresh("/b"), b=moved("/a")) as site:
        internet.servers = {PUBLIC: site.port}
        assert "more than 5 times" in refusal(get, IMPLICIT, "http://a.example/a")
        assert len(site.requests) == 6


def test_the_final_url_of_a_page_is_that_after_redirects(get: Fetch, internet: Internet) -> None:
    with Site(start=moved("http://new.example/page")) as site:
        internet.servers = {PUBLIC: site.port}
        pages = get(IMPLICIT, "http://old.example/start", "http://a.example/x#part").pages
        urls = [page.url_final for page in pages]
        assert urls == ["http://new.example/page", "http://a.example/x"]


# --- pages of PDF files ------------------------------------------------------------------------


@pytest.fixture
def pdf_site() -> Iterator[tuple[Site, WebTools]]:
    body = pdf([f"Text {n}." for n in range(1, 6)])
    answer = response(body, headers=[("Content-Type", "application/pdf")])
    with Site(**{"a.pdf": answer}) as site:
        options = {"allowPrivateHosts": [site.url.removeprefix("http://")]}
        entry = {"name": "direct", "type": "direct", "options": options}
        yield site, WebTools({"providers": [entry], "log": {"enabled": False}})


def test_chosen_pages_of_a_pdf_are_fetched_and_cached_by_themselves(
    pdf_site: tuple[Site, WebTools],
) -> None:
    site, web = pdf_site
    url = f"{site.url}/a.pdf"
    for _ in range(2):
        first = web.fetch(url, pages=" 2 - 3 ").pages[0]
        assert first.text == "[Page 2]\n\nText 2.\n\n[Page 3]\n\nText 3."
        assert first.page_count == 5
        assert web.fetch(f"{url}#page=4").pages[0].text == "[Page 4]\n\nText 4."
        assert web.call_tool("web_fetch", {"urls": [url], "pages": 5}).text.count("Text") == 1
    assert len(site.requests) == 3


def test_a_space_in_a_path_is_percent_encoded(pdf_site: tuple[Site, WebTools]) -> None:
    site, web = pdf_site
    page = web.fetch(f"{site.url}/two words.html?q=a b").pages[0]
    assert page.title == "Ferry"
    assert site.requests[0].startswith(b"GET /two%20words.html?q=a%20b HTTP/1.1\r\n")
    for url in ("http://a b.example/x", f"{site.url}/x http://b.example/y"):
        with pytest.raises(InputError):
            web.fetch(url)


@pytest.mark.parametrize("pages", ["7-3", "x", "0", "-", "3-7-9", "1,,2", "1" * 50])
def test_a_malformed_choice_of_pages_is_refused_before_any_request(
    pdf_site: tuple[Site, WebTools], pages: str
) -> None:
    site, web = pdf_site
    with pytest.raises(InputError, match=re.escape(pages[:20])):
        web.fetch(f"{site.url}/a.pdf", pages=pages)
    assert site.connections == 0


@pytest.mark.parametrize("host", ["old.example", "new.example", "www.new.example"])
def test_the_text_of_a_page_names_its_final_host_if_it_is_another_one(
    get: Fetch, internet: Internet, host: str
) -> None:
    with Site(start=moved("http://new.example/page")) as site:
        internet.servers = {PUBLIC: site.port}
        page = get(IMPLICIT, f"http://{host}/start").pages[0]
        sections = page_sections(FetchResponse(provider="direct", pages=[page]))
        assert ("from new.example" in sections[0]) == (host == "old.example")
        assert page_document(page).metadata.get("url_final") == (
            "http://new.example/page" if host == "old.example" else None
        )
        assert node_document(page).metadata.get("url_final") == (
            "http://new.example/page" if host == "old.example" else None
        )
