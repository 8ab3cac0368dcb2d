"""config path, check and example."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest
from cli_calls import Cli

from webtools.config import config_paths, load


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    return path


ENTRY = {"name": "mine", "type": "exa", "apiKey": "exa-secret-1234"}
CONFIG = json.dumps({"providers": [ENTRY]})


def test_path_tells_where_the_file_belongs_and_that_there_is_none(cli: Cli) -> None:
    done = cli("config", "path")
    ours, _ = config_paths()
    expected = f"Belongs at: {ours}\nIn use: none, so the environment is read\n"
    assert (done.code, done.out, done.err) == (0, expected, "")


@pytest.mark.parametrize("which", [0, 1])
def test_path_tells_which_file_is_in_use(cli: Cli, which: int) -> None:
    used = put(config_paths()[which], CONFIG)
    assert f"In use: {used}\n" in cli("config", "path").out


def test_path_tells_the_file_it_is_given(cli: Cli, tmp_path: Path) -> None:
    put(config_paths()[0], CONFIG)
    other = put(tmp_path / "other" / "web-search.json", CONFIG)
    done = cli("config", "path", "--config", str(other))
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f"\nIn use: {other}\n")


def test_path_complains_of_a_file_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    done = cli("config", "path", "--config", str(tmp_path / "none.json"))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"webtools: {tmp_path / 'none.json'}: does not exist")


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
    assert all(len(line) <= 30 or " " not in line.strip() for line in narrow.splitlines())


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


def test_example_is_a_valid_config_alone(cli: Cli) -> None:
    done = cli("config", "example")
    assert (done.code, done.err) == (0, "")
    assert load(done.out, "the example").providers[0].type == "exa"


@pytest.mark.parametrize("arguments", [[], ["paths"], ["path", "more"]])
def test_other_actions_are_refused(cli: Cli, arguments: list[str]) -> None:
    done = cli("config", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("Try `webtools config --help`.\n")
