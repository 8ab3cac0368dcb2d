"""Calls of a provider without a network: every request has the answer of the test."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias

import pytest

from webtools.errors import WebToolsError
from webtools.flows.drivers import Flow, run
from webtools.http.messages import Request, Response
from webtools.operations.fetch import fetch
from webtools.operations.search import search
from webtools.operations.summarize import summarize
from webtools.pipeline.accounting import Job, observed
from webtools.pipeline.context import detached
from webtools.pipeline.retries import dialogue, exchange
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


def _look_up(account: Account, query: DocsQuery) -> Flow[Hits]:
    provider = PROVIDERS[account.type].docs
    assert provider is not None
    job = Job(account, "docs", "looking up", "q")
    return observed(job, dialogue(job, provider.lookup(query, account)))


def _synthesize(account: Account, query: SynthesisQuery) -> Flow[Synthesis]:
    provider = PROVIDERS[account.type].synthesize
    assert provider is not None
    job = Job(account, "synthesize", "answering", "q")
    request = provider.synthesis_request(query, account)
    return observed(
        job, exchange(job, request, lambda r: provider.read_synthesis(r, query, account))
    )


# For each thing a provider can do a query, and the call that asks it.
CALLS: dict[Capability, tuple[Query, Callable[[Account, Any], Flow[Any]]]] = {
    "search": (SearchQuery("q", 5), lambda account, query: search(account, [query], detached())),
    "fetch": (
        PageQuery(URLS, highlights=True, summary=True),
        lambda account, query: fetch(account, query, detached()),
    ),
    "summarize": (
        SummaryQuery(URLS[0]),
        lambda account, query: summarize(account, query, detached()),
    ),
    "docs": (DocsQuery("q", 5), _look_up),
    "synthesize": (SynthesisQuery("q", (Source(1, "A", URLS[0], "text"),)), _synthesize),
}


def sent(account: Account, able: Capability, given: Response) -> tuple[Any, list[Request]]:
    """Run a call likewise; return what came of it, and what was sent."""
    transport = _Answers(given)
    query, call = CALLS[able]
    return _run(call(account, query), transport), transport.requests


def _run(flow: Flow[Any], transport: _Answers) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("webtools.flows.drivers.time", _Clock())
        try:
            return run(flow, transport)
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
    return _run(call(account, query), _Answers(*responses))


def outcome(account: Account, able: Capability, given: Response) -> Any:
    """Run a call in which every request has one answer; return its result or its error."""
    return sent(account, able, given)[0]
