"""Plans: what a research call would do, and its maximum cost. Nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from webtools._internal.operations.research.chain import capability_of, chain_for, query_for
from webtools._internal.operations.research.flow import key_of, reads_pages
from webtools._internal.operations.research.page_texts import page_query, readers
from webtools._internal.operations.research.recency import takes_dates
from webtools._internal.operations.research.research_question import Question, question_of
from webtools._internal.operations.research.synthesis_choice import (
    ProviderSynthesizer,
    choose_synthesizer,
)
from webtools._internal.pipeline.once import CacheKey, read_cached
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.circuit_breaker import OpenCircuit
from webtools.config import Accounts
from webtools.errors import ConfigError
from webtools.inputs.tool_inputs import ResearchInput
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.drafts import Synthesizer
from webtools.providers.protocols import Query, Source, SynthesisQuery
from webtools.results import BudgetState, PlanStep, ResearchPlan
from webtools.synthesizers import LONGEST_INPUT
from webtools.truncation import MAX_BYTES

_Request: TypeAlias = tuple[Account, Capability, Query]
_ANY_URL = "https://example.com/"


async def plan(arguments: ResearchInput, call: Call) -> ResearchPlan:
    """Plan a research call.

    Raises:
        ConfigError: There is no provider for the chain, or the budget cannot be read.
        InputError: There is no such synthesizer.
    """
    accounts = call.accounts
    question = question_of(arguments, accounts)
    chain = chain_for(question.command, question.query, accounts)
    synthesizer = choose_synthesizer(arguments, call)
    cached = await _cached_since(key_of(question, chain, synthesizer, call), call)
    requests = [
        (account, capability_of(account), query_for(account, question)) for account in chain
    ]
    steps = await _steps(requests, call)
    reading = await _steps(_reading_requests(question, synthesizer, accounts), call)
    synthesis = await _steps(_synthesis_requests(question, synthesizer), call)
    repeats = _repeated_steps(question, chain, steps)
    all_steps = [*steps, *repeats, *reading, *synthesis]
    return ResearchPlan(
        query=question.query,
        command=question.command,
        limit=question.limit,
        time_sensitive=question.time_sensitive,
        recency_days=question.recency_days,
        chain=steps,
        reading=reading[0] if reading else None,
        synthesizer=synthesizer.name if synthesizer else None,
        synthesis=synthesis[0] if synthesis else None,
        cached_at=cached,
        worst_cost_usd=0.0 if cached else round(sum(step.worst_cost_usd for step in all_steps), 6),
        max_output_bytes=MAX_BYTES,
        budget=await _budget(call),
    )


async def _cached_since(key: CacheKey[Any] | None, call: Call) -> datetime | None:
    if key is None:
        return None
    [cached] = await read_cached(call, [key])
    return None if cached is None else cached.stored_at


async def _steps(requests: Sequence[_Request], call: Call) -> list[PlanStep]:
    health = call.services.health
    circuits: list[OpenCircuit | None] = await call.io.call_blocking(
        lambda: [health.known(account, task) for account, task, _ in requests]
    )
    return [_step(*account, circuit) for account, circuit in zip(requests, circuits, strict=True)]


def _step(account: Account, task: str, query: Query, circuit: OpenCircuit | None) -> PlanStep:
    until = datetime.fromtimestamp(circuit.until, UTC) if circuit else None
    return PlanStep(
        provider=account.name,
        type=account.type,
        task=task,
        worst_cost_usd=PROVIDERS[account.type].worst_cost(query, account),
        skipped_until=until,
        reason=circuit.reason if circuit else None,
    )


def _repeated_steps(
    question: Question, chain: Sequence[Account], steps: Sequence[PlanStep]
) -> list[PlanStep]:
    """Return the steps that may be repeated for sources of any age."""
    if question.recency_from != "words":
        return []
    return [step for account, step in zip(chain, steps, strict=True) if takes_dates(account)]


def _reading_requests(
    question: Question, synthesizer: Synthesizer | None, accounts: Accounts
) -> list[_Request]:
    """Return the requests for pages: to their reader, and to its fallback."""
    if not reads_pages(question, synthesizer):
        return []
    query = page_query([f"{_ANY_URL}{number}" for number in range(question.limit)])
    try:
        return [(account, "fetch", query) for account in readers(accounts) if account is not None]
    except ConfigError:
        return []


def _synthesis_requests(question: Question, synthesizer: Synthesizer | None) -> list[_Request]:
    if not isinstance(synthesizer, ProviderSynthesizer):
        return []
    text = "x" * (LONGEST_INPUT // question.limit)  # the most that is sent of all pages
    sources = tuple(Source(n, "", _ANY_URL, text) for n in range(1, question.limit + 1))
    return [(synthesizer.account, "synthesize", SynthesisQuery(question.query, sources))]


async def _budget(call: Call) -> BudgetState | None:
    budget = call.services.budget
    if not budget.active:
        return None
    spent = await call.io.call_blocking(budget.spent)
    return BudgetState(
        usd_today=spent.today.usd if spent.today else None,
        calls_today=spent.today.calls if spent.today else None,
        usd_process=spent.process.usd,
        calls_process=spent.process.calls,
        **{name: getattr(call.accounts.config.budget, name) for name in _LIMITS},
    )


_LIMITS = ("usd_per_day", "calls_per_day", "usd_per_process", "calls_per_process")
