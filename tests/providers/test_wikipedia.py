"""Wikipedia: requests, the order of pages, and errors with HTTP 200."""

from __future__ import annotations

from itertools import product
from string import ascii_lowercase
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import offline
import pytest
from offline import answer, detached, drive

from webtools import __version__
from webtools._internal.operations.search import search
from webtools.errors import (
    ResponseFormatError,
)
from webtools.providers import wikipedia
from webtools.providers.protocols import SearchQuery

ACCOUNT = offline.accounts({"name": "wiki", "type": "wikipedia"}).accounts[0]
QUERY = SearchQuery("rust async", limit=3)


def page(index: Any, name: str) -> dict[str, Any]:
    return {"index": index, "title": name, "fullurl": f"https://w.example/{name}", "extract": name}


def test_the_user_agent_says_who_asks() -> None:
    sent = wikipedia.search_request(QUERY, ACCOUNT).headers["user-agent"]
    assert sent.startswith(f"agent-webtools/{__version__} (")
    entry = {"name": "w", "type": "wikipedia", "options": {"contact": "ops@a.example"}}
    account = offline.accounts(entry).accounts[0]
    sent = wikipedia.search_request(QUERY, account).headers["user-agent"]
    assert sent == f"agent-webtools/{__version__} (ops@a.example)"


def test_a_language_has_its_wiki() -> None:
    query = SearchQuery("q", 3, language="nb")
    assert wikipedia.search_request(query, ACCOUNT).url.startswith("https://no.wikipedia.org/w/")
    assert "language" in wikipedia.native_filters(query, ACCOUNT)
    entry = {"name": "w", "type": "wikipedia", "baseUrl": "https://wiki.example"}
    other = offline.accounts(entry).accounts[0]
    assert wikipedia.search_request(query, other).url.startswith("https://wiki.example/w/")
    assert "language" not in wikipedia.native_filters(query, other)


def test_a_language_without_a_wiki_is_no_host_name() -> None:
    hosts: set[str] = set()
    for letters in product(ascii_lowercase, repeat=2):
        query = SearchQuery("q", 3, language="".join(letters))
        url = wikipedia.search_request(query, ACCOUNT).url
        is_native = "language" in wikipedia.native_filters(query, ACCOUNT)
        assert is_native or url.startswith("https://en.wikipedia.org/")
        hosts.add(url.split("/")[2])
    assert {"de.wikipedia.org", "no.wikipedia.org"} < hosts
    assert "qz.wikipedia.org" not in hosts
    assert len(hosts) < 200


def test_pages_of_results_are_the_wiki_s_unless_results_are_thinned_out_here() -> None:
    def offset(query: SearchQuery) -> str | None:
        url = wikipedia.search_request(query, ACCOUNT).url
        return dict(parse_qsl(urlsplit(url).query)).get("gsroffset")

    assert offset(SearchQuery("q", 5, page=3)) == "10"
    assert offset(SearchQuery("q", 5, page=1)) is None
    thinned = SearchQuery("q", 5, page=3, exclude_domains=("a.example",))
    assert offset(thinned) is None
    assert "page" not in wikipedia.native_filters(thinned, ACCOUNT)


def test_pages_are_ranked_by_their_index_and_urls_are_the_api_s() -> None:
    pages = [page(2, "second"), page("odd", "unranked"), page(1, "first")]
    response = drive(search([ACCOUNT], [QUERY], detached()), answer({"query": {"pages": pages}}))
    assert [result.url for result in response.results] == [
        f"https://w.example/{name}" for name in ("first", "second", "unranked")
    ]
    assert response.results[0].snippet == "first"
    assert response.cost_usd == 0


def test_no_hits_are_an_answer_and_no_answer_is_an_error() -> None:
    nothing = drive(search([ACCOUNT], [QUERY], detached()), answer({"batchcomplete": True}))
    assert nothing.results == []
    with pytest.raises(ResponseFormatError):
        drive(search([ACCOUNT], [QUERY], detached()), answer({"something": "else"}))
