"""The tools in the hands of other frameworks, which wrap LangChain tools in several ways."""

from __future__ import annotations

import inspect
import re
from typing import Any, get_type_hints

import pytest
from langchain_core.tools import BaseTool, render_text_description

from langchain_webtools import WebSearchTool, WebToolException, WebToolkit
from webtools import WebTools
from webtools.tools import TOOLS

TIME = re.compile(r"\d\d:\d\d(?::\d\d)? UTC")


def subjects(page: str) -> dict[str, Any]:
    return {"queries": ["read json"], "urls": [page], "url": page, "query": "read json"}


def callable_tools(web: WebTools) -> list[BaseTool]:
    return WebToolkit(web).get_tools(["web_search", "web_fetch", "summarize", "web_research"])


def read_from_args(tool: BaseTool, arguments: dict[str, Any]) -> Any:
    """Call the tool with the defaults of its `args`; what has none is required."""
    required = [name for name, schema in tool.args.items() if "default" not in schema]
    assert required == [*arguments]
    defaults = {
        name: schema["default"] for name, schema in tool.args.items() if "default" in schema
    }
    return tool.run(defaults | arguments)


def read_from_model(tool: Any, arguments: dict[str, Any]) -> Any:
    """Validate with `args_schema`, and pass all fields to `func` by name."""
    schema = tool.get_input_jsonschema()
    assert schema["required"] == [*arguments]
    return tool.func(**tool.args_schema(**arguments).model_dump())


def read_from_signature(tool: Any, arguments: dict[str, Any]) -> Any:
    """Call `_run` with what its signature requires."""
    parameters = inspect.signature(tool._run).parameters
    required = [name for name, each in parameters.items() if each.default is each.empty]
    assert required == [*arguments]
    assert set(tool.args) | {"run_manager"} == set(parameters)
    return tool._run(*arguments.values())


def read_from_func(tool: Any, arguments: dict[str, Any]) -> Any:
    """Call `func` as its signature says."""
    parameters = inspect.signature(tool.func).parameters
    assert [*parameters] == [*tool.args]
    get_type_hints(tool.func)
    return tool.func(**arguments)


@pytest.mark.parametrize(
    "wrapper", [read_from_args, read_from_model, read_from_signature, read_from_func]
)
def test_a_wrapper_learns_which_arguments_are_optional(
    wrapper: Any, web: WebTools, page: str
) -> None:
    for tool in callable_tools(web):
        first = TOOLS[tool.name].first_field
        arguments = {first: subjects(page)[first]}
        text = web.call_tool(tool.name, arguments).text
        assert TIME.sub("", wrapper(tool, arguments)) == TIME.sub("", text)


async def test_an_awaited_wrapper_gets_the_text(web: WebTools, page: str) -> None:
    for tool in callable_tools(web):
        first = TOOLS[tool.name].first_field
        arguments = {first: subjects(page)[first]}
        assert inspect.iscoroutinefunction(tool._arun)
        text = web.call_tool(tool.name, arguments).text
        assert TIME.sub("", await tool._arun(**arguments)) == TIME.sub("", text)


def test_the_schema_marks_optional_arguments_but_the_model_is_not_sent_the_marks(
    web: WebTools,
) -> None:
    for tool in WebToolkit(web).get_tools():
        first = TOOLS[tool.name].first_field
        schema: Any = tool.args_schema
        for name, part in schema.model_json_schema()["properties"].items():
            assert ("default" in part) is (name != first)
            assert part.get("default") is None
        sent: Any = tool.tool_call_schema
        for part in sent.model_json_schema()["properties"].values():
            assert not {"default", "nullable"} & set(part)


def test_a_direct_call_that_fails_raises(web: WebTools) -> None:
    tool: Any = WebSearchTool(web=web)
    with pytest.raises(WebToolException):
        tool.func(queries=[" "])
    with pytest.raises(TypeError):
        tool.func(*range(20))


def test_fixed_arguments_are_hidden_from_wrappers_too(web: WebTools) -> None:
    tool: Any = WebSearchTool(web=web, limit=1, include_domains=["localhost"])
    assert not {"limit", "include_domains"} & set(tool.args)
    assert not {"limit", "include_domains"} & set(inspect.signature(tool.func).parameters)
    arguments = tool.args_schema(queries=["read json"]).model_dump()
    assert tool.func(**arguments) == tool.invoke("read json")
    assert "limit" not in render_text_description([tool])
