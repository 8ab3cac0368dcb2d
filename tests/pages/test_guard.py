"""Every operation that takes a URL, and every URL that a site names, passes the same guard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from servers import response
from test_fetching import PUBLIC, Internet, Site, header, html, internet, meta, moved

from webtools import WebTools
from webtools.tools import ALL_TOOLS

__all__ = ["internet"]

START = "http://public.example/start"
REFUSED = [
    "http://127.0.0.1/x",
    "http://[::1]/x",
    "http://169.254.169.254/x",
    "http://2130706433/x",
    "http://inside.example/x",
    "http://denied.example/x",
    "http://www.denied.example/x",
    "http://someone:test-key-1@public.example/x",
]
ARGUMENTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "web_fetch": lambda url: {"urls": [url]},
    "summarize": lambda url: {"url": url},
    "web_map": lambda url: {"url": url},
}
PROVIDERS = [
    {"name": "direct", "type": "direct"},
    {"name": "kagi", "type": "kagi", "apiKey": "test-key-kagi"},
    {"name": "exa", "type": "exa", "apiKey": "test-key-exa"},
]
# The URL of these goes to a provider, which reads the page on its own network.
OF_PROVIDERS = {"summarize", "similar"}
OPERATIONS = [*ARGUMENTS, "similar", "verify"]


def call(web: WebTools, operation: str, url: str, *, is_async: bool) -> None:
    """Call an operation; an error is an answer."""
    try:
        if operation == "verify":
            arguments = ("The ferry leaves at noon.", [url])
            if is_async:
                asyncio.run(web.averify(*arguments, fetch=True))
            else:
                web.verify(*arguments, fetch=True)
            return
        name, values = "web_search", {"queries": [url], "similar": True}
        if operation in ARGUMENTS:
            name, values = operation, ARGUMENTS[operation](url)
        if is_async:
            asyncio.run(web.acall_tool(name, values))
        else:
            web.call_tool(name, values)
    except Exception as error:  # noqa: BLE001  # whatever it is, nothing may be requested
        assert "test-key" not in str(error)  # noqa: PT017


def web_of(operation: str, **settings: Any) -> WebTools:
    providers = PROVIDERS if operation in OF_PROVIDERS else PROVIDERS[:1]
    fetch = {"denyDomains": ["denied.example"], **settings}
    return WebTools(config={"providers": providers, "fetch": fetch}, cache=False)


def test_every_tool_that_takes_urls_is_tested() -> None:
    assert set(ARGUMENTS) == {tool.name for tool in ALL_TOOLS.values() if tool.takes_urls}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("url", REFUSED)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_is_requested_for_a_refused_url(
    internet: Internet, operation: str, url: str, is_async: bool
) -> None:
    internet.name("inside.example", ["127.0.0.1"])
    with web_of(operation) as web:
        call(web, operation, url, is_async=is_async)
    is_of_provider = operation in OF_PROVIDERS and "@" not in url
    assert set(internet.connected) <= ({PUBLIC} if is_of_provider else set())
    assert "denied.example" not in internet.looked_up


def _twin(url: str) -> dict[str, bytes]:
    link = ("Link", '</twin.md>; rel="alternate"; type="text/markdown"')
    page = response(b"<p>Short.</p>", headers=[("Content-Type", "text/html"), link])
    return {"start": page, "twin.md": moved(url)}


def _sitemap(url: str, kind: str) -> bytes:
    root = "sitemapindex" if kind == "sitemap" else "urlset"
    body = f"<{root}><{kind}><loc>{url}</loc></{kind}></{root}>"
    return response(body.encode(), headers=[("Content-Type", "application/xml")])


def _text(body: str) -> bytes:
    return response(body.encode(), headers=[("Content-Type", "text/plain")])


# How a site leads to another URL.
SOURCES: dict[str, Callable[[str], dict[str, bytes]]] = {
    "redirect": lambda url: {"start": moved(url)},
    "second redirect": lambda url: {"start": moved("/next"), "next": moved(url)},
    "meta refresh": lambda url: {"start": meta(url)},
    "Refresh header": lambda url: {"start": header(url)},
    "refresh after redirect": lambda url: {"start": moved("/next"), "next": meta(url)},
    "twin": _twin,
    "announced elsewhere": lambda url: {
        "start": html(
            f'<link rel="alternate" type="text/markdown" href="{url}"><p>Short.</p>'.encode()
        )
    },
    "robots.txt": lambda url: {"robots.txt": moved(url)},
    "sitemap of robots.txt": lambda url: {"robots.txt": _text(f"Sitemap: {url}\n")},
    "sitemap": lambda url: {"sitemap.xml": moved(url)},
    "index of sitemaps": lambda url: {"sitemap.xml": _sitemap(url, "sitemap")},
    "refresh of a sitemap": lambda url: {"sitemap.xml": meta(url)},
    "llms.txt": lambda url: {"llms.txt": moved(url)},
    "link": lambda url: {"llms.txt": _text(f"# Site\n\n- [x]({url})\n")},
}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("operation", ["web_fetch", "web_map", "verify"])
def test_nothing_is_requested_where_a_site_leads(
    internet: Internet, operation: str, source: str, is_async: bool
) -> None:
    for url in REFUSED:
        internet.connected.clear()
        with Site(**SOURCES[source](url)) as site, Site() as secret:
            loopback = {"127.0.0.1": secret.port, "::1": secret.port}
            internet.servers = {PUBLIC: site.port, "169.254.169.254": secret.port, **loopback}
            internet.name("inside.example", ["127.0.0.1"])
            with web_of(operation, respect="obey") as web:
                call(web, operation, START, is_async=is_async)
            assert site.requests
            assert secret.connections == 0
            assert set(internet.connected) == {PUBLIC}
            assert not [request for request in site.requests if request.startswith(b"GET /x")]
            assert not [host for host in site.hosts if "denied" in host]
