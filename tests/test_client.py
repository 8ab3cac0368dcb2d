from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import pickle
import re
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import webtools
from webtools import (
    AuthenticationError,
    BadRequestError,
    Config,
    ConfigError,
    InputError,
    ToolResult,
    WebTools,
    WebToolsError,
)
from webtools._internal.call.dispatcher import Dispatcher
from webtools._internal.pipeline import retries
from webtools.config.environment import variables
from webtools.progress import Progress
from webtools.tools import TOOLS
from webtools_sandbox import SandboxServer

QUICK = {  # without I/O
    *("plot", "rate_limits", "reads_pages_itself", "redact", "session", "tools"),
    "warn_if_unconfigured",
}
METHODS = [name for name, _ in inspect.getmembers(WebTools, inspect.isfunction)]
PUBLIC = [name for name in METHODS if name[0] != "_" and name not in QUICK]
TWINS = [name for name in PUBLIC if not inspect.iscoroutinefunction(getattr(WebTools, name))]
BASE_DETAILS = {
    "provider",
    "results",
    "warnings",
    "cost_usd",
    "truncation",
    "full_output_path",
    "error",
}
ERROR_DETAILS = {"type", "message", "provider", "status", "retryable", "retry_after", "code"}


@pytest.fixture
def web(webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebTools]:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    with WebTools(config=Config.model_validate(webtools_sandbox.config())) as client:
        yield client


def json_page(sandbox: SandboxServer) -> str:
    return f"{sandbox.docs_url}/library/json.html"


@pytest.mark.parametrize("is_failing", [False, True])
def test_a_single_query_reports_its_progress(
    web: WebTools, webtools_sandbox: SandboxServer, is_failing: bool
) -> None:
    steps: list[Progress] = []
    if is_failing:
        webtools_sandbox.fault(provider="exa", status=400)
    with contextlib.suppress(BadRequestError):
        web.search("json", provider="exa", progress=steps.append)
    assert [(step.stage, step.done, step.total, step.failed) for step in steps] == [
        ("searching", 0, 1, False),
        ("searching", 1, 1, is_failing),
    ]


# --- blocking and async ------------------------------------------------------------------------


@pytest.mark.parametrize("name", TWINS)
def test_twins_have_the_same_signature(name: str) -> None:
    blocking, awaited = getattr(WebTools, name), getattr(WebTools, f"a{name}")
    assert inspect.signature(blocking) == inspect.signature(awaited)
    assert inspect.iscoroutinefunction(awaited)
    assert blocking.__doc__
    assert awaited.__doc__


def call_both(web: WebTools, name: str, *args: Any, **kwargs: Any) -> list[Any]:
    async def awaited() -> Any:
        return await getattr(web, f"a{name}")(*args, **kwargs)

    outcomes: list[Any] = []
    for call in (lambda: getattr(web, name)(*args, **kwargs), lambda: asyncio.run(awaited())):
        try:
            outcomes.append(call())
        except WebToolsError as error:
            outcomes.append(error.to_details())
    return outcomes


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_arguments_nested_without_end_are_refused(
    web: WebTools, wrap: Callable[[Any], Any]
) -> None:
    nested: Any = "json"
    for _ in range(sys.getrecursionlimit() * 2):
        nested = wrap(nested)
    result = web.call_tool("web_search", {"queries": nested})
    assert result.details["error"]["type"] == "InputError"


def test_eight_threads_may_share_an_instance(web: WebTools) -> None:
    answers: list[Any] = []
    expected = web.search("json").results

    def work() -> None:
        answers.extend(web.search("json").results == expected for _ in range(5))
        answers.append(asyncio.run(web.asearch("json")).results == expected)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 48


def test_closing_while_other_threads_call_disturbs_no_call(web: WebTools) -> None:
    outcomes: list[bool] = []

    def work() -> None:
        outcomes.extend(bool(web.search("json").results) for _ in range(10))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        web.close()
    assert outcomes == [True] * 40


# --- life --------------------------------------------------------------------------------------


def test_a_bare_model_as_synthesizer_is_refused_and_its_wrapper_named(web: WebTools) -> None:
    for error in call_both(web, "research", "q", synthesis=object()):
        assert error["type"] == "InputError"
        assert error["message"].startswith("synthesis ")
        assert "ChatModelSynthesizer" in error["message"]


def test_making_one_does_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> Any:
        pytest.fail("touched the disk, the network or a thread")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(threading.Thread, "start", refused)
    monkeypatch.setattr(Path, "stat", refused)
    monkeypatch.setattr(Path, "read_bytes", refused)
    for config in (None, "no/such/file.json", tmp_path / "none.json"):
        assert isinstance(WebTools(config=config), WebTools)
        assert isinstance(WebTools(config), WebTools)


def test_the_settings_are_read_at_the_call(tmp_path: Path, webtools_sandbox: SandboxServer) -> None:
    path = tmp_path / "web-search.json"
    web = WebTools(config=path)
    with pytest.raises(ConfigError, match="does not exist"):
        web.search("json")
    path.write_text(json.dumps(webtools_sandbox.config()))
    with web:
        assert web.search("json").results


def test_leaving_the_context_closes_also_after_an_error(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    with contextlib.suppress(ZeroDivisionError), web as same:
        assert same is web
        web.search("json")
        raise ZeroDivisionError
    web.search("json")
    assert webtools_sandbox.stats()["connections"] == 2


def test_a_pickle_holds_the_path_of_the_settings_and_no_connection(
    tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    path = tmp_path / "web-search.json"
    path.write_text(json.dumps(webtools_sandbox.config()))
    with WebTools(config=path) as web:
        expected = web.search("json").results
        data = pickle.dumps(web)
    assert b"test-key" not in data
    with pickle.loads(data) as twin:
        assert twin.search("json").results == expected
    assert repr(pickle.loads(pickle.dumps(WebTools()))) == repr(WebTools())


def test_a_pickle_of_one_made_with_keys_is_refused_with_the_reason(web: WebTools) -> None:
    with pytest.raises(TypeError, match=r"holds API keys.*config file"):
        pickle.dumps(web)


def test_the_repr_names_the_source_and_no_key(web: WebTools) -> None:
    assert re.fullmatch(r"<WebTools: exa, .*the code.*>", repr(web))
    assert "test-key" not in repr(web)
    assert repr(WebTools("/tmp/a.json")).startswith("<WebTools: ")


def test_the_repr_without_a_provider_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in variables():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert "api_keys" in repr(WebTools())
    assert "exa" in repr(WebTools(api_keys={"exa": "test-key-exa-0001"}))
    assert "keyless" in repr(WebTools(keyless=True))
    assert "api_keys" not in repr(WebTools(keyless=True))


def test_settings_that_are_refused_can_be_shown_with_local_variables() -> None:
    with pytest.raises(ConfigError) as failure:
        WebTools({"providers": [], "surprise": 1})
    shown = traceback.TracebackException.from_exception(failure.value, capture_locals=True)
    assert "self = WebTools()" in "".join(shown.format())


# --- tool calls --------------------------------------------------------------------------------


def check(result: ToolResult) -> None:
    """Hold a result to what every result promises."""
    assert isinstance(result, ToolResult)
    assert result.text.strip()
    assert len(result.text.encode("utf-8", "surrogatepass")) < 56_000
    assert str(result) == result.text
    assert result.details.keys() >= BASE_DETAILS
    assert json.loads(json.dumps(result.details, allow_nan=False)) == result.details
    assert isinstance(result.details["results"], list)
    assert isinstance(result.details["warnings"], list)
    error = result.details["error"]
    assert (error is not None) is result.is_error
    if result.is_error:
        assert error.keys() == ERROR_DETAILS
        assert issubclass(getattr(webtools, error["type"]), WebToolsError)
        assert error["message"]


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["json", "https://a.example/", "2026-01-01", "[1]", '["json"]', "kagi", "["]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = sorted({name for tool in TOOLS.values() for name in tool.input_model.model_fields})
fields = st.sampled_from([*FIELDS, "query", "q", "includeDomains", "textMaxCharacters", "", "$"])
junk = anything | st.dictionaries(fields, anything, max_size=4)


@pytest.mark.no_cover
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.sampled_from(list(TOOLS)), arguments=junk)
def test_no_arguments_make_a_tool_call_raise(web: WebTools, name: str, arguments: Any) -> None:
    check(web.call_tool(name, arguments))


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=anything, arguments=junk)
def test_no_name_makes_a_tool_call_raise(web: WebTools, name: Any, arguments: Any) -> None:
    result = web.call_tool(name, arguments)
    check(result)
    assert result.is_error
    assert result.details["error"]["type"] == "InputError"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("web_search", {"queries": ["json"]}),
        ("web_search", {"queries": ["zzzzqqqq"]}),
        ("web_fetch", {"urls": ["PAGE"]}),
        ("web_fetch", {"urls": ["PAGE", "https://nowhere.example/"]}),
        ("summarize", {"url": "PAGE"}),
        ("web_research", {"query": "json"}),
        ("web_research", {"query": "json", "command": "web-deep"}),
    ],
)
def test_a_good_call_has_all_details(
    web: WebTools, webtools_sandbox: SandboxServer, name: str, arguments: dict[str, Any]
) -> None:
    arguments = json.loads(json.dumps(arguments).replace("PAGE", json_page(webtools_sandbox)))
    result = web.call_tool(name, arguments)
    check(result)
    assert not result.is_error
    assert result.details["provider"] in {"exa", "kagi"}


@pytest.mark.parametrize("status", [302, 400, 401, 402, 404, 429, 500, 503])
@pytest.mark.parametrize("name", [name for name in TOOLS if name != "web_read"])
def test_a_failed_call_has_all_details(
    web: WebTools, webtools_sandbox: SandboxServer, name: str, status: int
) -> None:
    webtools_sandbox.fault(status=status, times=None)
    subject = "json" if name == "web_research" else json_page(webtools_sandbox)
    result = web.call_tool(name, {TOOLS[name].first_field: [subject]})
    check(result)
    assert result.details["error"]["status"] == status


def test_a_bug_is_not_hidden_in_a_result(web: WebTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dispatcher, "_start_call", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        web.call_tool("web_search", {"query": "json"})


def test_methods_raise_the_errors_that_tool_calls_report(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    with pytest.raises(InputError) as refused:
        web.search("")
    assert web.call_tool("web_search", {"queries": ""}).text == str(refused.value)
    webtools_sandbox.fault(status=401, times=2)
    with pytest.raises(AuthenticationError) as failed:
        web.search("json", provider="exa")
    result = web.call_tool("web_search", {"queries": "json", "provider": "exa"})
    assert result.details["error"] == failed.value.to_details()


@pytest.mark.parametrize("name", ["asearch", "afetch", "aclose"])
def test_under_trio_the_async_methods_name_the_alternative(web: WebTools, name: str) -> None:
    arguments = () if name == "aclose" else ("https://a.example/",)
    with pytest.raises(InputError, match=r"await trio\.to_thread\.run_sync\(web\.search, query\)"):
        trio.run(getattr(web, name), *arguments)
