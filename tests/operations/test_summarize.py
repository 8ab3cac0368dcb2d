"""Summarize as a whole: the request, the text, and the messages that were carried over."""

from __future__ import annotations

from typing import Any

import pytest
from offline import IO, Answer, Clock, Stub, account, accounts, answer, detached, drive, entry, run

from webtools.calls.present import present_summary
from webtools.calls.select import CALLS
from webtools.config import Accounts
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ConfigError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestError,
    RequestTimeoutError,
    ResponseFormatError,
    UnavailableError,
    WebToolsError,
)
from webtools.operations.summarize import summarize
from webtools.providers.protocols import SummaryQuery
from webtools.results import AskedProvider, SummaryResponse
from webtools.text.fencing import unfenced
from webtools.tools import SummarizeInput, read_input
from webtools.truncation import MAX_BYTES

KAGI = account("kagi")
A = "https://a.example/1"

pytestmark = pytest.mark.usefixtures("own_temp")


def summarized(*answers: Answer, **settings: Any) -> SummaryResponse:
    return drive(summarize([KAGI], SummaryQuery(A, **settings), detached()), *answers)


def called(stub: Stub, settings: Accounts, **arguments: Any) -> SummaryResponse:
    """Summarize as the tool does, with arguments as a model sends them."""
    found: SummaryResponse = run(
        CALLS["summarize"](read_input(SummarizeInput, arguments), detached(settings)), stub
    )
    return found


def output(text: str, tokens: int = 100) -> Any:
    return answer({"meta": {"api_balance": 1.5}, "data": {"output": text, "tokens": tokens}})


def test_a_summary_says_what_it_is_of() -> None:
    response = summarized(output("In short."), engine="agnes", summary_type="takeaway")
    assert response.model_copy(update={"retrieved_at": None}) == SummaryResponse(
        provider="my-kagi",
        asked=[AskedProvider(provider="my-kagi", served=True)],
        url=A,
        text="In short.",
        summary_type="takeaway",
        engine="agnes",
        tokens=100,
        cost_usd=0.003,
        cost_is_estimate=True,
    )


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({}, {"summary_type": "summary", "engine": "cecil"}),
        (
            {"summaryType": "takeaway", "engine": "agnes", "targetLanguage": "ja"},
            {"summary_type": "takeaway", "engine": "agnes", "target_language": "JA"},
        ),
        ({"target_language": ""}, {"summary_type": "summary", "engine": "cecil"}),
    ],
)
def test_engine_and_type_are_always_sent(arguments: dict[str, Any], sent: dict[str, Any]) -> None:
    stub = Stub(output("x"))
    called(stub, accounts(entry("kagi")), url=A, **arguments)
    assert stub.bodies == [{"url": A, **sent}]


def test_only_a_provider_that_can_summarizes() -> None:
    settings = accounts(entry("exa"), entry("kagi"), defaultProvider="my-exa")
    assert called(Stub(output("x")), settings, url=A).provider == "my-kagi"
    with pytest.raises(ConfigError, match=r'cannot summarize; these can: "my-kagi"'):
        called(Stub(), settings, url=A, provider="my-exa")


# --- messages ----------------------------------------------------------------------------------

KEY_HINT = (
    'Check the API key of provider "my-kagi": the summarizer is a v0 API, so a v1 key needs a v0 '
    "key beside it in options.v0ApiKey."
)
CHANGE = "Change the request; the same one will fail again."
LATER = "Try again later or use another provider."


def faults(*messages: str, code: int = 1) -> dict[str, Any]:
    return {"meta": {}, "data": None, "error": [{"code": code, "msg": m} for m in messages]}


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (
            RequestError("name not known", retryable=False),
            RequestError,
            (f'Network error while summarizing "{A}": name not known. '
            "Another call will fail the same way."),
        ),
        (
            RequestTimeoutError("no answer came in time"),
            RequestTimeoutError,
            (f'Network error while summarizing "{A}": no answer came in time (allowed: 120 s; '
            "timeoutMs of the provider sets it). Try again later."),
        ),
        (answer(None, 500), UnavailableError, f"Kagi API returned HTTP 500. {LATER}"),
        (
            answer(faults("Bad engine", "Bad type"), 400),
            BadRequestError,
            f"Kagi API returned HTTP 400: Bad engine, Bad type. {CHANGE}",
        ),
        (
            answer(faults("Unauthorized", code=2), 401),
            AuthenticationError,
            f"Kagi API returned HTTP 401: Unauthorized. {KEY_HINT}",
        ),
        (
            answer(faults("Insufficient credit to perform this request.", code=101), 400),
            QuotaError,
            ("Kagi API returned HTTP 400: Insufficient credit to perform this request. "
            'Top up the account of provider "my-kagi" or use another provider.'),
        ),
        (
            answer(faults("one", "two")),
            ProviderError,
            "Kagi API error: one, two. Change the request or use another provider.",
        ),
        (
            answer(body=b"<html>"),
            ResponseFormatError,
            (f'Failed to parse Kagi API response for "{A}". The response (HTTP 200) does not match '
            "the documented format; use another provider. Cause: JSONDecodeError in "),
        ),
        (
            output(""),
            UnavailableError,
            f'Kagi API returned no summary for "{A}". Try again or fetch the page.',
        ),
        (
            answer(faults("Slow down"), 429, retry_after="90"),
            RateLimitError,
            "Kagi API returned HTTP 429: Slow down. Wait 90 s before the next call.",
        ),
    ],
)  # fmt: skip
def test_a_failure_is_told_in_these_words(
    given: Answer, kind: type[WebToolsError], message: str, clock: Clock
) -> None:
    with pytest.raises(WebToolsError) as caught:
        summarized(given)
    assert str(caught.value).startswith(message)
    assert type(caught.value) is kind
    assert caught.value.provider == "my-kagi"


def test_a_timeout_of_the_settings_is_the_one_that_is_told() -> None:
    hurried = account("kagi", timeoutMs=1500)
    with pytest.raises(RequestTimeoutError, match=r"allowed: 1\.5 s"):
        drive(summarize([hurried], SummaryQuery(A), detached()), RequestTimeoutError("late"))


def test_a_summary_has_two_minutes(clock: Clock) -> None:
    stub = Stub(
        answer(None, 503, retry_after="59"), answer(None, 503, retry_after="59"), output("x")
    )
    assert run(summarize([KAGI], SummaryQuery(A), detached()), stub).text == "x"
    assert clock.slept == [59.0, 59.0]


def test_a_wait_of_more_than_a_minute_is_left_to_the_caller(clock: Clock) -> None:
    stub = Stub(answer(None, 503, retry_after="61"))
    with pytest.raises(UnavailableError) as caught:
        run(summarize([KAGI], SummaryQuery(A), detached()), stub)
    assert (caught.value.retry_after, len(stub.requests), clock.slept) == (61.0, 1, [])


# --- the budget --------------------------------------------------------------------------------


def test_a_summary_of_one_long_line_is_cut_and_not_dropped() -> None:
    found = drive(present_summary(summarized(output("ä" * 40_000)), IO))
    body, _, notice = found.text.partition("\n\n")
    assert set(unfenced(body)) == {"ä"}
    assert len(body.encode()) == MAX_BYTES
    assert notice == (
        "[Output truncated: showing 1 of 1 lines (49.8KB of 78.1KB). 0 lines (28.3KB) omitted. "
        f"Full output saved to: {found.details['full_output_path']}]\n"
        f"[Read on with web_read: handle {found.details['read_handle']}, "
        f"offset {len(unfenced(body))}.]"
    )
    assert found.details["truncation"]["last_line_partial"]
