"""What a session and its tape have in common: numbers, and calls that were not made."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tape_files import search_line, write_tape

from webtools import Session, WebTools

BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])


def texts(session: Session, queries: list[str], *, is_async: bool) -> dict[str, str]:
    """Return the text of a search for each query, made one after the other."""
    arguments: list[dict[str, Any]] = [{"queries": [query], "limit": 2} for query in queries]

    async def search() -> list[str]:
        return [(await session.acall_tool("web_search", each)).text for each in arguments]

    if is_async:
        return dict(zip(queries, asyncio.run(search()), strict=True))
    results = [session.call_tool("web_search", each).text for each in arguments]
    return dict(zip(queries, results, strict=True))


@BOTH
def test_a_replay_in_another_order_has_the_recorded_numbers(
    web: WebTools, unconfigured: WebTools, tape: Path, is_async: bool
) -> None:
    queries = ["zip file", "json", "csv"]
    with web.session(record=tape) as session:
        recorded = texts(session, queries, is_async=is_async)
        sources = session.sources
    for order in (queries, queries[::-1], ["json", "csv", "zip file"]):
        replay = unconfigured.session(replay=tape)
        assert texts(replay, order, is_async=is_async) == recorded
        assert replay.sources == sources


def test_sessions_that_share_a_tape_keep_their_own_numbers(
    web: WebTools, unconfigured: WebTools, tape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBTOOLS_RECORD", str(tape))
    recorded = [texts(web.session(), [query], is_async=False) for query in ("zip", "json")]
    monkeypatch.setenv("WEBTOOLS_RECORD", "")
    monkeypatch.setenv("WEBTOOLS_REPLAY", str(tape))
    replays = [texts(unconfigured.session(), [query], is_async=False) for query in ("zip", "json")]
    assert replays == recorded


def test_two_sources_never_have_one_number(unconfigured: WebTools, tape: Path) -> None:
    lines = [
        search_line(name, f"https://{name}.example/") | {"numbers": {f"https://{name}.example/": 3}}
        for name in ("a", "b", "c")
    ]
    session = unconfigured.session(replay=write_tape(tape, *lines))
    for name in ("b", "c", "a"):
        session.search(name)
    assert [source.number for source in session.sources] == [3, 4, 5]
    assert session.sources[0].url == "https://b.example/"
