"""Calls as they were recorded: Linkup, blocking and async."""

# ruff: noqa: E501  the expectations are as inline-snapshot writes them, also after `make record`

from __future__ import annotations

from inline_snapshot import snapshot
from playing import Play, failed, lines, plays

from webtools.errors import AuthenticationError, BadRequestError, QuotaError

# --- Linkup ------------------------------------------------------------------------------------


@plays("linkup-search")
def test_linkup_search_where_a_query_finds_nothing(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "",
                "Northrop seed archive lends it",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have ",
            ),
            (
                "",
                "https://news.example/2026/04/u",
                "https://news.example/2026/04/untitled-photo-page.html",
                "Photographs from the opening o",
            ),
            (
                "",
                "zipfile — Read and write ZIP f",
                "https://docs.example/library/zipfile.html",
                "A zip bomb is a small archive ",
            ),
            (
                "",
                "Lake below the Torvik glacier ",
                "https://news.example/2026/07/glacier-lake.html",
                "A lake below the Torvik glacie",
            ),
            (
                "",
                "From phones to probes: the dat",
                "https://news.example/2026/08/sqlite-everywhere.html",
                "SQLite is in every phone, in a",
            ),
        ]
    )
    assert (response.errors, response.cost_usd) == ([], 0.01)


@plays("linkup-search-filtered")
def test_linkup_applies_domains_and_dates(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "",
                "Northrop seed archive lends it",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have ",
            )
        ]
    )
    assert response.filters == snapshot(
        {
            "include_domains": "native",
            "start_published_date": "native",
            "end_published_date": "native",
            "category": "unsupported",
        }
    )


@plays("linkup-search-rate-limited")
def test_linkup_is_tried_again_after_too_many_requests(play: Play) -> None:
    assert len(play().results) == 1


@plays("linkup-search-wrong-key")
def test_linkup_with_a_wrong_key(play: Play) -> None:
    assert failed(play)[:2] == (AuthenticationError, 401)


@plays("linkup-search-no-credit")
def test_linkup_out_of_credit_which_it_answers_with_429(play: Play) -> None:
    assert failed(play) == (
        QuotaError,
        429,
        snapshot(
            'Linkup API returned HTTP 429: Insufficient credits. Top up the account of provider "linkup" or use another provider.'
        ),
    )


@plays("linkup-search-invalid")
def test_linkup_says_which_field_is_wrong(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        400,
        snapshot(
            "Linkup API returned HTTP 400: Validation failed, maxResults: Input should be greater than or equal to 1, received -1. Change the request; the same one will fail again."
        ),
    )
