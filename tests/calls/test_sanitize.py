"""What results and errors go through on their way out: `test_invisible` has what is removed."""

import pickle
import traceback
from collections.abc import Coroutine
from typing import Any

import pytest
from offline import IO, run

from webtools import ProviderError
from webtools._internal.call.sanitize import sanitize
from webtools._internal.http.clients import BlockingHTTP
from webtools._internal.text.redaction import MARK, Redactor
from webtools.results import SearchResponse
from webtools.results.research_models import ResearchEnvelope

KEY = "test-key-exa-0123456789"


def drive(flow: Coroutine[Any, Any, Any]) -> Any:
    return run(flow, BlockingHTTP())


def sanitized(warning: str) -> Any:
    async def flow() -> SearchResponse:
        return SearchResponse(provider="exa", queries=["q"], results=[], warnings=[warning])

    return drive(sanitize(flow, Redactor([KEY]), IO))


def test_a_key_split_by_hidden_characters_is_redacted() -> None:
    broken = KEY[:9] + "\u200b" + KEY[9:]
    assert sanitized(broken).warnings[0] == MARK


def test_texts_that_are_not_in_the_json_are_cleaned() -> None:
    async def flow() -> ResearchEnvelope:
        hidden = f"{KEY} \x1b]0;t\x07 {KEY[:9]}\u200b{KEY[9:]}"
        claim = {"text": "It is.", "status": "unsupported", "citations": [], "heading": hidden}
        meta = {"query": "q", "command": "web-deep", "provider_chain": [], "confidence": "low"}
        meta |= {"normalized_query": "q", "retrieved_at": "2026-11-01T00:00:00Z"}
        meta |= {"confidence_rule": hidden}
        synthesis = {"summary": "", "citations": [], "claims": [claim]}
        values = {"results": [], "meta": meta, "synthesis": synthesis}
        return ResearchEnvelope.model_validate(values)

    envelope = drive(sanitize(flow, Redactor([KEY]), IO))
    for text in (envelope.meta.confidence_rule, envelope.synthesis.claims[0].heading):
        assert KEY[:12] not in text.replace("\u200b", "")
        assert "\x1b" not in text


def test_a_key_beside_a_lone_surrogate_is_redacted() -> None:
    assert sanitized(f"\ud800 {KEY[:9]}\u200b{KEY[9:]}").warnings[0] == f"\ufffd {MARK}"


def test_an_error_is_cleaned_and_loses_its_cause() -> None:
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
