"""How pages are transferred: their content codings and their size."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from functools import partial

import pytest
from servers import RawServer, answering, response

from webtools import FetchResponse, WebTools
from webtools.errors import ProviderError, RequestError, WebToolsError

brotli = pytest.importorskip("brotli", minversion="1.2")
zstandard = pytest.importorskip("zstandard")

PAGE = b"<!doctype html><title>Locks</title><main><h1>Locks</h1><p>" + b"The lock opens. " * 20
BR: Callable[[bytes], bytes] = brotli.compress
ZSTD: Callable[[bytes], bytes] = zstandard.compress
GZIP = partial(gzip.compress, mtime=0)
MIB = 1024 * 1024
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": GZIP,
    "br": lambda b: brotli.compress(b, quality=1),
    "zstd": ZSTD,
}


def fetch(body: bytes, content_type: str = "text/html", encoding: str = "") -> FetchResponse:
    headers = [("Content-Type", content_type)]
    headers += [("Content-Encoding", encoding)] if encoding else []
    with RawServer(answering(response(body, headers=headers))) as server:
        options = {"allowPrivateHosts": [f"127.0.0.1:{server.port}"]}
        config = {"providers": [{"name": "direct", "type": "direct", "options": options}]}
        with WebTools(config, cache=False) as web:
            return web.fetch(server.url)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("br", BR(PAGE)),
        ("BR", BR(PAGE)),
        ("zstd", ZSTD(PAGE)),
        ("ZStd", ZSTD(PAGE[:100]) + ZSTD(PAGE[100:])),
        ("gzip, br", BR(GZIP(PAGE))),
        ("br, zstd", ZSTD(BR(PAGE))),
        ("zstd, x-gzip, identity", GZIP(ZSTD(PAGE))),
    ],
)
def test_brotli_and_zstandard_are_decoded_if_their_libraries_are_installed(
    encoding: str, body: bytes
) -> None:
    assert (fetch(body, encoding=encoding).pages[0].text or "").count("The lock opens.") == 20


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("br", PAGE),
        ("zstd", PAGE),
        ("br", BR(PAGE)[:-3]),
        ("zstd", ZSTD(PAGE)[:-3]),
        ("zstd", ZSTD(PAGE) + b"plain"),
        ("gzip, br", BR(GZIP(PAGE)[:-3])),
    ],
)
def test_a_body_that_cannot_be_decoded_is_an_error(encoding: str, body: bytes) -> None:
    with pytest.raises(WebToolsError, match="decompressed|cut off"):
        fetch(body, encoding=encoding)


@pytest.mark.parametrize("kind", ["gzip", "br", "zstd", "gzip, gzip", "br, zstd"])
def test_a_bomb_is_read_up_to_the_limit(kind: str) -> None:
    body = b"a " * (30 * MIB)
    for name in kind.split(", "):
        body = PACK[name](body)
    result = fetch(body, "text/plain", kind)
    assert any("16 MiB" in warning for warning in result.warnings)


def long_page() -> bytes:
    boats = (b"<p>%d: %s" % (number, b"A boat waits. " * 400) for number in range(3200))
    return PAGE + b"".join(boats)


TOO_LONG: dict[str, tuple[str, Callable[[], bytes]]] = {
    "HTML": ("text/html", long_page),
    "HTML as octets": ("application/octet-stream", long_page),
    "text": ("text/plain", lambda: b"The lock opens. " + b"Again, a boat. " * (2 * MIB)),
    "CSV": ("text/csv", lambda: b"day,hours\nThe lock opens. ,8\n" * (2 * MIB)),
    "XML": ("application/xml", lambda: b"<log><row>The lock opens. </row>" * (2 * MIB)),
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_the_first_part_of_a_text_that_is_too_large_is_read_with_a_warning(name: str) -> None:
    content_type, body = TOO_LONG[name]
    result = fetch(body(), content_type)
    assert "The lock opens." in (result.pages[0].text or "")
    assert any("16 MiB" in warning for warning in result.warnings)


def archive() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("mimetype", "application/epub+zip")
        file.writestr("picture.png", bytes(17 * MIB))
    return data.getvalue()


FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "PDF": ("application/pdf", lambda: b"%PDF-1.7\n" + bytes(17 * MIB)),
    "document": ("application/epub+zip", archive),
    "notebook": (
        "application/x-ipynb+json",
        lambda: b'{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": "' + b"iVBO" * 5 * MIB,
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_too_large_is_an_error(name: str) -> None:
    content_type, body = FILES[name]
    with pytest.raises((ProviderError, RequestError), match=r"large"):
        fetch(body(), content_type)
