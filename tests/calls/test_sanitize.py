"""What results and errors go through on their way out: `test_invisible` has what is removed."""

import pickle
import traceback
from collections.abc import Coroutine
from typing import Any

import pytest
from offline import IO, run

from webtools import ProviderError, RequestError
from webtools._internal.call.sanitize import sanitize
from webtools._internal.http.clients import BlockingHTTP
from webtools._internal.text.redaction import MARK, Redactor
from webtools.results import ResearchPlan, SearchResponse

KEY = "test-key-exa-0123456789"


def drive(flow: Coroutine[Any, Any, Any]) -> Any:
    return run(flow, BlockingHTTP())


def sanitized(warning: str) -> Any:
    async def flow() -> SearchResponse:
        return SearchResponse(provider="exa", queries=["q"], results=[], warnings=[warning])

    return drive(sanitize(flow, Redactor([KEY]), IO))


def test_the_gate_cleans_what_a_flow_returns() -> None:
    assert sanitized(f"with {KEY}").warnings == [f"with {MARK}"]


def test_a_key_split_by_hidden_characters_is_redacted() -> None:
    broken = KEY[:9] + "\u200b" + KEY[9:]
    assert sanitized(broken).warnings[0] == MARK


def test_a_key_beside_a_lone_surrogate_is_redacted() -> None:
    assert sanitized(f"\ud800 {KEY[:9]}\u200b{KEY[9:]}").warnings[0] == f"\ufffd {MARK}"


def test_a_plan_has_no_warnings_and_gets_none() -> None:
    plan = ResearchPlan.model_construct(query="a\u200bb")

    async def flow() -> ResearchPlan:
        return plan

    cleaned = drive(sanitize(flow, Redactor([KEY]), IO))
    assert (cleaned.query, hasattr(cleaned, "warnings")) == ("ab", False)


def test_a_clean_response_passes_as_it_is() -> None:
    response = SearchResponse(provider="exa", queries=["q…"], results=[])

    async def flow() -> SearchResponse:
        return response

    assert drive(sanitize(flow, Redactor([KEY]), IO)) is response


def test_the_gate_cleans_what_a_flow_raises_and_cuts_off_what_led_to_it() -> None:
    async def flow() -> SearchResponse:
        held = KEY
        try:
            raise ValueError(held)
        except ValueError as error:
            raise ProviderError(f"exa said {held}", status=500) from error

    with pytest.raises(ProviderError) as caught:
        drive(sanitize(flow, Redactor([KEY]), IO))
    error = caught.value
    assert (str(error), error.__cause__, error.__context__) == (f"exa said {MARK}", None, None)
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    assert KEY not in "".join(shown.format())
    assert KEY.encode() not in pickle.dumps(error)


def test_a_clean_error_passes_with_its_cause() -> None:
    failed = RequestError("broken")

    async def flow() -> SearchResponse:
        raise failed from ValueError("why")

    with pytest.raises(RequestError) as caught:
        drive(sanitize(flow, Redactor([KEY]), IO))
    assert caught.value is failed
    assert str(failed.__cause__) == "why"


def test_an_internal_error_passes() -> None:
    async def flow() -> SearchResponse:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        drive(sanitize(flow, Redactor([KEY]), IO))
