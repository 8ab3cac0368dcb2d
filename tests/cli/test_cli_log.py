"""log tail and explain."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_calls import Cli, Start

from webtools._internal import logs
from webtools.cli import following
from webtools.cli import logs as logs_module
from webtools.cli.following import Follower, reader_left

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


def log_of(trial: str) -> Path:
    return Path(trial).with_name("trial-log.ndjson")


def calls_in(trial: str) -> list[str]:
    lines = log_of(trial).read_text().splitlines()
    return list(dict.fromkeys(json.loads(line)["call"] for line in lines))


def log_for(path: Path, max_bytes: int = 2000) -> logs.Log:
    return logs.Log(path, max_bytes=max_bytes, max_backups=5, rotate_check_ms=1)


# --- log tail ----------------------------------------------------------------------------------


def test_tail_prints_the_last_lines_for_people(cli: Cli, trial: str) -> None:
    cli("search", "heap", "--config", trial)
    done = cli("log", "tail", "--config", trial)
    expected = [logs.tail_line(event) for event in logs.tail(log_of(trial), 99)]
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == expected
    assert cli("log", "tail", "-n", "2", "--config", trial).out.splitlines() == expected[-2:]


def test_tail_prints_twenty_lines_unless_told_otherwise(cli: Cli, trial: str) -> None:
    log = log_for(log_of(trial), 10**6)
    for number in range(30):
        log.write("call", f"call{number}", {})
    assert len(cli("log", "tail", "--config", trial).out.splitlines()) == 20
    assert len(cli("log", "tail", "--lines", "99", "--config", trial).out.splitlines()) == 30
    assert cli("log", "tail", "-n", "0", "--config", trial) == cli(
        "log", "tail", "-n", "0", "--json", "--config", trial
    )


def test_tail_with_json_prints_the_lines_as_they_were_written(cli: Cli, trial: str) -> None:
    cli("search", "heapq ☃", "--config", trial)
    done = cli("log", "tail", "--json", "--config", trial)
    assert done.out == log_of(trial).read_text()


@pytest.mark.parametrize(
    ("count", "shown"), [(None, 99), ("1", 1), ("4", 4), ("6", 99), ("50", 99)]
)
def test_tail_of_one_call_prints_its_lines_alone(
    cli: Cli, trial: str, count: str | None, shown: int
) -> None:
    cli("search", "heap", "--config", trial)
    cli("search", "queue", "--config", trial)
    first, _ = calls_in(trial)
    every = [json.dumps(e, separators=(",", ":")) for e in logs.events_of(log_of(trial), first)]
    options = ["-n", count] if count else []
    done = cli("log", "tail", "--call", first.upper(), *options, "--json", "--config", trial)
    assert done.out.splitlines() == every[-shown:]


def test_a_log_without_a_line_says_so(cli: Cli, trial: str) -> None:
    done = cli("log", "tail", "--config", trial)
    assert (done.code, done.out) == (0, "")
    assert str(log_of(trial)) in done.err


def test_what_the_log_holds_acts_on_no_terminal(cli: Cli, trial: str) -> None:
    evil = "\x1b[31m \x9b31m \u202e \x07"
    line = {"ts": "2026-01-01T00:00:00.000Z", "event": evil, "call": f"a{evil}", "q": [evil]}
    log_of(trial).write_text(json.dumps(line) + "\n" + json.dumps(line, ensure_ascii=False) + "\n")
    for command in (["log", "tail"], ["log", "tail", "--json"], ["explain", "a"]):
        out = cli(*command, "--config", trial).out
        assert out
        assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(out)


@pytest.mark.parametrize("count", ["-1", "x", "", "1e3", "9999999999"])
def test_a_senseless_number_of_lines_is_refused(cli: Cli, count: str) -> None:
    done = cli("log", "tail", "-n", count)
    assert done.code == 2
    assert f"'{count}'" in done.err


@pytest.mark.parametrize(
    "command", [["log", "tail"], ["log", "tail", "--follow"], ["explain", "x"]]
)
def test_a_log_that_is_turned_off_is_exit_2_and_names_the_setting(
    cli: Cli, config: str, command: list[str]
) -> None:
    done = cli(*command, "--config", config)
    assert (done.code, done.out) == (2, "")
    assert config in done.err
    assert "log.enabled" in done.err


@pytest.mark.parametrize(
    "command", [["log", "tail"], ["log", "tail", "--follow"], ["explain", "x"]]
)
def test_a_log_that_cannot_be_read_is_exit_2_and_named(
    cli: Cli, trial: str, command: list[str]
) -> None:
    log_of(trial).mkdir()
    done = cli(*command, "--config", trial)
    assert (done.code, done.out) == (2, "")
    assert str(log_of(trial)) in done.err


# --- following ---------------------------------------------------------------------------------


def wait_for(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "nothing happened within 60 s"
        time.sleep(0.01)


def test_follow_prints_new_lines_until_ctrl_c(start: Start, trial: str, tmp_path: Path) -> None:
    log = log_for(log_of(trial))
    log.write("call", "old", {})
    shown = tmp_path / "shown"
    with shown.open("w") as out:
        process = start("log", "tail", "--follow", "--json", "--config", trial, stdout=out)
        wait_for(lambda: '"old"' in shown.read_text())
        for number in range(100):  # the file is full after some twenty
            log.write("call", "new", {"n": number})
        wait_for(lambda: shown.read_text().count("\n") >= 101)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    _, *new = map(json.loads, shown.read_text().splitlines())
    assert [event["n"] for event in new] == list(range(100))
    assert log_of(trial).with_name("trial-log.ndjson.3").exists()


def test_follow_ends_when_its_reader_is_gone(start: Start, trial: str) -> None:
    log_for(log_of(trial)).write("call", "one", {})
    process = start("log", "tail", "--follow", "--config", trial, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert "one" in process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr is not None
    assert process.stderr.read() == ""


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Lets following end after some things have happened, one at each pause."""
    happenings: list[Callable[[], None]] = []

    def pause(_: float) -> None:
        if not happenings:
            raise KeyboardInterrupt
        happenings.pop(0)()

    monkeypatch.setattr(logs_module.time, "sleep", pause)
    return happenings


def test_follow_waits_for_a_call_that_is_yet_to_come(
    cli: Cli, trial: str, ended: list[Callable[[], None]]
) -> None:
    log = log_for(log_of(trial))

    def write() -> None:
        for call in ("other", "wanted1", "wanted2"):
            log.write("call", call, {})

    ended.append(write)
    done = cli("log", "tail", "--follow", "--call", " WANTED1", "--config", trial)
    assert done.code == 130
    assert [line.split()[2] for line in done.out.splitlines()] == ["wanted1"]


def test_a_line_written_between_the_two_looks_is_shown_once(
    cli: Cli, trial: str, ended: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_for(log_of(trial))
    log.write("call", "first", {})

    def tail(path: Path, count: int) -> list[dict[str, Any]]:
        log.write("call", "between", {})
        return original(path, count)

    original = logs.tail
    monkeypatch.setattr(logs_module.logs_module, "tail", tail)
    ended.append(lambda: None)
    out = cli("log", "tail", "--follow", "--config", trial).out
    assert [line.split()[2] for line in out.splitlines()] == ["first", "between"]


def test_what_is_no_event_is_passed_over(
    cli: Cli, trial: str, ended: list[Callable[[], None]]
) -> None:
    def write() -> None:
        log_of(trial).write_text('no JSON\n[]\n{"call": 1}\n{"call": "x", "event": "e"}\n{"cal')

    ended.append(write)
    out = cli("log", "tail", "--follow", "--json", "--config", trial).out
    assert out == '{"call":"x","event":"e"}\n'


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_a_follower_gives_whole_lines_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old\n")
    follower = Follower(path)
    assert follower.lines() == []
    append(path, "one\ntw")
    assert follower.lines() == [b"one"]
    append(path, "o\n")
    assert follower.lines() == [b"two"]


def test_a_follower_begins_with_the_first_line_of_a_file_to_come(tmp_path: Path) -> None:
    path = tmp_path / "log"
    (tmp_path / "log.1").write_text("older\n")
    follower = Follower(path)
    assert follower.lines() == []
    path.write_text("one\n")
    assert follower.lines() == [b"one"]


def rotate(path: Path) -> None:
    for number in range(5, 0, -1):
        name = path.with_name(f"{path.name}.{number}")
        if name.exists():
            name.rename(path.with_name(f"{path.name}.{number + 1}"))
    path.rename(path.with_name(f"{path.name}.1"))


def test_a_follower_reads_what_was_moved_aside_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old\n")
    follower = Follower(path)
    for number in range(3):
        append(path, f"{number}\n")
        rotate(path)
    assert follower.lines() == [b"0", b"1", b"2"]
    path.write_text("3\n")
    assert follower.lines() == [b"3"]


def test_a_follower_begins_anew_in_a_file_that_was_emptied(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("a long line\n")
    follower = Follower(path)
    path.write_text("new\n")
    assert follower.lines() == [b"new"]


def test_a_follower_whose_file_was_deleted_reads_the_new_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old\n")
    (tmp_path / "log.1").write_text("older\n")
    (tmp_path / "log.2").mkdir()
    follower = Follower(path)
    path.unlink()
    assert follower.lines() == []
    path.write_text("new\n")
    assert follower.lines() == [b"new"]


def test_a_file_that_is_moved_while_it_is_read_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    path.write_text("old\n")
    follower = Follower(path)
    append(path, "one\n")
    rotate(path)
    path.write_text("two\n")
    look = follower._read

    def read_and_rotate(each: Path) -> Any:
        found = look(each)
        if each == path:
            rotate(path)
            path.write_text("three\n")
        return found

    monkeypatch.setattr(follower, "_read", read_and_rotate)
    assert follower.lines() == [b"one", b"two"]
    monkeypatch.undo()
    assert follower.lines() == [b"three"]


def test_whether_the_reader_is_gone_is_detected_where_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        assert not reader_left(stream)
        os.close(reader)
        assert reader_left(stream)
        monkeypatch.delattr(following.select, "poll", raising=False)
        assert not reader_left(stream)
    assert not reader_left(None)


def test_a_stream_that_is_no_file_has_its_reader() -> None:
    assert not reader_left(StringIO())


# --- explain -----------------------------------------------------------------------------------


def test_explain_lists_the_events_of_a_call(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", status=402, times=None)
    cli("web", "heap queue", "--config", trial)
    [call] = calls_in(trial)
    done = cli("explain", call, "--config", trial)
    assert (done.code, done.err) == (0, "")
    assert done.out == logs.explain(logs.events_of(log_of(trial), call)) + "\n"
    assert re.search(r"provider_error +exa .*status=402", done.out)
    assert cli("explain", call[:-1].upper(), "--config", trial).out == done.out


def test_explain_with_json_prints_the_events(cli: Cli, trial: str) -> None:
    cli("web", "heap queue", "--config", trial)
    [call] = calls_in(trial)
    data = cli("explain", call[:6], "--json", "--config", trial).json
    assert data["call"] == call
    assert data["events"] == logs.events_of(log_of(trial), call)


@pytest.mark.parametrize(
    ("call", "message"),
    [("zzz", '"zzz"'), ("6", '2 calls begin with "6"'), (" ", "empty")],
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_id_that_names_no_single_call_is_exit_2(
    cli: Cli, trial: str, call: str, message: str, options: list[str]
) -> None:
    log = log_for(log_of(trial))
    for each in ("61", "62"):
        log.write("call", each, {})
    done = cli("explain", call, *options, "--config", trial)
    assert done.code == 2
    assert message in done.err
    assert done.json["error"]["type"] == "InputError" if options else done.out == ""
    wrong = cli("log", "tail", "--call", call, *options, "--config", trial)
    assert (wrong.code, wrong.err) == (2, done.err)


@pytest.mark.parametrize("command", [["explain"], ["log", "tail", "--call"]])
def test_the_way_to_the_ids_leads_to_the_same_log(cli: Cli, trial: str, command: list[str]) -> None:
    done = cli(*command, "nope", "--config", trial)
    assert f"`webtools log tail --config {trial}`" in done.err


def test_explain_needs_an_id(cli: Cli) -> None:
    done = cli("explain")
    assert (done.code, done.out) == (2, "")
    assert "CALL-ID" in done.err


def test_a_call_that_was_interrupted_can_be_explained(
    start: Start, cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(delay=300, times=None)
    process = start("web-deep", "heap", "--config", trial)
    wait_for(lambda: sum(webtools_sandbox.stats()["requests"].values()) > 0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)  # a fraction of a second on an idle machine
    assert (process.returncode, out, err) == (130, "", "")
    [call] = calls_in(trial)
    assert "tool=web_research" in cli("explain", call, "--config", trial).out
