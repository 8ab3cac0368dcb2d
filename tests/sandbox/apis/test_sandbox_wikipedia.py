"""The imitated Action API of MediaWiki: what is particular to its answers."""

from __future__ import annotations

from typing import Any

import pytest
from sandbox_caller import Desk, MakeDesk

from webtools_sandbox.apis.wikipedia import WikipediaApi

QUERY = {"action": "query", "format": "json", "formatversion": "2", "generator": "search"}


@pytest.fixture
def wiki(desk: MakeDesk) -> Desk:
    return desk(WikipediaApi).with_key(None)


def answer(wiki: Desk, words: str, **more: Any) -> dict[str, Any]:
    response = wiki.get("/w/api.php", **{**QUERY, "gsrsearch": words, **more})
    return dict(response.json())


def test_pages_come_by_number_with_their_rank_beside(wiki: Desk) -> None:
    found = answer(
        wiki, "secure tokens", prop="info|extracts", inprop="url", exchars="200", gsrlimit="3"
    )
    pages = found["query"]["pages"]
    numbers = [page["pageid"] for page in pages]
    assert numbers == sorted(numbers)
    assert sorted(page["index"] for page in pages) == [1, 2, 3]
    [first] = [page for page in pages if page["index"] == 1]
    assert first["fullurl"] == "https://docs.example/library/secrets.html"
    assert 0 < len(first["extract"]) <= 201
    assert found["continue"]["gsroffset"] == 3


def test_extracts_are_for_the_first_pages_and_urls_for_who_asks(wiki: Desk) -> None:
    found = answer(wiki, "python", gsrlimit="max", exlimit="max", prop="extracts")
    pages = found["query"]["pages"]
    assert len(pages) > 20
    assert sum("extract" in page for page in pages) == 20
    assert not any("fullurl" in page for page in pages)


def test_nothing_found_is_an_answer_without_a_query(wiki: Desk) -> None:
    assert answer(wiki, "qqqqzzzz") == {"batchcomplete": True}
