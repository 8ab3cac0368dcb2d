"""LangChain's models talk to the simulated vendors, with the tools of `native_search`."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

from webtools.native import NativeTool, Route, native_search, read_response
from webtools_sandbox import SandboxServer

QUESTION = "How do I decode JSON with a custom decoder?"
ROUTES = {
    "openai": Route("https://api.openai.com/v1", "responses", "gpt-5.2"),
    "anthropic": Route("https://api.anthropic.com", "messages", "claude-sonnet-4-6"),
    "google": Route(
        "https://generativelanguage.googleapis.com", "generateContent", "gemini-3.5-flash"
    ),
}


def model_for(vendor: str, server: SandboxServer) -> Any:
    url, model = server.model_url(vendor), ROUTES[vendor].model
    key = f"test-key-{vendor}"
    if vendor == "openai":
        return ChatOpenAI(model=model, base_url=url, api_key=key, output_version="responses/v1")
    if vendor == "anthropic":
        return ChatAnthropic(model_name=model, base_url=url, api_key=key)
    module = pytest.importorskip("langchain_google_genai")
    return module.ChatGoogleGenerativeAI(model=model, google_api_key=key, base_url=url)


@pytest.mark.parametrize("vendor", ROUTES)
@pytest.mark.parametrize("is_streaming", [False, True])
def test_a_message_of_langchain_can_be_read(
    vendor: str, is_streaming: bool, webtools_sandbox: SandboxServer
) -> None:
    choice = native_search(ROUTES[vendor])
    assert isinstance(choice, NativeTool)
    request = {**choice.request, "tools": [choice.tool]}
    model = model_for(vendor, webtools_sandbox).bind_tools(request.pop("tools"), **request)
    if is_streaming:
        first, *rest = [*model.stream(QUESTION)]
        message = sum(rest, first)
    else:
        message = model.invoke(QUESTION)
    found = read_response(vendor, raw_response(vendor, message))
    assert found.queries == (QUESTION,)
    assert found.sources
    assert found.citations
    assert (found.searches, found.errors) == (1, ())
    assert found.cost_usd


def raw_response(vendor: str, message: Any) -> dict[str, Any]:
    """Return a message of LangChain in the form of the vendor."""
    metadata = message.response_metadata
    if vendor != "google":
        model = metadata.get("model_name", "")
        return {"content": message.content, "usage": metadata.get("usage"), "model": model}
    content = {"parts": [{"text": message.text}]}
    candidate = {"content": content, "groundingMetadata": metadata["grounding_metadata"]}
    return {"candidates": [candidate]}
