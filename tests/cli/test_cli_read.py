"""`webtools read`: the rest of an output that was cut."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli_calls import Cli

from webtools._internal.call import present

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

URL = "https://a.example/long"
PAGE = "".join(f"line {n:05}\n" for n in range(6000)).rstrip()

pytestmark = pytest.mark.usefixtures("own_temp")


@pytest.fixture
def page(webtools_sandbox: SandboxServer) -> list[str]:
    """The words that fetch a page which is too long to be shown whole."""
    hit = {"id": URL, "url": URL, "title": "T", "text": PAGE}
    body = {"results": [hit], "statuses": [{"id": URL, "status": "success"}]}
    webtools_sandbox.fault(body=json.dumps(body).encode(), times=None)
    return ["fetch", URL]


def command_in(text: str) -> list[str]:
    """Give the words of the command that reads on, without the program."""
    [line] = re.findall(r"^\[Read on: webtools (read .*)\]$", text, re.MULTILINE)
    return shlex.split(line)


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"line (\d{5})$", text, re.MULTILINE)]


@pytest.mark.parametrize("handle", ["abc", "0" * 32])
def test_a_wrong_handle_is_answered_with_words_of_the_terminal(cli: Cli, handle: str) -> None:
    result = cli("read", handle)
    assert result.code == 2
    assert "read_handle" not in result.err


def test_the_commands_that_outputs_end_with_read_the_complete_text(
    cli: Cli, config: str, page: list[str]
) -> None:
    result = cli(*page, "--config", config)
    lines = numbers(result.out)
    for _ in range(9):
        if "[Read on: " not in result.out:
            break
        words = command_in(result.out)
        assert words[-2:] == ["--config", config]
        result = cli(*words)
        assert result.code == 0
        lines += numbers(result.out)
    assert lines == list(range(6000))
    assert result.err == ""
    assert ", the end.]" in result.out


def test_it_finds_words_with_the_same_facts_in_json(cli: Cli, config: str, page: list[str]) -> None:
    _, handle, *_ = command_in(cli(*page, "--config", config).out)
    ask = ("read", handle, "--find", "LINE  05000", "--config", config)
    assert "line 05000\n" in cli(*ask).out
    data = cli(*ask, "--json")
    assert data.json["content"].count("line 05000\n") == 1
    assert data.json["find"] == "LINE 05000"
    assert data.err == ""
    absent = cli("read", handle, "--find", "no such", "--offset", "7", "--config", config).out
    assert '"no such"' in absent
    assert "7 to" in absent


def test_stderr_names_the_command_that_reads_on(cli: Cli, config: str, page: list[str]) -> None:
    result = cli(*page, "--config", config)
    reading = shlex.join(["webtools", *command_in(result.out)])
    assert f"`{reading}`" in result.err
    data = cli(*page, "--json", "--config", config)
    assert (data.json["read_handle"], data.err) == (command_in(result.out)[1], "")


def test_a_terminal_shows_the_cut_once(
    cli: Cli, config: str, page: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    result = cli(*page, "--config", config)
    assert command_in(result.out)[0] == "read"  # on one line, however narrow
    assert result.err == ""
    read = cli(*command_in(result.out))
    assert re.match(r"characters [\d,]+ to [\d,]+ of [\d,]+\n[^[]+line 0", read.out)


def test_a_drawn_result_that_was_cut_is_followed_by_its_text(
    cli: Cli, config: str, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hits = [
        {"id": f"https://a.example/{n}", "url": f"https://a.example/{n}", "title": f"T{n}"}
        | {"highlights": ["word " * 2_000]}
        for n in range(8)
    ]
    webtools_sandbox.fault(body=json.dumps({"results": hits}).encode(), times=None)
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    out = cli("search", "first", "--limit", "8", "--config", config).out
    assert re.search(r"^8 results\b.*\(truncated\)", out)
    assert "\n1. T0\n" in out
    assert command_in(out)[2:] == ["--config", config]  # from the beginning


def test_an_output_that_could_not_be_saved_is_still_reported_as_cut(
    cli: Cli, config: str, page: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(present, "save_output", lambda _: None)
    result = cli(*page, "--config", config)
    assert "Read on" not in result.out
    assert "truncated" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["abc"], '"abc"'),
        (["0" * 32], "0" * 32),
        (["0" * 32, "--offset", "x"], "offset"),
        ([], "HANDLE"),
    ],
)
def test_an_invalid_handle_is_exit_2(
    cli: Cli, config: str, arguments: list[str], message: str
) -> None:
    result = cli("read", *arguments, "--config", config)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_no_provider_is_needed(cli: Cli, config: str, page: list[str]) -> None:
    _, handle, *_ = command_in(cli(*page, "--config", config).out)
    Path(config).unlink()
    assert numbers(cli("read", handle).out)[0] == 0
