"""From checked arguments to a flow: chooses the provider and fills in the configured defaults."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel

from webtools.config.accounts import DEFAULT_LIMIT, Accounts
from webtools.errors import ConfigError, InputError, WebToolsError
from webtools.flows.drivers import Flow, Offload
from webtools.inputs.models import MAX_TEXT_CHARACTERS
from webtools.operations.bearing import bearing
from webtools.operations.fetch import fetch_in_turn
from webtools.operations.read_output import read_on
from webtools.operations.search import search
from webtools.operations.summarize import summarize
from webtools.pipeline.context import CallContext
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.about import SearchOptions
from webtools.providers.protocols import PageQuery, SearchQuery, SummaryQuery
from webtools.results import (
    FetchResponse,
    ReadResponse,
    ResearchEnvelope,
    SearchResponse,
    SummaryResponse,
)
from webtools.text.dates import read_date
from webtools.tools import (
    FETCH,
    READ,
    RESEARCH,
    SEARCH,
    SUMMARIZE,
    TOOLS,
    FetchInput,
    ReadInput,
    ResearchInput,
    SearchInput,
    SummarizeInput,
    Tool,
    shown,
)

T = TypeVar("T")
AnyResponse = TypeVar("AnyResponse", SearchResponse, FetchResponse, SummaryResponse)


def find_tool(name: Any) -> Tool:
    """Find a tool by its name; one that is given itself is it.

    Raises:
        InputError: There is none of that name.
    """
    if isinstance(name, Tool):
        return name
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        message = f"{shown(name)} is not a tool; use one of {', '.join(TOOLS)}."
        raise InputError(message)
    return tool


_NEEDS: dict[str, tuple[Capability, ...]] = {
    SEARCH.name: ("search",),
    FETCH.name: ("fetch",),
    SUMMARIZE.name: ("summarize",),
    RESEARCH.name: ("search", "docs"),
}


def servable(accounts: Accounts) -> tuple[Tool, ...]:
    """Return the tools that the settings can serve; all of them where nothing is configured.

    Without any provider the first call of whichever tool says what is missing.
    """
    if not accounts.accounts:
        return tuple(TOOLS.values())
    return tuple(
        tool
        for tool in TOOLS.values()
        if tool is READ or any(_can(accounts, each) for each in _NEEDS[tool.name])
    )


def _can(accounts: Accounts, capability: Capability) -> bool:
    try:
        accounts.chain(capability)
    except ConfigError:
        return False
    return True


def carry_out(tool: Tool, given: Any, context: CallContext) -> Flow[Any]:
    """Call a tool with checked arguments, and write down how it went.

    Raises:
        WebToolsError: The call failed.
    """
    work = CALLS[tool.name](given, context.accounts, context)
    return _logged(tool, given, context, work) if context.is_logged else work


def _logged(tool: Tool, given: Any, context: CallContext, work: Flow[T]) -> Flow[T]:
    start = time.monotonic()
    context.log("call", tool=tool.name, **_asked(given, context.accounts))
    facts: dict[str, Any] = {}
    try:
        response = yield from work
        facts = {"is_error": False, **_outcome(response)}
    except WebToolsError as error:
        facts = {"is_error": True, "error": type(error).__name__, "message": str(error)}
        raise
    except GeneratorExit:
        context.log("cancelled")
        raise
    except Exception as error:  # such as one of the caller's own progress callback
        facts = {"is_error": True, "error": type(error).__name__}
        raise
    finally:
        if facts:
            context.log("done", ms=round((time.monotonic() - start) * 1000, 1), **facts)
        context.write_log()
    return response


def _asked(given: BaseModel, accounts: Accounts) -> dict[str, Any]:
    """Give the arguments that were given; a provider only if there is one of that name."""
    known = given.model_fields_set
    asked = {name: value for name, value in vars(given).items() if name in known}
    if "provider" in asked and accounts.named(asked["provider"]) is None:
        del asked["provider"]
    return asked


def _outcome(response: Any) -> dict[str, Any]:
    """Give what is worth knowing of a response, in the words of the log."""
    match response:
        case ResearchEnvelope(results=results, meta=meta):
            facts = {
                "result_count": len(results),
                "provider_used": meta.provider_used,
                "degraded": meta.degraded or None,
                "confidence": meta.confidence,
                "rule": meta.confidence_rule,
                "cost_usd": meta.cost_usd,
                "cache_hit": meta.cache_hit,
            }
        case SearchResponse(results=results):
            facts = _served(response) | {"result_count": len(results)}
        case FetchResponse(pages=pages):
            facts = _served(response) | {"result_count": sum(p.error is None for p in pages)}
        case ReadResponse():
            facts = {"result_count": 0}
        case _:
            facts = _served(response) | {"result_count": 1}
    return facts


def _served(response: SearchResponse | FetchResponse | SummaryResponse) -> dict[str, Any]:
    return {
        "provider_used": response.provider,
        "cost_usd": response.cost_usd,
        "cache_hit": response.cache_hit,
    }


def _search(
    given: SearchInput, accounts: Accounts, context: CallContext | None = None
) -> Flow[SearchResponse]:
    chain = accounts.chain("search", given.provider or None)
    limits = {each.name: _limit(given.limit, each, accounts) for each in chain}
    first, *others = [
        (each, [_search_query(given, text, limits[each.name][0]) for text in given.queries])
        for each in chain
    ]
    response = yield from search(*first, context, others)
    told = (text for each in response.asked if each.served for text in limits[each.provider][1])
    return _warned(response, [*accounts.warnings, *dict.fromkeys(told), *_of_store(context)])


def _search_query(given: SearchInput, text: str, limit: int) -> SearchQuery:
    return SearchQuery(
        query=text,
        limit=limit,
        include_domains=tuple(given.include_domains),
        exclude_domains=tuple(given.exclude_domains),
        start_published_date=read_date(given.start_published_date),
        end_published_date=read_date(given.end_published_date),
        category=given.category or None,
    )


def _limit(asked: int, account: Account, accounts: Accounts) -> tuple[int, list[str]]:
    """Find how many results a query may have; an operator's bound wins and is told."""
    most = PROVIDERS[account.type].about.max_results
    bound = min(most, accounts.max_results or most)
    wanted = asked or _own_limit(account) or accounts.max_results or DEFAULT_LIMIT
    if asked and asked > bound:
        return bound, [f"limit {asked} is above what is allowed here; {bound} was used."]
    return min(wanted, bound), []


def _own_limit(account: Account) -> int | None:
    options = account.options
    return options.default_search_limit if isinstance(options, SearchOptions) else None


def _fetch(
    given: FetchInput, accounts: Accounts, context: CallContext | None = None
) -> Flow[FetchResponse]:
    chain = accounts.chain("fetch", given.provider or None)
    fetched = yield from fetch_in_turn(chain, _page_query(given), context)
    response = fetched.response
    if given.question:
        most = given.text_max_characters or None
        cut_down = partial(
            bearing, response, given.question, keep_text=given.text, max_characters=most
        )
        response = yield Offload(cut_down, alone=True)
    return _warned(response, [*accounts.warnings, *_of_store(context)])


def _page_query(given: FetchInput) -> PageQuery:
    """Ask for what was chosen; for a question the whole text, whatever is shown of it."""
    asked = bool(given.question)
    return PageQuery(
        urls=tuple(given.urls),
        text=asked or given.text or not (given.highlights or given.summary),
        highlights=given.highlights,
        summary=given.summary,
        text_max_characters=MAX_TEXT_CHARACTERS if asked else given.text_max_characters or None,
    )


def _summarize(
    given: SummarizeInput, accounts: Accounts, context: CallContext | None = None
) -> Flow[SummaryResponse]:
    account, *others = accounts.chain("summarize", given.provider or None)
    query = SummaryQuery(
        url=given.url,
        summary_type=given.summary_type,
        engine=given.engine,
        target_language=given.target_language or None,
    )
    response = yield from summarize(account, query, context, others)
    return _warned(response, [*accounts.warnings, *_of_store(context)])


def _research(
    given: ResearchInput, _accounts: Accounts, context: CallContext | None = None
) -> Flow[ResearchEnvelope]:
    from webtools.operations.research.flow import research  # noqa: PLC0415 - few calls need its modules

    assert context is not None  # noqa: S101  # the facade always gives one
    return (yield from research(given, context))


def _read(
    given: ReadInput, _accounts: Accounts, _context: CallContext | None = None
) -> Flow[ReadResponse]:
    return (yield from read_on(given))


def _of_store(context: CallContext | None) -> list[str]:
    return [] if context is None else context.store_warnings()


def _warned(response: AnyResponse, warnings: Sequence[str]) -> AnyResponse:
    if not warnings:
        return response
    return response.model_copy(update={"warnings": [*response.warnings, *warnings]})


Call: TypeAlias = Callable[..., Flow[Any]]
CALLS: dict[str, Call] = {
    SEARCH.name: _search,
    FETCH.name: _fetch,
    SUMMARIZE.name: _summarize,
    RESEARCH.name: _research,
    READ.name: _read,
}
