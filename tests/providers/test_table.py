"""Facts, prices, limits and errors of each provider match its documentation."""

from __future__ import annotations

from datetime import UTC, date, datetime
from urllib.parse import urlsplit

import offline
import pytest

from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    RateLimitError,
    UnavailableError,
)
from webtools.messages import Request, Response
from webtools.providers import PROVIDERS
from webtools.providers.protocols import PageQuery, SearchQuery
from webtools_sandbox.apis import APIS
from webtools_sandbox.apis.base import Api, RefusedError
from webtools_sandbox.corpus import standard_corpus
from webtools_sandbox.keys import KeyRing
from webtools_sandbox.library import Library
from webtools_sandbox.wire import Call, Reply

TODAY = datetime.now(UTC).date()
FREE = {"wikipedia", "searxng", "direct", "browser"}
MADE: dict[str, type[Api]] = {api.name: api for api in APIS}
PAGE = "https://docs.example/library/json.html"

TROUBLE = "500 502 503 504"
# What each page documents: statuses, some with a code, by the class that they are to have here.
# None: an answer that is read like a success, as it concerns the query or a page alone.
Documented = dict[type[ProviderError] | None, str]
DOCUMENTED: dict[str, Documented] = {
    "exa": {
        BadRequestError: "400 404 409 422 403:PROHIBITED_CONTENT 403:CONTENT_FILTER_ERROR",
        AuthenticationError: "401 403 403:ACCESS_DENIED 403:FEATURE_DISABLED",
        QuotaError: "402 402:API_KEY_BUDGET_EXCEEDED 402:TEAM_BUDGET_EXCEEDED",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
    },
    "kagi": {
        BadRequestError: "400 400:search.page_invalid 400:search.filters_region_invalid 404",
        AuthenticationError: "400:general.invalid_token 401 401:general.unauthorized 403",
        QuotaError: "402 400:billing.insufficient_credit 429:billing.usage_exhausted",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
    },
    "brave": {
        BadRequestError: "400 403 403:RESOURCE_NOT_ALLOWED 404 422",  # 403: not in the plan
        AuthenticationError: "404:SUBSCRIPTION_NOT_FOUND 422:SUBSCRIPTION_TOKEN_INVALID 403:ODD",
        QuotaError: "429:QUOTA_LIMITED",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
    },
    "perplexity": {
        BadRequestError: "400 403:chat_completions_not_available"
        " 403:agent_api_migration_required 404 422 451:odd",
        AuthenticationError: "401 403 451",
        QuotaError: "402 401:insufficient_quota 429:insufficient_quota",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
    },
    "tavily": {
        BadRequestError: "400 404",
        AuthenticationError: "401 403",
        QuotaError: "432 433",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
    },
    "context7": {
        BadRequestError: "400 403 403:forbidden 422 422:library_too_large",  # 403: another's
        AuthenticationError: "401 403:odd",
        QuotaError: "402",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
        None: "202 301 404 404:no_snippets_found",
    },
    "wikipedia": {
        BadRequestError: "200:badvalue 404",
        RateLimitError: "200:ratelimited 429",
        UnavailableError: f"200:maxlag 200:readonly 200:internal_api_error_DBQueryError"
        f" 200:cirrussearch-backend-error {TROUBLE}",
    },
    "searxng": {
        BadRequestError: "400",
        AuthenticationError: "403",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
    },
    "serper": {
        BadRequestError: "400 404",
        AuthenticationError: "403",
        QuotaError: "400:credits 403:credits 429:credits",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
    },
    "you": {
        BadRequestError: "400 404 422",
        AuthenticationError: "401 403",
        QuotaError: "402",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
    },
    "firecrawl": {
        BadRequestError: "400 404 409",
        AuthenticationError: "401 403",
        QuotaError: "402",
        RateLimitError: "429",
        UnavailableError: f"408 {TROUBLE}",
    },
    "linkup": {
        BadRequestError: "400 404 409",
        AuthenticationError: "401 403 403:IP_NOT_WHITELISTED",
        QuotaError: "402 429:INSUFFICIENT_FUNDS_CREDITS 429:EXCEED_BUDGET_LIMIT",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
        None: "400:SEARCH_QUERY_NO_RESULT",
    },
    "parallel": {
        BadRequestError: "400 404 422",
        AuthenticationError: "401 403",
        QuotaError: "402",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
    },
    "jina": {
        BadRequestError: "400 404",
        AuthenticationError: "401 403",
        QuotaError: "402 402:TierFeatureConstraintError",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
        None: "409 413:TargetFileTooLargeError 422 422:SubmittedDataMalformedError"
        " 451:SecurityCompromiseError",
    },
    "jina-search": {
        BadRequestError: "400 404 409 422",
        AuthenticationError: "401 403",
        QuotaError: "402 402:TierFeatureConstraintError",
        RateLimitError: "429",
        UnavailableError: TROUBLE,
    },
}

LISTED = [
    (kind, fault, expected)
    for kind, table in DOCUMENTED.items()
    for expected, faults in table.items()
    for fault in faults.split()
]


@pytest.fixture(scope="module")
def apis() -> dict[str, Api]:
    bases = {"docs": "https://docs.example", "news": "https://news.example"}
    library = Library(standard_corpus(), bases)
    return {name: api(library, KeyRing()) for name, api in MADE.items()}


# --- facts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PROVIDERS)
def test_its_documentation_and_its_prices_have_their_day(kind: str) -> None:
    about = PROVIDERS[kind].about
    if kind not in {"direct", "browser"}:  # which have no API
        assert about.docs.startswith("https://")
        assert date.fromisoformat(about.docs_date) <= TODAY
    assert bool(about.prices) == bool(about.price_list) == (kind not in FREE)
    if about.price_list:
        year, month, *_ = map(int, about.price_list.split("-"))
        assert (2025, 1) <= (year, month) <= (TODAY.year, TODAY.month)


# --- limits ------------------------------------------------------------------------------------


def send_to(api: Api, request: Request) -> Reply:
    parts = urlsplit(request.url)
    body = offline.answer(request.json).body if request.json is not None else b""
    return api.answer(Call(request.method, parts.path, parts.query, request.headers, body))


@pytest.mark.parametrize("kind", [k for k, item in PROVIDERS.items() if item.search])
def test_the_maximum_of_results_is_that_of_the_api(apis: dict[str, Api], kind: str) -> None:
    search, api = PROVIDERS[kind].search, apis[kind]
    assert search is not None
    account = offline.account(kind, apiKey=api.key or offline.KEY)
    query = SearchQuery("json", PROVIDERS[kind].about.max_results)
    assert send_to(api, search.search_request(query, account)).status == 200


@pytest.mark.parametrize("kind", [k for k, item in PROVIDERS.items() if item.fetch])
def test_the_maximum_of_pages_is_that_of_the_api(apis: dict[str, Api], kind: str) -> None:
    fetch, api = PROVIDERS[kind].fetch, apis[kind]
    assert fetch is not None
    account = offline.account(kind, apiKey=api.key)
    query = PageQuery((PAGE,) * PROVIDERS[kind].about.max_urls)
    assert send_to(api, fetch.fetch_request(query, account)).status == 200


# --- errors ------------------------------------------------------------------------------------


def test_the_errors_of_every_api_are_listed() -> None:
    assert DOCUMENTED.keys() == set(PROVIDERS) - {"direct", "browser"}
    listed = {(kind, int(fault.partition(":")[0])) for kind, fault, _ in LISTED}
    known = {(kind, int(status)) for kind, api in MADE.items() for status in api.data["errors"]}
    known -= {(kind, 0) for kind in MADE}  # stands for the others
    assert known <= listed


@pytest.mark.parametrize(("kind", "fault", "expected"), LISTED)
def test_every_documented_error_has_its_class(
    apis: dict[str, Api], kind: str, fault: str, expected: type[ProviderError] | None
) -> None:
    api, call = apis[kind], Call("POST", "/", "", {})
    status, _, code = fault.partition(":")
    if code:
        reply = api.error_reply(call, RefusedError(int(status), f"No {code}.", code))
    else:
        reply = api.failure(call, int(status))
    services, account = PROVIDERS[kind], offline.account(kind)
    response = Response(reply.status, {}, reply.body)
    error = services.provider.read_error(response, account, services.capabilities()[0])
    assert (error and type(error)) is expected
