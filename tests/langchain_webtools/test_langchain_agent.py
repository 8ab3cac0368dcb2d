"""The tools in an agent, with a model that follows a script."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from timeless import timeless
from tool_agents import Scripted

from langchain_webtools import WebSearchTool, WebToolException, WebToolkit
from webtools import ToolResult, WebTools
from webtools_sandbox import SandboxServer

Call = tuple[str, dict[str, Any]]


def _script(*calls: Call) -> Scripted:
    asked = [
        {"name": name, "args": arguments, "id": f"call_{number}"}
        for number, (name, arguments) in enumerate(calls)
    ]
    return Scripted(messages=iter([AIMessage("", tool_calls=asked), AIMessage("done")]))


async def _run(way: str, tools: Sequence[BaseTool], model: Scripted) -> list[ToolMessage]:
    agent = create_agent(model, tools)
    question = {"messages": [("user", "Look it up.")]}
    if way == "sync":
        state = agent.invoke(question)  # type: ignore[call-overload]
    else:
        state = await agent.ainvoke(question)  # type: ignore[call-overload]
    assert state["messages"][-1].content == "done"
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


@pytest.fixture(params=["sync", "async"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_an_agent_gets_text_and_artifact(way: str, web: WebTools) -> None:
    arguments = {"queries": ["read json"], "limit": 2}
    expected = web.call_tool("web_search", arguments)
    model = _script(("web_search", arguments))
    (message,) = await _run(way, WebToolkit(web=web).get_tools(), model)
    assert (message.status, message.content) == ("success", expected.text)
    assert timeless(message.artifact) == timeless(expected.details)
    assert model.seen[-1][-1].content == expected.text


async def test_several_calls_of_one_turn_are_all_answered(
    way: str, web: WebTools, page: str
) -> None:
    calls = [
        ("web_search", {"queries": ["read json"]}),
        ("web_fetch", {"urls": [page]}),
        ("summarize", {"url": page}),
        ("web_search", {"queries": ["sort a list"]}),
    ]
    messages = await _run(way, WebToolkit(web=web).get_tools(), _script(*calls))
    assert [message.content for message in messages] == [
        web.call_tool(name, arguments).text for name, arguments in calls
    ]
    assert {message.status for message in messages} == {"success"}


async def test_a_failure_reaches_the_model_as_an_error(
    way: str, web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=402, times=None)
    calls = [("web_search", {"queries": ["x"]}), ("web_search", {"queries": [" "], "colour": 1})]
    model = _script(*calls)
    messages = await _run(way, WebToolkit(web=web).get_tools(), model)
    for message, (name, arguments) in zip(messages, calls, strict=True):
        expected = web.call_tool(name, arguments)
        assert (message.status, message.content) == ("error", expected.text)
        assert timeless(message.artifact) == timeless(expected.details)
    assert model.seen[-1][-2:] == messages


async def test_two_toolkits_serve_one_agent(way: str, web: WebTools) -> None:
    tools = [
        *WebToolkit(web=web, prefix="a_").get_tools(),
        *WebToolkit(web=web, prefix="b_").get_tools(),
    ]
    model = _script(("a_web_search", {"queries": ["json"]}), ("b_web_search", {"queries": ["csv"]}))
    messages = await _run(way, tools, model)
    assert [message.name for message in messages] == ["a_web_search", "b_web_search"]


async def test_an_unhandled_failure_ends_the_run_as_the_exception(way: str) -> None:
    class Failing(WebTools):
        def call_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
            return ToolResult("no", {"error": {"retryable": True}}, is_error=True)

        async def acall_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
            return self.call_tool(name, arguments)

    tool = WebSearchTool(web=Failing(), handle_tool_error=False)
    with pytest.raises(WebToolException) as caught:
        await _run(way, [tool], _script(("web_search", {"queries": ["x"]})))
    assert caught.value.retryable


def test_messages_survive_a_checkpointer(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    webtools_sandbox.fault(status=500, containing="zebra")
    model = _script(
        ("web_search", {"queries": ["json"]}),
        ("web_search", {"queries": ["zebra"], "provider": "exa"}),
    )
    agent = create_agent(model, WebToolkit(web=web).get_tools(), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    question: Any = {"messages": [("user", "Look it up.")]}
    state = agent.invoke(question, config)
    stored = agent.get_state(config).values["messages"]
    assert stored == state["messages"]
    assert [message.status for message in stored[2:4]] == ["success", "error"]
    assert stored[3].artifact["error"]["type"] == "UnavailableError"


async def test_cancelling_passes_through(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    webtools_sandbox.latency = 5.0
    task = asyncio.ensure_future(WebSearchTool(web=web).ainvoke("read json"))
    while not task.done() and not webtools_sandbox.stats()["requests"]:  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
