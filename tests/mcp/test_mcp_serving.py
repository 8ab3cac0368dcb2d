"""The server as a process: stdio, streamable HTTP, Ctrl-C."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import httpx
import httpx2
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from webtools import WebTools
from webtools.cli import main
from webtools.mcp import connections, serving
from webtools.tools import TOOLS

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

TOKEN = "test-token-of-some-length"
COMMAND = [sys.executable, "-m", "webtools", "mcp"]
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    running: list[subprocess.Popen[str]] = []

    def begin(*arguments: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8"
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate(timeout=60)


async def search(client: Client) -> types.CallToolResult:
    assert [tool.name for tool in (await client.list_tools()).tools] == list(TOOLS)
    return await client.call_tool("web_search", {"query": "heap"})


async def test_over_stdio_a_client_lists_and_calls(config: str) -> None:
    parameters = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "--config", config])
    async with Client(stdio_client(parameters)) as client:
        result = await search(client)
    assert not result.is_error
    assert result.structured_content["results"]


@pytest.mark.parametrize("text", ["{", '{"providers": []}', '{"loopGuard": true}', None])
async def test_with_invalid_settings_it_starts_and_each_call_explains_until_they_are_repaired(
    tmp_path: Path, webtools_sandbox: SandboxServer, text: str | None
) -> None:
    path = tmp_path / "broken.json"
    if text is not None:
        path.write_text(text)
    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "--config", str(path)]
    )
    with (tmp_path / "errors").open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors)) as client:
            result = await search(client)
            assert result.is_error
            assert str(path) in result.content[0].text
            path.write_text(json.dumps(webtools_sandbox.config()))
            assert not (await search(client)).is_error
    lines = (tmp_path / "errors").read_text().splitlines()
    assert sum(str(path) in line for line in lines) == 1


@pytest.mark.parametrize("text", ["{", '{"providers": []}', '{"loopGuard": true}', None, ""])
def test_over_http_no_error_names_a_folder_of_the_server(
    while_serving: Callable[..., Any], web: WebTools, tmp_path: Path, config: str, text: str | None
) -> None:
    if text is None:
        Path(config).unlink()
    elif text:
        Path(config).write_text(text)

    async def call(url: str) -> str:
        async with Client(streamable_http_client(url)) as client:
            results = [
                await client.call_tool("web_search", {"query": "heap", "provider": "nope"}),
                await client.call_tool(
                    "summarize", {"url": "https://a.example", "provider": "exa"}
                ),
            ]
        assert all(result.is_error for result in results)
        return str([result.model_dump() for result in results])

    shown = while_serving(lambda url: asyncio.run(call(url)))
    assert str(tmp_path) not in shown
    assert text == "" or "web-search.json" in shown


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def test_stdout_holds_only_messages_and_ctrl_c_is_quiet(start: Start, config: str) -> None:
    process = start("--config", config)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(INITIALIZE) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert answer["result"]["serverInfo"]["name"] == "webtools"
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert process.stdout.read() == ""
    assert process.stderr is not None
    assert process.stderr.read() == ""


@asynccontextmanager
async def connected(url: str, mode: Literal["auto", "legacy"]) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            yield client


def test_over_http_it_takes_the_token_and_the_right_names(
    while_serving: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def call(url: str) -> None:
        async with connected(url, "auto") as new, connected(url, "legacy") as old:
            assert not (await search(new)).is_error
            assert not (await search(old)).is_error

    good = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}

    def work(url: str) -> dict[str, int]:
        asyncio.run(call(url))

        def status(**headers: str) -> int:
            return httpx.post(url, json=INITIALIZE, headers={**good, **headers}).status_code

        return {
            "as it should be": status(),
            "own origin": status(Origin=url.removesuffix("/mcp")),
            "no token": status(Authorization=""),
            "wrong token": status(Authorization="Bearer " + TOKEN[:-1]),
            "rebound name": status(Host="rebound.example"),
            "text for a port": status(Host="127.0.0.1:evil.example"),
            "other port": status(Host="127.0.0.1:1"),
            "foreign origin": status(Origin="https://elsewhere.example"),
            "other origin on loopback": status(Origin="http://127.0.0.1:1"),
        }

    statuses = while_serving(work, token=TOKEN)
    assert list(statuses.values()) == [200, 200, 401, 401, 421, 421, 421, 403, 403], statuses
    assert TOKEN not in caplog.text
    assert {record.name for record in caplog.records if record.levelno >= logging.WARNING} == {
        "mcp.server.transport_security"
    }


GOOD = {
    "Authorization": f"Bearer {TOKEN}",
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}


def open_connection(url: str, sent: bytes) -> socket.socket:
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30)
    connection.sendall(sent)
    return connection


def until_closed(connection: socket.socket) -> bytes:
    received = b""
    with connection, suppress(ConnectionResetError):
        while data := connection.recv(65536):
            received += data
    return received


def request(url: str, headers: dict[str, str], body: bytes, length: int) -> bytes:
    fields = {"Host": urlsplit(url).netloc, **headers, "Content-Length": str(length)}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body


@pytest.fixture(params=["asyncio", "uvloop"])
def loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The event loop of the server: uvicorn takes uvloop if it is installed."""
    name: str = request.param
    if name == "uvloop":
        pytest.importorskip("uvloop", reason="uvloop does not support this platform")
    else:
        monkeypatch.setitem(sys.modules, "uvloop", None)
    return name


def command_on(loop: str) -> list[str]:
    """The command on one of the event loops."""
    hide = "sys.modules['uvloop'] = None; " if loop == "asyncio" else "import uvloop; "
    program = f"import sys; {hide}from webtools.cli import command; sys.exit(command())"
    return [sys.executable, "-c", program, "mcp"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_peers_without_the_token_that_hold_twice_the_file_limit_keep_no_client_out(
    loop: str, config: str, tmp_path: Path
) -> None:
    limit = 128
    token, log = tmp_path / "token", tmp_path / "stderr"
    token.write_text(TOKEN)
    command = [*command_on(loop), "--http", "127.0.0.1:0", "--config", config]
    command += ["--token-file", str(token)]
    limited = ["sh", "-c", f'ulimit -n {limit} && exec "$@"', "sh", *command]
    held: list[socket.socket] = []
    with (
        log.open("w") as errors,
        subprocess.Popen(limited, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            url = process.stdout.readline().split()[3].rstrip(".")
            held += [open_connection(url, b"P") for _ in range(limit)]
            held += [open_connection(url, request(url, {}, b"{", 100)) for _ in range(limit)]
            for _ in range(3):
                assert httpx.post(url, json=INITIALIZE, headers=GOOD, timeout=30).status_code == 200
        finally:
            for connection in held:
                connection.close()
            process.kill()
    assert len(log.read_text()) < 2000


@pytest.mark.parametrize(
    "sent",
    [
        lambda url: b"",
        lambda url: b"P",
        lambda url: request(url, {}, b"{", 100),
        lambda url: request(url, GOOD, b"{", 100),
        lambda url: b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\nG",
    ],
    ids=["nothing", "a byte", "a part of a body", "the same with the token", "a second request"],
)
def test_an_unfinished_request_is_closed_in_time(
    loop: str,
    while_serving: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    sent: Callable[[str], bytes],
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.2)
    received = while_serving(lambda url: until_closed(open_connection(url, sent(url))), token=TOKEN)
    assert received.count(b"HTTP/1.1 ") <= 1


@pytest.mark.parametrize("request_of_strangers", ["event stream", "part of a body", "nothing"])
def test_strangers_lock_no_client_out_of_a_server_without_a_token(
    loop: str,
    while_serving: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    request_of_strangers: str,
) -> None:
    limit = 20
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", limit)
    fields = {name: value for name, value in GOOD.items() if name != "Authorization"}

    def hold(url: str) -> socket.socket:
        if request_of_strangers == "nothing":
            return open_connection(url, b"")
        if request_of_strangers == "part of a body":
            return open_connection(url, request(url, fields, b"{", 100))
        session = httpx.post(url, json=INITIALIZE, headers=fields).headers["mcp-session-id"]
        head = {"Host": urlsplit(url).netloc, **fields, "Mcp-Session-Id": session}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        stranger = open_connection(url, f"GET /mcp HTTP/1.1\r\n{lines}\r\n".encode())
        assert stranger.recv(12) == b"HTTP/1.1 200"
        return stranger

    def work(url: str) -> list[int]:
        held = [hold(url) for _ in range(2 * limit)]
        try:
            return [httpx.post(url, json=INITIALIZE, headers=fields).status_code for _ in range(3)]
        finally:
            for connection in held:
                connection.close()

    assert while_serving(work) == [200] * 3


def test_ctrl_c_waits_for_calls_that_can_end(monkeypatch: pytest.MonkeyPatch, config: str) -> None:
    ended: list[bool] = []

    async def exchange(*_: object) -> None:
        asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
        try:
            await asyncio.sleep(300)
        finally:
            ended.append(True)

    monkeypatch.setattr(serving, "_exchange", exchange)
    assert main(["mcp", "--config", config]) == 0
    assert ended == [True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--http", "8766"], '"8766"'),
        (["--http", "0.0.0.0:0"], "--token-file"),
        (["--http", "127.0.0.1:0", "--token-file", "/nowhere"], "/nowhere"),
    ],
)
def test_invalid_options_are_refused_with_their_remedy(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_without_the_sdk_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("webtools.mcp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    assert main(["mcp"]) == 2
    assert "pip install 'agent-webtools[mcp]'" in capsys.readouterr().err
    with pytest.raises(ImportError, match=r"pip install 'agent-webtools\[mcp\]'"):
        importlib.import_module("webtools.mcp")


def test_peers_cannot_fill_the_log(
    while_serving: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    def work(url: str) -> None:
        for _ in range(20):
            until_closed(open_connection(url, b"\x00\r\n\r\n"))
            httpx.post(url, json=INITIALIZE, headers={**GOOD, "Host": "rebound.example"})
            open_connection(url, request(url, GOOD, b"{", 100)).close()

    while_serving(work)
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) <= 4, [record.getMessage() for record in warnings]


def test_stdio_ends_when_the_client_leaves(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], config: str
) -> None:
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        assert main(["mcp", "--config", config]) == 0
    assert tuple(capfd.readouterr()) == ("", "")
