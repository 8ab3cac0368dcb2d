"""Refused requests: keys, paths, bodies and documented limits."""

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
from webtools_sandbox.apis.kagi import KagiV0
from webtools_sandbox.keys import KeyRing
from webtools_sandbox.library import Library
from webtools_sandbox.wire import Call

APIS_BY_NAME: dict[str, type[Api]] = {api.name: api for api in APIS} | {"kagi_v0": KagiV0}
PAGE = "https://docs.example/library/json.html"


@dataclass(frozen=True)
class Refused:
    """Requests that an API refuses.

    Attributes:
        method: The HTTP method.
        path: The path.
        valid: The fields of a valid request.
        invalid: By the name of a field, an invalid value and a part of the error. Spaces at the end
            of a name are ignored, so that a field can have several values.
        status: The HTTP status of the errors.
    """

    method: str
    path: str
    valid: Mapping[str, Any]
    invalid: Mapping[str, tuple[Any, str]]
    status: int = 400


MISSING = object()
# Of the bounds that the models declare, one per API: it shows the form of the error.
TABLE: dict[str, Refused] = {
    "exa": Refused(
        "POST",
        "/search",
        {"query": "x"},
        {
            "query": (MISSING, "query"),
            "query ": (" ", "query"),
            "category": ("tweet", "received 'tweet'"),
            "numResults": (101, "NUM_RESULTS_EXCEEDED"),
            "numResults ": (0, "INVALID_NUM_RESULTS"),
            "numResults  ": ("5", "numResults"),
            "startPublishedDate": ("last week", "startPublishedDate"),
            "contents": ({"text": "yes"}, "contents.text"),
            "contents ": ({"text": {"maxCharacters": -1}}, "contents.text.maxCharacters"),
        },
    ),
    "exa people": Refused(
        "POST",
        "/search",
        {"query": "x", "category": "people"},
        {
            "startPublishedDate": ("2026-01-01", "startPublishedDate is not supported"),
            "excludeDomains": (["a.example"], "excludeDomains is not supported"),
            "includeDomains": (["a.example"], "LinkedIn"),
        },
    ),
    "exa contents": Refused(
        "POST",
        "/contents",
        {"urls": [PAGE]},
        {"urls": (MISSING, "INVALID_URLS"), "urls ": ([], "INVALID_URLS")},
    ),
    "kagi": Refused(
        "POST",
        "/api/v1/search",
        {"query": "x"},
        {
            "query": (MISSING, "search.query_invalid"),
            "limit": (1025, "search.limit_invalid"),
            "format": ("xml", "general.format_invalid"),
            "filters": ({"region": "US"}, "search.filters_region_invalid"),
            "filters ": ({"region": "int"}, '"location":"filters.region"'),
            "filters  ": ({"before": "2026-02-30"}, "search.filters_before_invalid"),
        },
    ),
    "kagi extract": Refused(
        "POST",
        "/api/v1/extract",
        {"pages": [{"url": PAGE}]},
        {
            "pages": ([{"url": PAGE}] * 11, "extract.url_count_invalid"),
            "pages ": ([{"url": "ftp://a.example"}], "extract.url_invalid"),
        },
    ),
    "kagi_v0": Refused(
        "GET",
        "/api/v0/search",
        {"q": "x"},
        {"q": (MISSING, "Missing parameter: q"), "limit": ("0", "Invalid parameter: limit")},
    ),
    "kagi_v0 summarize": Refused(
        "POST",
        "/api/v0/summarize",
        {"url": PAGE},
        {
            "url": (MISSING, "Missing parameter: url"),
            "target_language": ("de", "Invalid parameter: target_language"),
        },
    ),
    "brave": Refused(
        "GET",
        "/res/v1/web/search",
        {"q": "x"},
        {
            "q": (MISSING, '"type":"missing","loc":["query","q"]'),
            "q ": (" ", '"loc":["query","q"]'),
            "q  ": ("x " * 51, "at most 50 words"),
            "count": (21, "less_than_equal"),
            "country": ("XX", '"loc":["query","country"]'),
            "search_lang": ("klingon", '"loc":["query","search_lang"]'),
            "freshness": ("2026-02-30to2026-03-01", "invalid freshness"),
        },
        status=422,
    ),
    "perplexity": Refused(
        "POST",
        "/search",
        {"query": "x"},
        {
            "query": (MISSING, "validation failed: query"),
            "max_results": (21, "max_results"),
            "search_domain_filter": (["a.example", "-b.example"], "to allow or to deny"),
            "search_domain_filter ": (["a.example"] * 21, "up to 20"),
            "search_after_date_filter": ("2026-01-01", "MM/DD/YYYY"),
            "search_before_date_filter": ("02/30/2026", "MM/DD/YYYY"),
        },
    ),
    "perplexity agent": Refused(
        "POST",
        "/v1/agent",
        {"preset": "fast", "input": "x", "tool_choice": "none"},
        {"preset": ("slow", "preset"), "input": (MISSING, "validation failed: input")},
    ),
    "context7": Refused(
        "GET",
        "/api/v2/context",
        {"libraryId": "/python/json", "query": "decode", "type": "json"},
        {
            "libraryId": ("json", "invalid_library_id"),
            "libraryId ": ("/python/json/1/2", "invalid_library_id"),
            "query": ("", "validation_error"),
        },
    ),
    "tavily": Refused(
        "POST",
        "/search",
        {"query": "x"},
        {
            "query": (MISSING, "query"),
            "query ": ("x" * 401, "query"),
            "start_date": ("01.02.2026", "Must be YYYY-MM-DD"),
            "include_domains": (["*.gov"], "Invalid domain"),
        },
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
            "gsrsearch": (MISSING, "missingparam"),
            "gsrsearch ": ("", "missingparam"),
            "gsrlimit": ("many", "badvalue"),
        },
        status=200,
    ),
    "searxng": Refused(
        "GET",
        "/search",
        {"q": "x", "format": "json"},
        {
            "q": (MISSING, "No query"),
            "safesearch": ("9", "Invalid value 9 for parameter safesearch"),
            "language": ("german", "parameter language"),
        },
    ),
    "searxng format": Refused(
        "GET",
        "/search",
        {"q": "x", "format": "json"},
        {"format": ("rss", "Forbidden"), "format ": (MISSING, "Forbidden")},
        status=403,
    ),
    "serper": Refused(
        "POST",
        "/search",
        {"q": "x"},
        {"q": (" ", "q"), "gl": ("germany", "gl"), "tbs": ("last week", "Invalid tbs")},
    ),
    "you": Refused(
        "POST",
        "/v1/search",
        {"query": "x"},
        {"query": (MISSING, "query"), "freshness": ("2026-05-31", "freshness")},
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
        {"query": "x", "includeDomains": ["a.example"]},
        {
            "query": (MISSING, "query"),
            "tbs": ("cdr:1", "Invalid tbs"),
            "excludeDomains": (["b.example"], "cannot both be specified"),
        },
    ),
    "linkup": Refused(
        "POST",
        "/v1/search",
        {"q": "json", "depth": "standard", "outputType": "searchResults"},
        {
            "q": (MISSING, '"field":"q"'),
            "fromDate": ("01.02.2026", "Must be YYYY-MM-DD"),
            "q ": ("qqqqzzzz", "SEARCH_QUERY_NO_RESULT"),
        },
    ),
    "parallel": Refused(
        "POST",
        "/v1/search",
        {"search_queries": ["x"]},
        {
            "search_queries": (MISSING, "search_queries"),
            "search_queries ": (["x" * 201], "search_queries.0"),
            "max_results": (5, "max_results"),
            "advanced_settings": ({"source_policy": {"after_date": "1.2."}}, "YYYY-MM-DD"),
            "advanced_settings ": (
                {"source_policy": {"exclude_domains": ["a.example"] * 201}},
                "at most 200 domains",
            ),
        },
        status=422,
    ),
    "jina": Refused("POST", "/", {"url": PAGE}, {"url": ("ftp://a.example", "url")}),
    "jina-search": Refused(
        "POST", "/", {"q": "json", "respondWith": "no-content"}, {"num": (21, "num")}
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
# Status and a part of the error: of an unknown key, and of one without credit.
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
    return {name: Desk(api(library, keys)) for name, api in APIS_BY_NAME.items()}


def ask(desk: Desk, rule: Refused, fields: Mapping[str, Any]) -> httpx.Response:
    if rule.method == "GET":
        return desk.get(rule.path, **fields)
    return desk.post(rule.path, **fields)


def changed(rule: Refused) -> Iterator[tuple[dict[str, Any], str]]:
    for name, (value, mark) in rule.invalid.items():
        field = name.strip()
        rest = {key: item for key, item in rule.valid.items() if key != field}
        yield rest if value is MISSING else {**rest, field: value}, mark


@pytest.mark.parametrize("rule", TABLE)
def test_an_invalid_request_is_refused_with_its_reason(desks: dict[str, Desk], rule: str) -> None:
    name, wanted = rule.split(maxsplit=1)[0], TABLE[rule]
    assert ask(desks[name], wanted, wanted.valid).status_code == 200
    for fields, mark in changed(wanted):
        answer = ask(desks[name], wanted, fields)
        assert (answer.status_code, mark in answer.text) == (wanted.status, True), (
            fields,
            answer.text,
        )
        assert set(answer.json()) - {"code"} == ERROR_KEYS[name]


@pytest.mark.parametrize("name", KEYS)
def test_keys_are_checked_before_the_request(desks: dict[str, Desk], name: str) -> None:
    desk, rule = desks[name], TABLE[name]
    (unknown, mark), (poor, poor_mark) = KEYS[name]
    other = "test-key-exa" if name != "exa" else "test-key-brave"
    for key in ("wrong", other, f"{other}-no-credit"):
        answer = ask(desk.with_key(key), rule, {})
        assert (answer.status_code, mark in answer.text) == (unknown, True), answer.text
    answer = ask(desk.with_key(f"{desk.api.key}-no-credit"), rule, {})
    assert (answer.status_code, poor_mark in answer.text) == (poor, True), answer.text


@pytest.mark.parametrize("name", APIS_BY_NAME)
def test_every_failure_has_the_error_body_of_the_api(desks: dict[str, Desk], name: str) -> None:
    desk = desks[name]
    assert desk.get("/nothing").status_code == 404
    for status in (400, 401, 402, 403, 404, 418, 429, 500, 502, 503):
        call = Call("POST", TABLE[name].path, "", {})
        reply = desk.api.failure(call, status)
        body = json.loads(reply.body)
        assert (reply.status, set(body) - {"code"}) == (status, ERROR_KEYS[name])
        assert b"unusual key" in desk.api.failure(call, status, "unusual key").body


@pytest.mark.parametrize("rule", [name for name, rule in TABLE.items() if rule.method == "POST"])
@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff"])
def test_a_body_that_is_not_a_json_object_is_refused(
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
def test_no_json_object_causes_a_server_error(desks: dict[str, Desk], rule: str, data: Any) -> None:
    wanted = TABLE[rule]
    names = {*wanted.valid, *(name.strip() for name in wanted.invalid)}
    body = data.draw(st.dictionaries(st.sampled_from(sorted(names)), JSON))
    answer = desks[rule.split(maxsplit=1)[0]].post(wanted.path, **{**wanted.valid, **body})
    assert answer.status_code in {200, 400, 422}
    assert answer.content


def test_the_same_request_gets_the_same_bytes(desks: dict[str, Desk]) -> None:
    for name in APIS_BY_NAME:
        rule = TABLE[name]
        first, second = (ask(desks[name], rule, rule.valid) for _ in range(2))
        assert first.content == second.content
