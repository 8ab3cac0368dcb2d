"""Calls as others see them: records of the standard `logging`, and spans of OpenTelemetry."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from webtools import ProviderError, RequestError, WebTools
from webtools._internal.http.watching import Tracing

KEY = "test-key-0123456789"
QUERY = "quarterly figures of the northern branch"
HIT = {"title": "Figures", "url": "https://figures.example/"}


current_spans: list[trace.Span] = []


def web(*statuses: int, **settings: Any) -> WebTools:
    """Make tools whose provider answers with these statuses, and then with a hit."""
    remaining = [*statuses]

    def answer(request: httpx.Request) -> httpx.Response:
        current_spans.append(trace.get_current_span())  # as an instrumentation of httpx does
        status = remaining.pop(0) if remaining else 200
        if status == 0:
            raise httpx.ConnectError("no", request=request)
        fault = {"error": f"about {QUERY}: {KEY}"}
        return httpx.Response(status, json={"results": [HIT]} if status == 200 else fault)

    entry = {"name": "exa", "type": "exa", "apiKey": KEY}
    quiet = {"cache": {"enabled": False}, "log": {"enabled": False}}
    return WebTools(
        {"providers": [entry], **quiet, **settings}, transport=httpx.MockTransport(answer)
    )


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0)


def records_of(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, str]]:
    return [
        (item.name, item.levelname, vars(item)["webtools"].get("event", item.getMessage()[:8]))
        for item in caplog.records
        if item.name.startswith("webtools.")
    ]


# --- records -----------------------------------------------------------------------------------


def test_a_call_is_one_record_at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    web().search(QUERY)
    [record] = [item for item in caplog.records if item.name == "webtools.calls"]
    facts = vars(record)["webtools"]
    assert record.levelname == "INFO"
    assert record.getMessage().startswith("web_search done ms=")
    assert facts["ms"] >= 0
    expected = {"provider_used": "exa", "cost_usd": 0.007, "cache_hit": False, "result_count": 1}
    assert facts.items() >= {"tool": "web_search", "is_error": False, **expected}.items()


def test_at_debug_retries_and_requests_are_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    web(503, 0).search(QUERY)
    calls, http = "webtools.calls", "webtools.http"
    assert records_of(caplog) == [
        (calls, "DEBUG", "call"),
        (http, "DEBUG", "POST api"),
        (calls, "DEBUG", "retry"),
        (http, "DEBUG", "POST api"),
        (calls, "DEBUG", "retry"),
        (http, "DEBUG", "POST api"),
        (calls, "DEBUG", "provider_success"),
        (calls, "INFO", "done"),
    ]
    requests = [vars(item)["webtools"] for item in caplog.records if item.name == http]
    assert [(item["host"], item.get("status"), item.get("error")) for item in requests] == [
        ("api.exa.ai", 503, None),
        ("api.exa.ai", None, "RequestError"),
        ("api.exa.ai", 200, None),
    ]


@pytest.mark.parametrize("level", [logging.WARNING, logging.DEBUG])
def test_failures_are_warnings(caplog: pytest.LogCaptureFixture, level: int) -> None:
    caplog.set_level(level)
    with pytest.raises(ProviderError):
        web(401).search(QUERY)
    warned = [event for _, severity, event in records_of(caplog) if severity == "WARNING"]
    assert warned == ["provider_error", "done"]


@pytest.mark.parametrize("queries", ["on", "off"])
def test_records_hold_no_key_and_queries_only_as_the_log_does(
    caplog: pytest.LogCaptureFixture, queries: str
) -> None:
    caplog.set_level(logging.DEBUG, "webtools")
    tools = web(503, 401, log={"enabled": False, "queries": queries})
    tools.call_tool("web_search", {"query": f"{QUERY} {KEY}"})
    written = "\n".join(
        f"{item.getMessage()} {vars(item)['webtools']}"
        for item in caplog.records
        if item.name.startswith("webtools")
    )
    assert KEY not in written
    assert (QUERY in written) is (queries == "on")


# --- spans -------------------------------------------------------------------------------------


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    current_spans.clear()
    yield exporter
    Tracing.tracer = None


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return {**(span.attributes or {})}


async def test_a_call_is_a_span_that_is_current_while_its_requests_are_sent(
    spans: InMemorySpanExporter,
) -> None:
    await web(503).asearch(QUERY)
    [tool] = spans.get_finished_spans()
    assert [item.get_span_context() for item in current_spans] == [tool.context] * 2
    assert tool.name == "execute_tool web_search"
    facts = attributes(tool)
    assert facts.pop("webtools.call_id")
    assert facts == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "web_search",
        "gen_ai.tool.call.arguments": f'{{"queries":["{QUERY}"]}}',
        "gen_ai.tool.type": "function",
        "webtools.provider_used": "exa",
        "webtools.cost_usd": 0.007,
        "webtools.cache_hit": False,
        "webtools.result_count": 1,
    }
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_a_failed_call_is_a_span_with_the_type_of_its_error(spans: InMemorySpanExporter) -> None:
    with pytest.raises(RequestError):
        web(0, 0, 0).search(QUERY)
    *_, tool = spans.get_finished_spans()
    assert tool.status.status_code is StatusCode.ERROR
    assert attributes(tool)["error.type"] == "RequestError"


@pytest.mark.parametrize("queries", ["on", "off"])
def test_spans_hold_arguments_only_if_the_log_has_queries(
    spans: InMemorySpanExporter, tmp_path: Any, queries: str
) -> None:
    log = {"path": str(tmp_path / "log.ndjson"), "queries": queries}
    arguments = {"query": f"{QUERY} {KEY}"}
    result = web(503, log=log).call_tool("web_search", arguments)
    written = "".join(item.to_json() for item in spans.get_finished_spans())
    assert KEY not in written
    assert (QUERY in written) is (queries == "on")
    tool = attributes(spans.get_finished_spans()[-1])
    assert tool["webtools.call_id"] == result.call_id
