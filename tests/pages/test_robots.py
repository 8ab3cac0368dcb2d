"""robots.txt is requested once, cached, and obeyed at every redirect, as RFC 9309 says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from webtools import ProviderError, RequestError, UnavailableError, WebTools
from webtools._internal.pages import robots
from webtools.errors import Fault

PAGE = b"<html><title>A page</title><body><p>Words of a page that says enough.</p></body></html>"
RULES = "User-agent: *\nDisallow: /private\nDisallow: /*.cgi$\nAllow: /private/open\n"


class Site:
    """A site with a robots.txt, or with a status in its place."""

    def __init__(self) -> None:
        self.robots: str | int = RULES
        self.moves: dict[str, str] = {}
        self.asked: Counter[str] = Counter()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked[self.path] += 1
                status, body, kind = 200, PAGE, "text/html"
                if self.path == "/robots.txt":
                    kind, rules = "text/plain", site.robots
                    status = rules if isinstance(rules, int) else 200
                    body = b"" if isinstance(rules, int) else rules.encode()
                if self.path in site.moves:
                    status, body = 302, b""
                self.send_response(status)
                if self.path in site.moves:
                    self.send_header("Location", site.moves[self.path])
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0)
    site = Site()
    yield site
    site.server.shutdown()
    site.server.server_close()


@pytest.fixture
def web(site: Site) -> Iterator[WebTools]:
    direct = {
        "name": "direct",
        "type": "direct",
        "options": {"allowPrivateHosts": [site.url.removeprefix("http://")]},
    }
    with WebTools(config={"providers": [direct]}) as web:
        yield web


def test_a_page_is_read_where_the_rules_allow_it(site: Site, web: WebTools) -> None:
    for path in ("/a", "/private/open", "/b.cgi?x"):
        assert web.fetch(site.url + path, robots=True).pages[0].title == "A page"
    for path in ("/private/x", "/b.cgi"):
        with pytest.raises(ProviderError, match=r"robots\.txt.*agent-webtools"):
            web.fetch(site.url + path, robots=True, cache="refresh")
    assert site.asked["/robots.txt"] == 1
    assert not site.asked["/private/x"] + site.asked["/b.cgi"]


def test_robots_txt_is_requested_only_with_the_option(site: Site, web: WebTools) -> None:
    assert web.fetch(f"{site.url}/private/x").pages[0].title == "A page"
    assert not site.asked["/robots.txt"]


async def test_a_redirect_to_a_disallowed_page_is_refused(site: Site, web: WebTools) -> None:
    site.moves["/a"] = "/private/x"
    with pytest.raises(ProviderError, match=r"robots\.txt") as caught:
        await web.afetch(f"{site.url}/a", robots=True)
    assert Fault.DISALLOWED in caught.value.fault
    assert not site.asked["/private/x"]


@pytest.mark.parametrize(("status", "is_allowed"), [(404, True), (403, True), (500, False)])
def test_a_missing_file_allows_everything_and_a_failing_server_nothing(
    site: Site, web: WebTools, status: int, is_allowed: bool
) -> None:
    site.robots = status
    if is_allowed:
        assert web.fetch(f"{site.url}/private/x", robots=True).pages[0].title == "A page"
        return
    for path in ("/a", "/b"):
        with pytest.raises(ProviderError, match=r"robots\.txt of 127\.0\.0\.1"):
            web.fetch(site.url + path, robots=True)
    assert site.asked["/robots.txt"] == 1
    assert not site.asked["/a"]


@pytest.mark.parametrize(
    ("error", "is_fault"),
    [
        (ProviderError("gone", status=410), False),
        (ProviderError("the site redirects more than 5 times"), False),
        (ProviderError("too many", status=429), True),
        (UnavailableError("busy", status=503), True),
        (RequestError("no answer"), True),
    ],
)
def test_a_temporary_failure_disallows_and_a_missing_file_allows(
    error: ProviderError | RequestError, is_fault: bool
) -> None:
    file = robots.file_for(error)
    assert bool(file.fault) is is_fault
    if is_fault:
        with pytest.raises(UnavailableError, match=str(error)):
            robots.check("https://a.example/b", file)
    else:
        robots.check("https://a.example/b", file)


def test_rules_for_this_program_override_those_for_all() -> None:
    rules = b"User-agent: *\nDisallow: /\n\nUser-agent: Agent-WebTools\nDisallow: /x\n"
    file = robots.file_of(rules + b"#" * robots.MAX_BYTES + b"\nDisallow: /y\n")
    robots.check("https://a.example/y", file)
    with pytest.raises(ProviderError, match="disallows"):
        robots.check("https://a.example/x", file)
