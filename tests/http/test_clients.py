from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import gzip
import itertools
import json
import logging
import socket
import ssl
import struct
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

from webtools._internal.http import network, pool, tls
from webtools._internal.http.async_clients import AsyncHTTP
from webtools._internal.http.async_connections import AsyncBackend, AsyncStream
from webtools._internal.http.clients import BlockingHTTP
from webtools.errors import ConfigError, RequestError, RequestTimeoutError
from webtools.messages import Request, Response
from webtools_sandbox import SandboxServer

if sys.platform == "linux":
    import fcntl
    import termios

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

    new_event_loop: Callable[[], asyncio.AbstractEventLoop] = staticmethod(asyncio.new_event_loop)

    def __init__(self) -> None:
        self.loop = self.new_event_loop()
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


class UvloopCaller(AwaitedCaller):
    """The same on uvloop."""

    def __init__(self) -> None:
        uvloop = pytest.importorskip("uvloop", reason="uvloop does not support this platform")
        self.new_event_loop = uvloop.new_event_loop
        super().__init__()


@pytest.fixture(
    params=[BlockingCaller, AwaitedCaller, UvloopCaller], ids=["blocking", "asyncio", "uvloop"]
)
def send(request: pytest.FixtureRequest) -> Iterator[Any]:
    caller = request.param()
    yield caller
    caller.close()


@pytest.fixture
async def transport() -> AsyncIterator[AsyncHTTP]:
    transport = AsyncHTTP()
    yield transport
    await transport.aclose()


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
    """Trust the authority alone."""
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


def test_a_compressed_answer_is_decompressed(send: Send) -> None:
    packed = gzip.compress(b"text " * 1000)
    with RawServer(answering(response(packed, headers=[("Content-Encoding", "gzip")]))) as server:
        assert send(server.url).body == b"text " * 1000


def test_a_compressed_answer_that_ends_early_is_refused(send: Send) -> None:
    packed = gzip.compress(b"text " * 1000)[:-10]
    with (
        RawServer(answering(response(packed, headers=[("Content-Encoding", "gzip")]))) as server,
        pytest.raises(RequestError, match="cut off"),
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


def test_a_request_is_freed_when_its_call_ends(send: Send, webtools_sandbox: SandboxServer) -> None:
    url = page(webtools_sandbox) + "?freed"
    gc.disable()  # it would free responses that refer to themselves, later
    try:
        for _ in range(3):
            send(url)
        requests = [each for each in gc.get_objects() if isinstance(each, httpx.Request)]
    finally:
        gc.enable()
    assert url not in [str(request.url) for request in requests]


def test_a_certificate_of_an_unknown_authority_is_refused(send: Send, trusted: None) -> None:
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(stranger)
    with (
        RawServer(secured(silent, stranger)) as server,
        pytest.raises(RequestError, match="certificate"),
    ):
        send(f"https://127.0.0.1:{server.port}")


def test_missing_root_certificates_are_an_error_that_names_the_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(ConfigError, match="No such file or directory.*SSL_CERT_FILE or"):
        tls.tls_context.__wrapped__()


def test_a_log_of_tls_keys_that_cannot_be_written_is_not_a_fault_of_the_certificates(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "none" / "keys.log"))
    with pytest.raises(ConfigError, match="SSLKEYLOGFILE.*keys.log") as caught:
        tls.tls_context.__wrapped__()
    assert "SSL_CERT_FILE" not in str(caught.value)


def test_parallel_calls_have_a_connection_each_and_use_them_again(
    send: Any, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(delay=0.1, times=8)
    assert len(send.many(page(webtools_sandbox), 8)) == 8
    assert webtools_sandbox.stats()["connections"] == 8
    for _ in range(3):
        assert len(send.many(page(webtools_sandbox), 8)) == 8
    assert webtools_sandbox.stats()["connections"] == 8


def test_a_connection_that_the_server_closed_is_survived(send: Send) -> None:
    with RawServer(answering(response(), keep_open=False)) as server:
        for _ in range(3):
            assert send(server.url).status == 200
            time.sleep(0.02)  # let the end of the connection arrive
        assert server.connections == 3


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
def test_the_deadline_bounds_the_complete_call(send: Send, script: Script) -> None:
    with RawServer(script) as server, within(1.0):
        with pytest.raises(RequestTimeoutError, match="^no response in time$") as caught:
            send(server.url, SHORT)
        assert caught.value.retryable


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


# --- bodies ------------------------------------------------------------------------------------


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
    assert str(caught.value) == "the response is larger than 16 MiB"
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


def test_padding_counts_towards_the_size_of_a_body(send: Send) -> None:
    padded = gzip.compress(b"text", mtime=0) + bytes(17 * 1024 * 1024)
    data = response(padded, headers=[("Content-Encoding", "gzip")])
    with RawServer(_sending(data)) as server, pytest.raises(RequestError, match="16 MiB"):
        send(server.url)


@pytest.mark.parametrize(
    ("encoding", "body", "message"),
    [
        ("gzip", gzip.compress(b"x", mtime=0)[:4] + b"\xff" * 30, "cannot be decompressed"),
        ("compress", b"plain", '"compress"'),
        ("gzip, DCZ", b"plain", '"dcz"'),
        ("gzip" + ", gzip" * 5, b"plain", "more than 5"),
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


@pytest.mark.parametrize(("encoding", "library"), [("br", "brotli"), ("zstd", "zstandard")])
def test_a_coding_without_its_library_is_an_error_with_the_remedy(
    send: Send, encoding: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    data = response(b"text", headers=[("Content-Encoding", f"gzip, {encoding.upper()}")])
    with RawServer(answering(data)) as server:
        with pytest.raises(RequestError, match=f"pip install .?{library}") as caught:
            send(server.url)
    assert f'"{encoding}"' in str(caught.value)
    assert not caught.value.retryable


_GZIP = functools.partial(gzip.compress, mtime=0)
_RAW_DEFLATE = zlib.compressobj(wbits=-15)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"text"),
        ("deflate", b"<p>text"),
        ("gzip", b"t"),
        ("gzip", b""),
        ("utf-8", b"text"),
        ("none", b"text"),
        ("iso-8859-1", b"text"),
        ("gzip", _GZIP(b"text") + b"\n"),
        ("gzip", _GZIP(b"te") + b"\0\0" + _GZIP(b"xt") + b"\r\n"),
        ("deflate", zlib.compress(b"text")),
        ("deflate", _RAW_DEFLATE.compress(b"text") + _RAW_DEFLATE.flush()),
        ("X-GZIP", _GZIP(b"text")),
        ("identity", b"text"),
        ("Identity, GZip", _GZIP(b"text")),
        ("gzip, gzip", _GZIP(_GZIP(b"text"))),
        ("gzip, gzip", _GZIP(b"text")),
        ("gzip, gzip", b"text"),
        ("deflate,x-gzip", _GZIP(zlib.compress(b"text"))),
        ("gzip, utf-8", _GZIP(b"text")),
    ],
)
def test_a_body_is_read_in_spite_of_a_false_content_encoding(
    send: Send, encoding: str, body: bytes
) -> None:
    data = response(body, headers=[("Content-Encoding", encoding)])
    with RawServer(answering(data)) as server:
        received = send(server.url).body
    assert received == (body if body in b"<p>text" else b"text")


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
def test_an_invalid_response_is_a_retryable_request_error(send: Send, data: bytes) -> None:
    with RawServer(_sending(data)) as server, within(2.0):
        with pytest.raises(RequestError) as caught:
            send(server.url, 2.0)
        assert type(caught.value) is RequestError
        assert caught.value.retryable
        assert str(caught.value) == "the response was cut off or is not valid HTTP"
        server._script = answering(response())
        assert send(server.url).status == 200


def test_a_refused_connection_is_a_request_error(send: Send) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(RequestError, match="could not connect to http"):
        send(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "url", ["http://[::1", "ftp://127.0.0.1/", "//127.0.0.1", "", "http://\ud800/"]
)
def test_an_address_that_cannot_be_used_is_an_error_not_to_retry(send: Send, url: str) -> None:
    with pytest.raises(RequestError, match="URL") as caught:
        send(url)
    assert not caught.value.retryable


def test_an_error_carries_neither_the_headers_nor_the_frames_that_held_them(send: Send) -> None:
    with RawServer(reset) as server, pytest.raises(RequestError) as caught:
        send(server.url, headers={"x-api-key": "secret"})
    cause = caught.value.__cause__
    assert cause is not None
    assert isinstance(cause, httpx.HTTPError)
    assert "secret" not in repr(cause.request.headers.raw)
    assert (cause.__traceback__, cause.__cause__, cause.__context__) == (None, None, None)


@pytest.mark.parametrize("send", [AwaitedCaller, UvloopCaller], indirect=True)
@pytest.mark.parametrize("is_reset", [False, True])
@pytest.mark.parametrize("is_tunnelled", [False, True])
def test_a_connection_that_ends_before_it_is_used_is_a_request_error(
    send: Send, monkeypatch: pytest.MonkeyPatch, is_tunnelled: bool, is_reset: bool
) -> None:
    """It can end after it was opened, and after a proxy agreed to pass on what follows."""
    connect, start_tls = AsyncBackend.connect_tcp, AsyncStream.start_tls

    async def connect_slowly(self: AsyncBackend, *args: Any, **kwargs: Any) -> AsyncStream:
        stream = await connect(self, *args, **kwargs)
        if not is_tunnelled:
            await _wait_until_ended(stream)
        return stream

    async def start_tls_slowly(self: AsyncStream, *args: Any, **kwargs: Any) -> AsyncStream:
        await _wait_until_ended(self)
        return await start_tls(self, *args, **kwargs)

    def script(connection: socket.socket) -> None:
        if is_tunnelled:
            read_request(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        if is_reset:
            reset(connection)

    monkeypatch.setattr(AsyncBackend, "connect_tcp", connect_slowly)
    monkeypatch.setattr(AsyncStream, "start_tls", start_tls_slowly)
    with RawServer(script) as server:
        tunnel = {"url": "https://a.example/", "proxy": SecretStr(server.url)}
        request: dict[str, Any] = tunnel if is_tunnelled else {"url": server.url}
        with within(0.5), pytest.raises(RequestError) as caught:  # not after a handshake's time-out
            send(**request)
    assert caught.value.retryable


async def _wait_until_ended(stream: AsyncStream) -> None:
    for _ in range(20):  # until the event loop, too, has learned of it
        await asyncio.sleep(0.01)
    assert stream.get_extra_info("is_readable")


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n"
SURPLUS = {
    "another response": (response(b"first"), response(b"stale")),
    "the same response": (response(b"first"), response(b"first")),
    "its last byte": (response(b"{}"), b"}"),
    "a response without a body": (response(b"", "204 No Content"), response(b"", "500 Stale")),
    "the same chunks": (CHUNKED, CHUNKED),
}


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize(("first", "surplus"), SURPLUS.values(), ids=SURPLUS)
def test_surplus_bytes_do_not_answer_the_next_call(
    send: Send, proxied: bool, first: bytes, surplus: bytes
) -> None:
    number = itertools.count()

    def script(connection: socket.socket) -> None:
        while read_request(connection):
            connection.sendall(response(b"second") if next(number) else first + surplus)

    with RawServer(script) as server:
        # Behind a proxy of that kind, the server is the proxy.
        options = {"proxy": SecretStr(server.url)} if proxied else {}
        url = "http://a.example/" if proxied else server.url
        send(url, **options)
        assert [send(url, **options).body for _ in range(2)] == [b"second"] * 2
        assert server.connections == 2


@pytest.mark.skipif(not hasattr(socket, "TCP_CORK"), reason="joins records on Linux only")
def test_a_surplus_record_of_tls_does_not_answer_the_next_call(
    send: Send, authority: trustme.CA, trusted: None
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    number = itertools.count()

    def script(connection: socket.socket) -> None:
        while read_request(connection):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
            for body in [b"second"] if next(number) else [b"first", b"stale"]:
                connection.sendall(response(body))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)

    with RawServer(secured(script, context)) as server:
        url = server.url.replace("http:", "https:")
        assert [send(url).body for _ in range(3)] == [b"first", b"second", b"second"]
        send.close_idle()


def wait_until_received(connection: socket.socket) -> None:
    """Wait until the other side's system has all that was sent, or no room for more."""
    if sys.platform != "linux":
        return
    for _ in range(100):
        if not struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0]:
            return
        time.sleep(0.001)


# The sizes at which a layer may split what it received: reads of httpcore, of the event loops, and
# records of TLS.
READ_SIZES = [1024, 16_384, 65_536, 2 * 65_536, 4 * 65_536, 256_000, 8 * 65_536, 1_048_576]


@pytest.mark.parametrize("way", ["http", "https", "forward proxy"])
def test_a_surplus_after_a_response_of_any_size_does_not_answer_the_next_call(
    send: Send, way: str, authority: trustme.CA, trusted: None
) -> None:
    sent = threading.Semaphore(0)

    def script(connection: socket.socket) -> None:
        surplus = response(b"stale")
        while head := read_request(connection):
            size = int(head.split()[1].rpartition(b"/")[2])
            body_size = 2 * size - len(response(bytes(size)))  # the head counts too
            data, surplus = response(bytes(body_size)) + surplus, b""
            try:
                connection.sendall(data)
                wait_until_received(connection)
            finally:  # the client may have closed the connection already
                sent.release()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with RawServer(secured(script, context) if way == "https" else script) as server:
        options = {"proxy": SecretStr(server.url)} if way == "forward proxy" else {}
        url = {"https": server.url.replace("http:", "https:"), "http": server.url}
        for size in [size + extra for size in READ_SIZES for extra in (-1, 0, 1)]:
            for _ in range(2):
                received = send(f"{url.get(way, 'http://a.example')}/{size}", **options)
                assert received.body.strip(b"\0") == b"", f"{received.body[:40]!r} after {size}"
                assert sent.acquire(timeout=60)
        send.close_idle()


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


def test_a_proxy_is_tunnelled_through_for_https(send: Send, secure: SandboxServer) -> None:
    with Proxy() as proxy:
        url = SecretStr(f"http://user:secret@127.0.0.1:{proxy.port}")
        assert [send(page(secure), proxy=url).status for _ in range(3)] == [200] * 3
    (connect,) = proxy.requests
    assert connect.startswith(f"CONNECT 127.0.0.1:{secure.port} ".encode())
    assert b64encode(b"user:secret") in connect


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


@pytest.mark.parametrize(
    ("method", "message"),
    [(b"\x05\x02", None), (b"\x05\xff", "refused"), (b"garbage", "lost"), (b"", "lost")],
    ids=["accepted", "refused", "garbage", "closed"],
)
def test_the_login_of_a_socks_proxy_is_not_logged(
    send: Send, caplog: pytest.LogCaptureFixture, method: bytes, message: str | None
) -> None:
    pytest.importorskip("socksio")
    caplog.set_level(logging.DEBUG)

    def script(connection: socket.socket) -> None:
        if not method:
            return
        for reply in (method, b"\x01\x00", b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50"):
            connection.recv(65536)
            connection.sendall(reply)
        answering(response(b"page"))(connection)

    with RawServer(script) as server:
        proxy = SecretStr(f"socks5://user:secret@127.0.0.1:{server.port}")
        if message is None:
            assert send("http://a.example", proxy=proxy).body == b"page"
        else:
            with pytest.raises(RequestError, match=message):
                send("http://a.example", proxy=proxy)
    assert "setup_socks5_connection.started" in caplog.text
    assert "secret" not in caplog.text


# --- cancellation ------------------------------------------------------------------------------


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
    assert [item() for item in alive] == [None] * 3


SCRIPT = """
import asyncio, logging, os, sys, time
from webtools.messages import Request
from webtools._internal.http.async_clients import AsyncHTTP
from webtools._internal.http.clients import BlockingHTTP

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


FIRST_CALL = """
import json, sys, anyio
from webtools import WebTools
async def main():
    async with WebTools(json.loads(sys.argv[1])) as web:
        print(len((await web.asearch("read json", limit=1)).results))
anyio.run(main)
"""


def test_the_first_call_may_run_in_a_loop_of_anyio(webtools_sandbox: SandboxServer) -> None:
    config = {**webtools_sandbox.config(), "log": {"enabled": False}, "cache": {"enabled": False}}
    command = [sys.executable, "-c", FIRST_CALL, json.dumps(config)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("1\n", "")
