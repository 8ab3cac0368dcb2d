"""Arguments that a developer fixes at construction, and the choice of tools."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field, ValidationError

from langchain_webtools import (
    SummarizeTool,
    WebFetchTool,
    WebResearchTool,
    WebSearchTool,
    WebToolkit,
)
from langchain_webtools._base import WebTool
from webtools import Config, InputError, WebTools
from webtools.tools import TOOLS
from webtools_sandbox import SandboxServer

PINNED: list[tuple[type[WebTool], dict[str, Any]]] = [
    (WebSearchTool, {"include_domains": ["docs.python.org"], "limit": 2}),
    (WebFetchTool, {"text_max_characters": 300, "provider": "direct"}),
    (SummarizeTool, {"summary_type": "takeaway"}),
    (WebResearchTool, {"command": "web-news", "limit": 3}),
]


@pytest.mark.parametrize(("tool_class", "fixed"), PINNED)
def test_a_model_is_not_shown_what_is_fixed(
    tool_class: type[WebTool], fixed: dict[str, Any]
) -> None:
    tool: Any = tool_class(**fixed)
    shown = convert_to_openai_tool(tool, strict=True)["function"]["parameters"]["properties"]
    assert list(shown) == [name for name in tool_class().args if name not in fixed]
    assert list(tool.args) == list(shown)
    assert issubclass(tool.args_schema, TOOLS[tool.name].input_model)


async def test_a_fixed_argument_goes_with_every_call(web: WebTools) -> None:
    tool = WebSearchTool(web=web, limit=2, exclude_domains=["example.com"])
    arguments = {"queries": ["read json"], "limit": 2, "exclude_domains": ["example.com"]}
    expected = web.call_tool("web_search", arguments).text
    assert tool.invoke({"queries": ["read json"]}) == expected
    assert await tool.ainvoke("read json") == expected
    assert tool.invoke({"queries": ["read json"], "limit": 0}) == expected  # 0 is left out


@pytest.mark.parametrize("cache", ["use", "refresh", "bypass"])
def test_a_tool_treats_the_cache_as_it_was_made_to(
    webtools_sandbox: SandboxServer, cache: Any
) -> None:
    tool = WebSearchTool(web=WebTools({**webtools_sandbox.config(), "cache": {}}), cache=cache)
    for _ in range(2):
        tool.invoke("read json")
    requests = webtools_sandbox.stats()["requests"]["/exa/search"]
    assert requests == (1 if cache == "use" else 2)
    with pytest.raises(ValidationError, match="cache"):
        WebSearchTool(cache="never")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_model_that_sends_another_value_gets_the_fixed_one_in_the_error(web: WebTools) -> None:
    call = {"name": "web_search", "args": {"queries": ["a"], "limit": 9}, "id": "1"}
    message = WebSearchTool(web=web, limit=2).invoke({**call, "type": "tool_call"})
    assert message.status == "error"
    assert 'limit is fixed to "2"' in message.content


def test_a_choice_that_costs_more_can_be_taken_from_a_model_with_false(web: WebTools) -> None:
    tool = WebSearchTool(web=web, content=False)
    assert "content" not in tool.args
    for again in (tool, copy.copy(tool), pickle.loads(pickle.dumps(WebSearchTool(content=False)))):
        call = {"name": "web_search", "args": {"queries": ["a"], "content": True}, "id": "1"}
        message = again.invoke({**call, "type": "tool_call"})
        assert 'content is fixed to "False"' in message.content
    assert "content" in WebSearchTool(content=None).args
    assert tool.invoke({"query": "read json", "content": False}) == tool.invoke("read json")


def test_a_fixed_value_that_makes_no_sense_is_refused_at_construction() -> None:
    with pytest.raises(InputError, match='limit "1000".*100'):
        WebSearchTool(limit=1000)


def test_a_tool_with_fixed_arguments_can_be_copied_and_pickled(config_file: Any) -> None:
    tool = WebSearchTool(web=WebTools(config=config_file()), limit=2)
    for again in (copy.copy(tool), copy.deepcopy(tool), pickle.loads(pickle.dumps(tool))):
        assert "limit" not in again.args
        assert again.invoke("read json") == tool.invoke("read json")
        again.web.close()


def test_an_argument_that_is_set_later_is_fixed_from_then_on(web: WebTools) -> None:
    tool = WebSearchTool(web=web)
    copied = tool.model_copy(update={"limit": 1})
    tool.limit = 2
    for item, count in ((tool, 2), (copied, 1)):
        assert "limit" not in item.args
        assert item.invoke("read json").count("\n\n") == count - 1
    with pytest.raises(InputError, match='limit "1000"'):
        tool.limit = 1000
    tool.limit = None
    assert tool.args.keys() == WebSearchTool().args.keys()
    assert tool.invoke("read json") == WebSearchTool(web=web).invoke("read json")
    assert pickle.loads(pickle.dumps(WebSearchTool(limit=1).model_copy())).args == copied.args


def test_a_schema_of_the_developers_own_stays(config_file: Any) -> None:
    class Narrow(BaseModel):
        queries: list[str] = Field(description="What to look for.")

    tool = WebSearchTool(web=WebTools(config=config_file()), limit=2, args_schema=Narrow)
    assert tool.args_schema is Narrow
    assert "\n2. " in tool.invoke("read json")
    assert "\n3. " not in tool.invoke("read json")
    tool.web.close()


# --- the choice of tools -----------------------------------------------------------------------


def _names(kit: WebToolkit, *wanted: str) -> list[str]:
    return [tool.name for tool in kit.get_tools(wanted or None)]


def _over(*types: str) -> WebTools:
    entries = [{"name": item, "type": item, "apiKey": "test-key-one"} for item in types]
    return WebTools(config=Config.model_validate({"providers": entries}))


@pytest.mark.parametrize(
    ("types", "lacking"),
    [
        (("kagi",), set[str]()),
        (("exa",), {"summarize"}),
        (("context7",), {"web_search", "summarize"}),
    ],
)
def test_a_toolkit_offers_what_the_settings_can_serve(
    types: tuple[str, ...], lacking: set[str]
) -> None:
    assert set(TOOLS) - set(_names(WebToolkit(_over(*types)))) == lacking


def test_a_toolkit_offers_all_tools_where_nothing_is_configured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _names(WebToolkit()) == list(TOOLS)
    assert _names(WebToolkit(WebTools(config=tmp_path / "none.json"))) == list(TOOLS)


def test_a_toolkit_makes_the_tools_that_are_named() -> None:
    kit = WebToolkit(_over("exa"), prefix="my_")
    assert _names(kit, "summarize", "web_search") == ["my_summarize", "my_web_search"]
    assert [tool.name for tool in kit.get_tools("summarize")] == ["my_summarize"]
    with pytest.raises(ValueError, match='"web_serch".*"web_search"'):
        kit.get_tools(["web_serch"])
