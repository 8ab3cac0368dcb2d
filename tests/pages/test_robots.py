"""robots.txt is requested once, cached, and obeyed at every redirect, as RFC 9309 says."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from webtools import ProviderError, RequestError, UnavailableError, WebTools
from webtools._internal.faults import Fault
from webtools._internal.pages import processes, robots, workers

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


def is_allowed(text: str, path: str) -> bool:
    source = robots.source_of(f"https://a.example{path}", robots.file_of(text.encode()), 10.0)
    try:
        robots.read(source)
    except ProviderError:
        return False
    return True


ALL = "User-agent: *\nDisallow: /\n\n"
OURS = "User-agent: agent-webtools\nDisallow: /x\n"
OF_OTHERS = ["agent", "webtools", "agent-web", "agent-webtools-image", "my-agent-webtools", "*bot"]


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize(
    "name", ["agent-webtools", "Agent-WebTools", "agent-webtools/1.0", "AGENT-WEBTOOLS * "]
)
def test_rules_for_this_program_override_those_for_all(name: str, mark: str) -> None:
    ours = OURS.replace("agent-webtools", name)
    for text in (ALL + ours, ours + ALL):
        assert is_allowed(mark + text, "/y")
        assert not is_allowed(mark + text, "/x")


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("name", OF_OTHERS)
def test_rules_for_other_programs_do_not_count(name: str, mark: str) -> None:
    others = f"User-agent: {name}\nDisallow: /\n"
    assert is_allowed(mark + others, "/x")
    assert is_allowed(mark + others + OURS, "/y")
    assert not is_allowed(mark + others + ALL, "/y")
    assert is_allowed(mark + f"{others}\nUser-agent: *\nDisallow: /x\n", "/y")


@pytest.mark.parametrize(
    "between", ["", "\n", "# comment\n", "Crawl-delay: 5\n", "Sitemap: /s.xml\n", "What: ever\n"]
)
@pytest.mark.parametrize("first", ["agent-webtools", "other"])
def test_only_a_rule_ends_the_list_of_user_agents(first: str, between: str) -> None:
    second = {"agent-webtools": "other", "other": "agent-webtools"}[first]
    text = f"User-agent: {first}\n{between}User-agent: {second}\n{between}Disallow: /x\n"
    assert not is_allowed(text, "/x")
    assert is_allowed(text, "/y")
    ended = f"User-agent: {first}\nAllow: /\n{between}User-agent: {second}\nDisallow: /x\n"
    assert is_allowed(ended, "/x") is (first == "agent-webtools")


def test_rules_of_several_groups_for_this_program_count_together() -> None:
    text = OURS + ALL + OURS.replace("/x", "/z")
    assert [is_allowed(text, path) for path in ("/x", "/y", "/z")] == [False, True, False]


def test_rules_beyond_the_size_that_is_read_do_not_count() -> None:
    text = OURS + "#" * robots.MAX_BYTES + "\nDisallow: /y\n"
    assert is_allowed(text, "/y")
    assert not is_allowed(text, "/x")


def groups(count: int, group: str) -> str:
    agents = "".join(f"User-agent: robot{number}\n" for number in range(count))
    rules = "".join(f"Disallow: /{number}*x\n" for number in range(count))
    return agents + group + rules


@pytest.mark.parametrize("count", [3_000, 12_000])
def test_many_user_agents_with_many_rules_cost_no_more_than_either(
    site: Site, web: WebTools, count: int
) -> None:
    site.robots = groups(count, "User-agent: agent-webtools\n")
    assert len(site.robots) < robots.MAX_BYTES
    assert web.fetch(f"{site.url}/a", robots=True).pages[0].title == "A page"
    with pytest.raises(ProviderError) as caught:
        web.fetch(f"{site.url}/{count - 1}-x", robots=True)
    assert Fault.DISALLOWED in caught.value.fault


@pytest.mark.parametrize("is_async", [False, True])
async def test_rules_that_cannot_be_read_in_time_end_the_call_in_time_without_a_request(
    site: Site, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    idle = processes._PROGRAM.replace(
        "from webtools._internal.pages.worker import main; main()",
        "import time; from webtools._internal.pages import frames;"
        "frames.write_answer(open(1, 'wb', buffering=0, closefd=False), {'is_last': False});"
        "time.sleep(300)",
    )
    monkeypatch.setattr(processes, "_PROGRAM", idle)
    pool = workers.Pool()
    monkeypatch.setattr(workers, "_pool", pool)
    options = {"allowPrivateHosts": [site.url.removeprefix("http://")]}
    entry = {"name": "direct", "type": "direct", "timeoutMs": 1500, "options": options}
    with WebTools(config={"providers": [entry]}) as web:
        fetch = web.afetch if is_async else partial(asyncio.to_thread, web.fetch)
        with pytest.raises(ProviderError, match=r"robots\.txt of 127\.0\.0\.1"):
            await fetch(f"{site.url}/a", robots=True)
    pool.close()
    assert not site.asked["/a"]


def test_rules_are_read_in_page_processes_only(site: Site) -> None:
    program = f"""
import sys
from webtools import WebTools
options = {{"allowPrivateHosts": [{site.url.removeprefix("http://")!r}]}}
entry = {{"name": "direct", "type": "direct", "options": options}}
print(WebTools({{"providers": [entry]}}).fetch({site.url!r} + "/a", robots=True).pages[0].title)
print("protego" in sys.modules)
"""
    command = [sys.executable, "-c", program]
    completed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert completed.stdout == "A page\nFalse\n"
