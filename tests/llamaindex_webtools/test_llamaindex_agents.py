from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.agent.workflow import (
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
    ToolCallResult,
)
from llama_index.core.workflow import Context, JsonSerializer
from scripted_llm import Script, calls, says
from timeless import timeless

from llamaindex_webtools import WebToolsSpec
from webtools.tools import SEARCH as SEARCH_TOOL

if TYPE_CHECKING:
    from webtools import WebTools
    from webtools_sandbox import SandboxServer

# What the framework's own modules do, seen on every run of an agent.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:(inspect|llama_index|workflows)"
)

QUESTION = "What is asyncio?"
SEARCH: dict[str, Any] = {"queries": ["asyncio"], "limit": 2}


async def results_of(handler: Any) -> list[ToolCallResult]:
    found = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
    await handler
    return found


def function_agent(web: WebTools, script: Script) -> FunctionAgent:
    return FunctionAgent(tools=WebToolsSpec(web).to_tool_list(), llm=script.llm)


async def test_a_function_agent_reads_the_text_and_keeps_the_details(web: WebTools) -> None:
    expected = web.call_tool("web_search", SEARCH)
    script = Script(calls(("web_search", SEARCH)), says("A library."))
    answer = await function_agent(web, script).run(QUESTION)
    assert str(answer) == "A library."
    assert script.last_shown == expected.text
    [call] = answer.tool_calls
    assert timeless(call.tool_output.raw_output) == timeless(expected.details)
    assert not call.tool_output.is_error


async def test_a_function_agent_gets_the_error(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    expected = web.call_tool("web_search", SEARCH)
    script = Script(calls(("web_search", SEARCH)), says("I cannot search."))
    [result] = await results_of(function_agent(web, script).run(QUESTION))
    assert script.last_shown == expected.text
    assert result.tool_output.is_error
    assert timeless(result.tool_output.raw_output) == timeless(expected.details)


async def test_a_function_agent_can_correct_a_bad_argument(web: WebTools) -> None:
    script = Script(
        calls(("web_search", {"queries": ["asyncio"], "limit": -1})),
        calls(("web_search", SEARCH)),
        says("A library."),
    )
    bad, good = await results_of(function_agent(web, script).run(QUESTION))
    assert bad.tool_output.content == web.call_tool("web_search", SEARCH | {"limit": -1}).text
    assert bad.tool_output.is_error
    assert not good.tool_output.is_error


async def test_a_function_agent_runs_several_tools_in_one_turn(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    page = {"url": f"{webtools_sandbox.docs_url}/library/json.html"}
    wanted = [("web_search", SEARCH), ("web_fetch", page), ("summarize", page)]
    script = Script(calls(*wanted), says("Done."))
    results = await results_of(function_agent(web, script).run(QUESTION))
    outputs = {result.tool_name: result.tool_output for result in results}
    for name, arguments in wanted:
        assert outputs[name].content == web.call_tool(name, arguments).text


async def test_a_react_agent_observes_the_text(web: WebTools) -> None:
    expected = web.call_tool("web_search", SEARCH)
    script = Script(
        says(f"Thought: I search.\nAction: web_search\nAction Input: {json.dumps(SEARCH)}"),
        says("Thought: I can answer without using any more tools.\nAnswer: A library."),
    )
    agent = ReActAgent(tools=WebToolsSpec(web).to_tool_list(), llm=script.llm)
    [result] = await results_of(agent.run(QUESTION))
    assert script.last_shown == f"Observation: {expected.text}"
    assert timeless(result.tool_output.raw_output) == timeless(expected.details)


async def test_a_workflow_of_agents_uses_instances_side_by_side(web: WebTools) -> None:
    expected = web.call_tool("web_search", SEARCH)
    script = Script(
        calls(("handoff", {"to_agent": "reader", "reason": "knows more"})),
        calls(("exa_web_search", SEARCH)),
        says("A library."),
    )
    agents = [
        FunctionAgent(
            name=name,
            description=name,
            tools=WebToolsSpec(web, name_prefix=prefix).to_tool_list(),
            llm=script.llm,
        )
        for name, prefix in (("asker", "kagi_"), ("reader", "exa_"))
    ]
    results = await results_of(AgentWorkflow(agents=agents, root_agent="asker").run(QUESTION))
    assert script.last_shown == expected.text
    assert results[-1].tool_name == "exa_web_search"
    assert results[-1].tool_output.tool_name == "exa_web_search"
    assert timeless(results[-1].tool_output.raw_output) == timeless(expected.details)


# LlamaIndex cannot save its own memory with pydantic 2.14, and says so.
@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")
@pytest.mark.parametrize("limit", [2, 0], ids=["success", "error"])
async def test_a_run_and_its_tool_results_are_saved_as_json(web: WebTools, limit: int) -> None:
    expected = web.call_tool("web_search", SEARCH | {"limit": limit})
    script = Script(
        calls(("web_search", SEARCH | {"limit": limit})), says("A library."), says("As I said.")
    )
    agent = function_agent(web, script)
    context: Context[Any] = Context(agent)
    answer = await agent.run(QUESTION, ctx=context)
    await context.store.set("calls", answer.tool_calls)
    saved = json.dumps(context.to_dict(serializer=JsonSerializer()))
    restored: Context[Any] = Context.from_dict(agent, json.loads(saved), JsonSerializer())
    [call] = await restored.store.get("calls")
    assert call.tool_output.content == expected.text
    assert timeless(call.tool_output.raw_output) == timeless(expected.details)
    assert call.tool_output.is_error is expected.is_error
    assert str(await agent.run("And?", ctx=restored)) == "As I said."


def code_agent(web: WebTools, script: Script) -> Any:
    from llama_index.core.agent.workflow import CodeActAgent  # noqa: PLC0415  not in every version

    tools = WebToolsSpec(web).to_tool_list()
    names = {tool.real_fn.__name__: tool.real_fn for tool in tools}

    async def run(code: str) -> str:
        return str(eval(code.strip(), dict(names)))

    return CodeActAgent(code_execute_fn=run, tools=tools, llm=script.llm)


async def test_an_agent_that_writes_code_is_shown_signatures_and_what_they_mean(
    web: WebTools,
) -> None:
    script = Script(says("I know."))
    await code_agent(web, script).run(QUESTION)
    shown = script.shown[0].content or ""
    assert "def web_search(queries: list[str], limit: int = 0, include_domains:" in shown
    assert "def web_read(handle: str, offset: int = 0, find: str = '')" in shown
    assert SEARCH_TOOL.description.partition("\n\n")[0] in shown
    assert "[Title](URL)" in shown
    assert "`is_error`" in shown


@pytest.mark.parametrize(
    "code",
    [
        'web_search(["asyncio"], 2)',
        'web_search(["asyncio"], limit=2)',
        'web_search("asyncio", 2, [], [], "", "", "", "")',
        'web_search(queries=["asyncio"], limit=2)',
    ],
)
async def test_an_agent_that_writes_code_may_call_by_position_and_by_name(
    web: WebTools, code: str
) -> None:
    script = Script(says(f"<execute>\n{code}\n</execute>"), says("A library."))
    answer = await code_agent(web, script).run(QUESTION)
    assert str(answer) == "A library."
    expected = web.call_tool("web_search", SEARCH).text
    assert any(expected in (message.content or "") for message in script.shown)


def test_the_functions_bind_what_their_signatures_say(web: WebTools) -> None:
    for tool in WebToolsSpec(web).to_tool_list():
        model = tool.metadata.fn_schema
        for function in (tool.real_fn, tool.fn, tool.async_fn):
            parameters = inspect.signature(function).parameters
            assert list(parameters) == list(model.model_fields)
            least = {name for name, item in parameters.items() if item.default is item.empty}
            assert least == {next(iter(parameters))}
    with pytest.raises(TypeError, match="positional arguments"):
        WebToolsSpec(web).web_search(*"123456789abcdefgh")
