"""Options of every call: output file, time-out, model; old spellings; shell completion."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_calls import Cli, Start
from langchain_core.language_models import FakeListChatModel

from webtools import WebTools
from webtools.cli import completion
from webtools.cli.arguments import COMMANDS
from webtools.providers import PROVIDERS
from webtools.tools import CATEGORIES

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


# --- what the user typed -----------------------------------------------------------------------

HOSTILE = "\x1b[31mEVIL\x07\x9b\u202e"


@pytest.mark.parametrize(
    "words",
    [
        ("search", "x", "--provider", HOSTILE),
        ("search", "x", "--config", HOSTILE),
        ("search", "x", "-o", f"/nowhere/{HOSTILE}"),
        ("explain", HOSTILE),
        ("read", HOSTILE),
        ("cache", HOSTILE),
        (HOSTILE,),
        ("mcp", "--http", HOSTILE),
        ("config", "check", "--config", HOSTILE),
    ],
    ids=" ".join,
)
def test_control_characters_that_the_user_typed_reach_no_terminal(
    cli: Cli, trial: str, words: tuple[str, ...]
) -> None:
    config = () if "--config" in words or len(words) == 1 else ("--config", trial)
    result = cli(*words, *config)
    assert result.code != 0
    assert "EVIL" in result.err.upper()
    assert not set("\x1b\x07\x9b\u202e") & set(result.out + result.err)


# --- a file ------------------------------------------------------------------------------------


def test_a_file_gets_what_would_be_printed(cli: Cli, trial: str, tmp_path: Path) -> None:
    path = tmp_path / "found.txt"
    printed = cli("search", "heap", "--config", trial).out
    result = cli("search", "heap", "--config", trial, "-o", str(path))
    assert (result.code, result.out) == (0, "")
    assert result.err == f"webtools: written to {path}.\n"
    assert path.read_text() == printed


def test_another_file_is_replaced_with_force_alone(cli: Cli, config: str, tmp_path: Path) -> None:
    path = tmp_path / "found.txt"
    path.write_text("mine")
    result = cli("search", "heap", "--config", config, "-o", str(path))
    assert (result.code, result.out, path.read_text()) == (2, "", "mine")
    assert str(path) in result.err
    assert "--force" in result.err
    assert cli("search", "heap", "--config", config, "-o", str(path), "--force").code == 0
    assert "heapq" in path.read_text()


@pytest.mark.parametrize("name", ["none/a", ""])
def test_a_file_that_cannot_be_made_is_refused_before_the_settings_are_read(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    result = cli("search", "heap", "-o", str(tmp_path / name))
    assert (result.code, result.out) == (2, "")
    assert str(tmp_path) in result.err


def test_a_call_that_fails_leaves_no_file(
    cli: Cli, config: str, tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    path = tmp_path / "found.json"
    result = cli("search", "x", "-p", "exa", "--json", "--config", config, "-o", str(path))
    assert result.code == 1
    assert result.json["error"]["type"] == "AuthenticationError"
    assert not path.exists()


def test_a_full_disk_leaves_no_file_and_is_reported_with_its_name(
    cli: Cli, config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    path, older = tmp_path / "found.txt", tmp_path / "older.txt"
    older.touch()
    result = cli("search", "heap", "--config", config, "-o", str(path))
    assert (result.code, result.out) == (1, "")
    assert str(path) in result.err
    assert not path.exists()
    assert cli("search", "heap", "--config", config, "-o", str(older), "--force").code == 1
    assert older.exists()


# --- nothing found -----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--json"], ["-o"]])
@pytest.mark.parametrize("command", ["search", "web"])
def test_no_results_are_exit_3(
    cli: Cli, trial: str, tmp_path: Path, command: str, options: list[str]
) -> None:
    where = [str(tmp_path / "none")] if options == ["-o"] else []
    result = cli(command, "xyzzyqqq", "--config", trial, *options, *where)
    assert result.code == 3
    assert ("No results found" in result.out) == (options == [])


# --- time --------------------------------------------------------------------------------------


def test_a_call_ends_when_its_time_is_up(
    cli: Cli, config: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(delay=20, times=None)
    result = cli("search", "heap", "--config", config, "--timeout", "0.5", "--json")
    assert result.code == 1
    assert result.json["error"]["type"] == "RequestTimeoutError"
    assert "0.5 s" in result.err
    assert "--timeout" in result.err


@pytest.mark.parametrize("time", ["0", "-1", "soon", "nan", "1e9"])
def test_a_senseless_timeout_is_refused(cli: Cli, time: str) -> None:
    result = cli("search", "x", f"--timeout={time}")
    assert (result.code, result.out) == (2, "")
    assert f"'{time}'" in result.err
    assert "86400" in result.err


# --- a model -----------------------------------------------------------------------------------

QUESTION = "How do I generate secure random tokens in Python?"


def test_langchain_loads_the_model_that_writes_the_answer(
    cli: Cli, trial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[tuple[str, str]] = []

    def init(name: str, *, model_provider: str) -> FakeListChatModel:
        requests.append((model_provider, name))
        return FakeListChatModel(responses=["The secrets module generates tokens [1]."])

    monkeypatch.setattr("langchain.chat_models.init_chat_model", init)
    result = cli("web-deep", QUESTION, "--model", "openai:gpt-5:mini", "--config", trial, "--json")
    assert (result.code, result.err) == (0, "")
    assert result.json["synthesis"]["claims"][0]["text"] == "The secrets module generates tokens."
    assert requests == [("openai", "gpt-5:mini")]


@pytest.mark.parametrize(
    ("model", "fault"),
    [
        ("gpt", '--model "gpt"'),
        (":gpt", '--model ":gpt"'),
        ("openai:", '--model "openai:"'),
        ("openai:gpt", "OpenAIError"),
        ("ollama:phi", "llama-index-llms-ollama"),
    ],
)
def test_an_unavailable_model_is_exit_2_with_the_remedy(
    cli: Cli, config: str, webtools_sandbox: SandboxServer, model: str, fault: str
) -> None:
    result = cli("web-deep", "x", "--model", model, "--config", config)
    assert (result.code, result.out) == (2, "")
    assert fault in result.err
    assert sum(webtools_sandbox.stats()["requests"].values()) == 0


# --- old spellings -----------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), [("--refresh", "refresh"), ("--no-cache", "bypass")])
def test_the_old_ways_past_the_cache_are_those_of_python_now(
    cli: Cli, trial: str, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    modes: list[str] = []
    call_tool = WebTools.call_tool

    def watched(self: WebTools, *args: Any, **options: Any) -> Any:
        modes.append(options["cache"])
        return call_tool(self, *args, **options)

    monkeypatch.setattr(WebTools, "call_tool", watched)
    result = cli("search", "heap", old, "--config", trial)
    assert result.code == 0
    assert old in result.err
    assert f"--cache={new}" in result.err
    assert modes == [new]


# --- completion --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "target", "offered"),
    [
        ("webtools se", "command", [*COMMANDS]),
        ("webtools search", "command", [*COMMANDS]),
        ("webtools nonsense ", "command", [*COMMANDS]),
        ("webtools search --category ", "category", [*CATEGORIES]),
        ("webtools web-deep --synthesis ", "synthesis", ["extractive", "perplexity", "none"]),
        ("webtools help se", "command", [*COMMANDS]),
        ("webtools config init --type e", "type", [*PROVIDERS.types()]),
        ("webtools config ", "action", ["path", "check", "example", "init", "add", "set-key"]),
        ("webtools search ", "texts", []),
        ("webtools search -p ", "provider", ["exa", "kagi", "brave", "perplexity", "context7"]),
    ],
)
def test_a_shell_is_offered_what_may_come_next(
    config: str, monkeypatch: pytest.MonkeyPatch, line: str, target: str, offered: list[str]
) -> None:
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    monkeypatch.setenv("COMP_LINE", line)
    monkeypatch.setenv("COMP_POINT", str(len(line)))
    [action] = [item for item in completion.parser_to_complete()._actions if item.dest == target]
    completer = vars(action)["completer"]
    assert [*completer(prefix="", parsed_args=Namespace(config=config))] == offered
    if target == "provider":
        assert completer(prefix="", parsed_args=Namespace(config="nowhere.json")) == []


def test_a_shell_asks_through_the_environment(tmp_path: Path, start: Start) -> None:
    line, written = "webtools summarize --engine a", tmp_path / "offered"
    requests = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    requests["_ARGCOMPLETE_STDOUT_FILENAME"] = str(written)
    start(env={**os.environ, **requests}).communicate(timeout=60)
    assert written.read_text().strip() == "agnes"


@pytest.mark.parametrize("line", ["webtools ", "webtools help "])
def test_a_shell_that_shows_descriptions_shows_those_of_the_commands(
    tmp_path: Path, start: Start, line: str
) -> None:
    written = tmp_path / "offered"
    requests = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    requests |= {"_ARGCOMPLETE_SHELL": "fish", "_ARGCOMPLETE_DFS": "\t"}
    requests["_ARGCOMPLETE_STDOUT_FILENAME"] = str(written)
    start(env={**os.environ, **requests}).communicate(timeout=60)
    offered = dict(pair.split("\t") for pair in re.split("[\v\n]", written.read_text()) if pair)
    assert "SUPPRESS" not in str(offered)
    assert {name: command.summary for name, command in COMMANDS.items()}.items() <= offered.items()


@pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
def test_zsh_takes_the_script_without_and_with_its_completion_system(cli: Cli) -> None:
    script = cli("completion", "zsh").out
    for before in ("", "autoload -Uz compinit && compinit -i\n"):
        process = subprocess.run(
            ["zsh", "-f"],
            input=f"{before}{script}\nprint $_comps[webtools]",
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (process.stdout.strip(), process.stderr) == ("_python_argcomplete", "")


def test_a_shell_gets_a_script_of_its_own(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    result = cli("completion", "bash")
    assert result.code == 0
    assert "webtools" in result.out
    assert "complete " in result.out
    monkeypatch.setitem(sys.modules, "argcomplete.shell_integration", None)
    result = cli("completion", "zsh")
    assert (result.code, result.out) == (2, "")
    assert "agent-webtools[cli]" in result.err


def test_without_a_key_the_command_line_names_its_own_switch(cli: Cli) -> None:
    result = cli("search", "heap")
    assert (result.code, result.out) == (2, "")
    assert "--keyless" in result.err
    assert "WebTools(" not in result.err
    assert "WEB_SEARCH_KEYLESS" in cli("config", "check").err


@pytest.mark.parametrize(
    "words",
    [
        ["search", "heap"],
        ["web", "heap"],
        ["fetch", "https://docs.python.org/3/library/heapq.html"],
    ],
)
def test_a_store_that_is_down_is_exit_code_1(cli: Cli, config: str, words: list[str]) -> None:
    settings = json.loads(Path(config).read_text())
    settings["storage"] = {"url": "redis://127.0.0.1:1/0"}
    settings["budget"] = {"usdPerDay": 1}
    Path(config).write_text(json.dumps(settings))
    result = cli(*words, "--config", config)
    assert result.code == 1
    assert "redis://127.0.0.1:1" in result.err
