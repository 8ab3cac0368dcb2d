"""Calls write whole lines to a private, bounded log, and work where it cannot be written."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from webtools import WebTools

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and forks of POSIX")
MAX_BYTES = 128 * 1024


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "web-search.ndjson"


def search(path: Path, query: str = "rust async", *, times: int = 1, **log: Any) -> None:
    """Search with a log at `path`; the provider returns the query as a title."""
    entry = {"name": "exa", "type": "exa", "apiKey": "test-key-exa"}
    settings = {"path": str(path), "maxBytes": MAX_BYTES, "maxBackups": 2, **log}
    transport = httpx.MockTransport(
        lambda _: httpx.Response(
            200, json={"results": [{"url": "https://a.example/", "title": query}]}
        )
    )
    config = {"providers": [entry], "log": settings, "cache": {"enabled": False}}
    with WebTools(config, transport=transport) as web:
        for _ in range(times):
            assert web.search(query).results


def fail(path: Path, message: str, **log: Any) -> None:
    entry = {"name": "exa", "type": "exa", "apiKey": "test-key-exa"}
    transport = httpx.MockTransport(lambda _: httpx.Response(400, json={"error": message}))
    config = {"providers": [entry], "log": {"path": str(path), **log}}
    with WebTools(config, transport=transport) as web:
        assert web.call_tool("web_search", {"queries": ["rust async"]}).is_error


def events(*paths: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def fill(path: Path) -> None:
    """Leave a log that has reached its size."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x" * (MAX_BYTES - 1) + b"\n")


@posix_only
def test_the_log_and_its_folder_are_private(path: Path) -> None:
    search(path)
    fill(path)
    search(path)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    modes = {file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == {0o600}


def test_a_full_log_is_rotated_and_the_oldest_backup_deleted(path: Path) -> None:
    for number in range(4):
        fill(path)
        search(path, f"query {number}")
    names = {file.name for file in path.parent.iterdir() if file.suffix != ".lock"}
    assert names == {path.name, f"{path.name}.1", f"{path.name}.2"}
    assert "query 3" in path.read_text()


@posix_only
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_lines_of_several_processes_are_whole_and_written_once(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [
        context.Process(target=search, args=(path,), kwargs={"times": 40, "maxBackups": 20})
        for _ in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * 4
    files = [file for file in path.parent.iterdir() if file.suffix != ".lock"]
    calls = Counter(event["call"] for event in events(*files) if event["event"] == "done")
    assert (len(calls), set(calls.values())) == (160, {1})


def test_a_deleted_log_is_written_again(path: Path) -> None:
    search(path)
    path.unlink()
    search(path, "another query")
    assert {event["event"] for event in events(path)} >= {"done"}
    assert "rust async" not in path.read_text()


def test_a_line_that_a_crash_cut_is_ended_before_the_next(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"cut')
    search(path)
    cut, *lines = path.read_bytes().splitlines()
    assert cut == b'{"cut'
    assert lines
    assert all(json.loads(line) for line in lines)


def test_a_call_succeeds_and_prints_nothing_if_the_log_cannot_be_written(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path.parent.write_text("a file where the folder should be")
    search(path)
    assert capfd.readouterr() == ("", "")


def test_a_call_succeeds_if_the_disk_is_full(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr("os.write", lambda fd, data: write(fd, data[:3]))
    search(path)
    monkeypatch.undo()
    assert len(path.read_bytes()) == 3  # the log is off for a while


@posix_only
def test_neither_a_link_nor_a_pipe_is_written_to(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"")
    path.parent.mkdir()
    path.symlink_to(target)
    search(path)
    assert target.read_bytes() == b""
    path.unlink()
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    search(path)
    assert os.read(reader, 10) == b""
    os.close(reader)


def test_provider_messages_are_logged_as_plain_ascii(path: Path) -> None:
    fail(path, "\x1b[31m\r\n\0\x7f\x9b31m\u200b\u202e\u2028\ufeff ü 東")
    for line in path.read_bytes().splitlines():
        assert line.isascii()
        assert line.decode().isprintable()
        assert json.loads(line)


@pytest.mark.parametrize("text", ["x" * 100_000, "\U0001f600" * 100_000])
def test_a_long_message_is_shortened(path: Path, text: str) -> None:
    fail(path, text)
    assert max(map(len, path.read_bytes().splitlines())) < 16_384


def test_with_queries_off_the_log_holds_no_query_and_no_message(path: Path) -> None:
    fail(path, "no result for rust async", queries="off")
    assert "rust" not in path.read_text()
    assert any(event.get("status") == 400 for event in events(path))
