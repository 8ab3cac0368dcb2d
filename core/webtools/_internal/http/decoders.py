"""Decode the content codings of HTTP piece by piece, as browsers do, in bounded memory."""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import Any, Protocol

_GZIP_HEADER = b"\x1f\x8b"
_HEADER_BYTES = 2
_MAX_CODINGS = 5  # of a body
_MAX_ZSTD_WINDOW = 8 * 1024 * 1024  # bytes, as RFC 9659 says
_ZSTD_STEP = 256  # bytes, which become 8 MiB at most
_UNREADABLE = frozenset({"compress", "dcb", "dcz"})


class Decoder(Protocol):
    """Decodes one coding of a body."""

    def decode(self, data: bytes, limit: int) -> bytes:
        """Decode a piece. Drop what is far beyond `limit`, but return more bytes than that.

        Raises:
            Exception: It cannot be decoded. The types are those of the libraries.
        """

    def end(self) -> bytes:
        """Return the rest.

        Raises:
            EOFError: The body is incomplete.
        """


def decoders_for(header: str) -> list[Decoder]:
    """Return the decoders for a `Content-Encoding`. Names that are no coding are ignored.

    Raises:
        ValueError: A coding cannot be decoded here. The message says what to do.
    """
    names = [name.strip().lower().removeprefix("x-") for name in reversed(header.split(","))]
    decoders = [decoder for name in names if (decoder := _decoder_for(name)) is not None]
    if len(decoders) > _MAX_CODINGS:
        message = f"the response has more than {_MAX_CODINGS} content encodings"
        raise ValueError(message)
    return decoders


def _decoder_for(name: str) -> Decoder | None:
    remedy = "which cannot be read"
    try:
        match name:
            case "gzip" | "deflate":
                return _Inflater(name)
            case "br":
                remedy = 'which needs a library: pip install "brotli>=1.2"'
                return _BrotliDecoder()
            case "zstd":
                remedy = "which needs a library: pip install zstandard"
                return _ZstdDecoder()
            case _ if name not in _UNREADABLE:
                return None
    except (ImportError, AttributeError):  # older versions of brotli cannot bound their output
        pass
    message = f'the response has the content encoding "{name}", {remedy}'
    raise ValueError(message)


class _Inflater:
    """Decodes gzip and deflate. Like browsers, it reads a plain body in spite of its label."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._start = b""  # held back until its first bytes show whether it is compressed
        self._inflate: Any = None
        self._is_plain = False

    def decode(self, data: bytes, limit: int) -> bytes:
        if self._inflate is None and not self._is_plain:
            self._start = data = self._start + data
            if len(data) < _HEADER_BYTES:
                return b""
            self._begin(data)
        if self._is_plain:
            return data
        # A few KB can decompress to gigabytes, so at most one byte over the limit is produced.
        decoded = b""
        while data and len(decoded) <= limit:
            if self._inflate.eof:  # a compressed body may have several members (RFC 1952)
                padding = data.find(_GZIP_HEADER)
                if padding < 0:
                    break
                data = data[padding:]
                self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
            decoded += self._inflate.decompress(data, limit + 1 - len(decoded))
            data = self._inflate.unused_data
        return decoded

    def _begin(self, start: bytes) -> None:
        if start.startswith(_GZIP_HEADER) or _has_zlib_header(start):
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header is recognised
        elif self._name == "deflate" and _is_deflated(start):
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        else:
            self._is_plain = True

    def end(self) -> bytes:
        if self._inflate is None:
            return b"" if self._is_plain else self._start
        if not self._inflate.eof:
            raise EOFError
        return b""


class _BrotliDecoder:
    def __init__(self) -> None:
        brotli: Any = import_module("brotli")  # without types
        self._decoder = brotli.Decompressor()
        self._decoder.can_accept_more_data  # noqa: B018  # since version 1.2
        self._is_empty = True

    def decode(self, data: bytes, limit: int) -> bytes:
        self._is_empty = self._is_empty and not data
        decoded: bytes = b""
        while not self._decoder.is_finished() and len(decoded) <= limit:
            room = limit + 1 - len(decoded)
            decoded += self._decoder.process(data, output_buffer_limit=room)
            if self._decoder.can_accept_more_data():
                break
            data = b""
        return decoded

    def end(self) -> bytes:
        if not self._is_empty and not self._decoder.is_finished():
            raise EOFError
        return b""


class _ZstdDecoder:
    def __init__(self) -> None:
        from zstandard import ZstdDecompressor  # noqa: PLC0415

        self._decompressor = ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW)
        self._frame: Any = None

    def decode(self, data: bytes, limit: int) -> bytes:
        decoded = b""
        while data and len(decoded) <= limit:
            if self._frame is None or self._frame.eof:
                self._frame = self._decompressor.decompressobj()
            step, data = data[:_ZSTD_STEP], data[_ZSTD_STEP:]
            decoded += self._frame.decompress(step)
            data = self._frame.unused_data + data
        return decoded

    def end(self) -> bytes:
        if self._frame is not None and not self._frame.eof:
            raise EOFError
        return b""


def _has_zlib_header(start: bytes) -> bool:
    return start[0] & 0x0F == zlib.DEFLATED and int.from_bytes(start[:2], "big") % 31 == 0


def _is_deflated(start: bytes) -> bool:
    if start[:1] in b"<{[":
        return False
    try:
        zlib.decompressobj(-zlib.MAX_WBITS).decompress(start, 1)
    except zlib.error:
        return False
    return True
