"""Summarize as a flow."""

from __future__ import annotations

from webtools._exchange import Job, exchange
from webtools._flow import Flow
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import SummaryQuery
from webtools.results import SummaryResponse


def summarize(account: Account, query: SummaryQuery) -> Flow[SummaryResponse]:
    """Summarize one URL.

    Raises:
        WebToolsError: The provider failed or gave no summary.
    """
    provider = PROVIDERS[account.type].summarize
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    job = Job(account, "summarize", "summarizing", query.url)
    request = provider.summary_request(query, account)
    summary = yield from exchange(job, request, lambda r: provider.read_summary(r, query, account))
    return SummaryResponse(
        provider=account.name,
        url=query.url,
        text=summary.text,
        summary_type=query.summary_type,
        engine=query.engine,
        tokens=summary.tokens,
        warnings=summary.warnings,
        cost_usd=summary.cost.usd if summary.cost else None,
        cost_is_estimate=bool(summary.cost and summary.cost.is_estimate),
    )
