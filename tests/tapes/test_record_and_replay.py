"""A replay gives what was recorded, without settings, keys and a network."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import httpx
import pytest
from forking import in_child, needs_fork
from runtimes import BOTH, either
from tape_files import search_line, write_tape

from langchain_webtools import WebToolkit
from llamaindex_webtools import WebToolsSpec
from webtools import InputError, Session, WebTools, WebToolsError, compare
from webtools._internal.pipeline import tape as tapes
from webtools.errors import AuthenticationError, ProviderError
from webtools.tools import TOOLS
from webtools_sandbox import SandboxServer

QUESTION = "How do I read a zip file in Python?"
PAGE = "library/json.html"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("web_search", {"queries": ["json decoder", "zip file"], "limit": 3}),
    ("web_fetch", {"urls": [PAGE, "library/absent.html"]}),
    ("web_fetch", {"urls": [PAGE], "question": "What is JSON?"}),
    ("web_fetch", {"urls": ["library/absent.html"]}),
    ("summarize", {"url": PAGE}),
    ("web_research", {"query": QUESTION, "command": "web-deep"}),
    ("web_research", {"query": QUESTION, "command": "web-docs"}),
    ("web_research", {"query": QUESTION}),
    ("web_search", {"queries": ["json"], "provider": "absent"}),
    ("web_search", {"queries": ["json"], "limit": 1000}),
]


def at(server: SandboxServer, arguments: dict[str, Any]) -> dict[str, Any]:
    """Put the address of the sandbox before the paths of pages."""
    full = lambda path: f"{server.docs_url}/{path}"  # noqa: E731
    return {
        name: [*map(full, value)] if name == "urls" else full(value) if name == "url" else value
        for name, value in arguments.items()
    }


def facts_of(error: WebToolsError) -> Any:
    return type(error), error.to_details(), error.cost_usd


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except WebToolsError as error:
        return facts_of(error)


def by_methods(session: Session, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    methods = {
        "web_search": session.search,
        "web_fetch": session.fetch,
        "summarize": session.summarize,
        "web_research": session.research,
    }
    return [
        outcome(lambda name=name, arguments=arguments: methods[name](**arguments))
        for name, arguments in calls
    ]


def by_async_methods(session: Session, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    methods: dict[str, Callable[..., Awaitable[Any]]] = {
        "web_search": session.asearch,
        "web_fetch": session.afetch,
        "summarize": session.asummarize,
        "web_research": session.aresearch,
    }

    async def call() -> list[Any]:
        results: list[Any] = []
        async with session:
            for name, arguments in calls:
                try:
                    results.append(await methods[name](**arguments))
                except WebToolsError as error:
                    results.append(facts_of(error))
        return results

    return asyncio.run(call())


def by_tools(session: Session, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    results = [session.call_tool(name, arguments) for name, arguments in calls]
    return [(result.text, result.details, result.is_error) for result in results]


def by_async_tools(session: Session, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    async def call() -> list[Any]:
        async with session:
            return [await session.acall_tool(name, arguments) for name, arguments in calls]

    return [(result.text, result.details, result.is_error) for result in asyncio.run(call())]


def by_langchain(session: Session, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    tools = {tool.name: tool for tool in WebToolkit(web=session).get_tools()}
    messages = [
        tools[name].invoke({"type": "tool_call", "id": "1", "name": name, "args": arguments})
        for name, arguments in calls
    ]
    return [(message.content, message.artifact, message.status) for message in messages]


def by_llamaindex(session: Session, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    tools = {tool.metadata.name: tool for tool in WebToolsSpec(web=session).to_tool_list()}
    outputs = [tools[name].call(**arguments) for name, arguments in calls]
    return [(output.content, output.raw_output, output.is_error) for output in outputs]


SURFACES = [
    by_methods,
    by_async_methods,
    by_tools,
    by_async_tools,
    by_langchain,
    by_llamaindex,
]


@pytest.mark.parametrize("surface", SURFACES)
def test_a_replay_equals_its_recording(
    web: WebTools,
    unconfigured: WebTools,
    tape: Path,
    webtools_sandbox: SandboxServer,
    request: pytest.FixtureRequest,
    surface: Callable[[Session, list[tuple[str, dict[str, Any]]]], list[Any]],
) -> None:
    calls = [(name, at(webtools_sandbox, arguments)) for name, arguments in CALLS]
    recorded = surface(web.session(record=tape), calls)
    webtools_sandbox.stop()
    request.getfixturevalue("offline")
    session = unconfigured.session(replay=tape)
    try:
        assert surface(session, calls) == recorded
        assert session.unused_calls == []
    finally:
        webtools_sandbox.start()


def test_a_check_of_an_answer_is_replayed(
    web: WebTools, unconfigured: WebTools, tape: Path, webtools_sandbox: SandboxServer
) -> None:
    answer = f"It reads JSON. [1]\n\n[1]: {webtools_sandbox.docs_url}/{PAGE}"
    recorded = web.session(record=tape).verify(answer, fetch=True)
    assert recorded.claims
    webtools_sandbox.fault(status=500)
    assert unconfigured.session(replay=tape).verify(answer, fetch=True) == recorded


def test_the_gate_holds_for_a_replay(web: WebTools, unconfigured: WebTools, tape: Path) -> None:
    def run(session: Session) -> list[Any]:
        url = session.search("json").results[0].url
        calls = [("web_fetch", {"urls": urls}) for urls in ([url, f"{url}?k=v"], [f"{url}?k=v"])]
        return [url, *by_tools(session, calls), session.report("json")["sources"]]

    recorded = run(web.session(record=tape, fetch="seen"))
    assert [line.count("k=v") for line in tape.read_text().splitlines()] == [0, 0, 0]
    session = unconfigured.session(replay=tape, fetch="seen")
    assert run(session) == recorded
    assert session.unused_calls == []


@pytest.mark.filterwarnings("error")
def test_a_replay_offers_all_tools_without_a_warning(tape: Path) -> None:
    write_tape(tape, search_line("zip"))
    session = WebTools().session(replay=tape)
    assert {tool.name for tool in WebToolkit(web=session).get_tools()} == {*TOOLS}
    keyed = WebTools(api_keys={"brave": "test-key-canary-1"})
    assert len(keyed.session(replay=tape).tools()) == len(TOOLS) > len(keyed.tools())


def test_an_error_of_a_provider_keeps_its_class_and_facts(
    web: WebTools, unconfigured: WebTools, tape: Path, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401)
    session = web.session(record=tape)
    with pytest.raises(AuthenticationError) as live:
        session.search("json", provider="exa")
    with pytest.raises(AuthenticationError) as replayed:
        unconfigured.session(replay=tape).search("json", provider="exa")
    assert replayed.value.to_details() == live.value.to_details()


def test_equal_calls_are_replayed_in_the_recorded_order(
    web: WebTools, unconfigured: WebTools, tape: Path, webtools_sandbox: SandboxServer
) -> None:
    with web.session(record=tape) as session:
        first = session.search("json", cache="bypass", provider="exa")
        webtools_sandbox.fault(status=500)
        with pytest.raises(ProviderError):
            session.search("json", cache="bypass", provider="exa")
        webtools_sandbox.reset()
        third = session.search("json", cache="bypass", provider="exa")
    replay = unconfigured.session(replay=tape)
    assert replay.search("json", provider="exa") == first
    with pytest.raises(ProviderError):
        replay.search("json", provider="exa")
    assert replay.search("json", provider="exa") == third
    with pytest.raises(InputError) as caught:
        replay.search("json", provider="exa")
    assert caught.value.code == "not_on_tape"


@BOTH
def test_a_miss_names_the_closest_call_and_sends_nothing(
    unconfigured: WebTools, tape: Path, request: pytest.FixtureRequest, is_async: bool
) -> None:
    write_tape(tape, search_line("zip archives", limit=4), search_line("heap queue", limit=7))
    session = unconfigured.session(replay=tape)
    if not is_async:  # the event loop of a test connects to itself
        request.getfixturevalue("offline")
    arguments = {"query": "heap queues", "limit": 7}
    result = either(is_async, session, "call_tool", "web_search", arguments)
    assert result.is_error
    error = result.details["error"]
    assert (error["type"], error["code"], error["retryable"]) == (
        "InputError",
        "not_on_tape",
        False,
    )
    assert "line 3" in result.text
    assert "heap queue" in result.text
    assert "limit" not in result.text
    assert [call["line"] for call in session.unused_calls] == [2, 3]
    with pytest.raises(InputError, match="web_fetch"):
        either(is_async, session, "fetch", "https://a.example/")
    with pytest.raises(InputError, match='limit was "7", not set; content was not set, and is "T'):
        either(is_async, session, "search", "heap queue", content=True)
    assert either(is_async, session, "search", "heap queue", limit=7).results
    assert [call["arguments"] for call in session.unused_calls] == [
        {"queries": ["zip archives"], "limit": 4}
    ]


def test_a_miss_says_that_the_calls_are_of_another_user(web: WebTools, tape: Path) -> None:
    with web.session(user="ann", record=tape) as session:
        session.search("heap")
        session.record_native(vendor="v", queries=["heap"], searches=1)
    for user in ("", "bob"):
        with pytest.raises(InputError, match="Pass the user of the recording") as caught:
            web.session(user=user, replay=tape).search("zip")
        assert "heap" not in str(caught.value)
    with pytest.raises(InputError, match=r"the tape has no call of web_fetch\."):
        web.session(user="ann", replay=tape).fetch("https://a.example/")


def test_a_path_that_is_no_path_of_a_tape_is_refused(web: WebTools, tape: Path) -> None:
    for path in (tape.with_name("x" * 300), tape.parent, tape / "x"):
        with pytest.raises(InputError, match="cannot be read|does not exist"):
            web.session(replay=path)


def test_a_tape_that_is_missing_is_named_with_what_to_do(web: WebTools, tape: Path) -> None:
    with pytest.raises(InputError, match=f"{tape.name} does not exist. Check the path, or record"):
        web.session(replay=tape)


def test_with_both_a_miss_is_made_and_appended(
    web: WebTools, unconfigured: WebTools, tape: Path, webtools_sandbox: SandboxServer
) -> None:
    for query in ("json", "zip", "json"):
        with web.session(record=tape, replay=tape) as session:
            session.search(query, cache="bypass")
    assert len(tape.read_text().splitlines()) == 3
    requests = webtools_sandbox.stats()["requests"]
    assert sum(requests.values()) == 2
    with pytest.raises(WebToolsError, match=r"missing\.json"):
        unconfigured.session(record=tape, replay=tape).search("new")


def test_replayed_calls_are_neither_logged_nor_paid(
    webtools_sandbox: SandboxServer, tape: Path, tmp_path: Path
) -> None:
    config = webtools_sandbox.config()
    log = tmp_path / "calls.ndjson"
    with WebTools(config) as web:
        session = web.session(record=tape)
        recorded = [session.search("json", limit=limit).cost_usd for limit in (1, 2, 3)]
    limited = WebTools({**config, "log": {"path": str(log)}, "budget": {"callsPerProcess": 1}})
    replay = limited.session(replay=tape, usd=0, calls=1)
    assert [replay.search("json", limit=limit).cost_usd for limit in (1, 2, 3)] == recorded
    assert not log.exists()


# --- the file -----------------------------------------------------------------------------------


def test_a_tape_is_replaced_and_no_other_file(web: WebTools, tape: Path) -> None:
    write_tape(tape, search_line("old"))
    tape.chmod(0o644)
    with web.session(record=tape) as session:
        session.search("json")
    assert '"old"' not in tape.read_text()
    assert stat.S_IMODE(tape.stat().st_mode) == 0o600
    for text in ("my notes\n", "{}\n", '{"tape": "x"}\n', '{"tape": 2}\n', "\0" * 9000):
        tape.write_text(text)
        with pytest.raises(InputError, match=tape.name):
            web.session(record=tape)
        assert tape.read_text() == text
    link = tape.with_name("link.jsonl")
    link.symlink_to(tape.with_name("target.jsonl"))
    with pytest.raises(InputError, match=r"link\.jsonl"):
        web.session(record=link)
    assert not tape.with_name("target.jsonl").exists()


def test_a_tape_is_replaced_at_once_and_continued_with_a_state(web: WebTools, tape: Path) -> None:
    def queries() -> list[list[str]]:
        lines = [json.loads(line) for line in tape.read_text().splitlines()[1:]]
        return [line["arguments"]["queries"] for line in lines]

    with web.session(record=tape) as first:
        first.search("first")
    second = web.session(record=tape)
    second.search("second")
    assert queries() == [["second"]]
    first.search("first again")
    second.close()
    second.search("after close")
    web.session(record=tape, state=second.state()).search("continued")
    assert queries() == [["second"], ["first again"], ["after close"], ["continued"]]


@pytest.mark.parametrize("name", [".", "missing/run.jsonl", "/dev/null", "a\0b"])
def test_what_is_no_regular_file_is_refused(web: WebTools, tmp_path: Path, name: str) -> None:
    for argument in ("record", "replay"):
        with pytest.raises(InputError):
            web.session(**{argument: tmp_path / name})  # type: ignore[arg-type]


def test_the_lines_of_many_threads_are_whole(web: WebTools, tape: Path) -> None:
    session = web.session(record=tape)
    threads = [
        threading.Thread(target=session.search, args=(f"json {number}",)) for number in range(24)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [json.loads(line) for line in tape.read_text().splitlines()]
    assert len(lines) == 25
    assert {*lines[0]} == {"tape", "webtools", "created"}


FOLDER = str(Path(__file__).parents[1])
KILLED = """
import json, sys
sys.path.insert(0, sys.argv[1])
from runtimes import either
from webtools import WebTools
web = WebTools(json.loads(sys.argv[2]))
session = web.session(record=sys.argv[3])
for number in range(10_000):
    either(sys.argv[4] == "async", session, "search", f"json {number}", cache="bypass")
    print(number, flush=True)
"""


@BOTH
def test_a_killed_process_leaves_whole_lines(
    webtools_sandbox: SandboxServer, tape: Path, unconfigured: WebTools, is_async: bool
) -> None:
    config, way = json.dumps(webtools_sandbox.config()), "async" if is_async else "blocking"
    arguments = [sys.executable, "-c", KILLED, FOLDER, config, str(tape), way]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    text = tape.read_text()
    assert text.endswith("\n")
    assert len([json.loads(line) for line in text.splitlines()]) >= 4
    assert unconfigured.session(replay=tape).search("json 2").queries == ["json 2"]


def test_a_forked_process_appends(web: WebTools, tape: Path) -> None:
    session = web.session(record=tape)
    session.search("json parent")
    child = os.fork()
    if not child:
        try:
            session.search("json child", cache="bypass")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    session.search("json after")
    queries = [
        json.loads(line)["arguments"]["queries"] for line in tape.read_text().splitlines()[1:]
    ]
    assert queries == [["json parent"], ["json child"], ["json after"]]


def test_a_full_tape_is_reported_with_the_response(
    web: WebTools, tape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools._internal.pipeline.tape.MAX_BYTES", 5000)
    session = web.session(record=tape)
    responses = [session.search(f"json {number}", limit=5) for number in range(3)]
    assert responses[0].warnings == []
    assert "5000" in responses[-1].warnings[-1]
    assert len(tape.read_bytes()) <= 5000
    envelope = session.research(QUESTION)
    assert "5000" in envelope.meta.warnings[-1]
    monkeypatch.setattr("webtools._internal.pipeline.tape_lines.MAX_BYTES", 100)
    with pytest.raises(InputError, match="100"):
        web.session(replay=tape)


FULL_DISK = """
import resource, signal, sys
from webtools import InputError, WebTools
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (30, 30))
try:
    WebTools({"providers": [{"name": "direct", "type": "direct"}]}).session(record=sys.argv[1])
except InputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of a file's size")
def test_without_room_for_a_header_nothing_is_recorded(tape: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tape)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert str(tape) in ran.stdout
    assert tape.read_bytes() == b""


RECORD = """
import json, sys
from webtools import WebTools
session = WebTools(json.loads(sys.argv[1])).session(record=sys.argv[2])
print("open", flush=True)
sys.stdin.read()
session.search("of another process", limit=1)
"""


@contextmanager
def another_process_records(tape: Path, server: SandboxServer) -> Iterator[None]:
    """Let another process open a tape, and record a call at the end."""
    command = [sys.executable, "-c", RECORD, json.dumps(server.config()), str(tape)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        yield
        other.communicate(timeout=60)


def queries_on(tape: Path) -> list[str]:
    lines = [json.loads(line) for line in tape.read_text().splitlines()[1:]]
    return [*chain.from_iterable(line["arguments"]["queries"] for line in lines)]


def test_a_tape_that_another_process_records_is_kept(
    web: WebTools, tape: Path, webtools_sandbox: SandboxServer
) -> None:
    with another_process_records(tape, webtools_sandbox), web.session(record=tape) as session:
        session.search("json", limit=1)
    assert queries_on(tape) == ["json", "of another process"]
    with web.session(record=tape) as session:
        session.search("zip", limit=1)
    assert queries_on(tape) == ["zip"]


@needs_fork
@pytest.mark.parametrize("has_old_tape", [False, True])
def test_processes_that_begin_at_once_record_all_calls(tape: Path, has_old_tape: bool) -> None:
    def respond(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"results": []})

    def record(number: int) -> None:
        for each in tapes:
            barrier.wait(30)
            with web.session(record=each) as session:
                session.search(str(number))
                barrier.wait(30)

    exa = {"name": "exa", "type": "exa", "apiKey": "test-key-canary-1"}
    config = {"providers": [exa], "cache": {"enabled": False}, "log": {"enabled": False}}
    web = WebTools(config, transport=httpx.MockTransport(respond))
    web.search("warm")
    forked = multiprocessing.get_context("fork")
    tapes = [tape.with_name(f"{number}.jsonl") for number in range(60)]
    for each in tapes if has_old_tape else []:
        write_tape(each, search_line("old"))
    barrier = forked.Barrier(6)
    workers = [forked.Process(target=record, args=(number,)) for number in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for each in tapes:
        assert sorted(queries_on(each)) == [str(number) for number in range(6)]


def end_another_session(web: WebTools, tape: Path) -> None:
    web.session(record=tape).close()


def end_a_child(web: WebTools, _tape: Path) -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


USES: list[Callable[[WebTools, Path], Any]] = [
    lambda _web, _tape: None,
    lambda _web, tape: compare(tape, tape),
    lambda web, tape: web.session(replay=tape).unused_calls,
    end_another_session,
    end_a_child,
]


@pytest.mark.parametrize("is_elsewhere", [False, True], ids=["this process", "another"])
@pytest.mark.parametrize("use", USES)
def test_a_tape_in_use_is_kept(
    web: WebTools,
    tape: Path,
    webtools_sandbox: SandboxServer,
    use: Callable[[WebTools, Path], Any],
    is_elsewhere: bool,
) -> None:
    with web.session(record=tape) as session:
        session.search("first", limit=1)
        use(web, tape)
        if is_elsewhere:
            with another_process_records(tape, webtools_sandbox):
                session.search("second", limit=1)
        else:
            with web.session(record=tape) as other:
                session.search("second", limit=1)
                other.search("of another session", limit=1)
    assert queries_on(tape)[:2] == ["first", "second"]
    assert len(queries_on(tape)) == 3


def test_searches_of_a_vendor_that_do_not_fit_are_reported(
    web: WebTools, tape: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = web.session(record=tape)
    session.record_native(vendor="openai", queries=["\ud800"], searches=1)
    assert len(tape.read_text().splitlines()) == 2
    monkeypatch.setattr("webtools._internal.pipeline.tape.MAX_BYTES", 10)
    session.record_native(vendor="openai", queries=["ferry"], searches=1)
    assert tape.name in caplog.text
    assert session.report("json")["calls"] == 2


def test_a_tape_that_was_deleted_is_reported(web: WebTools, tape: Path) -> None:
    session = web.session(record=tape)
    session.search("json", limit=1)
    tape.unlink()
    assert "deleted" in session.search("json", limit=1).warnings[-1]


@needs_fork
@pytest.mark.parametrize("argument", ["record", "replay"])
def test_a_forked_process_does_not_wait_for_a_thread_that_opens_a_tape(
    tape: Path, monkeypatch: pytest.MonkeyPatch, argument: str
) -> None:
    write_tape(tape, search_line("zip"))
    is_opening, may_go_on = threading.Event(), threading.Event()

    def wait(*args: Any, **options: Any) -> Any:
        if threading.current_thread() is opening:
            is_opening.set()
            may_go_on.wait(60)
        return original(*args, **options)

    name = "_open_to_write" if argument == "record" else "read_tape"
    original = getattr(tapes, name)
    monkeypatch.setattr(tapes, name, wait)
    monkeypatch.setenv(f"WEBTOOLS_{argument.upper()}", str(tape))
    opening = threading.Thread(target=tapes.ambient_tape)
    opening.start()
    try:
        assert is_opening.wait(60)
        assert in_child(tapes.ambient_tape, 20) == 0
    finally:
        may_go_on.set()
        opening.join()


def test_a_session_of_a_user_is_replayed_and_continued_without_settings(
    web: WebTools, tape: Path, unconfigured: WebTools
) -> None:
    with web.session(record=tape, user="ann") as session:
        session.search("json", limit=1)
    replay = unconfigured.session(replay=tape, user="ann")
    state = replay.state()
    assert replay.search("json", limit=1).results
    assert unconfigured.session(replay=tape, user="ann", state=state).id == replay.id
