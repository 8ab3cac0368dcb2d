"""`WebToolsSpec(session)` and `WebAgent`: an agent of LlamaIndex in a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.llms.mock import MockFunctionCallingLLM
from scripted_llm import Script, calls, says

from llamaindex_webtools import WebAgent, WebToolsSpec, web_search_tool
from webtools import InputError, WebTools
from webtools_sandbox import SandboxServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of LlamaIndex itself

UNSEEN = "https://unseen.example/?q=SECRET"
OPENAI: dict[str, Any] = {
    "model": "gpt-5.2",
    "status": "completed",
    "output": [
        {
            "type": "web_search_call",
            "status": "completed",
            "action": {
                "type": "search",
                "query": "read json",
                "sources": [{"type": "url", "url": "https://docs.example/json"}],
            },
        },
        {"type": "message", "content": [{"type": "output_text", "text": "Read [it]."}]},
    ],
}
ANTHROPIC: dict[str, Any] = {
    "model": "claude-sonnet-4-6",
    "content": [
        {
            "type": "server_tool_use",
            "id": "s",
            "name": "web_search",
            "input": {"query": "read json"},
        },
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s",
            "content": [{"type": "web_search_result", "url": "https://docs.example/json"}],
        },
        {"type": "text", "text": "Read it."},
    ],
}


@pytest.fixture
def page(webtools_sandbox: SandboxServer) -> str:
    return f"{webtools_sandbox.docs_url}/library/json.html"


def _outputs(answer: Any) -> list[Any]:
    return [call.tool_output for call in answer.tool_calls]


def _code(output: Any) -> Any:
    return (output.raw_output.get("error") or {}).get("code")


@pytest.mark.parametrize("is_streaming", [True, False])
async def test_an_agent_opens_only_what_its_session_has_seen(
    is_streaming: bool, web: WebTools, page: str
) -> None:
    urls = [("web_fetch", {"urls": [UNSEEN]}), ("web_fetch", {"urls": [page]})]
    script = Script(calls(*urls), says("By [1] and [9], see https://made-up.example."))
    session = web.session(fetch="seen")
    agent = WebAgent(session, llm=script.llm, streaming=is_streaming)
    handler = agent.run(user_msg=f"Sum up {page}.")
    answer = await handler
    assert {_code(output) for output in _outputs(answer)} == {"url_not_seen", None}
    report = await handler.ctx.store.get("web_report")
    assert report["check"]["bad_numbers"] == [9]
    assert report["check"]["not_seen"] == ["https://made-up.example"]
    assert report["refused"] == [UNSEEN]
    assert session.sources[0].is_read


async def test_a_spec_of_a_session_has_its_gate_and_limits(web: WebTools, page: str) -> None:
    session = web.session(fetch="seen", calls=1)
    script = Script(
        calls(("web_fetch", {"urls": [page]})),
        calls(("web_search", {"queries": ["read json"]})),
        calls(("web_fetch", {"urls": [page]})),
        says("done"),
    )
    agent = FunctionAgent(tools=[*WebToolsSpec(session).to_tool_list()], llm=script.llm)
    answer = await agent.run(user_msg="Hello.")
    codes = [_code(output) for output in _outputs(answer)]
    assert codes == ["url_not_seen", None, "session_limit"]


@pytest.mark.parametrize("is_streaming", [True, False])
@pytest.mark.parametrize("tape_of", ["session", "environment"])
async def test_an_agent_is_replayed(
    tape_of: str, is_streaming: bool, web: WebTools, page: str, tmp_path: Path, monkeypatch: Any
) -> None:
    def session_of(client: WebTools, argument: str) -> Any:
        if tape_of == "session":
            return client.session(fetch="seen", **{argument: tape})
        for name in ("record", "replay"):
            monkeypatch.setenv(f"WEBTOOLS_{name.upper()}", str(tape) if name == argument else "")
        return client.session(fetch="seen")

    async def run(session: Any) -> Any:
        turn = [("web_search", {"queries": ["read json"]}), ("web_fetch", {"urls": [page]})]
        script = Script(calls(*turn), says("By [1]."))
        agent = WebAgent(session, llm=script.llm, streaming=is_streaming)
        answer = await agent.run(user_msg=f"Sum up {page}.")
        outputs = [(each.content, each.raw_output, each.is_error) for each in _outputs(answer)]
        return sorted(outputs, key=str), session.sources

    tape = tmp_path / "run.jsonl"
    recorded = await run(session_of(web, "record"))
    session = session_of(WebTools(tmp_path / "no-such-file.json"), "replay")
    assert await run(session) == recorded
    assert session.unused_calls == []


class _Retriever:
    """Retrieves the tools of another `WebTools`."""

    def __init__(self, web: WebTools) -> None:
        self.tools = WebToolsSpec(web).to_tool_list()

    async def aretrieve(self, _: str) -> Any:
        return self.tools


async def test_retrieved_tools_do_not_evade_the_session(web: WebTools) -> None:
    script = Script(calls(("web_fetch", {"urls": [UNSEEN]})), says("done"))
    agent = WebAgent(web.session(fetch="seen"), llm=script.llm, tools=[])
    agent.tool_retriever = _Retriever(web)
    with pytest.raises(InputError, match="another WebTools"):
        await agent.run(user_msg="Hello.")


async def test_text_of_another_agent_is_not_the_users(web: WebTools, page: str) -> None:
    script = Script(calls(("web_fetch", {"urls": [page]})), says("done"))
    agent = WebAgent(web.session(fetch="strict"), llm=script.llm, user_urls=False)
    (output,) = _outputs(await agent.run(user_msg=f"Sum up {page}."))
    assert _code(output) == "url_not_seen"


@pytest.mark.parametrize("is_streaming", [True, False])
@pytest.mark.parametrize(
    ("name", "vendor", "raw"),
    [("OpenAIResponses", "openai", OPENAI), ("Anthropic", "anthropic", ANTHROPIC)],
)
async def test_what_the_vendor_searched_is_in_the_session_before_the_tools_run(
    is_streaming: bool, name: str, vendor: str, raw: Any, web: WebTools, page: str
) -> None:
    found = {**raw, "output": [*raw.get("output", ()), _seen(page)]} if "output" in raw else raw
    if vendor == "anthropic":
        result = {"type": "web_search_result", "url": page}
        blocks = [{"type": "web_search_tool_result", "content": [result]}, *raw["content"]]
        found = {**raw, "content": blocks}

    async def with_raw(self: Any, *args: Any, **kwargs: Any) -> ChatResponse:
        response = await MockFunctionCallingLLM.achat_with_tools(self, *args, **kwargs)
        response.raw = found if not _results(kwargs) else None
        return response

    async def events(self: Any, *args: Any, **kwargs: Any) -> Any:
        first = not _results(kwargs)
        inner = await MockFunctionCallingLLM.astream_chat_with_tools(self, *args, **kwargs)

        async def stream() -> Any:
            async for response in inner:
                response.raw = None
                yield response
                last = response
            for event in _events(vendor, found) if first else ():
                last.raw = event
                yield last

        return stream()

    methods = {"achat_with_tools": with_raw, "astream_chat_with_tools": events}
    kind = type(name, (MockFunctionCallingLLM,), methods)
    replies = (calls(("web_fetch", {"urls": [page]})), says(f"See {page} and [1]."))
    llm = Script(*replies, kind=kind).llm
    session = web.session(fetch="seen")
    answer = await WebAgent(session, llm=llm, streaming=is_streaming).run(user_msg="Hello.")
    (output,) = _outputs(answer)
    assert _code(output) is None
    report = session.report("json")
    assert report["queries"] == ["read json"]
    assert [source["how"] for source in report["sources"]][:2] == ["native", "native"]
    assert report["providers"][vendor]["requests"] >= 1
    assert report["cost_is_estimate"]


def _results(kwargs: dict[str, Any]) -> list[ChatMessage]:
    return [message for message in kwargs["chat_history"] if message.role == "tool"]


def _seen(url: str) -> dict[str, Any]:
    action = {"type": "search", "query": "read json", "sources": [{"type": "url", "url": url}]}
    return {"type": "web_search_call", "status": "completed", "action": action}


def _events(vendor: str, response: dict[str, Any]) -> list[dict[str, Any]]:
    if vendor == "openai":
        return [{"type": "response.created"}, {"type": "response.completed", "response": response}]
    blocks = [
        {"type": "content_block_start", "index": index, "content_block": block}
        for index, block in enumerate(response["content"])
    ]
    return [{"type": "message_start", "message": {"model": response["model"]}}, *blocks]


def test_an_agent_needs_a_session(web: WebTools) -> None:
    with pytest.raises(InputError, match="session"):
        WebAgent(web, llm=Script().llm)  # type: ignore[arg-type]


SEARCHED: list[dict[str, Any]] = [
    {"type": "response.created", "response": {"model": "gpt-5.2"}},
    {
        "type": "response.output_item.done",
        "output_index": 0,
        "item": {
            "type": "web_search_call",
            "status": "completed",
            "action": {
                "type": "search",
                "query": "zip",
                "sources": [{"url": "https://docs.example/zip"}],
            },
        },
    },
]


class OpenAIResponses(MockFunctionCallingLLM):
    """A model whose stream breaks after the vendor has searched."""

    async def astream_chat_with_tools(self, *args: Any, **kwargs: Any) -> Any:
        message = ChatMessage(role="assistant", content="")

        async def events() -> Any:
            for event in SEARCHED:
                yield ChatResponse(message=message, delta="", raw=event)
            raise ConnectionError("cut")

        return events()


async def test_what_a_vendor_searched_before_a_stream_broke_counts(web: WebTools) -> None:
    session = web.session()
    agent = WebAgent(session, llm=OpenAIResponses(), tools=[])
    with pytest.raises(Exception, match="cut"):
        await agent.run(user_msg="How do I read a zip file?")
    report = session.report("json")
    assert report["queries"] == ["zip"]
    assert report["cost_usd"] == 0.01
    assert [source["url"] for source in report["sources"]] == ["https://docs.example/zip"]


@pytest.mark.parametrize(
    "options", [{"include_domains": ["python.org"]}, {"user_url": False}, {"web": None}], ids=str
)
def test_an_unknown_argument_of_the_agent_is_refused(web: WebTools, options: Any) -> None:
    [name] = options
    with pytest.raises(InputError, match=name):
        WebAgent(web.session(), llm=MockFunctionCallingLLM(), **options)


def test_a_tool_of_another_webtools_is_refused(web: WebTools) -> None:
    session = web.session(calls=1)
    tools = [web_search_tool(web), *WebToolsSpec(web).to_tool_list(["web_fetch"])]
    for tool in tools:
        with pytest.raises(InputError, match=str(tool.metadata.name)):
            WebAgent(session, llm=MockFunctionCallingLLM(), tools=[tool])
    own = [web_search_tool(session), *WebToolsSpec(session).to_tool_list(["web_fetch"])]
    assert WebAgent(session, llm=MockFunctionCallingLLM(), tools=[*own, print])
