from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.tools import FunctionTool, ToolMetadata

from llamaindex_webtools import (
    FetchPagePostprocessor,
    SearchFetchSynthesizeWorkflow,
    WebPageReader,
    WebRetriever,
    WebToolsSpec,
    summarize_tool,
    web_fetch_tool,
    web_read_tool,
    web_research_tool,
    web_search_tool,
)
from webtools import Config, InputError, WebTools
from webtools.tools import FETCH, READ, RESEARCH, SEARCH, SUMMARIZE, Tool

if TYPE_CHECKING:
    from collections.abc import Callable

FACTORIES = [
    pytest.param(web_search_tool, SEARCH, id="web_search"),
    pytest.param(web_fetch_tool, FETCH, id="web_fetch"),
    pytest.param(summarize_tool, SUMMARIZE, id="summarize"),
    pytest.param(web_research_tool, RESEARCH, id="web_research"),
    pytest.param(web_read_tool, READ, id="web_read"),
]
NAMES = ["web_search", "web_fetch", "summarize", "web_research", "web_read"]


def names(tools: list[FunctionTool]) -> list[str]:
    return [tool.metadata.get_name() for tool in tools]


def test_a_spec_is_built_although_the_settings_are_malformed(tmp_path: Path) -> None:
    path = tmp_path / "web-search.json"
    path.write_text("{", encoding="utf-8")
    assert isinstance(WebToolsSpec(config=path).web, WebTools)


@pytest.mark.parametrize(
    "make",
    [
        *(factory.values[0] for factory in FACTORIES),
        WebToolsSpec,
        WebRetriever,
        WebPageReader,
        FetchPagePostprocessor,
        SearchFetchSynthesizeWorkflow,
    ],
)
@pytest.mark.parametrize("given", ["sandbox.json", {"apiKey": "test-key-canary-1"}])
def test_what_is_no_web_tools_is_refused_at_once(make: Any, given: Any) -> None:
    kind = type(given).__name__
    with pytest.raises(InputError, match=rf"^web .*WebTools.* not {kind}"):
        make(given)


@pytest.mark.parametrize(("factory", "tool"), FACTORIES)
def test_descriptions_are_those_of_the_core(
    factory: Callable[..., FunctionTool], tool: Tool
) -> None:
    metadata = factory().metadata
    assert metadata.name == tool.name
    assert metadata.description == tool.paragraph
    assert metadata.fn_schema is tool.input_model


@pytest.mark.parametrize(("factory", "tool"), FACTORIES)
def test_the_description_is_one_paragraph_that_every_integration_takes(
    factory: Callable[..., FunctionTool], tool: Tool
) -> None:
    description = factory().metadata.description
    assert "\n" not in description
    assert 0 < len(description) <= 1024
    assert factory().metadata.to_openai_tool()["function"]["description"] == description


@pytest.mark.parametrize(("factory", "tool"), FACTORIES)
def test_the_schema_is_flat_and_described(factory: Callable[..., FunctionTool], tool: Tool) -> None:
    parameters = factory().metadata.get_parameters_dict()
    assert set(parameters) == {"type", "properties", "required"}
    for field in parameters["properties"].values():
        assert field["description"]
        assert isinstance(field["type"], str)
        assert not {"anyOf", "$ref", "uniqueItems"} & set(field)


@pytest.mark.parametrize(("factory", "tool"), FACTORIES)
def test_nothing_is_bound_that_a_model_could_override(
    factory: Callable[..., FunctionTool], tool: Tool
) -> None:
    made = factory()
    assert made.partial_params == {}
    assert not made.requires_context
    assert not {"api_key", "base_url"} & set(made.metadata.get_parameters_dict()["properties"])


@pytest.mark.parametrize(("factory", "tool"), FACTORIES)
def test_a_tool_may_have_another_name(factory: Callable[..., FunctionTool], tool: Tool) -> None:
    assert factory(name="docs-lookup").metadata.name == "docs-lookup"


def test_prefixes_tell_two_instances_apart() -> None:
    tools = [
        *WebToolsSpec(name_prefix="kagi_").to_tool_list(),
        *WebToolsSpec(name_prefix="exa_").to_tool_list(),
    ]
    assert len(set(names(tools))) == 2 * len(NAMES)
    assert names(tools)[0] == "kagi_web_search"


def test_one_method_may_be_named_and_a_wrong_name_is_refused_with_the_nearest() -> None:
    spec = WebToolsSpec()
    assert names(spec.to_tool_list("web_fetch")) == ["web_fetch"]  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match='"web_serch".*"web_search"'):
        spec.to_tool_list(["web_serch"])


@pytest.mark.parametrize("name", ["", "web search", "söka", "a.b", "x" * 65])
def test_a_name_that_model_apis_refuse_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f'"{name}"'):
        web_search_tool(name=name)


# --- spec_functions and func_to_metadata_mapping -----------------------------------------------


@pytest.mark.parametrize(
    "chosen", ["web_fetch", "aweb_fetch", ("web_fetch", "aweb_fetch")], ids=str
)
def test_one_method_stands_for_the_pair(chosen: Any) -> None:
    spec = WebToolsSpec()
    [tool] = spec.to_tool_list(spec_functions=[chosen])
    assert tool.metadata.name == "web_fetch"
    assert tool.fn == spec.web_fetch
    assert tool.async_fn == spec.aweb_fetch


def test_the_spec_offers_what_the_settings_can_serve() -> None:
    entry = {"name": "exa", "type": "exa", "apiKey": "test-key-one"}
    web = WebTools(config=Config.model_validate({"providers": [entry]}))
    names = [tool.metadata.name for tool in WebToolsSpec(web).to_tool_list()]
    assert names == ["web_search", "web_fetch", "web_research", "web_read"]
    asked = WebToolsSpec(web).to_tool_list(["summarize"])
    assert [tool.metadata.name for tool in asked] == ["summarize"]


@pytest.mark.parametrize("key", ["web_search", "aweb_search"])
def test_the_metadata_mapping_replaces_the_description(key: str) -> None:
    class Narrow(BaseModel):
        queries: list[str]

    given = ToolMetadata("Finds pages.", name="find", fn_schema=Narrow, return_direct=True)
    tool = WebToolsSpec().to_tool_list(func_to_metadata_mapping={key: given})[0]
    assert tool.metadata == given


@pytest.mark.parametrize("schema", [{}, {"fn_schema": None}], ids=["unset", "none"])
def test_a_mapped_description_keeps_name_and_schema_of_the_tool(schema: dict[str, None]) -> None:
    mapping = {"web_search": ToolMetadata("Finds pages.", **schema)}
    tool = WebToolsSpec(name_prefix="my_").to_tool_list(func_to_metadata_mapping=mapping)[0]
    assert tool.metadata.description == "Finds pages."
    assert tool.metadata.name == "my_web_search"
    assert tool.metadata.fn_schema is SEARCH.input_model


class OwnSpec(WebToolsSpec):
    spec_functions = [*WebToolsSpec.spec_functions, "shout"]  # noqa: RUF012  as users write it

    def shout(self, text: str) -> str:
        """Say it loudly."""
        return text.upper()

    def web_search(self, queries: Any = None, /, **arguments: Any) -> Any:
        return f"no search for {arguments['queries']}"


def test_a_subclass_adds_functions_of_its_own() -> None:
    tools = OwnSpec().to_tool_list()
    assert names(tools) == [*NAMES, "shout"]
    assert tools[-1].call(text="hi").content == "HI"


def test_a_function_put_in_the_place_of_ours_may_return_what_it_likes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(WebToolsSpec, "web_search", lambda *_, **__: "plain")
    [tool] = WebToolsSpec().to_tool_list(["web_search"])
    assert tool.call(queries=["x"]).content == "plain"


def test_a_subclass_overrides_a_tool() -> None:
    output = OwnSpec().to_tool_list()[0].call(queries=["x"])
    assert output.content == "no search for ['x']"
    assert output.raw_input == {"args": (), "kwargs": {"queries": ["x"]}}
