"""Plans: what a research call would do and cost at most, told without any request."""

from __future__ import annotations

from datetime import datetime, timezone
from functools import partial

from webtools._context import CallContext
from webtools._flow import Flow, Offload
from webtools._health import Parking
from webtools._inputs import ResearchInput
from webtools._research.chain import Question, chain_for, query_for, task_of
from webtools._research.research import (
    PAGE_CHARACTERS,
    choose_synthesizer,
    key_of,
    question_of,
)
from webtools._research.synthesis import Synthesizer
from webtools.config import Accounts
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import PageQuery, Query, Source, SynthesisQuery
from webtools.results import BudgetState, PlanStep, ResearchPlan
from webtools.truncation import MAX_BYTES

_ANY_URL = "https://example.com/"


def plan(given: ResearchInput, context: CallContext) -> Flow[ResearchPlan]:
    """Plan a research call.

    Raises:
        ConfigError: There is nobody to ask, or the budget cannot be read.
        InputError: There is no such synthesizer.
    """
    accounts = context.accounts
    question = question_of(given, accounts)
    chain = chain_for(question.command, question.query, accounts)
    synthesizer = choose_synthesizer(given, context)
    kept = yield from _kept_since(key_of(question, chain, synthesizer), context)
    steps = yield from _chain_steps(question, chain, context)
    reading = _reading(question, accounts)
    synthesis = _synthesis(question, synthesizer)
    every = [*steps, *(step for step in (reading, synthesis) if step)]
    return ResearchPlan(
        query=question.query,
        command=question.command,
        limit=question.limit,
        time_sensitive=question.time_sensitive,
        recency_days=question.recency_days,
        chain=steps,
        reading=reading,
        synthesizer=synthesizer.name if synthesizer else None,
        synthesis=synthesis,
        kept_since=kept,
        worst_cost_usd=0.0 if kept else round(sum(step.worst_cost_usd for step in every), 6),
        most_output_bytes=MAX_BYTES,
        budget=(yield from _budget(context)),
    )


def _kept_since(key: str, context: CallContext) -> Flow[datetime | None]:
    cache = context.cache
    if cache is None:
        return None
    entry = yield Offload(partial(cache.get, key))
    return None if entry is None else datetime.fromtimestamp(entry.stored_at, timezone.utc)


def _chain_steps(
    question: Question, chain: tuple[Account, ...], context: CallContext
) -> Flow[list[PlanStep]]:
    health = context.facilities.health
    parked: list[Parking | None] = yield Offload(lambda: [health.known(each) for each in chain])
    return [
        _step(account, task_of(account), query_for(account, question), parking)
        for account, parking in zip(chain, parked, strict=True)
    ]


def _step(account: Account, task: str, query: Query, parking: Parking | None = None) -> PlanStep:
    until = datetime.fromtimestamp(parking.until, timezone.utc) if parking else None
    return PlanStep(
        provider=account.name,
        type=account.type,
        task=task,
        worst_cost_usd=PROVIDERS[account.type].worst_cost(query, account),
        parked_until=until,
        reason=parking.reason if parking else None,
    )


def _reading(question: Question, accounts: Accounts) -> PlanStep | None:
    if question.command != "web-deep":
        return None
    try:
        account = accounts.select_fetcher()
    except ConfigError:
        return None
    urls = tuple(f"{_ANY_URL}{number}" for number in range(question.limit))
    return _step(account, "fetch", PageQuery(urls, text_max_characters=PAGE_CHARACTERS))


def _synthesis(question: Question, synthesizer: Synthesizer | None) -> PlanStep | None:
    account: Account | None = getattr(synthesizer, "account", None)
    if account is None:
        return None
    text = "x" * PAGE_CHARACTERS
    sources = tuple(Source(n, "", _ANY_URL, text) for n in range(1, question.limit + 1))
    return _step(account, "synthesize", SynthesisQuery(question.query, sources))


def _budget(context: CallContext) -> Flow[BudgetState | None]:
    budget = context.facilities.budget
    if not budget.active:
        return None
    spent = yield Offload(budget.spent)
    return BudgetState(
        usd_today=spent.today.usd if spent.today else None,
        calls_today=spent.today.calls if spent.today else None,
        usd_process=spent.process.usd,
        calls_process=spent.process.calls,
        **{name: getattr(spent.limits, name) for name in _LIMITS},
    )


_LIMITS = ("usd_per_day", "calls_per_day", "usd_per_process", "calls_per_process")
