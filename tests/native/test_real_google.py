"""Google's SDK talks to the simulated vendor, and what it returns can be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from webtools.native import NativeTool, Route, native_search, read_response, read_stream
from webtools_sandbox import SandboxServer

genai = pytest.importorskip("google.genai")

QUESTION = "How do I decode JSON with a custom decoder?"
GOOGLE = Route("https://generativelanguage.googleapis.com", "generateContent", "gemini-3.5-flash")
FUNCTION = {"function_declarations": [{"name": "web_fetch", "description": "Read a page."}]}


@pytest.fixture
def client(webtools_sandbox: SandboxServer) -> Iterator[Any]:
    options = {"base_url": webtools_sandbox.model_url("google"), "timeout": 20_000}
    client = genai.Client(api_key="test-key-google", http_options=options)
    yield client
    client.close()


def config_for(filters: dict[str, Any] | None = None, *, functions: bool = False) -> Any:
    route = Route(GOOGLE.base_url, GOOGLE.api, GOOGLE.model, has_functions=functions)
    choice = native_search(route, filters)
    assert isinstance(choice, NativeTool)
    tools = [choice.tool, FUNCTION] if functions else [choice.tool]
    return {"tools": tools, **choice.request}


def test_gemini_is_read_from_its_sdk_whole_and_streaming(client: Any) -> None:
    request = {"model": GOOGLE.model, "contents": QUESTION, "config": config_for()}
    response = client.models.generate_content(**request)
    found = read_response("google", response)
    assert found == read_response("google", response.model_dump())
    assert found.text == response.text
    assert found.queries == (QUESTION,)
    [citation] = found.citations
    assert found.text[citation.start : citation.end] == found.text
    assert (found.searches, found.cost_usd, found.is_cost_estimated) == (1, 0.014, True)
    assert found.display_html
    chunks = [*client.models.generate_content_stream(**request)]
    assert read_stream("google", chunks) == found
    assert found.within(exclude_domains=["a.example"]).sources == ()


def test_gemini_gets_a_range_of_dates_and_searches_beside_functions(client: Any) -> None:
    bounds = {"start_published_date": "1990-01-01", "end_published_date": "1990-01-02"}
    request = {"model": GOOGLE.model, "contents": QUESTION}
    response = client.models.generate_content(**request, config=config_for(bounds))
    assert read_response("google", response).sources == ()
    response = client.models.generate_content(**request, config=config_for(functions=True))
    assert read_response("google", response).sources
    config = {"tools": [{"google_search": {}}, FUNCTION]}
    with pytest.raises(genai.errors.ClientError, match="cannot be combined"):
        client.models.generate_content(**request, config=config)


def test_errors_of_gemini_are_errors(client: Any, webtools_sandbox: SandboxServer) -> None:
    webtools_sandbox.fault(provider="google", search="error")
    request = {"model": GOOGLE.model, "contents": QUESTION, "config": config_for()}
    found = read_response("google", client.models.generate_content(**request))
    assert (found.searches, found.cost_usd, found.sources) == (0, 0, ())
    webtools_sandbox.fault(provider="google", status=429)
    with pytest.raises(genai.errors.ClientError, match="429"):
        client.models.generate_content(**request)
