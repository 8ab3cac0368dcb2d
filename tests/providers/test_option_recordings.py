"""Recorded calls with options of a search, and with passages and pages that a provider chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import offline
import pytest
from inline_snapshot import snapshot
from test_recordings import failed, plays

from webtools.errors import AuthenticationError, ProviderError, QuotaError
from webtools.providers import PROVIDERS, exa
from webtools.providers.protocols import PageQuery, SearchQuery
from webtools.results import Page

Play = Callable[[], Any]
URL = "https://a.example/"


def passages(page: Page | None) -> tuple[list[str], str | None]:
    """Show the passages of a page, each by its beginning, and who chose them."""
    assert page is not None
    assert all(each.url == page.url for each in page.passages or ())
    return [each.text[:40] for each in page.passages or ()], page.passages_by


@plays("exa-contents-question")
def test_exa_chooses_passages_for_a_question(play: Play) -> None:
    response = play()
    seeds, gone, bees = response.pages
    assert passages(seeds) == snapshot(
        (
            [
                "Farmers in the dry south have borrowed s",
                "They promise to return twice the amount ",
                "The loan covers eleven old kinds of barl",
            ],
            "exa",
        )
    )
    assert passages(bees)[1] == "exa"
    assert seeds.text is None
    assert seeds.highlights == []
    assert gone.error == "CRAWL_NOT_FOUND (HTTP 404)"
    assert response.cost_usd == 0.002


@plays("exa-search-similar")
def test_exa_finds_similar_pages_with_their_text(play: Play) -> None:
    response = play()
    found = [(hit.title, hit.score, hit.content.text[:40]) for hit in response.results]
    assert found == snapshot(
        [
            ("news.example", 0.99, "Photographs from the opening of the seed"),
            (
                "random — Random variable generators",
                0.985,
                """\
# random — Random variable generators

R\
""",
            ),
        ]
    )
    assert response.filters == {"content": "native", "similar": "native"}
    assert response.warnings == []


@plays("kagi-search-content")
def test_kagi_gives_pages_with_their_hits(play: Play) -> None:
    response = play()
    [first, *_] = response.results
    assert first.content.text.startswith("# Northrop seed archive")
    assert "\n" not in first.snippet
    assert first.content.passages is None
    assert response.filters == dict.fromkeys(
        ("country", "safe_search", "page", "content"), "native"
    )
    assert response.cost_usd == pytest.approx(0.012 + 2 * 0.004)


@plays("kagi-contents")
def test_kagi_extracts_pages_and_says_which_failed(play: Play) -> None:
    response = play()
    assert [(page.title, len(page.text or ""), page.error) for page in response.pages] == snapshot(
        [
            ("Northrop seed archive lends its first seeds to farmers", 111, None),
            (None, 0, "No data from crawlers"),
            ("Volunteers count wild bees: fewer kinds, more of each", 115, None),
        ]
    )
    assert response.cost_usd == pytest.approx(2 * 0.004)
    assert response.cost_is_estimate


@plays("kagi-contents-all-failed")
def test_that_no_page_could_be_extracted_is_an_error(play: Play) -> None:
    kind, _, message = failed(play)
    assert kind is ProviderError
    assert "No data from crawlers" in message


@plays("kagi-contents-wrong-key")
def test_kagi_extract_with_a_wrong_key(play: Play) -> None:
    kind, status, message = failed(play)
    assert (kind, status) == (AuthenticationError, 400)
    assert message.endswith("pages need a v1 key.")


@plays("kagi-contents-no-credit")
def test_kagi_extract_without_credit(play: Play) -> None:
    assert failed(play)[:2] == snapshot((QuotaError, 402))


@plays("brave-search-context")
def test_brave_chooses_passages_of_its_hits(play: Play) -> None:
    response = play()
    first = response.results[0]
    assert passages(first.content) == snapshot(
        (["Farmers in the dry south have borrowed s"], "brave")
    )
    assert first.snippet
    assert (f"{first.published_at}", first.content.text) == snapshot(
        ("2026-05-03 00:00:00+00:00", None)
    )
    assert response.filters == {"content": "native"}
    assert response.cost_usd == 0.005


@plays("brave-search-german")
def test_brave_takes_country_language_and_page(play: Play) -> None:
    response = play()
    assert response.filters == dict.fromkeys(("country", "language", "page"), "native")
    assert response.warnings == []


# --- what no recording shows -------------------------------------------------------------------


def found_by(kind: str, body: Any, **wanted: Any) -> list[Any]:
    provider = PROVIDERS[kind].search
    assert provider is not None
    query = SearchQuery("q", 3, content=True, **wanted)
    return provider.read_search(offline.answer(body), query, offline.account(kind)).results


def test_structured_data_is_no_passage() -> None:
    snippets = ['{"@type": "Thing"}', "{braces in prose", "Text."]
    items = [{"url": "https://a.example/", "title": "A", "snippets": snippets}]
    [hit] = found_by("brave", {"grounding": {"generic": items}, "sources": {}})
    assert passages(hit.content) == (["{braces in prose", "Text."], "my-brave")
    assert hit.snippet == "{braces in prose"


def test_a_hit_of_kagi_without_a_page_has_no_content() -> None:
    items = [{"url": f"https://a.example/{n}", "title": "A", "snippet": None} for n in range(2)]
    assert [hit.content for hit in found_by("kagi", {"data": {"search": items}})] == [None, None]


def test_passages_that_do_not_fit_are_left_out_whole() -> None:
    highlights = ["A first one. ... " + "x" * 30 + " ... Last."]
    body = {"results": [{"id": URL, "url": URL, "highlights": highlights}]}
    query = PageQuery((URL,), text=False, question="q", passage_characters=20)
    [page] = exa.read_pages(offline.answer(body), query, offline.account("exa")).pages
    assert passages(page) == (["A first one."], "my-exa")
