"""web, web-deep, web-news and web-docs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_calls import Cli

from webtools import WebTools
from webtools._internal.text.fencing import unfenced
from webtools.cli.sandbox import trial_config

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

COMMANDS = ("web", "web-deep", "web-news", "web-docs")
QUESTION = "How do I generate secure random tokens in Python?"


def requests(server: SandboxServer) -> int:
    return sum(server.stats()["requests"].values())


@pytest.mark.parametrize("command", COMMANDS)
def test_it_prints_what_a_model_would_read(cli: Cli, trial: str, command: str) -> None:
    options = ["--passages"] if command == "web-deep" else []
    done = cli(command, QUESTION, "--config", trial, *options)
    with WebTools(config=trial) as web:
        expected = web.call_tool("web_research", {"query": QUESTION, "command": command}).text
    assert (done.code, done.err) == (0, "")
    # The second one came from the cache, and says so.
    assert done.out == unfenced(expected).replace(", from the cache", "") + "\n"


def test_an_answer_in_depth_cites_its_sources(cli: Cli, trial: str) -> None:
    out = cli("web-deep", QUESTION, "--config", trial).out
    answer, _, sources = out.partition("\n\nSources:\n")
    assert "[1]" in answer
    assert sources.startswith("1. secrets")
    assert "\nConfidence: " in sources


@pytest.mark.parametrize("place", ["pipe", "file"])
def test_passages_are_written_on_request_only(
    cli: Cli, trial: str, tmp_path: Path, place: str
) -> None:
    file = tmp_path / "answer.md"
    output = ("-o", str(file), "--force") if place == "file" else ()

    def written(*more: str) -> str:
        done = cli("web-deep", QUESTION, "--config", trial, *output, *more)
        assert done.code == 0
        return file.read_text("utf-8") if place == "file" else done.out

    short, whole = written(), written("--passages")
    assert "\nPassages:\n" in whole
    assert "Passages:" not in short
    assert short.partition("\n\n")[0] == whole.partition("\n\n")[0]  # the answer
    for text in (short, whole):
        assert "\nSources:\n1. secrets" in text
        assert "\nConfidence: " in text
    assert len(short.splitlines()) < 40


@pytest.mark.parametrize("command", COMMANDS)
def test_json_prints_exactly_the_envelope(cli: Cli, trial: str, command: str) -> None:
    done = cli(command, QUESTION, "--json", "--config", trial)
    assert (done.code, done.err) == (0, "")
    assert list(done.json) == ["results", "meta", "synthesis"]
    assert done.json["meta"]["command"] == command
    assert (done.json["synthesis"] is not None) == (command == "web-deep")


def test_words_are_joined_to_one_question(cli: Cli, trial: str) -> None:
    done = cli("web", "secure", "--limit", "2", "random", "--json", "--config", trial, "--", "-x")
    assert done.json["meta"]["query"] == "secure random -x"
    assert len(done.json["results"]) == 2


def test_a_dash_reads_the_question_from_stdin(
    cli: Cli, trial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("secure\nrandom \n"))
    done = cli("web", "-", "tokens", "--json", "--config", trial)
    assert done.json["meta"]["query"] == "secure random tokens"


def test_every_option_reaches_the_tool(cli: Cli, trial: str) -> None:
    options = ("--limit", "3", "--recency-days", "3000", "--synthesis", "extractive")
    done = cli("web-news", "python", *options, "--json", "--config", trial).json
    assert len(done["results"]) == 3
    assert done["meta"]["recency_days"] == 3000
    assert done["synthesis"] is not None


def test_news_are_found_without_any_option(cli: Cli, trial: str) -> None:
    done = cli("web-news", "Python", "--json", "--config", trial)
    assert (done.code, done.err) == (0, "")
    assert done.json["meta"]["recency_days"] == 7
    assert [result["title"] for result in done.json["results"]] == [
        "Python programs start a third faster on small machines"
    ]


@pytest.mark.parametrize("query", ["current working directory python", "latest zip archives"])
def test_a_word_of_time_never_leaves_the_user_without_a_hint(
    cli: Cli, trial: str, query: str
) -> None:
    done = cli("web", query, "--config", trial)
    assert done.code == 0
    assert "No results found" not in done.out
    assert "--recency-days" in done.out


@pytest.mark.parametrize("words", [[], [""], [" ", "\t"]])
@pytest.mark.parametrize("command", [*COMMANDS, "plan"])
def test_a_question_must_not_be_empty(cli: Cli, command: str, words: list[str]) -> None:
    done = cli(command, *words)
    assert (done.code, done.out) == (2, "")
    assert "QUERY" in done.err
    assert f"`webtools {command} --help`" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--limit", "99"], 'limit "99"'),
        (["--recency-days", "soon"], 'recency_days "soon"'),
        (["--synthesis", "poetry"], 'synthesis "poetry"'),
        (["--provider", "exa"], "--provider"),
        (["--cache", "never"], 'cache "never"'),
    ],
)
def test_what_the_user_must_mend_is_exit_2_and_one_message(
    cli: Cli, trial: str, options: list[str], message: str
) -> None:
    done = cli("web", "x", *options, "--config", trial)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "explain" not in done.err


@pytest.mark.parametrize("command", ["web-deep", "plan"])
def test_only_what_a_command_can_take_is_offered_for_the_answer(
    cli: Cli, trial: str, command: str
) -> None:
    done = cli(command, "x", "--synthesis", "gpt", "--config", trial)
    assert done.code == 2
    assert 'synthesis "gpt"' in done.err
    assert "extractive, perplexity" in done.err
    done = cli(command, "x", "--synthesis", "llm", "--config", trial)
    assert done.code == 2
    assert "--model PROVIDER:NAME" in done.err
    assert cli(command, "heap", "--synthesis", " None", "--config", trial).code == 0


def test_a_call_without_a_key_is_reported_once_and_logged(cli: Cli) -> None:
    done = cli("search", "x")
    assert (done.code, done.out) == (2, "")
    assert "explain" not in done.err
    call = json.loads(cli("log", "tail", "--json").out.splitlines()[-1])["call"]
    why = cli("explain", call)
    assert why.code == 0
    assert "ConfigError" in why.out


def test_without_settings_it_says_which_keys_would_do(cli: Cli) -> None:
    done = cli("web-deep", "x")
    assert (done.code, done.out) == (2, "")
    expected = "webtools: web_research: "
    assert done.err.startswith(expected)


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
    kept = cli(*ask).json["meta"]
    assert (
        kept["retrieved_at"] == (second if option == "--cache=refresh" else first)["retrieved_at"]
    )


@pytest.mark.parametrize("option", ["--cache=refresh", "--cache=bypass"])
def test_the_single_tools_pass_the_cache_by_as_well(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer, option: str
) -> None:
    url = f"{webtools_sandbox.docs_url}/library/heapq.html"
    for ask in (("search", "heap"), ("fetch", url), ("summarize", url)):
        arguments = (*ask, "--json", "--config", trial)
        cli(*arguments)
        assert cli(*arguments).json["cache_hit"] is True
        assert cli(*arguments, option).json["cache_hit"] is False


# --- failures ----------------------------------------------------------------------------------


def test_a_failure_ends_with_the_way_to_its_reason(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    done = cli("web", "x", "--config", trial)
    assert (done.code, done.out) == (1, "")
    *_, last = done.err.splitlines()
    words = last.split("`")[1].split()
    assert words[:2] == ["webtools", "explain"]
    why = cli(*words[1:])
    assert why.code == 0
    assert "error=AuthenticationError" in why.out


def test_a_failure_of_a_single_tool_does_so_too(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    done = cli("search", "x", "--config", trial)
    assert done.code == 1
    assert f"--config {trial}`" in done.err


def test_the_user_s_own_config_need_not_be_named(
    cli: Cli,
    trial: str,
    webtools_sandbox: SandboxServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "settings" / "webtools"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent))
    Path(trial).rename(folder / "web-search.json")
    webtools_sandbox.fault(status=401, times=None)
    done = cli("search", "x")
    assert "--config" not in done.err
    assert "`webtools explain " in done.err


def test_where_no_log_is_kept_a_failure_names_none(
    cli: Cli, config: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    assert "explain" not in cli("web", "x", "--config", config).err


def test_with_json_a_failure_is_the_details(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    done = cli("web", "x", "--json", "--config", trial)
    assert done.code == 1
    assert done.json["results"] == []
    assert done.json["error"]["type"] == "AuthenticationError"
    assert "`webtools explain " in done.err
    assert "test-key" not in done.out + done.err


def test_a_provider_that_fails_is_stood_in_for_and_named(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", status=503, times=None)
    done = cli("web", "heap queue", "--config", trial)
    assert (done.code, done.err) == (0, "")
    assert "Degraded: exa " in done.out


def test_the_trial_config_is_what_the_sandbox_writes(
    trial: str, webtools_sandbox: SandboxServer
) -> None:
    written: dict[str, Any] = json.loads(Path(trial).read_text())
    assert written == trial_config(webtools_sandbox, Path(trial))
