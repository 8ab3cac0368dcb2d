"""Calls of a provider without a network: every request has the answer of the test."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias

import pytest

from webtools._internal.http.messages import Request, Response
from webtools._internal.io.blocking import BlockingIO
from webtools._internal.io.runtime import IO, run
from webtools._internal.operations.fetch import fetch
from webtools._internal.operations.search import search
from webtools._internal.operations.summarize import summarize
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.metering import metered
from webtools._internal.pipeline.retries import exchange, look_up
from webtools._internal.pipeline.tool_call import detached
from webtools.errors import WebToolsError
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.protocols import (
    DocsQuery,
    Hits,
    PageQuery,
    Query,
    SearchQuery,
    Source,
    SummaryQuery,
    Synthesis,
    SynthesisQuery,
)

Json: TypeAlias = "dict[str, Any] | list[Any]"
Sample: TypeAlias = "Response | Json | tuple[Response | Json, ...]"
URLS = ("https://a.example/1", "https://b.example/2")


def answer(
    value: Any = None, status: int = 200, *, body: bytes | None = None, **headers: str
) -> Response:
    """Return a response; `body` for bytes as they are, header names with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status, named, json.dumps(value).encode() if body is None else body)


class _Answers:  # in turn; the last one to every further request
    def __init__(self, *given: Response) -> None:
        self.requests: list[Request] = []
        self._given = given

    def send(self, request: Request, deadline: float) -> Response:
        del deadline
        self.requests.append(request)
        return self._given[min(len(self.requests), len(self._given)) - 1]

    def resolve(self, host: str, port: int, deadline: float) -> NoReturn:
        raise NotImplementedError(host, port, deadline)


class _Clock:
    """Time in which waiting takes none."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@contextmanager
def registered(provider: Any) -> Generator[None, None, None]:
    """Register a provider while the block runs; one that was known stays."""
    known = provider.ABOUT.name in PROVIDERS
    PROVIDERS.register(provider)
    try:
        yield
    finally:
        if not known:
            PROVIDERS.forget(provider.ABOUT.name)


async def _look_up(account: Account, query: DocsQuery, io: IO) -> Hits:
    provider = PROVIDERS[account.type].docs
    assert provider is not None
    api_call = ApiCall(account, "docs", "q", call=detached(io))
    async with metered(api_call):
        return await look_up(api_call, lambda docs: provider.lookup(query, account, docs), Hits)


async def _synthesize(account: Account, query: SynthesisQuery, io: IO) -> Synthesis:
    provider = PROVIDERS[account.type].synthesize
    assert provider is not None
    api_call = ApiCall(account, "synthesize", "q", call=detached(io))
    async with metered(api_call):
        return await exchange(
            api_call,
            lambda: provider.synthesis_request(query, account),
            lambda r: provider.read_synthesis(r, query, account),
            Synthesis,
        )


# For each capability a query, and the call that serves it.
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
    "docs": (DocsQuery("q", 5), _look_up),
    "synthesize": (SynthesisQuery("q", (Source(1, "A", URLS[0], "text"),)), _synthesize),
}


def sent(account: Account, able: Capability, given: Response) -> tuple[Any, list[Request]]:
    """Run a call likewise; return what came of it, and what was sent."""
    transport = _Answers(given)
    query, call = CALLS[able]
    return _run(call(account, query, BlockingIO(transport))), transport.requests


def _run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("webtools._internal.io.blocking.time", _Clock())
        try:
            return run(coroutine)
        except WebToolsError as error:
            return error


def read_sample(account: Account, able: Capability, sample: Sample, urls: Sequence[str]) -> Any:
    """Run a call that gets a sample response; return its result or its error.

    Args:
        account: The provider under test.
        able: What the call needs.
        sample: Decoded JSON or a `Response`; a tuple of these for a call of several requests.
        urls: The pages of a fetch.
    """
    given = sample if isinstance(sample, tuple) else (sample,)
    responses = [each if isinstance(each, Response) else answer(each) for each in given]
    query, call = CALLS[able]
    if able == "fetch":
        query = PageQuery((*urls,))
    return _run(call(account, query, BlockingIO(_Answers(*responses))))


def outcome(account: Account, able: Capability, given: Response) -> Any:
    """Run a call in which every request has one answer; return its result or its error."""
    return sent(account, able, given)[0]
