"""An odd value in a response drops its field or its hit, with a warning, never the response.

Every field of every kind of item is replaced by values of all other kinds, in one item of twenty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import offline
import pytest
from offline import IO, Clock, Stub, answer, detached, run

from webtools._internal.operations.fetch import fetch
from webtools._internal.operations.search import search
from webtools.errors import ResponseFormatError
from webtools.providers.protocols import DocsQuery, PageQuery, SearchQuery
from webtools.testing.provider_calls import CALLS

COUNT = 20
ODD_AT = 7
URLS = tuple(f"https://a{n}.example/page" for n in range(COUNT))
QUERY = SearchQuery("q", COUNT)
NEWS = SearchQuery("q", COUNT, category="news")


@dataclass(frozen=True)
class Answered:
    """What came out of a call: how many items, and what was said of them."""

    count: int
    warnings: list[str]


@dataclass(frozen=True)
class Kind:
    """A kind of item of an answer: one with all its fields, and the call that has twenty of it."""

    item: Callable[[str], dict[str, Any]]
    call: Callable[[list[Any]], Answered]


def search_call(
    kind: str, wrap: Callable[[list[Any]], Any], query: SearchQuery = QUERY, **options: Any
) -> Callable[[list[Any]], Answered]:
    def call(items: list[Any]) -> Answered:
        account = offline.account(kind, options=options)
        response = run(search([account], [query], detached()), Stub(answer(wrap(items))))
        return Answered(len(response.results), response.warnings)

    return call


def fetch_call(items: list[Any]) -> Answered:
    query = PageQuery(URLS, highlights=True, summary=True)
    response = run(
        fetch([offline.account("exa")], query, detached()), Stub(answer({"results": items}))
    )
    return Answered(sum(page.error is None for page in response.pages), response.warnings)


def docs_call(field: str) -> Callable[[list[Any]], Answered]:
    def call(items: list[Any]) -> Answered:
        _, look_up = CALLS["docs"]
        flow = look_up(offline.account("context7"), DocsQuery("/acme/widget q", COUNT), IO)
        response = run(flow, Stub(answer({field: items})))
        return Answered(len(response.results), response.warnings)

    return call


def synthesis_call(items: list[Any]) -> Answered:
    query, synthesize = CALLS["synthesize"]
    flow = synthesize(offline.account("perplexity"), query, IO)
    response = run(flow, Stub(answer({"status": "completed", "output": items})))
    return Answered(response.text.count("word"), response.warnings)


def exa_hit(url: str) -> dict[str, Any]:
    return {
        "id": url,
        "url": url,
        "title": "A",
        "publishedDate": "2026-01-02",
        "author": "B",
        "score": 0.5,
        "highlights": ["a"],
    }


def brave_hit(url: str) -> dict[str, Any]:
    return {
        "title": "A",
        "url": url,
        "description": "a",
        "extra_snippets": ["b"],
        "page_age": "2026-01-02T03:04:05",
        "age": "2 days ago",
        "article": {"author": [{"name": "B"}], "date": "2026-01-02"},
    }


def kagi_hit(url: str) -> dict[str, Any]:
    return {"url": url, "title": "A", "snippet": "a", "time": "2026-01-02T00:00:00Z"}


def kagi_v0_hit(url: str) -> dict[str, Any]:
    return {"t": 0, "url": url, "title": "A", "snippet": "a", "published": "2026-01-02T00:00:00Z"}


def perplexity_hit(url: str) -> dict[str, Any]:
    return {"title": "A", "url": url, "snippet": "a", "date": "2026-01-02"}


def page(url: str) -> dict[str, Any]:
    return {**exa_hit(url), "text": "text", "summary": "sum"}


def code(url: str) -> dict[str, Any]:
    return {
        "codeId": url,
        "codeTitle": "A",
        "codeDescription": "How",
        "codeLanguage": "python",
        "pageTitle": "P",
        "codeList": [{"language": "python", "code": "x = 1"}],
    }


def info(url: str) -> dict[str, Any]:
    return {"pageId": url, "breadcrumb": "A", "content": "text"}


def output(_url: str) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "output_text", "text": "word "}]}


KINDS = {
    "exa hit": Kind(exa_hit, search_call("exa", lambda items: {"results": items})),
    "exa page": Kind(page, fetch_call),
    "brave hit": Kind(
        brave_hit,
        search_call("brave", lambda items: {"web": {"results": items}}, extraSnippets=True),
    ),
    "brave news": Kind(brave_hit, search_call("brave", lambda items: {"results": items}, NEWS)),
    "kagi hit": Kind(kagi_hit, search_call("kagi", lambda items: {"data": {"search": items}})),
    "kagi v0 hit": Kind(
        kagi_v0_hit, search_call("kagi", lambda items: {"data": items}, searchApi="v0")
    ),
    "perplexity hit": Kind(
        perplexity_hit, search_call("perplexity", lambda items: {"results": items})
    ),
    "perplexity output": Kind(output, synthesis_call),
    "context7 code": Kind(code, docs_call("codeSnippets")),
    "context7 text": Kind(info, docs_call("infoSnippets")),
}
ODD: list[Any] = [5, True, 1.5, "\x00", "odd", ["odd"], [None], [[]], {}, {"odd": 1}]
# Kinds that are not known here are left out as documented, and what holds nothing is no snippet.
SOUND = [("type", "odd"), ("type", "\x00"), ("t", 5), ("content", "\x00")]


def items_of(kind: Kind) -> list[Any]:
    return [kind.item(url) for url in URLS]


FIELDS = [(name, field) for name, kind in KINDS.items() for field in kind.item(URLS[0])]


@pytest.fixture(autouse=True)
def _time_is_free(clock: Clock) -> None:
    """No test here waits for a retry."""


@pytest.mark.parametrize("name", KINDS)
def test_twenty_sound_items_come_without_a_warning(name: str) -> None:
    assert KINDS[name].call(items_of(KINDS[name])) == Answered(COUNT, [])


@pytest.mark.parametrize(("name", "field"), FIELDS)
def test_an_odd_value_drops_its_field_or_its_item_alone(name: str, field: str) -> None:
    for value in (value for value in ODD if (field, value) not in SOUND):
        items = items_of(KINDS[name])
        items[ODD_AT][field] = value
        result = KINDS[name].call(items)
        assert result.count in {COUNT - 1, COUNT}, value
        assert result.warnings or result.count == COUNT, value


@pytest.mark.parametrize("value", [None, 5, "odd", ["odd"], []])
@pytest.mark.parametrize("name", KINDS)
def test_an_item_that_is_not_an_object_is_dropped_alone(name: str, value: Any) -> None:
    items = items_of(KINDS[name])
    items[ODD_AT] = value
    result = KINDS[name].call(items)
    assert result.count == COUNT - 1
    assert len(result.warnings) == 1


@pytest.mark.parametrize("name", [name for name in KINDS if name != "perplexity output"])
def test_a_list_without_objects_is_a_format_error(name: str) -> None:
    with pytest.raises(ResponseFormatError):
        KINDS[name].call(["odd"] * COUNT)
