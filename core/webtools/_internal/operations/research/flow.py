"""Research: retrieves sources, reads the best pages, and writes a checked answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pydantic import AwareDatetime, BaseModel, TypeAdapter

from webtools._internal.grounding.claims import (
    ANSWER_CHARACTERS,
    best_passages,
    passages_beside,
    rank_sources,
)
from webtools._internal.grounding.ranking import Ranking
from webtools._internal.operations.failover import UNPRICED
from webtools._internal.operations.research import rules
from webtools._internal.operations.research.chain import Retrieval, chain_for
from webtools._internal.operations.research.checked_synthesis import (
    EMPTY,
    NOTHING_FOUND,
    Outcome,
    synthesize,
)
from webtools._internal.operations.research.page_texts import read_pages, readers
from webtools._internal.operations.research.recency import retrieve_recent
from webtools._internal.operations.research.research_question import (
    Question,
    moved_bounds,
    question_of,
)
from webtools._internal.operations.research.synthesis_choice import (
    ProviderSynthesizer,
    choose_synthesizer,
)
from webtools._internal.operations.search import normalize_query
from webtools._internal.pipeline.cost import NOTHING, total
from webtools._internal.pipeline.once import Cached, CacheFormat, CacheKey, once
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import cache_key
from webtools._internal.text.cleaning import one_line
from webtools._internal.text.domains import read_suffixes
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.links import without_cut_url
from webtools._internal.text.redaction import Redactor
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
from webtools.synthesizers import EXTRACTIVE, LONGEST_INPUT, ExtractiveSynthesizer

TIMEOUTS = {"web": 60.0, "web-news": 60.0, "web-docs": 60.0, "web-deep": 180.0}


class _CachedEnvelope(BaseModel):
    """An envelope as it is cached, with facts that its JSON leaves out.

    Attributes:
        envelope: The envelope.
        rule: The rule of its confidence.
        since: When its oldest part was fetched.
        is_partial: See `Retrieval`.
        is_unpriced: Whether its cost is incomplete.
        final_urls: The URLs of pages that were read, after redirects, by the requested URL.
    """

    envelope: ResearchEnvelope
    rule: str
    since: AwareDatetime
    is_partial: bool = False
    is_unpriced: bool = False
    final_urls: dict[str, str] = {}


def _is_cacheable(cached: _CachedEnvelope) -> bool:
    has_failures = cached.is_partial or cached.envelope.meta.degraded
    return bool(cached.envelope.results) and not has_failures


_ENVELOPE: CacheFormat[_CachedEnvelope] = CacheFormat(
    TypeAdapter(_CachedEnvelope),
    _is_cacheable,
    oldest_part=lambda cached: cached.since,
    urls=lambda cached: (result.url for result in cached.envelope.results),
)


async def research(arguments: ResearchInput, call: Call) -> ResearchEnvelope:
    """Find sources for a question and, if requested, write an answer.

    Raises:
        ConfigError: There is no provider for the chain.
        InputError: There is no such synthesizer, or no provider accepts the question.
        ProviderError: Every provider of the chain failed.
        RequestError: Every provider failed, the first one without a response.
    """
    accounts = call.accounts
    question = question_of(arguments, accounts)
    chain = chain_for(question.command, question.query, accounts)
    synthesizer = choose_synthesizer(arguments, call)
    deadline = min(call.io.now() + TIMEOUTS[question.command], call.deadline)

    work = _Research(question, chain, synthesizer, call, deadline)
    key = key_of(question, chain, synthesizer, call)
    async with once(call, key, deadline) as slot:
        if slot.cached is None:
            slot.fill(await work.run())
    warnings = [*accounts.warnings, *moved_bounds(arguments, question), *call.store_warnings()]
    return _for_this_call(slot.result, question, warnings)


def key_of(
    question: Question,
    chain: Sequence[Account],
    synthesizer: Synthesizer | None,
    call: Call,
) -> CacheKey[_CachedEnvelope] | None:
    """Return a key of all that the answer depends on; None if it cannot be cached."""
    if synthesizer is not None and synthesizer is call.options.synthesizer:
        return None  # two models can have the same name
    writer = None if synthesizer is None else synthesizer.name
    if isinstance(synthesizer, ProviderSynthesizer):
        writer = synthesizer.account.identity
    query = normalize_query(question.query)
    kind = (question.command, question.limit, question.time_sensitive)
    recency = (question.recency_days, question.recency_from, str(question.since))
    names = [account.identity for account in chain]
    reading = _readers(call.accounts) if reads_pages(question, synthesizer) else []
    merge = call.accounts.config.research.merge
    key = cache_key("research", query, kind, recency, names, writer, reading, merge)
    return CacheKey(_ENVELOPE, key, question.query, "research")


def reads_pages(question: Question, synthesizer: Synthesizer | None) -> bool:
    """Return whether pages are read. Only answers need them."""
    return question.command == "web-deep" and synthesizer is not None


def _readers(accounts: Accounts) -> list[str]:
    try:
        return [account.identity for account in readers(accounts) if account is not None]
    except ConfigError:
        return []


def _for_this_call(
    result: Cached[_CachedEnvelope], question: Question, warnings: list[str]
) -> ResearchEnvelope:
    """Return the envelope with the query and the cost of this call.

    Its lists are copies, since other calls can share the envelope.
    """
    envelope, meta = result.value.envelope, result.value.envelope.meta
    changes: dict[str, Any] = {
        "query": question.query,
        # The field is not in the JSON, in which `sanitize` searches for characters to remove.
        "confidence_rule": without_invisible(one_line(result.value.rule)),
        "provider_chain": [*meta.provider_chain],
        "degraded": [*meta.degraded],
        "warnings": [*meta.warnings, *warnings],
    }
    if result.is_free:
        changes |= {
            "cost_usd": 0.0,
            "cache_hit": result.stored_at is not None,
            "cost_is_estimate": False,
        }
    elif result.value.is_unpriced:
        changes["warnings"].append(UNPRICED)
    final_urls = result.value.final_urls
    parts: dict[str, Any] = {
        "results": [
            each.model_copy(update={"url_final": final_urls.get(each.url)})
            for each in envelope.results
        ],
        "passages": [*envelope.passages],
        "meta": meta.model_copy(update=changes),
    }
    if (answer := envelope.synthesis) is not None:
        claims = [
            claim.model_copy(update={"citations": [*claim.citations], "reasons": [*claim.reasons]})
            for claim in answer.claims
        ]
        copied_lists = {"citations": [*answer.citations], "claims": claims}
        parts["synthesis"] = answer.model_copy(update=copied_lists)
    return envelope.model_copy(update=parts)


@dataclass(frozen=True, slots=True)
class _Research:
    """A research call in progress."""

    question: Question
    chain: tuple[Account, ...]
    synthesizer: Synthesizer | None
    call: Call
    deadline: float

    async def run(self) -> _CachedEnvelope:
        report_progress = self.call.begin_stage("searching", 1)
        retrieval = await retrieve_recent(self.question, self.chain, self.call, self.deadline)
        report_progress(self.question.query, False)
        # Needed to count the domains of the sources.
        await self.call.io.call_blocking(read_suffixes)
        if self.synthesizer is None or not retrieval.results:
            return self._envelope(retrieval, None, [])
        if reads_pages(self.question, self.synthesizer):
            outcome, passages = await self._answer_from_pages(self.synthesizer, retrieval)
            return self._envelope(retrieval, outcome, passages)
        sources = _sources(retrieval, {}, self.call.accounts.redactor)
        query = SynthesisQuery(self.question.query, sources)
        return self._envelope(
            retrieval, await self._synthesize(self.synthesizer, query, retrieval), []
        )

    # --- reading -------------------------------------------------------------------------------

    async def _answer_from_pages(
        self, synthesizer: Synthesizer, retrieval: Retrieval
    ) -> tuple[Outcome, list[Passage]]:
        """Write an answer from pages, and choose more passages of them."""
        question = self.question.query
        texts = await read_pages(retrieval, question, self.call, self.deadline)
        rank = partial(_rank, question, retrieval, texts, self.call.accounts.redactor)
        sources, ranking, best = await self.call.io.call_blocking(rank, alone=True)
        query = SynthesisQuery(question, sources, best)
        outcome = await self._synthesize(synthesizer, query, retrieval, ranking)
        answer = outcome.synthesis
        room = ANSWER_CHARACTERS - (len(answer.summary) if answer else 0)
        choose = partial(passages_beside, ranking, outcome.claims, room)
        passages: list[Passage] = await self.call.io.call_blocking(choose, alone=True)
        return outcome, passages

    # --- synthesis -----------------------------------------------------------------------------

    async def _synthesize(
        self,
        synthesizer: Synthesizer,
        query: SynthesisQuery,
        retrieval: Retrieval,
        ranking: Ranking | None = None,
    ) -> Outcome:
        """Write the answer. If a synthesizer fails, the extractive one is used."""
        extractive = ExtractiveSynthesizer(ranking=ranking)
        if isinstance(synthesizer, ExtractiveSynthesizer):
            synthesizer = extractive
        report_progress = self.call.begin_stage("synthesizing", 1)
        outcome = await self._try_synthesizer(synthesizer, query, retrieval)
        if outcome.error and synthesizer is not extractive:
            retrieval.failover.degraded[outcome.synthesizer] = outcome.error
            outcome = await self._try_synthesizer(extractive, query, retrieval)
        has_failed = outcome.error is not None and outcome.error_type != EMPTY
        if outcome.error and has_failed:  # `degraded` has the others
            retrieval.warnings.append(outcome.error)
        report_progress(self.question.query, has_failed)
        return outcome

    async def _try_synthesizer(
        self, synthesizer: Synthesizer, query: SynthesisQuery, retrieval: Retrieval
    ) -> Outcome:
        outcome = await synthesize(synthesizer, query, self.deadline, self.call.io)
        is_free = isinstance(synthesizer, ExtractiveSynthesizer)
        retrieval.costs.append(outcome.cost or (NOTHING if is_free else None))
        retrieval.warnings += [*outcome.warnings, *_claim_warnings(outcome)]
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
        self, retrieval: Retrieval, outcome: Outcome | None, passages: list[Passage]
    ) -> _CachedEnvelope:
        question, now = self.question, datetime.now(UTC)
        retrieved_at = retrieval.retrieved_at or now
        judgement = self._judge(retrieval, outcome, retrieved_at)
        cost = total(retrieval.costs)
        is_unpriced = cost is not None and self.call.is_unpriced
        meta = ResearchMeta(
            query=question.query,
            command=question.command,
            provider_chain=[account.name for account in self.chain],
            provider_used=retrieval.account.name if retrieval.account else None,
            time_sensitive=question.time_sensitive,
            recency_days=question.recency_days,
            confidence=judgement.confidence,
            uncertainty=judgement.uncertainty,
            normalized_query=normalize_query(question.query),
            degraded=list(retrieval.failover.degraded),
            cost_usd=cost.usd if cost else None,
            cost_is_estimate=cost.is_estimate or is_unpriced if cost else False,
            warnings=self._warnings(retrieval),
            retrieved_at=retrieved_at,
        )
        envelope = ResearchEnvelope(
            results=[*map(_research_result, retrieval.results, scores_of(retrieval.results))],
            meta=meta,
            synthesis=_answer(outcome),
            passages=passages,
        )
        return _CachedEnvelope(
            envelope=envelope,
            rule=judgement.rule,
            since=min(retrieved_at, retrieval.read_at or retrieved_at),
            is_partial=retrieval.is_partial,
            is_unpriced=is_unpriced,
            final_urls=retrieval.final_urls,
        )

    def _judge(
        self, retrieval: Retrieval, outcome: Outcome | None, at: datetime
    ) -> rules.Judgement:
        results = retrieval.results
        relevant = rules.relevant(self.question.query, results)
        if outcome is not None and outcome.error_type == EMPTY:
            return rules.judge_unanswered(outcome.error or NOTHING_FOUND, len(results))
        if results and not relevant:
            return rules.judge_off_topic(len(results))
        judgement = rules.judge(
            relevant,
            time_sensitive=self.question.time_sensitive,
            days=self.question.recency_days,
            now=at,
            is_widened=retrieval.is_widened,
        )
        is_quoted = outcome is not None and outcome.synthesizer == EXTRACTIVE.name
        return rules.judge_quoted(judgement) if is_quoted else judgement

    def _warnings(self, retrieval: Retrieval) -> list[str]:
        reasons = [
            f'"{name}" was not used: {reason}'
            for name, reason in retrieval.failover.degraded.items()
        ]
        return list(dict.fromkeys([*reasons, *retrieval.warnings]))


def _rank(
    question: str, retrieval: Retrieval, texts: Mapping[str, str], redactor: Redactor
) -> tuple[tuple[Source, ...], Ranking, tuple[Passage, ...]]:
    sources = _sources(retrieval, texts, redactor)
    ranking = rank_sources(question, sources)
    return sources, ranking, tuple(best_passages(ranking, LONGEST_INPUT))


def _sources(
    retrieval: Retrieval, texts: Mapping[str, str], redactor: Redactor
) -> tuple[Source, ...]:
    """Return the texts to cite: of the pages that were read, otherwise of the hits.

    Keys are redacted before texts are cut: the second half of a key that is cut is not found.
    """

    def clean(text: str) -> str:
        return redactor.text(without_invisible(text))

    pairs = ((result, texts.get(result.url) or _text_of(result)) for result in retrieval.results)
    return tuple(
        Source(number, clean(result.title), result.url, clean(text))
        for number, (result, text) in enumerate(pairs, 1)
        if text
    )


def _text_of(result: SearchResult) -> str:
    """Return the passages that the provider chose, otherwise the snippet."""
    passages = result.content.passages if result.content else None
    texts = (without_cut_url(passage.text) for passage in passages or ())
    return "\n\n".join(texts) or result.snippet


def _answer(outcome: Outcome | None) -> ResearchSynthesis | None:
    """Return the answer; an empty one if no sentence fits well enough."""
    if outcome is not None and outcome.error_type == EMPTY:
        return ResearchSynthesis(summary="", citations=[])
    return outcome.synthesis if outcome else None


def _research_result(result: SearchResult, score: float) -> ResearchResult:
    return ResearchResult(
        title=result.title,
        url=result.url,
        snippet=result.snippet,
        published_at=result.published_at,
        score=score,
        source_provider=result.source_provider,
    )


def _claim_warnings(outcome: Outcome) -> list[str]:
    """Return warnings with the numbers of claims that were removed or marked."""
    verified, warnings = outcome.verified, list[str]()
    if verified is None:
        return warnings
    if verified.dropped:
        warnings.append(
            f"{_counted_claims(verified.dropped)} removed as unsupported by the cited source."
        )
    if verified.uncertain:
        warnings.append(f"{_counted_claims(verified.uncertain)} marked uncertain.")
    return warnings


def _counted_claims(count: int) -> str:
    return "1 claim was" if count == 1 else f"{count} claims were"
