"""Help, version, and wrong usage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_calls import Cli

from webtools.cli.arguments import COMMANDS, command_parser
from webtools.tools import (
    FetchInput,
    ReadInput,
    ResearchInput,
    SearchInput,
    SummarizeInput,
    ToolInput,
)

OF_THE_COMMAND = {
    *("texts", "help", "config", "json", "plain", "cache", "timeout", "output", "force", "model"),
    *("keyless", "passages", "record", "replay"),
}


def test_without_a_command_the_help_goes_to_stderr_and_the_code_is_2(cli: Cli) -> None:
    result = cli()
    assert (result.code, result.out) == (2, "")
    assert result.err == cli("--help").out


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_80_columns_and_shows_examples(cli: Cli, name: str) -> None:
    out = cli("help", name).out if name else cli("help").out
    assert max(map(len, out.splitlines())) <= 80
    assert "\nexamples:\n  webtools " in out


@pytest.mark.parametrize(
    ("name", "model", "text"),
    [
        ("search", SearchInput, "queries"),
        ("fetch", FetchInput, "urls"),
        ("summarize", SummarizeInput, "url"),
        ("read", ReadInput, "handle"),
        *((name, ResearchInput, "query") for name in ("web", "web-deep", "web-news", "web-docs")),
    ],
)
def test_every_argument_of_a_tool_has_its_option(
    name: str, model: type[ToolInput], text: str
) -> None:
    options = {action.dest for action in command_parser(name).arguments}
    # Which of the four it is, the command's name says.
    assert options - OF_THE_COMMAND == model.model_fields.keys() - {text, "command"}


@pytest.mark.parametrize(
    "arguments", [["serch"], ["--json", "search", "x"], ["help", "serch"], ["--", "search"]]
)
def test_an_unknown_command_is_refused(cli: Cli, arguments: list[str]) -> None:
    result = cli(*arguments)
    assert result.code == 2
    assert result.err.startswith("webtools: ")
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["serch"], "search"),
        (["help", "serch"], "search"),
        (["WEB-DEPE", "x"], "web-deep"),
        (["search", "--limti", "3", "x"], "--limit"),
        (["search", "x", "--provder=exa"], "--provider"),
        (["cache", "stat"], "stats"),
        (["config", "chek"], "check"),
        (["serch", "search", "x"], "search"),
        (["research", "x"], "web-deep"),
        (["web_search", "x"], "search"),
        (["search", "x", "--site", "python.org"], "--include-domain"),
        (["search", "x", "--num=3"], "--limit"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_nearest(
    cli: Cli, arguments: list[str], near: str
) -> None:
    result = cli(*arguments)
    assert result.code == 2
    assert f"did you mean {near}?" in result.err.splitlines()[0]


def test_a_question_for_a_command_is_answered_with_the_command_for_questions(cli: Cli) -> None:
    result = cli("what's a zip bomb?")
    assert """webtools web-deep 'what'"'"'s a zip bomb?'""" in result.err


@pytest.mark.parametrize(
    ("arguments", "proposed"),
    [
        (["--config", "my box.json", "search", "x"], "search --config 'my box.json' x"),
        (["--config", "search", "search", "x"], "search --config search x"),
        (["--plain", "web-deep", "a b"], "web-deep --plain 'a b'"),
    ],
)
def test_options_before_the_command_are_answered_with_their_place(
    cli: Cli, arguments: list[str], proposed: str
) -> None:
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    assert f"webtools {proposed}\n" in result.err


@pytest.mark.parametrize(
    ("name", "choices"),
    [("cache", "stats"), ("config", "set-key"), ("log", "tail"), ("bulk", "fetch")],
)
def test_a_missing_word_is_named_with_the_possible_ones(cli: Cli, name: str, choices: str) -> None:
    result = cli(name)
    assert result.code == 2
    assert choices in result.err.partition("\n")[0]


@pytest.mark.parametrize(
    ("words", "unbuffered"),
    [(["--help"], ""), (["search", "--help"], "1"), (["--version"], ""), (["log", "-h"], "1")],
)
def test_help_that_cannot_be_written_is_exit_1(words: list[str], unbuffered: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no full device here")
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "webtools", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
            timeout=60,
        )
    assert process.returncode == 1
    assert process.stderr.startswith(b"webtools: ")
