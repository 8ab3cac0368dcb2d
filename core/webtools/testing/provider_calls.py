"""Call a provider without a network: each request gets a response of the test."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, NoReturn, TypeAlias

import pytest

from webtools._internal.io.blocking import BlockingIO
from webtools._internal.io.runtime import IO, run
from webtools._internal.operations.fetch import fetch
from webtools._internal.operations.search import search
from webtools._internal.operations.summarize import summarize
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.requests import request
from webtools._internal.pipeline.tool_call import detached
from webtools.errors import WebToolsError
from webtools.messages import Request, Response
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.protocols import (
    DocsQuery,
    PageQuery,
    Query,
    SearchQuery,
    Source,
    SummaryQuery,
    SynthesisQuery,
)

Json: TypeAlias = "dict[str, Any] | list[Any]"
Sample: TypeAlias = "Response | Json | tuple[Response | Json, ...]"
URLS = ("https://a.example/1", "https://b.example/2")


def answer(
    value: Any = None, status: int = 200, *, body: bytes | None = None, **headers: str
) -> Response:
    """Build a response.

    Args:
        value: The body, to encode as JSON.
        status: HTTP status.
        body: The body as bytes, instead of `value`.
        headers: Header fields. Write `retry_after` for `Retry-After`.
    """
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status, fields, json.dumps(value).encode() if body is None else body)


class _Responses:
    """Returns the responses in order, and the last one to all further requests."""

    def __init__(self, *responses: Response) -> None:
        self.requests: list[Request] = []
        self._responses = responses

    def send(self, request: Request, deadline: float) -> Response:
        del deadline
        self.requests.append(request)
        return self._responses[min(len(self.requests), len(self._responses)) - 1]

    def resolve(self, host: str, port: int, deadline: float) -> NoReturn:
        raise NotImplementedError(host, port, deadline)


class _Clock:
    """A clock that moves when a call sleeps.

    It starts at the real time, because threads wait for deadlines in real time.
    """

    def __init__(self) -> None:
        self.now = time.monotonic()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@contextmanager
def registered(provider: Any) -> Generator[None, None, None]:
    """Register a provider for the duration of a `with` block.

    A provider that was already registered stays registered after the block.
    """
    is_registered = provider.ABOUT.name in PROVIDERS
    PROVIDERS.register(provider)
    try:
        yield
    finally:
        if not is_registered:
            PROVIDERS.forget(provider.ABOUT.name)


async def _request(account: Account, query: Query, io: IO) -> Any:
    return (await request(ApiCall(detached(io), account, query, inf))).value


# A query and a call for each capability.
CALLS: dict[Capability, tuple[Query, Callable[[Account, Any, IO], Coroutine[Any, Any, Any]]]] = {
    "search": (
        SearchQuery("q", 5),
        lambda account, query, io: search([account], [query], detached(io)),
    ),
    "fetch": (
        PageQuery(URLS, highlights=True, summary=True),
        lambda account, query, io: fetch([account], query, detached(io)),
    ),
    "summarize": (
        SummaryQuery(URLS[0]),
        lambda account, query, io: summarize([account], query, detached(io)),
    ),
    "docs": (DocsQuery("q", 5), _request),
    "synthesize": (SynthesisQuery("q", (Source(1, "A", URLS[0], "text"),)), _request),
}


def outcome_and_requests(
    account: Account, capability: Capability, response: Response
) -> tuple[Any, list[Request]]:
    """Run a call as `outcome` does, and also return its requests."""
    transport = _Responses(response)
    query, call = CALLS[capability]
    return _run(call(account, query, BlockingIO(transport))), transport.requests


def _run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("webtools._internal.io.blocking.time", _Clock())
        try:
            return run(coroutine)
        except WebToolsError as error:
            return error


def read_sample(
    account: Account, capability: Capability, sample: Sample, urls: Sequence[str]
) -> Any:
    """Run a call that gets a sample response, and return the result or the error.

    Args:
        account: The provider under test.
        capability: The kind of call.
        sample: Decoded JSON or a `Response`; a tuple of these for a call of several requests.
        urls: The pages of a fetch.
    """
    samples = sample if isinstance(sample, tuple) else (sample,)
    responses = [item if isinstance(item, Response) else answer(item) for item in samples]
    query, call = CALLS[capability]
    if capability == "fetch":
        query = PageQuery((*urls,))
    return _run(call(account, query, BlockingIO(_Responses(*responses))))


def outcome(account: Account, capability: Capability, response: Response) -> Any:
    """Run a call in which every request gets the same response.

    Args:
        account: The provider under test.
        capability: The kind of call.
        response: The response.

    Returns:
        The result of the call, or its error.
    """
    return outcome_and_requests(account, capability, response)[0]
