"""Tapes on the command line, over MCP, in notebooks, in pytest and by environment variables."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster
from IPython.core.interactiveshell import InteractiveShell
from mcp import Client
from tape_files import search_line, write_tape

import webtools
from webtools import InputError, WebTools, bulk
from webtools.cli import main
from webtools.cli.arguments import command_parser
from webtools.cli.tool_commands import CALLS, RESEARCH
from webtools.mcp.server import make_server
from webtools.notebook import load_ipython_extension, unload_ipython_extension
from webtools_sandbox import SandboxServer


@pytest.fixture
def config(tmp_path: Path, webtools_sandbox: SandboxServer) -> str:
    path = tmp_path / "sandbox.json"
    path.write_text(json.dumps(webtools_sandbox.config()))
    path.chmod(0o600)
    return str(path)


# --- the command line ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*CALLS, *RESEARCH, "bulk", "verify", "mcp"])
def test_a_command_has_both_options(name: str) -> None:
    options = {action.dest for action in command_parser(name).arguments}
    assert {"record", "replay"} <= options


@pytest.mark.parametrize("more", [[], ["--json"], ["--timeout", "30"]])
def test_a_command_is_replayed_without_settings(
    config: str, tape: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    words = ["search", "json decoder", "--limit", "3", *more]
    assert main([*words, "--config", config, "--record", str(tape)]) == 0
    recorded = capsys.readouterr()
    assert main([*words, "--replay", str(tape)]) == 0
    assert capsys.readouterr() == recorded
    assert main(["search", "json encoder", "--limit", "3", "--replay", str(tape)]) == 2
    assert "json decoder" in capsys.readouterr().err


def test_a_command_with_both_adds_to_a_tape(
    config: str, tape: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tapes = ["--record", str(tape), "--replay", str(tape)]
    for query in ("json", "zip", "json"):
        assert main(["search", query, "--config", config, *tapes]) == 0
    capsys.readouterr()
    assert len(tape.read_text().splitlines()) == 3


def test_bulk_work_and_a_check_are_replayed_without_settings(
    config: str,
    tape: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    webtools_sandbox: SandboxServer,
) -> None:
    answer = f"It reads JSON. [1]\n\n[1]: {webtools_sandbox.docs_url}/library/json.html"
    for name, text in (("queries.txt", "json\nzip file\nabsent\n"), ("answer.md", answer)):
        (tmp_path / name).write_text(text)
    recorded: list[Any] = []
    for tapes in (["--config", config, "--record", str(tape)], ["--replay", str(tape)]):
        rows = tmp_path / f"rows-{len(recorded)}.jsonl"
        words = ["bulk", "search", str(tmp_path / "queries.txt"), "-o", str(rows)]
        assert main([*words, *tapes]) == 0
        results = sorted(
            (row.subject, row.status, json.dumps(row.result, sort_keys=True))
            for row in bulk.read(rows)
        )
        capsys.readouterr()
        recorded.append(results)
        webtools_sandbox.fault(status=500)
    assert recorded[0] == recorded[1]
    webtools_sandbox.reset()
    checks: list[Any] = []
    for tapes in (["--config", config, "--record", str(tape)], ["--replay", str(tape)]):
        code = main(["verify", str(tmp_path / "answer.md"), "--fetch", "--json", *tapes])
        checks.append((code, capsys.readouterr()))
        webtools_sandbox.fault(status=500)
    assert checks[0] == checks[1]
    assert "claims" in checks[0][1].out


def test_a_file_that_is_no_tape_is_a_usage_error(
    config: str, tape: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tape.write_text("notes")
    for option in ("--record", "--replay"):
        assert main(["search", "x", "--config", config, option, str(tape)]) == 2
        assert str(tape) in capsys.readouterr().err
    assert tape.read_text() == "notes"


# --- the environment ----------------------------------------------------------------------------


def test_the_environment_records_and_replays_any_client(
    web: WebTools,
    unconfigured: WebTools,
    tape: Path,
    monkeypatch: pytest.MonkeyPatch,
    webtools_sandbox: SandboxServer,
) -> None:
    monkeypatch.setenv("WEBTOOLS_RECORD", str(tape))
    recorded = [web.search("json"), WebTools(webtools_sandbox.config()).search("zip file")]
    monkeypatch.delenv("WEBTOOLS_RECORD")
    monkeypatch.setenv("WEBTOOLS_REPLAY", str(tape))
    requests = webtools_sandbox.stats()["requests"]
    assert [unconfigured.search("json"), web.session().search("zip file")] == recorded
    with pytest.raises(InputError) as caught:
        web.search("json")  # it was replayed to the other client
    assert caught.value.code == "not_on_tape"
    assert webtools_sandbox.stats()["requests"] == requests
    # A session has a tape of its own.
    assert web.session(replay=tape).search("json") == recorded[0]


def test_without_a_tape_nothing_of_it_is_imported(webtools_sandbox: SandboxServer) -> None:
    code = (
        "import json, sys\nfrom webtools import WebTools\n"
        "web = WebTools(json.loads(sys.argv[1]))\nweb.search('json')\n"
        "print(*[name for name in sys.modules if 'tape' in name or 'comparison' in name])"
    )
    config = json.dumps(webtools_sandbox.config())
    ran = subprocess.run(
        [sys.executable, "-c", code, config], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == []


# --- MCP and notebooks --------------------------------------------------------------------------


def test_an_mcp_server_replays(web: WebTools, tape: Path) -> None:
    async def call(client_web: WebTools) -> Any:
        async with Client(make_server(client_web)) as client:
            return await client.call_tool("web_search", {"queries": ["json"]})

    recorded = asyncio.run(call(web.session(record=tape)))
    assert asyncio.run(call(WebTools().session(replay=tape))) == recorded


def test_the_mcp_command_replays_without_settings(tape: Path, tmp_path: Path) -> None:
    write_tape(tape, search_line("zip"))
    messages = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "web_search", "arguments": {"query": "zip"}},
        },
    ]
    text = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    command = [sys.executable, "-m", "webtools", "mcp", "--replay", str(tape)]
    environment = {**os.environ, "HOME": str(tmp_path)}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(text)
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
    assert "https://a.example/" in replies[1]["result"]["content"][0]["text"]


def test_a_magic_records_and_replays(
    config: str, tape: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = InteractiveShell()
    load_ipython_extension(shell)
    try:
        shell.run_cell(f"%web_config {config}\n%webtools --record {tape}")
        shell.run_cell("%web_search -o recorded json")
        shell.run_cell(f"%webtools --replay {tape}")
        shell.run_cell("%web_search -o replayed json")
        assert shell.user_ns["replayed"] == shell.user_ns["recorded"]
        shell.run_cell("%webtools")
        assert "No tape" in capsys.readouterr().out
    finally:
        unload_ipython_extension(shell)


# --- pytest -------------------------------------------------------------------------------------

TEST = """
import json, os, pytest
from webtools import WebTools

web = WebTools(json.loads(os.environ["TEST_CONFIG"]))

class TestHeap:
    def test_it(self, webtools_tape):
        assert web.search("heap").results
        assert webtools_tape.unused == []

class TestCsv:
    def test_it(self, webtools_tape):
        assert web.search("csv").results
        assert webtools_tape.unused == []

@pytest.mark.parametrize("query", ["json", "zip/file"])
def test_a_search(webtools_tape, query):
    assert web.search(query).results
    assert webtools_tape.unused == []

def test_without_a_tape():
    assert "WEBTOOLS_REPLAY" not in os.environ
"""


def test_a_test_replays_what_it_recorded(tmp_path: Path, webtools_sandbox: SandboxServer) -> None:
    file = tmp_path / "test_agent.py"
    file.write_text(TEST)
    config = webtools_sandbox.config()

    def run(*options: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "webtools.pytest_plugin", *options, str(file)]
        environment = {**os.environ, "TEST_CONFIG": json.dumps(config)}
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # those of others take seconds to load
        ran = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )
        return ran.stdout

    assert "1 passed, 4 errors" in (out := run())
    assert "--webtools-record" in out
    assert "5 passed" in run("--webtools-record=new")
    tapes = [*tmp_path.glob("tapes/test_agent/*.jsonl")]
    assert len(tapes) == 4
    requests = webtools_sandbox.stats()["requests"]
    config = {"providers": [{"name": "exa", "type": "exa", "apiKey": "test-key-canary-1"}]}
    assert "5 passed" in run()
    write_tape(tapes[0], search_line("json"), search_line("zip/file"), search_line("more"))
    assert "1 failed, 4 passed" in run()
    assert webtools_sandbox.stats()["requests"] == requests


def test_the_plugin_of_pytest_loads_nothing_that_is_slow() -> None:
    code = "import sys, webtools.pytest_plugin; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name for name in ran.stdout.split() if name.partition(".")[0] == "webtools"}
    assert ours == {"webtools", "webtools._version", "webtools.pytest_plugin"}
    assert "pydantic" not in ran.stdout.split()


# --- event loops --------------------------------------------------------------------------------


def test_recording_does_not_block_an_event_loop(web: WebTools, tape: Path) -> None:
    relative = os.path.relpath(tape)

    async def call() -> Any:
        detector = BlockBuster([webtools], excluded_modules=["webtools_sandbox"])
        detector.activate()
        try:
            async with web.session(record=tape) as session:
                first = await session.asearch("json")
            async with web.session(replay=relative) as session:
                assert await session.asearch("json") == first
        finally:
            detector.deactivate()

    asyncio.run(call())
