"""What the tools are as LangChain objects."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field, ValidationError

from langchain_webtools import (
    SummarizeTool,
    WebFetchTool,
    WebPassageCompressor,
    WebReadTool,
    WebResearchTool,
    WebSearchRetriever,
    WebSearchTool,
    WebToolException,
    WebToolkit,
)
from langchain_webtools._base import WebTool
from webtools import Config, ToolResult, WebTools
from webtools.outputs import save_output
from webtools.tools import TOOLS
from webtools_sandbox import SandboxServer

CLASSES: list[type[WebTool]] = [
    WebSearchTool,
    WebFetchTool,
    SummarizeTool,
    WebResearchTool,
    WebReadTool,
]
CALL = {"name": "web_search", "args": {"queries": ["x"]}, "id": "call_1", "type": "tool_call"}
ERROR = {"type": "RateLimitError", "provider": "exa", "status": 429}
DETAILS = {"results": [], "error": {**ERROR, "retryable": True, "retry_after": 7.0}}


class Failing(WebTools):
    """Every call fails, without a request."""

    def call_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
        return ToolResult("Too many calls.", DETAILS, is_error=True)

    async def acall_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
        return self.call_tool(name, arguments)


class Recorder(BaseCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []

    def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
        self.seen.append((f"start {serialized['name']}", kwargs["inputs"]))

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        # Copied, for what a tracer has to show is what it gets here.
        self.seen.append(("end", copy.deepcopy(output)))

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self.seen.append(("error", error))


@pytest.fixture(params=CLASSES)
def tool_class(request: pytest.FixtureRequest) -> type[WebTool]:
    return request.param


# --- what a model sees -------------------------------------------------------------------------


def test_descriptions_are_those_of_the_core(tool_class: type[WebTool]) -> None:
    tool = tool_class()
    source = TOOLS[tool.name]
    assert tool.description == source.description
    optional = {"default": None, "nullable": True}
    properties = source.input_model.model_json_schema()["properties"]
    assert tool.args == {
        name: part | ({} if name == source.first_field else optional)
        for name, part in properties.items()
    }
    assert next(iter(tool.args)) == source.first_field


@pytest.mark.parametrize("strict", [None, True])
def test_the_openai_form_is_flat_and_described(tool_class: type[WebTool], strict: Any) -> None:
    tool = tool_class()
    function = convert_to_openai_tool(tool, strict=strict)["function"]
    properties = function["parameters"]["properties"]
    assert (function["name"], function["description"]) == (tool.name, tool.description)
    assert list(properties) == list(tool.args)
    assert all("type" in value and "description" in value for value in properties.values())
    assert not {"anyOf", "$ref", "$defs"} & set(re.findall(r"[$\w]+", json.dumps(function)))


def test_what_a_strict_model_sends_for_arguments_left_out_is_accepted(web: WebTools) -> None:
    left_out = {"include_domains": [], "start_published_date": "", "category": "", "provider": ""}
    arguments = {"queries": ["read json"], "limit": 1, "exclude_domains": [], **left_out}
    text = WebSearchTool(web=web).invoke({**arguments, "end_published_date": ""})
    assert text == web.call_tool("web_search", {"queries": ["read json"], "limit": 1}).text


def test_a_user_may_show_the_model_fewer_arguments(web: WebTools) -> None:
    class Narrow(BaseModel):
        queries: list[str] = Field(description="What to look for.")

    tool = WebSearchTool(web=web, args_schema=Narrow)
    assert list(tool.args) == ["queries"]
    assert tool.get_input_schema() is Narrow
    assert tool.invoke("read json") == web.call_tool("web_search", {"queries": "read json"}).text


def test_no_tool_shares_its_schema_with_another() -> None:
    WebSearchTool().args.clear()
    assert WebSearchTool().args


# --- construction ------------------------------------------------------------------------------


def test_a_subclass_may_call_the_method_it_overrides(web: WebTools) -> None:
    class Loud(WebSearchTool):
        def _run(self, *given: Any, **named: Any) -> Any:
            text, details = super()._run(*given, **named)
            return text.upper(), details

    found = Loud(web=web).invoke({"queries": ["read json"]})
    assert found == WebSearchTool(web=web).invoke({"queries": ["read json"]}).upper()


def test_a_tool_needs_neither_settings_nor_a_key(
    tool_class: type[WebTool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert isinstance(tool_class().web, WebTools)
    assert isinstance(tool_class(web=None).web, WebTools)


@pytest.mark.parametrize(
    ("make", "argument", "named"),
    [
        (WebSearchTool, "include_domain", '"include_domains"'),
        (WebSearchTool, "max_results", "web=WebTools(max_results=...)"),
        (WebSearchTool, "api_key", 'api_keys={"exa": "..."}'),
        (WebSearchRetriever, "exa_api_key", 'api_keys={"exa": "..."}'),
        (WebToolkit, "max_result", '"max_results"'),
        (WebFetchTool, "handle_tool_errors", '"handle_tool_error"'),
        (WebToolkit, "prefixes", '"prefix"'),
        (WebSearchRetriever, "category_", '"category"'),
        (WebPassageCompressor, "rerank", '"reranker"'),
    ],
)
def test_a_misspelt_argument_is_refused_with_the_nearest(
    make: Callable[..., Any], argument: str, named: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        make(**{argument: "secret-key"})
    message = str(caught.value)
    assert all(part in message for part in (make.__name__, f'"{argument}"', named))
    assert "secret-key" not in message


def test_a_toolkit_takes_its_web_by_position(web: WebTools) -> None:
    assert WebToolkit(web).web is web
    assert WebToolkit(web, prefix="a_").get_tools()[0].name == "a_web_search"
    with pytest.raises(ValidationError, match=r"WebTools.* not str"):
        WebToolkit("sandbox.json")  # type: ignore[arg-type]


def test_what_is_no_web_is_refused_without_showing_it(tool_class: type[WebTool]) -> None:
    with pytest.raises(ValidationError, match=r"WebTools.* not dict") as caught:
        tool_class(web={"apiKey": "secret-key"})
    assert "secret-key" not in str(caught.value)


def test_web_is_not_serialized(tool_class: type[WebTool], web: WebTools) -> None:
    assert "web" not in tool_class(web=web).model_dump()


def test_a_deep_copy_shares_the_connections(tool_class: type[WebTool], web: WebTools) -> None:
    assert copy.deepcopy(tool_class(web=web)).web is web


def test_a_tool_over_a_config_file_can_be_pickled(
    tool_class: type[WebTool], web: WebTools, page: str
) -> None:
    tool = tool_class(web=web, name="renamed")
    again = pickle.loads(pickle.dumps(tool))
    assert (again.name, again.invoke(page)) == ("renamed", tool.invoke(page))
    again.web.close()


def test_no_pickle_holds_a_key(webtools_sandbox: SandboxServer) -> None:
    tool = WebSearchTool(web=WebTools(config=Config(**webtools_sandbox.config())))
    with pytest.raises(TypeError, match="API keys"):
        pickle.dumps(tool)


NAMES = ["web_search", "web_fetch", "summarize", "web_research", "web_read"]


def test_the_tools_of_a_toolkit_share_its_web(web: WebTools) -> None:
    tools = WebToolkit(web=web).get_tools()
    assert [tool.name for tool in tools] == NAMES
    assert {id(tool.web) for tool in tools if isinstance(tool, WebTool)} == {id(web)}


def test_two_toolkits_can_have_distinct_names(web: WebTools) -> None:
    first, second = WebToolkit(web=web, prefix="a_"), WebToolkit(web=web, suffix="_b")
    names = [tool.name for kit in (first, second) for tool in kit.get_tools()]
    assert names[: len(NAMES)] == [f"a_{name}" for name in NAMES]
    assert names[len(NAMES) :] == [f"{name}_b" for name in NAMES]


def test_a_compact_artifact_leaves_out_the_texts_of_pages(web: WebTools, page: str) -> None:
    call = {"name": "web_fetch", "args": {"urls": [page]}, "id": "1", "type": "tool_call"}
    full, compact = (
        WebToolkit(web, compact_artifact=short).get_tools(["web_fetch"])[0].invoke(call)
        for short in (False, True)
    )
    assert compact.content == full.content
    text = full.artifact["results"][0].pop("text")
    left = {
        item: None for item in ("highlights", "passages") if item in full.artifact["results"][0]
    }
    assert len(text) > len(str(compact.artifact))
    assert {**compact.artifact["results"][0], **left} == {**full.artifact["results"][0], **left}
    assert compact.artifact.keys() == full.artifact.keys()


# --- failures ----------------------------------------------------------------------------------


def test_the_exception_carries_what_a_retry_is_decided_by() -> None:
    error = WebToolException("Too many calls.", DETAILS)
    for item in (error, pickle.loads(pickle.dumps(error))):
        assert isinstance(item, ToolException)
        assert (str(item), item.details) == ("Too many calls.", DETAILS)
        assert (item.provider, item.status_code) == ("exa", 429)
        assert (item.retryable, item.retry_after) == (True, 7.0)


@pytest.mark.parametrize("handler", [False, None])
async def test_an_unhandled_failure_is_raised(handler: Any) -> None:
    tool = WebSearchTool(web=Failing(), handle_tool_error=handler)
    with pytest.raises(WebToolException, match="Too many calls"):
        tool.invoke(CALL)
    with pytest.raises(WebToolException, match="Too many calls"):
        await tool.ainvoke(CALL)


@pytest.mark.parametrize(
    ("handler", "content"),
    [
        (True, "Too many calls."),
        ("No luck.", "No luck."),
        (lambda error: f"{error.provider}: {error}", "exa: Too many calls."),
        (lambda _: [{"type": "text", "text": "No luck."}], [{"type": "text", "text": "No luck."}]),
    ],
)
async def test_a_handler_words_the_failure_and_the_artifact_stays(
    handler: Any, content: Any
) -> None:
    tool = WebSearchTool(web=Failing(), handle_tool_error=handler)
    for message in (tool.invoke(CALL), await tool.ainvoke(CALL)):
        assert (message.content, message.status) == (content, "error")
        assert (message.artifact, message.tool_call_id) == (DETAILS, "call_1")
    assert tool.invoke({"queries": ["x"]}) == content


def test_a_handler_may_raise_the_failure_after_all() -> None:
    def retry_elsewhere(error: ToolException) -> str:
        raise error

    with pytest.raises(WebToolException):
        WebSearchTool(web=Failing(), handle_tool_error=retry_elsewhere).invoke(CALL)


def test_a_handler_may_give_the_whole_message() -> None:
    own = ToolMessage("mine", tool_call_id="call_1")
    tool = WebSearchTool(web=Failing(), handle_tool_error=lambda _: own)
    assert tool.invoke(CALL) is own


def test_text_alone_can_be_asked_for(web: WebTools) -> None:
    tool = WebSearchTool(web=web, response_format="content")
    for arguments in ({"queries": ["read json"]}, {"queries": [" "]}):
        expected = web.call_tool("web_search", arguments)
        message = tool.invoke({**CALL, "args": arguments})
        assert (message.content, message.status == "error") == (expected.text, expected.is_error)
        assert tool.invoke(arguments) == expected.text


# --- calls -------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("handled", [True, False])
async def test_callbacks_see_start_and_end_of_a_failure(way: str, handled: bool) -> None:
    recorder = Recorder()
    tool = WebSearchTool(web=Failing(), handle_tool_error=handled, callbacks=[recorder])
    try:
        result = getattr(tool, way)(CALL)
        assert not inspect.isawaitable(result) or await result
    except WebToolException:
        assert not handled
    start, end = recorder.seen
    assert start == ("start web_search", {"queries": ["x"]})
    assert end[0] == ("end" if handled else "error")
    assert (end[1].artifact if handled else end[1].details) == DETAILS


async def test_an_awaited_call_takes_no_thread(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "call_tool", pytest.fail)
    monkeypatch.setattr("langchain_core.tools.base.run_in_executor", pytest.fail)
    assert await WebSearchTool(web=web).ainvoke("read json")


@pytest.mark.parametrize("name", ["run_manager", "self", "config"])
def test_an_argument_of_any_name_reaches_the_core(name: str, web: WebTools) -> None:
    arguments = {"queries": ["x"], name: 1}
    expected = web.call_tool("web_search", arguments)
    assert expected.details["error"]["type"] == "InputError"
    assert WebSearchTool(web=web).invoke(arguments) == expected.text


@pytest.mark.parametrize("given", [["read json"], None, 3, {1: 2}])
def test_an_input_that_is_no_object_is_an_error_of_the_core(given: Any, web: WebTools) -> None:
    expected = web.call_tool("web_search", given)
    assert expected.details["error"]["type"] == "InputError"
    assert WebSearchTool(web=web).invoke(given) == expected.text


@pytest.mark.parametrize(
    ("tool", "field"), [("web_search", "queries"), ("web_fetch", "urls"), ("summarize", "url")]
)
async def test_a_bare_string_fills_the_first_field(
    tool: str, field: str, web: WebTools, page: str
) -> None:
    expected = web.call_tool(tool, {field: page})
    assert not expected.is_error
    [made] = WebToolkit(web=web).get_tools([tool])
    assert made.invoke(page) == await made.ainvoke(page) == expected.text


# --- documentation -----------------------------------------------------------------------------


def _examples(documented: type[BaseTool | WebToolkit]) -> list[str]:
    text = inspect.cleandoc(documented.__doc__ or "")
    blocks = re.findall(r"^( *)```python\n(.*?)\n *```$", text, re.MULTILINE | re.DOTALL)
    return [inspect.cleandoc(f"{indent}{code}") for indent, code in blocks]


@pytest.mark.usefixtures("own_temp")
async def test_the_examples_of_a_docstring_work(
    tool_class: type[WebTool], config_file: Callable[..., Path], page: str
) -> None:
    names: dict[str, Any] = {}
    saved = Path(save_output("a guard clause\n" * 10_000) or "").stem
    for example in _examples(tool_class):
        code = example.replace("https://peps.python.org/pep-0634/", page)
        code = code.replace("web-search.json", str(config_file()))
        code = code.replace("0123456789abcdef0123456789abcdef", saved)
        compiled = compile(code, "docstring", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        pending = eval(compiled, names)
        assert not inspect.isawaitable(pending) or await pending is None
    assert names["message"].status == "success"
    await names["tool"].web.aclose()


# --- args_schema is a class --------------------------------------------------------------------


def test_the_schema_is_a_pydantic_model_whose_json_schema_the_model_is_shown(
    tool_class: type[WebTool],
) -> None:
    tool = tool_class()
    assert isinstance(tool.args_schema, type)
    assert issubclass(tool.args_schema, BaseModel)
    shown = convert_to_openai_tool(tool)["function"]["parameters"]
    assert shown == TOOLS[tool.name].input_model.model_json_schema()
    assert [*shown["properties"]] == [*tool.args_schema.model_json_schema()["properties"]]


def test_callbacks_see_the_arguments_as_the_model_sent_them(web: WebTools) -> None:
    recorder, sent = Recorder(), {"query": "read json", "limit": 1}
    WebSearchTool(web=web).invoke(sent, {"callbacks": [recorder]})
    assert recorder.seen[0] == ("start web_search", sent)
