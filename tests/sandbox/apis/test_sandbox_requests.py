"""What each API refuses, in its own words: keys, paths, bodies and every documented bound."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_caller import Desk

from webtools_sandbox.apis import APIS
from webtools_sandbox.apis.base import Api
from webtools_sandbox.apis.kagi_v0 import KagiV0
from webtools_sandbox.keys import KeyRing
from webtools_sandbox.library import Library
from webtools_sandbox.wire import Call

MADE: dict[str, type[Api]] = {api.name: api for api in APIS} | {"kagi_v0": KagiV0}
PAGE = "https://docs.example/library/json.html"
LONG = "x " * 251


@dataclass(frozen=True)
class Refused:
    """Requests that an API refuses: `ways` tell what is wrong, each with what the answer says."""

    method: str
    path: str
    right: Mapping[str, Any]
    ways: Mapping[str, tuple[Any, str]]
    status: int = 400


NOTHING = object()
TABLE: dict[str, Refused] = {
    "exa": Refused(
        "POST",
        "/search",
        {"query": "x"},
        {
            "query": (NOTHING, "query"),
            "query ": (" ", "query"),
            "query  ": (["json"], "query"),
            "category": ("tweet", "received 'tweet'"),
            "category ": (["news"], "category"),
            "type": ("keyword", "received 'keyword'"),
            "numResults": (101, "NUM_RESULTS_EXCEEDED"),
            "numResults ": (0, "INVALID_NUM_RESULTS"),
            "numResults  ": ("5", "numResults"),
            "includeDomains": ("a.example", "includeDomains"),
            "excludeDomains": ([1], "excludeDomains.0"),
            "startPublishedDate": ("last week", "startPublishedDate"),
            "includeText": (["one two three four five six"], "includeText"),
            "additionalQueries": (["y"], "only supported with a deep type"),
            "contents": ([1], "contents"),
            "contents ": ({"text": "yes"}, "contents.text"),
            "contents  ": ({"text": {"maxCharacters": -1}}, "contents.text.maxCharacters"),
            "contents   ": ({"subpages": 101}, "contents.subpages"),
        },
    ),
    "exa together": Refused(
        "POST",
        "/search",
        {"query": "x", "category": "people"},
        {
            "startCrawlDate": ("2026-01-01", "startCrawlDate is not supported"),
            "excludeDomains": (["a.example"], "excludeDomains is not supported"),
            "includeDomains": (["a.example"], "LinkedIn"),
        },
    ),
    "exa lite": Refused(
        "POST",
        "/search",
        {"query": "x", "type": "lite"},
        {
            "includeText": (["a"], "includeText"),
            "contents": ({"summary": True}, "contents.summary"),
        },
    ),
    "exa contents": Refused(
        "POST",
        "/contents",
        {"urls": [PAGE]},
        {
            "urls": (NOTHING, "INVALID_URLS"),
            "urls ": ([], "INVALID_URLS"),
            "urls  ": (PAGE, "INVALID_URLS"),
        },
    ),
    "kagi": Refused(
        "POST",
        "/api/v1/search",
        {"query": "x"},
        {
            "query": (NOTHING, "search.query_invalid"),
            "query ": ("", "search.query_invalid"),
            "page": (0, "search.page_invalid"),
            "page ": (11, "search.page_invalid"),
            "limit": (0, "search.limit_invalid"),
            "limit ": (1025, "search.limit_invalid"),
            "limit  ": (True, "search.limit_invalid"),
            "workflow": ("maps", "search.workflow_invalid"),
            "timeout": (9, "search.timeout_invalid"),
            "format": ("xml", "general.format_invalid"),
            "filters": ([], "search.filters_invalid"),
            "filters ": ({"region": "US"}, "search.filters_region_invalid"),
            "filters  ": ({"region": "int"}, '"location":"filters.region"'),
            "filters   ": ({"after": "01.02.2026"}, "search.filters_after_invalid"),
            "filters    ": ({"before": "2026-02-30"}, "search.filters_before_invalid"),
            "extract": (3, "search.extract_invalid"),
            "extract ": ({"count": 11}, "search.extract_count_invalid"),
            "extract  ": ({"timeout": 5}, "search.extract_timeout_invalid"),
        },
    ),
    "kagi extract": Refused(
        "POST",
        "/api/v1/extract",
        {"pages": [{"url": PAGE}]},
        {
            "pages": (NOTHING, "extract.url_count_invalid"),
            "pages ": ([{"url": PAGE}] * 11, "extract.url_count_invalid"),
            "pages  ": ([PAGE], "extract.url_invalid"),
            "pages   ": ([{"url": "ftp://a.example"}], "extract.url_invalid"),
        },
    ),
    "kagi_v0": Refused(
        "GET",
        "/api/v0/search",
        {"q": "x"},
        {
            "q": (NOTHING, "Missing parameter: q"),
            "q ": (" ", "Invalid parameter: q"),
            "limit": ("0", "Invalid parameter: limit"),
        },
    ),
    "kagi_v0 summarize": Refused(
        "GET",
        "/api/v0/summarize",
        {"url": PAGE},
        {
            "url": ("", "Exactly one"),
            "text": ("both", "Exactly one"),
            "url ": ("ftp://a.example", "Invalid parameter: url"),
            "engine": ("turbo", "Invalid parameter: engine"),
            "summary_type": ("poem", "Invalid parameter: summary_type"),
            "target_language": ("de", "Invalid parameter: target_language"),
        },
    ),
    "brave": Refused(
        "GET",
        "/res/v1/web/search",
        {"q": "x"},
        {
            "q": (NOTHING, '"type":"missing","loc":["query","q"]'),
            "q ": (" ", '"loc":["query","q"]'),
            "q  ": ("x" * 401, "string_too_long"),
            "q   ": ("x " * 51, "at most 50 words"),
            "count": (21, "less_than_equal"),
            "count ": (0, "greater_than_equal"),
            "count  ": ("many", "int_parsing"),
            "offset": (10, '"loc":["query","offset"]'),
            "country": ("XX", '"loc":["query","country"]'),
            "search_lang": ("klingon", '"loc":["query","search_lang"]'),
            "safesearch": ("on", '"loc":["query","safesearch"]'),
            "freshness": ("px", "invalid freshness"),
            "freshness ": ("2026-02-30to2026-03-01", "invalid freshness"),
            "text_decorations": ("maybe", "bool_parsing"),
            "result_filter": ("web,nothing", "known result type"),
        },
        status=422,
    ),
    "brave news": Refused(
        "GET",
        "/res/v1/news/search",
        {"q": "x"},
        {"count": (51, "less_than_equal")},
        status=422,
    ),
    "brave context": Refused(
        "GET",
        "/res/v1/llm/context",
        {"q": "x"},
        {"maximum_number_of_tokens": (10, "greater_than_equal")},
        status=422,
    ),
    "perplexity": Refused(
        "POST",
        "/search",
        {"query": "x"},
        {
            "query": (NOTHING, "validation failed: query"),
            "query ": (" ", "query"),
            "query  ": ([], "query"),
            "query   ": (["x"] * 6, "query"),
            "query    ": (["x", 1], "query"),
            "max_results": (21, "max_results"),
            "max_results ": (0, "max_results"),
            "max_results  ": (True, "max_results"),
            "max_tokens": (2_000_000, "max_tokens"),
            "search_type": ("news", "search_type"),
            "search_mode": ("news", "search_mode"),
            "search_recency_filter": ("decade", "search_recency_filter"),
            "search_domain_filter": ("a.example", "search_domain_filter"),
            "search_domain_filter ": (["a.example", "-b.example"], "to allow or to deny"),
            "search_domain_filter  ": (["a.example"] * 21, "up to 20"),
            "search_language_filter": (["en"] * 11, "search_language_filter"),
            "search_after_date_filter": ("2026-01-01", "MM/DD/YYYY"),
            "search_before_date_filter": ("02/30/2026", "MM/DD/YYYY"),
        },
    ),
    "perplexity together": Refused(
        "POST",
        "/search",
        {"query": "x", "search_recency_filter": "day", "search_context_size": "low"},
        {"search_after_date_filter": ("1/1/2026", "combined"), "max_tokens": (100, "combined")},
    ),
    "perplexity agent": Refused(
        "POST",
        "/v1/agent",
        {"preset": "fast", "input": "x"},
        {
            "preset": (NOTHING, "model, models or preset"),
            "input": (NOTHING, "input cannot be empty"),
            "input ": (" ", "input cannot be empty"),
            "input  ": ([], "input cannot be empty"),
            "preset ": ("slow", "preset"),
            "model": ("sonar", "validation failed: model"),
            "max_steps": (0, "max_steps"),
            "tool_choice": ("some", "tool_choice"),
            "stream": (True, "stream"),
            "model ": ("anthropic/claude", "max_output_tokens is required"),
        },
    ),
    "context7": Refused(
        "GET",
        "/api/v2/context",
        {"libraryId": "/python/json", "query": "decode"},
        {
            "libraryId": ("json", "invalid_library_id"),
            "libraryId ": ("/python/json/1/2", "invalid_library_id"),
            "libraryId  ": ("", "libraryId: "),
            "query": ("", "validation_error"),
            "query ": (LONG, "query: "),
            "type": ("xml", "validation_error"),
            "fast": ("maybe", "validation_error"),
        },
    ),
    "context7 libraries": Refused(
        "GET",
        "/api/v2/libs/search",
        {"libraryName": "json", "query": "decode"},
        {"libraryName": ("", "libraryName: "), "query": ("", "query: ")},
    ),
    "tavily": Refused(
        "POST",
        "/search",
        {"query": "x"},
        {
            "query": (NOTHING, "query"),
            "search_depth": ("deep", "search_depth"),
            "max_results": (21, "max_results"),
            "topic": ("sports", "topic"),
            "time_range": ("decade", "time_range"),
            "start_date": ("01.02.2026", "Must be YYYY-MM-DD"),
            "include_domains": ("a.example", "include_domains"),
        },
    ),
    "tavily extract": Refused(
        "POST",
        "/extract",
        {"urls": [PAGE]},
        {"urls": ([], "urls"), "urls ": ([PAGE] * 21, "urls"), "format": ("pdf", "format")},
    ),
    "wikipedia": Refused(
        "GET",
        "/w/api.php",
        {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "generator": "search",
            "gsrsearch": "x",
        },
        {
            "action": ("delete", "badvalue"),
            "gsrsearch": (NOTHING, "missingparam"),
            "gsrsearch ": ("", "missingparam"),
            "gsrlimit": ("many", "badvalue"),
            "exchars": ("1201", "badvalue"),
        },
        status=200,
    ),
    "searxng": Refused(
        "GET",
        "/search",
        {"q": "x", "format": "json"},
        {
            "q": (NOTHING, "No query"),
            "safesearch": ("9", "Invalid value 9 for parameter safesearch"),
            "pageno": ("0", "Invalid value 0 for parameter pageno"),
            "time_range": ("hour", "parameter time_range"),
            "language": ("german", "parameter language"),
        },
    ),
    "searxng format": Refused(
        "GET",
        "/search",
        {"q": "x", "format": "json"},
        {"format": ("rss", "Forbidden"), "format ": (NOTHING, "Forbidden")},
        status=403,
    ),
    "serper": Refused(
        "POST",
        "/search",
        {"q": "x"},
        {
            "q": (NOTHING, "q"),
            "num": (0, "num"),
            "num ": ("5", "num"),
            "page": (0, "page"),
            "gl": ("germany", "gl"),
            "tbs": ("last week", "Invalid tbs"),
        },
    ),
    "serper news": Refused("POST", "/news", {"q": "x"}, {"q": (" ", "q")}),
    "you": Refused(
        "POST",
        "/v1/search",
        {"query": "x"},
        {
            "query": (NOTHING, "query"),
            "count": (101, "count"),
            "offset": (10, "offset"),
            "freshness": ("2026-05-31", "freshness"),
            "safesearch": ("some", "safesearch"),
            "country": ("germany", "country"),
            "include_domains": ("a.example", "include_domains"),
            "extraction": ({"extraction_mode": "all"}, "extraction.extraction_mode"),
        },
    ),
    "you together": Refused(
        "POST",
        "/v1/search",
        {"query": "x", "include_domains": ["a.example"]},
        {"exclude_domains": (["b.example"], "cannot be used together")},
        status=422,
    ),
    "firecrawl": Refused(
        "POST",
        "/v2/search",
        {"query": "x"},
        {
            "query": (NOTHING, "query"),
            "query ": (LONG, "query"),
            "limit": (101, "limit"),
            "sources": (["sports"], "sources"),
            "tbs": ("cdr:1", "Invalid tbs"),
            "country": ("germany", "country"),
            "includeDomains": ("a.example", "includeDomains"),
            "scrapeOptions": ({"formats": ["pdf"]}, "scrapeOptions.formats"),
        },
    ),
    "firecrawl together": Refused(
        "POST",
        "/v2/search",
        {"query": "x", "includeDomains": ["a.example"]},
        {"excludeDomains": (["b.example"], "cannot both be specified")},
    ),
    "firecrawl scrape": Refused(
        "POST",
        "/v2/scrape",
        {"url": PAGE},
        {
            "url": ("ftp://a.example", "url"),
            "formats": (["pdf"], "formats"),
            "timeout": (10, "timeout"),
        },
    ),
    "linkup": Refused(
        "POST",
        "/v1/search",
        {"q": "json", "depth": "standard", "outputType": "searchResults"},
        {
            "q": (NOTHING, '"field":"q"'),
            "depth": ("advanced", '"field":"depth"'),
            "outputType": (NOTHING, '"field":"outputType"'),
            "fromDate": ("01.02.2026", "Must be YYYY-MM-DD"),
            "excludeDomains": (["a.example"] * 51, "excludeDomains"),
            "maxResults": (0, "maxResults"),
            "q ": ("qqqqzzzz", "SEARCH_QUERY_NO_RESULT"),
        },
    ),
    "parallel": Refused(
        "POST",
        "/v1/search",
        {"search_queries": ["x"]},
        {
            "search_queries": (NOTHING, "search_queries"),
            "search_queries ": (["x" * 201], "search_queries.0"),
            "search_queries  ": (["x"] * 6, "search_queries"),
            "mode": ("pro", "mode"),
            "max_results": (5, "max_results"),
            "advanced_settings": ({"max_results": 0}, "advanced_settings.max_results"),
            "advanced_settings ": ({"location": "germany"}, "advanced_settings.location"),
            "advanced_settings  ": ({"source_policy": {"after_date": "1.2."}}, "YYYY-MM-DD"),
            "advanced_settings   ": (
                {"source_policy": {"exclude_domains": ["a.example"] * 201}},
                "at most 200 domains",
            ),
        },
        status=422,
    ),
    "parallel extract": Refused(
        "POST",
        "/v1/extract",
        {"urls": [PAGE]},
        {
            "urls": ([], "urls"),
            "urls ": ([PAGE] * 21, "urls"),
            "urls  ": (["ftp://a.example"], "urls.0"),
            "full_content": (True, "full_content"),
        },
        status=422,
    ),
    "jina": Refused(
        "POST",
        "/",
        {"url": PAGE},
        {
            "url": (NOTHING, "url"),
            "url ": ("ftp://a.example", "url"),
            "respondWith": ("pdf", "respondWith"),
            "timeout": (181, "timeout"),
        },
    ),
    "jina-search": Refused(
        "POST",
        "/",
        {"q": "json"},
        {
            "q": (NOTHING, "q"),
            "num": (21, "num"),
            "page": (0, "page"),
            "respondWith": ("pdf", "respondWith"),
        },
    ),
}
ERROR_KEYS = {
    "exa": {"requestId", "error", "tag"},
    "kagi": {"meta", "data", "errors"},
    "kagi_v0": {"meta", "data", "error"},
    "brave": {"type", "error", "time"},
    "perplexity": {"error"},
    "context7": {"error", "message"},
    "tavily": {"detail"},
    "wikipedia": {"error", "servedby"},
    "searxng": {"error"},
    "serper": {"message", "statusCode"},
    "you": {"detail"},
    "firecrawl": {"success", "error"},
    "linkup": {"statusCode", "error"},
    "parallel": {"type", "error"},
    "jina": {"data", "name", "status", "message", "readableMessage"},
    "jina-search": {"data", "name", "status", "message", "readableMessage"},
}
# Status and mark of: an unknown key, and a good one without credit.
KEYS = {
    "exa": ((401, "INVALID_API_KEY"), (402, "NO_MORE_CREDITS")),
    "kagi": ((400, "general.invalid_token"), (402, "billing.insufficient_credit")),
    "kagi_v0": ((401, '"code":2'), (400, '"code":101')),
    "brave": ((422, "SUBSCRIPTION_TOKEN_INVALID"), (429, "QUOTA_LIMITED")),
    "perplexity": ((401, "invalid_api_key"), (402, "insufficient_quota")),
    "context7": ((401, "ctx7sk"), (402, "spending_limit_exceeded")),
    "tavily": ((401, "Unauthorized"), (432, "usage limit")),
    "serper": ((403, "Unauthorized"), (400, "Not enough credits")),
    "you": ((401, "expired API key"), (402, "add credits")),
    "firecrawl": ((401, "Invalid token"), (402, "Insufficient credits")),
    "linkup": ((401, "UNAUTHORIZED"), (429, "INSUFFICIENT_FUNDS_CREDITS")),
    "parallel": ((401, "invalid API key"), (402, "insufficient credit")),
    "jina": ((401, "AuthenticationFailedError"), (402, "InsufficientBalanceError")),
    "jina-search": ((401, "AuthenticationFailedError"), (402, "InsufficientBalanceError")),
}


@pytest.fixture(scope="session")
def desks(library: Library, keys: KeyRing) -> dict[str, Desk]:
    return {name: Desk(api(library, keys)) for name, api in MADE.items()}


def ask(desk: Desk, rule: Refused, fields: Mapping[str, Any]) -> httpx.Response:
    if rule.method == "GET":
        return desk.get(rule.path, **fields)
    return desk.post(rule.path, **fields)


def changed(rule: Refused) -> Iterator[tuple[dict[str, Any], str]]:
    for name, (value, mark) in rule.ways.items():
        field = name.strip()
        rest = {key: item for key, item in rule.right.items() if key != field}
        yield rest if value is NOTHING else {**rest, field: value}, mark


@pytest.mark.parametrize("rule", TABLE)
def test_a_request_that_breaks_a_rule_is_refused_and_says_which(
    desks: dict[str, Desk], rule: str
) -> None:
    name, wanted = rule.split(maxsplit=1)[0], TABLE[rule]
    if rule != "perplexity together":
        assert ask(desks[name], wanted, wanted.right).status_code == 200
    for fields, mark in changed(wanted):
        answer = ask(desks[name], wanted, fields)
        assert (answer.status_code, mark in answer.text) == (wanted.status, True), (
            fields,
            answer.text,
        )
        assert set(answer.json()) - {"code"} == ERROR_KEYS[name]


@pytest.mark.parametrize("name", KEYS)
def test_keys_are_looked_at_before_the_request(desks: dict[str, Desk], name: str) -> None:
    desk, rule = desks[name], TABLE[name]
    (unknown, mark), (poor, poor_mark) = KEYS[name]
    other = "test-key-exa" if name != "exa" else "test-key-brave"
    for key in ("wrong", other, f"{other}-no-credit"):
        answer = ask(desk.with_key(key), rule, {})
        assert (answer.status_code, mark in answer.text) == (unknown, True), answer.text
    answer = ask(desk.with_key(f"{desk.api.key}-no-credit"), rule, {})
    assert (answer.status_code, poor_mark in answer.text) == (poor, True), answer.text


@pytest.mark.parametrize("name", MADE)
def test_every_failure_has_the_api_s_own_body(desks: dict[str, Desk], name: str) -> None:
    desk = desks[name]
    assert desk.get("/nothing").status_code == 404
    for status in (400, 401, 402, 403, 404, 418, 429, 500, 502, 503):
        call = Call("POST", TABLE[name].path, "", {})
        reply = desk.api.failure(call, status)
        body = json.loads(reply.body)
        assert (reply.status, set(body) - {"code"}) == (status, ERROR_KEYS[name])
        assert b"the key was odd" in desk.api.failure(call, status, "the key was odd").body


@pytest.mark.parametrize("rule", [name for name, rule in TABLE.items() if rule.method == "POST"])
@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(
    desks: dict[str, Desk], rule: str, body: bytes
) -> None:
    name = rule.split(maxsplit=1)[0]
    answer = desks[name].send("POST", TABLE[rule].path, content=body)
    assert (answer.status_code, set(answer.json()) - {"code"}) == (400, ERROR_KEYS[name])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("rule", [name for name, rule in TABLE.items() if rule.method == "POST"])
@given(data=st.data())
@settings(max_examples=25)
def test_no_body_makes_an_api_stumble(desks: dict[str, Desk], rule: str, data: Any) -> None:
    wanted = TABLE[rule]
    names = {*wanted.right, *(name.strip() for name in wanted.ways)}
    body = data.draw(st.dictionaries(st.sampled_from(sorted(names)), JSON))
    answer = desks[rule.split(maxsplit=1)[0]].post(wanted.path, **{**wanted.right, **body})
    assert answer.status_code in {200, 400, 422}
    assert answer.content


def test_the_same_request_gets_the_same_bytes(desks: dict[str, Desk]) -> None:
    for name in MADE.keys() - {"kagi_v0"}:  # whose answers show a balance
        rule = TABLE[name]
        first, second = (ask(desks[name], rule, rule.right) for _ in range(2))
        assert first.content == second.content
