"""With limits, each client of a server has a session of its own."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
import uvicorn
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.shared.memory import create_client_server_memory_streams

from webtools import WebTools
from webtools.mcp import make_server

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

UNSEEN = "https://evil.example/zq7secret"


async def search(client: Any, query: str = "read json") -> Any:
    return await client.call_tool("web_search", {"queries": [query], "limit": 2})


def text_of(result: Any) -> str:
    return str(result.content[0].text)


def test_each_client_over_http_has_its_own_sources_and_limits(
    while_serving: Callable[..., Any],
) -> None:
    async def talk(url: str) -> None:
        async with Client(url, mode="legacy") as ann, Client(url, mode="legacy") as bob:
            found = await search(ann)
            [seen, *_] = [item["url"] for item in found.structured_content["results"]]
            for client, is_refused in ((ann, False), (bob, True)):
                result = await client.call_tool("web_fetch", {"urls": [seen]})
                assert result.is_error is is_refused
            refused = await ann.call_tool("web_fetch", {"urls": [UNSEEN]})
            assert refused.structured_content["error"]["code"] == "url_not_seen"
            assert "zq7secret" not in text_of(refused)
            for query in ("heap", "queue", "zip"):
                assert not (await search(bob, query)).is_error
            assert "3 of 3 calls" in text_of(await search(bob))
            assert not (await search(ann, "queue")).is_error

    def work(url: str) -> None:
        anyio.run(talk, url)

    while_serving(work, session={"fetch": "seen", "calls": 3})


def test_a_client_that_does_not_name_its_connection_is_refused(
    while_serving: Callable[..., Any],
) -> None:
    async def talk(url: str) -> None:
        async with Client(url) as client:
            with pytest.raises(MCPError, match="session"):
                await search(client)

    while_serving(lambda url: anyio.run(talk, url), session={"fetch": "seen"})


@asynccontextmanager
async def streams(server: Any) -> AsyncIterator[Any]:
    """Run the server on a pair of streams, as one does for each socket."""
    options = server.create_initialization_options()
    async with create_client_server_memory_streams() as (ends, other_ends):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.run, *other_ends, options)
            yield ends
            tasks.cancel_scope.cancel()


LOCAL: dict[str, Callable[[Any], Client]] = {
    "in memory": Client,
    "in memory, with a handshake": lambda server: Client(server, mode="legacy"),
    "streams": lambda server: Client(streams(server)),
    "streams, with a handshake": lambda server: Client(streams(server), mode="legacy"),
}


@pytest.mark.parametrize("connect", LOCAL.values(), ids=LOCAL)
@pytest.mark.parametrize("other", LOCAL.values(), ids=LOCAL)
def test_each_local_client_has_its_own_sources_and_limits(
    web: WebTools, tmp_path: Path, connect: Callable[[Any], Client], other: Callable[[Any], Client]
) -> None:
    tape = tmp_path / "run.jsonl"
    server = make_server(web, session={"fetch": "seen", "calls": 3, "record": tape})

    async def talk() -> None:
        async with connect(server) as ann, other(server) as bob:
            found = await search(ann)
            [seen, *_] = [item["url"] for item in found.structured_content["results"]]
            refused = await bob.call_tool("web_fetch", {"urls": [seen]})
            assert refused.structured_content["error"]["code"] == "url_not_seen"
            assert not (await ann.call_tool("web_fetch", {"urls": [seen]})).is_error
            for query in ("heap", "queue", "zip"):
                assert not (await search(bob, query)).is_error
            assert "3 of 3 calls" in text_of(await search(bob))
            assert not (await search(ann, "queue")).is_error
            assert "3 of 3 calls" in text_of(await search(ann))
        async with connect(server) as ann:
            assert not (await search(ann)).is_error
            refused = await ann.call_tool("web_fetch", {"urls": [UNSEEN]})
            assert refused.structured_content["error"]["code"] == "url_not_seen"

    anyio.run(talk)
    tools = [json.loads(line).get("tool") for line in tape.read_text().splitlines()]
    assert tools.count("web_search") >= 6  # of all clients


@contextmanager
def served_by_a_program(server: Any) -> Iterator[str]:
    """Serve a server of `make_server` with another server than ours."""
    app = server.streamable_http_app(streamable_http_path="/mcp")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        runner = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            runner.should_exit = True
            thread.join(30)


@pytest.mark.parametrize("is_ours", [True, False], ids=["ours", "of a program"])
@pytest.mark.parametrize("whose", ["a session each", "one session", "no session"])
def test_clients_over_http_see_no_calls_of_others_on_a_tape(
    web: WebTools,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    while_serving: Callable[..., Any],
    is_ours: bool,
    whose: str,
) -> None:
    tape = tmp_path / "run.jsonl"
    with web.session(record=tape) as ann:
        ann.search("a question of ann")

    async def ask(url: str) -> str:
        async with Client(url, mode="legacy") as bob:
            return str((await search(bob, "a question of bob")).model_dump())

    session = {"replay": tape} if whose == "a session each" else None
    if whose == "no session":
        monkeypatch.setenv("WEBTOOLS_REPLAY", str(tape))
    if is_ours and whose != "one session":
        text = while_serving(lambda url: anyio.run(ask, url), session=session)
    else:
        replaying = web.session(replay=tape) if whose == "one session" else web
        with served_by_a_program(make_server(replaying, session=session)) as url:
            text = anyio.run(ask, url)
    assert "not_on_tape" in text
    assert "run.jsonl" in text
    assert "of ann" not in text
    assert str(tmp_path) not in text


def test_a_replay_in_memory_names_the_closest_call(web: WebTools, tmp_path: Path) -> None:
    tape = tmp_path / "run.jsonl"

    async def ask(query: str, **session: Path) -> Any:
        async with Client(make_server(web, session=session)) as client:
            return await search(client, query)

    assert not anyio.run(partial(ask, "heap", record=tape)).is_error
    assert not anyio.run(partial(ask, "heap", replay=tape)).is_error
    assert "'heap'" in text_of(anyio.run(partial(ask, "heaps", replay=tape)))


VERSION = "2026-07-28"  # of a protocol whose requests stand alone
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def post(url: str, method: str, params: dict[str, Any], **headers: str) -> httpx.Response:
    accepted = {"Accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(url, json=message, headers={**accepted, **fields}, timeout=30)


def test_a_client_cannot_name_a_session(while_serving: Callable[..., Any]) -> None:
    def call(url: str, session: str, version: str, **more: Any) -> str:
        headers = {"mcp_session_id": session, "mcp_protocol_version": version}
        if version == VERSION:
            headers |= {"mcp_method": "tools/call", "mcp_name": "web_search"}
        params = {"name": "web_search", "arguments": {"queries": ["heap"], "limit": 1}, **more}
        return post(url, "tools/call", params, **headers).text

    def work(url: str) -> None:
        first = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        own = post(url, "initialize", first).headers["mcp-session-id"]
        assert "calls" not in call(url, own, "2025-06-18")
        for name in (own, "another"):
            assert "not recognized" in call(url, name, VERSION, _meta=META)
        assert "1 of 1 calls" in call(url, own, "2025-06-18")

    while_serving(work, session={"calls": 1})


def test_the_command_limits_its_client(config: str, webtools_sandbox: SandboxServer) -> None:
    calls = [
        ("web_search", {"queries": ["read json"], "limit": 1}),
        ("web_fetch", {"urls": [UNSEEN]}),
        ("web_search", {"queries": ["heap"], "limit": 1}),
    ]
    requests: list[dict[str, Any]] = [
        {
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
    ]
    requests += [
        {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    command = [sys.executable, "-m", "webtools", "mcp", "--config", config]
    command += ["--fetch", "seen", "--calls", "1", "--usd", "1", "--seconds", "300"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        texts: list[str] = []
        for request in requests:
            line = json.dumps({"jsonrpc": "2.0", **request}) + "\n"
            server.stdin.write(line.encode())
            server.stdin.flush()
            if "id" in request:
                texts.append(server.stdout.readline().decode())
        server.stdin.close()
    assert re.search(r"json", texts[1])
    assert "url_not_seen" in texts[2]
    assert "1 of 1 calls" in texts[3]
