"""Calls as they were recorded: Brave, Perplexity and Context7, blocking and async."""

# ruff: noqa: E501  the expectations are as inline-snapshot writes them, also after `make record`

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inline_snapshot import snapshot
from playing import Play, failed, plays

from webtools.errors import AuthenticationError, BadRequestError, QuotaError
from webtools.results import SearchResult


def lines(results: Sequence[SearchResult]) -> list[tuple[Any, ...]]:
    """Show results in short: date, author, score, title, URL, the snippet's beginning."""
    return [
        (f"{r.published_at or ''}", r.author, round(r.score, 2), r.title, r.url, r.snippet[:40])
        for r in results
    ]


# --- Brave -------------------------------------------------------------------------------------


@plays("brave-search")
def test_brave_search(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03 10:20:00+00:00",
                "Petra Lund",
                1.0,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have borrowed s",
            ),
            (
                "",
                None,
                0.67,
                "https://news.example/2026/04/untitled-photo-page.html",
                "https://news.example/2026/04/untitled-photo-page.html",
                "Photographs from the opening of the seed",
            ),
            (
                "",
                "Lars Gustäbel (lars@gustaebel.de)",
                0.33,
                "tarfile — Read from and write to tar format archives",
                "https://docs.example/library/tarfile.html",
                "Informational class which holds the deta",
            ),
            (
                "2026-07-14 04:40:00+00:00",
                "Sven Abara",
                1.0,
                "Lake below the Torvik glacier drains overnight, villages were warned in time",
                "https://news.example/2026/07/glacier-lake.html",
                "A lake below the Torvik glacier drained ",
            ),
            (
                "2026-08-03 12:00:00+00:00",
                "Mira Oyelaran",
                0.5,
                "From phones to probes: the database that fits in one file",
                "https://news.example/2026/08/sqlite-everywhere.html",
                "SQLite is in every phone, in aircraft an",
            ),
        ]
    )
    assert (response.cost_usd, response.cost_is_estimate) == snapshot((0.01, True))


@plays("brave-search-filtered")
def test_brave_search_filtered(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03 10:20:00+00:00",
                None,
                1.0,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have borrowed s",
            )
        ]
    )
    assert response.filters == snapshot(
        {
            "include_domains": "native",
            "start_published_date": "native",
            "end_published_date": "native",
            "category": "native",
        }
    )
    assert response.warnings == snapshot([])


@plays("brave-search-invalid")
def test_brave_search_invalid(play: Play) -> None:
    assert failed(play) == snapshot(
        (
            BadRequestError,
            422,
            "Brave API returned HTTP 422: Unable to validate request parameter(s), query.country: Input should be one of ALL, AR, AT, AU, BE, BR, CA, CH, CL, CN, DE, DK, ES, FI, FR, GB, HK, ID, IN, IT, JP, KR, MX, MY, NL, NO, NZ, PH, PL, PT, RU, SA, SE, TR, TW, US, ZA. Change the request; the same one will fail again.",
        )
    )


@plays("brave-search-rate-limited")
def test_brave_search_rate_limited(play: Play) -> None:
    assert lines(play().results) == snapshot(
        [
            (
                "2026-07-14 04:40:00+00:00",
                "Sven Abara",
                1.0,
                "Lake below the Torvik glacier drains overnight, villages were warned in time",
                "https://news.example/2026/07/glacier-lake.html",
                "A lake below the Torvik glacier drained ",
            )
        ]
    )


@plays("brave-search-wrong-key")
def test_brave_search_wrong_key(play: Play) -> None:
    assert failed(play) == snapshot(
        (
            AuthenticationError,
            422,
            'Brave API returned HTTP 422: The provided subscription token is invalid. Check the API key of provider "brave".',
        )
    )


@plays("brave-search-no-credit")
def test_brave_search_no_credit(play: Play) -> None:
    assert failed(play) == snapshot(
        (
            QuotaError,
            429,
            'Brave API returned HTTP 429: Request quota limit exceeded for plan. Top up the account of provider "brave" or use another provider.',
        )
    )


# --- Perplexity --------------------------------------------------------------------------------


@plays("perplexity-search")
def test_perplexity_search(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03 00:00:00+00:00",
                None,
                1.0,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
                "# Northrop seed archive lends its first ",
            ),
            (
                "",
                None,
                0.67,
                "news.example",
                "https://news.example/2026/04/untitled-photo-page.html",
                "# Photographs from the opening of the se",
            ),
            (
                "",
                None,
                0.33,
                "tarfile — Read from and write to tar format archives",
                "https://docs.example/library/tarfile.html",
                "",
            ),
            (
                "2026-07-14 00:00:00+00:00",
                None,
                1.0,
                "Lake below the Torvik glacier drains overnight, villages were warned in time",
                "https://news.example/2026/07/glacier-lake.html",
                "# Lake below the Torvik glacier drains o",
            ),
            (
                "2026-08-03 00:00:00+00:00",
                None,
                0.5,
                "From phones to probes: the database that fits in one file",
                "https://news.example/2026/08/sqlite-everywhere.html",
                "# From phones to probes: the database th",
            ),
        ]
    )
    assert (response.cost_usd, response.cost_is_estimate) == snapshot((0.01, True))


@plays("perplexity-search-filtered")
def test_perplexity_search_filtered(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03 00:00:00+00:00",
                None,
                1.0,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
                "# Northrop seed archive lends its first ",
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
    assert response.warnings == snapshot(
        ['Filter category is not supported by provider "perplexity" and was not applied.']
    )


@plays("perplexity-search-invalid")
def test_perplexity_search_invalid(play: Play) -> None:
    assert failed(play) == snapshot(
        (
            BadRequestError,
            400,
            "Perplexity API returned HTTP 400: validation failed: max_results must be between 1 and 20 (invalid_request). Change the request; the same one will fail again.",
        )
    )


@plays("perplexity-search-wrong-key")
def test_perplexity_search_wrong_key(play: Play) -> None:
    assert failed(play) == snapshot(
        (
            AuthenticationError,
            401,
            'Perplexity API returned HTTP 401: Invalid API key provided (invalid_api_key). Check the API key of provider "perplexity".',
        )
    )


@plays("perplexity-search-no-credit")
def test_perplexity_search_no_credit(play: Play) -> None:
    assert failed(play) == snapshot(
        (
            QuotaError,
            402,
            'Perplexity API returned HTTP 402: You have run out of credits (insufficient_quota). Top up the account of provider "perplexity" or use another provider.',
        )
    )


@plays("perplexity-synthesis")
def test_perplexity_synthesis(play: Play) -> None:
    found = play()
    assert found.text == snapshot("Vellmouth opened its tidal pool on Saturday [1].")
    assert (found.cost.usd, found.cost.is_estimate) == snapshot((3.025e-05, False))
    assert found.warnings == snapshot([])


@plays("perplexity-synthesis-wrong-key")
def test_perplexity_synthesis_wrong_key(play: Play) -> None:
    assert failed(play) == snapshot(
        (
            AuthenticationError,
            401,
            'Perplexity API returned HTTP 401: Invalid API key provided (invalid_api_key). Check the API key of provider "perplexity".',
        )
    )


@plays("perplexity-synthesis-no-credit")
def test_perplexity_synthesis_no_credit(play: Play) -> None:
    assert failed(play) == snapshot(
        (
            QuotaError,
            402,
            'Perplexity API returned HTTP 402: You have run out of credits (insufficient_quota). Top up the account of provider "perplexity" or use another provider.',
        )
    )


# --- Context7 ----------------------------------------------------------------------------------


@plays("context7-docs")
def test_context7_docs(play: Play) -> None:
    found = play()
    assert lines(found.results) == snapshot(
        [
            (
                "",
                None,
                1.0,
                "json.decoder — Implementation of JSONDecoder > class json.decoder.JSONDecoder",
                "https://docs.example/library/json.decoder.html",
                "Simple JSON <https://json.org> decoder P",
            )
        ]
    )
    assert (found.cost.usd, found.cost.is_estimate) == snapshot((0.0, True))


@plays("context7-docs-moved")
def test_context7_docs_moved(play: Play) -> None:
    assert lines(play().results) == snapshot(
        [
            (
                "",
                None,
                1.0,
                "class unittest.mock.AsyncMock",
                "https://docs.example/library/unittest.mock.html#_snippet_28",
                "Enhance :class:`Mock` with features allo",
            )
        ]
    )


@plays("context7-docs-lost-version")
def test_context7_docs_lost_version(play: Play) -> None:
    found = play()
    assert lines(found.results) == snapshot(
        [
            (
                "",
                None,
                1.0,
                "json — JSON (JavaScript Object Notation) <https://json.org> is a subset of JavaScript syntax > json.dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None, separators=None, default=None, sort_keys=False, **kw)",
                "https://docs.example/library/json.html",
                "Serialize ``obj`` to a JSON formatted ``",
            )
        ]
    )
    assert found.warnings == snapshot(
        [
            "Context7 has no version v2.7 of /python/json, so the snippets are of its default version."
        ]
    )


@plays("context7-docs-wrong-key")
def test_context7_docs_wrong_key(play: Play) -> None:
    assert failed(play) == snapshot(
        (
            AuthenticationError,
            401,
            "Context7 API returned HTTP 401: Invalid API key. API keys start with the prefix 'ctx7sk'. Check the API key of provider \"context7\".",
        )
    )


@plays("context7-docs-no-credit")
def test_context7_docs_no_credit(play: Play) -> None:
    assert failed(play) == snapshot(
        (
            QuotaError,
            402,
            'Context7 API returned HTTP 402: The monthly spending limit of the team is reached. Top up the account of provider "context7" or use another provider.',
        )
    )
