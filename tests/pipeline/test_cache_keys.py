"""A cache entry belongs to the key that paid for it; a caller's transport has no cache."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from webtools import WebTools
from webtools._internal.http import dns
from webtools.errors import RequestTimeoutError

PAGE = "https://page.example/"
ANSWERS: dict[str, Any] = {
    "/search": {"results": [{"id": PAGE, "url": PAGE, "title": "A page", "text": "words"}]},
    "/contents": {
        "results": [{"id": PAGE, "url": PAGE, "title": "A page", "text": "words of the page"}],
        "statuses": [{"id": PAGE, "status": "success"}],
    },
}
KEYS = ["test-key-of-one-user", "test-key-of-another-user"]


class Api:
    """An API that counts requests."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers["x-api-key"])
        return httpx.Response(200, json=ANSWERS[request.url.path])

    def web(self, key: str, **settings: Any) -> WebTools:
        config = {"providers": [{"name": "exa", "type": "exa", "apiKey": key}]}
        return WebTools(config, transport=httpx.MockTransport(self.respond), **settings)


CALLS: dict[str, Callable[[WebTools], Any]] = {
    "search": lambda web: web.search("apples"),
    "fetch": lambda web: web.fetch(PAGE),
    "research": lambda web: web.research("apples"),
    "web-deep": lambda web: web.research("apples", command="web-deep"),
}


@pytest.mark.parametrize("tool", CALLS)
def test_another_key_never_gets_a_cached_response(tool: str, tmp_path: Path) -> None:
    api = Api()
    cache = {"path": str(tmp_path / "webtools.sqlite3")}
    for key in [*KEYS, *KEYS]:
        with api.web(key, cache=cache) as web:
            CALLS[tool](web)
    first, second = (api.keys.count(key) for key in KEYS)
    assert first == second > 0
    count = len(api.keys)
    with api.web(KEYS[0], cache=cache) as web:
        CALLS[tool](web)
    assert len(api.keys) == count  # its own entry is found


def test_no_key_and_no_plain_hash_of_it_is_in_a_file(tmp_path: Path) -> None:
    api = Api()
    with api.web(KEYS[0], cache={"path": str(tmp_path / "webtools.sqlite3")}) as web:
        for call in CALLS.values():
            call(web)
    content = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"words" in content
    for name in ("sha256", "sha1", "md5", "blake2b"):
        hashed = hashlib.new(name, KEYS[0].encode())
        assert hashed.digest() not in content
        assert hashed.hexdigest()[:12].encode() not in content
    assert KEYS[0].encode() not in content


@pytest.mark.parametrize("source", ["code", "file", "environment"])
def test_a_transport_of_the_caller_has_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    api = Api()
    config: dict[str, Any] = {"providers": [{"name": "exa", "type": "exa", "apiKey": KEYS[0]}]}
    path = tmp_path / "web-search.json"
    path.write_text(json.dumps({**config, "cache": {"ttlMs": 60_000}}), encoding="utf-8")
    monkeypatch.setenv("EXA_API_KEY", KEYS[0])
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    settings: dict[str, Any] = {"code": config, "file": str(path), "environment": None}
    for _ in range(2):
        transport = httpx.MockTransport(api.respond)
        with WebTools(settings[source], transport=transport) as web:
            assert not web.search("apples").cache_hit
    assert len(api.keys) == 2


@pytest.mark.parametrize("cache", [True, {"enabled": True}, {"ttl_ms": 60_000}])
def test_the_cache_can_be_asked_for(cache: Any) -> None:
    api = Api()
    for is_hit in (False, True):
        with api.web(KEYS[0], cache=cache) as web:
            assert web.search("apples").cache_hit is is_hit
    assert len(api.keys) == 1


def test_look_ups_that_hang_use_a_bounded_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_over = threading.Event()
    before = threading.active_count()

    def hang(*_: Any, **__: Any) -> list[Any]:
        is_over.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    try:
        for number in range(3 * dns.MAX_THREADS):
            with pytest.raises(RequestTimeoutError):
                dns.resolve(f"host{number}.example", 443, 0.0)
        assert threading.active_count() - before <= dns.MAX_THREADS
    finally:
        is_over.set()
