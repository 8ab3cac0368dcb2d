"""`WebAgent` reads what real LLM classes of LlamaIndex let a vendor search.

Their packages do not install beside the SDKs of the other tests, so this is skipped there.
`make test-recipes ARGS=llamaindex` runs it in an environment of its own.
"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip(
    "llama_index.llms.openai",
    reason="these classes need older SDKs than other tests",
    exc_type=ImportError,
)
pytest.importorskip(
    "llama_index.llms.anthropic",
    reason="these classes need older SDKs than other tests",
    exc_type=ImportError,
)

from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai import OpenAIResponses

from llamaindex_webtools import WebAgent
from webtools import WebTools
from webtools_sandbox import SandboxServer

QUESTION = "How do I decode JSON with a custom decoder?"


def _llm(vendor: str, server: SandboxServer) -> Any:
    url, key = server.model_url(vendor), f"test-key-{vendor}"
    if vendor == "anthropic":
        search = {"type": "web_search_20250305", "name": "web_search"}
        return Anthropic("claude-sonnet-4-6", base_url=url, api_key=key, tools=[search])
    include = ["web_search_call.action.sources"]
    tools = [{"type": "web_search"}]
    return OpenAIResponses(
        "gpt-5.2", api_base=url, api_key=key, built_in_tools=tools, include=include
    )


@pytest.mark.parametrize("is_streaming", [False, True])
@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
async def test_what_a_vendor_searched_is_in_the_session(
    vendor: str, is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    session = web.session()
    llm = _llm(vendor, webtools_sandbox)
    agent = WebAgent(session, llm=llm, streaming=is_streaming, tools=[])
    handler = agent.run(user_msg=QUESTION)
    await handler
    report = await handler.ctx.store.get("web_report")
    assert (
        report["providers"][vendor] | {"requests": 1, "cost_usd": 0.01}
        == report["providers"][vendor]
    )
    is_partial = vendor == "anthropic" and is_streaming  # LlamaIndex keeps citations only
    assert report["queries"] == ([] if is_partial else [QUESTION])
    assert len(report["sources"]) == (1 if is_partial else 2)
