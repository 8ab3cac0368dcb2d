"""What a session and its tape have in common: numbers, and calls that were not made."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from runtimes import BOTH, either
from tape_files import search_line, write_tape

from webtools import ConfigError, InputError, Session, WebTools
from webtools.adapters import shared_tape
from webtools_sandbox import SandboxServer

T = TypeVar("T")


def texts(session: Session, queries: list[str], *, is_async: bool) -> dict[str, str]:
    """Return the text of a search for each query, made one after the other."""
    arguments: list[dict[str, Any]] = [{"queries": [query], "limit": 2} for query in queries]

    async def search() -> list[str]:
        return [(await session.acall_tool("web_search", each)).text for each in arguments]

    if is_async:
        return dict(zip(queries, asyncio.run(search()), strict=True))
    results = [session.call_tool("web_search", each).text for each in arguments]
    return dict(zip(queries, results, strict=True))


@BOTH
def test_a_replay_in_another_order_has_the_recorded_numbers(
    web: WebTools, unconfigured: WebTools, tape: Path, is_async: bool
) -> None:
    queries = ["zip file", "json", "csv"]
    with web.session(record=tape) as session:
        recorded = texts(session, queries, is_async=is_async)
        sources = session.sources
    for order in (queries, queries[::-1], ["json", "csv", "zip file"]):
        replay = unconfigured.session(replay=tape)
        assert texts(replay, order, is_async=is_async) == recorded
        assert replay.sources == sources


def test_sessions_that_share_a_tape_keep_their_own_numbers(
    web: WebTools, unconfigured: WebTools, tape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBTOOLS_RECORD", str(tape))
    recorded = [texts(web.session(), [query], is_async=False) for query in ("zip", "json")]
    monkeypatch.setenv("WEBTOOLS_RECORD", "")
    monkeypatch.setenv("WEBTOOLS_REPLAY", str(tape))
    replays = [texts(unconfigured.session(), [query], is_async=False) for query in ("zip", "json")]
    assert replays == recorded


def test_two_sources_never_have_one_number(unconfigured: WebTools, tape: Path) -> None:
    lines = [
        search_line(name, f"https://{name}.example/") | {"numbers": {f"https://{name}.example/": 3}}
        for name in ("a", "b", "c")
    ]
    session = unconfigured.session(replay=write_tape(tape, *lines))
    for name in ("b", "c", "a"):
        session.search(name)
    assert [source.number for source in session.sources] == [3, 4, 5]
    assert session.sources[0].url == "https://b.example/"


def in_loop(is_async: bool, function: Callable[[], T]) -> T:
    """Call a function, perhaps while an event loop runs."""

    async def call() -> T:
        return function()

    return asyncio.run(call()) if is_async else function()


@BOTH
def test_a_replay_without_a_call_lists_all_calls_as_unused(
    unconfigured: WebTools, tape: Path, is_async: bool
) -> None:
    write_tape(tape, search_line("zip"), search_line("json"))

    def look() -> list[list[int]]:
        session = unconfigured.session(replay=tape)
        unused = [session.unused_calls, session.report("json")["unused_calls"]]
        return [[call["line"] for call in calls] for calls in unused]

    assert in_loop(is_async, look) == [[2, 3], [2, 3]]


def test_a_report_on_a_loop_names_a_tape_that_cannot_be_read(
    unconfigured: WebTools, tape: Path
) -> None:
    report = in_loop(True, lambda: unconfigured.session(replay=tape).report("json"))
    assert str(tape) in report["notes"][-1]
    with pytest.raises(InputError, match=tape.name):
        in_loop(True, lambda: unconfigured.session(replay=tape).unused_calls)


@BOTH
def test_a_run_without_a_call_keeps_the_older_tape(
    unconfigured: WebTools, tape: Path, is_async: bool
) -> None:
    write_tape(tape, search_line("old"))

    async def run() -> None:
        async with unconfigured.session(record=tape):
            pass

    if is_async:
        asyncio.run(run())
    else:
        unconfigured.session(record=tape).close()
    assert len(tape.read_text().splitlines()) == 2


def test_the_first_call_that_is_made_replaces_the_older_tape(web: WebTools, tape: Path) -> None:
    write_tape(tape, search_line("old"))
    session = web.session(record=tape)
    with pytest.raises(InputError):
        session.search("json", limit=1000)
    assert "old" in tape.read_text()
    session.search("json", limit=1)
    assert "old" not in tape.read_text()
    assert len(tape.read_text().splitlines()) == 2


def test_of_sessions_that_were_opened_together_none_removes_calls_of_the_other(
    web: WebTools, tape: Path
) -> None:
    write_tape(tape, search_line("old"))
    one, other = web.session(record=tape), web.session(record=tape)
    one.search("json", limit=1)
    one.close()
    other.search("zip", limit=1)
    third = web.session(record=tape)
    other.search("csv", limit=1)
    other.close()
    third.search("toml", limit=1)
    lines = tape.read_text().splitlines()
    assert [json.loads(line)["arguments"]["queries"] for line in lines[1:]] == [
        ["json"],
        ["zip"],
        ["csv"],
        ["toml"],
    ]


def test_a_call_that_failed_for_want_of_a_key_is_made_again(
    web: WebTools, tape: Path, unconfigured: WebTools
) -> None:
    with unconfigured.session(record=tape, replay=tape) as session, pytest.raises(ConfigError):
        session.search("json")
    with unconfigured.session(replay=tape) as session, pytest.raises(ConfigError):
        session.search("json")
    with web.session(record=tape, replay=tape) as session:
        found = session.search("json")
    with unconfigured.session(replay=tape) as session:
        assert session.search("json").results == found.results
        assert session.unused_calls == []


def test_a_report_counts_the_calls_that_failed(web: WebTools, tape: Path) -> None:
    with web.session(record=tape) as session:
        with pytest.raises(ConfigError):
            session.fetch("https://no-such-host.invalid/", provider="nope")
        session.search("json")
        assert "Failed calls: 1 of web_fetch" in session.report()


def share(tape: Path, _: pytest.MonkeyPatch, *, records: bool) -> dict[str, Any]:
    return shared_tape(tape if records else None, tape)


def by_path(tape: Path, _: pytest.MonkeyPatch, *, records: bool) -> dict[str, Any]:
    return {"replay": tape} | ({"record": tape} if records else {})


def by_variable(tape: Path, monkeypatch: pytest.MonkeyPatch, *, records: bool) -> dict[str, Any]:
    monkeypatch.setenv("WEBTOOLS_REPLAY", str(tape))
    monkeypatch.setenv("WEBTOOLS_RECORD", str(tape) if records else "")
    return {}


@BOTH
@pytest.mark.parametrize("records", [False, True])
@pytest.mark.parametrize("way", [share, by_path, by_variable])
def test_a_tape_of_several_users_shows_each_user_their_own_calls(
    web: WebTools,
    tape: Path,
    webtools_sandbox: SandboxServer,
    monkeypatch: pytest.MonkeyPatch,
    way: Callable[..., dict[str, Any]],
    is_async: bool,
    records: bool,
) -> None:
    def call(session: Session, tool: str, **arguments: Any) -> Any:
        return either(is_async, session, "call_tool", tool, arguments)

    def unused(session: Session) -> list[str]:
        assert session.report("json")["unused_calls"] == session.unused_calls
        return [call["tool"] for call in session.unused_calls]

    names = ["typing", "doctest", "inspect", "difflib"]  # together too long for one output
    urls = [f"{webtools_sandbox.docs_url}/library/{name}.html" for name in names]
    with web.session(user="ada", record=tape) as ada:
        handle = call(ada, "web_fetch", urls=urls).details["read_handle"]
        recorded = call(ada, "web_read", handle=handle, offset=90)
        call(ada, "web_search", queries=["a question of ada"])
    options = way(tape, monkeypatch, records=records)
    with web.session(user="bob", **options) as bob:
        assert call(bob, "web_read", handle=handle, offset=90).is_error
        assert unused(bob) == []
        searched = call(bob, "web_search", queries=["a question of bob"])
        assert searched.is_error is not records
        assert "of ada" not in searched.text
    with web.session(**options) as visitor:
        assert call(visitor, "web_read", handle=handle, offset=90).is_error
        assert unused(visitor) == []
    with web.session(user="ada", **options) as ada:
        assert unused(ada) == ["web_fetch", "web_read", "web_search"]
        assert call(ada, "web_read", handle=handle, offset=90).text == recorded.text


def test_a_closed_session_opens_its_tape_no_more(web: WebTools, tape: Path) -> None:
    with web.session(record=tape, replay=tape) as session:
        session.search("json")
    tape.unlink()
    assert session.unused_calls == []
    assert session.report("json")["unused_calls"] == []
    session.close()
    assert not tape.exists()


WITHOUT_A_CALL = """
import asyncio

def test_agent(webtools_tape):
    async def run():
        assert webtools_tape.unused == []
    asyncio.run(run())
"""


def test_a_test_on_a_loop_that_makes_no_call_fails(tmp_path: Path) -> None:
    file = tmp_path / "test_agent.py"
    file.write_text(WITHOUT_A_CALL)
    tape = tmp_path / "tapes" / "test_agent" / "test_agent.jsonl"
    tape.parent.mkdir(parents=True)
    write_tape(tape, search_line("old"))

    def run(*options: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "webtools.pytest_plugin", *options, str(file)]
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        ran = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )
        return ran.stdout

    assert "1 failed" in run()
    assert "1 passed" in run("--webtools-record=all")
    assert len(tape.read_text().splitlines()) == 1
    assert "1 passed" in run()


# --- searches of a model's vendor ---------------------------------------------------------------


@BOTH
def test_searches_that_do_not_fit_on_a_tape_are_counted_and_reported(
    web: WebTools, tape: Path, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    monkeypatch.setattr("webtools._internal.pipeline.tape.MAX_BYTES", 300)
    searches = {"queries": ["lease " * 100], "searches": 2, "cost_usd": 0.02}

    def run() -> Any:
        session = web.session(record=tape)
        session.record_native(vendor="openai", **searches)
        session.close()
        return session.report("json")

    report = in_loop(is_async, run)
    assert (report["calls"], report["cost_usd"]) == (2, 0.02)
    assert [str(tape) in note for note in report["notes"]] == [True]
    assert len(tape.read_text().splitlines()) == 1


def test_only_what_a_vendor_did_is_on_the_tape(web: WebTools, tape: Path) -> None:
    with web.session(record=tape) as session:
        for note in ("a", "a", "b", "a"):
            session.record_native(vendor="openai")
            session.record_native(vendor="openai", notes=[note], is_estimate=False)
        session.record_native(vendor="openai", searches=1)
        session.record_native(vendor="openai", cost_usd=0.01)
        with pytest.raises(InputError, match="vendor"):
            session.record_native(vendor="\n")
        assert session.report("json")["notes"] == ["a", "b"]
    assert len(tape.read_text().splitlines()) == 1 + 4
