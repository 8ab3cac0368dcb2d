from __future__ import annotations

import asyncio
import contextlib
import gc
import gzip
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import httpcore
import httpx
import pytest
import trustme
from pydantic import SecretStr
from servers import (
    Proxy,
    RawServer,
    Script,
    answering,
    dripping,
    read_request,
    reset,
    response,
    secured,
    silent,
)

from webtools._internal.http import clients, network, pool, tls, transports
from webtools._internal.http.clients import AsyncHTTP, BlockingHTTP
from webtools._internal.http.messages import Request, Response
from webtools.errors import ConfigError, RequestError, RequestTimeoutError
from webtools_sandbox import SandboxServer

SHORT = 0.15  # seconds a call under test may take
LONG = 60.0
Send = Callable[..., Response]


class BlockingCaller:
    """One blocking transport as the tests call it."""

    def __init__(self) -> None:
        self.transport = BlockingHTTP()

    def __call__(self, url: str, seconds: float = LONG, **settings: Any) -> Response:
        request = Request(settings.pop("method", "GET"), url, **settings)
        return self.transport.send(request, time.monotonic() + seconds)

    def many(self, url: str, count: int) -> list[Response]:
        answers: list[Response] = []
        threads = [threading.Thread(target=lambda: answers.append(self(url))) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def close_idle(self) -> None:
        self.transport.close()

    def close(self) -> None:
        self.close_idle()


class AwaitedCaller:
    """One async transport and its loop, called as the blocking one is."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.transport = AsyncHTTP()

    def __call__(self, url: str, seconds: float = LONG, **settings: Any) -> Response:
        return self.loop.run_until_complete(self.asend(url, seconds, **settings))

    async def asend(self, url: str, seconds: float = LONG, **settings: Any) -> Response:
        request = Request(settings.pop("method", "GET"), url, **settings)
        return await self.transport.send(request, time.monotonic() + seconds)

    def many(self, url: str, count: int) -> list[Response]:
        async def go() -> list[Response]:
            return await asyncio.gather(*[self.asend(url) for _ in range(count)])

        return self.loop.run_until_complete(go())

    def close_idle(self) -> None:
        self.loop.run_until_complete(self.transport.aclose())

    def close(self) -> None:
        self.close_idle()
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


@pytest.fixture(params=[BlockingCaller, AwaitedCaller], ids=["blocking", "async"])
def send(request: pytest.FixtureRequest) -> Iterator[Any]:
    caller = request.param()
    yield caller
    caller.close()


@pytest.fixture
async def transport() -> AsyncIterator[AsyncHTTP]:
    made = AsyncHTTP()
    yield made
    await made.aclose()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def tls_server(authority: trustme.CA) -> Iterator[SandboxServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    with SandboxServer(ssl_context=context) as server:
        yield server


@pytest.fixture
def trusted(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Let our side trust the authority, and nobody else."""
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    load = tls.tls_context
    load.cache_clear()
    yield
    load.cache_clear()


@pytest.fixture
def secure(tls_server: SandboxServer, trusted: None) -> SandboxServer:
    """A sandbox that speaks https, whose certificate our side trusts."""
    tls_server.reset()
    return tls_server


def page(server: SandboxServer) -> str:
    return f"{server.docs_url}/library/json.html"


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < 10 * seconds  # a busy machine


# --- exchange ----------------------------------------------------------------------------------


def test_a_request_travels_as_it_is(send: Send) -> None:
    with RawServer(lambda c: c.sendall(response(read_request(c)))) as server:
        answer = send(
            f"{server.url}/a%20b?q=%C3%A9", method="POST", headers={"x-key": "k"}, json={"é": [1]}
        )
    head, _, body = answer.body.partition(b"\r\n\r\n")
    first, *lines = head.decode().lower().splitlines()
    assert first == "post /a%20b?q=%c3%a9 http/1.1"
    assert body == b'{"\\u00e9":[1]}'
    fields = dict(line.split(": ", 1) for line in lines)
    assert fields["user-agent"].startswith("agent-webtools/")
    assert (
        fields
        | {
            "host": f"127.0.0.1:{server.port}",
            "x-key": "k",
            "accept": "application/json",
            "accept-encoding": "gzip",
            "content-type": "application/json",
            "content-length": "14",
        }
        == fields
    )


def test_an_answer_has_status_lower_case_headers_and_the_body(send: Send) -> None:
    with RawServer(answering(response(b"hi", "418 Teapot", [("X-Tea", "green")]))) as server:
        assert send(server.url) == Response(418, {"content-length": "2", "x-tea": "green"}, b"hi")


def test_a_compressed_answer_is_decompressed(send: Send) -> None:
    packed = gzip.compress(b"text " * 1000)
    with RawServer(answering(response(packed, headers=[("Content-Encoding", "gzip")]))) as server:
        assert send(server.url).body == b"text " * 1000


def test_an_answer_may_say_that_it_is_not_compressed(send: Send) -> None:
    plain = response(b"text", headers=[("Content-Encoding", "identity")])
    with RawServer(answering(plain)) as server:
        assert send(server.url).body == b"text"


def test_a_compressed_answer_that_ends_early_is_refused(send: Send) -> None:
    packed = gzip.compress(b"text " * 1000)[:-10]
    with (
        RawServer(answering(response(packed, headers=[("Content-Encoding", "gzip")]))) as server,
        pytest.raises(RequestError, match="broke off"),
    ):
        send(server.url)


def test_a_redirect_is_an_answer_and_not_followed(
    send: Send, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=302, headers={"Location": webtools_sandbox.news_url})
    assert send(page(webtools_sandbox)).status == 302
    assert sum(webtools_sandbox.stats()["requests"].values()) == 1


# --- connections -------------------------------------------------------------------------------


def test_twenty_calls_in_turn_share_one_connection(
    send: Send, webtools_sandbox: SandboxServer
) -> None:
    assert {send(page(webtools_sandbox)).status for _ in range(20)} == {200}
    assert webtools_sandbox.stats()["connections"] == 1


def test_twenty_calls_in_turn_share_one_tls_connection(send: Send, secure: SandboxServer) -> None:
    assert secure.url.startswith("https://")
    assert {send(page(secure)).status for _ in range(20)} == {200}
    assert secure.stats()["connections"] == 1


def test_a_certificate_of_an_unknown_authority_is_refused(send: Send, trusted: None) -> None:
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(stranger)
    with (
        RawServer(secured(silent, stranger)) as server,
        pytest.raises(RequestError, match="certificate"),
    ):
        send(f"https://127.0.0.1:{server.port}")


def test_roots_that_cannot_be_loaded_are_told_with_the_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(ConfigError, match="No such file or directory.*SSL_CERT_FILE or"):
        tls.tls_context.__wrapped__()


def test_roots_may_stand_in_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    context = mock.Mock()
    monkeypatch.setattr(ssl, "create_default_context", context)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert tls.tls_context.__wrapped__() is context.return_value
    context.assert_called_once_with(cafile=None, capath=str(tmp_path))


def test_parallel_calls_have_a_connection_each_and_use_them_again(
    send: Any, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(delay=0.1, times=8)
    assert len(send.many(page(webtools_sandbox), 8)) == 8
    assert webtools_sandbox.stats()["connections"] == 8
    for _ in range(3):
        assert len(send.many(page(webtools_sandbox), 8)) == 8
    assert webtools_sandbox.stats()["connections"] == 8


def test_no_more_connections_than_the_bound_are_opened(
    send: Any, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_CONNECTIONS", 2)
    assert {answer.status for answer in send.many(page(webtools_sandbox), 12)} == {200}
    assert webtools_sandbox.stats()["connections"] <= 2


def test_a_connection_idle_for_long_is_not_used_again(
    send: Send, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "IDLE_SECONDS", 0.02)
    send(page(webtools_sandbox))
    time.sleep(0.04)
    send(page(webtools_sandbox))
    assert webtools_sandbox.stats()["connections"] == 2


def test_idle_connections_beyond_need_are_closed(
    send: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    barrier = threading.Barrier(4)

    def script(connection: socket.socket) -> None:
        read_request(connection)
        barrier.wait(LONG)
        connection.sendall(response())
        while read_request(connection):
            connection.sendall(response())

    with RawServer(script) as server:
        send.many(server.url, 4)
        assert len(server._open) == 4
        monkeypatch.setattr(transports, "IDLE_SECONDS", 0.02)
        time.sleep(0.04)
        send(server.url)
        end = time.monotonic() + LONG
        while len(server._open) > 1 and time.monotonic() < end:
            time.sleep(0.002)
        assert (len(server._open), server.connections) == (1, 4)


def test_a_connection_that_the_server_closed_is_survived(send: Send) -> None:
    with RawServer(answering(response(), keep_open=False)) as server:
        for _ in range(3):
            assert send(server.url).status == 200
            time.sleep(0.02)  # let the end of the connection arrive
        assert server.connections == 3


def test_after_closing_the_next_call_opens_a_new_connection(
    webtools_sandbox: SandboxServer,
) -> None:
    blocking, awaited = BlockingCaller(), AwaitedCaller()
    for caller, close in (
        (blocking, blocking.close_idle),
        (awaited, awaited.close_idle),
    ):
        webtools_sandbox.reset_stats()
        caller(page(webtools_sandbox))
        close()
        close()
        caller(page(webtools_sandbox))
        assert webtools_sandbox.stats()["connections"] == 2
        caller.close()


def test_origins_have_connections_of_their_own(send: Send, webtools_sandbox: SandboxServer) -> None:
    for url in (webtools_sandbox.docs_url, webtools_sandbox.news_url) * 3:  # 127.0.0.1, localhost
        send(url)
    assert webtools_sandbox.stats()["connections"] == 2


# --- deadlines ---------------------------------------------------------------------------------

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"
SLOW: dict[str, Script] = {
    "no answer": silent,
    "drip of headers": dripping(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 99, 0.02),
    "drip of headers for ever": dripping(b"HTTP/1.1 200 OK\r\nX:" + b" " * 999, 0.02),
    "drip of the body": dripping(b"x" * 999, 0.02, HEAD),
    "stalled body": dripping(b"x", 30, HEAD),
    "endless 1xx": dripping(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 99, 0.002),
}


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW)
def test_the_deadline_bounds_the_whole_call(send: Send, script: Script) -> None:
    with RawServer(script) as server, within(1.0):
        with pytest.raises(RequestTimeoutError, match="^no answer came in time$") as caught:
            send(server.url, SHORT)
        assert caught.value.retryable


def test_the_deadline_bounds_a_tls_handshake_that_never_ends(send: Send, trusted: None) -> None:
    with RawServer(silent) as server, within(1.0), pytest.raises(RequestTimeoutError):
        send(f"https://127.0.0.1:{server.port}", SHORT)


def test_a_connection_that_took_all_the_time_is_closed_before_tls(
    send: Send, trusted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []

    def late(stream: Any) -> Any:
        opened.append(stream.get_extra_info("socket"))
        time.sleep(2 * SHORT)
        return stream

    def slow(connect: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: late(connect(*args))

    def aslow(connect: Callable[..., Any]) -> Callable[..., Any]:
        async def connecting(*args: Any) -> Any:
            return late(await connect(*args))

        return connecting

    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", slow(httpcore.SyncBackend.connect_tcp))
    aconnect = aslow(httpcore.AnyIOBackend.connect_tcp)
    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", aconnect)
    with RawServer(silent) as server, pytest.raises(RequestTimeoutError):
        send(f"https://127.0.0.1:{server.port}", SHORT)
    assert [connection.fileno() for connection in opened] == [-1]


def test_the_deadline_bounds_a_dripping_tls_handshake(send: Send, trusted: None) -> None:
    hello = b"\x16\x03\x03\x10\x00" + b"\x02" * 999
    with RawServer(dripping(hello, 0.02, wait=False)) as server, within(1.0):
        with pytest.raises(RequestTimeoutError):
            send(f"https://127.0.0.1:{server.port}", SHORT)


@contextlib.contextmanager
def full_backlog() -> Iterator[int]:
    """A port of which the connection queue is full: connecting to it hangs."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a full queue refuses")
def test_the_deadline_bounds_a_drip_of_tls_within_tls(
    send: Send, authority: trustme.CA, trusted: None
) -> None:
    def tunnel(connection: Any) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with contextlib.suppress(OSError):
            for byte in b"\x16\x03\x03\x3f\xff\x02\x00\x3f\xf0\x03\x03" + b"a" * 50:
                connection.sendall(bytes([byte]))
                time.sleep(0.05)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with RawServer(secured(tunnel, context)) as server:
        proxy = server.url.replace("http", "https", 1)
        with within(0.5), pytest.raises(RequestTimeoutError):
            send("https://127.0.0.1:9", 0.5, proxy=SecretStr(proxy))


def test_the_deadline_bounds_connecting_to_all_addresses_of_a_host_together(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo

    def several(host: Any, *args: Any, **kwargs: Any) -> Any:
        return real("127.0.0.1", *args, **kwargs) * (200 if host == "localhost" else 1)

    with full_backlog() as port:
        monkeypatch.setattr(socket, "getaddrinfo", several)
        with within(0.9), pytest.raises(RequestTimeoutError):
            send(f"http://localhost:{port}", SHORT)


def test_the_deadline_bounds_the_look_up_of_a_host(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: go.wait(60) and [])
    with within(0.9), pytest.raises(RequestTimeoutError):
        send("http://slow.example", SHORT)
    go.set()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            socket.gaierror(socket.EAI_NONAME, "no such host"),
            'the host name "unknown.example" could not be looked up (no such host)',
        ),
        (
            UnicodeError("label too long"),
            'the host name "unknown.example" could not be looked up (label too long)',
        ),
    ],
)
def test_a_host_that_cannot_be_looked_up_is_an_error_that_says_so(
    send: Send, monkeypatch: pytest.MonkeyPatch, error: Exception, text: str
) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(RequestError) as caught:
        send("http://unknown.example")
    assert str(caught.value) == text


def test_the_deadline_bounds_the_wait_for_a_free_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "MAX_CONNECTIONS", 1)
    blocking = BlockingCaller()
    with RawServer(silent) as server:
        first = threading.Thread(target=_late, args=(blocking, server))
        first.start()
        server.wait_for_connections(1)
        with pytest.raises(RequestTimeoutError, match="^all 1 connections"):
            blocking(server.url, SHORT)
        assert first.is_alive()
    first.join(LONG)
    blocking.close()


def _late(send: Send, server: RawServer) -> None:
    with pytest.raises(RequestError):  # when the server ends
        send(server.url, LONG)


async def test_the_deadline_bounds_the_awaited_wait_for_a_free_connection(
    transport: AsyncHTTP, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_CONNECTIONS", 1)
    with RawServer(silent) as server:
        request = Request("GET", server.url)
        first = asyncio.ensure_future(transport.send(request, time.monotonic() + LONG))
        await asyncio.to_thread(server.wait_for_connections, 1)
        with pytest.raises(RequestTimeoutError, match="^all 1 connections"):
            await transport.send(request, time.monotonic() + SHORT)
        assert not first.done()
    with pytest.raises(RequestError):  # as the server ended
        await first


def test_a_deadline_that_has_passed_sends_nothing(send: Send) -> None:
    with RawServer(silent) as server:
        with pytest.raises(RequestTimeoutError):
            send(server.url, -1.0)
        assert server.connections == 0


def test_a_call_after_a_late_one_is_served(send: Send) -> None:
    with RawServer(silent) as server:
        for _ in range(3):
            with pytest.raises(RequestTimeoutError):
                send(server.url, 0.03)
        server._script = answering(response())
        assert send(server.url).status == 200


# --- bodies ------------------------------------------------------------------------------------


def test_a_body_up_to_the_bound_is_taken_and_no_byte_more(send: Send) -> None:
    with RawServer(answering(response(b"x" * 1000))) as server:
        assert len(send(server.url, max_bytes=1000).body) == 1000
        with pytest.raises(RequestError, match="larger than"):
            send(server.url, max_bytes=999)


@pytest.mark.parametrize(("kind", "mib"), [("huge", 40), ("bomb", 400)])
def test_a_huge_body_is_refused_before_it_fills_the_memory(
    send: Send, webtools_sandbox: SandboxServer, kind: Any, mib: int
) -> None:
    # Made beforehand and in this process, so that only the client's memory is traced.
    with RawServer(_sending(_large(kind, mib))) as server:
        tracemalloc.start()
        try:
            with pytest.raises(RequestError) as caught:
                send(server.url)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert str(caught.value) == "the answer is larger than 16 MiB"
    assert (caught.value.status, caught.value.retryable) == (200, False)
    assert peak < 40 * 1024 * 1024


def _large(kind: str, mib: int) -> bytes:
    if kind == "huge":
        return response(bytes(mib * 1024 * 1024))
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    packed = b"".join(packer.compress(bytes(1024 * 1024)) for _ in range(mib)) + packer.flush()
    return response(packed, headers=[("Content-Encoding", "gzip")])


def _sending(data: bytes) -> Script:
    def script(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(data)

    return script


def test_the_call_after_a_refused_body_is_served(
    send: Send, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(body="bomb", mib=30)
    with pytest.raises(RequestError, match="16 MiB"):
        send(page(webtools_sandbox))
    assert send(page(webtools_sandbox)).status == 200


@pytest.mark.parametrize("padding", [b"\0", bytes(200_000), bytes(600) + gzip.compress(b" more")])
def test_zeros_after_a_compressed_body_are_padding(send: Send, padding: bytes) -> None:
    data = response(gzip.compress(b"text") + padding, headers=[("Content-Encoding", "gzip")])
    with RawServer(answering(data)) as server:
        said = send(server.url).body
    assert said == (b"text more" if padding.strip(b"\0") else b"text")


def test_padding_counts_towards_the_size_of_a_body(send: Send) -> None:
    padded = gzip.compress(b"text") + bytes(17 * 1024 * 1024)
    data = response(padded, headers=[("Content-Encoding", "gzip")])
    with RawServer(_sending(data)) as server, pytest.raises(RequestError, match="16 MiB"):
        send(server.url)


@pytest.mark.parametrize(
    ("encoding", "body", "message"),
    [
        ("gzip", b"plain", "cannot be decompressed"),
        ("gzip", gzip.compress(b"x")[:4] + b"\xff" * 30, "cannot be decompressed"),
        ("br", b"plain", 'unknown content encoding "br"'),
        ("gzip, gzip", b"plain", 'unknown content encoding "gzip, gzip"'),
    ],
)
def test_a_wrong_content_encoding_is_an_error(
    send: Send, encoding: str, body: bytes, message: str
) -> None:
    with (
        RawServer(answering(response(body, headers=[("Content-Encoding", encoding)]))) as server,
        pytest.raises(RequestError, match=message) as caught,
    ):
        send(server.url)
    assert not caught.value.retryable


BROKEN: dict[str, bytes] = {
    "nothing": b"",
    "garbage": b"\x00\xff not HTTP at all \r\n\r\n",
    "TLS instead": b"\x15\x03\x03\x00\x02\x02\x28",
    "endless headers": b"HTTP/1.1 200 OK\r\n" + b"X-Y: z\r\n" * 50_000,
    "endless status line": b"HTTP/1.1 200 " + b"O" * 500_000,
    "cut body": response(b"x" * 100)[:-50],
    "cut headers": b"HTTP/1.1 200 OK\r\nContent-Le",
    "bad chunk size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "cut chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "unasked upgrade": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nabc",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_is_no_proper_answer_is_a_retryable_request_error(send: Send, data: bytes) -> None:
    with RawServer(_sending(data)) as server, within(2.0):
        with pytest.raises(RequestError) as caught:
            send(server.url, 2.0)
        assert type(caught.value) is RequestError
        assert caught.value.retryable
        assert str(caught.value) == "the answer broke off or is no valid HTTP"
        server._script = answering(response())
        assert send(server.url).status == 200


def test_a_reset_connection_is_a_request_error(send: Send, webtools_sandbox: SandboxServer) -> None:
    for settings in ({"reset": True}, {"reset": True, "body": "cut"}):
        webtools_sandbox.fault(**settings)  # type: ignore[arg-type]
        with pytest.raises(RequestError):
            send(page(webtools_sandbox))
    with RawServer(reset) as server, pytest.raises(RequestError):
        send(server.url)


def test_a_refused_connection_is_a_request_error(send: Send) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(RequestError, match="no connection to http.* could be made"):
        send(f"http://127.0.0.1:{port}")


def test_a_dead_proxy_is_named_without_its_login(
    send: Send, webtools_sandbox: SandboxServer
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        dead = f"127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(RequestError) as caught:
        send(page(webtools_sandbox), proxy=SecretStr(f"http://user:secret@{dead}"))
    assert str(caught.value).endswith(f"could be made through the proxy http://{dead}")


@pytest.mark.parametrize(
    "url", ["http://[::1", "ftp://127.0.0.1/", "//127.0.0.1", "", "http://\ud800/"]
)
def test_an_address_that_cannot_be_used_is_an_error_not_to_retry(send: Send, url: str) -> None:
    with pytest.raises(RequestError, match="address") as caught:
        send(url)
    assert not caught.value.retryable


def test_an_error_carries_neither_the_headers_nor_the_frames_that_held_them(send: Send) -> None:
    with RawServer(reset) as server, pytest.raises(RequestError) as caught:
        send(server.url, headers={"x-api-key": "secret"})
    cause = caught.value.__cause__
    assert cause is not None
    assert "_request" not in vars(cause)
    assert (cause.__traceback__, cause.__cause__, cause.__context__) == (None, None, None)


@pytest.mark.parametrize("proxied", [False, True])
def test_what_a_server_sends_beyond_its_answer_is_no_answer_to_the_next_call(
    send: Send, proxied: bool
) -> None:
    stale = answering(response(b"first") + response(b"stale"), response(b"second"))
    with RawServer(stale) as server:
        # Behind a proxy of that kind, the server is the proxy.
        given = {"proxy": SecretStr(server.url)} if proxied else {}
        url = "http://a.example/" if proxied else server.url
        assert [send(url, **given).body for _ in range(3)] == [b"first"] * 3
        assert server.connections == 3


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n"
EMPTY = b"HTTP/1.1 204 No Content\r\n\r\n"


@pytest.mark.parametrize("first", [CHUNKED, EMPTY], ids=["chunked", "empty"])
def test_a_second_response_on_a_connection_is_dropped_with_it(send: Send, first: bytes) -> None:
    with RawServer(answering(first + response(b"stale"), response(b"second"))) as server:
        assert {send(server.url).body for _ in range(3)} == {send(server.url).body}
        assert server.connections == 4


@pytest.mark.parametrize("first", [CHUNKED, EMPTY, response(b"")], ids=["chunked", "204", "200"])
def test_a_connection_is_used_again_after_any_kind_of_body(send: Send, first: bytes) -> None:
    with RawServer(answering(first)) as server:
        for _ in range(3):
            send(server.url)
        assert server.connections == 1


@pytest.mark.parametrize("location", ["http://[::1", "javascript:alert(1)", "http://a:b/", "\xff"])
def test_a_redirect_to_a_location_that_is_not_a_url_is_a_response(
    send: Send, location: str
) -> None:
    with RawServer(answering(response(b"", "302 Found", [("Location", location)]))) as server:
        answer = send(server.url)
    assert answer.status == 302
    assert answer.headers["location"].startswith(location[:4])


# --- proxies -----------------------------------------------------------------------------------


def test_https_is_tunnelled_through_a_proxy_that_speaks_https(
    send: Any, secure: SandboxServer, authority: trustme.CA
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with Proxy() as plain, RawServer(secured(plain._forward, context)) as proxy:
        url = SecretStr(f"https://user:secret@127.0.0.1:{proxy.port}")
        assert [send(page(secure), proxy=url).status for _ in range(3)] == [200] * 3
        assert proxy.connections == 1
        send.close_idle()
    assert b64encode(b"user:secret") in plain.requests[0]


def test_a_proxy_is_used_and_told_the_password(send: Send, webtools_sandbox: SandboxServer) -> None:
    with Proxy() as proxy:
        url = SecretStr(f"http://user:secret@127.0.0.1:{proxy.port}")
        answer = send(page(webtools_sandbox), proxy=url)
    assert answer.status == 200
    assert proxy.requests[0].startswith(b"GET " + page(webtools_sandbox).encode())
    assert b64encode(b"user:secret") in proxy.requests[0]


def test_a_proxy_is_tunnelled_through_for_https(send: Send, secure: SandboxServer) -> None:
    with Proxy() as proxy:
        url = SecretStr(f"http://user:secret@127.0.0.1:{proxy.port}")
        assert [send(page(secure), proxy=url).status for _ in range(3)] == [200] * 3
    (connect,) = proxy.requests
    assert connect.startswith(f"CONNECT 127.0.0.1:{secure.port} ".encode())
    assert b64encode(b"user:secret") in connect


def test_a_proxy_that_refuses_is_a_request_error_without_the_password(
    send: Send, trusted: None
) -> None:
    with Proxy(refuse=response(b"", "407 Proxy Authentication Required")) as proxy:
        with pytest.raises(RequestError, match="the proxy refused") as caught:
            send(
                "https://a.example",
                proxy=SecretStr(f"http://user:secret@127.0.0.1:{proxy.port}"),
            )
        assert "secret" not in repr([caught.value, caught.value.__cause__, vars(caught.value)])


@pytest.mark.parametrize(
    "refuse",
    [response(b"", "407 Proxy Authentication Required"), b"\x00 garbage\r\n\r\n", b""],
    ids=["refused", "garbage", "no TLS behind it"],
)
def test_a_call_after_a_failed_tunnel_does_not_wait_for_it(
    send: Send, webtools_sandbox: SandboxServer, trusted: None, refuse: bytes
) -> None:
    with Proxy(refuse=refuse) as proxy:
        for _ in range(3):
            with within(1.0), pytest.raises(RequestError):
                send(f"https://127.0.0.1:{webtools_sandbox.port}", proxy=SecretStr(proxy.url))


def test_calls_with_and_without_a_proxy_share_no_connection(
    send: Send, webtools_sandbox: SandboxServer
) -> None:
    with Proxy() as proxy:
        send(page(webtools_sandbox))
        send(page(webtools_sandbox), proxy=SecretStr(proxy.url))
        send(page(webtools_sandbox))
    assert len(proxy.requests) == 1
    assert webtools_sandbox.stats()["connections"] == 2


def test_the_environment_names_no_proxy(
    send: Send, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert send(page(webtools_sandbox)).status == 200


# --- TLS ---------------------------------------------------------------------------------------


def test_the_roots_are_loaded_once_and_off_the_event_loop(
    secure: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    load = clients.tls_context

    def recorded() -> ssl.SSLContext:
        threads.append(threading.get_ident())
        return load()

    monkeypatch.setattr(clients, "tls_context", recorded)
    caller = AwaitedCaller()
    assert [caller(url).status for url in (page(secure), secure.news_url)] == [200] * 2
    caller.close()
    assert threads
    assert threading.get_ident() not in threads
    assert load.cache_info().misses == 1


def test_plain_http_needs_no_roots(
    send: Send, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "tls_context", lambda: pytest.fail("loaded"))
    assert send(page(webtools_sandbox)).status == 200


# --- hooks -------------------------------------------------------------------------------------


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[httpx.Request]:
    """The requests that somebody sees who hooks into httpx, as recorders and tracers do."""
    requests: list[httpx.Request] = []
    handle = httpx.HTTPTransport.handle_request
    ahandle = httpx.AsyncHTTPTransport.handle_async_request

    def watched(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return handle(self, request)

    async def awatched(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return await ahandle(self, request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", watched)
    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", awatched)
    return requests


def test_a_hook_into_httpx_sees_the_request_and_lets_the_answer_pass(
    send: Send, webtools_sandbox: SandboxServer, seen: list[httpx.Request]
) -> None:
    url, body = f"{webtools_sandbox.url}/exa/search", {"query": "json decoder"}
    answer = send(url, method="POST", headers={"x-api-key": "test-key-exa"}, json=body)
    assert (answer.status, answer.json()["results"] != []) == (200, True)
    [request] = seen
    assert (request.method, str(request.url)) == ("POST", url)
    assert (request.headers["x-api-key"], json.loads(request.read())) == ("test-key-exa", body)


# --- cancellation ------------------------------------------------------------------------------


async def test_cancelling_closes_the_connection_and_frees_the_connection(
    transport: AsyncHTTP, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_CONNECTIONS", 1)
    ended = threading.Event()

    def script(connection: socket.socket) -> None:
        silent(connection)
        ended.set()

    with RawServer(script) as server:
        for number in range(1, 4):
            ended.clear()
            request = Request("GET", server.url)
            task = asyncio.ensure_future(transport.send(request, time.monotonic() + LONG))
            await asyncio.to_thread(server.wait_for_connections, number)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(ended.wait, LONG)
        server._script = answering(response())
        assert (await transport.send(request, time.monotonic() + LONG)).status == 200


async def test_cancelling_in_the_middle_of_a_body_closes_the_connection(
    transport: AsyncHTTP,
) -> None:
    with RawServer(SLOW["drip of the body"]) as server:
        request = Request("GET", server.url)
        task = asyncio.ensure_future(transport.send(request, time.monotonic() + LONG))
        await asyncio.to_thread(server.wait_for_connections, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        server._script = answering(response())
        assert (await transport.send(request, time.monotonic() + LONG)).status == 200
        assert server.connections == 2


async def test_cancelling_a_call_that_waits_for_a_connection_loses_no_connection(
    transport: AsyncHTTP, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_CONNECTIONS", 1)
    webtools_sandbox.fault(delay=0.1)
    request = Request("GET", page(webtools_sandbox))
    first, second, third = [
        asyncio.ensure_future(transport.send(request, time.monotonic() + LONG)) for _ in range(3)
    ]
    await asyncio.sleep(0.02)
    second.cancel()
    assert (await first).status == 200
    assert (await third).status == 200
    assert second.cancelled()


async def test_a_call_cancelled_at_the_moment_it_gets_a_connection_ends_and_loses_no_connection(
    transport: AsyncHTTP, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_CONNECTIONS", 1)
    request = Request("GET", page(webtools_sandbox))

    async def send() -> Response:
        return await transport.send(request, time.monotonic() + LONG)

    for turns in range(6):
        first, waiting = asyncio.ensure_future(send()), asyncio.ensure_future(send())
        await first
        for _ in range(turns):
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await send()).status == 200


async def test_connections_are_given_in_the_order_of_asking(
    transport: AsyncHTTP, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_CONNECTIONS", 1)
    order: list[int] = []

    async def send(number: int) -> None:
        await transport.send(Request("GET", page(webtools_sandbox)), time.monotonic() + LONG)
        order.append(number)

    await asyncio.gather(*map(send, range(8)))
    assert order == list(range(8))


def test_ctrl_c_during_a_call_frees_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_CONNECTIONS", 1)
    blocking = BlockingCaller()
    with RawServer(answering(response())) as server:
        blocking(server.url)
        with monkeypatch.context() as patch:
            patch.setattr(network.BlockingStream, "read", _interrupt)
            with pytest.raises(KeyboardInterrupt):
                blocking(server.url)
        assert blocking(server.url, 1.0).status == 200
        assert server.connections == 2
    blocking.close()


def _interrupt(*_: object, **__: object) -> bytes:
    raise KeyboardInterrupt


# --- loops, threads, processes -----------------------------------------------------------------


async def _asend(loops: AsyncHTTP, url: str) -> Response:
    return await loops.send(Request("GET", url), time.monotonic() + LONG)


def test_two_event_loops_in_a_row(webtools_sandbox: SandboxServer) -> None:
    loops = AsyncHTTP()
    for _ in range(2):
        assert asyncio.run(_asend(loops, page(webtools_sandbox))).status == 200


def test_event_loops_in_two_threads(webtools_sandbox: SandboxServer) -> None:
    loops, answers = AsyncHTTP(), []
    barrier = threading.Barrier(2)

    async def both() -> None:
        await asyncio.to_thread(barrier.wait, 2)
        for _ in range(10):
            answers.append(await _asend(loops, page(webtools_sandbox)))

    threads = [threading.Thread(target=asyncio.run, args=(both(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status for answer in answers] == [200] * 20
    assert webtools_sandbox.stats()["connections"] == 2


async def test_a_blocking_call_works_inside_a_running_loop(
    webtools_sandbox: SandboxServer,
) -> None:
    blocking = BlockingCaller()
    assert blocking(page(webtools_sandbox)).status == 200
    blocking.close()


def test_connections_end_with_their_loop_and_nothing_keeps_either(
    webtools_sandbox: SandboxServer,
) -> None:
    loops = AsyncHTTP()
    alive: list[weakref.ref[Any]] = []

    async def call() -> None:
        await _asend(loops, page(webtools_sandbox))
        alive.append(weakref.ref(asyncio.get_running_loop()))

    for _ in range(3):
        asyncio.run(call())
    gc.collect()
    assert [each() for each in alive] == [None] * 3


def test_a_loop_closed_without_ceremony_is_forgotten_when_the_next_one_comes() -> None:
    loops = AsyncHTTP()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        refusing = f"http://127.0.0.1:{listener.getsockname()[1]}"

    async def remember() -> weakref.ref[Any]:
        with pytest.raises(RequestError):
            await _asend(loops, refusing)
        return weakref.ref(asyncio.get_running_loop())

    loop = asyncio.new_event_loop()
    alive = loop.run_until_complete(remember())
    loop.close()
    del loop
    asyncio.run(remember())
    gc.collect()
    assert alive() is None


async def test_dropping_a_transport_closes_its_connections(
    webtools_sandbox: SandboxServer,
) -> None:
    blocking = BlockingHTTP()
    blocking.send(Request("GET", page(webtools_sandbox)), time.monotonic() + LONG)
    loops = AsyncHTTP()
    await _asend(loops, page(webtools_sandbox))
    del blocking, loops
    gc.collect()  # a connection left open would warn here, which is an error
    await asyncio.sleep(0.02)


SCRIPT = """
import asyncio, logging, os, sys, time
from webtools._internal.http.messages import Request
from webtools._internal.http.clients import BlockingHTTP, AsyncHTTP

logging.getLogger("asyncio").setLevel(logging.ERROR)  # no word on a step that a busy machine slows
request = Request("GET", sys.argv[1])
loops, blocking = AsyncHTTP(), BlockingHTTP()

def send():
    return blocking.send(request, time.monotonic() + 5).status

async def asend():
    return (await loops.send(request, time.monotonic() + 5)).status
"""


def python(url: str, lines: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", SCRIPT + lines, url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_a_process_may_end_without_closing_anything(webtools_sandbox: SandboxServer) -> None:
    lines = "print(send(), asyncio.run(asend()), asyncio.run(asend()), send())"
    assert python(page(webtools_sandbox), lines) == "200 200 200 200\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_leaves_the_connections_of_its_parent_alone(
    webtools_sandbox: SandboxServer,
) -> None:
    lines = """
print(send(), flush=True)
child = os.fork()
if not child:
    print(send(), send())
    raise SystemExit
assert os.waitpid(child, 0)[1] == 0
print(send())
"""
    assert python(page(webtools_sandbox), lines).split() == ["200"] * 4
    assert webtools_sandbox.stats()["connections"] == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_another_thread_calls_can_call(
    webtools_sandbox: SandboxServer,
) -> None:
    lines = """
import threading
send()
(found,) = blocking._pools.values()
found._lock.acquire()  # as if another thread were just taking a connection
child = os.fork()
if not child:
    print(send(), flush=True)
    os._exit(0)
found._lock.release()
assert os.waitpid(child, 0)[1] == 0
"""
    assert python(page(webtools_sandbox), lines) == "200\n"
