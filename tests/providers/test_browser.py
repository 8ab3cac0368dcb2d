"""Pages in a real browser: they are rendered, and nothing passes the guard."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import psutil
import pytest
import trustme
from servers import RawServer, answering, read_request, response, secured

from webtools import WebTools
from webtools._internal.faults import Fault
from webtools._internal.pages import rendering
from webtools._internal.pages.guard_proxy import GuardProxy
from webtools.errors import ConfigError, WebToolsError
from webtools.providers.browser import _NAMES

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, _NAMES)), reason="needs chromium: apt-get install chromium"
)

PROSE = "The tide tables of the harbour are made again each morning by the pilot. " * 5
HTML = [("Content-Type", "text/html; charset=utf-8")]
Answer = bytes | Callable[[socket.socket], None]


class Site(RawServer):
    """A site with an answer for each path."""

    def __init__(self, answers: dict[str, Answer] | None = None) -> None:
        super().__init__(self._answer)
        self.answers = answers or {}

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [request.split(b" ")[1].decode() for request in self.requests]

    def _answer(self, connection: socket.socket) -> None:
        while request := read_request(connection):
            self.requests.append(request)
            path = request.split(b" ")[1].decode()
            found = self.answers.get(path, response(b"none", "404 Not Found"))
            if callable(found):
                found(connection)
                return
            connection.sendall(found)


def page(body: str, **kwargs: Any) -> bytes:
    return response(
        f"<!doctype html><title>Harbour</title><main>{body}</main>".encode(), headers=HTML, **kwargs
    )


def redirect(url: str) -> bytes:
    return response(b"", "302 Found", [("Location", url)])


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as server:
        yield server


@pytest.fixture
def secret() -> Iterator[Site]:
    """A site that may not be reached. The script of its page marks that it ran."""
    with Site() as server:
        yield server


def settings(*allowed: Site, **options: Any) -> dict[str, Any]:
    hosts = [server.name for server in allowed]
    # Without an effect, unless the tests run as root.
    values = {"allowPrivateHosts": hosts, "noSandbox": True, **options}
    entry = {"name": "rendered", "type": "browser", "options": values, "timeoutMs": 60_000}
    direct = {
        "name": "direct",
        "type": "direct",
        "options": {"allowPrivateHosts": hosts},
        "fetchFallback": "rendered",
    }
    return {"providers": [direct, entry], "fetch": {}}


def render(url: str, config: dict[str, Any], **kwargs: Any) -> Any:
    with WebTools(config, cache=False) as web:
        return web.fetch(url, **{"provider": "rendered", **kwargs})


SCRIPTED = (
    "<div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript><script>"
    "fetch('/data').then(r => r.text()).then(t => document.querySelector('#root').innerHTML = t)"
    "</script>"
)


def scripted(site: Site, path: str = "/") -> None:
    site.answers[path] = page(SCRIPTED)
    site.answers["/data"] = response(f"<h1>Tides</h1><p>{PROSE}</p>".encode(), headers=HTML)


# --- what is read ------------------------------------------------------------------------------


def test_text_that_a_script_makes_is_read_after_redirects(site: Site) -> None:
    scripted(site, "/new")
    site.answers["/old"] = redirect("/new#tides")
    result = render(f"{site.url}/old", settings(site))
    assert "made again each morning" in result.pages[0].text
    assert "enable JavaScript" not in result.pages[0].text
    assert result.pages[0].url == f"{site.url}/old"
    assert result.pages[0].url_final == f"{site.url}/new"
    assert not result.warnings


async def test_direct_falls_back_to_the_browser_also_on_an_event_loop(site: Site) -> None:
    scripted(site)
    async with WebTools(settings(site), cache=False) as web:
        result = await web.afetch(site.url)
    assert "made again each morning" in result.pages[0].text
    assert result.pages[0].source_provider == "rendered"


async def test_a_blocking_call_inside_of_an_event_loop_works(site: Site) -> None:
    scripted(site)
    result = render(site.url, settings(site))
    assert "made again each morning" in result.pages[0].text


def test_text_that_is_no_html_is_read_as_it_was_sent(site: Site) -> None:
    text = "name,hours\n<b>pier</b>,8\n"
    site.answers["/a.csv"] = response(text.encode(), headers=[("Content-Type", "text/plain")])
    assert render(f"{site.url}/a.csv", settings(site)).pages[0].text.strip() == text.strip()


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone", "503 Service Unavailable"])
def test_an_error_of_the_site_is_an_error_although_it_has_a_page(site: Site, status: str) -> None:
    site.answers["/"] = page(f"<p>{PROSE}</p>", status=status)
    with pytest.raises(WebToolsError, match=status[:3]) as caught:
        render(site.url, settings(site))
    assert (Fault.GONE in caught.value.fault) == (status[:3] in {"404", "410"})


def test_frames_and_shadow_roots_are_read_or_named(site: Site, secret: Site) -> None:
    secret.answers["/"] = page("<p>The other site has a table of wind speeds.</p>")
    site.answers["/inner"] = page(f"<p>Inner berths. {PROSE}</p>")
    site.answers["/"] = page(
        f"<h1>Harbour</h1><p>{PROSE}</p><x-tides></x-tides><iframe src=/inner></iframe>"
        f"<iframe src=/inner?hidden style='display:none'></iframe>"
        f"<iframe srcdoc='<p>Written berths, {PROSE}</p>'></iframe>"
        f"<iframe width=400 height=300 src={secret.url}></iframe>"
        "<script>document.querySelector('x-tides').attachShadow({mode: 'open'}).innerHTML = "
        f"'<p>Shadow tides. {PROSE}</p>'</script>"
    )
    site.answers["/inner?hidden"] = page(f"<p>Hidden berths. {PROSE}</p>")
    result = render(site.url, settings(site, secret))
    text = result.pages[0].text
    for words in ("Inner berths.", "Written berths,", "Shadow tides."):
        assert text.count(words) == 1
    assert "Hidden berths" not in text
    assert "wind speeds" not in text
    assert any(secret.name in warning for warning in result.warnings)


# --- the guard ---------------------------------------------------------------------------------

# Each asks for a path of the other site, named after it.
PARTS = {
    "script": "<script src=URL></script>",
    "style": "<link rel=stylesheet href=URL>",
    "frame": "<iframe src=URL></iframe>",
    "object": "<object data=URL></object>",
    "video": "<video src=URL preload=auto></video>",
    "fetch": "<script>fetch('URL', {mode: 'no-cors'})</script>",
    "post": "<script>fetch('URL', {mode: 'no-cors', method: 'POST', body: 'x=1'})</script>",
    "xhr": "<script>x = new XMLHttpRequest(); x.open('GET', 'URL'); x.send()</script>",
    "beacon": "<script>navigator.sendBeacon('URL', 'x')</script>",
    "events": "<script>new EventSource('URL')</script>",
    "socket": "<script>new WebSocket('URL'.replace('http', 'ws'))</script>",
    "redirect": "<script src=/to/redirect></script>",
    "worker": "<script>new Worker(URL_.createObjectURL(new Blob([\"fetch('URL')\"])))</script>",
}
# These need not be made at all.
OTHERS = (
    "<img src=URL><link rel=preconnect href=URL><link rel=prefetch href=URL>"
    "<script>open('URL'); fetch('URL'.replace('http:', 'https:'))\n"
    "navigator.serviceWorker.register('URL').catch(() => 0)\n"
    "p = new RTCPeerConnection({iceServers: [{urls: 'turn:HOST?transport=tcp', username: 'u',"
    " credential: 'c'}, {urls: 'stun:HOST'}]}); p.createDataChannel('x')\n"
    "p.createOffer().then(o => p.setLocalDescription(o))</script>"
)


def page_of_parts(site: Site, other: Site) -> None:
    parts = [
        part.replace("URL_", "window.URL").replace("URL'", f"{other.url}/{name}'")
        if "'URL'" in part
        else part.replace("URL", f"{other.url}/{name}")
        for name, part in PARTS.items()
    ]
    others = OTHERS.replace("URL", f"{other.url}/other").replace("HOST", other.name)
    site.answers["/"] = page(f"<p>{PROSE}</p>{''.join(parts)}{others}")
    site.answers["/to/redirect"] = redirect(f"{other.url}/redirect")


def test_no_part_of_a_page_reaches_a_private_site(site: Site, secret: Site) -> None:
    page_of_parts(site, secret)
    result = render(site.url, settings(site))
    assert result.pages[0].text.startswith("The tide tables")
    assert secret.connections == 0
    assert "/to/redirect" in site.paths
    assert any("blocked" in warning for warning in result.warnings)


def test_the_same_parts_reach_a_site_that_is_allowed(site: Site, secret: Site) -> None:
    page_of_parts(site, secret)
    render(site.url, settings(site, secret))
    assert {path.strip("/") for path in secret.paths} >= PARTS.keys()


def test_no_part_of_a_page_reaches_a_site_that_the_settings_forbid(
    site: Site, secret: Site
) -> None:
    page_of_parts(site, secret)
    config = {**settings(site, secret), "fetch": {"denyDomains": [secret.name]}}
    render(site.url, config)
    assert secret.connections == 0


NAVIGATIONS = {
    "redirect": None,
    "refresh": "<meta http-equiv=refresh content='0; url=URL'>",
    "location": "<script>setTimeout(() => { location = 'URL' }, 50)</script>",
    "form": "<form method=post action=URL></form><script>document.forms[0].submit()</script>",
    "top": "<iframe srcdoc=\"<script>top.location = 'URL'</script>\"></iframe>",
}


@pytest.mark.parametrize("name", NAVIGATIONS)
def test_a_page_that_leads_to_a_private_site_fails(site: Site, secret: Site, name: str) -> None:
    url = f"{secret.url}/inner"
    way = NAVIGATIONS[name]
    site.answers["/"] = redirect(url) if way is None else page(PROSE + way.replace("URL", url))
    with pytest.raises(WebToolsError) as caught:
        render(site.url, settings(site))
    assert "127.0.0.1" in str(caught.value)
    assert Fault.REFUSED in caught.value.fault
    assert secret.connections == 0


@pytest.mark.parametrize("url", ["http://inner.example:PORT/", "http://localhost:PORT/"])
def test_the_address_of_a_name_decides(
    site: Site, secret: Site, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        return look_up("127.0.0.1" if host == "inner.example" else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    url = url.replace("PORT", str(secret.port))
    site.answers["/"] = page(
        f"<p>{PROSE}</p><script src={url}></script><iframe src={url}></iframe>"
    )
    render(site.url, settings(site))
    with pytest.raises(WebToolsError):
        render(url, settings(site))
    assert secret.connections == 0


@pytest.mark.parametrize("url", ["file:///etc/passwd", "data:text/html,x", "chrome://version"])
def test_only_web_pages_are_opened(site: Site, url: str) -> None:
    with pytest.raises(WebToolsError):
        render(url, settings(site))
    site.answers["/"] = page(f"<p>{PROSE}</p><iframe src='{url}'></iframe>")
    assert "root:" not in render(site.url, settings(site)).pages[0].text


def test_too_many_redirects_are_an_error(site: Site) -> None:
    for number in range(9):
        site.answers[f"/{number}"] = redirect(f"/{number + 1}")
    site.answers["/9"] = page(PROSE)
    with pytest.raises(WebToolsError, match="redirects"):
        render(f"{site.url}/0", settings(site))


def test_downloads_are_refused(site: Site) -> None:
    headers = [("Content-Type", "application/zip"), ("Content-Disposition", "attachment")]
    site.answers["/"] = response(b"PK" * 50, headers=headers)
    with pytest.raises(WebToolsError, match="file"):
        render(site.url, settings(site))


@pytest.mark.parametrize("way", ["redirect", "script"])
def test_a_loop_ends_early(site: Site, way: str) -> None:
    again = redirect("/") if way == "redirect" else page("<script>location.replace('/?')</script>")
    site.answers["/"] = site.answers["/?"] = again
    with pytest.raises(WebToolsError, match="redirects"):
        render(site.url, settings(site))
    assert len(site.paths) < 12


def test_what_a_page_asks_the_user_for_is_denied(site: Site) -> None:
    wishes = """<p id=a></p><a id=d download href=/file>file</a><script>
    const say = text => { document.querySelector('#a').textContent += ` [${text}]` }
    alert('x'); say(`confirm ${confirm('x')}`); say(`prompt ${prompt('x')}`)
    navigator.geolocation.getCurrentPosition(() => say('place ok'), () => say('place no'))
    Notification.requestPermission().then(answer => say(`notes ${answer}`))
    navigator.serviceWorker.register('/worker.js')
    document.querySelector('#d').click()
    </script>"""
    site.answers["/"] = page(f"<p>{PROSE}</p>{wishes}")
    headers = [("Content-Type", "text/javascript")]
    site.answers["/worker.js"] = response(b"", headers=headers)
    site.answers["/file"] = response(b"PK" * 50, headers=[("Content-Type", "application/zip")])
    text = render(site.url, settings(site)).pages[0].text
    assert "made again each morning" in text
    assert "[confirm false]" in text
    assert "[prompt null]" in text
    assert "[notes granted]" not in text
    assert "[place ok]" not in text
    assert "/worker.js" not in site.paths


def test_the_proxy_refuses_programs_that_do_not_log_in(
    site: Site, secret: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls: list[str] = []
    enter = GuardProxy.__aenter__

    async def note_url(proxy: GuardProxy) -> GuardProxy:
        await enter(proxy)
        urls.append(proxy.url)
        return proxy

    monkeypatch.setattr(GuardProxy, "__aenter__", note_url)
    answers: list[int] = []

    def intrude(connection: socket.socket) -> None:
        for login in ("", "webtools:guess@"):
            proxy = urls[0].replace("//", f"//{login}")
            with httpx.Client(proxy=proxy, trust_env=False) as client:
                answers.append(client.get(secret.url).status_code)
        connection.sendall(page(f"<p>{PROSE}</p>"))

    site.answers["/"] = intrude
    render(site.url, settings(site, secret))
    assert answers == [407, 407]
    assert secret.connections == 0


def test_a_page_over_tls_is_read_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    arguments = [*rendering._ARGUMENTS, "--ignore-certificate-errors"]
    monkeypatch.setattr(rendering, "_ARGUMENTS", arguments)
    with RawServer(secured(answering(page(f"<p>{PROSE}</p>")), context)) as site:
        config = settings(cast("Site", SimpleNamespace(name=f"127.0.0.1:{site.port}")))
        result = render(f"https://127.0.0.1:{site.port}/", config)
        assert "made again each morning" in result.pages[0].text
        with pytest.raises(WebToolsError):
            render(f"https://127.0.0.1:{site.port}/", settings())


# --- limits ------------------------------------------------------------------------------------


def test_the_bytes_of_a_page_and_its_parts_are_limited_in_sum(site: Site) -> None:
    names = [f"/{number}" for number in range(5)]
    for name in names:
        site.answers[name] = response(b" " * (4 * 1024 * 1024))
    site.answers["/"] = page(PROSE + "".join(f"<script src={name}></script>" for name in names))
    with pytest.raises(WebToolsError, match="16 MiB"):
        render(site.url, settings(site))


def stall(connection: socket.socket) -> None:
    connection.recv(1)


def browsers() -> list[str]:
    """List the browser processes of this process."""
    names = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and "chrom" in process.name():
                names.append(process.name())
    return names


def wait_until_closed() -> None:
    while browsers():
        time.sleep(0.05)


def test_a_page_that_does_not_load_ends_with_the_call(site: Site) -> None:
    site.answers["/"] = page(PROSE + "<script src=/stalls></script>")
    site.answers["/stalls"] = stall
    config = settings(site)
    config["providers"][1]["timeoutMs"] = 6_000
    with pytest.raises(WebToolsError, match="in time"):
        render(site.url, config)


async def test_a_cancelled_call_closes_its_browser(site: Site) -> None:
    site.answers["/"] = stall
    async with WebTools(settings(site), cache=False) as web:
        task = asyncio.create_task(web.afetch(site.url, provider="rendered"))
        await asyncio.to_thread(site.wait_for_connections, 1)
        assert browsers()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(wait_until_closed)


# --- what is missing ---------------------------------------------------------------------------


def test_a_missing_browser_is_named_with_the_remedy(site: Site, tmp_path: Path) -> None:
    missing = str(tmp_path / "no-browser")
    with pytest.raises(ConfigError, match="executable") as caught:
        render(site.url, settings(site, executable=missing))
    assert missing in str(caught.value)


def test_a_program_that_is_no_browser_is_named(site: Site) -> None:
    with pytest.raises(WebToolsError, match="executable"):
        render(site.url, settings(site, executable=shutil.which("true")))


def test_root_has_no_browser_without_a_sandbox_unless_an_option_says_so(site: Site) -> None:
    site.answers["/"] = page(f"<p>{PROSE}</p>")
    config = settings(site, noSandbox=False)
    if getattr(os, "geteuid", lambda: 1)() == 0:
        with pytest.raises(WebToolsError, match="noSandbox"):
            render(site.url, config)
    else:
        assert render(site.url, config).pages[0].text


def test_a_missing_extra_is_named_with_the_remedy(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools.providers.browser.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"agent-webtools\[browser\]"):
        render(site.url, settings(site))


def test_a_proxy_of_the_settings_is_not_passed_by(site: Site) -> None:
    config = settings(site)
    config["providers"][1]["proxy"] = "http://127.0.0.1:9"
    with pytest.raises(WebToolsError, match="proxy"):
        render(site.url, config)
    assert site.connections == 0
