"""What a cache or a Redis server returns is cleaned like what a provider returns."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from offline import IO, run

from webtools import ProviderError, SearchResult, WebTools
from webtools._internal.call.sanitize import sanitize
from webtools._internal.http.clients import BlockingHTTP
from webtools._internal.storage.cache_entries import checksum_of
from webtools._internal.storage.sqlite_file import cache_file
from webtools._internal.text.redaction import Redactor
from webtools.cli import main
from webtools.results import FetchResponse, Page, Passage, SearchResponse, SummaryResponse

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

EVIL = "x\x1b[31mEVIL\x07\u202e\x9b31m\x00\x7f\u2028y\r\nz"
TRICKS = set(map(chr, [*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2028]))
# What a person or a model would read of a cached value.
OUTPUT = ("title", "snippet", "text", "author", "summary")
Poison = Callable[..., int]


def poisoned(value: Any, fields: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {
            name: EVIL if name in fields and isinstance(item, str) else poisoned(item, fields)
            for name, item in value.items()
        }
    return [poisoned(item, fields) for item in value] if isinstance(value, list) else value


def rewritten(text: str | bytes, fields: tuple[str, ...]) -> bytes:
    return json.dumps(poisoned(json.loads(text), fields)).encode()


@pytest.fixture(params=["SQLite", "Redis"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[dict[str, Any], Poison]]:
    """Settings with a store, and a function that changes all entries in it."""
    if request.param == "SQLite":
        path = tmp_path / "cache.sqlite3"

        def poison_file(*fields: str) -> int:
            with closing(sqlite3.connect(cache_file(path))) as db, db:
                entries = db.execute("SELECT key, value FROM cache").fetchall()
                for key, text in entries:
                    data = rewritten(text, fields)
                    change = "UPDATE cache SET value = ?, checksum = ?, size = ? WHERE key = ?"
                    db.execute(change, (data, checksum_of(key, data), len(data), key))
            return len(entries)

        yield {"cache": {"path": str(path)}}, poison_file
        return
    server = request.getfixturevalue("redis_server")

    def poison_server(*fields: str) -> int:
        names = server.client.keys("*:cache:*")
        for name in names:
            head, _, text = server.client.get(name).partition(b"\n")
            data = rewritten(text, fields)
            *before, _, ttl = head.split(b" ")
            checksum = b"%d" % zlib.crc32(data, zlib.crc32(name.partition(b":cache:")[2]))
            entry = b" ".join([*before, checksum, ttl]) + b"\n" + data
            server.client.set(name, entry, keepttl=True)
        return len(names)

    yield {"storage": {"url": server.url}, "cache": {"enabled": True}}, poison_server


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def assert_clean(value: Any) -> None:
    result = [text for text in texts(value) if TRICKS & set(text)]
    assert result == []
    assert any("EVIL" in text for text in texts(value))


def test_a_changed_cache_entry_is_cleaned_on_every_surface(
    webtools_sandbox: SandboxServer,
    store: tuple[dict[str, Any], Poison],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed, poison = store
    config = {**webtools_sandbox.config(), **changed}
    path = tmp_path / "web-search.json"
    path.write_text(json.dumps(config))
    path.chmod(0o600)
    page = f"{webtools_sandbox.docs_url}/library/heapq.html"
    calls = [
        ("web_search", {"query": "heap"}),
        ("web_fetch", {"urls": [page]}),
        ("web_research", {"query": "What is a heap?"}),
    ]
    with WebTools(config=config) as web:
        for name, arguments in calls:
            assert not web.call_tool(name, arguments).is_error
        assert poison(*OUTPUT) >= 2
        requests = webtools_sandbox.stats()["requests"]
        for name, arguments in calls:
            result = web.call_tool(name, arguments)
            assert_clean(result.text)
            assert_clean(result.details)
        assert_clean(web.search("heap").model_dump(mode="json"))
        assert_clean(web.fetch(page).model_dump(mode="json"))
        assert_clean(web.research("What is a heap?").model_dump(mode="json"))
        assert "\n" not in web.search("heap").results[0].title
    for words in (["search", "heap"], ["fetch", page], ["search", "heap", "--json"]):
        assert main([*words, "--config", str(path)]) == 0
        assert_clean(capsys.readouterr().out)
    assert webtools_sandbox.stats()["requests"] == requests


def test_a_changed_reason_for_the_confidence_is_cleaned(
    webtools_sandbox: SandboxServer, store: tuple[dict[str, Any], Poison]
) -> None:
    changed, poison = store
    with WebTools(config={**webtools_sandbox.config(), **changed}) as web:
        web.research("heap")
        assert poison("rule")
        assert_clean(web.call_tool("web_research", {"query": "heap"}).text)


URL = "https://a.example/"
PAGE = Page(
    url=URL,
    title=EVIL,
    text=EVIL,
    author=EVIL,
    summary=EVIL,
    highlights=[EVIL],
    passages=[Passage(text=EVIL, heading=EVIL)],
    error=EVIL,
)
FIELDS = {"title": EVIL, "snippet": EVIL, "author": EVIL}
HIT = SearchResult(url=URL, content=PAGE, source_provider="p", query="q", **FIELDS)


@pytest.mark.parametrize(
    "response",
    [
        SearchResponse(provider="p", queries=["q"], results=[HIT], warnings=[EVIL]),
        FetchResponse(provider="p", pages=[PAGE]),
        SummaryResponse(
            provider="p", url=URL, text=EVIL, summary_type="summary", engine="cecil", tokens=1
        ),
    ],
    ids=lambda response: type(response).__name__,
)
def test_a_response_that_a_provider_built_itself_is_cleaned(response: Any) -> None:
    async def flow() -> Any:
        return response

    cleaned = run(sanitize(flow, Redactor([]), IO), BlockingHTTP())
    assert_clean(cleaned.model_dump(mode="json"))


def test_an_error_of_a_provider_is_cleaned() -> None:
    async def flow() -> Any:
        raise ProviderError(EVIL)

    with pytest.raises(ProviderError) as caught:
        run(sanitize(flow, Redactor([]), IO), BlockingHTTP())
    assert_clean(str(caught.value))
