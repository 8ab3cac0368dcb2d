"""Call the tool of one recipe of `docs/agents.md` as its framework does.

`try_recipes.py` runs this with the Python of the framework. The sandbox answers.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from webtools import WebTools
from webtools.tools import SEARCH
from webtools_sandbox import SandboxServer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agents.md"
RECIPE = re.compile(r"^### ([\w-]+) ([\d.]+)\n\n```py\n(.*?)```", re.MULTILINE | re.DOTALL)
Call = Callable[[dict[str, Any]], Awaitable[str]]
"""Calls the tool with some arguments, and returns what the model would read."""


def recipes() -> dict[str, tuple[str, str]]:
    """Return the version and the code of each recipe by the name of its framework."""
    found = RECIPE.findall(PAGE.read_text(encoding="utf-8"))
    return {name: (version, code) for name, version, code in found}


def agno(recipe: Any, web: WebTools) -> Call:
    from agno.tools.function import FunctionCall

    function = recipe.web_function(SEARCH, web)

    async def call(arguments: dict[str, Any]) -> str:
        execution = await FunctionCall(function=function, arguments=arguments).aexecute()
        assert execution.status == "success", execution
        return str(execution.result)

    assert function.to_dict()["parameters"] == SEARCH.input_model.model_json_schema()
    return call


def strands_agents(recipe: Any, web: WebTools) -> Call:
    tool = recipe.web_tool(SEARCH, web)

    async def call(arguments: dict[str, Any]) -> str:
        use = {"toolUseId": "1", "name": tool.tool_name, "input": arguments}
        *_, event = [event async for event in tool.stream(use, {})]
        result = event["tool_result"] if isinstance(event, dict) else event
        assert result["status"] == ("error" if "limit" in arguments else "success")
        return str(result["content"][0]["text"])

    return call


def smolagents(recipe: Any, web: WebTools) -> Call:
    from smolagents import Model, ToolCallingAgent

    agent = ToolCallingAgent([recipe.WebTool(SEARCH, web)], Model())

    async def call(arguments: dict[str, Any]) -> str:
        return str(await asyncio.to_thread(agent.execute_tool_call, "web_search", arguments))

    return call


def haystack_ai(recipe: Any, web: WebTools) -> Call:
    from haystack import component
    from haystack.components.agents import Agent
    from haystack.dataclasses import ChatMessage, ToolCall

    arguments: dict[str, Any] = {}

    @component
    class Scripted:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, Any]:
            result = messages[-1].tool_call_result
            calls = [] if result else [ToolCall("web_search", dict(arguments))]
            text = str(result.result) if result else None
            return {"replies": [ChatMessage.from_assistant(text, tool_calls=calls)]}

    async def call(given: dict[str, Any]) -> str:
        arguments.clear()
        arguments.update(given)
        agent = Agent(chat_generator=Scripted(), tools=[recipe.web_tool(SEARCH, web)])
        messages = [ChatMessage.from_user("Search.")]
        blocking = await asyncio.to_thread(agent.run, messages)
        awaited = await agent.run_async(messages)
        assert awaited["messages"][-1].text == blocking["messages"][-1].text
        return str(blocking["messages"][-1].text)

    return call


def agent_framework_core(recipe: Any, web: WebTools) -> Call:
    tool = recipe.web_tool(SEARCH, web)

    async def call(arguments: dict[str, Any]) -> str:
        result = await tool.invoke(arguments=arguments)
        parts = result if isinstance(result, list) else [result]
        return "".join(getattr(part, "text", None) or str(part) for part in parts)

    return call


def google_adk(recipe: Any, web: WebTools) -> Call:
    from google.adk.agents import Agent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    arguments: dict[str, Any] = {}

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            [declaration] = llm_request.config.tools[0].function_declarations
            assert declaration.parameters_json_schema == SEARCH.input_model.model_json_schema()
            last = llm_request.contents[-1].parts[-1]
            part = types.Part.from_function_call(name="web_search", args=arguments)
            if last.function_response:
                response = last.function_response.response
                part = types.Part(text=response.get("result") or response["error"])
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    async def call(given: dict[str, Any]) -> str:
        arguments.clear()
        arguments.update(given)
        tools = [recipe.WebTool(SEARCH, web)]
        agent = Agent(name="a", model=Scripted(model="scripted"), tools=tools)
        events = await InMemoryRunner(agent).run_debug("Search.", quiet=True)
        return str(events[-1].content.parts[-1].text)

    return call


def crewai(recipe: Any, web: WebTools) -> Call:
    from crewai import Agent, BaseLLM, Crew, Task

    arguments: dict[str, Any] = {}
    prompts: list[str] = []

    class Scripted(BaseLLM):
        def call(self, messages: Any, *args: Any, **options: Any) -> str:
            prompts.append(" ".join(str(message["content"]) for message in messages))
            if len(prompts) > 1:  # the last prompt has the result of the tool
                return "Thought: I now know the final answer\nFinal Answer: Done."
            return f"Thought: Search.\nAction: web_search\nAction Input: {json.dumps(arguments)}"

        def supports_function_calling(self) -> bool:
            return False

    def run(given: dict[str, Any]) -> str:
        prompts.clear()
        arguments.clear()
        arguments.update(given)
        parts = {"role": "researcher", "goal": "search", "backstory": "none"}
        tools = [recipe.web_tool(SEARCH, web)]
        agent = Agent(**parts, llm=Scripted(model="scripted"), tools=tools)
        task = Task(description="Search.", expected_output="A text.", agent=agent)
        Crew(agents=[agent], tasks=[task], tracing=False).kickoff()
        return prompts[-1]

    async def call(given: dict[str, Any]) -> str:
        return await asyncio.to_thread(run, given)

    return call


CALLS: dict[str, Callable[[Any, WebTools], Call]] = {
    "agno": agno,
    "strands-agents": strands_agents,
    "smolagents": smolagents,
    "haystack-ai": haystack_ai,
    "agent-framework-core": agent_framework_core,
    "google-adk": google_adk,
    "crewai": crewai,
}


async def main(name: str) -> None:
    """Search, and pass an invalid argument."""
    namespace: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(recipes()[name][1], str(PAGE), "exec"), namespace)
    with SandboxServer() as server, WebTools(server.config()) as web:
        call = CALLS[name](SimpleNamespace(**namespace), web)
        arguments = {"queries": ["How do I read a zip file?"]}
        expected = (await web.acall_tool(SEARCH, arguments)).text
        answer = await call(arguments)
        assert expected in answer, answer
        error = await call({**arguments, "limit": 999})
        assert "999" in error, error
        assert expected not in error, error


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
