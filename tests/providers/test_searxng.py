"""SearXNG: requests, rows without an address, failed engines, and disabled JSON."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import offline
import pytest
from offline import answer

from webtools.config import Settings, environment_config
from webtools.errors import AuthenticationError, ConfigError
from webtools.providers import searxng
from webtools.providers.protocols import Cost, SearchQuery
from webtools.testing import INSTANCE

ACCOUNT = offline.account("searxng")
QUERY = SearchQuery("rust async", limit=3)


def parameters(query: SearchQuery, **options: Any) -> dict[str, str]:
    url = searxng.search_request(query, offline.account("searxng", options=options)).url
    assert url.startswith(f"{INSTANCE}/search?")
    return dict(parse_qsl(urlsplit(url).query))


# --- requests ----------------------------------------------------------------------------------


def test_one_domain_and_a_period_help_engines_and_news_alone_are_the_instance_s() -> None:
    start = datetime.now(UTC).date() - timedelta(days=5)
    query = SearchQuery(
        "q", 3, ("a.example",), ("b.example",), start_published_date=start, category="news"
    )
    sent = parameters(query)
    assert (sent["q"], sent["categories"]) == ("q site:a.example", "news")
    assert sent["time_range"] == "month"
    assert searxng.native_filters(query, ACCOUNT) - offline.OPTIONS == {"category"}
    several = SearchQuery("q", 3, include_domains=("a.example", "b.example"), category="people")
    assert parameters(several)["q"] == "q"
    assert searxng.native_filters(several, ACCOUNT) - offline.OPTIONS == set()


def test_language_and_country_are_one_parameter_and_go_before_the_options() -> None:
    query = SearchQuery("q", 3, country="AT", language="de", safe_search="strict")
    sent = parameters(query, language="fr", safesearch="off")
    assert (sent["language"], sent["safesearch"]) == ("de-AT", "2")
    assert searxng.native_filters(query, ACCOUNT) == {"country", "language", "safe_search"}
    alone = SearchQuery("q", 3, country="AT")
    assert parameters(alone, language="fr")["language"] == "fr"
    assert "country" not in searxng.native_filters(alone, ACCOUNT)


@pytest.mark.parametrize(
    ("days", "period"), [(0, "day"), (29, "month"), (200, "year"), (365, None)]
)
def test_the_shortest_period_that_covers_the_range_is_requested(
    days: int, period: str | None
) -> None:
    start = datetime.now(UTC).date() - timedelta(days=days)
    sent = parameters(SearchQuery("q", 3, start_published_date=start))
    assert sent.get("time_range") == period
    assert "time_range" not in parameters(SearchQuery("q", 3, end_published_date=date.max))


# --- answers -----------------------------------------------------------------------------------


def test_rows_without_an_address_are_facts_and_silent_engines_are_named() -> None:
    rows = [
        {"url": None, "template": "keyvalue.html"},
        {
            "url": "https://a.example/",
            "title": "A",
            "author": "B. C.",
            "publishedDate": "2026-05-03T10:20:00",
        },
    ]
    silent = [["brave", "too many requests"], ["qwant", "CAPTCHA\n"], "odd", ["alone"]]
    response = answer({"results": rows, "unresponsive_engines": silent})
    hits = searxng.read_search(response, QUERY, ACCOUNT)
    assert [
        (result.url, result.author, f"{result.published_at:%Y-%m-%d}") for result in hits.results
    ] == [("https://a.example/", "B. C.", "2026-05-03")]
    [warning] = hits.warnings
    assert "brave (too many requests), qwant (CAPTCHA )" in warning
    assert hits.cost == Cost(0.0, is_estimate=True)


# --- errors ------------------------------------------------------------------------------------


def test_an_instance_without_json_names_the_setting() -> None:
    error = searxng.read_error(answer(body=b"<html>403", status=403), ACCOUNT, "search")
    assert type(error) is AuthenticationError
    assert re.search(r"json.*search\.formats.*settings\.yml", str(error))
    assert 'provider "my-searxng"' in str(error)


# --- settings ----------------------------------------------------------------------------------


def test_an_entry_needs_an_address_and_no_key() -> None:
    with pytest.raises(ConfigError, match="baseUrl.*SearXNG"):
        offline.accounts({"name": "s", "type": "searxng"})
    entry = {"name": "s", "type": "searxng", "baseUrl": "http://127.0.0.1:8888/"}
    assert offline.accounts(entry).accounts[0].base_url == "http://127.0.0.1:8888"


@pytest.mark.parametrize("name", searxng.ABOUT.url_variables)
def test_its_address_in_the_environment_switches_it_on(name: str) -> None:
    accounts = Settings(environ={name: " https://searx.example/sub "}).accounts()
    [account] = accounts.accounts
    assert (account.name, account.base_url) == ("searxng", "https://searx.example/sub")
    assert account.api_key is None
    assert accounts.select("search") is account


def test_an_invalid_address_names_its_variable() -> None:
    with pytest.raises(ConfigError, match="SEARXNG_URL"):
        environment_config({"SEARXNG_URL": "searx.example"})
