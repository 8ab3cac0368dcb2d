"""A thread that searches for nearly the same again is shown what the core shows a conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from test_langchain_agent import Scripted

from langchain_webtools import WebSearchTool, WebToolkit
from webtools import ToolResult, WebTools

FIRST = {"queries": ["json decoder"], "limit": 2}
AGAIN = {"queries": ["JSON decoders"], "limit": 2}


@pytest.fixture
def expected(web: WebTools) -> list[ToolResult]:
    """What the core says in a conversation; both searches are in the cache by then."""
    for name in ("warm", "core"):
        found = [web.call_tool("web_search", each, conversation=name) for each in (FIRST, AGAIN)]
    assert "2 results shown before are left out" in found[1].text
    return found


def _thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def _call(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": "web_search", "args": arguments, "id": "call_1", "type": "tool_call"}


async def test_calls_of_one_thread_give_what_the_core_gives(
    web: WebTools, expected: list[ToolResult]
) -> None:
    tool = WebSearchTool(web=web)
    for each, result in zip((FIRST, AGAIN), expected, strict=True):
        for message in (
            tool.invoke(_call(each), _thread("blocking")),
            await tool.ainvoke(_call(each), _thread("awaited")),
        ):
            assert message.text == result.text
            assert json.dumps(message.artifact) == json.dumps(result.details)


def _agent(web: WebTools, *searches: dict[str, Any], **how: Any) -> Any:
    steps = [
        AIMessage("", tool_calls=[{**_call(each), "id": str(i)}]) for i, each in enumerate(searches)
    ]
    return create_agent(
        Scripted(messages=iter([*steps, AIMessage("done")])),
        WebToolkit(web, **how).get_tools(["web_search"]),
        checkpointer=InMemorySaver(),
    )


def _texts(state: Any) -> list[str]:
    return [each.text for each in state["messages"] if isinstance(each, ToolMessage)]


async def test_steps_of_an_agent_are_of_its_thread(
    web: WebTools, expected: list[ToolResult]
) -> None:
    question = {"messages": [("user", "Look it up.")]}
    state = await _agent(web, FIRST, AGAIN).ainvoke(question, _thread("agent"))
    assert _texts(state) == [each.text for each in expected]
    plain = web.call_tool("web_search", AGAIN).text
    state = _agent(web, FIRST, AGAIN, loop_guard=False).invoke(question, _thread("free"))
    assert _texts(state)[1] == plain


def test_without_a_thread_the_run_that_calls_is_the_conversation(
    web: WebTools, expected: list[ToolResult]
) -> None:
    tool = WebSearchTool(web=web)
    chain = RunnableLambda(lambda _: [tool.invoke(FIRST), tool.invoke(AGAIN)])
    for _ in range(2):
        assert chain.invoke({}) == [each.text for each in expected]
    alone = tool.invoke(FIRST), tool.invoke(FIRST)
    assert alone[0] == alone[1]
