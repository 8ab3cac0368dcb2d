"""Research: sources from a chain, the best pages read, an answer that was checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pydantic import AwareDatetime, BaseModel, TypeAdapter

from webtools._internal.grounding.ranking import Ranking
from webtools._internal.operations.failover import UNPRICED
from webtools._internal.operations.research import rules
from webtools._internal.operations.research.chain import Question, Retrieval, chain_for
from webtools._internal.operations.research.checked_synthesis import (
    EMPTY,
    NOTHING_FOUND,
    Outcome,
    synthesize,
)
from webtools._internal.operations.research.claims import (
    ANSWER_CHARACTERS,
    best_passages,
    passages_beside,
    rank_sources,
)
from webtools._internal.operations.research.page_texts import read_pages, readers
from webtools._internal.operations.research.recency import retrieve_recent
from webtools._internal.operations.research.research_question import moved_bounds, question_of
from webtools._internal.operations.research.synthesizers import (
    LONGEST_INPUT,
    ExtractiveSynthesizer,
    ProviderSynthesizer,
    choose_synthesizer,
)
from webtools._internal.operations.search import normalize
from webtools._internal.pipeline.cost import NOTHING, total
from webtools._internal.pipeline.once import Cached, CacheFormat, CacheKey, once
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import cache_key
from webtools._internal.text.domains import read_suffixes, suffixes_at_once
from webtools._internal.text.invisible import without_invisible
from webtools.config import Accounts
from webtools.errors import ConfigError
from webtools.inputs.tool_inputs import ResearchInput
from webtools.providers import Account
from webtools.providers.drafts import Synthesizer
from webtools.providers.protocols import Source, SynthesisQuery
from webtools.results import (
    Passage,
    ResearchEnvelope,
    ResearchMeta,
    ResearchResult,
    ResearchSynthesis,
    SearchResult,
)
from webtools.results.scores import scores_of

SECONDS = {"web": 60.0, "web-news": 60.0, "web-docs": 60.0, "web-deep": 180.0}


class _CachedEnvelope(BaseModel):
    """An envelope as it is cached: with what its JSON leaves out, and its oldest part's age."""

    envelope: ResearchEnvelope
    rule: str
    since: AwareDatetime
    is_partial: bool = False
    is_unpriced: bool = False


def _is_whole(told: _CachedEnvelope) -> bool:
    return bool(told.envelope.results) and not (told.is_partial or told.envelope.meta.degraded)


_ENVELOPE: CacheFormat[_CachedEnvelope] = CacheFormat(
    TypeAdapter(_CachedEnvelope),
    _is_whole,
    oldest_part=lambda told: told.since,
    urls=lambda told: (result.url for result in told.envelope.results),
)


async def research(given: ResearchInput, call: Call) -> ResearchEnvelope:
    """Answer a question with sources, and where asked for with a synthesis.

    Raises:
        ConfigError: There is nobody to ask.
        InputError: There is no such synthesizer, or no provider takes such a question.
        ProviderError: Every provider of the chain failed.
        RequestError: Likewise, and the first one gave no answer.
    """
    accounts = call.accounts
    question = question_of(given, accounts)
    chain = chain_for(question.command, question.query, accounts)
    synthesizer = choose_synthesizer(given, call)
    deadline = call.io.now() + SECONDS[question.command]

    work = _Research(question, chain, synthesizer, call, deadline)
    key = key_of(question, chain, synthesizer, call)
    if key is None:
        result = Cached(await work.carry_out())
    else:
        result = await once(call, key, work.carry_out, deadline)
    told = [*accounts.warnings, *moved_bounds(given, question), *call.store_warnings()]
    return _as_asked(result, question, told)


def key_of(
    question: Question,
    chain: Sequence[Account],
    synthesizer: Synthesizer | None,
    call: Call,
) -> CacheKey[_CachedEnvelope] | None:
    """Return a key of all that the answer depends on; None if it cannot be cached."""
    if synthesizer is not None and synthesizer is call.options.synthesizer:
        return None  # one cannot tell two models apart
    how = None if synthesizer is None else synthesizer.name
    if isinstance(synthesizer, ProviderSynthesizer):
        how = synthesizer.account.identity
    query = normalize(question.query)
    asked = (question.command, question.limit, question.time_sensitive)
    recency = (question.recency_days, question.recency_from, str(question.since))
    names = [account.identity for account in chain]
    reading = _readers(call.accounts) if reads_pages(question, synthesizer) else []
    merge = call.accounts.config.research.merge
    key = cache_key("research", query, asked, recency, names, how, reading, merge)
    return CacheKey(_ENVELOPE, key, question.query, "research")


def reads_pages(question: Question, synthesizer: Synthesizer | None) -> bool:
    """Return whether pages are read: only answers are made from them."""
    return question.command == "web-deep" and synthesizer is not None


def _readers(accounts: Accounts) -> list[str]:
    try:
        return [account.identity for account in readers(accounts) if account is not None]
    except ConfigError:
        return []


def _as_asked(
    result: Cached[_CachedEnvelope], question: Question, told: list[str]
) -> ResearchEnvelope:
    """Return the envelope to this call, which may have spent nothing on it.

    The lists are its own: other calls are given what is cached, or shared, as well.
    """
    envelope, meta = result.value.envelope, result.value.envelope.meta
    changes: dict[str, Any] = {
        "query": question.query,
        "confidence_rule": result.value.rule,
        "provider_chain": [*meta.provider_chain],
        "degraded": [*meta.degraded],
        "warnings": [*meta.warnings, *told],
    }
    if result.is_free:
        changes |= {
            "cost_usd": 0.0,
            "cache_hit": result.stored_at is not None,
            "cost_is_estimate": False,
        }
    elif result.value.is_unpriced:
        changes["warnings"].append(UNPRICED)
    parts: dict[str, Any] = {
        "results": [*envelope.results],
        "passages": [*envelope.passages],
        "meta": meta.model_copy(update=changes),
    }
    if (answer := envelope.synthesis) is not None:
        claims = [
            each.model_copy(update={"citations": [*each.citations], "reasons": [*each.reasons]})
            for each in answer.claims
        ]
        own = {"citations": [*answer.citations], "claims": claims}
        parts["synthesis"] = answer.model_copy(update=own)
    return envelope.model_copy(update=parts)


@dataclass(frozen=True, slots=True)
class _Research:
    """One question on its way to an envelope."""

    question: Question
    chain: tuple[Account, ...]
    synthesizer: Synthesizer | None
    call: Call
    deadline: float

    async def carry_out(self) -> _CachedEnvelope:
        done = self.call.parts("searching", 1)
        found = await retrieve_recent(self.question, self.chain, self.call, self.deadline)
        done(self.question.query, not found.results)
        await self.call.io.call_blocking(
            read_suffixes, quick=suffixes_at_once
        )  # by which sources are counted
        if self.synthesizer is None or not found.results:
            return self._envelope(found, None, [])
        if reads_pages(self.question, self.synthesizer):
            outcome, passages = await self._from_pages(self.synthesizer, found)
            return self._envelope(found, outcome, passages)
        query = SynthesisQuery(self.question.query, _sources(found, {}))
        return self._envelope(found, await self._synthesis(self.synthesizer, query, found), [])

    # --- reading -------------------------------------------------------------------------------

    async def _from_pages(
        self, synthesizer: Synthesizer, found: Retrieval
    ) -> tuple[Outcome, list[Passage]]:
        """Answer from pages, which are ranked once: for the answer, and for what is beside it."""
        texts = await read_pages(found, self.call, self.deadline)
        question, sources = self.question.query, _sources(found, texts)
        ranking: Ranking = await self.call.io.call_blocking(
            partial(rank_sources, question, sources), alone=True
        )
        best = tuple(best_passages(ranking, LONGEST_INPUT))
        query = SynthesisQuery(question, sources, best)
        outcome = await self._synthesis(synthesizer, query, found, ranking)
        answer = outcome.synthesis
        room = ANSWER_CHARACTERS - (len(answer.summary) if answer else 0)
        beside = partial(passages_beside, ranking, outcome.claims, room)
        passages: list[Passage] = await self.call.io.call_blocking(beside, alone=True)
        return outcome, passages

    # --- synthesis -----------------------------------------------------------------------------

    async def _synthesis(
        self,
        synthesizer: Synthesizer,
        query: SynthesisQuery,
        found: Retrieval,
        ranking: Ranking | None = None,
    ) -> Outcome:
        """Write the answer; where a synthesizer fails, the extractive one stands in."""
        quoting = ExtractiveSynthesizer(ranking=ranking)
        if isinstance(synthesizer, ExtractiveSynthesizer):
            synthesizer = quoting
        done = self.call.parts("synthesizing", 1)
        outcome = await self._one_synthesis(synthesizer, query, found)
        if outcome.error and synthesizer is not quoting:
            found.attempts.degraded[outcome.synthesizer] = outcome.error
            outcome = await self._one_synthesis(quoting, query, found)
        if outcome.error and outcome.error_type != EMPTY:  # of another's, `degraded` tells
            found.warnings.append(outcome.error)
        done(self.question.query, outcome.error is not None)
        return outcome

    async def _one_synthesis(
        self, synthesizer: Synthesizer, query: SynthesisQuery, found: Retrieval
    ) -> Outcome:
        outcome = await synthesize(synthesizer, query, self.deadline, self.call.io)
        is_free = isinstance(synthesizer, ExtractiveSynthesizer)
        found.costs.append(outcome.cost or (NOTHING if is_free else None))
        found.warnings += [*outcome.warnings, *_dropped(outcome)]
        self._log_synthesis(outcome)
        return outcome

    def _log_synthesis(self, outcome: Outcome) -> None:
        name, verified = outcome.synthesizer, outcome.verified
        if verified is not None:
            self.call.log(
                "synthesis",
                synthesizer=name,
                claims=verified.kept + verified.dropped,
                kept=verified.kept,
                uncertain=verified.uncertain,
                dropped=verified.dropped,
                reasons=verified.reasons,
            )
        if outcome.error is not None:
            facts = {"error": outcome.error_type, "message": outcome.error}
            self.call.log("synthesis_error", synthesizer=name, **facts)

    # --- the envelope --------------------------------------------------------------------------

    def _envelope(
        self, found: Retrieval, outcome: Outcome | None, passages: list[Passage]
    ) -> _CachedEnvelope:
        question, now = self.question, datetime.now(UTC)
        retrieved_at = found.retrieved_at or now
        judgement = self._judged(found, outcome, retrieved_at)
        cost = total(found.costs)
        is_unpriced = cost is not None and self.call.is_unpriced
        meta = ResearchMeta(
            query=question.query,
            command=question.command,
            provider_chain=[account.name for account in self.chain],
            provider_used=found.account.name if found.account else None,
            time_sensitive=question.time_sensitive,
            recency_days=question.recency_days,
            confidence=judgement.confidence,
            uncertainty=judgement.uncertainty,
            normalized_query=normalize(question.query),
            degraded=list(found.attempts.degraded),
            cost_usd=cost.usd if cost else None,
            cost_is_estimate=cost.is_estimate or is_unpriced if cost else False,
            warnings=self._warnings(found),
            retrieved_at=retrieved_at,
        )
        envelope = ResearchEnvelope(
            results=[*map(_result, found.results, scores_of(found.results))],
            meta=meta,
            synthesis=_answer(outcome),
            passages=passages,
        )
        return _CachedEnvelope(
            envelope=envelope,
            rule=judgement.rule,
            since=min(retrieved_at, found.read_at or retrieved_at),
            is_partial=found.is_partial,
            is_unpriced=is_unpriced,
        )

    def _judged(self, found: Retrieval, outcome: Outcome | None, at: datetime) -> rules.Judgement:
        if outcome is not None and outcome.error_type == EMPTY:
            return rules.judge_unanswered(outcome.error or NOTHING_FOUND, len(found.results))
        has_answer = outcome is not None and outcome.synthesis is not None
        if not has_answer and rules.are_off_topic(self.question.query, found.results):
            return rules.judge_off_topic(len(found.results))
        return rules.judge(
            found.results,
            time_sensitive=self.question.time_sensitive,
            days=self.question.recency_days,
            now=at,
            is_widened=found.is_widened,
        )

    def _warnings(self, found: Retrieval) -> list[str]:
        reasons = [
            f'"{name}" did not serve: {why}' for name, why in found.attempts.degraded.items()
        ]
        return list(dict.fromkeys([*reasons, *found.warnings]))


def _sources(found: Retrieval, texts: Mapping[str, str]) -> tuple[Source, ...]:
    """Return the texts to cite: of the pages where they were read, else of what the hits hold."""
    pairs = ((result, texts.get(result.url) or _held(result)) for result in found.results)
    return tuple(
        Source(number, without_invisible(result.title), result.url, without_invisible(text))
        for number, (result, text) in enumerate(pairs, 1)
        if text
    )


def _held(result: SearchResult) -> str:
    """Return the passages of a page that its provider chose, in its order, else the snippet."""
    passages = result.content.passages if result.content else None
    return "\n\n".join(each.text for each in passages or ()) or result.snippet


def _answer(outcome: Outcome | None) -> ResearchSynthesis | None:
    """Return the answer; that the sources have none is an answer too."""
    if outcome is not None and outcome.error_type == EMPTY:
        return ResearchSynthesis(summary="", citations=[])
    return outcome.synthesis if outcome else None


def _result(result: SearchResult, score: float) -> ResearchResult:
    return ResearchResult(
        title=result.title,
        url=result.url,
        snippet=result.snippet,
        published_at=result.published_at,
        score=score,
        source_provider=result.source_provider,
    )


def _dropped(outcome: Outcome) -> list[str]:
    """Return warnings that count the claims that were left out or marked."""
    verified, warnings = outcome.verified, list[str]()
    if verified is None:
        return warnings
    if verified.dropped:
        warnings.append(f"{_claims(verified.dropped)} left out as unsupported by the cited source.")
    if verified.uncertain:
        warnings.append(f"{_claims(verified.uncertain)} marked uncertain.")
    return warnings


def _claims(count: int) -> str:
    return "1 claim of the answer was" if count == 1 else f"{count} claims of the answer were"
