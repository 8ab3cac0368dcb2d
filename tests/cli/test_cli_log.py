"""`webtools log tail` and `webtools explain`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli_calls import Cli, Start

from webtools import logs
from webtools._internal.logs.events import Log

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


def log_of(trial: str) -> Path:
    return Path(trial).with_name("trial-log.ndjson")


def calls_in(trial: str) -> list[str]:
    lines = log_of(trial).read_text().splitlines()
    return list(dict.fromkeys(json.loads(line)["call"] for line in lines))


def log_for(path: Path, max_bytes: int = 2000) -> Log:
    return Log(path, max_bytes=max_bytes, max_backups=5, rotate_check_ms=1)


# --- log tail ----------------------------------------------------------------------------------


def test_tail_prints_the_last_lines_for_people(cli: Cli, trial: str) -> None:
    cli("search", "heap", "--config", trial)
    result = cli("log", "tail", "--config", trial)
    expected = [logs.tail_line(event) for event in logs.tail(log_of(trial), 99)]
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == expected
    assert cli("log", "tail", "-n", "2", "--config", trial).out.splitlines() == expected[-2:]


def test_tail_with_json_prints_the_lines_as_they_were_written(cli: Cli, trial: str) -> None:
    cli("search", "heapq ☃", "--config", trial)
    result = cli("log", "tail", "--json", "--config", trial)
    assert result.out == log_of(trial).read_text()


@pytest.mark.parametrize(
    ("count", "output"), [(None, 99), ("1", 1), ("4", 4), ("6", 99), ("50", 99)]
)
def test_tail_of_one_call_prints_its_lines_alone(
    cli: Cli, trial: str, count: str | None, output: int
) -> None:
    cli("search", "heap", "--config", trial)
    cli("search", "queue", "--config", trial)
    first, _ = calls_in(trial)
    all_items = [json.dumps(e, separators=(",", ":")) for e in logs.events_of(log_of(trial), first)]
    options = ["-n", count] if count else []
    result = cli("log", "tail", "--call", first.upper(), *options, "--json", "--config", trial)
    assert result.out.splitlines() == all_items[-output:]


def test_log_lines_cannot_control_the_terminal(cli: Cli, trial: str) -> None:
    evil = "\x1b[31m \x9b31m \u202e \x07"
    line = {"ts": "2026-01-01T00:00:00.000Z", "event": evil, "call": f"a{evil}", "q": [evil]}
    log_of(trial).write_text(json.dumps(line) + "\n" + json.dumps(line, ensure_ascii=False) + "\n")
    for command in (["log", "tail"], ["log", "tail", "--json"], ["explain", "a"]):
        out = cli(*command, "--config", trial).out
        assert out
        assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(out)


@pytest.mark.parametrize(
    "command", [["log", "tail"], ["log", "tail", "--follow"], ["explain", "x"]]
)
def test_a_log_that_is_turned_off_is_exit_2_and_names_the_setting(
    cli: Cli, config: str, command: list[str]
) -> None:
    result = cli(*command, "--config", config)
    assert (result.code, result.out) == (2, "")
    assert config in result.err
    assert "log.enabled" in result.err


# --- following ---------------------------------------------------------------------------------


def wait_for(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "nothing happened within 60 s"
        time.sleep(0.01)


def test_follow_prints_new_lines_until_ctrl_c(start: Start, trial: str, tmp_path: Path) -> None:
    log = log_for(log_of(trial))
    log.append(log.line("call", "old", {}))
    output = tmp_path / "shown"
    with output.open("w") as out:
        process = start("log", "tail", "--follow", "--json", "--config", trial, stdout=out)
        wait_for(lambda: '"old"' in output.read_text())
        for number in range(100):  # the file is full after some twenty
            log.append(log.line("call", "new", {"n": number}))
        wait_for(lambda: output.read_text().count("\n") >= 101)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    _, *new = map(json.loads, output.read_text().splitlines())
    assert [event["n"] for event in new] == list(range(100))
    assert log_of(trial).with_name("trial-log.ndjson.3").exists()


def test_follow_ends_when_its_reader_closes_the_pipe(start: Start, trial: str) -> None:
    log = log_for(log_of(trial))
    log.append(log.line("call", "one", {}))
    process = start("log", "tail", "--follow", "--config", trial, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert "one" in process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr is not None
    assert process.stderr.read() == ""


# --- explain -----------------------------------------------------------------------------------


def test_explain_lists_the_events_of_a_call(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", status=402, times=None)
    cli("web", "heap queue", "--config", trial)
    [call] = calls_in(trial)
    result = cli("explain", call, "--config", trial)
    assert (result.code, result.err) == (0, "")
    assert result.out == logs.explain(logs.events_of(log_of(trial), call)) + "\n"
    assert re.search(r"provider_error +exa .*status=402", result.out)
    assert cli("explain", call[:-1].upper(), "--config", trial).out == result.out


@pytest.mark.parametrize(
    ("call", "message"),
    [("zzz", '"zzz"'), ("6", '2 calls begin with "6"'), (" ", "empty")],
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_id_that_names_no_single_call_is_exit_2(
    cli: Cli, trial: str, call: str, message: str, options: list[str]
) -> None:
    log = log_for(log_of(trial))
    for item in ("61", "62"):
        log.append(log.line("call", item, {}))
    result = cli("explain", call, *options, "--config", trial)
    assert result.code == 2
    assert message in result.err
    assert result.json["error"]["type"] == "InputError" if options else result.out == ""
    wrong = cli("log", "tail", "--call", call, *options, "--config", trial)
    assert (wrong.code, wrong.err) == (2, result.err)


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
