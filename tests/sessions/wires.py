"""A `WebTools` whose requests and name look-ups are noted, with providers that answer all."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import unquote

import httpx

from webtools import Session, WebTools, WebToolsError

PROVIDERS = [
    {"name": "direct", "type": "direct"},
    {"name": "exa", "type": "exa", "apiKey": "test-key-exa"},
    {"name": "kagi", "type": "kagi", "apiKey": "test-key-kagi"},
]
TEXT = "The ferry crosses the sound forty times a day. It carries one hundred cars. " * 5


class Wire:
    """Notes what leaves: requests, and host names that are looked up.

    Attributes:
        found: The URLs that a search finds.
        finds: The URLs that a search for a certain query finds.
        links: The links of each page.
        markdown: The text of each page, instead of HTML.
        html: The body of each page, instead of `links`.
        moves: Where pages redirect to.
        answers: The JSON of other hosts.
    """

    def __init__(self, *found: str) -> None:
        self.found = [*found]
        self.finds: dict[str, list[str]] = {}
        self.links: list[str] = []
        self.markdown = self.html = ""
        self.moves: dict[str, str] = {}
        self.answers: dict[str, Any] = {}
        self.requests: list[httpx.Request] = []
        self.looked_up: list[str] = []

    def getaddrinfo(self, host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        self.looked_up.append(host.decode() if isinstance(host, bytes) else str(host))
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", port))]

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        body = json.loads(request.content) if request.content else {}
        path = request.url.path
        if request.url.host in self.answers:
            return httpx.Response(200, json=self.answers[request.url.host])
        if request.url.host == "api.exa.ai":
            urls = body.get("urls") or self.finds.get(body.get("query"), self.found)
            results = [
                {"id": url, "url": url, "title": f"Page {place}", "text": TEXT}
                for place, url in enumerate(urls, 1)
            ]
            return httpx.Response(200, json={"results": results, "costDollars": {"total": 0.001}})
        if request.url.host == "kagi.com":
            return httpx.Response(200, json={"meta": {}, "data": {"output": TEXT, "tokens": 9}})
        if path == "/robots.txt":
            return httpx.Response(404)
        if target := self.moves.get(url_of(request)):
            return httpx.Response(302, headers={"location": target})
        return self._page()

    def _page(self) -> httpx.Response:
        if self.markdown:
            headers = {"content-type": "text/markdown; charset=utf-8"}
            return httpx.Response(200, text=self.markdown, headers=headers)
        links = "".join(f'<p>See <a href="{url}">this page</a> of it.</p>' for url in self.links)
        body = self.html or f"<main><h1>Ferry</h1><p>{TEXT}</p>{links}</main>"
        return httpx.Response(200, html=f"<html><title>Ferry</title><body>{body}</body></html>")

    def left(self) -> str:
        """Return all that has left, in plain letters."""
        parts = [*self.looked_up]
        for request in self.requests:
            parts += [url_of(request), str(request.headers), request.content.decode()]
        text = "\n".join(parts)
        for _ in range(3):
            text += unquote(text)
        return text.casefold()

    @property
    def urls(self) -> list[str]:
        return [url_of(request) for request in self.requests]

    def clear(self) -> None:
        self.requests.clear()
        self.looked_up.clear()


def url_of(request: httpx.Request) -> str:
    """Return the URL with the name of the host, whose address was looked up before."""
    return f"{request.url.scheme}://{request.headers['host']}{request.url.raw_path.decode()}"


def web_of(wire: Wire, monkeypatch: Any, **settings: Any) -> WebTools:
    monkeypatch.setattr(socket, "getaddrinfo", wire.getaddrinfo)
    transport = httpx.MockTransport(wire.respond)
    config = {"providers": PROVIDERS, "failover": False, "cache": {"enabled": False}, **settings}
    return WebTools(config, transport=transport)


def at_once(is_async: bool, calls: Sequence[tuple[Session, str]], method: str) -> list[Any]:
    """Call a method of each session in parallel, and return what it returned or raised."""
    options = {"provider": "exa", "timeout": 60}
    if is_async:
        return asyncio.run(_gathered(calls, f"a{method}", options))
    with ThreadPoolExecutor(50) as pool:
        return list(pool.map(partial(_outcome, method=method, options=options), calls))


def _outcome(call: tuple[Session, str], method: str, options: dict[str, Any]) -> Any:
    session, subject = call
    try:
        return getattr(session, method)(subject, **options)
    except WebToolsError as error:
        return error


async def _gathered(
    calls: Sequence[tuple[Session, str]], method: str, options: dict[str, Any]
) -> list[Any]:
    made = (getattr(session, method)(subject, **options) for session, subject in calls)
    return await asyncio.gather(*made, return_exceptions=True)
