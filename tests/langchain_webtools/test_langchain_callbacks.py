"""What people see while an agent runs, and how far the long calls are."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections.abc import Callable
from typing import Any, cast
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import (
    AsyncCallbackHandler,
    AsyncCallbackManagerForToolRun,
    BaseCallbackHandler,
    CallbackManagerForToolRun,
)
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, tool
from langgraph.graph import StateGraph
from tool_agents import Scripted

from langchain_webtools import (
    WebSearchTool,
    WebToolkit,
    WebToolsCallbackHandler,
    aprogress_events,
    progress_events,
)
from webtools import ToolResult, WebTools
from webtools.progress import Progress, ProgressCallback

STEP = Progress("web_search", "searching", 1, 2, "read json")
DATA = {
    "tool": "web_search",
    "stage": "searching",
    "done": 1,
    "total": 2,
    "subject": "read json",
    "failed": False,
    "call_id": "",
}
HIT = {
    "title": "json",
    "url": "https://docs.example/json",
    "snippet": "JSON encoder",
    "source_provider": "exa",
    "query": "x",
}
COMMON: dict[str, Any] = {"truncation": None, "full_output_path": None, "error": None}


class Canned(WebTools):
    """Gives results without a network; fails for the query "fail"."""

    def call_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
        if "fail" in str(arguments):
            error = {"message": "exa: no credit left.", "retry_after": None}
            details = COMMON | {"results": [], "error": error}
            return ToolResult("exa: no credit left.", details, is_error=True)
        details = COMMON | {"queries": ["x"], "filters": {}, "results": [HIT, HIT]}
        if name == "web_fetch":
            details = COMMON | {"fetched_count": 1, "failed_count": 0, "results": [HIT]}
        return ToolResult("1. json", details)

    async def acall_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
        await asyncio.sleep(0)
        return self.call_tool(name, arguments)


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    return f"Sunny in {city}"


@pytest.fixture
def file() -> io.StringIO:
    return io.StringIO()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal()


@pytest.fixture(params=["sync", "async"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


def toolkit(prefix: str = "") -> list[BaseTool]:
    return WebToolkit(web=Canned(), prefix=prefix).get_tools()


async def run_agent(way: str, handler: Any, *calls: tuple[str, Any], prefix: str = "") -> None:
    asked = [
        {"name": name, "args": arguments, "id": f"call_{number}"}
        for number, (name, arguments) in enumerate(calls)
    ]
    model = Scripted(messages=iter([AIMessage("", tool_calls=asked), AIMessage("done")]))
    agent = create_agent(model, [*toolkit(prefix), weather])
    question: Any = {"messages": [("user", "Look it up.")]}
    config: RunnableConfig = {"callbacks": [handler]}
    if way == "sync":
        await asyncio.to_thread(agent.invoke, question, config)
    else:
        await agent.ainvoke(question, config)


async def test_an_agents_calls_are_printed(way: str, file: io.StringIO) -> None:
    handler = WebToolsCallbackHandler(file)
    await run_agent(way, handler, ("web_search", {"queries": ["read json", "csv"]}))
    assert file.getvalue() == 'web_search "read json", "csv"\n  2 results\n'


async def test_expanded_results_are_printed(way: str, file: io.StringIO) -> None:
    handler = WebToolsCallbackHandler(file, expanded=True)
    await run_agent(way, handler, ("web_search", {"query": "q"}))
    assert file.getvalue().split("\n")[1:6] == [
        "  2 results",
        "",
        "   1. json",
        "      https://docs.example/json",
        "      JSON encoder",
    ]


async def test_a_failed_call_is_printed_as_one(way: str, file: io.StringIO) -> None:
    await run_agent(way, WebToolsCallbackHandler(file), ("web_search", {"query": "fail"}))
    assert file.getvalue() == 'web_search "fail"\n  Error: exa: no credit left.\n'


async def test_tools_of_others_are_passed_over(way: str, file: io.StringIO) -> None:
    await run_agent(way, WebToolsCallbackHandler(file), ("weather", {"city": "Rome"}))
    assert file.getvalue() == ""


async def test_renamed_tools_are_shown_under_their_names(way: str, file: io.StringIO) -> None:
    handler = WebToolsCallbackHandler(file)
    await run_agent(way, handler, ("my_web_search", {"query": "a"}), prefix="my_")
    assert file.getvalue() == 'my_web_search "a"\n  2 results\n'


def ask(one: BaseTool, handler: BaseCallbackHandler, query: str = "a") -> Any:
    call = {"name": one.name, "args": {"query": query}, "id": "1", "type": "tool_call"}
    return one.invoke(call, {"callbacks": [handler]})


def test_a_tool_with_another_name_and_description_is_known_by_its_artifact(
    file: io.StringIO,
) -> None:
    search = toolkit()[0]
    search.name, search.description = "look_up", "Looks it up."
    ask(search, WebToolsCallbackHandler(file))
    ask(search, WebToolsCallbackHandler(file), "fail")
    assert file.getvalue().split("\n") == [
        'look_up "a"',
        "  2 results",
        'look_up "fail"',
        "  Error: exa: no credit left.",
        "",
    ]


def test_a_raised_failure_is_printed(file: io.StringIO) -> None:
    search = toolkit()[0]
    search.handle_tool_error = False
    with pytest.raises(Exception, match="no credit"):
        ask(search, WebToolsCallbackHandler(file), "fail")
    assert file.getvalue().endswith("  Error: exa: no credit left.\n")


def test_an_interrupt_is_printed_and_passes(file: io.StringIO) -> None:
    class Interrupted(Canned):
        def call_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(WebToolkit(web=Interrupted()).get_tools()[0], WebToolsCallbackHandler(file))
    assert file.getvalue().endswith("  Error: KeyboardInterrupt\n")


def test_nothing_that_happens_in_it_reaches_the_agent(file: io.StringIO) -> None:
    handler = WebToolsCallbackHandler(file)
    file.close()
    assert ask(toolkit()[0], handler).content == "1. json"
    missing: Any = None
    handler.on_tool_start(missing, missing, run_id=missing)
    handler.on_tool_end(missing, run_id=missing)
    handler.on_tool_error(missing, run_id=missing)
    handler.on_custom_event("webtools_progress", missing, run_id=missing)


def test_progress_shows_on_a_terminal(terminal: Terminal) -> None:
    handler = WebToolsCallbackHandler(terminal)
    run_id = uuid4()
    handler.on_tool_start({"name": "web_search"}, "a", run_id=run_id)
    handler.on_custom_event("another", DATA, run_id=run_id)
    assert "1/2" not in terminal.getvalue()
    handler.on_custom_event("webtools_progress", DATA | {"new": 1}, run_id=run_id)
    assert terminal.getvalue().endswith('Searching... 1/2 web_search "a"')


async def test_a_cancelled_call_leaves_the_screen(terminal: Terminal) -> None:
    class Slow(Canned):
        async def acall_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
            started.set()
            await asyncio.sleep(60)
            raise AssertionError

    started = asyncio.Event()
    search = WebToolkit(web=Slow()).get_tools()[0]

    async def step(query: str, config: RunnableConfig) -> Any:
        return await search.ainvoke(query, config)

    config: RunnableConfig = {"callbacks": [WebToolsCallbackHandler(terminal)]}
    task = asyncio.ensure_future(RunnableLambda(step).ainvoke("a", config))
    await started.wait()
    assert terminal.getvalue().endswith('Searching... web_search "a"')
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_without_rich_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("webtools.rendering")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("webtools.rendering", raising=False)
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(ImportError, match=r"pip install 'agent-webtools\[cli\]'"):
        WebToolsCallbackHandler()


class Listening(BaseCallbackHandler):
    run_inline = True

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.run: Any = None

    def on_tool_start(self, *_: Any, run_id: Any, **__: Any) -> None:
        self.run = run_id

    def on_custom_event(self, name: str, data: Any, *, run_id: Any, **_: Any) -> None:
        self.events.append((name, data, run_id == self.run))

    def on_tool_end(self, output: Any, **_: Any) -> None:
        self.events.append("end")


class AsyncListening(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.events: list[Any] = []

    async def on_custom_event(self, name: str, data: Any, **_: Any) -> None:
        await asyncio.sleep(0.001 * (4 - data["done"]))  # the first takes longest
        self.events.append(data["done"])

    async def on_tool_end(self, output: Any, **_: Any) -> None:
        self.events.append("end")


def steps(progress: ProgressCallback | None) -> None:
    """Tell three steps, each from a thread of its own."""
    assert progress is not None
    for done in (1, 2, 3):
        item = Progress("web_search", "searching", done, 3)
        thread = threading.Thread(target=progress, args=(item,))
        thread.start()
        thread.join()


class Long(BaseTool):
    name: str = "long"
    description: str = "Takes long."
    tell: Callable[[ProgressCallback | None], None] = steps

    def _run(self, query: str, run_manager: CallbackManagerForToolRun | None = None) -> str:
        self.tell(progress_events(run_manager))
        return query

    async def _arun(
        self, query: str, run_manager: AsyncCallbackManagerForToolRun | None = None
    ) -> str:
        async with aprogress_events(run_manager) as progress:
            self.tell(progress)
        return query


async def run_tool(way: str, one: BaseTool, handler: Any) -> Any:
    config: RunnableConfig = {"callbacks": [handler]}
    if way == "sync":
        return await asyncio.to_thread(one.invoke, "q", config)
    return await one.ainvoke("q", config)


async def test_progress_is_a_custom_event_of_the_tools_run(way: str) -> None:
    def tell(progress: ProgressCallback | None) -> None:
        assert progress is not None
        progress(STEP)

    listening = Listening()
    await run_tool(way, Long(tell=tell), listening)
    assert listening.events == [("webtools_progress", DATA, True), "end"]


async def test_progress_from_threads_comes_in_order_and_before_the_end(way: str) -> None:
    listening = AsyncListening()
    await run_tool(way, Long(), listening)
    assert listening.events == [1, 2, 3, "end"]


async def test_progress_appears_in_the_event_stream() -> None:
    events = [event async for event in Long().astream_events("q", version="v2")]
    reported = [event for event in events if event["event"] == "on_custom_event"]
    assert [event["name"] for event in reported] == ["webtools_progress"] * 3
    assert events.index(reported[-1]) < len(events) - 1


async def test_a_handler_that_fails_ends_nothing(way: str) -> None:
    class Failing(BaseCallbackHandler):
        raise_error = True

        def on_custom_event(self, *_: Any, **__: Any) -> None:
            raise ValueError

    assert await run_tool(way, Long(), Failing()) == "q"


async def test_progress_is_reported_inside_any_runnable(way: str) -> None:
    def run(_: Any, config: RunnableConfig) -> None:
        steps(progress_events(config=config))

    async def arun(_: Any, config: RunnableConfig) -> None:
        async with aprogress_events(config=config) as progress:
            steps(progress)

    listening = AsyncListening()
    config: RunnableConfig = {"callbacks": [listening]}
    if way == "sync":
        await asyncio.to_thread(RunnableLambda(run).invoke, None, config)
    else:
        await RunnableLambda(arun).ainvoke(None, config)
    assert listening.events == [1, 2, 3]


async def test_a_cancelled_call_reports_no_more() -> None:
    listening = AsyncListening()

    async def cancelled(_: Any, config: RunnableConfig) -> None:
        async with aprogress_events(config=config) as progress:
            steps(progress)
            raise asyncio.CancelledError

    before = len(asyncio.all_tasks())
    with pytest.raises(asyncio.CancelledError):
        await RunnableLambda(cancelled).ainvoke(None, {"callbacks": [listening]})
    await asyncio.sleep(0.02)
    assert listening.events == []
    assert len(asyncio.all_tasks()) == before


async def test_progress_appears_in_the_custom_stream_of_a_graph(way: str) -> None:
    def node(_: Any) -> dict[str, str]:
        return {"query": Long().invoke("q")}

    async def anode(_: Any) -> dict[str, str]:
        return {"query": await Long().ainvoke("q")}

    graph: Any = StateGraph(cast("Any", dict))
    graph.add_node("search", RunnableLambda(node, anode))
    graph.set_entry_point("search")
    built = graph.compile()
    if way == "sync":
        written = await asyncio.to_thread(lambda: [*built.stream({}, stream_mode="custom")])
    else:
        written = [item async for item in built.astream({}, stream_mode="custom")]
    assert [(item["type"], item["done"]) for item in written] == [
        ("webtools_progress", done) for done in (1, 2, 3)
    ]


async def test_a_tool_in_a_graph_reports_to_the_custom_stream_without_a_handler(
    web: WebTools,
) -> None:
    async def node(_: Any) -> dict[str, str]:
        return {"text": await WebSearchTool(web=web).ainvoke({"queries": ["json", "csv"]})}

    graph: Any = StateGraph(cast("Any", dict))
    graph.add_node("search", node)
    graph.set_entry_point("search")
    written = [item async for item in graph.compile().astream({}, stream_mode="custom")]
    assert [item["done"] for item in written] == [0, 1, 2]
    assert {item["tool"] for item in written} == {"web_search"}


class Observed(WebSearchTool):
    def _filter_injected_args(self, tool_input: dict[str, Any]) -> dict[str, Any]:
        return {"filtered by": "our method"} | super()._filter_injected_args(tool_input)


async def test_langchain_asks_the_tool_what_callbacks_see(way: str) -> None:
    """Otherwise it goes through the types of all arguments at each call."""
    seen: list[Any] = []

    class Handler(BaseCallbackHandler):
        def on_tool_start(self, *_: Any, inputs: Any, **__: Any) -> None:
            seen.append(inputs)

    tool, config = Observed(web=Canned()), RunnableConfig(callbacks=[Handler()])
    arguments = {"queries": ["x"], "limit": 3}
    await (tool.ainvoke(arguments, config) if way == "async" else _blocking(tool, config))
    assert seen == [{"filtered by": "our method", **arguments}]


async def _blocking(tool: BaseTool, config: RunnableConfig) -> Any:
    return tool.invoke({"queries": ["x"], "limit": 3}, config)
