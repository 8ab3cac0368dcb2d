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
from webtools._internal.logs import tail
from webtools._internal.operations.research.checked_synthesis import NOTHING_FOUND
from webtools._internal.operations.research.claims import ANSWER_CHARACTERS
from webtools.errors import UnavailableError
from webtools.formatting import NO_ANSWER
from webtools.providers.drafts import Draft
from webtools.providers.protocols import SynthesisQuery
from webtools.results import Passage, ResearchEnvelope, ResearchSynthesis
from webtools_sandbox import SandboxServer

QUERY = "how does a heap queue return the smallest item?"


NO_SYNTHESIS = ResearchSynthesis(summary="", citations=[], claims=[])


def events(settings: dict[str, Any]) -> list[dict[str, Any]]:
    return tail(Path(settings["log"]["path"]), 1000)


def asked(sandbox: SandboxServer) -> dict[str, int]:
    """Count the requests by path since the last time."""
    found: dict[str, int] = dict(sandbox.stats()["requests"])
    sandbox.reset_stats()
    return found


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
    found = json.loads(web.research(QUERY, command="web-deep").model_dump_json())
    assert set(found) == {"results", "meta", "synthesis", "passages"}
    assert set(found["meta"]) == {
        *("query", "command", "provider_chain", "provider_used", "cache_hit", "time_sensitive"),
        *("recency_days", "confidence", "uncertainty"),
        *("normalized_query", "degraded", "cost_usd", "warnings", "retrieved_at"),
    }
    assert set(found["results"][0]) == {
        *("title", "url", "snippet", "published_at", "score", "source_provider")
    }
    assert set(found["synthesis"]) == {"summary", "citations", "claims"}
    assert set(found["synthesis"]["claims"][0]) == {
        "text", "status", "citations", "nearest", "reasons"
    }  # fmt: skip
    assert set(found["synthesis"]["claims"][0]["citations"][0]) == {"url", "title", "quotation"}
    assert set(found["passages"][0]) == {"text", "heading", "url", "score", "offset"}


def test_the_published_schema_describes_it() -> None:
    schema = ResearchEnvelope.model_json_schema(mode="serialization")
    assert "confidence_rule" not in schema["$defs"]["ResearchMeta"]["properties"]
    path = Path(__file__).parents[3] / "docs" / "envelope.schema.json"
    assert json.loads(path.read_text()) == schema


def test_the_envelope_has_the_counts_behind_its_confidence(web: WebTools) -> None:
    found = web.research("Heap  Queue")
    assert (found.meta.query, found.meta.normalized_query) == (
        "Heap  Queue".replace("  ", " "),
        "heap queue",
    )
    assert found.meta.confidence == "medium"
    assert "localhost" in str(found.meta.uncertainty)
    assert "5" in found.meta.confidence_rule
    assert found.meta.cost_usd == pytest.approx(0.007)
    assert found.synthesis is None
    assert all(result.snippet for result in found.results)


def test_limit_and_age_are_obeyed(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    assert len(web.research("python", limit=2).results) == 2
    found = web.research("latest python", recency_days=2)
    assert (found.meta.recency_days, found.meta.time_sensitive) == (2, True)
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
    assert asked(webtools_sandbox) == {}


# --- reading -----------------------------------------------------------------------------------


def test_web_deep_reads_the_pages_and_answers_from_their_text(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    found = web.research(QUERY, command="web-deep")
    assert asked(webtools_sandbox) == {"/exa/search": 1, "/exa/contents": 1}
    assert found.synthesis is not None
    urls = {result.url for result in found.results}
    assert set(found.synthesis.citations) <= urls
    assert 1 <= len(found.synthesis.claims) <= 5
    snippets = " ".join(result.snippet for result in found.results)
    texts = {url: web.fetch(url, text=True).pages[0].text or "" for url in urls}
    for claim in found.synthesis.claims:
        assert claim.status == "quoted"
        [where] = claim.citations
        assert where.quotation in texts[where.url]
        assert claim.text in found.synthesis.summary
    quoted = [where.quotation for claim in found.synthesis.claims for where in claim.citations]
    assert any(quotation not in snippets for quotation in quoted)


def test_the_best_passages_stand_beside_the_answer_within_one_budget(web: WebTools) -> None:
    found = web.research(QUERY, command="web-deep")
    assert found.synthesis is not None
    assert found.passages
    sizes = [len(each.text) + len(each.heading) for each in found.passages]
    assert sum(sizes) + len(found.synthesis.summary) <= ANSWER_CHARACTERS
    assert {each.url for each in found.passages} <= {each.url for each in found.results}
    assert [each.score for each in found.passages] == sorted(
        (each.score for each in found.passages), reverse=True
    )
    text = web.call_tool("web_research", {"query": QUERY, "command": "web-deep"}).text
    places = [text.index(each.text) for each in found.passages]
    assert places == sorted(places)
    assert text.index(found.synthesis.summary) < places[0]


def test_pages_are_read_to_their_end(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    page = "Bread is sold here every day of the week. " * 2000
    page += "\n\n## Zyx\n\nThe zyx lever of the machine opens the zyx valve.\n"
    hit = {"id": "1", "title": "Levers", "url": "https://a.example/", "highlights": ["Levers."]}
    webtools_sandbox.fault(path="/search", times=None, body={"results": [hit]})
    webtools_sandbox.fault(path="/contents", times=None, body={"results": [{**hit, "text": page}]})
    found = web.research("What does the zyx lever open?", command="web-deep")
    assert found.synthesis is not None
    assert "opens the zyx valve" in found.synthesis.summary
    assert any(each.offset > 80_000 for each in [*found.passages, *_quoted(found, page)])


def _quoted(found: ResearchEnvelope, page: str) -> list[Passage]:
    claims = found.synthesis.claims if found.synthesis else []
    quotations = [where.quotation for each in claims for where in each.citations]
    return [Passage(text=each, offset=page.index(each)) for each in quotations]


def test_sources_that_do_not_answer_give_an_empty_answer_and_low_confidence(web: WebTools) -> None:
    found = web.research("Who won the world cup final in Bern in 1954?", command="web-deep")
    assert found.results
    assert found.synthesis == NO_SYNTHESIS
    assert (found.meta.confidence, found.meta.uncertainty) == ("low", NOTHING_FOUND)
    assert found.meta.confidence_rule == f"no answer in {len(found.results)} sources"
    text = web.call_tool("web_research", {"query": found.meta.query, "command": "web-deep"}).text
    assert NO_ANSWER in text


def test_pages_that_a_provider_cannot_fetch_are_read_directly(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    host = webtools_sandbox.docs_url.split("/")[2]
    direct = {"name": "direct", "type": "direct", "options": {"allowPrivateHosts": [host]}}
    exa = [{**e, "fetchFallback": "direct"} for e in settings["providers"] if e["type"] == "exa"]
    webtools_sandbox.fault(path="/contents", status=500, times=None)
    with WebTools({**settings, "providers": [*exa, direct], "defaultProvider": "exa"}) as web:
        found = web.research(QUERY, command="web-deep")
    assert found.synthesis is not None
    assert any(warning.startswith('"direct"') for warning in found.meta.warnings)


# --- answers -----------------------------------------------------------------------------------


def test_a_handed_in_synthesizer_answers_from_the_pages(web: WebTools) -> None:
    model = Scripted("Our heappop method returns the smallest item, not the largest. [1]")
    found = web.research(QUERY, command="web-deep", synthesis=model)
    assert len(model.queries) == 1
    assert [source.url for source in model.queries[0].sources] == [r.url for r in found.results]
    assert found.synthesis is not None
    assert found.synthesis.summary == (
        "Our heappop method returns the smallest item, not the largest. [1] (uncertain)"
    )
    [claim] = found.synthesis.claims
    assert claim.status == "uncertain"
    assert claim.nearest is not None
    assert "smallest item" in claim.nearest.text
    assert found.synthesis.citations == [found.results[0].url]


@pytest.mark.parametrize(
    "lie",
    [
        "The heappop method returns the largest item. [1]",
        "Heaps were invented by Napoleon in 1815. [1]",
    ],
)
def test_a_lie_in_words_of_the_source_is_marked(web: WebTools, lie: str) -> None:
    found = web.research(QUERY, command="web-deep", synthesis=Scripted(lie))
    assert found.synthesis is not None
    assert found.synthesis.summary == f"{lie} (uncertain)"
    assert any(re.match(r"1 claim .* uncertain", warning) for warning in found.meta.warnings)


def test_an_unsupported_claim_is_left_out_and_counted(web: WebTools) -> None:
    text = (
        "The heappop method returns the smallest item, not the largest. [1] Bakers eat bread. [1]"
    )
    found = web.research(QUERY, command="web-deep", synthesis=Scripted(text))
    assert found.synthesis is not None
    assert "Bakers" not in found.synthesis.summary
    assert "smallest" in found.synthesis.summary
    assert any(warning.startswith("1 claim ") for warning in found.meta.warnings)


@pytest.mark.parametrize(
    "failure", [UnavailableError("The model is busy."), ZeroDivisionError("oops"), ""]
)
def test_a_failing_synthesis_loses_no_source(web: WebTools, failure: Any) -> None:
    found = asyncio.run(web.aresearch(QUERY, command="web-deep", synthesis=Scripted(failure)))
    assert len(found.results) == 5
    assert found.meta.degraded == ["llm"]
    assert found.synthesis is not None  # sentences of the sources stand in
    [warning] = found.meta.warnings
    assert warning.startswith('"llm" ')


def test_perplexity_may_write_the_answer_but_is_no_source(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    found = web.research(QUERY, command="web-deep", synthesis="perplexity")
    assert sum(count for path, count in asked(webtools_sandbox).items() if "agent" in path) == 1
    assert {result.source_provider for result in found.results} == {"exa"}
    if found.synthesis:
        assert set(found.synthesis.citations) <= {result.url for result in found.results}
    webtools_sandbox.fault(provider="perplexity", status=500, times=None)
    found = web.research(QUERY, command="web-deep", synthesis="perplexity", cache="refresh")
    assert found.meta.degraded == ["perplexity"]
    assert found.results
    [warning] = found.meta.warnings
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
    asked(webtools_sandbox)
    second = asyncio.run(web.aresearch(f" {QUERY.upper()} ", command="web-deep"))
    assert asked(webtools_sandbox) == {}
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
    found = web.research(QUERY)
    assert (found.meta.provider_used, found.meta.cache_hit) == ("exa", False)


def test_research_takes_what_a_search_kept_by_provider(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    web.research(QUERY, command="web-deep", synthesis="none")
    asked(webtools_sandbox)
    found = web.research(QUERY, command="web-deep")
    assert asked(webtools_sandbox) == {"/exa/contents": 1}
    assert found.meta.cost_usd == pytest.approx(0.005)


# --- budget, plan, log -------------------------------------------------------------------------


def test_a_call_above_the_budget_is_refused_with_the_numbers(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    with WebTools({**settings, "budget": {"usdPerDay": 0.01}}) as web:
        web.search("json")
        asked(webtools_sandbox)
        with pytest.raises(QuotaError, match=r'"exa".*usdPerDay'):
            web.search("heapq")
        plan = web.plan("heapq")
        assert plan.budget is not None
        assert plan.budget.usd_today == pytest.approx(0.007)
        assert web.search("json").cache_hit
    assert asked(webtools_sandbox) == {}
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
    assert (plan.synthesizer, plan.synthesis, plan.kept_since) == ("extractive", None, None)
    assert plan.worst_cost_usd == pytest.approx(0.017)
    assert asked(webtools_sandbox) == {}
    found = web.research(QUERY, command="web-deep")
    plan = asyncio.run(web.aplan(QUERY, command="web-deep"))
    assert plan.worst_cost_usd == 0.0
    assert plan.kept_since is not None
    assert abs((plan.kept_since - found.meta.retrieved_at).total_seconds()) < 60
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
