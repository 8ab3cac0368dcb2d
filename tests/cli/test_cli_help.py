"""Help, version, and what the command costs before it does anything."""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path

import pytest
from cli_calls import Cli, Start

from webtools import __version__
from webtools.cli.arguments import COMMANDS, parser_of
from webtools.tools import (
    CATEGORIES,
    FetchInput,
    ReadInput,
    ResearchInput,
    SearchInput,
    SummarizeInput,
    ToolInput,
)

OF_THE_COMMAND = {
    *("texts", "help", "config", "json", "plain", "cache", "timeout", "output", "force", "model"),
    *("keyless", "passages"),
}


def test_without_a_command_the_help_goes_to_stderr_and_the_code_is_2(cli: Cli) -> None:
    done = cli()
    assert (done.code, done.out) == (2, "")
    assert done.err == cli("--help").out


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_arguments_of_the_process_are_the_default(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    from webtools.cli import main  # noqa: PLC0415

    monkeypatch.setattr("sys.argv", ["webtools", option])
    assert main() == 0
    assert capsys.readouterr().out == f"webtools {__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"], ["--help", "search"]])
def test_help_lists_every_command(cli: Cli, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert (done.code, done.err) == (0, "")
    assert all(f"\n  {name} " in done.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_is_the_same_both_ways(cli: Cli, name: str) -> None:
    done = cli("help", name)
    assert done.code == 0
    assert done.out == cli(name, "--help").out


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_80_columns_and_shows_examples(cli: Cli, name: str) -> None:
    out = cli("help", name).out if name else cli("help").out
    assert max(map(len, out.splitlines())) <= 80
    assert "\nexamples:\n  webtools " in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_described(name: str) -> None:
    assert all(action.help for action in parser_of(name)._actions)


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
    options = {action.dest for action in parser_of(name)._actions}
    # Which of the four it is, the command's name says.
    assert options - OF_THE_COMMAND == model.model_fields.keys() - {text, "command"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_carried_out(name: str) -> None:
    module, _, function = COMMANDS[name].run.partition(":")
    assert callable(getattr(import_module(f"webtools.cli.{module}"), function))


@pytest.mark.parametrize("columns", ["60", "80"])
def test_the_top_help_lists_commands_under_headings_on_lines_of_their_own(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = cli("--help").out.split("\noptions:")[0].splitlines()
    headings = [i for i, line in enumerate(lines) if line.endswith(":")]
    assert len(headings) == 4
    assert all(lines[i + 1].startswith("  ") for i in headings)


def test_help_of_search_names_the_categories(cli: Cli) -> None:
    words = " ".join(cli("search", "--help").out.split())
    assert ", ".join(CATEGORIES) in words


@pytest.mark.parametrize(
    "arguments", [["serch"], ["--json", "search", "x"], ["help", "serch"], ["--", "search"]]
)
def test_an_unknown_command_is_refused(cli: Cli, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert done.code == 2
    assert done.err.startswith("webtools: ")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("name", ["cache", "log", "config"])
@pytest.mark.parametrize("arguments", [[], ["paths"], ["check", "more"]])
def test_an_unknown_action_is_refused(cli: Cli, name: str, arguments: list[str]) -> None:
    done = cli(name, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("webtools: ")


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
    done = cli(*arguments)
    assert done.code == 2
    assert f"did you mean {near}?" in done.err.splitlines()[0]


def test_a_question_for_a_command_is_answered_with_the_command_for_questions(cli: Cli) -> None:
    done = cli("what's a zip bomb?")
    assert """webtools web-deep 'what'"'"'s a zip bomb?'""" in done.err


@pytest.mark.parametrize(
    "arguments",
    [["xyzzy"], ["search", "--xyzzy", "x"], ["search", "--model", "x", "y"], ["cache"], ["log"]],
)
def test_what_is_near_to_nothing_gets_no_hint(cli: Cli, arguments: list[str]) -> None:
    assert "did you mean" not in cli(*arguments).err


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
    done = cli(*arguments)
    assert (done.code, done.out) == (2, "")
    assert f"webtools {proposed}\n" in done.err


@pytest.mark.parametrize("name", ["search", "fetch", "summarize", "web", "web-deep", "plan"])
def test_a_missing_argument_is_named(cli: Cli, name: str) -> None:
    assert ("URL" if name in {"fetch", "summarize"} else "QUERY") in cli(name).err


def test_a_paragraph_of_help_fills_a_narrow_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    *filled, _ = cli("--help").out.partition("exit codes:")[2].splitlines()
    assert min(map(len, filled[1:])) > 45
    *filled, _ = cli("help", "demo").out.split("\n\n")[1].splitlines()
    assert min(map(len, filled)) > 45


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_on_a_narrow_terminal_breaks_between_words(
    cli: Cli, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = cli("help", name).out if name else cli("help").out
    monkeypatch.setenv("COLUMNS", "60")
    out = cli("help", name).out if name else cli("help").out
    assert max(map(len, out.splitlines())) <= 60
    assert set(out.split()) <= set(whole.split())


def test_python_m_webtools_is_the_command(start: Start) -> None:
    out, err = start("--version").communicate()
    assert (out, err) == (f"webtools {__version__}\n", "")


def test_python_m_webtools_passes_the_exit_code_on(start: Start) -> None:
    process = start("search")
    process.communicate()
    assert process.returncode == 2


def test_an_empty_standard_input_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    done = cli("search", "-")
    assert done.code == 2
    assert "standard input is empty" in done.err


def test_explain_without_an_id_names_the_command_that_lists_them(cli: Cli) -> None:
    done = cli("explain")
    assert done.code == 2
    assert "webtools log tail" in done.err


def test_an_output_file_in_no_folder_is_not_explained_by_the_help(cli: Cli, tmp_path: Path) -> None:
    done = cli("search", "q", "-o", str(tmp_path / "none" / "q.md"))
    assert done.code == 2
    assert "--help" not in done.err
