"""Calls as they were recorded: what comes out, blocking and async, of the same cassette."""

# ruff: noqa: E501  the expectations are as inline-snapshot writes them, also after `make record`

from __future__ import annotations

from typing import Any

from inline_snapshot import snapshot
from playing import Play, failed, plays
from recording import CASSETTES, SCENARIOS

from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    UnavailableError,
)
from webtools.results import FetchResponse, SearchResponse


def lines(response: SearchResponse) -> list[tuple[Any, ...]]:
    """Show results in short: date, author, score, title, URL."""
    return [
        (f"{r.published_at or ''}", r.author, round(r.score, 2), r.title, r.url)
        for r in response.results
    ]


def test_every_recorded_call_has_its_cassette_and_no_cassette_is_left_over() -> None:
    assert {path.stem for path in CASSETTES.glob("*.yaml")} == set(SCENARIOS)


# --- Exa ---------------------------------------------------------------------------------------


@plays("exa-search")
def test_exa_search(play: Play) -> None:
    response = play()
    assert lines(response) == snapshot(
        [
            (
                "2026-05-03 10:20:00+00:00",
                "Petra Lund",
                1.0,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
            ),
            (
                "",
                None,
                0.67,
                "news.example",
                "https://news.example/2026/04/untitled-photo-page.html",
            ),
            (
                "",
                "Lars Gustäbel (lars@gustaebel.de)",
                0.33,
                "tarfile — Read from and write to tar format archives",
                "https://docs.example/library/tarfile.html",
            ),
            (
                "2026-07-14 04:40:00+00:00",
                "Sven Abara",
                1.0,
                "Lake below the Torvik glacier drains overnight, villages were warned in time",
                "https://news.example/2026/07/glacier-lake.html",
            ),
            (
                "2026-08-03 12:00:00+00:00",
                "Mira Oyelaran",
                0.5,
                "From phones to probes: the database that fits in one file",
                "https://news.example/2026/08/sqlite-everywhere.html",
            ),
        ]
    )
    assert response.cost_usd == 0.014
    assert not response.cost_is_estimate
    assert not response.errors


@plays("exa-search-filtered")
def test_exa_search_filtered(play: Play) -> None:
    response = play()
    assert response.model_dump(mode="json") == snapshot(
        {
            "provider": "exa",
            "asked": [{"provider": "exa", "served": True, "reason": None}],
            "warnings": [],
            "cost_usd": 0.007,
            "cost_is_estimate": False,
            "cache_hit": False,
            "retrieved_at": None,
            "queries": ["seeds"],
            "results": [
                {
                    "title": "Northrop seed archive lends its first seeds to farmers",
                    "url": "https://news.example/2026/05/seed-archive.html",
                    "snippet": "Farmers in the dry south have borrowed seeds from the Northrop archive for the first time. ... They promise to return twice the amount after the harvest. ... The loan covers eleven old kinds of barley which need little water.",
                    "published_at": "2026-05-03T10:20:00Z",
                    "author": "Petra Lund",
                    "score": 1.0,
                    "source_provider": "exa",
                    "query": "seeds",
                    "content": None,
                }
            ],
            "errors": [],
            "filters": {
                "include_domains": "native",
                "start_published_date": "native",
                "end_published_date": "native",
                "category": "native",
            },
        }
    )


@plays("exa-search-overloaded")
def test_exa_search_is_tried_again_after_503(play: Play) -> None:
    assert lines(play()) == snapshot(
        [
            (
                "2026-07-14 04:40:00+00:00",
                "Sven Abara",
                1.0,
                "Lake below the Torvik glacier drains overnight, villages were warned in time",
                "https://news.example/2026/07/glacier-lake.html",
            )
        ]
    )


@plays("exa-search-wrong-key")
def test_exa_search_with_a_wrong_key(play: Play) -> None:
    assert failed(play) == (
        AuthenticationError,
        401,
        snapshot(
            'Exa API returned HTTP 401: Invalid API key (INVALID_API_KEY). Check the API key of provider "exa".'
        ),
    )


@plays("exa-search-no-credit")
def test_exa_search_out_of_credit(play: Play) -> None:
    assert failed(play) == (
        QuotaError,
        402,
        snapshot(
            'Exa API returned HTTP 402: You have exhausted your credits. Add credits at the dashboard to continue (NO_MORE_CREDITS). Top up the account of provider "exa" or use another provider.'
        ),
    )


@plays("exa-search-invalid")
def test_exa_search_for_too_many_results(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        400,
        snapshot(
            "Exa API returned HTTP 400: numResults: at most 100 results (NUM_RESULTS_EXCEEDED). Change the request; the same one will fail again."
        ),
    )


@plays("exa-contents")
def test_exa_contents_with_a_page_that_is_gone(play: Play) -> None:
    response: FetchResponse = play()
    assert response.model_dump(mode="json") == snapshot(
        {
            "provider": "exa",
            "asked": [{"provider": "exa", "served": True, "reason": None}],
            "warnings": [],
            "cost_usd": 0.004,
            "cost_is_estimate": False,
            "cache_hit": False,
            "retrieved_at": None,
            "pages": [
                {
                    "url": "https://news.example/2026/05/seed-archive.html",
                    "title": "Northrop seed archive lends its first seeds to farmers",
                    "text": """\
# Northrop seed archive lends its first seeds to farmers

Farmers in the dry south have borrowed seeds from the\
""",
                    "passages": None,
                    "passages_by": None,
                    "highlights": [],
                    "summary": "Farmers in the dry south have borrowed seeds from the Northrop archive for the first time. They promise to return twice the amount after the harvest. The loan covers eleven old kinds of barley which need little water. Agronomists will publish the yields.",
                    "published_at": "2026-05-03T10:20:00Z",
                    "author": "Petra Lund",
                    "error": None,
                    "source_provider": "exa",
                },
                {
                    "url": "https://docs.example/gone.html",
                    "title": None,
                    "text": None,
                    "passages": None,
                    "passages_by": None,
                    "highlights": [],
                    "summary": None,
                    "published_at": None,
                    "author": None,
                    "error": "CRAWL_NOT_FOUND (HTTP 404)",
                    "source_provider": None,
                },
                {
                    "url": "https://news.example/2026/08/bee-census.html",
                    "title": "Volunteers count wild bees: fewer kinds, more of each",
                    "text": """\
# Volunteers count wild bees: fewer kinds, more of each

Eleven thousand volunteers counted wild bees in July. They\
""",
                    "passages": None,
                    "passages_by": None,
                    "highlights": [],
                    "summary": "Eleven thousand volunteers counted wild bees in July. They found 214 kinds, nine fewer than in the census before, but more bees of each kind. Researchers explain the result by the wet spring. The data can be downloaded as CSV.",
                    "published_at": "2026-08-19T00:00:00Z",
                    "author": None,
                    "error": None,
                    "source_provider": "exa",
                },
            ],
        }
    )


@plays("exa-contents-all-failed")
def test_exa_contents_of_a_page_that_is_gone_alone(play: Play) -> None:
    assert failed(play) == (
        ProviderError,
        None,
        snapshot(
            "The page could not be fetched: https://docs.example/gone.html: CRAWL_NOT_FOUND (HTTP 404). Check the URLs or try other ones."
        ),
    )


@plays("exa-contents-wrong-key")
def test_exa_contents_with_a_wrong_key(play: Play) -> None:
    assert failed(play)[:2] == (AuthenticationError, 401)


@plays("exa-contents-no-credit")
def test_exa_contents_out_of_credit(play: Play) -> None:
    assert failed(play)[:2] == (QuotaError, 402)


@plays("exa-contents-invalid")
def test_exa_contents_with_an_impossible_size(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        400,
        snapshot(
            "Exa API returned HTTP 400: maxCharacters: expected a positive integer (INVALID_REQUEST_BODY). Change the request; the same one will fail again."
        ),
    )


# --- Kagi --------------------------------------------------------------------------------------


@plays("kagi-search")
def test_kagi_search(play: Play) -> None:
    response = play()
    assert lines(response) == snapshot(
        [
            (
                "2026-05-03 10:20:00+00:00",
                None,
                1.0,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
            ),
            (
                "",
                None,
                0.67,
                "https://news.example/2026/04/untitled-photo-page.html",
                "https://news.example/2026/04/untitled-photo-page.html",
            ),
            (
                "",
                None,
                0.33,
                "tarfile — Read from and write to tar format archives",
                "https://docs.example/library/tarfile.html",
            ),
            (
                "2026-07-14 04:40:00+00:00",
                None,
                1.0,
                "Lake below the Torvik glacier drains overnight, villages were warned in time",
                "https://news.example/2026/07/glacier-lake.html",
            ),
            (
                "2026-08-03 12:00:00+00:00",
                None,
                0.5,
                "From phones to probes: the database that fits in one file",
                "https://news.example/2026/08/sqlite-everywhere.html",
            ),
        ]
    )
    assert response.results[0].snippet == snapshot(
        "Farmers in the dry south have borrowed seeds from the Northrop archive for the first time."
    )
    assert response.cost_usd == 0.024
    assert response.cost_is_estimate


@plays("kagi-search-filtered")
def test_kagi_search_filtered(play: Play) -> None:
    response = play()
    assert response.model_dump(mode="json") == snapshot(
        {
            "provider": "kagi",
            "asked": [{"provider": "kagi", "served": True, "reason": None}],
            "warnings": [],
            "cost_usd": 0.012,
            "cost_is_estimate": True,
            "cache_hit": False,
            "retrieved_at": None,
            "queries": ["seeds"],
            "results": [
                {
                    "title": "Northrop seed archive lends its first seeds to farmers",
                    "url": "https://news.example/2026/05/seed-archive.html",
                    "snippet": "Farmers in the dry south have borrowed seeds from the Northrop archive for the first time.",
                    "published_at": "2026-05-03T10:20:00Z",
                    "author": None,
                    "score": 1.0,
                    "source_provider": "kagi",
                    "query": "seeds",
                    "content": None,
                }
            ],
            "errors": [],
            "filters": {
                "include_domains": "native",
                "start_published_date": "native",
                "end_published_date": "native",
                "category": "native",
            },
        }
    )


@plays("kagi-search-rate-limited")
def test_kagi_search_is_tried_again_after_429(play: Play) -> None:
    assert lines(play()) == snapshot(
        [
            (
                "2026-07-14 04:40:00+00:00",
                None,
                1.0,
                "Lake below the Torvik glacier drains overnight, villages were warned in time",
                "https://news.example/2026/07/glacier-lake.html",
            )
        ]
    )


@plays("kagi-search-html")
def test_kagi_search_that_meets_an_html_502_three_times(play: Play) -> None:
    assert failed(play) == (
        UnavailableError,
        502,
        snapshot("Kagi API returned HTTP 502. Try again later or use another provider."),
    )


@plays("kagi-search-wrong-key")
def test_kagi_search_with_a_wrong_key_which_kagi_answers_with_400(play: Play) -> None:
    assert failed(play) == (
        AuthenticationError,
        400,
        snapshot(
            'Kagi API returned HTTP 400: Token signature failed to verify. Check the API key of provider "kagi": if it is a v0 key, set options.searchApi to "v0".'
        ),
    )


@plays("kagi-search-no-credit")
def test_kagi_search_out_of_credit(play: Play) -> None:
    assert failed(play) == (
        QuotaError,
        402,
        snapshot(
            'Kagi API returned HTTP 402: Insufficient credit to perform this request. Top up the account of provider "kagi" or use another provider.'
        ),
    )


@plays("kagi-search-invalid")
def test_kagi_search_for_too_many_results(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        400,
        snapshot(
            "Kagi API returned HTTP 400: Must be between 1 and 1024 (search.limit_invalid, limit). Change the request; the same one will fail again."
        ),
    )


@plays("kagi-v0-search")
def test_kagi_v0_search(play: Play) -> None:
    assert lines(play()) == snapshot(
        [
            (
                "2026-05-03 10:20:00+00:00",
                None,
                1.0,
                "Northrop seed archive lends its first seeds to farmers",
                "https://news.example/2026/05/seed-archive.html",
            ),
            (
                "",
                None,
                0.67,
                "https://news.example/2026/04/untitled-photo-page.html",
                "https://news.example/2026/04/untitled-photo-page.html",
            ),
            (
                "",
                None,
                0.33,
                "tarfile — Read from and write to tar format archives",
                "https://docs.example/library/tarfile.html",
            ),
        ]
    )


@plays("kagi-v0-search-wrong-key")
def test_kagi_v0_search_with_a_wrong_key(play: Play) -> None:
    assert failed(play) == (
        AuthenticationError,
        401,
        snapshot(
            'Kagi API returned HTTP 401: Unauthorized. Check the API key of provider "kagi": if it is a v1 key, set options.searchApi to "v1".'
        ),
    )


@plays("kagi-v0-search-no-credit")
def test_kagi_v0_search_out_of_credit_which_kagi_answers_with_400(play: Play) -> None:
    assert failed(play) == (
        QuotaError,
        400,
        snapshot(
            'Kagi API returned HTTP 400: Insufficient credit to perform this request. Top up the account of provider "kagi" or use another provider.'
        ),
    )


@plays("kagi-summary")
def test_kagi_summary(play: Play) -> None:
    response = play()
    assert response.model_dump(mode="json") == snapshot(
        {
            "provider": "kagi",
            "asked": [{"provider": "kagi", "served": True, "reason": None}],
            "warnings": [],
            "cost_usd": 0.00384,
            "cost_is_estimate": True,
            "cache_hit": False,
            "retrieved_at": None,
            "url": "https://news.example/2026/05/cassette-testing.html",
            "text": "A mock returns what its author believes an API returns. A recorded answer, a cassette, returns what the API sent. Recordings age, so they should say when and how they were made. A test that plays only a part of its cassette should fail.",
            "summary_type": "summary",
            "engine": "cecil",
            "tokens": 128,
        }
    )


@plays("kagi-summary-takeaway")
def test_kagi_summary_as_takeaways(play: Play) -> None:
    response = play()
    assert (response.text, response.engine, response.summary_type) == snapshot(
        (
            """\
- A mock returns what its author believes an API returns.
- A recorded answer, a cassette, returns what the API sent.
- Recordings age, so they should say when and how they were made.
- A test that plays only a part of its cassette should fail.
- Keys must be removed before a recording is kept.\
""",
            "agnes",
            "takeaway",
        )
    )


@plays("kagi-summary-wrong-key")
def test_kagi_summary_with_a_wrong_key(play: Play) -> None:
    assert failed(play) == (
        AuthenticationError,
        401,
        snapshot(
            'Kagi API returned HTTP 401: Unauthorized. Check the API key of provider "kagi": the summarizer is a v0 API, so a v1 key needs a v0 key beside it in options.v0ApiKey.'
        ),
    )


@plays("kagi-summary-no-credit")
def test_kagi_summary_out_of_credit(play: Play) -> None:
    assert failed(play)[:2] == (QuotaError, 400)


@plays("kagi-summary-invalid")
def test_kagi_summary_by_an_unknown_engine(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        400,
        snapshot(
            "Kagi API returned HTTP 400: Invalid parameter: engine. Change the request; the same one will fail again."
        ),
    )


@plays("kagi-summary-unreadable")
def test_kagi_summary_of_an_unreadable_page(play: Play) -> None:
    assert failed(play) == (
        UnavailableError,
        500,
        snapshot(
            "Kagi API returned HTTP 500: Could not read the document. Try again later or use another provider."
        ),
    )
