"""A site on loopback whose answers a test sets by path, and readers of it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from servers import RawServer, read_request, response

from webtools import WebTools
from webtools.results import FetchResponse

PARAGRAPH = "The ferry crosses the Sound forty times a day and carries one hundred cars. "
PAGE = (
    "<!DOCTYPE html><html><head><title>Ferry</title></head><body><article><h1>Ferry</h1>"
    f"<p>{PARAGRAPH * 3}</p><p>{PARAGRAPH}It charges for seven minutes.</p></article></body></html>"
)


@dataclass
class Reply:
    """An answer of the site."""

    body: str = PAGE
    status: str = "200 OK"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    kind: str = "text/html; charset=utf-8"

    def encoded(self) -> bytes:
        headers = {"Content-Type": self.kind, **self.headers}
        return response(self.body.encode(), self.status, headers.items())


class Site(RawServer):
    """Answers by path, with a reply or a function of the request's headers."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply | Callable[[dict[str, str]], Reply]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        super().__init__(self._script_of_site)

    def _script_of_site(self, connection: socket.socket) -> None:
        while request := read_request(connection):
            first, *lines = request.decode("latin-1").split("\r\n")
            pairs = (line.partition(": ") for line in lines if ": " in line)
            headers = {name.lower(): value for name, _, value in pairs}
            path = first.split(" ")[1]
            self.asked.append((path, headers))
            missing = Reply("", "404 Not Found")
            default = missing if path == "/robots.txt" else Reply()
            reply = self.replies.get(path, default)
            connection.sendall((reply if isinstance(reply, Reply) else reply(headers)).encoded())

    def count(self, path: str) -> int:
        return sum(asked == path for asked, _ in self.asked)

    def entry(self, **more: Any) -> dict[str, Any]:
        options = {"allowPrivateHosts": [f"127.0.0.1:{self.port}"]}
        return {"name": "direct", "type": "direct", "options": options, **more}


Fetch = Callable[..., FetchResponse]


def blocking(web: WebTools, *urls: str, **options: Any) -> FetchResponse:
    return web.fetch(list(urls), **options)


def on_a_loop(web: WebTools, *urls: str, **options: Any) -> FetchResponse:
    return asyncio.run(web.afetch(list(urls), **options))
