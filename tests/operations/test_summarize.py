"""Summarize as a whole: the request, the summary, and the type and cause of a failure."""

from __future__ import annotations

from typing import Any

import pytest
from offline import Answer, Stub, answer, client, entry

from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ConfigError,
    ProviderError,
    QuotaError,
    RateLimitError,
    ResponseFormatError,
    UnavailableError,
    WebToolsError,
)
from webtools.fencing import remove_fences
from webtools.results import ProviderAttempt, SummaryResponse
from webtools.truncation import MAX_BYTES

KAGI = entry("kagi")
A = "https://a.example/1"

pytestmark = pytest.mark.usefixtures("own_temp")


def output(text: str, tokens: int = 100) -> Any:
    return answer({"meta": {"api_balance": 1.5}, "data": {"output": text, "tokens": tokens}})


def test_a_summary_has_its_url_engine_and_type() -> None:
    with client(Stub(output("In short.")), KAGI) as web:
        response = web.summarize(A, engine="agnes", summary_type="takeaway")
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
    with client(stub, KAGI) as web:
        assert not web.call_tool("summarize", {"url": A, **arguments}).is_error
    assert stub.bodies == [{"url": A, **sent}]


def test_a_provider_that_cannot_summarize_is_skipped_and_refused_by_name() -> None:
    with client(Stub(output("x")), entry("exa"), KAGI, defaultProvider="my-exa") as web:
        assert web.summarize(A).provider == "my-kagi"
        with pytest.raises(ConfigError, match='"my-kagi"'):
            web.summarize(A, provider="my-exa")


def faults(*messages: str, code: int = 1) -> dict[str, Any]:
    return {"meta": {}, "data": None, "error": [{"code": code, "msg": m} for m in messages]}


@pytest.mark.parametrize(
    ("response", "kind", "part"),
    [
        (answer(None, 500), UnavailableError, "HTTP 500"),
        (answer(faults("Bad engine", "Bad type"), 400), BadRequestError, "Bad engine, Bad type"),
        (answer(faults("Unauthorized", code=2), 401), AuthenticationError, "options.v0ApiKey"),
        (answer(faults("Insufficient credit.", code=101), 400), QuotaError, '"my-kagi"'),
        (answer(faults("one", "two")), ProviderError, "one, two"),
        (answer(body=b"<html>"), ResponseFormatError, "JSONDecodeError"),
        (output(""), UnavailableError, f'"{A}"'),
        (answer(faults("Slow down"), 429, retry_after="90"), RateLimitError, "90 s"),
    ],
)
def test_a_failure_has_its_type_and_names_its_cause(
    response: Answer, kind: type[WebToolsError], part: str
) -> None:
    with client(Stub(response), KAGI) as web, pytest.raises(WebToolsError) as caught:
        web.summarize(A)
    assert part in str(caught.value)
    assert type(caught.value) is kind
    assert caught.value.provider == "my-kagi"


def test_a_summary_of_one_long_line_is_cut_and_not_dropped() -> None:
    with client(Stub(output("ä" * 40_000)), KAGI) as web:
        result = web.call_tool("summarize", {"url": A})
    body, _, notice = result.text.partition("\n\n")
    assert set(remove_fences(body)) == {"ä"}
    assert 0 <= MAX_BYTES - len(body.encode()) < len("ä".encode())
    assert str(result.details["full_output_path"]) in notice
    assert f"handle {result.details['read_handle']}, offset {len(remove_fences(body))}." in notice
    assert result.details["truncation"]["last_line_partial"]
