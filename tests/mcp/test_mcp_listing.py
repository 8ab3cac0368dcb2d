"""What tools/list says, and what it costs."""

from __future__ import annotations

import json
from pathlib import Path

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from webtools import WebTools, __version__
from webtools.mcp import make_server


async def listed(web: WebTools) -> types.ListToolsResult:
    async with Client(make_server(web)) as client:
        return await client.list_tools()


@pytest.fixture
async def tools(web: WebTools) -> list[types.Tool]:
    return (await listed(web)).tools


def test_a_client_learns_that_calls_only_read_and_may_be_repeated(tools: list[types.Tool]) -> None:
    for tool in tools:
        hints = tool.annotations
        assert hints is not None
        assert hints.title
        assert (hints.read_only_hint, hints.idempotent_hint) == (True, True)
        assert hints.open_world_hint is (tool.name != "web_read")  # it reads what is stored


async def test_only_tools_that_the_settings_can_serve_are_listed() -> None:
    provider = {"name": "e", "type": "exa", "apiKey": "test-key-exa"}
    web = WebTools(config={"providers": [provider]})
    names = [tool.name for tool in (await listed(web)).tools]
    assert names == [tool.name for tool in web.tools()]
    assert "summarize" not in names


async def test_a_map_is_listed_and_served_only_if_named(web: WebTools) -> None:
    arguments = {"url": "https://docs.python.org/3/", "limit": 1000}
    async with Client(make_server(web)) as client:
        listed_tools = await client.list_tools()
        assert "web_map" not in [tool.name for tool in listed_tools.tools]
        with pytest.raises(MCPError, match="web_map"):
            await client.call_tool("web_map", arguments)
    async with Client(make_server(web, extra_tools=["web_map"])) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [*(tool.name for tool in listed_tools.tools), "web_map"]
        result = await client.call_tool("web_map", arguments)
        assert result.is_error
        assert result.structured_content
        assert result.structured_content["error"]["type"] == "InputError"


def test_the_registry_has_this_version_and_the_name_in_the_readme() -> None:
    root = Path(__file__).parents[2]
    entry = json.loads((root / "server.json").read_text())
    package = entry["packages"][0]
    assert (entry["version"], package["version"]) == (__version__, __version__)
    assert package["runtimeArguments"][0]["value"].endswith(f"=={__version__}")
    assert len(entry["description"]) <= 100
    assert f"<!-- mcp-name: {entry['name']} -->" in (root / "README.md").read_text()
