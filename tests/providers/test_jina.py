"""Jina: one request for each page, prices by tokens, and errors."""

from __future__ import annotations

from typing import Any

import offline
import pytest
from offline import KEY, Stub, answer, detached

from webtools._internal.faults import Fault
from webtools._internal.operations.fetch import fetch
from webtools.errors import RateLimitError
from webtools.messages import Request
from webtools.providers import jina
from webtools.providers.protocols import Cost, PageQuery
from webtools.results import fault_of

ACCOUNT = offline.account("jina")
KEYLESS = offline.accounts({"name": "free", "type": "jina"}).accounts[0]
A, B = "https://a.example/1", "https://b.example/2#part"


def read(content: str | None = "Words of a page.", **more: Any) -> dict[str, Any]:
    data = {"title": "A", "url": A, "content": content, "usage": {"tokens": 1000}, **more}
    return {"code": 200, "status": 20000, "data": data}


def fault(name: str, **more: Any) -> dict[str, Any]:
    return {"data": None, "name": name, "message": "It did not load.", **more}


def test_a_page_is_one_post_with_the_key_and_a_bound_on_its_tokens_in_headers() -> None:
    bound = {"accept": "application/json", "x-token-budget": "200000"}
    request = Request(
        "POST",
        "https://r.jina.ai/",
        {**bound, "authorization": f"Bearer {KEY}"},
        json={"url": B},
    )
    assert jina.fetch_request(PageQuery((B,)), ACCOUNT) == request
    assert jina.fetch_request(PageQuery((B,)), KEYLESS).headers == bound


def test_each_page_is_a_request_and_tokens_are_paid_for_with_a_key_alone() -> None:
    stub = Stub(answer(read()))
    response = offline.run(fetch([ACCOUNT], PageQuery((A, B)), detached()), stub)
    assert [page.text for page in response.pages] == ["Words of a page."] * 2
    assert (stub.bodies, response.cost_usd) == ([{"url": A}, {"url": B}], 0.0001)
    assert jina.fetch_price(PageQuery((A, B)), ACCOUNT) == pytest.approx(0.02)
    assert jina.fetch_price(PageQuery((A, B)), KEYLESS) == 0
    free = jina.read_pages(answer(read()), PageQuery((A,)), KEYLESS)
    assert free.cost == Cost(0.0, is_estimate=False)


@pytest.mark.parametrize(
    ("published", "day"),
    [("2026-05-03T10:20:00Z", "2026-05-03"), ("Sun, 03 May 2026 10:20:00 GMT", None)],
)
def test_the_day_on_which_a_page_was_changed_is_not_that_of_its_publication(
    published: str, day: str | None
) -> None:
    pages = jina.read_pages(answer(read(publishedTime=published)), PageQuery((A,)), ACCOUNT)
    result = pages.pages[0].published_at
    assert (result and f"{result:%Y-%m-%d}") == day
    assert pages.warnings == []


@pytest.mark.parametrize(
    ("status", "kind"), [(404, Fault.GONE), (410, Fault.GONE), (403, Fault.NONE)]
)
def test_a_missing_page_has_its_fault(status: int, kind: Fault) -> None:
    response = answer(read(warning=f"Target URL returned error {status}: Odd"))
    assert fault_of(jina.read_pages(response, PageQuery((A,)), ACCOUNT).pages[0]) is kind


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (answer(read(warning="Target URL returned error 404: Not Found")), "HTTP 404"),
        (answer(read(content=None)), ""),
        (answer(fault("AssertionFailureError"), 422), "It did not load."),
        (answer(fault("SubmittedDataMalformedError", message=5), 422), "SubmittedDataMalf"),
        (answer(fault("SecurityCompromiseError"), 451), "It did not load."),
        (answer(fault("BudgetExceededError"), 409), "It did not load."),
        (answer(fault("TargetFileTooLargeError"), 413), "It did not load."),
    ],
)
def test_a_failing_page_loses_no_other(response: Any, error: str) -> None:
    stub = Stub(lambda request: response if request.json["url"] == A else answer(read()))
    result = offline.run(fetch([ACCOUNT], PageQuery((A, B)), detached()), stub)
    assert result.pages[0].error
    assert error in result.pages[0].error
    assert result.pages[1].error is None


@pytest.mark.parametrize(
    ("account", "more", "wait"),
    [(ACCOUNT, {"retryAfter": 12}, 12), (KEYLESS, {"retryAfter": 12}, 12), (KEYLESS, {}, 60)],
)
def test_a_rate_limit_has_a_wait_of_a_minute_by_default_without_a_key(
    account: Any, more: dict[str, Any], wait: float
) -> None:
    response = answer(fault("RateLimitTriggeredError", **more), 429)
    error = jina.read_error(response, account, "fetch")
    assert type(error) is RateLimitError
    assert error.retry_after == wait
