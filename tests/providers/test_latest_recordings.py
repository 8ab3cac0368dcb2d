"""Calls as they were recorded: Linkup, Parallel and Jina, blocking and async."""

# ruff: noqa: E501  the expectations are as inline-snapshot writes them, also after `make record`

from __future__ import annotations

from inline_snapshot import snapshot
from playing import Play, failed, lines, plays

from webtools.errors import AuthenticationError, BadRequestError, ProviderError, QuotaError

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


# --- Parallel ----------------------------------------------------------------------------------


@plays("parallel-search")
def test_parallel_search(play: Play) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03",
                "Northrop seed archive lends it",
                "https://news.example/2026/05/seed-archive.html",
                "# Northrop seed archive lends ",
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
                "## Read and write zip files To",
            ),
            (
                "2026-07-14",
                "Lake below the Torvik glacier ",
                "https://news.example/2026/07/glacier-lake.html",
                "# Lake below the Torvik glacie",
            ),
            (
                "2026-08-03",
                "From phones to probes: the dat",
                "https://news.example/2026/08/sqlite-everywhere.html",
                "# From phones to probes: the d",
            ),
        ]
    )
    assert (response.cost_usd, response.cost_is_estimate) == (0.01, True)


@plays("parallel-search-filtered")
def test_parallel_applies_domains_and_the_first_day_and_the_last_one_is_looked_at_here(
    play: Play,
) -> None:
    response = play()
    assert lines(response.results) == snapshot(
        [
            (
                "2026-05-03",
                "Northrop seed archive lends it",
                "https://news.example/2026/05/seed-archive.html",
                "# Northrop seed archive lends ",
            )
        ]
    )
    assert response.filters == snapshot(
        {
            "include_domains": "native",
            "start_published_date": "native",
            "end_published_date": "local",
            "category": "unsupported",
        }
    )


@plays("parallel-search-content")
def test_parallel_takes_a_country_and_sends_passages_of_the_pages(play: Play) -> None:
    response = play()
    [hit] = response.results
    assert hit.content.passages_by == "parallel"
    assert hit.content.passages[0].text.startswith("# Northrop seed archive")
    assert response.filters == {"country": "native", "content": "native"}


@plays("parallel-search-rate-limited")
def test_parallel_is_tried_again_after_too_many_requests(play: Play) -> None:
    assert len(play().results) == 1


@plays("parallel-search-wrong-key")
def test_parallel_with_a_wrong_key(play: Play) -> None:
    assert failed(play)[:2] == (AuthenticationError, 401)


@plays("parallel-search-no-credit")
def test_parallel_out_of_credit(play: Play) -> None:
    assert failed(play) == (
        QuotaError,
        402,
        snapshot(
            'Parallel API returned HTTP 402: Payment required: insufficient credit in account. Top up the account of provider "parallel" or use another provider.'
        ),
    )


@plays("parallel-search-invalid")
def test_parallel_search_for_fewer_results_than_none(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        422,
        snapshot(
            "Parallel API returned HTTP 422: Request validation error: advanced_settings.max_results: Input should be greater than or equal to 1, received -1. Change the request; the same one will fail again."
        ),
    )


@plays("parallel-contents")
def test_parallel_reads_pages_and_says_which_failed(play: Play) -> None:
    response = play()
    assert [(page.url, page.title, page.text, page.error) for page in response.pages] == snapshot(
        [
            (
                "https://news.example/2026/05/seed-archive.html",
                "Northrop seed archive lends its first seeds to farmers",
                """\
# Northrop seed archive lends its first seeds to farmers

Farmers in the dry south have borrowed seeds from the Northrop\
""",
                None,
            ),
            ("https://docs.example/gone.html", None, None, "fetch_error (HTTP 404)"),
            (
                "https://news.example/2026/08/bee-census.html",
                "Volunteers count wild bees: fewer kinds, more of each",
                """\
# Volunteers count wild bees: fewer kinds, more of each

Eleven thousand volunteers counted wild bees in July. They foun\
""",
                None,
            ),
        ]
    )
    assert (response.warnings, response.cost_usd) == ([], 0.002)


@plays("parallel-contents-question")
def test_parallel_chooses_the_passages_that_bear_on_a_question(play: Play) -> None:
    first = play().pages[0]
    assert (first.text, first.passages_by) == (None, "parallel")
    assert [passage.text for passage in first.passages] == snapshot(
        [
            """\
# Northrop seed archive lends its first seeds to farmers

Farmers in the dry south have borrowed seeds from the Northrop archive for\
"""
        ]
    )


@plays("parallel-contents-all-failed")
def test_parallel_where_no_page_could_be_had(play: Play) -> None:
    assert failed(play) == (
        ProviderError,
        None,
        snapshot(
            "The page could not be fetched: https://docs.example/gone.html: fetch_error (HTTP 404). Check the URLs or try other ones."
        ),
    )


# --- Jina --------------------------------------------------------------------------------------


@plays("jina-contents")
def test_jina_reads_pages_and_says_which_its_site_does_not_have(play: Play) -> None:
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
            ("https://docs.example/gone.html", None, None, "HTTP 404"),
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
    assert f"{response.pages[0].published_at:%Y-%m-%d}" == "2026-05-03"
    assert (response.cost_usd, response.cost_is_estimate) == snapshot((7e-06, True))


@plays("jina-contents-keyless")
def test_jina_without_a_key_is_asked_again_and_free(play: Play) -> None:
    response = play()
    assert response.pages[0].text
    assert (response.cost_usd, response.cost_is_estimate) == (0.0, False)


@plays("jina-contents-timeout")
def test_jina_where_a_page_does_not_come_in_time(play: Play) -> None:
    assert failed(play) == (
        ProviderError,
        None,
        snapshot(
            "The page could not be fetched: https://docs.example/special/timeout.html: Failed to goto https://docs.example/special/timeout.html: TimeoutError: Navigation timeout of 30000 ms exceeded. Check the URLs or try other ones."
        ),
    )


@plays("jina-contents-wrong-key")
def test_jina_with_a_wrong_key(play: Play) -> None:
    assert failed(play)[:2] == (AuthenticationError, 401)


@plays("jina-contents-no-credit")
def test_jina_out_of_tokens(play: Play) -> None:
    assert failed(play) == (
        QuotaError,
        402,
        snapshot(
            'Jina API returned HTTP 402: Account balance not enough to run this query, please recharge. Top up the account of provider "jina" or use another provider.'
        ),
    )


# --- Jina Search -------------------------------------------------------------------------------


@plays("jina-search")
def test_jina_search_where_a_query_finds_nothing(play: Play) -> None:
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
        ]
    )
    assert (response.errors, response.cost_usd) == ([], 0.0005)


@plays("jina-search-filtered")
def test_jina_search_applies_a_single_domain(play: Play) -> None:
    response = play()
    assert {hit.url.split("/")[2] for hit in response.results} == {"news.example"}
    assert response.filters == snapshot(
        {
            "include_domains": "native",
            "start_published_date": "local",
            "end_published_date": "local",
            "category": "unsupported",
        }
    )


@plays("jina-search-wrong-key")
def test_jina_search_with_a_wrong_key(play: Play) -> None:
    assert failed(play)[:2] == (AuthenticationError, 401)


@plays("jina-search-no-credit")
def test_jina_search_out_of_tokens(play: Play) -> None:
    assert failed(play)[:2] == (QuotaError, 402)


@plays("jina-search-invalid")
def test_jina_search_for_fewer_results_than_none(play: Play) -> None:
    assert failed(play) == (
        BadRequestError,
        400,
        snapshot(
            "Jina Search API returned HTTP 400: num: Input should be greater than or equal to 0, received -1. Change the request; the same one will fail again."
        ),
    )
