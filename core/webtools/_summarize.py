"""Summarize as a flow."""

from __future__ import annotations

from functools import partial

from pydantic import TypeAdapter

from webtools._context import CallContext
from webtools._cost import NOTHING
from webtools._exchange import exchange
from webtools._flow import Flow, Now
from webtools._job import Job, timeout_of
from webtools._keeping import Kind, Work, done_once
from webtools.cache import cache_key
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import Summary, SummaryQuery
from webtools.results import SummaryResponse

SUMMARY: Kind[Summary] = Kind(TypeAdapter(Summary), lambda summary: bool(summary.text))


def summarize(
    account: Account, query: SummaryQuery, context: CallContext | None = None
) -> Flow[SummaryResponse]:
    """Summarize one URL.

    Raises:
        WebToolsError: The provider failed or gave no summary.
    """
    how = (query.summary_type, query.engine, query.target_language)
    key = cache_key("summarize", account.identity, query.url, *how)
    work = Work(SUMMARY, key, query.url, account.name)
    start: float = yield Now()
    deadline = start + timeout_of(account, "summarize")
    ask = partial(_ask, account, query, deadline, context)
    kept = yield from done_once(context, work, ask, deadline)
    cost = NOTHING if kept.is_free else kept.value.cost
    return SummaryResponse(
        provider=account.name,
        url=query.url,
        text=kept.value.text,
        summary_type=query.summary_type,
        engine=query.engine,
        tokens=kept.value.tokens,
        warnings=kept.value.warnings,
        cost_usd=cost.usd if cost else None,
        cost_is_estimate=bool(cost and cost.is_estimate),
        cache_hit=kept.at is not None,
        retrieved_at=kept.at,
    )


def _ask(
    account: Account, query: SummaryQuery, deadline: float, context: CallContext | None
) -> Flow[Summary]:
    provider = PROVIDERS[account.type].summarize
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    job = Job(account, "summarize", "summarizing", query.url, query, context)
    request = provider.summary_request(query, account)
    return exchange(job, request, lambda r: provider.read_summary(r, query, account), deadline)
