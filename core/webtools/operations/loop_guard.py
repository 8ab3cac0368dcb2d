"""The loop guard: a conversation that searches for nearly the same again is shown other results.

Agents that find nothing tend to repeat a search in other words. The provider would bring the same
results; here they give way to the next best, and a warning says so. Where there are none, the
same results come back with advice, for a conversation may have lost what it was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from webtools.flows.drivers import Flow
from webtools.operations.research.rules import canonical
from webtools.operations.search import Others, search
from webtools.pipeline.context import CallContext
from webtools.providers import PROVIDERS, Account
from webtools.providers.protocols import SearchQuery
from webtools.results import SearchResponse, SearchResult


def search_anew(
    account: Account,
    queries: list[SearchQuery],
    context: CallContext,
    others: Others,
    note_of: Callable[[Account], str],
) -> Flow[SearchResponse]:
    """Search as `search` does, but for what the call's conversation was shown before.

    Raises:
        WebToolsError: As `search`.
    """
    known, name = context.conversations, context.options.conversation
    seen = {each.query: known.shown(name, each) for each in queries}
    more = max(map(len, seen.values()))
    if more and not queries[0].page:  # more results of a page would move those of the next
        wider = [replace(each, limit=_wider(account, each.limit, more)) for each in queries]
        limit_of = others.limit_of
        further = Others(others.accounts, lambda each: _wider(each, limit_of(each), more))
        response = yield from search(account, wider, context, further, note_of)
        limits = {each.name: limit_of(each) for each in others.accounts}
        response = _anew(response, seen, {**limits, account.name: queries[0].limit})
    else:
        response = yield from search(account, queries, context, others, note_of)
    for query in queries:
        shown = (each.url for each in response.results if each.query == query.query)
        known.remember(name, query, frozenset(map(canonical, shown)))
    return response


def _wider(account: Account, limit: int, more: int) -> int:
    """Return how many results to ask for, so that as many as before are new."""
    return min(limit + more, PROVIDERS[account.type].about.max_results)


def _anew(
    response: SearchResponse,
    seen: Mapping[str, frozenset[str]],
    limits: Mapping[str, int],
) -> SearchResponse:
    """Leave out of an answer what its conversation was shown, as far as there is other.

    Args:
        response: The answer, with more results per query than were asked for.
        seen: By query, the pages that searches like it have shown.
        limits: How many results of a query to show, by provider.
    """
    results: list[SearchResult] = []
    left_out = repeated = 0
    for query, pages in seen.items():
        own = [each for each in response.results if each.query == query]
        fresh = [each for each in own if canonical(each.url) not in pages]
        limit = limits.get(own[0].source_provider) if own else None
        told = (fresh or own)[:limit]
        results += told
        if fresh:
            left_out += len(own) - len(fresh)
        elif own:
            repeated += len(told)
    warnings = [*response.warnings, *_left_out(left_out), *_repeated(repeated)]
    return response.model_copy(update={"results": results, "warnings": warnings})


def _left_out(count: int) -> list[str]:
    if not count:
        return []
    which = "1 result shown before is" if count == 1 else f"{count} results shown before are"
    return [f"{which} left out: this conversation has searched for nearly the same."]


def _repeated(count: int) -> list[str]:
    if not count:
        return []
    which = "This result was" if count == 1 else f"{count} of these results were"
    advice = "read a page, search for something else, or answer from what is known"
    return [f"{which} shown before, and there is nothing new: {advice}."]
