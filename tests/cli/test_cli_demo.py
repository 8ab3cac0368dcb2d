"""`webtools demo`, from end to end."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli_calls import Cli

from webtools.cli.arguments import read as read_arguments
from webtools.config import config_paths

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


@pytest.fixture
def own_config(config: str) -> Path:
    """The sandbox as the user's own providers."""
    path = config_paths()[0]
    path.parent.mkdir(parents=True)
    return Path(config).rename(path)


def test_it_searches_reads_a_page_and_answers_with_a_citation(cli: Cli) -> None:
    result = cli("demo")
    assert (result.code, result.err) == (0, "")
    search, fetch, research = re.split(r"\$ webtools (?:fetch|web-deep)", result.out)
    url = "https://docs.python.org/3/library/secrets.html"
    assert "\n   Generate cryptographically strong" in search  # a snippet
    assert url in fetch
    assert "[1]" in research
    assert url in research.partition("Sources:")[2]
    assert "webtools config init" in research


def test_its_commands_name_no_place_that_is_gone(cli: Cli) -> None:
    shown = cli("demo").out
    printed = re.findall(r"^\$ webtools (.*)$", shown, re.MULTILINE)
    assert [read_arguments(shlex.split(line)).config for line in printed] == [None] * 3
    assert "127.0.0.1" not in shown


def test_it_leaves_no_file_behind(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = {*tmp_path.iterdir()}
    assert cli("demo", "How do heaps work?").code == 0
    assert {*tmp_path.iterdir()} == before


def test_live_without_settings_is_exit_2_with_the_config_message(cli: Cli) -> None:
    result = cli("demo", "--live")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("webtools: KAGI_API_KEY ")


def test_live_uses_the_user_s_own_config(
    cli: Cli, own_config: Path, webtools_sandbox: SandboxServer
) -> None:
    result = cli("demo", "--live", "--", "--version of heapq")
    assert (result.code, result.err) == (0, "")
    assert f"{webtools_sandbox.docs_url}/library/heapq.html" in result.out
    assert "--config" not in result.out


def test_a_failing_provider_is_shown_and_is_exit_1(
    cli: Cli, own_config: Path, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    result = cli("demo", "--live")
    assert result.code == 1
    assert "HTTP 401" in result.err
    assert "test-key" not in result.out + result.err
