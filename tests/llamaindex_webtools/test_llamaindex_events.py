"""What people see while an agent runs, and how far the long calls are."""

from __future__ import annotations

import io
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.span import active_span_id
from llama_index.core.tools import FunctionTool, ToolMetadata
from scripted_llm import Script, calls, says

from llamaindex_webtools import (
    WebProgressEvent,
    WebToolsEventHandler,
    WebToolsProgressEvent,
    WebToolsSpec,
    progress_events,
    show_events,
)
from webtools import Config, ToolResult, WebTools
from webtools.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from webtools_sandbox import SandboxServer

# What the framework's own modules do, seen on every run of an agent.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:(inspect|llama_index|workflows)"
)

STEP = Progress("web_search", "searching", 1, 2, "read json", failed=True)
HIT = {
    "title": "json",
    "url": "https://docs.example/json",
    "snippet": "JSON encoder",
    "source_provider": "exa",
    "query": "x",
}
COMMON: dict[str, Any] = {"truncation": None, "full_output_path": None, "error": None}
SEARCH: dict[str, Any] = {"queries": ["read json", "csv"]}
FAILING: dict[str, Any] = {"query": "fail"}


class Canned(WebTools):
    """Gives results without a network; fails for the query "fail"."""

    def call_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
        if "fail" in str(arguments):
            error = {"message": "exa: no credit left.", "retry_after": None}
            details = COMMON | {"results": [], "error": error}
            return ToolResult("exa: no credit left.", details, is_error=True)
        details = COMMON | {"queries": ["x"], "filters": {}, "results": [HIT, HIT]}
        return ToolResult("1. json", details)

    async def acall_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
        return self.call_tool(name, arguments)


def weather(city: str) -> str:
    """Tell the weather."""
    return f"Sunny in {city}"


@pytest.fixture
def file() -> io.StringIO:
    return io.StringIO()


def tools(prefix: str = "") -> list[FunctionTool]:
    made = WebToolsSpec(Canned(), name_prefix=prefix).to_tool_list()
    return [*made, FunctionTool.from_defaults(weather)]


def agent(*wanted: tuple[str, dict[str, Any]], prefix: str = "") -> FunctionAgent:
    script = Script(calls(*wanted), says("Done."))
    return FunctionAgent(tools=tools(prefix), llm=script.llm)


async def attached(run: FunctionAgent | ReActAgent, file: io.StringIO, **more: Any) -> str:
    with WebToolsEventHandler(file, **more):
        return str(await run.run("?"))


async def streamed(run: FunctionAgent | ReActAgent, file: io.StringIO, **more: Any) -> str:
    return str(await show_events(run.run("?"), file, **more))


@pytest.fixture(params=[attached, streamed])
def show(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return request.param


async def test_an_agents_calls_are_printed(show: Callable[..., Any], file: io.StringIO) -> None:
    assert await show(agent(("web_search", SEARCH)), file) == "Done."
    assert file.getvalue() == 'web_search "read json", "csv"\n  2 results\n'


async def test_expanded_results_are_printed(show: Callable[..., Any], file: io.StringIO) -> None:
    await show(agent(("web_search", SEARCH)), file, expanded=True)
    assert file.getvalue().split("\n")[1:6] == [
        "  2 results",
        "",
        "   1. json",
        "      https://docs.example/json",
        "      JSON encoder",
    ]


async def test_tools_of_others_are_passed_over(show: Callable[..., Any], file: io.StringIO) -> None:
    await show(agent(("weather", {"city": "Rome"})), file)
    assert file.getvalue() == ""


async def test_renamed_tools_are_shown_under_their_names(
    show: Callable[..., Any], file: io.StringIO
) -> None:
    await show(agent(("my_web_search", SEARCH), prefix="my_"), file)
    assert file.getvalue().startswith('my_web_search "read json", "csv"\n  2 results\n')


async def test_a_tool_with_another_name_and_description_is_known(
    show: Callable[..., Any], file: io.StringIO
) -> None:
    described = {"web_search": ToolMetadata("Looks it up.", name="look_up")}
    made = WebToolsSpec(Canned()).to_tool_list(["web_search"], described)
    script = Script(calls(("look_up", SEARCH)), says("Done."))
    await show(FunctionAgent(tools=made, llm=script.llm), file)
    assert file.getvalue() == 'look_up "read json", "csv"\n  2 results\n'


async def test_calls_without_an_agent_are_printed_once_each(file: io.StringIO) -> None:
    search = tools()[0]
    with WebToolsEventHandler(file):
        search.call(**SEARCH)
        await search.acall(**SEARCH)
        search(**SEARCH)
        search.call("read json")
        search.call()
    assert file.getvalue().split("\n") == [
        *['web_search "read json", "csv"', "  2 results"] * 3,
        *['web_search "read json"', "  2 results"],
        *["web_search", "  2 results"],
        "",
    ]


def test_a_call_that_raises_is_printed_and_raises(file: io.StringIO) -> None:
    class Broken(Canned):
        def call_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
            raise KeyError

    search = WebToolsSpec(Broken()).to_tool_list()[0]
    with pytest.raises(KeyError), WebToolsEventHandler(file):
        search.call(**SEARCH)
    assert file.getvalue().endswith("  Error: KeyError\n")


def test_a_detached_handler_hears_nothing(file: io.StringIO) -> None:
    handlers = [*get_dispatcher().span_handlers], [*get_dispatcher().event_handlers]
    handler = WebToolsEventHandler(file)
    assert handler.attach().attach() is handler
    tools()[0].call(**SEARCH)
    handler.detach()
    handler.detach()
    tools()[0].call(**SEARCH)
    assert file.getvalue().count("2 results") == 1
    assert ([*get_dispatcher().span_handlers], [*get_dispatcher().event_handlers]) == handlers


def test_nothing_that_happens_in_it_reaches_the_agent(file: io.StringIO) -> None:
    handler = WebToolsEventHandler(file)
    file.close()
    with handler:
        assert tools()[0].call(**SEARCH).content == "1. json"
    handler.on_event(None)
    missing: Any = None
    handler.handle(missing)
    handler.new_span("FunctionTool.call-1", missing, tools()[0])
    handler.prepare_to_exit_span("x", missing)
    handler.prepare_to_drop_span("x", missing)


def test_without_rich_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("webtools.rendering")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("webtools.rendering", raising=False)
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(ImportError, match=r"pip install 'agent-webtools\[cli\]'"):
        WebToolsEventHandler()


class Listening(BaseEventHandler):
    received: list[Any] = []  # noqa: RUF012  pydantic copies it

    def handle(self, event: Any, **_: Any) -> None:
        if isinstance(event, WebToolsProgressEvent):
            self.received.append(event)


@pytest.fixture
def listening() -> Any:
    dispatcher = get_dispatcher()
    listening = Listening()
    dispatcher.add_event_handler(listening)
    yield listening
    dispatcher.event_handlers.remove(listening)


def test_progress_is_an_event(listening: Listening) -> None:
    progress_events()(STEP)
    [event] = listening.received
    reported = event.model_dump(include={"tool", "stage", "done", "total", "subject", "failed"})
    assert reported == {
        "class_name": "WebToolsProgressEvent",
        "tool": "web_search",
        "stage": "searching",
        "done": 1,
        "total": 2,
        "subject": "read json",
        "failed": True,
    }


async def test_progress_from_a_thread_belongs_to_the_span_of_its_call(
    listening: Listening,
) -> None:
    spans: list[str | None] = []

    class Long(Canned):
        def call_tool(self, name: str, arguments: Any, **more: Any) -> ToolResult:
            spans.append(active_span_id.get())
            thread = threading.Thread(target=progress_events(), args=(STEP,))
            thread.start()
            thread.join()
            return super().call_tool(name, arguments, **more)

    search = WebToolsSpec(Long()).to_tool_list()[0]
    search.call(**SEARCH)
    await search.acall(**SEARCH)
    assert [event.span_id for event in listening.received] == spans
    assert [str(span).partition("-")[0] for span in spans] == [
        "FunctionTool.call",
        "FunctionTool.acall",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_shows_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")

    class Long(Canned):
        def call_tool(self, name: str, arguments: Any, **more: Any) -> ToolResult:
            progress_events()(STEP)
            return super().call_tool(name, arguments, **more)

    terminal = Terminal()
    with WebToolsEventHandler(terminal):
        WebToolsSpec(Long()).to_tool_list()[0].call(**SEARCH)
    assert 'Searching... 1/2 web_search "read json", "csv"' in terminal.getvalue()
    assert terminal.getvalue().endswith("\n  2 results\n")


async def test_progress_appears_in_the_event_stream_of_an_agent(
    webtools_sandbox: SandboxServer,
) -> None:
    async with WebTools(config=Config.model_validate(webtools_sandbox.config())) as web:
        script = Script(calls(("web_search", {"queries": ["json", "csv"]})), says("Done."))
        run = FunctionAgent(tools=WebToolsSpec(web).to_tool_list(), llm=script.llm).run("?")
        events = [event async for event in run.stream_events()]
        await run
    reported = [event for event in events if isinstance(event, WebProgressEvent)]
    assert [(event.tool, event.done, event.total) for event in reported] == [
        ("web_search", done, 2) for done in range(3)
    ]
    names = [type(event).__name__ for event in events]
    assert names.index("ToolCall") < names.index("WebProgressEvent")
    assert names.index("ToolCallResult") > len(names) - 1 - names[::-1].index("WebProgressEvent")
