"""Carries out a tool with checked arguments: chooses providers and fills in defaults."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from webtools._internal.call.tracing import begin_span
from webtools._internal.http.watching import Tracing
from webtools._internal.logs.records import LOGGER
from webtools._internal.operations.bearing import bearing
from webtools._internal.operations.fetch import MAX_PASSAGE_CHARACTERS, fetch
from webtools._internal.operations.read_output import read_on
from webtools._internal.operations.research.flow import research
from webtools._internal.operations.search import search
from webtools._internal.operations.search_filters import finding_similar
from webtools._internal.operations.summarize import summarize
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.text.dates import read_date
from webtools.config.accounts import DEFAULT_LIMIT, Accounts
from webtools.errors import ConfigError, InputError, WebToolsError
from webtools.inputs.tool_inputs import MAX_TEXT_CHARACTERS
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.about import SearchOptions
from webtools.providers.protocols import PageQuery, SearchQuery, SummaryQuery
from webtools.results import FetchResponse, ReadResponse, SearchResponse, SummaryResponse
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
    no_such_tool,
)

if TYPE_CHECKING:
    from webtools.results import ResearchEnvelope


def find_tool(name: Any) -> Tool:
    """Find a tool by its name; one that is given itself is it.

    Raises:
        InputError: There is none of that name.
    """
    if isinstance(name, Tool):
        return name
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise InputError(no_such_tool(name))
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
    if not (accounts.accounts or accounts.stand_ins):
        return tuple(TOOLS.values())
    able = tuple(
        tool
        for tool in TOOLS.values()
        if tool is READ or any(_can(accounts, each) for each in _NEEDS[tool.name])
    )
    if left_out := [tool.name for tool in TOOLS.values() if tool not in able]:
        names = ", ".join(left_out)
        LOGGER.info("Left out, as nobody in %s can serve them: %s.", accounts.origin, names)
    return able


def unserved(accounts: Accounts, tool: Tool) -> str:
    """Return the error of a tool that no provider can serve; empty if one can."""
    needs = _NEEDS.get(tool.name, ())
    faults = [fault for capability in needs if (fault := _fault_of(accounts, capability))]
    return faults[0] if len(faults) == len(needs) and faults else ""


def _can(accounts: Accounts, capability: Capability) -> bool:
    return not _fault_of(accounts, capability)


def _fault_of(accounts: Accounts, capability: Capability) -> str:
    try:
        accounts.chain(capability)
    except ConfigError as error:
        return str(error)
    return ""


async def carry_out(tool: Tool, given: Any, call: Call) -> Any:
    """Call a tool with checked arguments, and write down how it went.

    Raises:
        WebToolsError: The call failed.
    """
    start = time.monotonic()
    trace = Tracing.tracer
    span = begin_span(trace, tool.name, given, call) if trace is not None else None
    is_logged = call.services.log is not None or LOGGER.isEnabledFor(logging.INFO)
    if is_logged:
        call.log("call", tool=tool.name, **_arguments(given, call.accounts))
    facts: dict[str, Any] = {}
    try:
        response = await CALLS[tool.name](given, call)
        if is_logged or span is not None:
            facts = {"is_error": False, **_outcome(response)}
    except WebToolsError as error:
        facts = {"is_error": True, "error": type(error).__name__, "message": str(error)}
        raise
    except Exception as error:  # such as one of the caller's own progress callback
        facts = {"is_error": True, "error": type(error).__name__}
        raise
    except BaseException:  # cancelled, interrupted, or closed
        call.log("cancelled")
        raise
    finally:
        if facts:
            call.log("done", ms=round((time.monotonic() - start) * 1000, 1), **facts)
        call.write_log()
        if span is not None:
            span.end(facts)
    return response


def _arguments(given: BaseModel, accounts: Accounts) -> dict[str, Any]:
    """Return the arguments that were given; a provider only if there is one of that name."""
    known = given.model_fields_set
    asked = {name: value for name, value in vars(given).items() if name in known}
    if "provider" in asked and accounts.named(asked["provider"]) is None:
        del asked["provider"]
    return asked


def _outcome(response: Any) -> dict[str, Any]:
    """Choose what is worth knowing of a response, in the words of the log."""
    match response:
        case SearchResponse(results=results):  # first, as it is the usual one
            count = len(results)
        case FetchResponse(pages=pages):
            count = sum(page.error is None for page in pages)
        case ReadResponse():
            return {"result_count": 0}
        case SummaryResponse():
            count = 1
        case _:
            return _outcome_of_research(response)
    return {
        "provider_used": response.provider,
        "cost_usd": response.cost_usd,
        "cache_hit": response.cache_hit,
        "result_count": count,
    }


def _outcome_of_research(envelope: ResearchEnvelope) -> dict[str, Any]:
    meta = envelope.meta
    return {
        "result_count": len(envelope.results),
        "provider_used": meta.provider_used,
        "degraded": meta.degraded or None,
        "confidence": meta.confidence,
        "rule": meta.confidence_rule,
        "cost_usd": meta.cost_usd,
        "cache_hit": meta.cache_hit,
    }


async def _search(given: SearchInput, call: Call) -> SearchResponse:
    accounts = call.accounts.chain("search", given.provider or None)
    if given.similar:
        accounts = finding_similar(accounts)
    start, end = given.start_published_date, given.end_published_date
    since, until = read_date(start) if start else None, read_date(end) if end else None
    queries = [
        SearchQuery(
            query=text,
            limit=given.limit,
            include_domains=tuple(given.include_domains),
            exclude_domains=tuple(given.exclude_domains),
            start_published_date=since,
            end_published_date=until,
            category=given.category or None,
            country=given.country or None,
            language=given.language or None,
            safe_search=given.safe_search or None,
            page=given.page if given.page > 1 else 0,
            content=given.content,
            similar=given.similar,
            snippets=call.options.snippets,
        )
        for text in given.queries
    ]
    limit_of = partial(_limit_of, call.accounts, given.limit)
    return await search(accounts, queries, call, limit_of)


def _limit_of(settings: Accounts, requested: int, account: Account) -> int:
    """Return how many results a provider is asked for. `maxResults` bounds every request."""
    provider_limit = PROVIDERS[account.type].about.max_results
    max_results = settings.config.max_results
    options = account.options
    default = options.default_search_limit if isinstance(options, SearchOptions) else None
    limit = requested or default or max_results or DEFAULT_LIMIT
    return min(limit, provider_limit, max_results or provider_limit)


async def _fetch(given: FetchInput, call: Call) -> FetchResponse:
    chain = call.accounts.chain("fetch", given.provider or None)
    response = await fetch(chain, _page_query(given), call)
    if given.question:
        most = given.text_max_characters or None
        cut_down = partial(
            _cut_down, response, given.question, keep_text=given.text, max_characters=most
        )
        response = await call.io.call_blocking(cut_down, alone=True)
    if warnings := call.warnings():
        return response.model_copy(update={"warnings": [*response.warnings, *warnings]})
    return response


def _cut_down(response: FetchResponse, question: str, **how: Any) -> FetchResponse:
    return bearing(response, question, **how)


def _page_query(given: FetchInput) -> PageQuery:
    """Ask for what was chosen; for a question the passages, of providers that choose such."""
    asked = bool(given.question)
    most = given.text_max_characters or MAX_PASSAGE_CHARACTERS
    return PageQuery(
        urls=tuple(given.urls),
        text=given.text or not (asked or given.highlights or given.summary),
        highlights=given.highlights,
        summary=given.summary,
        text_max_characters=MAX_TEXT_CHARACTERS if asked else given.text_max_characters or None,
        question=given.question,
        passage_characters=min(most, MAX_PASSAGE_CHARACTERS // len(given.urls)) if asked else 0,
    )


async def _summarize(given: SummarizeInput, call: Call) -> SummaryResponse:
    accounts = call.accounts.chain("summarize", given.provider or None)
    query = SummaryQuery(
        url=given.url,
        summary_type=given.summary_type,
        engine=given.engine,
        target_language=given.target_language or None,
    )
    return await summarize(accounts, query, call)


async def _research(given: ResearchInput, call: Call) -> ResearchEnvelope:
    return await research(given, call)


async def _read(given: ReadInput, call: Call) -> ReadResponse:
    return await read_on(given, call.io)


CALLS: dict[str, Callable[..., Awaitable[Any]]] = {
    SEARCH.name: _search,
    FETCH.name: _fetch,
    SUMMARIZE.name: _summarize,
    RESEARCH.name: _research,
    READ.name: _read,
}
