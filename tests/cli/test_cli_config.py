"""`webtools config` and its actions."""

from __future__ import annotations

import io
import json
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_calls import Cli

from webtools.cli import config_command as configuring
from webtools.config import config_paths, load

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    return path


ENTRY = {"name": "mine", "type": "exa", "apiKey": "exa-secret-1234"}
CONFIG = json.dumps({"providers": [ENTRY]})


def test_on_a_terminal_an_invalid_answer_is_asked_again(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["exq", "searxng", "", "searx.example", "http://127.0.0.1:8888"])
    keys = iter(["short", "", "test-key-exa-00001"])
    monkeypatch.setattr(configuring, "_is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    monkeypatch.setattr(configuring, "getpass", lambda _: next(keys))
    assert cli("config", "init").code == 0
    assert cli("config", "add", "exa").code == 0
    path = config_paths()[0]
    searxng, exa = json.loads(path.read_text())["providers"]
    assert searxng["baseUrl"] == "http://127.0.0.1:8888"
    assert exa["apiKey"] == "test-key-exa-00001"


def test_at_the_end_of_the_input_nothing_is_written(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(_: str) -> str:
        raise EOFError

    monkeypatch.setattr(configuring, "_is_terminal", lambda: True)
    monkeypatch.setattr(configuring, "getpass", end)
    monkeypatch.setattr("builtins.input", end)
    for words in ([], ["--type", "exa"]):
        assert cli("config", "init", *words).code == 2
    assert not config_paths()[0].exists()


@pytest.mark.parametrize("which", [0, 1])
def test_path_shows_which_file_is_in_use(cli: Cli, which: int) -> None:
    used = put(config_paths()[which], CONFIG)
    assert f"In use: {used}\n" in cli("config", "path").out


def test_a_variable_names_the_file_that_is_used(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(config_paths()[0], CONFIG)
    other = put(tmp_path / "other" / "team.json", CONFIG)
    monkeypatch.setenv("WEBTOOLS_CONFIG", str(other))
    assert cli("config", "path").out.endswith(f"\nIn use: {other}\n")
    assert cli("config", "check").out.startswith(f"Source: {other}\n")


def test_check_describes_the_settings_without_a_key(cli: Cli) -> None:
    used = put(config_paths()[0], CONFIG)
    result = cli("config", "check")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Source: {used}\n")
    assert '"mine"' in result.out
    assert "secret" not in result.out


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"providers": [', "line 1"),
        ('{"providers": []}', "empty"),
        (json.dumps({"providers": [{**ENTRY, "apikey": "exa-secret-1234"}]}), "apikey"),
        (json.dumps({"providers": [ENTRY, ENTRY]}), "repeats"),
    ],
)
def test_check_ends_with_2_and_says_what_is_wrong(cli: Cli, text: str, fault: str) -> None:
    path = put(config_paths()[0], text)
    result = cli("config", "check")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"webtools: {path}")
    assert fault in result.err
    assert "secret" not in result.err


def test_check_warns_of_what_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "a-file"
    file.touch()
    places = {"cache": {"path": f"{file}/c.db"}, "log": {"path": f"{file}/deep/l.ndjson"}}
    path = put(
        tmp_path / "folder" / "web-search.json", json.dumps({"providers": [ENTRY], **places})
    )
    result = cli("config", "check", "--config", str(path))
    assert f"Warning: {file}/c" in result.out  # the name of the file has the version
    assert f"Warning: {file}/deep/l.ndjson " in result.out


def test_live_calls_every_provider_once_and_names_what_it_costs(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    path = Path(trial)
    webtools_sandbox.fault(status=401, provider="brave", times=None)
    result = cli("config", "check", "--live", "--config", trial)
    lines = [line for line in result.out.splitlines() if line.startswith("Live")]
    assert result.code == 1
    assert "6" in lines[0]
    for line in lines[1:-1]:
        if "brave" in line:
            assert "HTTP 401" in line
        else:
            assert re.fullmatch(r'Live "\w+": .*[1-9]\d* ms, .*[\d.]+ USD', line)
    assert re.fullmatch(r'Live "direct": .*\d+ ms', lines[-1])  # a page of the sandbox
    assert len(lines) == 7
    assert (path.parent / "trial-log.ndjson").exists()  # beside the config, as the config says


# --- beginning and changing it -----------------------------------------------------------------


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_init_writes_a_private_file_in_a_private_folder(
    cli: Cli, piped: Callable[[str], None]
) -> None:
    piped("test-key-exa-1\n")
    result = cli("config", "init", "--type", "exa")
    path = config_paths()[0]
    assert (result.code, result.err) == (0, "")
    assert f"Written: {path}\n" in result.out
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert [provider.name for provider in load(path.read_text(), str(path)).providers] == ["exa"]
    assert "test-key" not in result.out
    assert list(path.parent.iterdir()) == [path]
    assert cli("config", "check").code == 0


@pytest.mark.parametrize(("typed", "kind"), [("kagi", "kagi"), ("", "exa")])
def test_init_asks_for_type_and_key_on_a_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str, kind: str
) -> None:
    monkeypatch.setattr(configuring, "_is_terminal", lambda: True)
    monkeypatch.setattr(configuring, "getpass", lambda _: "test-key-kagi-1")
    monkeypatch.setattr("builtins.input", lambda _: typed)
    path = tmp_path / "deep" / "folder" / "web-search.json"
    result = cli("config", "init", "mine", "--config", str(path))
    assert result.code == 0
    text = " ".join(result.out.split())
    assert f"webtools config check --config {path}; webtools plan QUESTION --config" in text
    [entry] = json.loads(path.read_text())["providers"]
    assert entry == {"name": "mine", "type": kind, "apiKey": "test-key-kagi-1"} | (
        {"options": {"searchHighlights": True}} if kind == "exa" else {}
    )


def test_init_asks_for_the_address_of_what_everyone_runs_their_own_of(
    cli: Cli, piped: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    piped("searx.example\n")
    assert "baseUrl" in cli("config", "init", "--type", "searxng").err
    monkeypatch.setattr(configuring, "_is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: " http://127.0.0.1:8888 ")
    assert cli("config", "init", "--type", "searxng").code == 0
    [entry] = json.loads(config_paths()[0].read_text())["providers"]
    assert entry == {"name": "searxng", "type": "searxng", "baseUrl": "http://127.0.0.1:8888"}
    assert "no key" not in cli("config", "check").out


def test_init_replaces_a_file_only_with_force(cli: Cli, piped: Callable[[str], None]) -> None:
    path = put(config_paths()[0], CONFIG)
    piped("test-key-exa-1\n")
    result = cli("config", "init", "--type", "exa")
    assert (result.code, path.read_text()) == (2, CONFIG)
    assert "--force" in result.err
    assert cli("config", "init", "--type", "exa", "--force").code == 0
    assert "test-key-exa-1" in path.read_text()
    assert mode(path) == 0o600


def test_add_writes_a_second_provider(cli: Cli, piped: Callable[[str], None]) -> None:
    config = {"maxResults": 7, "providers": [{"name": "kagi", "type": "kagi", "apiKey": "k" * 12}]}
    path = put(config_paths()[0], json.dumps(config))
    piped("test-key-exa-1\n")
    result = cli("config", "add", "exa")
    assert (result.code, result.err) == (0, "")
    assert "test-key" not in result.out
    written = json.loads(path.read_text())
    options = {"searchHighlights": True}
    added = {"name": "exa", "type": "exa", "apiKey": "test-key-exa-1", "options": options}
    assert written == {**config, "providers": [*config["providers"], added]}  # type: ignore[misc]
    assert mode(path) == 0o600


@pytest.mark.parametrize("action", [["add", "tavily"], ["init", "--type", "tavily", "--force"]])
def test_an_entry_without_an_optional_key_is_reported(
    cli: Cli, piped: Callable[[str], None], action: list[str]
) -> None:
    put(config_paths()[0], CONFIG)
    piped("")
    result = cli("config", *action)
    assert (result.code, result.err) == (0, "")
    assert '"tavily" has no API key' in result.out
    piped("test-key-tavily-1\n")
    name = re.findall(r"webtools (config set-key .*)", result.out)[0]
    assert cli(*name.split()).code == 0
    assert "key: none" not in cli("config", "check").out


@pytest.mark.parametrize(
    ("arguments", "text", "fault"),
    [
        (["add", "tavily"], "short", "too short"),
        (["add", "tavly"], "test-key-tavily", '"tavily"'),
        (["add", "exa"], "", "key"),
        (["add"], "test-key-exa-1", "TYPE"),
        (["set-key", "mime"], "test-key-new-1", '"mine"'),
        (["set-key", "absent"], "test-key-new-1", '"absent"'),
        (["set-key", "mine"], "", "key"),
        (["set-key", "mine"], "a b c d e f", "white space"),
        (["set-key"], "test-key-new-1", "NAME"),
        (["set-key", "mine", "test-key-new-1"], "", "unrecognized"),
    ],
)
def test_add_and_set_key_leave_the_file_alone_where_it_cannot_be_right(
    cli: Cli, piped: Callable[[str], None], arguments: list[str], text: str, fault: str
) -> None:
    path = put(config_paths()[0], CONFIG)
    piped(text)
    result = cli("config", *arguments)
    assert (result.code, result.out) == (2, "")
    assert fault in result.err
    assert path.read_text() == CONFIG


def test_the_error_about_a_missing_provider_names_the_ignored_variable(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(config_paths()[0], json.dumps({"providers": [ENTRY | {"type": "context7"}]}))
    monkeypatch.setenv("TAVILY_API_KEY", "test-key-tavily-1")
    for arguments in (["search", "x"], ["search", "x", "--provider", "tavily"], ["web-news", "x"]):
        result = cli(*arguments)
        assert result.code == 2
        assert "TAVILY_API_KEY" in result.err
        assert "webtools config add tavily" in result.err


def test_set_key_changes_that_key_alone(cli: Cli, piped: Callable[[str], None]) -> None:
    other = {"name": "other", "type": "kagi", "apiKey": "test-key-other"}
    config = {"maxResults": 7, "providers": [ENTRY, other]}
    path = put(config_paths()[0], json.dumps(config))
    path.chmod(0o644)
    piped("test-key-new-1\n")
    result = cli("config", "set-key", "mine")
    assert (result.code, result.err) == (0, "")
    config["providers"][0]["apiKey"] = "test-key-new-1"  # type: ignore[index]
    assert json.loads(path.read_text()) == config
    assert mode(path) == 0o600


def test_a_failed_write_leaves_the_file_unchanged(
    cli: Cli, piped: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(config_paths()[0], CONFIG)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    piped("test-key-0123456789")
    assert str(path) in cli("config", "set-key", "mine").err
    assert path.read_text() == CONFIG
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("limit", [{"usdPerDay": 5}, {"callsPerDay": 50}])
def test_check_says_what_was_spent_today(cli: Cli, trial: str, limit: dict[str, Any]) -> None:
    path = Path(trial)
    path.write_text(json.dumps({**json.loads(path.read_text()), "budget": limit}))
    assert "Spent today (UTC): 0 USD, 0 calls\n" in cli("config", "check", "--config", trial).out
    assert not list(path.parent.glob("*.sqlite3"))  # looking makes no file
    cli("search", "heap", "queue", "--provider", "exa", "--config", trial)
    assert (
        "Spent today (UTC): 0.014 USD, 2 calls\n" in cli("config", "check", "--config", trial).out
    )
