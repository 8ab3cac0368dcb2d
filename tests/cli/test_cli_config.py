"""config path, check and example."""

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

from webtools.cli import config as configuring
from webtools.cli import live
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


def test_path_shows_where_the_file_belongs_and_that_there_is_none(cli: Cli) -> None:
    done = cli("config", "path")
    ours, _ = config_paths()
    assert (done.code, done.err) == (0, "")
    assert f"Belongs at: {ours}\nIn use: none" in done.out


@pytest.mark.parametrize("which", [0, 1])
def test_path_shows_which_file_is_in_use(cli: Cli, which: int) -> None:
    used = put(config_paths()[which], CONFIG)
    assert f"In use: {used}\n" in cli("config", "path").out


def test_path_shows_the_file_of_config(cli: Cli, tmp_path: Path) -> None:
    put(config_paths()[0], CONFIG)
    other = put(tmp_path / "other" / "web-search.json", CONFIG)
    done = cli("config", "path", "--config", str(other))
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f"\nIn use: {other}\n")


def test_a_variable_names_the_file_that_is_used(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(config_paths()[0], CONFIG)
    other = put(tmp_path / "other" / "team.json", CONFIG)
    monkeypatch.setenv("WEBTOOLS_CONFIG", str(other))
    assert cli("config", "path").out.endswith(f"\nIn use: {other}\n")
    assert cli("config", "check").out.startswith(f"Source: {other}\n")


def test_path_complains_of_a_file_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    done = cli("config", "path", "--config", str(tmp_path / "none.json"))
    assert (done.code, done.out) == (2, "")
    assert f"{tmp_path / 'none.json'} does not exist" in done.err


@pytest.mark.parametrize("action", ["check", "path"])
def test_on_a_narrow_terminal_lines_break_between_words(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    put(config_paths()[0], CONFIG)
    whole = cli("config", action).out
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    narrow = cli("config", action).out
    assert narrow.split() == whole.split()
    lines = narrow.splitlines()
    assert all(len(line) <= 30 or " " not in line.strip() for line in lines)
    assert lines[0] in {"Source:", "Belongs at:"}
    assert lines[1].startswith("  /")  # the rest of a setting hangs below it


def test_check_describes_the_settings_without_a_key(cli: Cli) -> None:
    used = put(config_paths()[0], CONFIG)
    done = cli("config", "check")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Source: {used}\n")
    assert '"mine"' in done.out
    assert "secret" not in done.out


def test_check_reads_the_file_it_is_given(cli: Cli, tmp_path: Path) -> None:
    put(config_paths()[0], "no JSON")
    other = put(tmp_path / "other" / "web-search.json", CONFIG)
    done = cli("config", "check", "--config", str(other))
    assert done.code == 0
    assert str(other) in done.out


def test_check_names_the_keyless_providers_where_they_are_needed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_SEARCH_KEYLESS", "1")
    assert "tavily" in cli("config", "check").out
    monkeypatch.setenv("EXA_API_KEY", "test-key-0123456789")
    assert "not needed" in cli("config", "check").out


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
    done = cli("config", "check")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"webtools: {path}")
    assert fault in done.err
    assert "secret" not in done.err


def test_check_warns_of_what_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "a-file"
    file.touch()
    places = {"cache": {"path": f"{file}/c.db"}, "log": {"path": f"{file}/deep/l.ndjson"}}
    path = put(
        tmp_path / "folder" / "web-search.json", json.dumps({"providers": [ENTRY], **places})
    )
    done = cli("config", "check", "--config", str(path))
    assert f"Warning: {file}/c.db " in done.out
    assert f"Warning: {file}/deep/l.ndjson " in done.out


def test_check_warns_of_a_store_whose_extra_is_missing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools._internal.storage.redis_store.find_spec", lambda _: None)
    settings = {"providers": [ENTRY], "storage": {"url": "redis://127.0.0.1:6379/0"}}
    path = put(tmp_path / "folder" / "web-search.json", json.dumps(settings))
    done = cli("config", "check", "--config", str(path))
    assert re.search(r"Warning: storage\.url .*\bredis: pip install", done.out)


def test_example_is_a_valid_config_alone(cli: Cli) -> None:
    done = cli("config", "example")
    assert (done.code, done.err) == (0, "")
    assert load(done.out, "the example").providers[0].type == "exa"


def test_live_calls_every_provider_once_and_names_what_it_costs(
    cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    path = Path(trial)
    webtools_sandbox.fault(status=401, provider="brave", times=None)
    done = cli("config", "check", "--live", "--config", trial)
    lines = [line for line in done.out.splitlines() if line.startswith("Live")]
    assert done.code == 1
    assert "6" in lines[0]
    for line in lines[1:-1]:
        if "brave" in line:
            assert "HTTP 401" in line
        else:
            assert re.fullmatch(r'Live "\w+": .*[1-9]\d* ms, .*[\d.]+ USD', line)
    assert re.fullmatch(r'Live "direct": .*\d+ ms', lines[-1])  # a page of the sandbox
    assert len(lines) == 7
    assert (path.parent / "trial-log.ndjson").exists()  # beside the config, as the config says


def test_live_reads_the_environment_where_there_is_no_file(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAGI_API_KEY", "test-key-kagi-1")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    done = cli("config", "check", "--live")
    assert done.code == 1
    assert 'Live "kagi": Network error' in done.out.splitlines()[-1]


def test_live_leaves_out_what_serves_no_call_alone(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_CALLS", {})
    done = cli("config", "check", "--live", "--config", str(put(tmp_path / "a" / "b", CONFIG)))
    assert done.code == 0
    assert 'Live "mine": not called' in done.out


def test_live_is_for_check_alone(cli: Cli) -> None:
    done = cli("config", "path", "--live")
    assert (done.code, done.out) == (2, "")
    assert "--live" in done.err


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
    done = cli("config", "init", "--type", "exa")
    path = config_paths()[0]
    assert (done.code, done.err) == (0, "")
    assert f"Written: {path}\n" in done.out
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert [each.name for each in load(path.read_text(), str(path)).providers] == ["exa"]
    assert "test-key" not in done.out
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
    done = cli("config", "init", "mine", "--config", str(path))
    assert done.code == 0
    tried = " ".join(done.out.split())
    assert f"webtools config check --config {path}; webtools plan QUESTION --config" in tried
    [entry] = json.loads(path.read_text())["providers"]
    assert entry == {"name": "mine", "type": kind, "apiKey": "test-key-kagi-1"} | (
        {"options": {"searchHighlights": True}} if kind == "exa" else {}
    )


@pytest.mark.parametrize("kind", ["perplexity", "context7", "jina", "direct"])
def test_init_names_no_plan_where_none_can_be_made(
    cli: Cli, piped: Callable[[str], None], kind: str
) -> None:
    piped("test-key-0123456789\n")
    done = cli("config", "init", "--type", kind)
    assert done.code == 0
    assert "webtools config check --live" in done.out
    assert "webtools plan" not in done.out


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
    done = cli("config", "init", "--type", "exa")
    assert (done.code, path.read_text()) == (2, CONFIG)
    assert "--force" in done.err
    assert cli("config", "init", "--type", "exa", "--force").code == 0
    assert "test-key-exa-1" in path.read_text()
    assert mode(path) == 0o600


@pytest.mark.parametrize(
    ("arguments", "text", "fault"),
    [
        (["--type", "exa"], "", "key"),
        (["--type", "exa"], "short", "Exa API key"),
        (["--type", "exo"], "test-key-exa-1", "exo"),
        ([], "test-key-exa-1", "--type"),
    ],
)
def test_init_writes_nothing_that_would_not_be_read(
    cli: Cli, piped: Callable[[str], None], arguments: list[str], text: str, fault: str
) -> None:
    piped(text)
    done = cli("config", "init", *arguments)
    assert done.code == 2
    assert fault in done.err
    assert "providers[0]" not in done.err  # the user has written no file yet
    assert not config_paths()[0].exists()


def test_add_writes_a_second_provider(cli: Cli, piped: Callable[[str], None]) -> None:
    config = {"maxResults": 7, "providers": [{"name": "kagi", "type": "kagi", "apiKey": "k" * 12}]}
    path = put(config_paths()[0], json.dumps(config))
    piped("test-key-exa-1\n")
    done = cli("config", "add", "exa")
    assert (done.code, done.err) == (0, "")
    assert "test-key" not in done.out
    written = json.loads(path.read_text())
    options = {"searchHighlights": True}
    added = {"name": "exa", "type": "exa", "apiKey": "test-key-exa-1", "options": options}
    assert written == {**config, "providers": [*config["providers"], added]}  # type: ignore[misc]
    assert mode(path) == 0o600


def test_add_takes_another_name_for_a_second_provider_of_a_type(
    cli: Cli, piped: Callable[[str], None]
) -> None:
    path = put(config_paths()[0], json.dumps({"providers": [ENTRY | {"name": "exa"}]}))
    piped("test-key-exa-1\n")
    done = cli("config", "add", "exa")
    assert done.code == 2
    assert "--name" in done.err
    assert cli("config", "add", "exa", "--name", "exa-2").code == 0
    assert [entry["name"] for entry in json.loads(path.read_text())["providers"]] == [
        "exa",
        "exa-2",
    ]


@pytest.mark.parametrize(
    ("arguments", "text", "fault"),
    [
        (["add", "tavily"], "short", "too short"),
        (["add", "tavly"], "test-key-tavily", '"tavily"'),
        (["add", "exa"], "", "key"),
        (["add"], "test-key-exa-1", "TYPE"),
        (["set-key", "mime"], "test-key-new-1", '"mine"'),
        (["set-key", "nobody"], "test-key-new-1", '"nobody"'),
        (["set-key", "mine"], "", "key"),
        (["set-key", "mine"], "a b c d e f", "blank"),
        (["set-key"], "test-key-new-1", "NAME"),
        (["set-key", "mine", "test-key-new-1"], "", "unrecognized"),
    ],
)
def test_add_and_set_key_leave_the_file_alone_where_it_cannot_be_right(
    cli: Cli, piped: Callable[[str], None], arguments: list[str], text: str, fault: str
) -> None:
    path = put(config_paths()[0], CONFIG)
    piped(text)
    done = cli("config", *arguments)
    assert (done.code, done.out) == (2, "")
    assert fault in done.err
    assert path.read_text() == CONFIG


@pytest.mark.parametrize("action", ["add", "set-key"])
def test_without_a_file_the_command_that_begins_one_is_named(cli: Cli, action: str) -> None:
    done = cli("config", action, "exa")
    assert (done.code, done.out) == (2, "")
    assert "webtools config init" in done.err


def test_check_lists_the_key_variables_that_the_file_hides(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXA_API_KEY", "test-key-exa-1")  # the file has a provider of this type
    monkeypatch.setenv("TAVILY_API_KEY", "test-key-tavily-1")
    put(config_paths()[0], CONFIG)
    done = cli("config", "check")
    assert "TAVILY_API_KEY" in done.out
    assert "webtools config add tavily\n" in done.out
    assert "EXA_API_KEY" not in done.out
    other = put(tmp_path / "other" / "web-search.json", CONFIG)
    done = cli("config", "check", "--config", str(other))
    assert f"webtools config add tavily --config {other}" in " ".join(done.out.split())


def test_the_error_about_a_missing_provider_names_the_ignored_variable(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(config_paths()[0], json.dumps({"providers": [ENTRY | {"type": "context7"}]}))
    monkeypatch.setenv("TAVILY_API_KEY", "test-key-tavily-1")
    for arguments in (["search", "x"], ["search", "x", "--provider", "tavily"], ["web-news", "x"]):
        done = cli(*arguments)
        assert done.code == 2
        assert "TAVILY_API_KEY" in done.err
        assert "webtools config add tavily" in done.err


def test_set_key_changes_that_key_alone(cli: Cli, piped: Callable[[str], None]) -> None:
    other = {"name": "other", "type": "kagi", "apiKey": "test-key-other"}
    config = {"maxResults": 7, "providers": [ENTRY, other]}
    path = put(config_paths()[0], json.dumps(config))
    path.chmod(0o644)
    piped("test-key-new-1\n")
    done = cli("config", "set-key", "mine")
    assert (done.code, done.err) == (0, "")
    config["providers"][0]["apiKey"] = "test-key-new-1"  # type: ignore[index]
    assert json.loads(path.read_text()) == config
    assert mode(path) == 0o600


def test_what_cannot_be_put_in_place_leaves_the_file_and_nothing_beside_it(
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


@pytest.mark.parametrize(
    "arguments", [["config", "check"], ["search", "x"], ["web", "x"], ["plan", "x"]]
)
def test_without_any_key_the_command_ends_with_a_short_error(
    cli: Cli, arguments: list[str]
) -> None:
    done = cli(*arguments)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) < 8


def test_an_unknown_provider_is_named_before_its_key_is_asked_for(cli: Cli) -> None:
    put(config_paths()[0], CONFIG)
    done = cli("config", "set-key", "nobody")
    assert (done.code, done.out) == (2, "")
    assert '"nobody"' in done.err


def test_a_closed_stdin_holds_no_key(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    done = cli("config", "init", "--type", "exa")
    assert (done.code, done.out) == (2, "")
    assert "key" in done.err


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


def test_without_a_budget_per_day_nothing_is_known_of_today(cli: Cli, trial: str) -> None:
    assert "Spent today" not in cli("config", "check", "--config", trial).out


def test_add_without_an_address_adds_nothing(
    cli: Cli, piped: Callable[[str], None], tmp_path: Path
) -> None:
    text = '{"providers": [{"name": "exa", "type": "exa", "apiKey": "test-key-exa-1"}]}'
    path = put(tmp_path / "own" / "mine.json", text)
    piped("")
    done = cli("config", "add", "searxng", "--config", str(path))
    assert done.code == 2
    assert "URL" in done.err
    assert path.read_text("utf-8") == text
