"""Functions of the caller that write the answer."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from webtools import InputError, WebTools
from webtools.synthesis import Draft, ModelSynthesizer, SynthesisQuery

SENTENCE = "The harbour of Vell has four tidal mills."
ANSWER = f"{SENTENCE} [1]"


def client() -> WebTools:
    row = {
        "id": "1",
        "title": "Vell",
        "url": "https://vell.example/mills",
        "highlights": [SENTENCE],
    }

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/contents":
            page = {"id": row["url"], "url": row["url"], "text": SENTENCE}
            return httpx.Response(200, json={"results": [page], "statuses": []})
        return httpx.Response(200, json={"results": [row]})

    transport = httpx.MockTransport(answer)
    keys = {"exa": "test-key-exa-00001"}
    return WebTools(
        api_keys=keys, transport=transport, async_transport=transport, cache=False, log=False
    )


def plain(query: SynthesisQuery) -> str:
    return ANSWER if query.sources else ""


async def awaited(query: SynthesisQuery) -> str:
    return ANSWER if query.sources else ""


def plain_draft(query: SynthesisQuery) -> Draft:
    return Draft(plain(query), warnings=["From a function."])


async def awaited_draft(query: SynthesisQuery) -> Draft:
    return plain_draft(query)


class Named:
    name = "desk"


class PlainDraft(Named):
    def draft(self, query: SynthesisQuery) -> str:
        return plain(query)


class AwaitedDraft(Named):
    async def draft(self, query: SynthesisQuery) -> Draft:
        return plain_draft(query)


class FullDraft(Named):
    async def draft(self, query: SynthesisQuery, deadline: float, io: Any) -> Draft:
        assert deadline > io.now()
        return plain_draft(query)


class BlockingFullDraft(Named):
    def draft(self, query: SynthesisQuery, deadline: float, io: Any) -> Draft:
        return plain_draft(query)


class CallableObject:
    def __call__(self, query: SynthesisQuery) -> str:
        return plain(query)


class AsyncCallableObject:
    async def __call__(self, query: SynthesisQuery) -> str:
        return plain(query)


class NamelessDraft:
    def draft(self, query: SynthesisQuery) -> str:
        return plain(query)


def with_more(prefix: str, query: SynthesisQuery) -> str:
    return prefix + plain(query)


WRITERS: dict[str, Any] = {
    "function": plain,
    "async function": awaited,
    "function with a draft": plain_draft,
    "async function with a draft": awaited_draft,
    "lambda": lambda query: plain(query) or "",
    "partial": functools.partial(with_more, ""),
    "bound method": PlainDraft().draft,
    "callable object": CallableObject(),
    "async callable object": AsyncCallableObject(),
    "plain draft": PlainDraft(),
    "async draft": AwaitedDraft(),
    "draft without a name": NamelessDraft(),
    "draft of the protocol": FullDraft(),
    "blocking draft of the protocol": BlockingFullDraft(),
    "optional arguments": lambda query, style="short": plain(query),
}


@pytest.mark.parametrize("command", ["web", "web-deep"])
@pytest.mark.parametrize("writer", WRITERS)
async def test_any_kind_of_function_writes_the_answer(writer: str, command: Any) -> None:
    web, synthesis = client(), WRITERS[writer]
    envelopes = [
        web.research("harbour mills", command=command, synthesis=synthesis),
        await web.aresearch("harbour mills", command=command, synthesis=synthesis),
    ]
    for envelope in envelopes:
        assert envelope.synthesis is not None
        assert envelope.synthesis.summary == ANSWER
        assert not any("extractive" in warning for warning in envelope.meta.warnings)
    arguments = {"query": "harbour mills", "command": "web-deep"}
    results = [
        web.call_tool("web_research", arguments, synthesizer=synthesis),
        await web.acall_tool("web_research", arguments, synthesizer=synthesis),
    ]
    assert all(ANSWER in result.text for result in results)


def no_argument() -> str:
    return ANSWER


def two_arguments(query: SynthesisQuery, style: str) -> str:
    return ANSWER


def by_name(*, query: SynthesisQuery) -> str:
    return ANSWER


class FullDraftClass:
    name = "class"

    async def draft(self, query: SynthesisQuery, deadline: float, io: Any) -> Draft:
        return Draft(ANSWER)


class NoFunction:
    name = "none"
    draft = "text"


@pytest.mark.parametrize(
    "wrong", [no_argument, two_arguments, by_name, FullDraftClass, NoFunction(), 5, ["extractive"]]
)
async def test_what_cannot_be_called_with_the_query_is_refused_before_any_request(
    wrong: Any,
) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise AssertionError("a request was sent")

    transport = httpx.MockTransport(fail)
    keys = {"exa": "test-key-exa-00001"}
    web = WebTools(api_keys=keys, transport=transport, async_transport=transport, cache=False)
    arguments = {"query": "q", "command": "web-deep"}
    calls: list[Callable[[], Any]] = [
        lambda: web.research("q", command="web-deep", synthesis=wrong),
        lambda: web.aresearch("q", command="web-deep", synthesis=wrong),
        lambda: web.plan("q", command="web-deep", synthesis=wrong),
        lambda: web.call_tool("web_research", arguments, synthesizer=wrong),
        lambda: web.acall_tool("web_research", arguments, synthesizer=wrong),
    ]
    for call in calls:
        with pytest.raises(InputError, match="synthesis"):  # noqa: PT012  some are awaited
            pending = call()
            if inspect.isawaitable(pending):
                await pending


@pytest.mark.parametrize("result", [None, 5, b"text", ["text"]])
async def test_a_result_that_is_no_answer_is_reported(result: Any) -> None:
    envelope = await client().aresearch("mills", command="web-deep", synthesis=lambda _: result)
    assert any(type(result).__name__ in warning for warning in envelope.meta.warnings)
    assert envelope.meta.degraded


async def test_a_blocking_function_does_not_hold_the_event_loop() -> None:
    threads: list[threading.Thread] = []

    def write(_: SynthesisQuery) -> str:
        threads.append(threading.current_thread())
        return ANSWER

    await client().aresearch("mills", command="web-deep", synthesis=write)
    assert threads
    assert threads[0] is not threading.main_thread()


async def reply(_prompt: str) -> str:
    return ANSWER


@pytest.mark.parametrize(
    ("ask", "aask"),
    [(reply, reply), (lambda: "", reply), ("ask", reply), (lambda _: "", lambda: None), (len, 5)],
)
def test_a_model_synthesizer_checks_its_functions(ask: Any, aask: Any) -> None:
    with pytest.raises(InputError, match="ask"):
        ModelSynthesizer(ask, aask)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_that_exits_ends_the_program(is_async: bool) -> None:
    def leave(query: SynthesisQuery) -> str:
        raise SystemExit(3)

    web = client()

    async def research() -> None:
        await web.aresearch("harbour mills", synthesis=leave)

    with pytest.raises(SystemExit):
        asyncio.run(research()) if is_async else web.research("harbour mills", synthesis=leave)
