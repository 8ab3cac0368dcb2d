"""Calls as they were recorded: SearXNG, Serper, You.com and Firecrawl, blocking and async."""

# ruff: noqa: E501  the expectations are as inline-snapshot writes them, also after `make record`

from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from playing import Play, failed, lines, plays

from webtools.errors import AuthenticationError, BadRequestError, ProviderError, QuotaError

# --- SearXNG -----------------------------------------------------------------------------------


@plays("searxng-search")
def test_searxng_leaves_facts_out_and_names_engines_that_did_not_answer(play: Play) -> None:
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
                "news.example",
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
    assert response.warnings == snapshot(
        [
            "SearXNG had no answer of these engines: nobody (HTTP connection error).",
            "SearXNG had no answer of these engines: nobody (Suspended: HTTP connection error).",
        ]
    )
    assert response.cost_usd == 0


@plays("searxng-search-filtered")
def test_searxng_is_asked_for_news_and_the_rest_is_done_here(play: Play) -> None:
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
                "Recipe site hid orders to AI a",
                "https://news.example/2026/11/prompt-injection-recipe.html",
                "A recipe site carried a hidden",
            ),
            (
                "",
                "Python programs start a third ",
                "https://news.example/2026/11/python-small-machines.html",
                "Programs in Python start a thi",
            ),
        ]
    )
    assert response.filters == snapshot(
        {"include_domains": "local", "end_published_date": "local", "category": "native"}
    )


@plays("searxng-search-no-json")
def test_searxng_without_json_says_which_setting_it_takes(play: Play) -> None:
    assert failed(play) == (
        AuthenticationError,
        403,
        snapshot(
            'SearXNG API returned HTTP 403. The instance of provider "searxng" does not serve JSON: add json to search.formats in its settings.yml, or use one that does (most public ones do not).'
        ),
    )


# --- Serper ------------------------------------------------------------------------------------


@plays("serper-search")
def test_serper_search(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03",
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
                "2026-07-14",
                "Lake below the Torvik glacier ",
                "https://news.example/2026/07/glacier-lake.html",
                "A lake below the Torvik glacie",
            ),
            (
                "2026-08-03",
                "From phones to probes: the dat",
                "https://news.example/2026/08/sqlite-everywhere.html",
                "SQLite is in every phone, in a",
            ),
        ]
    )
    assert (response.cost_usd, response.cost_is_estimate) == (0.002, True)


@plays("serper-search-filtered")
def test_serper_searches_news_of_a_site(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03",
                "Northrop seed archive lends it",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have ",
            )
        ]
    )
    assert response.filters == snapshot(
        {
            "include_domains": "native",
            "start_published_date": "local",
            "end_published_date": "local",
            "category": "native",
        }
    )


@plays("serper-search-rate-limited")
def test_serper_is_tried_again_after_429(play: Play) -> None:
    assert len(play().results) == 1


@plays("serper-search-wrong-key")
def test_serper_with_a_wrong_key(play: Play) -> None:
    assert failed(play)[:2] == (AuthenticationError, 403)


@plays("serper-search-no-credit")
def test_serper_out_of_credit_which_it_answers_with_400(play: Play) -> None:
    assert failed(play) == (
        QuotaError,
        400,
        snapshot(
            'Serper API returned HTTP 400: Not enough credits. Top up the account of provider "serper" or use another provider.'
        ),
    )


@plays("serper-search-invalid")
def test_serper_search_for_too_many_results(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        400,
        snapshot(
            "Serper API returned HTTP 400: num: Input should be less than or equal to 100, received 500. Change the request; the same one will fail again."
        ),
    )


# --- You.com -----------------------------------------------------------------------------------


@plays("you-search")
def test_you_search(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03",
                "Northrop seed archive lends it",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have ",
            ),
            (
                "",
                "news.example",
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
                "2026-07-14",
                "Lake below the Torvik glacier ",
                "https://news.example/2026/07/glacier-lake.html",
                "A lake below the Torvik glacie",
            ),
            (
                "2026-11-02",
                "Agency halves its search bill ",
                "https://news.example/2026/11/fennick-caches.html",
                "The Fennick agency pays half a",
            ),
            (
                "2026-08-03",
                "From phones to probes: the dat",
                "https://news.example/2026/08/sqlite-everywhere.html",
                "SQLite is in every phone, in a",
            ),
        ]
    )
    assert (response.cost_usd, response.cost_is_estimate) == (0.01, True)


@plays("you-search-filtered")
def test_you_applies_domains_and_dates(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03",
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


@plays("you-search-german")
def test_you_takes_country_and_language_and_sends_pages_along(play: Play) -> None:
    response = play()
    [hit] = response.results
    assert hit.content.text.startswith("# Northrop seed archive")
    assert set(response.filters.values()) == {"native"}
    assert response.cost_usd == 0.005


@plays("you-search-keyless")
def test_you_without_a_key_is_asked_again_and_free(play: Play) -> None:
    response = play()
    assert len(response.results) == 3
    assert (response.cost_usd, response.cost_is_estimate) == (0.0, False)


@plays("you-search-wrong-key")
def test_you_with_a_wrong_key(play: Play) -> None:
    assert failed(play)[:2] == (AuthenticationError, 401)


@plays("you-search-no-credit")
def test_you_out_of_credit(play: Play) -> None:
    assert failed(play) == (
        QuotaError,
        402,
        snapshot(
            'You.com API returned HTTP 402: Payment required: add credits to your account. Top up the account of provider "you" or use another provider.'
        ),
    )


@plays("you-search-invalid")
def test_you_with_a_country_that_is_none(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        400,
        snapshot(
            "You.com API returned HTTP 400: country: String should match pattern '^[A-Za-z]{2}$', received 'Germany'. Change the request; the same one will fail again."
        ),
    )


# --- Firecrawl ---------------------------------------------------------------------------------


@plays("firecrawl-search")
def test_firecrawl_search(play: Play) -> None:
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
    assert (response.cost_usd, response.cost_is_estimate) == (0.00332, True)


@plays("firecrawl-search-filtered")
def test_firecrawl_applies_all_filters_itself(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03",
                "Northrop seed archive lends it",
                "https://news.example/2026/05/seed-archive.html",
                "Farmers in the dry south have ",
            )
        ]
    )
    assert set(response.filters.values()) == {"native"}


@plays("firecrawl-search-content")
def test_firecrawl_sends_pages_along_for_a_credit_each(play: Play) -> None:
    response = play()
    [hit] = response.results
    assert hit.content.text.startswith("# Northrop seed archive")
    assert response.filters == {"country": "native", "content": "native"}
    assert response.cost_usd == pytest.approx(0.00249)


@plays("firecrawl-search-keyless")
def test_firecrawl_without_a_key_is_free(play: Play) -> None:
    response = play()
    assert len(response.results) == 3
    assert (response.cost_usd, response.cost_is_estimate) == (0.0, False)


@plays("firecrawl-search-wrong-key")
def test_firecrawl_with_a_wrong_key(play: Play) -> None:
    assert failed(play)[:2] == (AuthenticationError, 401)


@plays("firecrawl-search-no-credit")
def test_firecrawl_out_of_credit(play: Play) -> None:
    assert failed(play) == (
        QuotaError,
        402,
        snapshot(
            'Firecrawl API returned HTTP 402: Insufficient credits to perform this request. Top up the account of provider "firecrawl" or use another provider.'
        ),
    )


@plays("firecrawl-search-invalid")
def test_firecrawl_with_a_country_that_is_none(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        400,
        snapshot(
            "Firecrawl API returned HTTP 400: country: String should match pattern '^[A-Za-z]{2}$', received 'Germany'. Change the request; the same one will fail again."
        ),
    )


@plays("firecrawl-contents")
def test_firecrawl_reads_pages_and_says_which_its_site_does_not_have(play: Play) -> None:
    response = play()
    assert [(page.url, page.title, page.error) for page in response.pages] == snapshot(
        [
            (
                "https://news.example/2026/05/seed-archive.html",
                "Northrop seed archive lends its first seeds to farmers",
                None,
            ),
            ("https://docs.example/gone.html", None, "HTTP 404"),
            (
                "https://news.example/2026/08/bee-census.html",
                "Volunteers count wild bees: fewer kinds, more of each",
                None,
            ),
        ]
    )
    assert response.pages[0].text == snapshot("""\
# Northrop seed archive lends its first seeds to farmers

Farmers in the dry south have borrowed seeds from the\
""")
    assert response.warnings == snapshot(
        [
            "https://news.example/2026/05/seed-archive.html: the first 111 of 347 characters.",
            "https://news.example/2026/08/bee-census.html: the first 115 of 284 characters.",
        ]
    )
    assert response.cost_usd == pytest.approx(0.00249)


@plays("firecrawl-contents-timeout")
def test_firecrawl_where_a_page_does_not_come_in_time(play: Play) -> None:
    assert failed(play) == (
        ProviderError,
        None,
        snapshot(
            "The page could not be fetched: https://docs.example/special/timeout.html: SCRAPE_TIMEOUT (The scrape operation timed out before completing.). Check the URLs or try other ones."
        ),
    )
