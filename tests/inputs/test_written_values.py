"""Lists and whole argument objects that models send as text are read, on every surface alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from langchain_webtools import (
    SummarizeTool,
    WebFetchTool,
    WebReadTool,
    WebResearchTool,
    WebSearchTool,
)
from llamaindex_webtools import WebToolsSpec
from webtools import WebTools
from webtools.errors import InputError
from webtools.tools import TOOLS, Tool, read_input
from webtools_sandbox import SandboxServer

PAGE, HANDLE = "https://rye.example/a", "ab" * 16
ARGUMENTS: dict[str, dict[str, Any]] = {
    "web_search": {"queries": ["rye bread", 'it\'s "sour"'], "limit": 3, "content": True},
    "web_fetch": {"urls": [PAGE, "https://rye.example/b"], "question": "how long?"},
    "summarize": {"url": PAGE, "engine": "agnes"},
    "web_research": {"query": "how long does rye rise?", "command": "web-deep", "limit": 2},
    "web_read": {"handle": HANDLE, "offset": 7},
}
every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
OBJECTS: dict[str, Callable[[Any], str]] = {
    "JSON": json.dumps,
    "JSON twice": lambda value: json.dumps(json.dumps(value)),
    "indented JSON": lambda value: f" {json.dumps(value, indent=2)}\n",
    "Python": repr,
    "fenced": lambda value: f"```json\n{json.dumps(value)}\n```",
    "mixed": lambda value: repr(value).replace("True", "true"),
    "final comma": lambda value: f"{repr(value)[:-1]},}}",
    "wrapped": lambda value: json.dumps({"input": value}),
    "wrapped text": lambda value: json.dumps({"input": json.dumps(value)}),
    "keyword arguments": lambda value: json.dumps({"kwargs": value}),
    "one argument": lambda value: repr({"__arg1": json.dumps(value)}),
    "action": lambda value: json.dumps({"action": "t", "action_input": value}),
    "call": lambda value: json.dumps({"name": "t", "parameters": value}),
    "call of a function": lambda value: json.dumps(
        {
            "type": "function",
            "id": "c1",
            "function": {"name": "t", "arguments": json.dumps(value)},
        }
    ),
    "step": lambda value: f"{json.dumps(value)}\nObservation: there are",
    "broken step": lambda value: f"{value!r}\nObserv",
    "step with its input": lambda value: f"Action Input: {json.dumps(value)}\nObservation: a",
    "whole step": lambda value: f"Thought: t\nAction: t\nAction Input: {value!r}",
    "without the last bracket": lambda value: json.dumps(value)[:-1],
    "without a list's bracket": lambda value: json.dumps(by_first_list_last(value))[:-2],
    "step without the last bracket": lambda value: f"Action Input:\n{repr(value)[:-1]},\n",
    "fence that is open": lambda value: f"```tool_code\n{json.dumps(value)}",
    "keywords": lambda value: keywords(value, repr),
    "keywords in JSON": lambda value: keywords(value, json.dumps, ",\n") + ",",
    "fenced keywords": lambda value: f"```python\n{keywords(value, repr)}\n```",
}
CALLS: dict[str, Callable[[str, str, str], str]] = {
    "call in Python": lambda name, _, rest: f"{name}({rest})",
    "on several lines": lambda name, _, rest: f"{name}(\n    {rest},\n)",
    "of an object": lambda name, _, rest: f"default_api.{name}({rest})",
    "cut": lambda name, _, rest: f"{name}({rest}",
    "fenced": lambda name, _, rest: f"```tool_code\n{name}({rest})\n```",
    "in a step": lambda name, _, rest: f"Action: t\nAction Input: {name}({rest})",
    "without the first keyword": lambda name, first, rest: (
        f"{name}({rest.removeprefix(f'{first}=')})"
    ),
}


def keywords(value: dict[str, Any], write: Callable[[Any], str], comma: str = ", ") -> str:
    return comma.join(f"{name}={write(item)}" for name, item in value.items())


def by_first_list_last(value: dict[str, Any]) -> dict[str, Any]:
    """Return arguments whose last one is a list or an object if there is any."""
    first, *rest = value
    last = value[first] if isinstance(value[first], list) else [value[first]]
    return {**{name: value[name] for name in rest}, first: last}


@every_tool
@pytest.mark.parametrize("write", OBJECTS.values(), ids=list(OBJECTS))
def test_a_whole_object_as_text_is_read(tool: Tool, write: Callable[[Any], str]) -> None:
    arguments = ARGUMENTS[tool.name]
    expected = read_input(tool.input_model, arguments)
    text = write(arguments)
    forms: list[Any] = [{tool.first_field: text}, {tool.first_field: [text]}]
    forms += [{alias: text} for alias in tool.input_model.spellings]
    forms += [text]
    for form in forms:
        assert read_input(tool.input_model, form) == expected


@every_tool
@pytest.mark.parametrize("write", CALLS.values(), ids=list(CALLS))
def test_a_call_in_python_as_text_is_read(tool: Tool, write: Callable[..., str]) -> None:
    arguments = ARGUMENTS[tool.name]
    expected = read_input(tool.input_model, arguments)
    for form in (repr, json.dumps):
        text = write(tool.name, tool.first_field, keywords(arguments, form))
        assert read_input(tool.input_model, text) == expected
        assert read_input(tool.input_model, {tool.first_field: text}) == expected


@pytest.mark.parametrize("name", ["web_search", "web_research"])
@pytest.mark.parametrize("key", ["query", "queries", "q", "search_query", "searchQuery", "input"])
def test_a_query_in_an_object_of_its_own_is_read(name: str, key: str) -> None:
    model = TOOLS[name].input_model
    expected = read_input(model, {"query": "rye bread"})
    for text in (json.dumps({key: "rye bread"}), repr({key: "rye bread"})[:-1]):
        assert read_input(model, {"query": text}) == expected


@every_tool
@pytest.mark.parametrize("wrapper", ["input", "kwargs", "tool_input", "parameters"])
def test_wrapped_arguments_are_read(tool: Tool, wrapper: str) -> None:
    arguments = ARGUMENTS[tool.name]
    expected = read_input(tool.input_model, arguments)
    assert read_input(tool.input_model, {wrapper: arguments}) == expected
    subject = arguments[tool.first_field]
    expected = read_input(tool.input_model, {tool.first_field: subject})
    assert read_input(tool.input_model, {wrapper: subject}) == expected


@every_tool
def test_an_argument_beside_the_object_overrides_it(tool: Tool) -> None:
    arguments = ARGUMENTS[tool.name]
    name = [*arguments][1]
    other = {"limit": 9, "question": "why?", "engine": "cecil", "command": "web", "offset": 9}
    written = {tool.first_field: json.dumps(arguments), name: other[name]}
    expected = arguments | {name: other[name]}
    assert read_input(tool.input_model, written) == read_input(tool.input_model, expected)


@every_tool
@pytest.mark.parametrize("write", [json.dumps, repr, OBJECTS["JSON twice"]])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_list_as_text_is_read(tool: Tool, write: Callable[[Any], str], depth: int) -> None:
    arguments = ARGUMENTS[tool.name]
    values = arguments[tool.first_field]
    text: Any = values if isinstance(values, list) else [values]
    for _ in range(depth):
        text = [write(text)]
    expected = read_input(tool.input_model, arguments)
    for form in (text, text[0]):
        changed = arguments | {tool.first_field: form}
        assert read_input(tool.input_model, changed) == expected


@pytest.mark.parametrize(
    "query",
    [
        *("[Errno 2] No such file", "[python] 'list' of lists", "['open", '{"error": "quota"}'),
        *('{"name": "Ada"}', '{"args": [1], "env": {}}', '{"type": "a", "id": 1}'),
        *(
            "{'a': 1}",
            '"exact phrase"',
            '"[a] b"',
            "{queries}",
            "[a, b]",
            '["a"] OR ["b"]',
            "```py```",
        ),
        *('print(query="a")', 're.sub(pattern="x")', 'search(query="a", limit=3)', "web_search()"),
        *("web_search(a)", "def web_search(query='a'):", "x = web_search(query='a')", "limit=3"),
        *('colour="red"', 'query="a", colour="red"', 'query="a" AND limit=3', 'query == "a"'),
        *('{query="a"}', 'up{query="a"}', "query=a, limit=b", "[1, 2", "f(x", '{"a": [1, 2}'),
        *("query='a', *args", "Action Input: none", "Action: open the door", "what is web_search("),
        *('SELECT * FROM t WHERE query="a"', "git log --format='%h", '"query": "a"', "a, b=3)"),
    ],
)
def test_a_query_that_only_looks_like_a_list_or_an_object_is_searched_as_it_is(query: str) -> None:
    model = TOOLS["web_search"].input_model
    assert read_input(model, {"queries": query}).queries == [query]  # type: ignore[attr-defined]


@every_tool
def test_what_is_wrong_in_a_written_object_is_refused_by_its_name(tool: Tool) -> None:
    text = json.dumps(ARGUMENTS[tool.name] | {"colour": "red"})
    with pytest.raises(InputError, match='"colour"'):
        read_input(tool.input_model, {tool.first_field: text})


@every_tool
def test_a_truth_value_is_no_number(tool: Tool) -> None:
    fields = tool.input_model.model_fields
    for name in [name for name, field in fields.items() if field.annotation is int]:
        for value in (True, False):
            with pytest.raises(InputError, match=f'{name} "{value}"'):
                read_input(tool.input_model, ARGUMENTS[tool.name] | {name: value})


@every_tool
@pytest.mark.parametrize("nothing", [[""], [None, " "], "null", "None", "any", "*", ["null"]])
def test_words_for_no_value_leave_an_argument_out(tool: Tool, nothing: Any) -> None:
    kept = {"question", "find", "synthesis"}  # "none" is a value of these
    subject = {tool.first_field: ARGUMENTS[tool.name][tool.first_field]}
    names = tool.input_model.model_fields.keys() - subject.keys() - kept
    arguments = subject | dict.fromkeys(names, nothing)
    assert read_input(tool.input_model, arguments) == read_input(tool.input_model, subject)


@pytest.mark.parametrize("name", ["question", "find"])
def test_a_free_text_may_be_such_a_word(name: str) -> None:
    [tool] = [tool for tool in TOOLS.values() if name in tool.input_model.model_fields]
    arguments = ARGUMENTS[tool.name] | {name: "null"}
    assert getattr(read_input(tool.input_model, arguments), name) == "null"


# --- surfaces ----------------------------------------------------------------------------------


def langchain_text(web: WebTools, text: str) -> dict[str, Any]:
    return {"content": WebSearchTool(web=web).invoke(text)}


def langchain_call(web: WebTools, text: str) -> dict[str, Any]:
    call = {"type": "tool_call", "name": "web_search", "id": "1", "args": {"queries": text}}
    message = WebSearchTool(web=web).invoke(call)
    return {"content": message.content}


def llamaindex_text(web: WebTools, text: str) -> dict[str, Any]:
    tools = {tool.metadata.get_name(): tool for tool in WebToolsSpec(web=web).to_tool_list()}
    return {"content": tools["web_search"].call(text).content}


def llamaindex_call(web: WebTools, text: str) -> dict[str, Any]:
    tools = {tool.metadata.get_name(): tool for tool in WebToolsSpec(web=web).to_tool_list()}
    return {"content": tools["web_search"].call(queries=text).content}


def tool_call(web: WebTools, text: str) -> dict[str, Any]:
    return {"content": web.call_tool("web_search", {"query": text}).text}


def whole_call(web: WebTools, text: str) -> dict[str, Any]:
    return {"content": web.call_tool("web_search", text).text}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [langchain_text, langchain_call, llamaindex_text, llamaindex_call, tool_call, whole_call],
)
def test_the_object_is_read_on_every_surface(
    webtools_sandbox: SandboxServer, call: Callable[[WebTools, str], dict[str, Any]]
) -> None:
    arguments = {"queries": ["zip file"], "limit": 3}
    with WebTools({**webtools_sandbox.config("exa"), "cache": {"enabled": False}}) as web:
        plain = web.call_tool("web_search", arguments).text
        for write in (json.dumps, repr):
            assert call(web, write(arguments))["content"] == plain
    sent = [item["body"] for item in webtools_sandbox.stats()["last"]]
    assert {(body["query"], body["numResults"]) for body in sent} == {("zip file", 3)}


@pytest.mark.parametrize(
    "tool_type", [WebSearchTool, WebFetchTool, SummarizeTool, WebResearchTool, WebReadTool]
)
def test_every_tool_takes_a_text_as_an_agent_sends_it(
    webtools_sandbox: SandboxServer, tool_type: type[Any]
) -> None:
    page = f"{webtools_sandbox.docs_url}/library/json.html"
    subjects = {"web_search": "json", "web_fetch": page, "summarize": page, "web_research": "json"}
    with WebTools(webtools_sandbox.config()) as web:
        tool = tool_type(web=web)
        subject = subjects.get(tool.name, HANDLE)
        field = TOOLS[tool.name].first_field
        plain, written = [
            web.call_tool(tool.name, arguments).text
            for arguments in ({field: subject}, {field: json.dumps({field: subject})})
        ]
        assert plain == written
        call = {"type": "tool_call", "name": tool.name, "id": "1"}
        message = tool.invoke({**call, "args": {field: json.dumps({field: [subject]})}})
        assert message.content == plain
