"""A run that searches for nearly the same again is shown what the core shows a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from scripted_llm import Script, calls, says

from llamaindex_webtools import WebToolsSpec

if TYPE_CHECKING:
    from webtools import WebTools

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:(inspect|llama_index|workflows)"
)

FIRST: dict[str, Any] = {"queries": ["json decoder"], "limit": 2}
AGAIN: dict[str, Any] = {"queries": ["JSON decoders"], "limit": 2}


async def outputs(spec: WebToolsSpec) -> list[Any]:
    script = Script(calls(("web_search", FIRST)), calls(("web_search", AGAIN)), says("Done."))
    agent = FunctionAgent(tools=[*spec.to_tool_list()], llm=script.llm)
    answer = await agent.run("Look it up.")
    return [(each.tool_output.content, each.tool_output.raw_output) for each in answer.tool_calls]


async def test_calls_of_one_run_give_what_the_core_gives(web: WebTools) -> None:
    for name in ("warm", "core"):
        expected = [web.call_tool("web_search", each, conversation=name) for each in (FIRST, AGAIN)]
    told = [(each.text, each.details) for each in expected]
    assert "2 results shown before are left out" in told[1][0]
    for _ in range(2):  # each run begins anew
        assert await outputs(WebToolsSpec(web)) == told


async def test_it_can_be_switched_off_and_needs_a_run(web: WebTools) -> None:
    web.call_tool("web_search", AGAIN)
    plain = web.call_tool("web_search", AGAIN)
    assert (await outputs(WebToolsSpec(web, loop_guard=False)))[1][0] == plain.text
    spec = WebToolsSpec(web)
    assert [spec.web_search(**AGAIN).text for _ in range(2)] == [plain.text] * 2
