"""`webtools sandbox`."""

from __future__ import annotations

import json
import signal
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from cli_calls import Cli, Start

import webtools_sandbox as sandbox_module
from webtools._internal.storage.sqlite_file import cache_file
from webtools.cli.sandbox import trial_config

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


def test_it_serves_until_ctrl_c_and_its_config_works(
    start: Start, cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "sandbox.json"
    process = start("sandbox", "--port", "0", "--write-config", str(path))
    assert process.stdout is not None
    assert "http://127.0.0.1:" in process.stdout.readline()
    assert cli("search", "heap", "--config", str(path)).code == 0
    [exa] = [entry for entry in json.loads(path.read_text())["providers"] if entry["type"] == "exa"]
    assert exa["options"]["searchHighlights"] is True
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, webtools_sandbox: SandboxServer) -> list[object]:
    """A sandbox that ends at once; the list gets its settings."""
    calls: list[object] = []

    def serve(*, port: int, latency: float, announce: object) -> None:
        calls.extend([port, latency])
        assert callable(announce)
        announce(webtools_sandbox)

    monkeypatch.setattr(sandbox_module, "serve", serve, raising=False)
    return calls


def test_it_prints_url_keys_and_a_config_to_use(
    cli: Cli, served: list[object], webtools_sandbox: SandboxServer
) -> None:
    result = cli("sandbox")
    assert (result.code, result.err) == (0, "")
    assert webtools_sandbox.url in result.out
    assert sandbox_module.EXA_KEY in result.out
    assert sandbox_module.KAGI_V0_KEY in result.out
    assert sandbox_module.KAGI_V1_KEY in result.out
    text = result.out[result.out.index("{\n") :].partition("\n}\n")[0] + "}"
    assert json.loads(text) == trial_config(webtools_sandbox, Path("sandbox.json"))


def test_the_fault_it_proposes_makes_the_next_call_fail(
    cli: Cli, served: list[object], config: str
) -> None:
    command = cli("sandbox").out.partition("curl -d ")[2]
    body, url = command.strip().replace("'", "").rsplit(" ", 1)
    assert httpx.post(url, content=body).status_code == 200
    codes = [cli("search", "heap", "--provider", "exa", "--config", config).code for _ in range(2)]
    assert codes == [1, 0]


def test_it_writes_a_private_config(
    cli: Cli, served: list[object], tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    path = tmp_path / "my config.json"
    result = cli("sandbox", "--write-config", str(path))
    assert json.loads(path.read_text()) == trial_config(webtools_sandbox, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"webtools search --config '{path}'" in result.out


def test_cache_and_log_are_beside_the_config_and_not_the_users(
    cli: Cli, served: list[object], tmp_path: Path, home: Path
) -> None:
    path = tmp_path / "trial.json"
    message = cli("sandbox", "--write-config", str(path)).out
    assert cli("search", "heap", "--config", str(path)).code == 0
    files = {file.name for file in tmp_path.iterdir() if file.name.startswith("trial")}
    assert files >= {"trial.json", cache_file(Path("trial-cache.sqlite3")).name, "trial-log.ndjson"}
    assert "trial-cache.sqlite3" in message
    assert "trial-log.ndjson" in message
    assert not any(home.rglob("*web*"))
    second = cli("search", "heap", "--config", str(path), "--json")
    assert second.json["cache_hit"] is True
    assert "heap" in cli("log", "tail", "--config", str(path)).out


def test_it_never_replaces_another_file(cli: Cli, served: list[object], tmp_path: Path) -> None:
    path = tmp_path / "web-search.json"
    path.write_text("my own keys")
    result = cli("sandbox", "--write-config", str(path))
    assert (result.code, result.out) == (1, "")
    assert str(path) in result.err
    assert path.read_text() == "my own keys"


def test_a_taken_port_is_exit_1_and_named(cli: Cli, webtools_sandbox: SandboxServer) -> None:
    result = cli("sandbox", "--port", str(webtools_sandbox.port))
    assert (result.code, result.out) == (1, "")
    assert str(webtools_sandbox.port) in result.err
    assert "--port" in result.err


@pytest.mark.parametrize("command", ["sandbox", "demo"])
def test_without_aiohttp_the_message_names_the_extra(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.delitem(sys.modules, "webtools_sandbox.server", raising=False)
    result = cli(command)
    assert (result.code, result.out) == (2, "")
    assert "pip install 'agent-webtools[sandbox]'" in result.err
