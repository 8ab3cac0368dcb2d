"""Summarize as a flow."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from pydantic import TypeAdapter

from webtools.flows.drivers import Flow, Now
from webtools.operations.failover import (
    Leave,
    Tried,
    Turns,
    asked,
    end_of_call,
    first_to_serve,
    left_warnings,
    may_be_its_own,
    unpriced,
)
from webtools.pipeline.accounting import Job, observed
from webtools.pipeline.caching import Kind, Result, Work, done_once
from webtools.pipeline.context import CallContext
from webtools.pipeline.cost import NOTHING
from webtools.pipeline.retries import exchange
from webtools.providers import PROVIDERS, Account
from webtools.providers.protocols import Summary, SummaryQuery
from webtools.results import AskedProvider, SummaryResponse
from webtools.storage.cache import cache_key

SUMMARY: Kind[Summary] = Kind(TypeAdapter(Summary), lambda summary: bool(summary.text))


def summarize(
    account: Account,
    query: SummaryQuery,
    context: CallContext,
    others: Sequence[Account] = (),
) -> Flow[SummaryResponse]:
    """Summarize one URL; where the first provider fails, the others are asked in turn.

    Raises:
        InputError: The operator's settings forbid the host.
        WebToolsError: The providers failed or gave no summary.
    """
    account.domains.check(query.url)
    accounts, tried = [account, *others], Tried()
    deadline = end_of_call(accounts, "summarize", (yield Now()))
    turns = Turns(accounts, lambda _: "summarize", deadline, query.url, may_be_its_own)
    attempt = partial(_attempt, query, context)
    served, result = yield from first_to_serve(turns, tried, attempt, context)
    every = asked(accounts, {served.name}, [tried])
    return _response(served, query, result, every, context)


def _response(
    account: Account,
    query: SummaryQuery,
    result: Result[Summary],
    every: list[AskedProvider],
    context: CallContext,
) -> SummaryResponse:
    cost = NOTHING if result.is_free else result.value.cost
    usd = cost.usd if cost else None
    unknown = unpriced(context, usd) if len(every) > 1 else []
    return SummaryResponse(
        provider=account.name,
        asked=every,
        url=query.url,
        text=result.value.text,
        summary_type=query.summary_type,
        engine=query.engine,
        tokens=result.value.tokens,
        warnings=[*result.value.warnings, *left_warnings(every), *unknown, *context.warnings()],
        cost_usd=usd,
        cost_is_estimate=bool(unknown or (cost and cost.is_estimate)),
        cache_hit=result.at is not None,
        retrieved_at=result.at or datetime.now(UTC),
    )


def _attempt(
    query: SummaryQuery,
    context: CallContext,
    account: Account,
    deadline: float,
    leave: Leave,
) -> Flow[tuple[Account, Result[Summary]]]:
    how = (query.summary_type, query.engine, query.target_language)
    key = cache_key("summarize", account.identity, query.url, *how)
    work = Work(SUMMARY, key, query.url, account.name)
    ask = partial(_ask, account, query, deadline, context)
    return account, (yield from done_once(context, work, ask, deadline, leave))


def _ask(
    account: Account, query: SummaryQuery, deadline: float, context: CallContext
) -> Flow[Summary]:
    provider = PROVIDERS[account.type].summarize
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    job = Job(account, "summarize", "summarizing", query.url, query, context, deadline)
    request = provider.summary_request(query, account)
    return observed(job, exchange(job, request, lambda r: provider.read_summary(r, query, account)))
