"""`webtools cache stats` and `webtools cache clear`."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_calls import Cli

from webtools import QuotaError, WebTools
from webtools._internal.storage.sqlite_file import cache_file

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


@pytest.fixture(autouse=True)
def _own_outputs(own_temp: None) -> None:
    """Let nothing be deleted that is not of these tests."""


def change(trial: str, **parts: dict[str, Any]) -> None:
    path = Path(trial)
    config = json.loads(path.read_text())
    for name, values in parts.items():
        config[name] = {**config.get(name, {}), **values}
    path.write_text(json.dumps(config))


def test_stats_describes_the_cache(cli: Cli, trial: str) -> None:
    cli("search", "heap", "queue", "--config", trial)
    result = cli("cache", "stats", "--config", trial)
    assert (result.code, result.err) == (0, "")
    file = cache_file(Path(trial).with_name("trial-cache.sqlite3"))
    when = r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC, \d+ s ago"
    rows = dict(re.split(r":\s+", line, maxsplit=1) for line in result.out.splitlines())
    assert (rows["File"], rows["Entries"]) == (str(file), "2")
    assert re.fullmatch(r"[\d.]+ KiB .* 256 MiB", rows["Size"])
    assert re.fullmatch(when, rows["Oldest"])
    assert re.fullmatch(when, rows["Newest"])
    assert "30 min" in rows["In use"]
    assert rows["Outputs"].startswith("0 ")


def test_stats_makes_no_file(cli: Cli, trial: str) -> None:
    result = cli("cache", "stats", "--config", trial)
    assert re.search(r"^Entries: +0\nSize: +0 B", result.out, re.MULTILINE)
    assert "Oldest" not in result.out
    assert cli("cache", "stats", "--json", "--config", trial).json["oldest"] is None
    assert not list(Path(trial).parent.glob("*.sqlite3*"))


@pytest.mark.parametrize(
    ("setting", "reason"), [({"enabled": False}, "turned off"), ({"ttlMs": 0}, "cache.ttlMs")]
)
def test_a_cache_that_is_not_used_says_so(
    cli: Cli, trial: str, setting: dict[str, Any], reason: str
) -> None:
    change(trial, cache=setting)
    lines = cli("cache", "stats", "--config", trial).out.splitlines()
    assert any(line.startswith("In use:   no") and reason in line for line in lines)


def test_clear_deletes_the_answers_and_nothing_else(cli: Cli, trial: str) -> None:
    change(trial, budget={"callsPerDay": 5})
    cli("search", "heap", "queue", "--config", trial)
    result = cli("cache", "clear", "--config", trial)
    file = cache_file(Path(trial).with_name("trial-cache.sqlite3"))
    assert (result.code, result.err) == (0, "")
    assert "2" in result.out
    assert str(file) in result.out
    assert cli("cache", "stats", "--json", "--config", trial).json["entries"] == 0
    assert "Budget left:        3 of 5 calls today\n" in cli("plan", "x", "--config", trial).out


def cut_output(cli: Cli, config: str, sandbox: SandboxServer, *names: str) -> Path:
    """Fetch pages that are too long together, and return where the whole output is."""
    urls = [f"{sandbox.docs_url}/library/{name}.html" for name in names]
    details = cli("fetch", *urls, "--json", "--config", config).json
    return Path(details["full_output_path"])


LONG = ("typing", "doctest", "inspect", "difflib")


def test_clear_deletes_the_saved_outputs_of_its_config_only(
    cli: Cli, trial: str, config: str, webtools_sandbox: SandboxServer
) -> None:
    own = cut_output(cli, trial, webtools_sandbox, *LONG)
    other = cut_output(cli, config, webtools_sandbox, *reversed(LONG))
    assert own != other
    assert cli("cache", "stats", "--json", "--config", trial).json["saved_outputs"] == 1
    data = cli("cache", "clear", "--json", "--config", trial).json
    assert (data["deleted_outputs"], own.exists(), other.exists()) == (1, False, True)
    assert cli("cache", "clear", "--json", "--config", trial).json["deleted_outputs"] == 0
    assert cli("cache", "stats", "--json", "--config", config).json["saved_outputs"] == 1


def test_configs_that_share_a_cache_have_outputs_of_their_own(
    cli: Cli, config: str, tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    copy = tmp_path / "copy.json"
    copy.write_text(Path(config).read_text())
    copy.chmod(0o600)
    other = cut_output(cli, str(copy), webtools_sandbox, *LONG)
    assert cli("cache", "clear", "--json", "--config", config).json["deleted_outputs"] == 0
    assert other.exists()


def test_an_output_that_two_configs_saved_stays_for_the_other(
    cli: Cli, trial: str, config: str, webtools_sandbox: SandboxServer
) -> None:
    own, other = (cut_output(cli, item, webtools_sandbox, *LONG) for item in (trial, config))
    assert own == other
    cli("cache", "clear", "--config", trial)
    assert other.exists()
    assert cli("cache", "clear", "--json", "--config", config).json["deleted_outputs"] == 1
    assert not other.exists()


@pytest.mark.parametrize("action", ["stats", "clear"])
def test_a_file_that_cannot_be_used_is_exit_2_and_named(cli: Cli, trial: str, action: str) -> None:
    file = cache_file(Path(trial).with_name("trial-cache.sqlite3"))
    file.mkdir()
    result = cli("cache", action, "--config", trial)
    assert (result.code, result.out) == (2, "")
    assert str(file) in result.err
    assert "cache.path" in result.err


def test_what_is_kept_of_one_user_is_deleted_alone(cli: Cli, trial: str) -> None:
    def is_cached(user: str) -> bool:
        with WebTools(trial) as web:
            return web.session(user=user).search("heap").cache_hit

    def has_spent(user: str) -> bool:
        with WebTools(trial) as web, contextlib.suppress(QuotaError):
            web.session(user=user, usd_per_day=0.012).search(f"heap {user}", provider="kagi")
            return False
        return True

    for user in ("ann", "bob"):
        assert not is_cached(user)
        assert not has_spent(user)
    result = cli("cache", "clear", "--user", "ann", "--json", "--config", trial)
    assert json.loads(result.out)["deleted"] == 2
    assert [is_cached(user) for user in ("bob", "ann")] == [True, False]
    assert not has_spent("ann")
    assert cli("cache", "stats", "--user", "ann", "--config", trial).code


def test_another_users_day_is_kept(cli: Cli, trial: str) -> None:
    def search(user: str, query: str) -> None:
        with WebTools(trial) as web:
            web.session(user=user, usd_per_day=0.013).search(query, provider="kagi")

    search("bob", "heap")
    cli("cache", "clear", "--user", "ann", "--config", trial)
    with pytest.raises(QuotaError, match="usd_per_day"):
        search("bob", "queue")
    cli("cache", "clear", "--user", "bob", "--config", trial)
    search("bob", "queue")


def test_named_tapes_and_states_of_a_user_are_deleted(cli: Cli, trial: str, tmp_path: Path) -> None:
    kept = ["shared.jsonl", "other.json", "notes"]
    files = {name: tmp_path / name for name in ("run.jsonl", "state.json", *kept)}
    with WebTools(trial) as web:
        session = web.session(user="ann", record=files["run.jsonl"])
        session.search("heap")
        files["state.json"].write_text(json.dumps(session.state()))
        files["other.json"].write_text(json.dumps(web.session(user="bob").state()))
    files["notes"].write_text("mine")
    options = ["cache", "clear", "--config", trial, "--file", str(files["run.jsonl"])]
    assert cli(*options).code == 2
    with WebTools(trial) as web:
        web.session(user="bob", record=files["shared.jsonl"]).search("heap")
        web.session(user="ann", replay=files["shared.jsonl"], record=files["shared.jsonl"]).search(
            "zip"
        )
    for name in ("bob", ""):
        assert cli(*options, "--user", name).code == 2
    for wrong in ("other.json", "notes", "shared.jsonl"):
        assert cli(*options, "--user", "ann", "--file", str(files[wrong])).code == 2
    assert all(file.exists() for file in files.values())
    named = ["--file", str(files["state.json"]), "--user", "ann"]
    assert cli(*options, *named).code == 0
    assert [name for name, file in files.items() if file.exists()] == kept


def test_an_empty_name_of_a_user_deletes_nothing(cli: Cli, trial: str) -> None:
    with WebTools(trial) as web:
        web.search("heap")
    result = cli("cache", "clear", "--config", trial, "--user", "")
    assert result.code == 2
    assert "--user has no name" in result.err
    with WebTools(trial) as web:
        assert web.search("heap").cache_hit
