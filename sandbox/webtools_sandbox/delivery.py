"""Send a reply over HTTP, with or without a fault."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import zlib
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webtools_sandbox.faults import Fault
    from webtools_sandbox.wire import Reply

_MIB = 1024 * 1024
_CHUNK = b'"' + b"x" * (64 * 1024 - 4) + b'",\n'
_NO_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
_SERVER_NAME = "webtools-sandbox"


def response(reply: Reply) -> web.Response:
    """Return the response of a server without faults."""
    return web.Response(status=reply.status, body=reply.body, headers=_headers(reply))


def _headers(reply: Reply) -> dict[str, str]:
    return {"Content-Type": reply.content_type, "Server": _SERVER_NAME, **reply.headers}


async def deliver(request: web.BaseRequest, reply: Reply, fault: Fault) -> web.StreamResponse:
    """Send `reply` with a fault."""
    if fault.body == "hangup" or (fault.reset and fault.body != "cut"):
        _end(request, reset=fault.reset)
        return web.Response()
    if fault.drip_headers:
        return await _drip_everything(request, reply, fault)
    if fault.body == "huge" or fault.body == "bomb":  # noqa: PLR1714  a body may be unhashable
        return await _stream(request, reply, fault)
    if fault.body == "cut":
        return await _cut(request, reply, fault)
    if fault.drip:
        return await _drip_body(request, reply, fault.drip)
    return response(reply)


def _end(request: web.BaseRequest, *, reset: bool) -> None:
    transport = request.transport
    if transport is None:
        return
    if not reset:
        transport.close()
        return
    connection = transport.get_extra_info("socket")
    # With a linger time of zero, the kernel sends RST instead of FIN.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    transport.abort()


async def _begin(
    request: web.BaseRequest, reply: Reply, *, length: int | None = None
) -> web.StreamResponse:
    stream = web.StreamResponse(status=reply.status, headers=_headers(reply))
    stream.content_length = length
    await stream.prepare(request)
    return stream


async def _cut(request: web.BaseRequest, reply: Reply, fault: Fault) -> web.StreamResponse:
    stream = await _begin(request, reply, length=len(reply.body) + 1)
    await stream.write(reply.body[: len(reply.body) // 2] or b"{")
    if fault.reset:
        # A reset discards the send buffer, so wait until the first half is sent.
        await asyncio.sleep(0.02)
    _end(request, reset=fault.reset)
    return stream


async def _drip_body(request: web.BaseRequest, reply: Reply, pause: float) -> web.StreamResponse:
    stream = await _begin(request, reply, length=len(reply.body))
    for byte in reply.body:
        await asyncio.sleep(pause)
        await stream.write(bytes((byte,)))
    return stream


async def _drip_everything(
    request: web.BaseRequest, reply: Reply, fault: Fault
) -> web.StreamResponse:
    for byte in _head(reply):
        _write(request, bytes((byte,)))
        await asyncio.sleep(fault.drip_headers)
    _write(request, reply.body)
    _end(request, reset=False)
    return web.Response()


def _write(request: web.BaseRequest, data: bytes) -> None:
    if request.transport is not None:  # None after the client disconnected
        request.transport.write(data)


def _head(reply: Reply) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}"]
    headers = {"Content-Length": str(len(reply.body)), "Connection": "close"}
    lines += [f"{name}: {value}" for name, value in (_headers(reply) | headers).items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def _stream(request: web.BaseRequest, reply: Reply, fault: Fault) -> web.StreamResponse:
    if fault.body == "bomb":
        chunks = _compressed(fault.mib)
        reply = replace(reply, headers={**reply.headers, "Content-Encoding": "gzip"})
    else:
        chunks = _plain(fault.mib)
    stream = await _begin(request, reply)
    for chunk in chunks:
        await stream.write(chunk)
    await stream.write_eof()
    return stream


def _plain(mib: float) -> Iterator[bytes]:
    """Yield a JSON list of strings, about `mib` MiB in total."""
    yield b"["
    for _ in range(max(1, int(mib * _MIB) // len(_CHUNK))):
        yield _CHUNK
    yield b"null]"


def _compressed(mib: float) -> Iterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    for chunk in _plain(mib):
        packed = packer.compress(chunk)
        if packed:
            yield packed
    yield packer.flush()
