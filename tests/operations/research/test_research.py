"""Research as a whole: the envelope, pages that are really read, answers that are checked."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from webtools import ConfigError, InputError, QuotaError, WebTools
from webtools._internal.grounding.claims import ANSWER_CHARACTERS
from webtools._internal.operations.research.checked_synthesis import NOTHING_FOUND
from webtools.errors import UnavailableError
from webtools.formatting import NO_ANSWER
from webtools.logs import tail
from webtools.providers.drafts import Draft
from webtools.providers.protocols import SynthesisQuery
from webtools.results import Passage, ResearchEnvelope, ResearchSynthesis
from webtools_sandbox import SandboxServer

QUERY = "how does a heap queue return the smallest item?"


NO_SYNTHESIS = ResearchSynthesis(summary="", citations=[], claims=[])


def events(settings: dict[str, Any]) -> list[dict[str, Any]]:
    return tail(Path(settings["log"]["path"]), 1000)


def take_requests(sandbox: SandboxServer) -> dict[str, int]:
    """Count the requests by path since the last time."""
    result: dict[str, int] = dict(sandbox.stats()["requests"])
    sandbox.reset_stats()
    return result


class Scripted:
    """A synthesizer that writes a scripted answer."""

    def __init__(self, text: str | Exception, name: str = "llm") -> None:
        self.name = name
        self.queries: list[SynthesisQuery] = []
        self._text = text

    async def draft(self, query: SynthesisQuery, _deadline: float, io: Any, /) -> Draft:
        self.queries.append(query)
        if isinstance(self._text, Exception):
            raise self._text
        return Draft(self._text)


# --- the envelope ------------------------------------------------------------------------------


def test_the_envelope_has_these_keys_and_no_others(web: WebTools) -> None:
    result = json.loads(web.research(QUERY, command="web-deep").model_dump_json())
    assert set(result) == {"results", "meta", "synthesis", "passages"}
    assert set(result["meta"]) == {
        *("query", "command", "provider_chain", "provider_used", "cache_hit", "time_sensitive"),
        *("recency_days", "confidence", "uncertainty"),
        *("normalized_query", "degraded", "cost_usd", "warnings", "retrieved_at"),
    }
    assert set(result["results"][0]) == {
        *("title", "url", "snippet", "published_at", "score", "source_provider")
    }
    assert set(result["synthesis"]) == {"summary", "citations", "claims"}
    assert set(result["synthesis"]["claims"][0]) == {
        "text", "status", "citations", "nearest", "reasons"
    }  # fmt: skip
    assert set(result["synthesis"]["claims"][0]["citations"][0]) == {"url", "title", "quotation"}
    assert set(result["passages"][0]) == {"text", "heading", "url", "score", "offset"}


def test_the_published_schema_describes_it() -> None:
    schema = ResearchEnvelope.model_json_schema(mode="serialization")
    assert "confidence_rule" not in schema["$defs"]["ResearchMeta"]["properties"]
    path = Path(__file__).parents[3] / "docs" / "envelope.schema.json"
    assert json.loads(path.read_text()) == schema


def test_the_envelope_has_the_counts_behind_its_confidence(web: WebTools) -> None:
    response = web.research("Heap  Queue")
    assert (response.meta.query, response.meta.normalized_query) == (
        "Heap  Queue".replace("  ", " "),
        "heap queue",
    )
    assert response.meta.confidence == "medium"
    assert "localhost" in str(response.meta.uncertainty)
    assert "5" in response.meta.confidence_rule
    assert response.meta.cost_usd == pytest.approx(0.007)
    assert response.synthesis is None
    assert all(result.snippet for result in response.results)


def test_limit_and_age_are_obeyed(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    assert len(web.research("python", limit=2).results) == 2
    result = web.research("latest python", recency_days=2)
    assert (result.meta.recency_days, result.meta.time_sensitive) == (2, True)
    start = (datetime.now(UTC) - timedelta(days=2)).date().isoformat()
    bodies = json.dumps([request["body"] for request in webtools_sandbox.stats()["last"]])
    assert f'"startPublishedDate": "{start}' in bodies


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"query": " "}, 'query " "'),
        ({"query": "x", "limit": 11}, "1 to 10"),
        ({"query": "x", "command": "web-wide"}, "'web-news' or 'web-docs'"),
        ({"query": "x", "synthesis": "poem"}, 'synthesis "poem"'),
        ({"query": "x", "synthesis": "llm"}, 'synthesis "llm"'),
    ],
)
def test_bad_input_is_refused_before_anything_is_sent(
    web: WebTools, webtools_sandbox: SandboxServer, arguments: dict[str, Any], named: str
) -> None:
    result = web.call_tool("web_research", arguments)
    assert result.details["error"]["type"] == "InputError"
    assert named in result.text
    assert take_requests(webtools_sandbox) == {}


# --- reading -----------------------------------------------------------------------------------


def test_web_deep_reads_the_pages_and_answers_from_their_text(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    response = web.research(QUERY, command="web-deep")
    assert take_requests(webtools_sandbox) == {"/exa/search": 1, "/exa/contents": 1}
    assert response.synthesis is not None
    urls = {result.url for result in response.results}
    assert set(response.synthesis.citations) <= urls
    assert 1 <= len(response.synthesis.claims) <= 5
    snippets = " ".join(result.snippet for result in response.results)
    texts = {url: web.fetch(url, text=True).pages[0].text or "" for url in urls}
    for claim in response.synthesis.claims:
        assert claim.status == "quoted"
        [where] = claim.citations
        assert where.quotation in texts[where.url]
        assert claim.text in response.synthesis.summary
    quoted = [where.quotation for claim in response.synthesis.claims for where in claim.citations]
    assert any(quotation not in snippets for quotation in quoted)


def test_the_best_passages_come_with_the_answer_within_one_budget(web: WebTools) -> None:
    result = web.research(QUERY, command="web-deep")
    assert result.synthesis is not None
    assert result.passages
    sizes = [len(item.text) + len(item.heading) for item in result.passages]
    assert sum(sizes) + len(result.synthesis.summary) <= ANSWER_CHARACTERS
    assert {item.url for item in result.passages} <= {item.url for item in result.results}
    assert [item.score for item in result.passages] == sorted(
        (item.score for item in result.passages), reverse=True
    )
    text = web.call_tool("web_research", {"query": QUERY, "command": "web-deep"}).text
    places = [text.index(item.text) for item in result.passages]
    assert places == sorted(places)
    assert text.index(result.synthesis.summary) < places[0]


def test_pages_are_read_to_their_end(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    page = "Bread is sold here every day of the week. " * 2000
    page += "\n\n## Zyx\n\nThe zyx lever of the machine opens the zyx valve.\n"
    hit = {"id": "1", "title": "Levers", "url": "https://a.example/", "highlights": ["Levers."]}
    webtools_sandbox.fault(path="/search", times=None, body={"results": [hit]})
    webtools_sandbox.fault(path="/contents", times=None, body={"results": [{**hit, "text": page}]})
    result = web.research("What does the zyx lever open?", command="web-deep")
    assert result.synthesis is not None
    assert "opens the zyx valve" in result.synthesis.summary
    assert any(item.offset > 80_000 for item in [*result.passages, *_quoted(result, page)])


def _quoted(found: ResearchEnvelope, page: str) -> list[Passage]:
    claims = found.synthesis.claims if found.synthesis else []
    quotations = [where.quotation for item in claims for where in item.citations]
    return [Passage(text=item, offset=page.index(item)) for item in quotations]


def test_sources_that_do_not_answer_give_an_empty_answer_and_low_confidence(web: WebTools) -> None:
    result = web.research("Who won the world cup final in Bern in 1954?", command="web-deep")
    assert result.results
    assert result.synthesis == NO_SYNTHESIS
    assert (result.meta.confidence, result.meta.uncertainty) == ("low", NOTHING_FOUND)
    assert result.meta.confidence_rule == f"no answer in {len(result.results)} sources"
    text = web.call_tool("web_research", {"query": result.meta.query, "command": "web-deep"}).text
    assert NO_ANSWER in text


def test_pages_that_a_provider_cannot_fetch_are_read_directly(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    host = webtools_sandbox.docs_url.split("/")[2]
    direct = {"name": "direct", "type": "direct", "options": {"allowPrivateHosts": [host]}}
    exa = [{**e, "fetchFallback": "direct"} for e in settings["providers"] if e["type"] == "exa"]
    webtools_sandbox.fault(path="/contents", status=500, times=None)
    with WebTools({**settings, "providers": [*exa, direct], "defaultProvider": "exa"}) as web:
        result = web.research(QUERY, command="web-deep")
    assert result.synthesis is not None
    assert any(warning.startswith('"direct"') for warning in result.meta.warnings)


# --- answers -----------------------------------------------------------------------------------


def test_a_handed_in_synthesizer_answers_from_the_pages(web: WebTools) -> None:
    model = Scripted("Our heappop method returns the smallest item, not the largest. [1]")
    result = web.research(QUERY, command="web-deep", synthesis=model)
    assert len(model.queries) == 1
    assert [source.url for source in model.queries[0].sources] == [r.url for r in result.results]
    assert result.synthesis is not None
    assert result.synthesis.summary == (
        "Our heappop method returns the smallest item, not the largest. [1] (uncertain)"
    )
    [claim] = result.synthesis.claims
    assert claim.status == "uncertain"
    assert claim.nearest is not None
    assert "smallest item" in claim.nearest.text
    assert result.synthesis.citations == [result.results[0].url]


@pytest.mark.parametrize(
    "lie",
    [
        "The heappop method returns the largest item. [1]",
        "Heaps were invented by Napoleon in 1815. [1]",
    ],
)
def test_a_lie_in_words_of_the_source_is_marked(web: WebTools, lie: str) -> None:
    result = web.research(QUERY, command="web-deep", synthesis=Scripted(lie))
    assert result.synthesis is not None
    assert result.synthesis.summary == f"{lie} (uncertain)"
    assert any(re.match(r"1 claim .* uncertain", warning) for warning in result.meta.warnings)


def test_an_unsupported_claim_is_left_out_and_counted(web: WebTools) -> None:
    text = (
        "The heappop method returns the smallest item, not the largest. [1] Bakers eat bread. [1]"
    )
    result = web.research(QUERY, command="web-deep", synthesis=Scripted(text))
    assert result.synthesis is not None
    assert "Bakers" not in result.synthesis.summary
    assert "smallest" in result.synthesis.summary
    assert any(warning.startswith("1 claim ") for warning in result.meta.warnings)


@pytest.mark.parametrize(
    "failure", [UnavailableError("The model is busy."), ZeroDivisionError("oops"), ""]
)
def test_a_failing_synthesis_loses_no_source(web: WebTools, failure: Any) -> None:
    result = asyncio.run(web.aresearch(QUERY, command="web-deep", synthesis=Scripted(failure)))
    assert len(result.results) == 5
    assert result.meta.degraded == ["llm"]
    assert result.synthesis is not None  # sentences of the sources stand in
    [warning] = result.meta.warnings
    assert warning.startswith('"llm" ')


def test_perplexity_may_write_the_answer_but_is_no_source(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    response = web.research(QUERY, command="web-deep", synthesis="perplexity")
    assert (
        sum(count for path, count in take_requests(webtools_sandbox).items() if "agent" in path)
        == 1
    )
    assert {result.source_provider for result in response.results} == {"exa"}
    if response.synthesis:
        assert set(response.synthesis.citations) <= {result.url for result in response.results}
    webtools_sandbox.fault(provider="perplexity", status=500, times=None)
    response = web.research(QUERY, command="web-deep", synthesis="perplexity", cache="refresh")
    assert response.meta.degraded == ["perplexity"]
    assert response.results
    [warning] = response.meta.warnings
    assert re.match(r'"perplexity" .*HTTP 500', warning)


def test_a_synthesizer_without_a_provider_is_refused(settings: dict[str, Any]) -> None:
    only = [entry for entry in settings["providers"] if entry["type"] == "exa"]
    with (
        WebTools({**settings, "providers": only}) as web,
        pytest.raises(ConfigError, match="perplexity"),
    ):
        web.research(QUERY, command="web-deep", synthesis="perplexity")


# --- what is kept ------------------------------------------------------------------------------


def test_the_same_question_is_answered_from_the_cache(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    first = web.research(QUERY, command="web-deep")
    take_requests(webtools_sandbox)
    second = asyncio.run(web.aresearch(f" {QUERY.upper()} ", command="web-deep"))
    assert take_requests(webtools_sandbox) == {}
    assert (first.meta.cache_hit, second.meta.cache_hit) == (False, True)
    assert second.meta.cost_usd == 0.0
    assert second.meta.retrieved_at == first.meta.retrieved_at
    assert second.meta.confidence_rule == first.meta.confidence_rule
    assert second.meta.query == QUERY.upper()
    assert (second.results, second.synthesis) == (first.results, first.synthesis)


def test_results_of_a_fallback_are_not_cached_as_the_answer(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", status=400, times=1)
    assert web.research(QUERY).meta.provider_used == "brave"
    result = web.research(QUERY)
    assert (result.meta.provider_used, result.meta.cache_hit) == ("exa", False)


def test_research_uses_the_cached_response_of_a_search(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    web.research(QUERY, command="web-deep", synthesis="none")
    take_requests(webtools_sandbox)
    result = web.research(QUERY, command="web-deep")
    assert take_requests(webtools_sandbox) == {"/exa/contents": 1}
    assert result.meta.cost_usd == pytest.approx(0.005)


# --- budget, plan, log -------------------------------------------------------------------------


def test_a_call_above_the_budget_is_refused_with_the_numbers(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    with WebTools({**settings, "budget": {"usdPerDay": 0.01}}) as web:
        web.search("json")
        take_requests(webtools_sandbox)
        with pytest.raises(QuotaError, match=r'"exa".*usdPerDay'):
            web.search("heapq")
        plan = web.plan("heapq")
        assert plan.budget is not None
        assert plan.budget.usd_today == pytest.approx(0.007)
        assert web.search("json").cache_hit
    assert take_requests(webtools_sandbox) == {}
    assert any(event["event"] == "budget_refused" for event in events(settings))


def test_a_plan_sends_nothing_and_knows_the_cache(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    plan = web.plan(QUERY, command="web-deep")
    assert [(step.provider, step.task, step.worst_cost_usd) for step in plan.chain] == [
        ("exa", "search", 0.007),
        ("brave", "search", 0.005),
    ]
    assert plan.reading is not None
    assert (plan.reading.provider, plan.reading.worst_cost_usd) == ("exa", 0.005)
    assert (plan.synthesizer, plan.synthesis, plan.cached_at) == ("extractive", None, None)
    assert plan.worst_cost_usd == pytest.approx(0.017)
    assert take_requests(webtools_sandbox) == {}
    result = web.research(QUERY, command="web-deep")
    plan = asyncio.run(web.aplan(QUERY, command="web-deep"))
    assert plan.worst_cost_usd == 0.0
    assert plan.cached_at is not None
    assert abs((plan.cached_at - result.meta.retrieved_at).total_seconds()) < 60
    paid = web.plan(QUERY, command="web-deep", synthesis="perplexity")
    assert paid.synthesis is not None
    assert paid.synthesis.provider == "perplexity"
    assert paid.worst_cost_usd > 0.017


def test_the_log_hides_questions_with_queries_off(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    settings["log"]["queries"] = "off"
    webtools_sandbox.fault(provider="exa", reset=True, times=None)
    with WebTools(settings) as web:
        web.research("secret merger of acme", command="web-deep")
        with pytest.raises(InputError):
            web.search("")
    text = Path(settings["log"]["path"]).read_text()
    assert "provider_error" in text
    for word in ("merger", "acme", "secret"):
        assert word not in text.lower()
