"""A response that is not a success is an error with the words and the class of the provider.

Checked for every provider and everything it can do, with bodies in the forms in which APIs,
frameworks and gateways write errors. A provider that is new in the table is tested without a line
here, except for its response without results.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import offline
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from offline import Stub, answer

from webtools import WebTools
from webtools._internal.storage.circuit_breaker import State, after_failure, failure_of
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    RateLimitError,
    ResponseFormatError,
    UnavailableError,
    WebToolsError,
)
from webtools.providers import (
    PROVIDERS,
    About,
    Account,
    Capability,
    HitFields,
    Hits,
    Request,
    Response,
    SearchQuery,
    make_error,
    read_hits,
)
from webtools.results import SearchResponse
from webtools.testing import outcome
from webtools.testing.provider_calls import registered

APIS = [kind for kind, services in PROVIDERS.items() if services.pages is None]
CASES = [(kind, able) for kind in APIS for able in PROVIDERS[kind].capabilities()]
ACCOUNTS = {kind: offline.account(kind) for kind in APIS}
any_case = st.sampled_from(CASES)
thorough = settings(max_examples=150, deadline=None)

# The response of each API that has found nothing. Calls of other capabilities then fail anyway.
NOTHING: dict[tuple[str, Capability], dict[str, Any]] = {
    ("exa", "search"): {"results": []},
    ("exa", "fetch"): {"results": [], "statuses": []},
    ("kagi", "search"): {"meta": {}, "data": {}},
    ("kagi", "fetch"): {"meta": {}, "data": []},
    ("kagi", "summarize"): {"meta": {}, "data": {"output": ""}},
    ("brave", "search"): {"type": "search", "query": {}},
    ("perplexity", "search"): {"results": []},
    ("perplexity", "synthesize"): {"output": []},
    ("tavily", "search"): {"results": []},
    ("tavily", "fetch"): {"results": [], "failed_results": []},
    ("context7", "docs"): {"results": [], "codeSnippets": [], "infoSnippets": []},
    ("wikipedia", "search"): {"batchcomplete": True},
    ("searxng", "search"): {"results": [], "unresponsive_engines": []},
    ("serper", "search"): {"searchParameters": {"q": "q"}, "organic": []},
    ("you", "search"): {"results": {}},
    ("firecrawl", "search"): {"data": {"web": []}},
    ("firecrawl", "fetch"): {"data": {"markdown": ""}},
    ("linkup", "search"): {"results": []},
    ("parallel", "search"): {"results": []},
    ("parallel", "fetch"): {"results": []},
    ("jina", "fetch"): {"data": {"content": ""}},
    ("jina-search", "search"): {"data": []},
}

Body = Callable[[str], Any]
# Errors that say so.
STATED: dict[str, Body] = {
    "error": lambda words: {"error": words},
    "error with a flag": lambda words: {"success": False, "error": words},
    "message with a flag": lambda words: {"ok": False, "message": words},
    "status and message": lambda words: {"status": "error", "message": words},
    "type and message": lambda words: {"type": "ErrorResponse", "message": words},
    "error object": lambda words: {"error": {"message": words, "code": "E17"}},
    "error object, short name": lambda words: {"error": {"msg": words, "ref": None}},
    "error with a description": lambda words: {"error": "E17", "error_description": words},
    "error with details": lambda words: {"error": "Oops.", "details": [{"message": words}]},
    "list of errors": lambda words: {"errors": [{"message": words}, {"message": "And more."}]},
    "list of texts": lambda words: {"errors": [words]},
    "errors by field": lambda words: {"errors": {"q": [words]}},
    "pointers": lambda words: {"errors": [{"detail": words, "source": {"pointer": "/q"}}]},
    "fault": lambda words: {"fault": {"faultstring": words, "detail": {"errorcode": "E17"}}},
    "status in the error": lambda words: {"error": {"message": words, "status": "E17"}},
}
# Errors that only have no mark of a success.
BARE: dict[str, Body] = {
    "message": lambda words: {"message": words},
    "message in capitals": lambda words: {"Message": words},
    "message of a function": lambda words: {"errorMessage": words, "errorType": "Error"},
    "detail": lambda words: {"detail": words},
    "nested detail": lambda words: {"detail": {"message": words}},
    "list of places": lambda words: {"detail": [{"loc": ["body", "q"], "msg": words}]},
    "problem": lambda words: {"type": "about:blank", "title": "Problem", "detail": words},
    "title": lambda words: {"title": words},
    "sections that are null": lambda words: {"results": None, "data": None, "message": words},
    "errors in a list": lambda words: [{"error": {"message": words}}],
    "error instead of data": lambda words: {"data": {"error": {"message": words}}},
    "error instead of results": lambda words: {"results": {"error": words}},
}
WORDS: dict[type[ProviderError], list[str]] = {
    QuotaError: [
        "The monthly quota of this account is exceeded",
        "No credits remaining",
        "Your plan's usage limit has been reached",
        "Insufficient balance, add funds",
        "You ran out of credits",
    ],
    AuthenticationError: [
        "Invalid API key",
        "The access token has expired, or the key is unknown",
        "Unauthorized",
    ],
    RateLimitError: ["Rate limit exceeded", "Too many requests per minute", "Slow down please"],
    UnavailableError: ["The service is temporarily unavailable", "Internal server error"],
    BadRequestError: ["Validation of the parameter limit was not successful, it must be a number"],
}
WORDS_AND_KINDS = [(words, kind) for kind, texts in WORDS.items() for words in texts]


def words_of(error: WebToolsError) -> str:
    return str(error).lower()


def assert_reports(result: Any, words: str, kind: type[ProviderError] | None = None) -> None:
    assert isinstance(result, ProviderError), repr(result)
    assert words.lower() in words_of(result)
    assert kind is None or type(result) is kind, repr(result)
    assert offline.KEY not in str(result)


# --- HTTP 200 with an error inside -------------------------------------------------------------


def test_every_api_has_a_response_without_results() -> None:
    assert NOTHING.keys() == set(CASES)


@thorough
@given(any_case, st.sampled_from([*STATED, *BARE]), st.sampled_from(WORDS_AND_KINDS))
def test_an_error_without_a_mark_of_success_keeps_its_words_and_class(
    case: tuple[str, Capability], form: str, expected: tuple[str, type[ProviderError]]
) -> None:
    words, kind = expected
    body = (STATED | BARE)[form](words)
    if case == ("kagi", "fetch") and form == "error instead of data":
        return
    assert_reports(outcome(ACCOUNTS[case[0]], case[1], answer(body)), words, kind)


@thorough
@given(any_case, st.sampled_from([*STATED]), st.sampled_from(WORDS_AND_KINDS))
def test_an_error_beside_an_empty_list_is_an_error(
    case: tuple[str, Capability], form: str, expected: tuple[str, type[ProviderError]]
) -> None:
    words, kind = expected
    body = NOTHING[case] | STATED[form](words)
    assert_reports(outcome(ACCOUNTS[case[0]], case[1], answer(body)), words, kind)


@thorough
@given(any_case, st.sampled_from([*STATED]), st.text("abc xyz", min_size=3, max_size=40))
def test_an_error_of_an_unknown_kind_keeps_its_words(
    case: tuple[str, Capability], form: str, words: str
) -> None:
    words = f"zz{' '.join(words.split())}zz"
    assert_reports(outcome(ACCOUNTS[case[0]], case[1], answer(STATED[form](words))), words)


STATUSES: dict[int, type[ProviderError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    402: QuotaError,
    403: AuthenticationError,
    429: RateLimitError,
    503: UnavailableError,
}


@pytest.mark.parametrize("field", ["status", "statusCode", "code", "status_code", "in the error"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_status_in_the_body_decides_the_class(case: tuple[str, Capability], field: str) -> None:
    for status, kind in STATUSES.items():
        body: dict[str, Any] = {"message": "Mumble.", field: status}
        if field == "in the error":
            body = {"error": {"message": "Mumble.", "code": status}}
        result = outcome(ACCOUNTS[case[0]], case[1], answer(NOTHING[case] | body))
        assert_reports(result, "Mumble", kind)
        assert result.status == 200


@pytest.mark.parametrize("body", [{}, {"ok": True}, {"items": [{"title": "A"}]}, {"took": 3}])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_object_without_a_mark_is_never_an_empty_success(
    case: tuple[str, Capability], body: dict[str, Any]
) -> None:
    assert type(outcome(ACCOUNTS[case[0]], case[1], answer(body))) is ResponseFormatError


@pytest.mark.parametrize("body", [b"<html><title>Portal", b"plain", b"", b"[]", b'"Not now."'])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_body_that_is_no_object_is_never_a_success(
    case: tuple[str, Capability], body: bytes
) -> None:
    assert isinstance(outcome(ACCOUNTS[case[0]], case[1], answer(body=body)), ProviderError)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_key_in_the_words_is_redacted(case: tuple[str, Capability]) -> None:
    words = f"Invalid API key {offline.KEY}"
    for form in STATED | BARE:
        body = (STATED | BARE)[form](words)
        result = outcome(ACCOUNTS[case[0]], case[1], answer(body))
        assert isinstance(result, ProviderError), form
        assert offline.KEY not in str(result)


SEARCHES = [case for case in CASES if case[1] == "search"]


@pytest.mark.parametrize(
    "nothing",
    [None, False, "", [], {}, "none", "NULL", {"code": 0, "message": ""}, [None, ""], "No error"],
)
@pytest.mark.parametrize("case", SEARCHES, ids=str)
def test_an_empty_field_for_errors_is_no_error(case: tuple[str, Capability], nothing: Any) -> None:
    body = NOTHING[case] | {"error": nothing, "errors": nothing, "success": True, "status": "ok"}
    result = outcome(ACCOUNTS[case[0]], case[1], answer(body))
    assert isinstance(result, SearchResponse), repr(result)
    assert result.results == []


def test_an_error_beside_results_becomes_a_warning() -> None:
    hit = {"url": "https://a.example/", "title": "A"}
    body = {"results": [hit], "error": "Two shards did not respond."}
    result = outcome(ACCOUNTS["exa"], "search", answer(body))
    assert [found.url for found in result.results] == ["https://a.example/"]
    assert "Two shards did not respond" in " ".join(result.warnings)


CONFIG: dict[str, Any] = {"cache": {"enabled": False}, "log": {"enabled": False}}


def web(body: Any, *kinds: str, **headers: str) -> WebTools:
    """Return a client whose first provider gets a body, and whose second one has a result."""
    good = {"results": [{"url": "https://a.example/", "title": "A"}]}
    first = PROVIDERS[kinds[0]].about.origin or "https://instance.example"

    def respond(request: httpx.Request) -> httpx.Response:
        is_first = str(request.url).startswith(first)
        return httpx.Response(200, json=body if is_first else good, headers=headers)

    transport = httpx.MockTransport(respond)
    config = {**CONFIG, "providers": [offline.entry(kind) for kind in kinds]}
    return WebTools(config, transport=transport, async_transport=transport)


@pytest.mark.parametrize("kind", [kind for kind, _ in SEARCHES if kind != "exa"])
@pytest.mark.parametrize("runtime", ["blocking", "async"])
async def test_the_next_provider_is_called_by_both_runtimes(kind: str, runtime: str) -> None:
    client = web({"error": {"message": "No credits remaining"}}, kind, "exa")
    response = client.search("q") if runtime == "blocking" else await client.asearch("q")
    assert [result.source_provider for result in response.results] == ["my-exa"]
    assert "No credits remaining" in " ".join(response.warnings)


# --- kinds of results that are not read --------------------------------------------------------

RESULT = {"url": "https://a.example/", "title": "A", "link": "https://a.example/"}
UNREAD: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("kagi", {}, {"data": {"weather": [RESULT]}}, "weather"),
    ("kagi", {"searchApi": "v0"}, {"data": [{"t": 7, **RESULT}]}, "t=7"),
    ("firecrawl", {}, {"success": True, "data": {"images": [RESULT]}}, "images"),
    ("firecrawl", {}, {"success": True, "data": {}}, "web"),
    ("serper", {}, {"searchParameters": {}, "answerBox": {"answer": "42"}}, "answerBox"),
    ("serper", {}, {"searchParameters": {}, "knowledgeGraph": RESULT, "organic": []}, "knowledge"),
    ("you", {}, {"results": {"images": [RESULT]}}, "images"),
    ("brave", {}, {"type": "search", "videos": {"results": [RESULT]}}, "videos"),
]


@pytest.mark.parametrize(("kind", "options", "body", "name"), UNREAD)
def test_kinds_of_results_that_are_not_read_are_named_if_there_are_no_others(
    kind: str, options: dict[str, Any], body: dict[str, Any], name: str
) -> None:
    result = outcome(offline.account(kind, options=options), "search", answer(body))
    assert result.results == []
    assert name in " ".join(result.warnings)


def test_pages_with_only_an_answer_box_do_not_open_the_circuit() -> None:
    client = web({"searchParameters": {}, "answerBox": {"answer": "42"}}, "serper", "exa")
    for number in range(4):
        response = client.search(f"q {number}")
        assert [attempt.provider for attempt in response.attempts] == ["my-serper"]
        assert response.results == []


@pytest.mark.parametrize("rows", [[RESULT], {"web": [RESULT]}])
def test_firecrawl_sends_a_list_by_source_or_a_flat_one(rows: Any) -> None:
    body = {"success": True, "data": rows, "warning": "The index is old."}
    result = outcome(ACCOUNTS["firecrawl"], "search", answer(body))
    assert [found.url for found in result.results] == ["https://a.example/"]
    assert "The index is old." in " ".join(result.warnings)


ENGINES = [
    [["brave", "too many requests"], ["google", "CAPTCHA"]],
    ["brave", "google"],
    [["brave"], {"google": "access denied"}, "google"],
]


@pytest.mark.parametrize("engines", ENGINES)
def test_searxng_without_a_working_engine_failed(engines: list[Any]) -> None:
    client = web({"results": [], "unresponsive_engines": engines}, "searxng", "exa")
    response = client.search("q")
    assert [result.source_provider for result in response.results] == ["my-exa"]
    [warning] = [text for text in response.warnings if "my-searxng" in text]
    assert "brave" in warning
    assert "google" in warning
    error = outcome(
        ACCOUNTS["searxng"], "search", answer({"results": [], "unresponsive_engines": engines})
    )
    assert type(error) is UnavailableError


@pytest.mark.parametrize("section", ["answers", "infoboxes", "corrections", "suggestions"])
def test_searxng_with_a_working_engine_has_no_results(section: str) -> None:
    body = {"results": [], section: ["A"], "unresponsive_engines": ["brave"]}
    result = outcome(ACCOUNTS["searxng"], "search", answer(body))
    assert result.results == []
    assert "brave" in " ".join(result.warnings)


def test_searxng_failed_only_if_all_engines_of_the_settings_failed() -> None:
    account = offline.account("searxng", options={"engines": ["brave", "google"]})
    body: dict[str, Any] = {"results": [], "unresponsive_engines": [["brave", "CAPTCHA"]]}
    assert outcome(account, "search", answer(body)).results == []
    body["unresponsive_engines"].append(["google", "timeout"])
    assert type(outcome(account, "search", answer(body))) is UnavailableError


# --- statuses ----------------------------------------------------------------------------------


@thorough
@given(
    any_case,
    st.sampled_from([*STATED, *BARE]),
    st.integers(400, 599).filter(lambda status: status not in {401, 403, 404, 429, 432, 433}),
    st.text("abc xyz", min_size=3, max_size=40),
)
def test_the_words_of_every_error_status_are_in_the_message(
    case: tuple[str, Capability], form: str, status: int, words: str
) -> None:
    words = f"zz{' '.join(words.split())}zz"
    result = outcome(ACCOUNTS[case[0]], case[1], answer((STATED | BARE)[form](words), status))
    assert_reports(result, words)
    assert result.status == status


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(
    "body",
    [
        {"detail": [{"loc": ["body", "limit"], "msg": "is not a number", "type": "int"}]},
        {"message": [{"property": "limit", "constraints": {"isInt": "is not a number"}}]},
        {"error": "Bad Request", "details": [{"path": ["limit"], "message": "is not a number"}]},
        {"title": "Invalid", "status": 422, "errors": {"limit": ["is not a number"]}},
        {"errors": [{"title": "is not a number", "source": {"pointer": "limit"}}]},
        {"error": {"details": [{"field": "limit", "message": "is not a number"}]}},
    ],
)
def test_a_message_about_a_part_of_the_request_names_the_part(
    case: tuple[str, Capability], body: dict[str, Any]
) -> None:
    result = outcome(ACCOUNTS[case[0]], case[1], answer(body, 422))
    if case == ("jina", "fetch") and not isinstance(result, ProviderError):
        return
    assert_reports(result, "is not a number")
    assert "limit" in str(result)


GATE = {"statusCode": 401, "message": "The key of team 7 is revoked", "error": "Unauthorized"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_message_of_a_framework_is_shown_beside_its_title(
    case: tuple[str, Capability],
) -> None:
    result = outcome(ACCOUNTS[case[0]], case[1], answer(GATE, 401))
    assert_reports(result, "The key of team 7 is revoked", AuthenticationError)


QUOTAS = [
    {"error": "Monthly quota exceeded. Upgrade your plan."},
    {"message": "You have exceeded your monthly quota"},
    {"error": {"code": "NO_MORE_CREDITS", "message": "Sorry."}},
    {"error": {"code": "USAGE_LIMIT_EXCEEDED", "detail": "Sorry."}},
    {"error": "insufficient_quota", "message": "See the dashboard."},
    {"tag": "API_KEY_BUDGET_EXCEEDED", "error": "Sorry."},
    {"detail": {"error": "This request exceeds the credits of your plan. No credits left."}},
    {"error": {"type": "quotaExceeded", "message": "Sorry."}},
    {"detail": "You ran out of free searches for this month: 1000 searches per month."},
    {"name": "InsufficientBalanceError", "message": "Account balance not enough"},
]
RATES = [
    {"error": "Rate limit exceeded"},
    {"error": "Rate limit exceeded: 5 requests per second. Upgrade your plan for more."},
    {"error": {"message": "Quota exceeded for quota metric 'Queries per minute'"}},
    {"message": "Too Many Requests"},
    {"error": {"code": "RATE_LIMITED"}},
    {"message": "Rate limited or quota exceeded. Create a free key."},
    {"detail": "Consumed (req/min): 11. Upgrade at https://a.example or retry after 30s"},
    {},
]
KEYED = [case for case in CASES if case[0] != "searxng"]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_quota_is_told_from_a_rate_by_its_words_and_codes(case: tuple[str, Capability]) -> None:
    for body in QUOTAS:
        stub = Stub(answer(body, 429, retry_after="1"))
        result = outcome(ACCOUNTS[case[0]], case[1], stub.send(None, 0.0))  # type: ignore[arg-type]
        assert (type(result), result.retryable) == (QuotaError, False), (case, body)
    for body in RATES:
        result = outcome(ACCOUNTS[case[0]], case[1], answer(body, 429, retry_after="1"))
        assert (type(result), result.retryable) == (RateLimitError, True), (case, body)


@pytest.mark.parametrize("kind", [kind for kind, _ in SEARCHES])
async def test_a_quota_is_not_retried_by_either_runtime(kind: str) -> None:
    count = 0

    def respond(_request: httpx.Request) -> httpx.Response:
        nonlocal count
        count += 1
        return httpx.Response(429, json={"message": "Monthly quota exceeded"})

    transport = httpx.MockTransport(respond)
    config = {**CONFIG, "providers": [offline.entry(kind)]}
    client = WebTools(config, transport=transport, async_transport=transport)
    with pytest.raises(QuotaError, match="Monthly quota exceeded"):
        client.search("q")
    with pytest.raises(QuotaError, match="Monthly quota exceeded"):
        await client.asearch("q")
    assert count == 2


BUDGETS = [
    {"error": {"message": "Spent 12.01 of 12.00", "type": "budget_exceeded", "code": "400"}},
    {"detail": {"error": "Budget has been exceeded! Current cost: 4.2, max budget: 4"}},
    {"error": "insufficient_quota", "message": "See the dashboard."},
    {"message": "Your credits are used up."},
]


@pytest.mark.parametrize("status", [400, 401, 403, 422, 429])
@pytest.mark.parametrize("case", KEYED, ids=str)
def test_a_budget_of_a_gateway_is_a_quota_whatever_its_status(
    case: tuple[str, Capability], status: int
) -> None:
    for body in BUDGETS:
        result = outcome(ACCOUNTS[case[0]], case[1], answer(body, status))
        assert (type(result), result.retryable) == (QuotaError, False), (body, result)
    words = "Validation of the parameter limit was not successful, it must be a number"
    if status in {400, 422}:
        result = outcome(ACCOUNTS[case[0]], case[1], answer({"message": words}, status))
        assert type(result) is BadRequestError


# --- gateways in front of an API ------------------------------------------------------------------

PAGE = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body></body></html>"
WALLS: list[tuple[int, bytes, dict[str, str]]] = [
    (403, PAGE, {"cf_mitigated": "challenge", "content_type": "text/html"}),
    (403, PAGE, {}),
    (403, b"error code: 1020", {"content_type": "text/plain"}),
    (403, b'{"status": 403, "title": "Access denied", "cloudflare_error": true}', {}),
    (403, b"<html><h1>Request blocked</h1>You have been blocked by the firewall.</html>", {}),
    (401, PAGE, {"cf_mitigated": "challenge"}),
    (429, PAGE, {"cf_mitigated": "challenge"}),
    (405, b"<html>Please solve this CAPTCHA</html>", {"x_amzn_waf_action": "captcha"}),
    (503, PAGE, {"content_type": "text/html; charset=UTF-8"}),
    (503, b"upstream connect error", {}),
    (202, b"", {"x_amzn_waf_action": "challenge"}),
    (429, PAGE, {"x_vercel_mitigated": "challenge"}),
    (403, b"Forbidden", {"x_vercel_mitigated": "deny"}),
    (403, b'{"url": "https://geo.walls.example/captcha/?id=7"}', {}),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_bot_check_in_front_of_an_api_is_not_a_wrong_key(case: tuple[str, Capability]) -> None:
    for status, body, headers in WALLS:
        if case[0] == "context7" and status == 202:
            continue  # it prepares a library
        result = outcome(ACCOUNTS[case[0]], case[1], answer(body=body, status=status, **headers))
        assert (type(result), result.status) == (UnavailableError, status), body
        assert "search.formats" not in str(result)
        assert "Check the API key" not in str(result)
        fault = failure_of(result)
        # A single one does not open the circuit.
        assert (
            fault is None
            or after_failure(None, failure=fault, now=time.time(), trial=None).until == 0.0
        )


@pytest.mark.parametrize("case", [case for case in KEYED if PROVIDERS[case[0]].about.key_variables])
def test_a_refused_key_in_plain_text_is_not_a_bot_check(case: tuple[str, Capability]) -> None:
    for words in ("Access denied: the API key is unknown", "Access denied. Invalid token"):
        result = outcome(ACCOUNTS[case[0]], case[1], answer(body=words.encode(), status=403))
        assert type(result) is AuthenticationError, (words, result)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_rate_limit_of_a_gateway_is_not_a_bot_check(case: tuple[str, Capability]) -> None:
    body = {"title": "Rate limited", "status": 429, "cloudflare_error": True, "retry_after": 31}
    result = outcome(ACCOUNTS[case[0]], case[1], answer(body, 429))
    assert (type(result), result.retry_after) == (RateLimitError, 31)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_bot_check_with_http_200_is_not_a_response_of_the_api(
    case: tuple[str, Capability],
) -> None:
    result = outcome(ACCOUNTS[case[0]], case[1], answer(body=PAGE))
    assert (type(result), result.status) == (UnavailableError, 200)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_page_of_a_gateway_with_403_is_not_a_wrong_key(case: tuple[str, Capability]) -> None:
    body = b"<html><head><title>403 Forbidden</title></head><body>nginx</body></html>"
    result = outcome(ACCOUNTS[case[0]], case[1], answer(body=body, status=403))
    # An instance of SearXNG sends such a page itself if it does not serve JSON.
    own = case[0] == "searxng"
    assert type(result) is (AuthenticationError if own else UnavailableError)


NO_ROUTE: list[dict[str, Any]] = [
    {"body": b"<html><head><title>404 Not Found</title></head><body>nginx</body></html>"},
    {"body": b"<!DOCTYPE html><html><body><pre>Cannot POST /v9/search</pre></body></html>"},
    {"body": b"404 page not found"},
    {"body": b""},
    *(
        {"value": value}
        for value in (
            {"message": "no Route matched with those values", "request_id": "7"},
            {"detail": "Not Found"},
            {"message": "Cannot GET /v9/search", "error": "Not Found", "statusCode": 404},
            {"error": {"message": "Unknown endpoint /v9/search"}},
            {"status": 404, "error": "Not Found", "path": "/v9/search"},
        )
    ),
]


@pytest.mark.parametrize("response", NO_ROUTE, ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_address_that_the_server_does_not_have_points_to_the_base_url(
    case: tuple[str, Capability], response: dict[str, Any]
) -> None:
    result = outcome(ACCOUNTS[case[0]], case[1], answer(**response, status=404))
    assert isinstance(result, ProviderError)
    assert "baseUrl" in str(result), result
    assert "Change the request" not in str(result)


ENVELOPES: list[Callable[[Any], Any]] = [
    lambda body: {"data": body},
    lambda body: {"result": body},
    lambda body: {"response": {"data": body}},
    lambda body: {"results": body},
    lambda body: {"data": {"results": [RESULT]}},
    lambda body: {"data": {"items": [RESULT]}},
    lambda body: {"result": {"results": [RESULT]}},
    lambda body: {"results": {"results": [RESULT]}},
    lambda body: {"statusCode": 200, "body": {"results": [RESULT]}},
]


@pytest.mark.parametrize("case", SEARCHES, ids=str)
def test_results_in_one_more_envelope_are_not_an_empty_success(
    case: tuple[str, Capability],
) -> None:
    for envelope in ENVELOPES:
        body = envelope(NOTHING[case])
        result = outcome(ACCOUNTS[case[0]], case[1], answer(body))
        assert type(result) is ResponseFormatError, (body, result)


@pytest.mark.parametrize("case", [case for case in CASES if case not in SEARCHES], ids=str)
def test_what_is_not_a_search_fails_in_one_more_envelope(case: tuple[str, Capability]) -> None:
    for envelope in ENVELOPES:
        result = outcome(ACCOUNTS[case[0]], case[1], answer(envelope(NOTHING[case])))
        assert isinstance(result, ProviderError), (envelope(NOTHING[case]), result)


# --- waiting times -----------------------------------------------------------------------------

NAMES = ["retry_after", "x_ratelimit_reset", "ratelimit_reset", "x_rate_limit_reset"]


def unix_time(seconds: float) -> str:
    return str(round(time.time() + seconds))


WAITS: dict[str, Callable[[int], str]] = {
    "seconds": str,
    "fraction": lambda seconds: f"{seconds}.0",
    "unix time": unix_time,
    "unix time in milliseconds": lambda seconds: f"{unix_time(seconds)}000",
    "unix time in microseconds": lambda seconds: f"{unix_time(seconds)}000000",
    "duration in seconds": lambda seconds: f"{seconds}s",
    "duration in milliseconds": lambda seconds: f"{seconds * 1000}ms",
    "duration in parts": lambda seconds: f"{seconds // 60}m{seconds % 60}s",
    "duration in words": lambda seconds: f"{seconds} seconds",
    "ISO duration": lambda seconds: f"PT{seconds // 60}M{seconds % 60}S",
    "ISO duration with days": lambda seconds: f"P0DT{seconds}S",
    "clock": lambda seconds: f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}",
    "ISO date": lambda seconds: (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(),
    "HTTP date": lambda seconds: format_datetime(
        datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True
    ),
}


@thorough
@given(any_case, st.sampled_from(NAMES), st.sampled_from([*WAITS]), st.integers(2, 7200))
def test_a_wait_is_read_in_every_form(
    case: tuple[str, Capability], name: str, form: str, seconds: int
) -> None:
    response = answer({}, 429, **{name: WAITS[form](seconds)})
    result = outcome(ACCOUNTS[case[0]], case[1], response)
    assert type(result) is RateLimitError
    assert result.retry_after == pytest.approx(seconds, abs=2)


BODIES: list[Callable[[int], Any]] = [
    lambda seconds: {"error": "Slow down.", "retryAfter": seconds},
    lambda seconds: {"error": {"message": "Slow down.", "retry_after": f"{seconds}s"}},
    lambda seconds: {"error": {"message": "Slow down.", "retry_after_ms": seconds * 1000}},
    lambda seconds: {"error": {"message": "Rate.", "details": [{"retryDelay": f"{seconds}s"}]}},
    lambda seconds: {"message": f"Too many requests. Try again in {seconds} seconds."},
    lambda seconds: {"detail": f"Throttled. Expected available in {seconds // 60}m{seconds % 60}s"},
    lambda seconds: {
        "error": {"message": f"Rate limit of 5 per 1s. Please retry after {seconds}s."}
    },
    lambda seconds: [{"error": f"Rate limit resets in about {seconds} sec."}],
    lambda seconds: {"error": {"message": "Slow down.", "retry_after": f"PT{seconds}S"}},
    lambda seconds: {"message": f"Slow down. Retry after {WAITS['clock'](seconds)}."},
    lambda seconds: {"message": f"Slow down. Retry after PT{seconds}S."},
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(
    ("value", "wait"),
    [("P1D", 86_400), ("P1W", 86_400), ("P0DT1H", 3600), ("P1M", None), ("P", None), ("PT", None)],
)
def test_an_iso_duration_is_no_more_than_a_day(
    case: tuple[str, Capability], value: str, wait: float | None
) -> None:
    for body, headers in (({"retry_after": value}, {}), ({}, {"retry_after": value})):
        result = outcome(ACCOUNTS[case[0]], case[1], answer(body, 503, **headers))
        assert (type(result), result.retry_after) == (UnavailableError, wait)


@thorough
@given(any_case, st.sampled_from(BODIES), st.integers(2, 7200), st.sampled_from([429, 503]))
def test_a_wait_is_read_from_the_fields_and_words_of_a_body(
    case: tuple[str, Capability], body: Callable[[int], Any], seconds: int, status: int
) -> None:
    result = outcome(ACCOUNTS[case[0]], case[1], answer(body(seconds), status))
    assert isinstance(result, RateLimitError | UnavailableError)
    assert result.retry_after == pytest.approx(seconds, abs=2)
    result = outcome(ACCOUNTS[case[0]], case[1], answer(body(seconds), status, retry_after="1"))
    assert result.retry_after == 1


@pytest.mark.parametrize("value", ["limit=5, remaining=0, reset=37", '"burst";r=0;t=37'])
def test_the_drafts_of_the_ratelimit_header_are_read(value: str) -> None:
    result = outcome(ACCOUNTS["exa"], "search", answer({}, 429, ratelimit=value))
    assert result.retry_after == 37


absurd = (
    st.integers(-(10**30), 10**30).map(str)
    | st.floats().map(str)
    | st.text(max_size=30)
    | st.sampled_from(
        ["9" * 400, "99999999d", "1e400", "-1", "1h-5m", "Fri, 31 Dec 9999 23:59:59 GMT", "P1Y"]
    )
)


@thorough
@given(
    any_case,
    st.sampled_from([*NAMES, "retry_after_ms"]),
    absurd,
    st.sampled_from([429, 503]),
)
def test_no_header_opens_a_circuit_for_more_than_15_minutes(
    case: tuple[str, Capability], name: str, value: str, status: int
) -> None:
    result = outcome(ACCOUNTS[case[0]], case[1], answer({}, status, **{name: value}))
    assert isinstance(result, RateLimitError | UnavailableError)
    assert result.retry_after is None or 0 <= result.retry_after <= 86_400
    fault = failure_of(result)
    assert fault is not None
    now, state = time.time(), None
    for _ in range(7):
        state = after_failure(state, failure=fault, now=now, trial=state.until if state else None)
        assert state.until <= now + 900


def test_no_stored_state_skips_a_provider_for_more_than_15_minutes() -> None:
    now = time.time()
    stored = State(3, 1, now + 86_400, "quota", "it received too many requests", now)
    assert not stored.is_open(now)


@pytest.mark.parametrize("name", ["retry-after", "x-ratelimit-reset"])
@pytest.mark.parametrize("value", ["86400", "99999999999999", "20d", "4102444800"])
def test_search_and_research_try_again_within_15_minutes(name: str, value: str) -> None:
    def respond(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(429, headers={name: value}, json={})

    config = {**CONFIG, "providers": [offline.entry("exa")]}
    client = WebTools(config, transport=httpx.MockTransport(respond))
    with pytest.raises(RateLimitError):
        client.search("q")
    other = WebTools(config, transport=httpx.MockTransport(respond))
    with pytest.raises(WebToolsError) as caught:
        other.research("q")
    if not isinstance(caught.value, RateLimitError):  # it was skipped
        assert caught.value.retry_after is not None
        assert caught.value.retry_after <= 900


# --- providers of others -----------------------------------------------------------------------


class Heron:
    """A provider that reads its API in the plainest way."""

    ABOUT = About(name="heron", title="Heron", origin="https://heron.example", needs_key=False)

    def native_filters(self, _query: SearchQuery, _account: Account) -> frozenset[Any]:
        return frozenset()

    def search_request(self, query: SearchQuery, account: Account) -> Request:
        return account.get("search", {"q": query.query})

    def search_price(self, _query: SearchQuery, _account: Account) -> float:
        return 0.0

    def read_search(self, response: Response, query: SearchQuery, account: Account) -> Hits:
        return read_hits(response.json()["hits"], HitFields(), query, account)

    def read_error(self, response: Response, account: Account, _: Any) -> ProviderError | None:
        if response.status == 200:
            return None
        return make_error("Heron", response, account, [response.json_or_none()])


@pytest.mark.parametrize("form", [*STATED, *BARE])
def test_errors_of_a_provider_of_others_keep_their_words_and_class(form: str) -> None:
    with registered(Heron()):
        account = offline.account("heron")
        body = (STATED | BARE)[form]("No credits remaining")
        assert_reports(outcome(account, "search", answer(body)), "No credits remaining", QuotaError)
        assert outcome(account, "search", answer({"hits": []})).results == []
        blocked = outcome(account, "search", answer(body=PAGE, status=403))
        assert type(blocked) is UnavailableError


# --- bytes -------------------------------------------------------------------------------------

ODD_BYTES = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x80", b"\xf0\x9f", b"\n", b"\t", b"\x07"]


@pytest.mark.parametrize("odd", ODD_BYTES)
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("exa", b'{"results": [{"url": "https://a.example/", "title": "Caf%s bar"}]}'),
        ("kagi", b'{"data": {"search": [{"url": "https://a.example/", "title": "Caf%s bar"}]}}'),
        ("serper", b'{"organic": [{"link": "https://a.example/", "title": "Caf%s bar"}]}'),
    ],
)
def test_an_invalid_byte_or_a_line_break_in_a_string_costs_a_character(
    kind: str, body: bytes, odd: bytes
) -> None:
    [result] = outcome(ACCOUNTS[kind], "search", answer(body=body % odd)).results
    assert result.title.startswith("Caf")
    assert result.title.endswith(" bar")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_byte_that_is_not_utf_8_does_not_hide_the_words_of_an_error(
    case: tuple[str, Capability],
) -> None:
    body = b'{"error": {"message": "Invalid API key \xff"}, "message": "Invalid API key"}'
    result = outcome(ACCOUNTS[case[0]], case[1], answer(body=body, status=401))
    assert_reports(result, "Invalid API key", AuthenticationError)


def test_hits_without_results_of_documentation_are_not_silent_either() -> None:
    result = outcome(ACCOUNTS["context7"], "docs", answer(NOTHING["context7", "docs"]))
    assert isinstance(result, Hits)
    body = {"results": [], "message": "Monthly quota exceeded", "success": False}
    assert type(outcome(ACCOUNTS["context7"], "docs", answer(body))) is QuotaError
