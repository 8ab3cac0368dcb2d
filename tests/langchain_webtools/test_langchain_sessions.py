"""`WebMiddleware` gives each conversation of one agent a session of its own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    SummarizationMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from pydantic import BaseModel
from runtimes import BOTH
from timeless import timeless
from tool_agents import Call, Scripted, code_of, script, tool_messages

from langchain_webtools import WebMiddleware, WebSearchTool, WebToolkit
from webtools import InputError, WebTools
from webtools.adapters import merge_states
from webtools_sandbox import SandboxServer

UNSEEN = "https://unseen.example/?q=SECRET"
Invoke = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture(params=["sync", "async", "stream", "astream"])
def invoke(request: pytest.FixtureRequest) -> Invoke:
    """Run an agent in one of the ways of LangChain."""

    async def run(agent: Any, text: Any, config: Any = None) -> dict[str, Any]:
        given = (
            text if text is None or isinstance(text, Command) else {"messages": [("user", text)]}
        )
        if request.param == "sync":
            return agent.invoke(given, config)  # type: ignore[no-any-return]
        if request.param == "async":
            return await agent.ainvoke(given, config)  # type: ignore[no-any-return]
        if request.param == "stream":
            states = [*agent.stream(given, config, stream_mode="values")]
        else:
            states = [each async for each in agent.astream(given, config, stream_mode="values")]
        return states[-1]  # type: ignore[no-any-return]

    return run


def _search(query: str = "read json") -> Call:
    return "web_search", {"queries": [query], "limit": 2}


def _fetch(*urls: str) -> Call:
    return "web_fetch", {"urls": [*urls]}


def _thread(name: str = "1", **configurable: Any) -> dict[str, Any]:
    return {"configurable": {"thread_id": name, **configurable}}


class Outer(AgentMiddleware):
    """Keeps what other middleware gets from a tool call."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[Any] = []

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.results.append(handler(request))
        return self.results[-1]

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.results.append(await handler(request))
        return self.results[-1]


async def test_only_seen_urls_open_and_the_answer_is_checked(
    invoke: Invoke, web: WebTools, page: str, webtools_sandbox: SandboxServer
) -> None:
    outer = Outer()
    model = script(
        [_search(), _fetch(UNSEEN)],
        _fetch(UNSEEN),
        _fetch(page),
        "By [1] and [77], see https://made-up.example/x.",
    )
    agent = create_agent(model, middleware=[outer, WebMiddleware(web, fetch="seen")])
    result = await invoke(agent, "How do I read JSON?")
    search, *refused, page_message = tool_messages(result)
    assert [code_of(message) for message in refused] == ["url_not_seen"] * 2
    assert (search.status, page_message.status) == ("success", "success")
    assert all(isinstance(each, ToolMessage) for each in outer.results)
    report = result["web_report"]
    assert report["refused"] == [UNSEEN, UNSEEN]
    assert report["check"]["bad_numbers"] == [77]
    assert report["check"]["not_seen"] == ["https://made-up.example/x"]
    assert report["calls"] == 2
    assert [source["url"] for source in report["sources"] if source["is_read"]] == [page]
    assert "unseen" not in json.dumps(webtools_sandbox.stats())


@pytest.mark.parametrize("fetch", ["seen", "strict"])
async def test_links_that_the_user_writes_open(
    invoke: Invoke, web: WebTools, page: str, fetch: Any
) -> None:
    middleware = WebMiddleware(web, fetch=fetch)
    agent = create_agent(script(_fetch(page), "done"), middleware=[middleware])
    (message,) = tool_messages(await invoke(agent, f"Sum up (see <{page}>)!"))
    assert message.status == "success"
    middleware = WebMiddleware(web, fetch=fetch, user_urls=False)
    agent = create_agent(script(_fetch(page), "done"), middleware=[middleware])
    (message,) = tool_messages(await invoke(agent, f"Sum up {page}."))
    assert code_of(message) == "url_not_seen"


async def test_a_summary_is_not_a_text_of_the_user(
    invoke: Invoke, web: WebTools, page: str
) -> None:
    other = page.replace("json", "csv")
    summarizer = script(*[f"The user wants {other}."] * 9)
    model, outer = script("Hello.", _fetch(page), _fetch(other), "done"), Outer()
    agent = create_agent(
        model,
        middleware=[
            SummarizationMiddleware(summarizer, trigger=("messages", 3), keep=("messages", 1)),
            outer,
            WebMiddleware(web, fetch="seen"),
        ],
        checkpointer=InMemorySaver(),
    )
    await invoke(agent, f"My link is {page}.", _thread())
    result = await invoke(agent, "Read it.", _thread())
    assert [code_of(message) for message in outer.results] == [None, "url_not_seen"]
    texts = [str(message.text) for message in result["messages"]]
    assert any(other in text for text in texts)
    assert not any(page in text for text in texts[:2])


async def test_a_summary_without_a_mark_is_no_text_of_the_user_in_the_next_turn(
    invoke: Invoke, web: WebTools, page: str
) -> None:
    class Shortener(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> Any:
            if len(state["messages"]) == 1:
                first = state["messages"][0]
                return {"messages": [HumanMessage(f"Summary: see {page}", id=first.id)]}
            return None

    model = script("Hello.", _fetch(page), "done")
    middleware = [Shortener(), WebMiddleware(web, fetch="seen")]
    agent = create_agent(model, middleware=middleware, checkpointer=InMemorySaver())
    await invoke(agent, "Hello.", _thread())
    (message,) = tool_messages(await invoke(agent, "Read it.", _thread()))
    assert code_of(message) == "url_not_seen"


async def test_what_one_user_saw_does_not_open_for_another(
    invoke: Invoke, web: WebTools, page: str
) -> None:
    middleware = WebMiddleware(web, fetch="seen", user=lambda c: c["configurable"]["customer"])

    class Turns(Scripted):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            done = any(isinstance(message, ToolMessage) for message in messages)
            call: Any = {"name": "web_fetch", "args": {"urls": [page]}, "id": "c"}
            self.messages = iter(
                [AIMessage("done" if done else "", tool_calls=[] if done else [call])]
            )
            return super()._generate(messages, *args, **kwargs)

    agent = create_agent(
        Turns(messages=iter(())), middleware=[middleware], checkpointer=InMemorySaver()
    )
    texts = [f"Read {page}" if number % 2 else "Read it." for number in range(12)]
    results = await asyncio.gather(
        *(
            invoke(agent, text, _thread(str(number), customer=f"c{number}"))
            for number, text in enumerate(texts)
        )
    )
    codes = [code_of(tool_messages(result)[0]) for result in results]
    assert codes == ["url_not_seen", None] * 6
    assert len({result["web_report"]["id"] for result in results}) == 12


async def test_money_and_calls_add_up_over_turns_and_none_counts_twice(
    invoke: Invoke, web: WebTools, page: str
) -> None:
    def agent(*turns: Any) -> Any:  # a new one per turn, as on several machines
        middleware = [WebMiddleware(web, calls=3, fetch="seen")]
        return create_agent(script(*turns), middleware=middleware, checkpointer=saver)

    saver = InMemorySaver()
    first = (await invoke(agent(_search(), "done"), "Hello.", _thread()))["web_report"]
    second = (await invoke(agent(_fetch(page), "done"), "Go on.", _thread()))["web_report"]
    with web.session() as session:
        session.search("read json", limit=2)
        cost = session.report("json")["cost_usd"]
        session.fetch(page)
        total = session.report("json")["cost_usd"]
    assert 0 < cost < total
    assert (first["cost_usd"], second["cost_usd"]) == (cost, total)
    assert (first["calls"], second["calls"], second["id"]) == (1, 2, first["id"])
    third = await invoke(agent(_search("csv"), _search("xml"), "done"), "Go on.", _thread())
    assert code_of(tool_messages(third)[-1]) == "session_limit"
    assert third["web_report"]["calls"] == 3


_SECOND_TURN = """
import asyncio, json, sys
sys.path.insert(0, sys.argv[1])
from tool_agents import code_of, script, tool_messages
from langchain.agents import create_agent
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langchain_webtools import WebMiddleware
from webtools import WebTools

config, file, page = json.loads(sys.argv[2]), sys.argv[3], sys.argv[4]
calls = [("web_fetch", {"urls": [url]}) for url in (page, page + "?x=1")]
middleware = WebMiddleware(WebTools(config), fetch="seen", usd=1.0)
thread = {"configurable": {"thread_id": sys.argv[5]}}
turn = {"messages": [("user", "Go on.")]}

def agent(saver):
    return create_agent(script(calls, "done"), middleware=[middleware], checkpointer=saver)

async def arun():
    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        return await agent(saver).ainvoke(turn, thread)

if sys.argv[6] == "async":
    result = asyncio.run(arun())
else:
    with SqliteSaver.from_conn_string(file) as saver:
        result = agent(saver).invoke(turn, thread)
codes = [code_of(message) for message in tool_messages(result)[-2:]]
print(json.dumps({"codes": codes, "report": result["web_report"]}))
"""


@BOTH
def test_another_process_continues_a_conversation(
    webtools_sandbox: SandboxServer, page: str, tmp_path: Path, is_async: bool
) -> None:
    config, file = webtools_sandbox.config(), str(tmp_path / "checkpoints.sqlite")
    with SqliteSaver.from_conn_string(file) as saver, WebTools(config) as web:
        middleware = WebMiddleware(web, fetch="seen", usd=1.0)
        agent = create_agent(script(_search(), "done"), middleware=[middleware], checkpointer=saver)
        first = agent.invoke({"messages": [("user", "Read JSON.")]}, _thread("a"))["web_report"]  # type: ignore[call-overload]
    here = str(Path(__file__).parent)
    reports = []
    for thread in ("a", "b", "a"):
        arguments = [here, json.dumps(config), file, page, thread, "async" if is_async else ""]
        command = [sys.executable, "-c", _SECOND_TURN, *arguments]
        ran = subprocess.run(command, check=True, capture_output=True, env={**os.environ})
        reports.append(json.loads(ran.stdout))
    second, other, third = reports
    assert second["codes"] == [None, "url_not_seen"]
    assert other["codes"] == ["url_not_seen", "url_not_seen"]
    assert second["report"]["id"] == first["id"] != other["report"]["id"]
    costs = [first["cost_usd"], second["report"]["cost_usd"], third["report"]["cost_usd"]]
    assert costs[1] - costs[0] == pytest.approx(costs[2] - costs[1])
    assert [first["calls"], second["report"]["calls"], third["report"]["calls"]] == [1, 2, 3]


async def test_an_interrupted_run_goes_on_on_another_machine(
    invoke: Invoke, web: WebTools, page: str
) -> None:
    saver = InMemorySaver()

    def agent(*turns: Any) -> Any:
        middleware = [
            HumanInTheLoopMiddleware({"web_fetch": True}),
            WebMiddleware(web, fetch="seen"),
        ]
        return create_agent(script(*turns), middleware=middleware, checkpointer=saver)

    await invoke(agent(_search(), _fetch(page)), "Hello.", _thread())
    resume = Command(resume={"decisions": [{"type": "approve"}]})
    result = await invoke(agent("done"), resume, _thread())
    assert [message.status for message in tool_messages(result)] == ["success", "success"]
    assert result["web_report"]["calls"] == 2


async def test_another_user_cannot_continue_a_conversation(invoke: Invoke, web: WebTools) -> None:
    middleware = WebMiddleware(web, user=lambda config: config["configurable"]["customer"])
    agent = create_agent(
        script("Hello.", "Hello."), middleware=[middleware], checkpointer=InMemorySaver()
    )
    await invoke(agent, "Hello.", _thread(customer="ann"))
    with pytest.raises(InputError, match="another user"):
        await invoke(agent, "Hello.", _thread(customer="bob"))
    with pytest.raises(InputError, match="user"):
        await invoke(agent, "Hello.", _thread(customer=""))


async def test_another_user_cannot_resume_a_run(invoke: Invoke, web: WebTools, page: str) -> None:
    middleware = [
        HumanInTheLoopMiddleware({"web_fetch": True}),
        WebMiddleware(web, fetch="seen", user=lambda config: config["configurable"]["customer"]),
    ]
    agent = create_agent(
        script(_fetch(page), "done"), middleware=middleware, checkpointer=InMemorySaver()
    )
    await invoke(agent, f"Read {page}", _thread(customer="ann"))
    resume = Command(resume={"decisions": [{"type": "approve"}]})
    with pytest.raises(InputError, match="another user"):
        await invoke(agent, resume, _thread(customer="bob"))
    result = await invoke(agent, resume, _thread(customer="ann"))
    assert [message.status for message in tool_messages(result)] == ["success"]


async def test_another_user_cannot_continue_a_run_that_stopped_before_the_model(
    invoke: Invoke, web: WebTools
) -> None:
    middleware = WebMiddleware(web, user=lambda config: config["configurable"]["customer"])
    agent = create_agent(
        script(_search(), "done"),
        middleware=[middleware],
        checkpointer=InMemorySaver(),
        interrupt_before=["model"],
    )
    await invoke(agent, "Hello.", _thread(customer="ann"))
    with pytest.raises(InputError, match="another user"):
        await invoke(agent, None, _thread(customer="bob"))
    result = await invoke(agent, None, _thread(customer="ann"))
    assert len(tool_messages(result)) == 1  # the first reply of the model was not used before


async def test_a_client_cannot_pass_a_session(invoke: Invoke, web: WebTools, page: str) -> None:
    session = web.session(fetch="seen")
    session.allow(page)
    stored = {"run": "1", "state": session.state()}
    agent = create_agent(
        script(_fetch(page), "done"), middleware=[WebMiddleware(web, fetch="seen")]
    )
    messages = {"messages": [("user", "Hello.")], "web_session": stored}
    result = await agent.ainvoke(messages)  # type: ignore[call-overload]
    assert code_of(tool_messages(result)[0]) == "url_not_seen"
    assert "web_session" not in result


async def test_a_tool_that_evades_the_session_is_refused(
    invoke: Invoke, web: WebTools, config_file: Any
) -> None:
    with WebTools(config_file()) as other:
        agent = create_agent(
            script(_search(), "done"),
            [WebSearchTool(web=other)],
            middleware=[WebMiddleware(web, fetch="seen")],
        )
        with pytest.raises(InputError, match="web_search"):
            await invoke(agent, "Hello.")


async def test_filters_go_with_every_search(invoke: Invoke, web: WebTools) -> None:
    middleware = WebMiddleware(web, exclude_domains=["127.0.0.1"], include_domains=[])
    search = next(tool for tool in middleware.tools if tool.name == "web_search")
    assert "exclude_domains" not in search.args
    assert "include_domains" in search.args
    assert "web_research" not in {tool.name for tool in middleware.tools}
    agent = create_agent(script(_search(), "done"), middleware=[middleware])
    (message,) = tool_messages(await invoke(agent, "Hello."))
    urls = [result["url"] for result in message.artifact["results"]]
    assert "exclude_domains" in message.artifact["filters"]
    assert not any("127.0.0.1" in url for url in urls)


async def test_the_end_of_a_run_is_reported(web: WebTools) -> None:
    ends: list[Any] = []

    async def later(session: Any, check: Any) -> None:
        await asyncio.sleep(0)
        ends.append((session.report("json")["calls"], check.bad_numbers))

    model = script(_search(), "By [9].", _search(), "By [9].")
    agent = create_agent(model, middleware=[WebMiddleware(web, on_end=later)])
    await agent.ainvoke({"messages": [("user", "Hello.")]})  # type: ignore[call-overload]
    model = script(_search(), "By [9].")
    middleware = WebMiddleware(web, on_end=lambda *each: ends.append((each[0].id, each[1])))
    create_agent(model, middleware=[middleware]).invoke({"messages": [("user", "Hi")]})  # type: ignore[call-overload]
    assert ends[0] == (1, [9])
    assert ends[1][1].bad_numbers == [9]


Agent = Callable[[WebTools], Any]


def with_middleware(web: WebTools, **tape: Any) -> Any:
    middleware = WebMiddleware(web, fetch="seen", user=lambda c: c["configurable"]["user"], **tape)
    return create_agent(_turns(), middleware=[middleware], checkpointer=InMemorySaver())


def with_tools(web: WebTools) -> Any:
    tools = WebToolkit(web).get_tools()
    return create_agent(_turns(), tools, checkpointer=InMemorySaver())


def _turns() -> Scripted:
    return script(_search(), "By [1].", _search("csv"), "By [2].", _search(), _fetch(UNSEEN), "no")


async def _run_all(invoke: Invoke, agent: Any) -> list[Any]:
    messages: list[Any] = []
    for thread in ("1", "1", "2"):
        config = _thread(thread, user=f"user {thread}")
        messages += tool_messages(await invoke(agent, "Go on.", config))
    return [(each.content, timeless(each.artifact), each.status) for each in messages]


async def test_the_calls_of_all_conversations_are_replayed(
    invoke: Invoke, web: WebTools, tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    tape = tmp_path / "run.jsonl"
    recorded = await _run_all(invoke, with_middleware(web, record=tape))
    assert len(recorded) == 5  # of two turns of one conversation, the second with both, and another
    webtools_sandbox.fault(status=500)
    replaying = WebTools(tmp_path / "no-such-file.json")
    assert await _run_all(invoke, with_middleware(replaying, replay=tape)) == recorded
    for user, unused in (("ann", []), ("", []), ("user 2", ["web_search"])):
        middleware = WebMiddleware(replaying, fetch="seen", user=user, replay=tape)
        model = script("No.")
        agent = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
        report = (await invoke(agent, "Go on.", _thread()))["web_report"]
        # No user learns what another one has asked.
        assert [call["tool"] for call in report["unused_calls"]] == unused


@pytest.mark.parametrize("make", [with_tools, with_middleware])
async def test_the_environment_records_and_replays_an_agent(
    make: Agent, invoke: Invoke, web: WebTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tape = str(tmp_path / "run.jsonl")
    monkeypatch.setenv("WEBTOOLS_RECORD", tape)
    recorded = await _run_all(invoke, make(web))
    monkeypatch.delenv("WEBTOOLS_RECORD")
    monkeypatch.setenv("WEBTOOLS_REPLAY", tape)
    assert await _run_all(invoke, make(WebTools(tmp_path / "no-such-file.json"))) == recorded


def test_an_argument_that_is_misspelt_is_named_with_the_nearest_one(web: WebTools) -> None:
    with pytest.raises(InputError, match=r"has no argument usr \(did you mean .*user.*max_native"):
        WebMiddleware(web, usr="ann")  # type: ignore[call-arg]


def test_a_file_that_is_no_tape_is_refused_when_the_agent_is_made(
    web: WebTools, tmp_path: Path
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("notes")
    for argument in ("record", "replay"):
        with pytest.raises(InputError, match=file.name):
            WebMiddleware(web, **{argument: file})  # type: ignore[arg-type]
    assert file.read_text() == "notes"
    web.session(record=tmp_path / "run.jsonl").search("json", limit=1)
    recorded = (tmp_path / "run.jsonl").read_text()
    for wrong in ({"usd": -1}, {"tools": ["absent"]}, {"native": "always"}):
        with pytest.raises((ValueError, InputError)):
            WebMiddleware(web, record=tmp_path / "run.jsonl", **wrong)  # type: ignore[arg-type]
    assert (tmp_path / "run.jsonl").read_text() == recorded


def test_a_function_that_returns_no_keys_is_refused(web: WebTools) -> None:
    none: Any = None
    middleware = WebMiddleware(web, user="ann", api_keys=lambda _config: none)
    agent = create_agent(script("done"), middleware=[middleware])
    with pytest.raises(InputError, match="api_keys"):
        agent.invoke({"messages": [("user", "zip")]})


def test_an_invalid_option_is_refused_when_the_agent_is_made(web: WebTools) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("usd", {"usd": -1}),
        ("some", {"fetch": "some"}),
        ("usd_per_day", {"usd_per_day": 1}),
        ("not a domain", {"include_domains": ["not a domain"]}),
        ("no_such", {"no_such": 1}),
        ("timeout", {"timeout": 5}),
        ("web_research", {"tools": ["web_search", "web_research"], "category": "news"}),
        ("include_domains", {"tools": ["web_research"], "include_domains": ["a.example"]}),
    ]
    for value, options in wrong:
        with pytest.raises((ValueError, InputError), match=value):
            WebMiddleware(web, **options)
    with pytest.raises(InputError, match="session"):
        WebMiddleware(web.session())


class Answer(BaseModel):
    """A structured answer, whose texts a page may show one by one."""

    head: str
    text: str


@pytest.mark.parametrize("head", ["Ok", "```", "<!--", "~~~\n"])
async def test_a_structured_answer_is_checked_too(invoke: Invoke, web: WebTools, head: str) -> None:
    call: Call = ("Answer", {"head": head, "text": "See ![x](https://made-up.example/x)."})
    middleware = WebMiddleware(web, fetch="seen")
    agent = create_agent(
        script(call), middleware=[middleware], response_format=ToolStrategy(Answer)
    )
    result = await invoke(agent, "How do I read JSON?")
    assert result["structured_response"].head == head
    assert result["web_report"]["check"]["not_seen"] == ["https://made-up.example/x"]


def test_states_of_one_session_are_joined(web: WebTools) -> None:
    first = web.session(id="s")
    first.allow("https://a.example/1", origin="user")
    old = first.state()
    other = web.session(id="s", state=old)
    first.record_native(vendor="v", sources=["https://b.example/2"], searches=1, cost_usd=0.1)
    other.record_native(vendor="v", sources=["https://c.example/3"], searches=1, cost_usd=0.1)
    joined = merge_states(merge_states(old, first.state()), other.state())
    assert merge_states(joined, joined) == joined
    assert merge_states(joined, old)["use"] == joined["use"]
    loaded = web.session(state=joined)
    for url in ("https://a.example/1", "https://b.example/2", "https://c.example/3"):
        assert loaded.has_seen(url)
    assert [(source.number, source.url) for source in loaded.sources if source.number] == [
        (1, "https://b.example/2"),
        (2, "https://c.example/3"),
    ]
    assert merge_states(joined, other.state())["sources"] == joined["sources"]
    assert loaded.check("By [1].").only_found == ["https://b.example/2"]
    assert merge_states(joined, web.session(id="t").state())["id"] == "t"
