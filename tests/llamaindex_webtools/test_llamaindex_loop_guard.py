"""A run that searches for nearly the same again is shown what the core shows a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from scripted_llm import Script, calls, says

from llamaindex_webtools import WebToolsSpec, web_search_tool

if TYPE_CHECKING:
    from llama_index.core.tools import FunctionTool

    from webtools import WebTools

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:(inspect|llama_index|workflows)"
)

FIRST: dict[str, Any] = {"queries": ["json decoder"], "limit": 2}
AGAIN: dict[str, Any] = {"queries": ["JSON decoders"], "limit": 2}


async def outputs(*tools: FunctionTool) -> list[Any]:
    script = Script(calls(("web_search", FIRST)), calls(("web_search", AGAIN)), says("Done."))
    agent = FunctionAgent(tools=[*tools], llm=script.llm)
    answer = await agent.run("Look it up.")
    return [(each.tool_output.content, each.tool_output.raw_output) for each in answer.tool_calls]


async def test_calls_of_one_run_give_what_the_core_gives(web: WebTools) -> None:
    for name in ("warm", "core"):
        expected = [web.call_tool("web_search", each, conversation=name) for each in (FIRST, AGAIN)]
    told = [(each.text, each.details) for each in expected]
    assert "2 results shown before are left out" in told[1][0]
    for _ in range(2):  # each run begins anew
        assert await outputs(*WebToolsSpec(web).to_tool_list()) == told
        assert await outputs(web_search_tool(web, limit=2)) == told


async def test_it_can_be_switched_off_and_needs_a_run(web: WebTools) -> None:
    web.call_tool("web_search", AGAIN)
    plain = web.call_tool("web_search", AGAIN)
    for unguarded in (
        *WebToolsSpec(web, loop_guard=False).to_tool_list(["web_search"]),
        web_search_tool(web, loop_guard=False),
        web_search_tool(web, loop_guard=False, limit=2),
    ):
        assert (await outputs(unguarded))[1][0] == plain.text
    spec = WebToolsSpec(web)
    assert [spec.web_search(**AGAIN).text for _ in range(2)] == [plain.text] * 2
