"""Calls as they were recorded: Tavily and Wikipedia, blocking and async."""

# ruff: noqa: E501  the expectations are as inline-snapshot writes them, also after `make record`

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inline_snapshot import snapshot
from playing import Play, failed, plays

from webtools.errors import AuthenticationError, BadRequestError, ProviderError, QuotaError
from webtools.results import SearchResult


def lines(results: Sequence[SearchResult]) -> list[tuple[Any, ...]]:
    """Show results in short: date, score, title, URL, the snippet's beginning."""
    return [
        (f"{r.published_at or ''}", round(r.score, 2), r.title, r.url, r.snippet[:40])
        for r in results
    ]


# --- Tavily ------------------------------------------------------------------------------------


@plays("tavily-search")
def test_tavily_search(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "",
                0.99,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have borrowed s",
            ),
            (
                "",
                0.59,
                "news.example",
                "https://news.example/2026/04/untitled-photo-page.html",
                "Photographs from the opening of the seed",
            ),
            (
                "",
                0.34,
                "zipfile — Read and write ZIP files",
                "https://docs.example/library/zipfile.html",
                "A zip bomb is a small archive that becom",
            ),
            (
                "",
                0.99,
                "Lake below the Torvik glacier drains overnight, villages were warned in time",
                "https://news.example/2026/07/glacier-lake.html",
                "A lake below the Torvik glacier drained ",
            ),
            (
                "",
                0.33,
                "From phones to probes: the database that fits in one file",
                "https://news.example/2026/08/sqlite-everywhere.html",
                "SQLite is in every phone, in aircraft an",
            ),
        ]
    )
    assert (response.cost_usd, response.cost_is_estimate) == (0.016, True)


@plays("tavily-search-filtered")
def test_tavily_applies_all_filters_itself(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03 10:20:00+00:00",
                0.99,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have borrowed s",
            )
        ]
    )
    assert set(response.filters.values()) == {"native"}


@plays("tavily-search-german")
def test_tavily_takes_a_country_and_sends_pages_along(play: Play) -> None:
    response = play()
    [hit] = response.results
    assert hit.content.text.startswith("# Northrop seed archive")
    assert response.filters == {"country": "native", "content": "native"}
    assert response.cost_usd == 0.008


@plays("tavily-search-keyless")
def test_tavily_without_a_key_is_asked_again_and_free(play: Play) -> None:
    response = play()
    assert len(response.results) == 3
    assert (response.cost_usd, response.cost_is_estimate) == (0.0, False)


@plays("tavily-search-wrong-key")
def test_tavily_with_a_wrong_key(play: Play) -> None:
    assert failed(play)[:2] == (AuthenticationError, 401)


@plays("tavily-search-no-credit")
def test_tavily_over_the_limit_of_the_plan(play: Play) -> None:
    assert failed(play) == (
        QuotaError,
        432,
        snapshot(
            'Tavily API returned HTTP 432: This request exceeds your plan\'s set usage limit. Top up the account of provider "tavily" or use another provider.'
        ),
    )


@plays("tavily-search-invalid")
def test_tavily_with_an_impossible_limit(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        400,
        snapshot(
            "Tavily API returned HTTP 400: max_results: Input should be greater than or equal to 0, received -1. Change the request; the same one will fail again."
        ),
    )


@plays("tavily-contents")
def test_tavily_reads_pages_and_says_which_failed(play: Play) -> None:
    response = play()
    assert [(page.url, page.title, page.text, page.error) for page in response.pages] == snapshot(
        [
            (
                "https://news.example/2026/05/seed-archive.html",
                "Northrop seed archive lends its first seeds to farmers",
                """\
# Northrop seed archive lends its first seeds to farmers

Farmers in the dry south have borrowed seeds from the\
""",
                None,
            ),
            ("https://docs.example/gone.html", None, None, "Failed to fetch url"),
            (
                "https://news.example/2026/08/bee-census.html",
                "Volunteers count wild bees: fewer kinds, more of each",
                """\
# Volunteers count wild bees: fewer kinds, more of each

Eleven thousand volunteers counted wild bees in July. They\
""",
                None,
            ),
        ]
    )
    assert response.warnings == snapshot(
        [
            "https://news.example/2026/05/seed-archive.html: the first 111 of 347 characters.",
            "https://news.example/2026/08/bee-census.html: the first 115 of 284 characters.",
        ]
    )
    assert response.cost_usd == 0.008


@plays("tavily-contents-all-failed")
def test_tavily_where_no_page_could_be_had(play: Play) -> None:
    assert failed(play) == (
        ProviderError,
        None,
        snapshot(
            "The page could not be fetched: https://docs.example/gone.html: Failed to fetch url. Check the URLs or try other ones."
        ),
    )


# --- Wikipedia ---------------------------------------------------------------------------------


@plays("wikipedia-search")
def test_wikipedia_ranks_pages_by_their_index(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "",
                1.0,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have borrowed s",
            ),
            (
                "",
                0.67,
                "https://news.example/2026/04/untitled-photo-page.html",
                "https://news.example/2026/04/untitled-photo-page.html",
                "Photographs from the opening of the seed",
            ),
            (
                "",
                0.33,
                "zipfile — Read and write ZIP files",
                "https://docs.example/library/zipfile.html",
                "Read and write ZIP files. XXX references",
            ),
            (
                "",
                1.0,
                "Lake below the Torvik glacier drains overnight, villages were warned in time",
                "https://news.example/2026/07/glacier-lake.html",
                "A lake below the Torvik glacier drained ",
            ),
            (
                "",
                0.5,
                "From phones to probes: the database that fits in one file",
                "https://news.example/2026/08/sqlite-everywhere.html",
                "SQLite is in every phone, in aircraft an",
            ),
        ]
    )
    assert (response.cost_usd, response.errors) == (0.0, [])


@plays("wikipedia-search-filtered")
def test_wikipedia_leaves_filters_to_us(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "",
                1.0,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have borrowed s",
            )
        ]
    )
    assert response.filters == snapshot(
        {
            "include_domains": "local",
            "start_published_date": "local",
            "end_published_date": "local",
            "category": "unsupported",
        }
    )
    assert response.warnings == snapshot(
        [
            'Filter category is not supported by provider "wikipedia" and was not applied.',
            "1 result carries no date, so the date filter could not check it.",
        ]
    )


@plays("wikipedia-search-page")
def test_wikipedia_has_pages_of_results(play: Play) -> None:
    response = play()
    assert [hit.title for hit in response.results] == snapshot(
        ["https://news.example/2026/04/untitled-photo-page.html"]
    )
    assert response.filters == {"page": "native"}


@plays("wikipedia-search-invalid")
def test_wikipedia_says_errors_with_http_200(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        200,
        snapshot(
            'Wikipedia API error: Unrecognized value for parameter "gsrlimit": -1. Change the request; the same one will fail again.'
        ),
    )
