"""Summarize as a whole: the request, the text, and the messages that were carried over."""

from __future__ import annotations

from typing import Any

import pytest
from offline import IO, Answer, Clock, Stub, account, accounts, answer, detached, drive, entry, run

from webtools._internal.call.present import present_summary
from webtools._internal.call.select import CALLS
from webtools._internal.operations.summarize import summarize
from webtools._internal.text.fencing import unfenced
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
from webtools.providers.protocols import SummaryQuery
from webtools.results import ProviderAttempt, SummaryResponse
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


def test_a_summary_has_its_url_engine_and_type() -> None:
    response = summarized(output("In short."), engine="agnes", summary_type="takeaway")
    assert response.model_copy(update={"retrieved_at": None}) == SummaryResponse(
        provider="my-kagi",
        attempts=[ProviderAttempt(provider="my-kagi", served=True)],
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


def test_a_provider_that_cannot_summarize_is_skipped_and_refused_by_name() -> None:
    settings = accounts(entry("exa"), entry("kagi"), defaultProvider="my-exa")
    assert called(Stub(output("x")), settings, url=A).provider == "my-kagi"
    with pytest.raises(ConfigError, match='"my-kagi"'):
        called(Stub(), settings, url=A, provider="my-exa")


# --- messages ----------------------------------------------------------------------------------


def faults(*messages: str, code: int = 1) -> dict[str, Any]:
    return {"meta": {}, "data": None, "error": [{"code": code, "msg": m} for m in messages]}


@pytest.mark.parametrize(
    ("response", "kind", "named"),
    [
        (
            RequestError("name not known", retryable=False),
            RequestError,
            f'"{A}": name not known',
        ),
        (
            RequestTimeoutError("no answer came in time"),
            RequestTimeoutError,
            "timeoutMs",
        ),
        (answer(None, 500), UnavailableError, "HTTP 500"),
        (
            answer(faults("Bad engine", "Bad type"), 400),
            BadRequestError,
            "HTTP 400: Bad engine, Bad type",
        ),
        (
            answer(faults("Unauthorized", code=2), 401),
            AuthenticationError,
            "options.v0ApiKey",
        ),
        (
            answer(faults("Insufficient credit to perform this request.", code=101), 400),
            QuotaError,
            '"my-kagi"',
        ),
        (
            answer(faults("one", "two")),
            ProviderError,
            "one, two",
        ),
        (
            answer(body=b"<html>"),
            ResponseFormatError,
            "JSONDecodeError",
        ),
        (
            output(""),
            UnavailableError,
            f'"{A}"',
        ),
        (
            answer(faults("Slow down"), 429, retry_after="90"),
            RateLimitError,
            "HTTP 429: Slow down. Wait 90 s",
        ),
    ],
)  # fmt: skip
def test_a_failure_has_its_type_and_names_its_cause(
    response: Answer, kind: type[WebToolsError], named: str, clock: Clock
) -> None:
    with pytest.raises(WebToolsError) as caught:
        summarized(response)
    assert named in str(caught.value)
    assert type(caught.value) is kind
    assert caught.value.provider == "my-kagi"


def test_a_time_out_names_the_configured_limit() -> None:
    hurried = account("kagi", timeoutMs=1500)
    with pytest.raises(RequestTimeoutError, match=r"allowed: 1\.5 s"):
        drive(summarize([hurried], SummaryQuery(A), detached()), RequestTimeoutError("late"))


# --- the budget --------------------------------------------------------------------------------


def test_a_summary_of_one_long_line_is_cut_and_not_dropped() -> None:
    found = drive(present_summary(summarized(output("ä" * 40_000)), IO))
    body, _, notice = found.text.partition("\n\n")
    assert set(unfenced(body)) == {"ä"}
    assert len(body.encode()) == MAX_BYTES
    assert str(found.details["full_output_path"]) in notice
    assert f"handle {found.details['read_handle']}, offset {len(unfenced(body))}." in notice
    assert found.details["truncation"]["last_line_partial"]
