"""Summarize one URL, with failover."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter

from webtools._internal.operations.failover import (
    FAILOVER_ERRORS,
    Failover,
    common_facts,
    end_of_call,
    failover_warnings,
)
from webtools._internal.pipeline.cost import NOTHING
from webtools._internal.pipeline.once import Cached, CacheFormat, CacheKey
from webtools._internal.pipeline.requests import request
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import cache_key
from webtools.inputs.tool_inputs import SummarizeInput
from webtools.providers import Account
from webtools.providers.protocols import Summary, SummaryQuery
from webtools.results import SummaryResponse

SUMMARY: CacheFormat[Summary] = CacheFormat(
    TypeAdapter(Summary), is_cacheable=lambda summary: bool(summary.text)
)


async def summarize(
    accounts: Sequence[Account], query: SummaryQuery, call: Call
) -> SummaryResponse:
    """Summarize a URL with the first provider that can.

    Raises:
        InputError: The operator's settings forbid the host.
        WebToolsError: Every provider failed, or returned no summary.
    """
    accounts[0].domains.check(query.url)  # the same for all providers
    deadline = end_of_call(accounts, "summarize", call)
    failover = Failover(call, accounts, lambda _: query, deadline, "that can summarize")
    for api_call in failover:
        account = api_call.account
        options = (query.summary_type, query.engine, query.target_language)
        identity = cache_key("summarize", account.identity, query.url, *options)
        try:
            summary = await request(api_call, CacheKey(SUMMARY, identity, query.url, account.name))
        except FAILOVER_ERRORS as error:
            failover.record_failure(api_call, error)
        else:
            failover.record_response(api_call)
            return _response(query, summary, failover, account)
    raise failover.all_failed()


def _response(
    query: SummaryQuery, summary: Cached[Summary], failover: Failover, account: Account
) -> SummaryResponse:
    call = failover.call
    facts, unpriced = common_facts(
        call,
        failover.accounts,
        [failover],
        served={account.name},
        costs=[NOTHING if summary.is_free else summary.value.cost],
        oldest=summary.stored_at,
        is_cached=summary.stored_at is not None,
    )
    return SummaryResponse(
        **facts,
        url=query.url,
        text=summary.value.text,
        summary_type=query.summary_type,
        engine=query.engine,
        tokens=summary.value.tokens,
        warnings=[
            *summary.value.warnings,
            *failover_warnings(facts["attempts"]),
            *unpriced,
            *call.warnings(),
        ],
    )


async def run_summarize(arguments: SummarizeInput, call: Call) -> SummaryResponse:
    """Summarize with the arguments of the tool."""
    accounts = call.accounts.chain("summarize", arguments.provider or None)
    query = SummaryQuery(
        url=arguments.url,
        summary_type=arguments.summary_type,
        engine=arguments.engine,
        target_language=arguments.target_language or None,
    )
    return await summarize(accounts, query, call)
