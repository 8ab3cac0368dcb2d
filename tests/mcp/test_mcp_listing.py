"""What tools/list says, and what it costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client import Client

from webtools import WebTools, __version__
from webtools.mcp import make_server
from webtools.mcp.listing import INSTRUCTIONS
from webtools.tools import TOOLS

KIB = 1024


async def listed(web: WebTools) -> types.ListToolsResult:
    async with Client(make_server(web)) as client:
        return await client.list_tools()


@pytest.fixture
async def tools(web: WebTools) -> list[types.Tool]:
    return (await listed(web)).tools


def wire_size(result: types.ListToolsResult) -> int:
    return len(result.model_dump_json(by_alias=True, exclude_none=True).encode())


async def test_all_tools_take_6_kb_without_their_output_schemas(web: WebTools) -> None:
    result = await listed(web)
    bare = [tool.model_copy(update={"output_schema": None}) for tool in result.tools]
    assert [tool.name for tool in result.tools] == list(TOOLS)
    assert wire_size(result.model_copy(update={"tools": bare})) <= 6 * KIB
    assert wire_size(result) <= 24 * KIB


def test_each_description_is_one_paragraph_of_the_tools_own_words(tools: list[types.Tool]) -> None:
    for tool in tools:
        words = TOOLS[tool.name].paragraph.replace(" - ", " ")
        assert tool.description is not None
        assert "\n" not in tool.description
        start, _, reasons = tool.description.partition(" When to use: ")
        assert words.startswith(start)
        assert all(reason.rstrip(".") in words for reason in reasons.split("; "))


def test_each_argument_is_described_and_the_schema_is_otherwise_the_tools_own(
    tools: list[types.Tool],
) -> None:
    def without_words(schema: dict[str, Any]) -> dict[str, Any]:
        fields = schema["properties"].items()
        bare = {name: {**field, "description": ""} for name, field in fields}
        return {**schema, "properties": bare}

    for tool in tools:
        own = TOOLS[tool.name].input_model.model_json_schema()
        assert without_words(tool.input_schema) == without_words(own)
        for name, field in tool.input_schema["properties"].items():
            assert field["description"]
            assert own["properties"][name]["description"].startswith(field["description"])


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


async def test_the_instructions_fit_what_clients_show(web: WebTools) -> None:
    async with Client(make_server(web)) as client:
        assert client.instructions == INSTRUCTIONS
    assert len(INSTRUCTIONS.encode()) < 2 * KIB


def test_the_registry_has_this_version_and_the_name_in_the_readme() -> None:
    root = Path(__file__).parents[2]
    entry = json.loads((root / "server.json").read_text())
    package = entry["packages"][0]
    assert (entry["version"], package["version"]) == (__version__, __version__)
    assert package["runtimeArguments"][0]["value"].endswith(f"=={__version__}")
    assert len(entry["description"]) <= 100
    assert f"<!-- mcp-name: {entry['name']} -->" in (root / "README.md").read_text()
