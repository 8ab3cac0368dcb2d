"""Calls without a network: accounts, answers, and a transport that gives them."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from math import inf
from typing import Any, TypeAlias, TypeVar

import httpx

from webtools import WebTools
from webtools._internal.io.blocking import BlockingIO, HTTPClient
from webtools._internal.io.event_loop import AsyncHTTPClient, AsyncIO
from webtools._internal.io.runtime import run as run_coroutine
from webtools._internal.pipeline import tool_call
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.requests import request
from webtools.config import Accounts, Settings, load
from webtools.errors import RequestError
from webtools.messages import Request, Response
from webtools.providers import PROVIDERS, Account
from webtools.providers.protocols import Query
from webtools.testing import INSTANCE

T = TypeVar("T")
Answer: TypeAlias = "Response | RequestError | Callable[[Request], Response | RequestError]"

KEY = "canary-5d1c9f"


def entry(kind: str, **settings: Any) -> dict[str, Any]:
    """Give an entry of the config file, named after its type."""
    own = {"baseUrl": INSTANCE} if PROVIDERS[kind].about.url_variables else {}
    return {"name": f"my-{kind}", "type": kind, "apiKey": KEY, **own, **settings}


def accounts(*entries: dict[str, Any], **top: Any) -> Accounts:
    text = json.dumps({"providers": entries, **top})
    return Settings(load(text, "web-search.json")).accounts()


def account(kind: str, **settings: Any) -> Account:
    return accounts(entry(kind, **settings)).accounts[0]


def answer(
    value: Any = None, status: int = 200, *, body: bytes | None = None, **headers: str
) -> Response:
    """Make a response; `body` for bytes as they are, header names with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status, named, json.dumps(value).encode() if body is None else body)


class Stub:
    """A transport that gives its answers in turn; the last one is for all further requests."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[Request] = []
        self._answers = answers

    def send(self, request: Request, deadline: float) -> Response:
        self.requests.append(request)
        reply = self._answers[min(len(self.requests), len(self._answers)) - 1]
        reply = reply(request) if callable(reply) else reply
        if isinstance(reply, RequestError):
            raise reply
        return reply

    @property
    def bodies(self) -> list[Any]:
        return [request.json for request in self.requests]

    def respond(self, request: httpx.Request) -> httpx.Response:
        """Respond as a handler of `httpx.MockTransport` does."""
        body = json.loads(request.content) if request.content else None
        sent = Request(request.method, str(request.url), request.headers, json=body)
        response = self.send(sent, 0.0)
        return httpx.Response(response.status, headers=response.headers, content=response.body)


def client(stub: Stub, *entries: dict[str, Any], **top: Any) -> WebTools:
    """Return a client whose requests `stub` answers, and which caches nothing."""
    config = {"providers": entries, "cache": {"enabled": False}, **top}
    return WebTools(config, transport=httpx.MockTransport(stub.respond))


# What is said beside the filters: where each is applied, tests of their own tell.
OPTIONS = {"country", "language", "safe_search", "page", "content", "similar"}


def by_query(answers: Mapping[str, Response | RequestError]) -> Answer:
    """Answer each request by the query in its JSON body."""
    return lambda request: answers[request.json["query"]]


class CurrentIO:
    """The `io` of calls that tests make: that of the transport in use."""

    def __init__(self) -> None:
        self.current: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.current, name)


IO: Any = CurrentIO()


def detached(*accounts: Any) -> tool_call.Call:
    """Make a call outside of any call, whose `io` is that of `run` or `arun`."""
    return tool_call.detached(IO, *accounts)


def run(coroutine: Coroutine[Any, Any, T], transport: HTTPClient) -> T:
    """Run a coroutine over a blocking transport."""
    IO.current = BlockingIO(transport)
    return run_coroutine(coroutine)


async def arun(coroutine: Coroutine[Any, Any, T], transport: AsyncHTTPClient) -> T:
    """Await a coroutine over an async transport."""
    IO.current = AsyncIO(transport)
    return await coroutine


def drive(coroutine: Coroutine[Any, Any, T], *answers: Answer) -> T:
    return run(coroutine, Stub(*answers))


class Clock:
    """Stands in for the module `time`: sleeping takes none."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


async def requested(query: Query, account: Account) -> Any:
    """Send a query to a provider, and return what it read."""
    return (await request(ApiCall(detached(), account, query, inf))).value
