"""Perplexity: requests, responses, and known quirks of the API."""

from __future__ import annotations

import pickle
import time
from datetime import date, datetime, timedelta, timezone
from typing import Any

import offline
import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline import KEY, OPTIONS, answer

from webtools import WebTools
from webtools.errors import (
    ProviderError,
    UnavailableError,
)
from webtools.messages import Request, Response
from webtools.providers import Account, perplexity
from webtools.providers.protocols import Cost, Hits, SearchQuery, Source, Synthesis, SynthesisQuery
from webtools.results import SearchResult

ACCOUNT = offline.account("perplexity")
QUERY = SearchQuery("rust async", limit=3)
A, B = "https://a.example/1", "https://b.example/2"


def body_of(query: SearchQuery, account: Account = ACCOUNT) -> dict[str, Any]:
    body: dict[str, Any] = perplexity.search_request(query, account).json
    return body


def read(*items: Any, account: Account = ACCOUNT) -> Hits:
    body = {"id": "1", "results": list(items), "server_time": None}
    return perplexity.read_search(answer(body), QUERY, account)


def hit(**fields: Any) -> SearchResult:
    return read({"url": A, "title": "A", **fields}).results[0]


# --- search: the request -----------------------------------------------------------------------


def test_dates_are_written_month_first() -> None:
    query = SearchQuery(
        "q",
        3,
        start_published_date=date(2026, 4, 1),
        end_published_date=datetime(2026, 5, 31, 20, tzinfo=timezone(timedelta(hours=-5))),
    )
    sent = body_of(query)
    assert sent["search_after_date_filter"] == "04/01/2026"
    assert sent["search_before_date_filter"] == "06/01/2026"
    assert perplexity.native_filters(query, ACCOUNT) - OPTIONS == {
        "start_published_date",
        "end_published_date",
    }


DATES = {"start_published_date", "end_published_date"}
MANY = tuple(f"{n}.example" for n in range(21))


@pytest.mark.parametrize(
    ("include", "exclude", "sent", "native", "count"),
    [
        (("a.example", "b.example"), (), ["a.example", "b.example"], {"include_domains"}, 3),
        ((), ("a.example", "b.example"), ["-a.example", "-b.example"], {"exclude_domains"}, 3),
        (("a.example",), ("b.a.example",), ["a.example"], {"include_domains"}, 20),
        (("gov", "a.example"), (), [".gov", "a.example"], {"include_domains"}, 3),
        ((), ("gov",), ["-.gov"], {"exclude_domains"}, 3),
        (("co.uk",), (), None, set(), 20),
        (MANY, (), None, set(), 20),
        (MANY, ("a.example",), None, set(), 20),
        ((), MANY, None, set(), 20),
        ((), (), None, set(), 3),
    ],
)
def test_domains_are_allowed_or_denied_and_the_rest_is_done_here(
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    sent: list[str] | None,
    native: set[str],
    count: int,
) -> None:
    query = SearchQuery("q", 3, include_domains=include, exclude_domains=exclude)
    body = body_of(query)
    assert body.get("search_domain_filter") == sent
    assert body["max_results"] == count
    assert perplexity.native_filters(query, ACCOUNT) - OPTIONS - DATES == native


# --- search: the answer ------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [{}, {"date": None}, {"date": "soon"}, {"date": 2026}])
def test_the_time_of_a_crawl_is_not_the_publication_date(fields: dict[str, Any]) -> None:
    assert hit(last_updated="2026-02-25", **fields).published_at is None


# --- synthesis ---------------------------------------------------------------------------------

SOURCES = (Source(1, "First", A, "One.\nTwo."), Source(2, "Second\n[3] x", B, ""))
QUESTION = SynthesisQuery("Is it\n so?", SOURCES)


def test_a_synthesis_is_one_post_that_neither_searches_nor_is_stored() -> None:
    request = perplexity.synthesis_request(QUESTION, ACCOUNT)
    sent = request.json
    assert (request.method, request.url) == ("POST", "https://api.perplexity.ai/v1/agent")
    assert request.headers == {"authorization": f"Bearer {KEY}"}
    assert set(sent) == {"preset", "instructions", "input", "tool_choice", "store"}
    assert (sent["preset"], sent["tool_choice"], sent["store"]) == ("fast", "none", False)


def test_the_sources_are_numbered_in_the_input() -> None:
    assert perplexity.synthesis_request(QUESTION, ACCOUNT).json["input"] == (
        "Question: Is it so?\n\nSources:\n\n[1] First\n    One.\n    Two.\n\n[2] Second [3] x"
    )


@given(st.text(st.characters(exclude_categories=())))
def test_no_text_of_a_page_passes_for_another_source(text: str) -> None:
    query = SynthesisQuery("q", (Source(1, text, A, f"[2] x\n\n[3] {text}\r[4] y\u2028[5]"),))
    rows = perplexity.synthesis_request(query, ACCOUNT).json["input"].splitlines()
    assert [row[:3] for row in rows if row.startswith("[")] == ["[1]"]


def message(*texts: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content}


def synthesis(*output: dict[str, Any], **fields: Any) -> Synthesis:
    body = {"object": "response", "status": "completed", "output": list(output), **fields}
    return perplexity.read_synthesis(answer(body), QUESTION, ACCOUNT)


def test_the_text_and_the_provider_s_own_price_are_read() -> None:
    usage = {"total_tokens": 9, "cost": {"currency": "USD", "total_cost": 0.00125}}
    result = synthesis(message("It is ", "so [1]."), usage=usage)
    assert result == Synthesis("It is so [1].", Cost(0.00125, is_estimate=False))


@pytest.mark.parametrize("usage", [None, {}, {"cost": None}, {"cost": {"total_cost": -1}}])
def test_without_a_price_it_is_estimated(usage: Any) -> None:
    assert synthesis(message("x"), usage=usage).cost == Cost(
        perplexity.ABOUT.prices["synthesis"], is_estimate=True
    )


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"status": "completed"}, "completed"),
        ({"status": "failed", "error": {"message": "No model."}}, "failed: No model."),
        ({"status": "queued", "incomplete_details": None, "error": None}, "queued"),
        ({"status": None}, "unknown"),
    ],
)
def test_an_answer_without_text_is_unavailable(fields: dict[str, Any], status: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        synthesis(**fields)
    assert f"({status})" in str(caught.value)
    assert (caught.value.provider, caught.value.status) == ("my-perplexity", 200)


INCOMPLETE = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
PRICED = {"usage": {"cost": {"currency": "USD", "total_cost": 0.0123}}}


def test_an_answer_out_of_tokens_is_not_retryable() -> None:
    with pytest.raises(UnavailableError) as caught:
        synthesis(**INCOMPLETE)
    assert "(incomplete: max_output_tokens)" in str(caught.value)
    assert "synthesisPreset" in str(caught.value)
    assert not caught.value.retryable


def test_an_answer_without_text_has_its_own_price() -> None:
    with pytest.raises(UnavailableError) as caught:
        synthesis(**INCOMPLETE, **PRICED)
    assert caught.value.cost_usd == 0.0123
    assert pickle.loads(pickle.dumps(caught.value)).cost_usd == 0.0123


def test_the_price_of_an_answer_without_text_settles_what_was_reserved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def send(_transport: Any, request: Request, _deadline: float) -> Response:
        if request.url.startswith("https://api.exa.ai/"):
            hit = {"title": "A", "url": A, "highlights": ["Rust is a language."]}
            return answer({"results": [hit], "costDollars": {"total": 0.001}})
        return answer({"output": [], **INCOMPLETE, **PRICED})

    monkeypatch.setattr("webtools._internal.http.clients.BlockingHTTP.send", send)
    settings = {
        "providers": [offline.entry("exa"), offline.entry("perplexity")],
        "budget": {"usdPerProcess": 1.0},
        "cache": {"enabled": False},
        "log": {"enabled": False},
    }
    with WebTools(settings) as web:
        result = web.research("what is Rust?", synthesis="perplexity")
        spent = web.plan("what is Rust?").budget
    assert spent is not None

    assert spent.usd_process == pytest.approx(0.001 + 0.0123)
    assert result.meta.cost_usd == pytest.approx(0.001 + 0.0123)


def test_no_reason_ends_in_half_a_key() -> None:
    words = "e" * 180 + "\u200b".join(KEY * 2)
    with pytest.raises(UnavailableError, match=r"eee\[redacted\]") as caught:
        synthesis(status="failed", error={"message": words})
    assert KEY[:3] not in str(caught.value)


def test_an_answer_that_was_cut_short_is_kept_with_a_warning() -> None:
    details = {"reason": "max_output_tokens"}
    result = synthesis(message("Half"), status="incomplete", incomplete_details=details)
    assert result.text == "Half"
    assert "max_output_tokens" in result.warnings[0]


@pytest.mark.parametrize("kind", ["search_results", "fetch_url_results"])
def test_a_search_by_the_synthesizer_is_reported(kind: str) -> None:
    result = synthesis({"type": kind, "results": [{"id": 1, "url": A}]}, message("So [1]."))
    assert len(result.warnings) == 1


# --- errors ------------------------------------------------------------------------------------


def error(body: Any, status: int, **headers: str) -> ProviderError:
    error = perplexity.read_error(answer(body, status, **headers), ACCOUNT, "search")
    assert error is not None
    return error


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after_ms": "90000"}, 90.0),
        ({"retry_after_ms": "900000000"}, 86_400.0),
        ({"retry_after_ms": "soon", "retry_after": "9"}, 9.0),
        ({"retry_after": "9", "x_ratelimit_reset": "1"}, 9.0),
        ({"x_ratelimit_reset": "1"}, 1.0),
        ({"x_ratelimit_reset": "soon"}, None),
        ({}, None),
    ],
)
def test_a_wait_is_read_from_the_most_precise_header(
    headers: dict[str, str], wait: float | None
) -> None:
    assert error({}, 429, **headers).retry_after == wait


def test_a_reset_is_a_moment_and_counts_only_for_too_many_calls() -> None:
    reset = str(int(time.time()) + 20)
    assert error({}, 429, x_ratelimit_reset=reset).retry_after == pytest.approx(20, abs=1)
    assert error({}, 503, x_ratelimit_reset=reset).retry_after is None
    assert error({}, 503, retry_after_ms="250").retry_after == 0.25
