"""`webtools bulk`: its output, its exit codes, and resuming a run with the same command."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_calls import Cli, Start

from webtools import bulk
from webtools.cli import terminal_output
from webtools.cli.bulk_command import Display
from webtools.progress import Stage
from webtools_sandbox import SandboxServer


@pytest.fixture
def queries(tmp_path: Path) -> str:
    path = tmp_path / "queries.txt"
    path.write_text("heap queue\njson decoder\n")
    return str(path)


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("heap\n")
    Path("in.csv").write_text("query,note\nheap,mine\n")


def test_rows_are_written_and_counted(cli: Cli, config: str, queries: str, tmp_path: Path) -> None:
    out = str(tmp_path / "rows.jsonl")
    result = cli("bulk", "search", queries, "-o", out, "--config", config, "--set", "limit=1")
    assert (result.code, result.err) == (0, "")
    assert result.out == f"2 of 2 done: 2 ok; 0.014 USD; rows in {out}\n"
    assert [len(row.response.results) for row in bulk.read(out) if row.response] == [1, 1]  # type: ignore[union-attr]
    second = cli(
        "bulk", "search", queries, "-o", out, "--config", config, "--set", "limit=1", "--json"
    )
    assert (second.json["done"], second.json["resumed"], second.json["output"]) == (2, 2, out)


def test_failed_rows_make_the_exit_code_1_and_are_retried_on_request(
    cli: Cli, config: str, queries: str, tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    command = ["bulk", "search", queries, "-o", str(tmp_path / "rows.jsonl"), "--config", config]
    webtools_sandbox.fault(provider="exa", status=400, times=1)
    quiet = cli(*command, "--quiet", "--set", "provider=exa")
    assert (quiet.code, quiet.out, quiet.err) == (1, "", "")
    retried = cli(*command, "--set", "provider=exa")
    assert "--retry-failed" in retried.err
    assert "a row failed" not in retried.err  # it did in the run before
    assert cli(*command, "--retry-failed", "--set", "provider=exa").code == 0


def test_a_stopped_run_says_why(cli: Cli, config: str, queries: str, tmp_path: Path) -> None:
    poor = {**json.loads(Path(config).read_text()), "budget": {"callsPerProcess": 1}}
    poor["failover"] = False
    poor["cache"] = {"enabled": False, "path": str(tmp_path / "own.db")}
    Path(config).write_text(json.dumps(poor))
    out = str(tmp_path / "rows.jsonl")
    result = cli("bulk", "search", queries, "-o", out, "--config", config, "--workers", "1")
    assert result.code == 4
    assert result.out.startswith("1 of 2 done: 1 ok; 0.007 USD")
    assert "stopped: " in result.err
    assert "budget" in result.err


def test_why_a_row_failed_is_reported_at_once(cli: Cli, config: str, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("query,note\nheap,mine\n")
    result = cli("bulk", "search", str(table), "-o", str(tmp_path / "o.jsonl"), "--config", config)
    assert result.code == 1
    assert '"note"' in result.err
    assert "queries" in result.err


def test_a_full_disk_stops_the_run_and_names_the_file(
    cli: Cli, config: str, queries: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, write = tmp_path / "rows.jsonl", os.write

    def full(file: int, data: bytes) -> int:
        if len(data) > 200:  # a row, and no line of the journal
            raise OSError(28, "No space left on device")
        return write(file, data)

    monkeypatch.setattr(os, "write", full)
    result = cli("bulk", "search", queries, "-o", str(out), "--config", config)
    message = " ".join(result.err.split())
    assert result.code == 4
    assert message.startswith(f"webtools: stopped: {out}: ")
    assert "0 of 2 done" in message


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["search", "missing.txt", "-o", "rows.jsonl"], ["missing.txt"]),
        (["search", "in.txt", "-o", "rows.jsonl", "--set", "limit"], ["NAME=VALUE"]),
        (["search", "in.txt", "-o", "rows.jsonl", "--set", "colour=1"], ["colour"]),
        (["search", "in.txt", "-o", "rows.jsonl", "--workers", "0"], ["workers", "0"]),
        (["search", "in.txt", "-o", "nowhere/rows.jsonl"], ["nowhere"]),
        (
            ["search", "in.csv", "-o", "rows.jsonl", "--column", "qury"],
            ["in.csv", '"qury"', '"query"', '"note"'],
        ),
        (["search", "in.txt"], ["-o/--output"]),
        (["summarize", "in.txt", "-o", "rows.jsonl"], ["'summarize'"]),
    ],
)
def test_wrong_usage_is_exit_code_2(
    cli: Cli, config: str, in_folder: None, words: list[str], match: list[str]
) -> None:
    result = cli("bulk", *words, "--config", config)
    assert result.code == 2
    assert all(part in " ".join(result.err.split()) for part in match)
    assert not Path("rows.jsonl").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_ctrl_c_keeps_what_was_done(
    start: Start, config: str, tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    items, out = tmp_path / "many.txt", tmp_path / "rows.jsonl"
    items.write_text("".join(f"heap {i}\n" for i in range(500)))
    webtools_sandbox.latency = 0.05
    words = ("bulk", "search", str(items), "-o", str(out), "--config", config, "--workers", "2")
    running = start(*words)
    end = time.monotonic() + 30
    while (not out.exists() or out.read_bytes().count(b"\n") < 3) and time.monotonic() < end:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, message = running.communicate(timeout=20)
    assert running.returncode == 130
    row_count = len([*bulk.read(out)])
    assert row_count < 500
    assert f"{row_count} of 500 done" in message


def test_a_run_that_is_resumed_continues_its_tape(cli: Cli, config: str, tmp_path: Path) -> None:
    items, out, tape = (tmp_path / name for name in ("in.txt", "rows.jsonl", "run.jsonl"))
    words = ("bulk", "search", str(items), "-o", str(out), "--config", config)
    for text in ("heap\n", "heap\ncsv\n"):
        items.write_text(text)
        assert cli(*words, "--record", str(tape)).code == 0
    out.unlink()
    assert cli(*words, "--replay", str(tape)).code == 0
    assert cli(*words, "--record", str(tape), "--retry-failed").code == 0
    assert len(tape.read_text().splitlines()) == 3
    out.unlink()
    assert cli(*words, "--record", str(tape)).code == 0
    assert len(tape.read_text().splitlines()) == 3  # replaced


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("in.txt", "heap \x1b[31mEVIL\x07\n"),
        ("in.txt", '{"query": "heap", "\\u001b[31mEVIL": 1}\n'),
        ("in.jsonl", "{no json \x1b[31mEVIL\n"),
        ("in.csv", "\x1b[31mEVIL\x07,note\nheap,mine\n"),
        ("in.csv", "query,\x1b[31mEVIL\x07\nheap,mine\n"),
        ("\x1b[31mEVIL.csv", "note\nheap\n"),
    ],
)
def test_control_characters_of_the_input_reach_no_terminal(
    cli: Cli, config: str, tmp_path: Path, name: str, text: str
) -> None:
    items = tmp_path / name
    items.write_text(text)
    for out in ("rows.jsonl", "rows\x1b[31mEVIL.jsonl", "rows\x1b[31mEVIL.csv"):
        result = cli("bulk", "search", str(items), "-o", str(tmp_path / out), "--config", config)
        assert result.out + result.err
        assert (result.out + result.err).replace("\n", "").isprintable()


def test_the_bar_begins_with_the_time_left_because_narrow_terminals_cut_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[Stage] = []
    bars = SimpleNamespace(show=shown.append, close=lambda: None)
    monkeypatch.setattr(terminal_output, "can_draw_on", lambda _: True)
    monkeypatch.setattr("webtools.cli.bulk_command.bars", lambda _: bars)
    with Display(Namespace(quiet=False, operation="search")) as display:
        display(bulk.State(3, 10, 2, 0, 1, 0, 0.014, 5.0, 192.0))
    assert shown[0].subject.startswith("3 min 12 s left")
