"""sandbox."""

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
from webtools import WebTools
from webtools.cli.sandbox import trial_config, write_config

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
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, webtools_sandbox: SandboxServer) -> list[object]:
    """A sandbox that ends at once; the list gets its settings."""
    given: list[object] = []

    def serve(*, port: int, latency: float, announce: object) -> None:
        given.extend([port, latency])
        assert callable(announce)
        announce(webtools_sandbox)

    monkeypatch.setattr(sandbox_module, "serve", serve, raising=False)
    return given


def test_it_prints_url_keys_and_a_config_to_use(
    cli: Cli, served: list[object], webtools_sandbox: SandboxServer
) -> None:
    done = cli("sandbox")
    assert (done.code, done.err) == (0, "")
    assert webtools_sandbox.url in done.out
    assert sandbox_module.EXA_KEY in done.out
    assert sandbox_module.KAGI_V0_KEY in done.out
    assert sandbox_module.KAGI_V1_KEY in done.out
    text = done.out[done.out.index("{\n") :].partition("\n}\n")[0] + "}"
    assert json.loads(text) == trial_config(webtools_sandbox, Path("sandbox.json"))


def test_the_fault_it_proposes_makes_the_next_call_fail(
    cli: Cli, served: list[object], config: str
) -> None:
    command = cli("sandbox").out.partition("curl -d ")[2]
    body, url = command.strip().replace("'", "").rsplit(" ", 1)
    assert httpx.post(url, content=body).status_code == 200
    codes = [cli("search", "heap", "--provider", "exa", "--config", config).code for _ in range(2)]
    assert codes == [1, 0]


def test_port_and_latency_reach_the_server(cli: Cli, served: list[object]) -> None:
    cli("sandbox", "--port", "9000", "--latency", "0.5")
    cli("sandbox")
    assert served == [9000, 0.5, 8765, 0.0]


def test_it_writes_a_private_config(
    cli: Cli, served: list[object], tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    path = tmp_path / "my config.json"
    done = cli("sandbox", "--write-config", str(path))
    assert json.loads(path.read_text()) == trial_config(webtools_sandbox, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"webtools search --config '{path}'" in done.out


def test_a_trial_reads_the_served_pages_without_an_api(webtools_sandbox: SandboxServer) -> None:
    config = trial_config(webtools_sandbox, Path("sandbox.json"))
    config["cache"] = config["log"] = {"enabled": False}
    with WebTools(config) as web:
        found = web.fetch(f"{webtools_sandbox.docs_url}/library/json.html", provider="direct")
    assert "json" in (found.pages[0].text or "")


def test_what_is_kept_lies_beside_the_config_and_apart_from_the_user_s_own(
    cli: Cli, served: list[object], tmp_path: Path, home: Path
) -> None:
    path = tmp_path / "trial.json"
    said = cli("sandbox", "--write-config", str(path)).out
    assert cli("search", "heap", "--config", str(path)).code == 0
    files = {file.name for file in tmp_path.iterdir() if file.name.startswith("trial")}
    assert files >= {"trial.json", "trial-cache.sqlite3", "trial-log.ndjson"}
    assert "trial-cache.sqlite3" in said
    assert "trial-log.ndjson" in said
    assert not any(home.rglob("*web*"))
    again = cli("search", "heap", "--config", str(path), "--json")
    assert again.json["cache_hit"] is True
    assert "heap" in cli("log", "tail", "--config", str(path)).out


def test_its_own_config_still_keeps_nothing(webtools_sandbox: SandboxServer) -> None:
    config = webtools_sandbox.config()
    assert (config["cache"], config["log"]) == ({"enabled": False}, {"enabled": False})


def test_it_never_replaces_another_file(cli: Cli, served: list[object], tmp_path: Path) -> None:
    path = tmp_path / "web-search.json"
    path.write_text("my own keys")
    done = cli("sandbox", "--write-config", str(path))
    assert (done.code, done.out) == (1, "")
    assert str(path) in done.err
    assert path.read_text() == "my own keys"


def test_its_own_file_may_be_written_again(tmp_path: Path) -> None:
    path = tmp_path / "web-search.json"
    write_config(path, {"providers": []})
    write_config(path, {"providers": []})
    with pytest.raises(FileExistsError):
        write_config(path, {"providers": [1]})


def test_a_folder_that_is_not_there_is_exit_1_and_named(
    cli: Cli, served: list[object], tmp_path: Path
) -> None:
    path = tmp_path / "none" / "web-search.json"
    done = cli("sandbox", "--write-config", str(path))
    assert done.code == 1
    assert str(path) in done.err


def test_a_taken_port_is_exit_1_and_named(cli: Cli, webtools_sandbox: SandboxServer) -> None:
    done = cli("sandbox", "--port", str(webtools_sandbox.port))
    assert (done.code, done.out) == (1, "")
    assert str(webtools_sandbox.port) in done.err
    assert "--port" in done.err


def test_a_system_error_without_reason_still_says_something(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(**_: object) -> None:
        raise OSError("no more sockets")

    monkeypatch.setattr(sandbox_module, "serve", serve, raising=False)
    assert "no more sockets" in cli("sandbox").err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--port", "65536"],
        ["--port", "-1"],
        ["--port", "x"],
        ["--latency", "-1"],
        ["--latency", "nan"],
        ["--latency", "x"],
        ["more"],
    ],
)
def test_senseless_settings_are_exit_2(cli: Cli, arguments: list[str]) -> None:
    done = cli("sandbox", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("webtools: ")


@pytest.mark.parametrize("command", ["sandbox", "demo"])
def test_without_aiohttp_the_message_names_the_extra(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.delitem(sys.modules, "webtools_sandbox.server", raising=False)
    done = cli(command)
    assert (done.code, done.out) == (2, "")
    assert "pip install 'agent-webtools[sandbox]'" in done.err
