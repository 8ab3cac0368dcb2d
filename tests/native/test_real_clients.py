"""The SDKs of the vendors talk to the simulated vendors, and what they return can be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import anthropic
import openai
import pytest

from webtools.native import (
    NativeTool,
    Route,
    native_search,
    read_response,
    read_stream,
    without_sources,
)
from webtools_sandbox import SandboxServer

QUESTION = "How do I decode JSON with a custom decoder?"
OPENAI = Route("https://api.openai.com/v1", "responses", "gpt-5.2")
ANTHROPIC = Route("https://api.anthropic.com", "messages", "claude-sonnet-4-6")
ASKED = [{"role": "user", "content": QUESTION}]


@pytest.fixture
def openai_client(webtools_sandbox: SandboxServer) -> Iterator[openai.OpenAI]:
    url = webtools_sandbox.model_url("openai")
    with openai.OpenAI(base_url=url, api_key="test-key-openai", max_retries=0) as client:
        yield client


@pytest.fixture
def anthropic_client(webtools_sandbox: SandboxServer) -> Iterator[anthropic.Anthropic]:
    url = webtools_sandbox.model_url("anthropic")
    with anthropic.Anthropic(base_url=url, api_key="test-key-anthropic", max_retries=0) as client:
        yield client


def tool_for(route: Route, filters: dict[str, Any] | None = None, **limits: Any) -> NativeTool:
    choice = native_search(route, filters, **limits)
    assert isinstance(choice, NativeTool)
    return choice


def ask_openai(client: openai.OpenAI, items: Any = QUESTION, **filters: Any) -> Any:
    choice = tool_for(OPENAI, filters)
    return client.responses.create(
        model=OPENAI.model, input=items, tools=[choice.tool], **choice.request
    )


def ask_anthropic(client: anthropic.Anthropic, messages: Any = None, **more: Any) -> Any:
    tools = [tool_for(ANTHROPIC, more.pop("filters", None)).tool, *more.pop("tools", ())]
    return client.messages.create(
        model=ANTHROPIC.model, max_tokens=99, messages=messages or ASKED, tools=tools, **more
    )


# --- OpenAI ------------------------------------------------------------------------------------


def test_openai_is_read_from_its_sdk_whole_and_streaming(openai_client: openai.OpenAI) -> None:
    response = ask_openai(openai_client)
    found = read_response("openai", response)
    assert found == read_response("openai", response.model_dump())
    assert found.queries == (QUESTION,)
    assert len(found.sources) == 2
    assert found.citations[0].url == found.sources[0].url
    assert found.text == response.output_text
    cited = found.text[found.citations[0].start : found.citations[0].end]
    assert found.citations[0].url in cited
    assert (found.searches, found.is_count_estimated) == (1, False)

    choice = tool_for(OPENAI)
    with openai_client.responses.create(
        model=OPENAI.model, input=QUESTION, tools=[choice.tool], stream=True, **choice.request
    ) as stream:
        assert read_stream("openai", [*stream]) == found


def test_openai_gets_the_filters(
    openai_client: openai.OpenAI, webtools_sandbox: SandboxServer
) -> None:
    found = read_response("openai", ask_openai(openai_client, include_domains=["docs.python.org"]))
    assert {urlsplit(source.url).hostname for source in found.sources} == {"docs.python.org"}
    webtools_sandbox.fault(provider="openai", search="outside")
    found = read_response("openai", ask_openai(openai_client, include_domains=["docs.python.org"]))
    kept = found.within(include_domains=["docs.python.org"])
    assert kept.refused == ("https://outside.example/page",)
    assert kept.sources == found.sources[1:]
    assert kept.citations == ()


def test_openai_refuses_its_sources_and_takes_the_conversation_without_them(
    openai_client: openai.OpenAI,
) -> None:
    output = [item.model_dump() for item in ask_openai(openai_client).output]
    history = [*ASKED, *output, {"role": "user", "content": "And encode?"}]
    with pytest.raises(openai.BadRequestError, match="sources"):
        ask_openai(openai_client, history)
    assert ask_openai(openai_client, without_sources(history)).output_text


def test_errors_of_openai_are_read(
    openai_client: openai.OpenAI, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="openai", search="error")
    found = read_response("openai", ask_openai(openai_client))
    assert (found.errors[0].code, found.searches, found.cost_usd) == ("search_failed", 0, 0)
    webtools_sandbox.fault(provider="openai", search="uncounted")
    found = read_response("openai", ask_openai(openai_client))
    assert (found.searches, found.is_count_estimated) == (1, True)
    webtools_sandbox.fault(provider="openai", status=429)
    with pytest.raises(openai.RateLimitError):
        ask_openai(openai_client)


def test_a_stream_of_openai_that_is_cut_is_read(
    openai_client: openai.OpenAI, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="openai", body="cut")
    choice = tool_for(OPENAI)
    events: list[Any] = []
    stream = openai_client.responses.create(
        model=OPENAI.model, input=QUESTION, tools=[choice.tool], stream=True
    )
    with pytest.raises(Exception, match="(?i)connection|closed"):
        events.extend(stream)  # keeps what came before the end
    found = read_stream("openai", events)
    assert (found.stop, found.searches + found.pending) == ("cut", 1)


# --- Anthropic ---------------------------------------------------------------------------------


def test_anthropic_is_read_from_its_sdk_whole_and_streaming(
    anthropic_client: anthropic.Anthropic,
) -> None:
    message = ask_anthropic(anthropic_client)
    found = read_response("anthropic", message)
    assert found == read_response("anthropic", message.model_dump())
    assert found.queries == (QUESTION,)
    assert [citation.url for citation in found.citations] == [found.sources[0].url]
    assert found.citations[0].quotation
    assert (found.searches, found.is_count_estimated, found.cost_usd) == (1, False, 0.01)
    assert read_stream("anthropic", [*ask_anthropic(anthropic_client, stream=True)]) == found
    with anthropic_client.messages.stream(
        model=ANTHROPIC.model, max_tokens=99, messages=ASKED, tools=[tool_for(ANTHROPIC).tool]
    ) as stream:
        assert read_stream("anthropic", [*stream]) == found


def test_anthropic_gets_filters_and_the_limit(anthropic_client: anthropic.Anthropic) -> None:
    filters = {"exclude_domains": ["127.0.0.1"]}
    found = read_response("anthropic", ask_anthropic(anthropic_client, filters=filters))
    assert {urlsplit(source.url).hostname for source in found.sources} <= {"localhost"}
    assert tool_for(ANTHROPIC, usd_left=0.025).tool["max_uses"] == 2


def test_a_paused_answer_is_continued_and_both_searches_are_counted(
    anthropic_client: anthropic.Anthropic, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="anthropic", search="pause")
    first = ask_anthropic(anthropic_client)
    assert read_response("anthropic", first).stop == "pause_turn"
    paused = [*ASKED, {"role": "assistant", "content": first.model_dump()["content"]}]
    second = ask_anthropic(anthropic_client, paused)
    found = [read_response("anthropic", message) for message in (first, second)]
    assert [item.searches for item in found] == [1, 1]
    assert found[1].stop == ""


def test_a_result_that_comes_with_the_next_message_is_counted_once(
    anthropic_client: anthropic.Anthropic, webtools_sandbox: SandboxServer
) -> None:
    function = {"name": "web_fetch", "description": "Read.", "input_schema": {"type": "object"}}
    webtools_sandbox.fault(provider="anthropic", search="later")
    first = ask_anthropic(anthropic_client, tools=[function])
    blocks = first.model_dump()["content"]
    output = {"type": "tool_result", "tool_use_id": blocks[-1]["id"], "content": "A page."}
    rest = [{"role": "assistant", "content": blocks}, {"role": "user", "content": [output]}]
    second = ask_anthropic(anthropic_client, [*ASKED, *rest], tools=[function])
    found = [read_response("anthropic", message) for message in (first, second)]
    assert [(item.searches, item.pending) for item in found] == [(0, 1), (1, 0)]
    assert found[1].sources


def test_errors_of_anthropic_are_read(
    anthropic_client: anthropic.Anthropic, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="anthropic", search="error", times=2)
    for stream in (False, True):
        answer = ask_anthropic(anthropic_client, stream=stream)
        read: Any = read_stream if stream else read_response
        found = read("anthropic", [*answer] if stream else answer)
        assert (found.errors[0].code, found.searches) == ("unavailable", 0)
    webtools_sandbox.fault(provider="anthropic", search="uncounted")
    found = read_response("anthropic", ask_anthropic(anthropic_client))
    assert (found.searches, found.is_count_estimated) == (1, True)
    webtools_sandbox.fault(provider="anthropic", status=429)
    with pytest.raises(anthropic.RateLimitError):
        ask_anthropic(anthropic_client)


def test_anthropic_refuses_what_it_documents(anthropic_client: anthropic.Anthropic) -> None:
    same_name = {"name": "web_search", "description": "Ours.", "input_schema": {"type": "object"}}
    with pytest.raises(anthropic.BadRequestError, match="unique"):
        ask_anthropic(anthropic_client, tools=[same_name])
