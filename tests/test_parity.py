"""Each surface of a tool has the arguments of its input model.

A new argument is added to the input model, to `WebTools` and its async twin, and to the signatures
that the adapters write out. The other surfaces are derived. These tests fail for whatever lacks it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

import llamaindex_webtools._factories as llamaindex_factories
from langchain_webtools import WebToolkit
from llamaindex_webtools import WebToolsSpec
from webtools import WebTools, results, synthesis
from webtools.cli.tool_commands import CALLS, PLAN, RESEARCH, tool_options
from webtools.mcp.listing import describe
from webtools.notebook.table import MAGICS
from webtools.tools import ALL_TOOLS, Tool

LLAMAINDEX_FIXED: dict[str, Any] = {
    "web_search": llamaindex_factories.FixedSearch,
    "web_fetch": llamaindex_factories.FixedFetch,
    "summarize": llamaindex_factories.FixedSummary,
    "web_research": llamaindex_factories.FixedResearch,
    "web_map": llamaindex_factories.FixedMap,
}
COMMANDS = {**CALLS, **RESEARCH, "plan": PLAN}
HINTS = {**vars(results), **vars(synthesis)}  # imported by `client` for type checkers only
OPTIONS = {"cache", "timeout", "progress"}  # of a call, not arguments of a tool

# Where a surface may differ from the model, and why.
EXTRA = {
    ("WebTools", "web_search", "snippets"): "retrievers request what a model cannot choose",
    ("WebTools", "web_fetch", "robots"): "bulk work obeys robots.txt; a model does not decide it",
    ("WebTools", "web_map", "robots"): "as for a fetch",
}
MISSING = {
    ("fixed in LangChain", "web_read", "offset"): "a part of an output is never fixed",
    ("fixed in LangChain", "web_read", "find"): "a part of an output is never fixed",
    ("fixed in LlamaIndex", "web_read", "offset"): "a part of an output is never fixed",
    ("fixed in LlamaIndex", "web_read", "find"): "a part of an output is never fixed",
    **{
        (f"CLI {name}", "web_research", "command"): "the name of the command sets it"
        for name in RESEARCH
    },
    **{
        (f"magic {name}", "web_research", "command"): "the name of the magic sets it"
        for name, magic in MAGICS.items()
        if "command" in magic.fixed
    },
}


@dataclass(frozen=True)
class Argument:
    """An argument as a surface has it; None for what the surface does not say."""

    annotation: Any = None
    default: Any = None


def of_function(function: Callable[..., Any]) -> dict[str, Argument]:
    """Read the signature that is written, not one that a decorator sets."""
    code, hints = function.__code__, get_type_hints(function, localns=HINTS)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults = dict(function.__kwdefaults__ or {})
    positional = names[: code.co_argcount]
    values = function.__defaults__ or ()
    defaults |= dict(zip(positional[len(positional) - len(values) :], values, strict=True))
    return {name: Argument(hints[name], defaults.get(name)) for name in names if name != "self"}


def of_method(tool: Tool, *, is_async: bool) -> dict[str, Argument]:
    function = getattr(WebTools, f"a{tool.method}" if is_async else tool.method)
    found = of_function(function)
    return {key: value for key, value in found.items() if key not in OPTIONS}


def of_model(model: Any, first: str) -> dict[str, Argument]:
    hints = get_type_hints(model, include_extras=True)
    return {name: Argument(hints.get(name)) for name in [first, *hints]}


def of_signature(parameters: Mapping[str, inspect.Parameter]) -> dict[str, Argument]:
    return {
        name: Argument(item.annotation, None if item.default is item.empty else item.default)
        for name, item in parameters.items()
        if name != "run_manager"
    }


def of_schema(schema: Any) -> dict[str, Argument]:
    return dict.fromkeys(schema["properties"], Argument())


def surfaces(tool: Tool) -> dict[str, dict[str, Argument]]:
    """Return the arguments of a tool by the surfaces that have them."""
    name, first = tool.name, tool.first_field
    spec = WebToolsSpec(WebTools(keyless=True))
    [langchain] = WebToolkit(WebTools(keyless=True)).get_tools([name])
    own = {
        field: Argument(info.annotation)
        for field, info in type(langchain).model_fields.items()
        if field in tool.input_model.model_fields
    }
    fixed = LLAMAINDEX_FIXED.get(name)
    result = {
        "WebTools": of_method(tool, is_async=False),
        "WebTools, async": of_method(tool, is_async=True),
        "LangChain _run": of_signature(inspect.signature(langchain._run).parameters),
        "LangChain _arun": of_signature(inspect.signature(langchain._arun).parameters),
        "LangChain args": dict.fromkeys(langchain.args, Argument()),
        "fixed in LangChain": {first: Argument(), **own},
        "LlamaIndex method": of_function(getattr(WebToolsSpec, name)),
        "LlamaIndex async method": of_function(getattr(WebToolsSpec, f"a{name}")),
        "LlamaIndex signature": of_signature(inspect.signature(getattr(spec, name)).parameters),
        "fixed in LlamaIndex": of_model(fixed, first) if fixed else {first: Argument()},
        "MCP": of_schema(describe(tool).input_schema),
    }
    with suppress(ImportError):  # an environment without the group `models`
        openai_agents, pydantic_ai = map(
            import_module, ("openai_agents_webtools", "pydantic_ai_webtools")
        )
        schema = openai_agents.web_tool(tool, WebTools(keyless=True)).params_json_schema
        result["openai-agents"] = of_schema(schema)
        definition = pydantic_ai.web_tool(tool, WebTools(keyless=True)).tool_def
        result["pydantic-ai"] = of_schema(definition.parameters_json_schema)
    for command, described in COMMANDS.items():
        if described.tool == name:
            subject, _, options = tool_options(command, described)
            names = [subject, *(option.target for option in options)]
            result[f"CLI {command}"] = dict.fromkeys(names, Argument())
    for magic, entry in MAGICS.items():
        if entry.method == tool.method and not entry.new_name:
            targets = [first, *(option.target for option in entry.tool_options)]
            result[f"magic {magic}"] = dict.fromkeys(targets, Argument())
    return result


CASES = [
    pytest.param(tool, surface, arguments, id=f"{name}-{surface}")
    for name, tool in ALL_TOOLS.items()
    for surface, arguments in surfaces(tool).items()
]
WRITTEN_BY_HAND = ("WebTools", "LlamaIndex", "LangChain", "fixed")


@pytest.mark.parametrize(("tool", "surface", "arguments"), CASES)
def test_a_surface_has_the_arguments_of_the_model(
    tool: Tool, surface: str, arguments: dict[str, Argument]
) -> None:
    excused = {key for place, name, key in MISSING if (place, name) == (surface, tool.name)}
    names = {*tool.input_model.model_fields} - excused
    assert names <= {*arguments}
    assert not excused & {*arguments}  # else the exception is out of date
    if surface.startswith(WRITTEN_BY_HAND):
        place = surface.removesuffix(", async")
        extra = {key for at, name, key in EXTRA if (at, name) == (place, tool.name)}
        assert {*arguments} - names == extra


@pytest.mark.parametrize(("tool", "surface", "arguments"), CASES)
def test_a_surface_agrees_with_the_types_and_defaults_of_the_model(
    tool: Tool, surface: str, arguments: dict[str, Argument]
) -> None:
    for name, info in tool.input_model.model_fields.items():
        argument = arguments.get(name, Argument())
        if argument.annotation is not None:
            assert kinds(info.annotation) <= kinds(argument.annotation), name
            ours, theirs = choices(info.annotation), choices(argument.annotation)
            assert not ours or not theirs or ours == theirs, name
        if info.default and argument.default:
            assert argument.default == info.default, name


def kinds(annotation: Any) -> set[type]:
    """Return the types of single values, without those that only a developer passes."""
    if get_origin(annotation) is Literal:
        return {type(word) for word in get_args(annotation)}
    if get_origin(annotation) is Annotated:
        return kinds(get_args(annotation)[0])
    if get_args(annotation) and get_origin(annotation) in {Union, UnionType}:
        return set[type]().union(*map(kinds, get_args(annotation)))
    if get_args(annotation):  # a list or a sequence
        return kinds(get_args(annotation)[0])
    return {kind for kind in (bool, int, str) if annotation is kind}


def choices(annotation: Any) -> set[Any]:
    """Return the words of a fixed choice."""
    if get_origin(annotation) is Literal:
        return {*get_args(annotation)}
    return set[Any]().union(*map(choices, get_args(annotation)))
