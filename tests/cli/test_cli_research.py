"""`webtools web`, `web-deep`, `web-news` and `web-docs`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli_calls import Cli

from webtools import WebTools
from webtools.fencing import remove_fences

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

COMMANDS = ("web", "web-deep", "web-news", "web-docs")
QUESTION = "How do I generate secure random tokens in Python?"


def requests(server: SandboxServer) -> int:
    return sum(server.stats()["requests"].values())


@pytest.mark.parametrize("command", COMMANDS)
def test_it_prints_what_a_model_would_read(cli: Cli, trial: str, command: str) -> None:
    options = ["--passages"] if command == "web-deep" else []
    result = cli(command, QUESTION, "--config", trial, *options)
    with WebTools(config=trial) as web:
        expected = web.call_tool("web_research", {"query": QUESTION, "command": command}).text
    assert (result.code, result.err) == (0, "")
    # The second one came from the cache, and says so.
    assert result.out == remove_fences(expected).replace(", from the cache", "") + "\n"


@pytest.mark.parametrize("place", ["pipe", "file"])
def test_passages_are_written_on_request_only(
    cli: Cli, trial: str, tmp_path: Path, place: str
) -> None:
    file = tmp_path / "answer.md"
    output = ("-o", str(file), "--force") if place == "file" else ()

    def written(*more: str) -> str:
        result = cli("web-deep", QUESTION, "--config", trial, *output, *more)
        assert result.code == 0
        return file.read_text("utf-8") if place == "file" else result.out

    short, complete = written(), written("--passages")
    assert "\nPassages:\n" in complete
    assert "Passages:" not in short
    assert short.partition("\n\n")[0] == complete.partition("\n\n")[0]  # the answer
    for text in (short, complete):
        assert "\nSources:\n1. secrets" in text
        assert "\nConfidence: " in text
    assert len(short.splitlines()) < 40


@pytest.mark.parametrize("command", COMMANDS)
def test_json_prints_exactly_the_envelope(cli: Cli, trial: str, command: str) -> None:
    result = cli(command, QUESTION, "--json", "--config", trial)
    assert (result.code, result.err) == (0, "")
    assert list(result.json) == ["results", "meta", "synthesis"]
    assert result.json["meta"]["command"] == command
    assert (result.json["synthesis"] is not None) == (command == "web-deep")


def test_every_option_reaches_the_tool(cli: Cli, trial: str) -> None:
    options = ("--limit", "3", "--recency-days", "3000", "--synthesis", "extractive")
    result = cli("web-news", "python", *options, "--json", "--config", trial).json
    assert len(result["results"]) == 3
    assert result["meta"]["recency_days"] == 3000
    assert result["synthesis"] is not None


@pytest.mark.parametrize("words", [[], [""], [" ", "\t"]])
@pytest.mark.parametrize("command", [*COMMANDS, "plan"])
def test_a_question_must_not_be_empty(cli: Cli, command: str, words: list[str]) -> None:
    result = cli(command, *words)
    assert (result.code, result.out) == (2, "")
    assert "QUERY" in result.err
    assert f"`webtools {command} --help`" in result.err


@pytest.mark.parametrize("command", ["web-deep", "plan"])
def test_only_what_a_command_can_take_is_offered_for_the_answer(
    cli: Cli, trial: str, command: str
) -> None:
    result = cli(command, "x", "--synthesis", "gpt", "--config", trial)
    assert result.code == 2
    assert 'synthesis "gpt"' in result.err
    assert "extractive, perplexity" in result.err
    result = cli(command, "x", "--synthesis", "llm", "--config", trial)
    assert result.code == 2
    assert "--model PROVIDER:NAME" in result.err
    assert cli(command, "heap", "--synthesis", " None", "--config", trial).code == 0


# --- the cache ---------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["", "--cache=refresh", "--cache=bypass"])
def test_the_cache_is_used_refreshed_or_passed_by(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer, option: str
) -> None:
    ask = ("web", "heap queue", "--json", "--config", trial)
    first = cli(*ask).json["meta"]
    before = requests(webtools_sandbox)
    second = cli(*ask, *option.split()).json["meta"]
    assert (requests(webtools_sandbox) == before) == (option == "")
    assert second["cache_hit"] == (option == "")
    entries = cli(*ask).json["meta"]
    assert (
        entries["retrieved_at"]
        == (second if option == "--cache=refresh" else first)["retrieved_at"]
    )


# --- failures ----------------------------------------------------------------------------------


def test_a_failure_ends_with_the_way_to_its_reason(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    result = cli("web", "x", "--config", trial)
    assert (result.code, result.out) == (1, "")
    *_, last = result.err.splitlines()
    words = last.split("`")[1].split()
    assert words[:2] == ["webtools", "explain"]
    why = cli(*words[1:])
    assert why.code == 0
    assert "error=AuthenticationError" in why.out


def test_with_json_a_failure_is_the_details(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    result = cli("web", "x", "--json", "--config", trial)
    assert result.code == 1
    assert result.json["results"] == []
    assert result.json["error"]["type"] == "AuthenticationError"
    assert "`webtools explain " in result.err
    assert "test-key" not in result.out + result.err
