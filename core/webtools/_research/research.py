"""Research as a flow: sources from a chain, the best pages read, an answer that was checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from pydantic import BaseModel, TypeAdapter

from webtools._context import CallContext
from webtools._cost import NOTHING, total
from webtools._fetch import fetch_with_fallback
from webtools._flow import Flow, Now
from webtools._inputs import MAX_SOURCES, ResearchInput, shown
from webtools._job import timeout_of
from webtools._keeping import Kept, Kind, Work, done_once
from webtools._research import rules
from webtools._research.chain import Question, Retrieval, chain_for, retrieve
from webtools._research.synthesis import Outcome, Synthesizer, synthesize
from webtools._research.synthesizers import ExtractiveSynthesizer, ProviderSynthesizer
from webtools.cache import cache_key
from webtools.config import Accounts
from webtools.errors import ConfigError, InputError, ProviderError, RequestError
from webtools.providers import Account, direct
from webtools.providers._base import Cost, PageQuery, Source, SynthesisQuery
from webtools.results import (
    Page,
    ResearchEnvelope,
    ResearchMeta,
    ResearchResult,
    SearchResult,
)

DEFAULT_SOURCES = 5
PAGE_CHARACTERS = 20_000  # of each page that is read
SECONDS = {"web": 60.0, "web-news": 60.0, "web-docs": 60.0, "web-deep": 180.0}
EXTRACTIVE = ExtractiveSynthesizer()
SYNTHESIZERS = ("extractive", "perplexity", "llm", "none")


class _Told(BaseModel):
    """An envelope as it is kept: with what its JSON leaves out."""

    envelope: ResearchEnvelope
    rule: str
    is_partial: bool = False


def _is_whole(told: _Told) -> bool:
    return bool(told.envelope.results) and not (told.is_partial or told.envelope.meta.degraded)


_TOLD: Kind[_Told] = Kind(TypeAdapter(_Told), _is_whole)


def research(given: ResearchInput, context: CallContext) -> Flow[ResearchEnvelope]:
    """Answer a question with sources, and where asked for with a synthesis.

    Raises:
        ConfigError: There is nobody to ask.
        InputError: There is no such synthesizer.
        ProviderError: Every provider of the chain failed.
        RequestError: Likewise, and the last one gave no answer.
    """
    accounts = context.accounts
    question = question_of(given, accounts)
    chain = chain_for(question.command, question.query, accounts)
    synthesizer = choose_synthesizer(given, context)
    work = _Research(question, chain, synthesizer, context)
    lowered = _lowered(given, question)
    if synthesizer is not None and synthesizer is context.options.synthesizer:
        kept = Kept((yield from work.carry_out()))  # one cannot tell two models apart
    else:
        kept = yield from done_once(context, work.to_keep(), work.carry_out)
    return _as_asked(kept, question, lowered)


def _lowered(given: ResearchInput, question: Question) -> list[str]:
    if not given.limit or given.limit <= question.limit:
        return []
    return [f"limit {given.limit} is above what is allowed here; {question.limit} was used."]


def question_of(given: ResearchInput, accounts: Accounts) -> Question:
    """Apply the rules about time and number."""
    days = rules.recency_days(given.recency_days, given.query, given.command)
    today = datetime.now(timezone.utc).date()
    most = min(accounts.max_results or MAX_SOURCES, MAX_SOURCES)
    return Question(
        query=given.query,
        command=given.command,
        limit=min(given.limit or accounts.max_results or DEFAULT_SOURCES, most),
        time_sensitive=rules.is_time_sensitive(given.query, given.command),
        recency_days=days,
        since=today - timedelta(days=days) if days else None,
    )


def choose_synthesizer(given: ResearchInput, context: CallContext) -> Synthesizer | None:
    """Choose who writes the answer; None leaves it out.

    Raises:
        ConfigError: No configured provider can.
        InputError: There is no such synthesizer.
    """
    handed_in, configured = context.options.synthesizer, context.accounts.research.synthesis
    wanted = given.synthesis.strip().lower()
    if not wanted and given.command != "web-deep":
        return None
    if handed_in is not None and wanted in ("", "llm", handed_in.name):
        return handed_in
    match wanted or configured or EXTRACTIVE.name:
        case "extractive":
            return EXTRACTIVE
        case "none":
            return None
        case "perplexity":
            account = context.accounts.select("synthesize")
            return ProviderSynthesizer(account, context)
        case "llm":
            told = "needs a model: hand in a synthesizer, such as ChatModelSynthesizer"
        case _:
            told = f"is unknown; use one of {', '.join(SYNTHESIZERS)}"
    raise InputError(f"synthesis {shown(given.synthesis)} {told}.")


def key_of(question: Question, chain: Sequence[Account], synthesizer: Synthesizer | None) -> str:
    """Give the key under which the answer is kept."""
    asked = replace(question, query=rules.normalize(question.query))
    names = [account.identity for account in chain]
    how = synthesizer.name if synthesizer else None
    return cache_key("research", *map(str, astuple(asked)), names, how)


def _as_asked(kept: Kept[_Told], question: Question, told: list[str]) -> ResearchEnvelope:
    """Give the envelope to this call, which may have spent nothing on it."""
    envelope, rule = kept.value.envelope, kept.value.rule
    changes: dict[str, Any] = {"query": question.query, "confidence_rule": rule}
    if kept.is_free:
        changes |= {"cost_usd": 0.0, "cache_hit": kept.at is not None}
    if told:
        changes["warnings"] = [*envelope.meta.warnings, *told]
    meta = envelope.meta.model_copy(update=changes)
    return envelope.model_copy(update={"meta": meta})


@dataclass(frozen=True, slots=True)
class _Research:
    """One question on its way to an envelope."""

    question: Question
    chain: tuple[Account, ...]
    synthesizer: Synthesizer | None
    context: CallContext

    def to_keep(self) -> Work[_Told]:
        key = key_of(self.question, self.chain, self.synthesizer)
        return Work(_TOLD, key, self.question.query, "research")

    def carry_out(self) -> Flow[_Told]:
        start: float = yield Now()
        deadline = start + SECONDS[self.question.command]
        done = self.context.parts("searching", 1)
        found = yield from retrieve(self.question, self.chain, self.context, deadline)
        done(self.question.query, not found.results)
        outcome: Outcome | None = None
        if self.synthesizer is not None and found.results:
            sources = yield from self._sources(found, deadline)
            outcome = yield from self._synthesis(self.synthesizer, sources, found, deadline)
        return self._told(found, outcome)

    # --- reading -------------------------------------------------------------------------------

    def _sources(self, found: Retrieval, deadline: float) -> Flow[tuple[Source, ...]]:
        """Give the texts to cite: of the pages where they can be read, else of the snippets."""
        texts: dict[str, str] = {}
        if self.question.command == "web-deep":
            texts = yield from self._read_pages(found, deadline)
        pairs = ((result, texts.get(result.url) or result.snippet) for result in found.results)
        return tuple(
            Source(number, result.title, result.url, text)
            for number, (result, text) in enumerate(pairs, 1)
            if text
        )

    def _read_pages(self, found: Retrieval, deadline: float) -> Flow[dict[str, str]]:
        urls = tuple(result.url for result in found.results)
        try:
            account = self.context.accounts.select_fetcher()
            fallback = self.context.accounts.fallback(account) or _keyless(account)
            now: float = yield Now()
            end = min(deadline, now + timeout_of(account, "fetch"))
            query = PageQuery(urls, text_max_characters=PAGE_CHARACTERS)
            response = yield from fetch_with_fallback(account, fallback, query, self.context, end)
        except (ConfigError, ProviderError, RequestError) as error:
            found.warnings.append(f"No page could be read, so the snippets stand in: {error}")
            found.is_partial = True
            return {}
        found.costs.append(_cost(response.cost_usd, is_estimate=response.cost_is_estimate))
        unread = _unread(response.pages)
        found.is_partial = bool(unread)
        found.warnings += [*response.warnings, *unread]
        return {page.url: page.text for page in response.pages if page.text}

    # --- synthesis -----------------------------------------------------------------------------

    def _synthesis(
        self,
        synthesizer: Synthesizer,
        sources: tuple[Source, ...],
        found: Retrieval,
        deadline: float,
    ) -> Flow[Outcome]:
        """Write the answer; where a synthesizer fails, the extractive one stands in."""
        query = SynthesisQuery(self.question.query, sources)
        done = self.context.parts("synthesizing", 1)
        outcome = yield from self._one_synthesis(synthesizer, query, found, deadline)
        if outcome.error and not isinstance(synthesizer, ExtractiveSynthesizer):
            found.degraded[outcome.synthesizer] = outcome.error
            outcome = yield from self._one_synthesis(EXTRACTIVE, query, found, deadline)
        done(self.question.query, outcome.error is not None)
        return outcome

    def _one_synthesis(
        self, synthesizer: Synthesizer, query: SynthesisQuery, found: Retrieval, deadline: float
    ) -> Flow[Outcome]:
        outcome = yield from synthesize(synthesizer, query, deadline)
        found.costs.append(outcome.cost or (NOTHING if synthesizer is EXTRACTIVE else None))
        found.warnings += [*outcome.warnings, *_dropped(outcome)]
        self._log_synthesis(outcome)
        return outcome

    def _log_synthesis(self, outcome: Outcome) -> None:
        name, verified = outcome.synthesizer, outcome.verified
        if verified is not None:
            self.context.log(
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
            self.context.log("synthesis_error", synthesizer=name, **facts)

    # --- the envelope --------------------------------------------------------------------------

    def _told(self, found: Retrieval, outcome: Outcome | None) -> _Told:
        question, now = self.question, datetime.now(timezone.utc)
        retrieved_at = found.retrieved_at or now
        judgement = rules.judge(
            found.results,
            time_sensitive=question.time_sensitive,
            days=question.recency_days,
            now=retrieved_at,
        )
        cost = total(found.costs)
        meta = ResearchMeta(
            query=question.query,
            command=question.command,
            provider_chain=[account.name for account in self.chain],
            provider_used=found.account.name if found.account else None,
            time_sensitive=question.time_sensitive,
            recency_days=question.recency_days,
            confidence=judgement.confidence,
            uncertainty=judgement.uncertainty,
            normalized_query=rules.normalize(question.query),
            degraded=list(found.degraded),
            cost_usd=cost.usd if cost else None,
            warnings=self._warnings(found),
            retrieved_at=retrieved_at,
        )
        envelope = ResearchEnvelope(
            results=[_result(result) for result in found.results],
            meta=meta,
            synthesis=outcome.synthesis if outcome else None,
        )
        return _Told(envelope=envelope, rule=judgement.rule, is_partial=found.is_partial)

    def _warnings(self, found: Retrieval) -> list[str]:
        reasons = [f'"{name}" did not serve: {why}' for name, why in found.degraded.items()]
        return list(dict.fromkeys([*reasons, *found.warnings, *self.context.accounts.warnings]))


def _keyless(account: Account) -> Account | None:
    """Let pages be read without a provider when that one fails."""
    if account.type == direct.NAME or direct.missing_libraries() is not None:
        return None
    return direct.IMPLICIT


def _cost(usd: float | None, *, is_estimate: bool) -> Cost | None:
    return None if usd is None else Cost(usd, is_estimate)


def _unread(pages: Sequence[Page]) -> list[str]:
    return [
        f"{page.url} could not be read, so its snippet stands in: {page.error}"
        for page in pages
        if page.error
    ]


def _result(result: SearchResult) -> ResearchResult:
    return ResearchResult(
        title=result.title,
        url=result.url,
        snippet=result.snippet,
        published_at=result.published_at,
        score=result.score,
        source_provider=result.source_provider,
    )


def _dropped(outcome: Outcome) -> list[str]:
    """Say how much of an answer its sources did not bear out."""
    verified = outcome.verified
    told = [] if outcome.error is None else [outcome.error]
    if verified is None:
        return told
    if verified.dropped:
        told.append(f"{_claims(verified.dropped)} left out: the cited sources do not bear it out.")
    if verified.uncertain:
        told.append(f"{_claims(verified.uncertain)} marked uncertain.")
    return told


def _claims(count: int) -> str:
    return "1 claim of the answer was" if count == 1 else f"{count} claims of the answer were"
