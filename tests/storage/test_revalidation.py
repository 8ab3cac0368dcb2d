"""Cached pages are revalidated as RFC 9110, 9111 and 5861 say, in a file and on a server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from offering_site import PAGE, Fetch, Reply, Site, blocking, on_a_loop
from redis_servers import RedisServer

from webtools import ProviderError, WebTools
from webtools._internal.pages import workers
from webtools._internal.pages.content import Content, Source
from webtools._internal.pages.validators import Validators
from webtools._internal.pipeline.tool_call import call_services

OTHER = PAGE.replace("seven minutes", "nine minutes")
DATE = "Wed, 04 Mar 2026 10:00:00 GMT"
Web = Callable[..., WebTools]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(params=["sqlite", "redis"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    if request.param == "sqlite":
        return {}
    server: RedisServer = request.getfixturevalue("redis_server")
    return {"storage": {"url": server.url}}


@pytest.fixture
def make(site: Site, storage: dict[str, Any], tmp_path: Path) -> Web:
    def make(ttl_ms: int = 60_000) -> WebTools:
        cache = {"path": str(tmp_path / "cache.sqlite3"), "ttlMs": ttl_ms}
        return WebTools(config={"providers": [site.entry()], "cache": cache, **storage})

    return make


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URLs of the pages that were read."""
    read, urls = workers.read_apart, list[str]()

    def counted(source: Source, *arguments: Any) -> Content:
        urls.append(source.url)
        return read(source, *arguments)

    monkeypatch.setattr(workers, "read_apart", counted)
    return urls


def validated(**headers: str) -> Callable[[dict[str, str]], Reply]:
    """Answer 304 to a request with these validators."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    conditions = {"if-none-match": sent.get("etag"), "if-modified-since": sent.get("last-modified")}

    def reply(request: dict[str, str]) -> Reply:
        known = [request.get(name) == value for name, value in conditions.items() if value]
        if known and all(known):
            return Reply("", "304 Not Modified", sent)
        return Reply(headers=sent)

    return reply


@pytest.mark.parametrize("get", [blocking, on_a_loop])
@pytest.mark.parametrize(
    "headers",
    [
        {"etag": 'W/"a-gzip"', "cache_control": "max-age=0"},
        {"etag": "no quotes", "cache_control": "no-cache"},
        {"last_modified": DATE, "expires": "0"},
        {
            "etag": '"b"',
            "last_modified": DATE,
            "cache_control": "private, must-revalidate, max-age=0",
        },
        {"etag": '"c"', "expires": DATE, "date": DATE},
        {"etag": '"d"', "cache_control": "max-age=30", "age": "31"},
    ],
)
def test_an_unchanged_page_is_asked_for_with_its_validators_and_not_read_again(
    site: Site,
    make: Web,
    storage: dict[str, Any],
    readings: list[str],
    get: Fetch,
    headers: dict[str, str],
) -> None:
    site.replies["/a"] = validated(**headers)
    is_kept = not (storage and "private" in headers.get("cache_control", ""))
    with make() as web:
        first = get(web, f"{site.url}/a").pages
        second = get(web, f"{site.url}/a").pages
        third = get(web, f"{site.url}/a").pages
    assert first == second == third
    assert site.count("/a") == 3
    assert len(readings) == (1 if is_kept else 3)
    conditions = [sorted({"if-none-match", "if-modified-since"} & set(r)) for _, r in site.asked]
    assert conditions[0] == []
    assert conditions[1] == conditions[2]
    assert bool(conditions[1]) is is_kept


def test_a_changed_page_replaces_the_cached_one(site: Site, make: Web) -> None:
    site.replies["/a"] = Reply(headers={"ETag": '"1"', "Cache-Control": "no-cache"})
    with make() as web:
        web.fetch(f"{site.url}/a")
        site.replies["/a"] = Reply(OTHER, headers={"ETag": '"2"', "Cache-Control": "max-age=600"})
        changed = web.fetch(f"{site.url}/a").pages[0]
        again = web.fetch(f"{site.url}/a")
    assert "nine minutes" in (changed.text or "")
    assert again.pages == [changed]
    assert again.cache_hit
    assert [request.get("if-none-match") for _, request in site.asked] == [None, '"1"']


def test_an_entry_older_than_the_setting_is_revalidated_however_long_the_site_allows(
    site: Site, make: Web
) -> None:
    site.replies["/a"] = validated(etag='"1"', cache_control="max-age=86400")
    with make(ttl_ms=300) as web:
        web.fetch(f"{site.url}/a")
        time.sleep(0.4)
        web.fetch(f"{site.url}/a")
    assert [request.get("if-none-match") for _, request in site.asked] == [None, '"1"']


def test_refreshing_sends_a_plain_request_and_bypassing_leaves_the_cache_alone(
    site: Site, make: Web
) -> None:
    site.replies["/a"] = validated(etag='"1"', cache_control="no-cache")
    with make() as web:
        for mode in ("use", "refresh", "bypass", "use"):
            web.fetch(f"{site.url}/a", cache=mode)
    assert [request.get("if-none-match") for _, request in site.asked] == [None, None, None, '"1"']


def stored(make: Web) -> int:
    with make() as web:
        cache = call_services(web._dispatcher.settings.accounts()).cache
    assert cache is not None
    return cache.stats().entries


@pytest.mark.parametrize(
    "headers",
    [
        {"Cache-Control": "No-Store, max-age=600"},
        {"Vary": "accept, *"},
        {"cache-control": "no-store"},
    ],
)
def test_a_page_that_must_not_be_kept_is_not_and_its_earlier_version_goes(
    site: Site, make: Web, headers: dict[str, str]
) -> None:
    with make() as web:
        web.fetch(f"{site.url}/a")
        assert stored(make) == 1
        site.replies["/a"] = Reply(OTHER, headers=headers)
        web.fetch(f"{site.url}/a", cache="refresh")
        assert stored(make) == 0
        web.fetch(f"{site.url}/a")
    assert site.count("/a") == 3


def test_a_private_page_is_kept_in_a_file_and_not_in_a_shared_store(
    site: Site, make: Web, storage: dict[str, Any]
) -> None:
    site.replies["/a"] = Reply(headers={"Cache-Control": "private, max-age=600"})
    with make() as web:
        web.fetch(f"{site.url}/a")
        assert web.fetch(f"{site.url}/a").cache_hit is not bool(storage)
    assert stored(make) == (0 if storage else 1)


FAILURES = [Reply("", "500 Oops"), Reply("", "503 Busy"), Reply("", "504 Late"), None]


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(
    ("control", "is_used"),
    [
        ("max-age=0, stale-if-error=600", True),
        ("max-age=0", False),
        ("max-age=0, stale-if-error=600, must-revalidate", False),
        ("no-cache, stale-if-error=600", False),
        ("max-age=0, stale-if-error=soon", False),
    ],
)
def test_an_expired_page_replaces_an_outage_only_where_the_site_allows_it(
    site: Site,
    make: Web,
    monkeypatch: pytest.MonkeyPatch,
    failure: Reply,
    control: str,
    is_used: bool,
) -> None:
    monkeypatch.setattr("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0)
    site.replies["/a"] = Reply(headers={"ETag": '"1"', "Cache-Control": control})
    with make() as web:
        first = web.fetch(f"{site.url}/a").pages[0]
        if failure is None:
            site.__exit__(None, None, None)
        else:
            site.replies["/a"] = failure
        if not is_used:
            with pytest.raises(Exception, match="127"):
                web.fetch(f"{site.url}/a")
            return
        for _ in range(2):  # it is not stored as a fresh one
            response = web.fetch(f"{site.url}/a")
            [page] = response.pages
            assert (page.text, page.stale_seconds is None) == (first.text, False)
            assert len(response.warnings) == 1


def test_a_page_that_is_gone_is_an_error_whatever_is_cached(site: Site, make: Web) -> None:
    control = "max-age=0, stale-if-error=600"
    site.replies["/a"] = Reply(headers={"ETag": '"1"', "Cache-Control": control})
    with make() as web:
        web.fetch(f"{site.url}/a")
        site.replies["/a"] = Reply("", "410 Gone")
        with pytest.raises(ProviderError):
            web.fetch(f"{site.url}/a")


def test_validators_go_to_the_url_that_sent_them_and_an_unasked_304_is_an_error(
    site: Site, make: Web
) -> None:
    site.replies["/a"] = Reply("", "302 Found", {"Location": "/b"})
    site.replies["/b"] = Reply(headers={"ETag": '"b"', "Cache-Control": "no-cache"})
    site.replies["/c"] = Reply("", "304 Not Modified", {"ETag": '"b"'})
    with make() as web:
        web.fetch(f"{site.url}/a")
        web.fetch(f"{site.url}/a")
        sent = [(path, request.get("if-none-match")) for path, request in site.asked]
        assert sent == [("/a", None), ("/b", None), ("/a", None), ("/b", '"b"')]
        site.replies["/a"] = Reply("", "302 Found", {"Location": "/c"})
        with pytest.raises(ProviderError):
            web.fetch(f"{site.url}/a")
    assert site.asked[-1][1].get("if-none-match") is None


def test_validators_that_could_split_a_request_are_not_sent() -> None:
    for value in ('"a"\r\nX: y', "", " ", "\x00", '"a"\n', "é", "a" * 600):
        kept = Validators.of_headers({"etag": value}, "https://a.example/")
        assert not kept.conditions("https://a.example/")
        tampered = Validators(url="https://a.example/", headers={"etag": value[:400]})
        sent = tampered.conditions("https://a.example/")
        assert all("\n" not in text and "\r" not in text for text in sent.values())
