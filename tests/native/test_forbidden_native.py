"""No adapter lets a vendor search where filters, gate or budget forbid it.

What is permitted is stated here from the documentation of the vendors, not read from the table.
"""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any, TypeAlias

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

from langchain_webtools import WebMiddleware
from webtools import WebTools
from webtools.native import stand_in
from webtools_sandbox import SandboxServer

pytestmark = [  # clients of the vendors are left to the garbage collector
    pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
QUESTION = "How do I decode JSON with a custom decoder?"
DAY, LATER = "2001-02-03", "2031-02-03"
MODELS = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-6", "google": "gemini-3.5-flash"}
PRICES = {"openai": 0.01, "anthropic": 0.01, "google": 0.014}
SERVED = {
    "openai": {"include_domains", "country"},
    "anthropic": {"include_domains", "exclude_domains", "country"},
    "google": {"start_published_date", "end_published_date"},
}
FILTERS: list[dict[str, Any]] = [
    {},
    {"include_domains": ["docs.python.org"]},
    {"exclude_domains": ["a.example"]},
    {"include_domains": ["docs.python.org"], "exclude_domains": ["a.example"]},
    {"country": "DE"},
    {"language": "de"},
    {"safe_search": "strict"},
    {"category": "news"},
    {"start_published_date": DAY},
    {"start_published_date": DAY, "end_published_date": LATER},
    {"include_domains": ["docs.python.org"], "start_published_date": DAY},
]
# The limits of a session, the budget of the settings, and whether money may be overshot.
Limits: TypeAlias = tuple[dict[str, Any], dict[str, Any], bool]
LIMITS: list[Limits] = [
    ({}, {}, False),
    ({"usd": 5}, {}, False),
    ({"usd": 0.025}, {}, False),
    ({"usd": 0.005}, {}, False),
    ({"usd_per_day": 5}, {}, False),
    ({"calls": 3}, {}, False),
    ({"fetch": "seen"}, {}, False),
    ({"fetch": "strict"}, {}, False),
    ({}, {"usd_per_process": 5}, False),
    ({}, {"calls_per_day": 50}, False),
    ({"usd": 5}, {}, True),
    ({"usd": 0.005}, {}, True),
    ({"usd_per_day": 5}, {}, True),
    ({"calls": 3}, {}, True),
    ({"usd": 5, "fetch": "seen"}, {}, True),
    ({"usd": 5, "calls": 3}, {}, True),
    ({}, {"usd_per_process": 5}, True),
    ({}, {"calls_per_day": 50}, True),
]
Ask: TypeAlias = Callable[..., Awaitable[Any]]
"""Runs an agent of a framework, and returns the notes of the report."""


def is_permitted(vendor: str, served: set[str], filters: dict[str, Any], limits: Limits) -> bool:
    session, settings, may_overshoot = limits
    has_cap = vendor == "anthropic"
    has_half_range = len({"start_published_date", "end_published_date"} & {*filters}) == 1
    has_both_lists = {"include_domains", "exclude_domains"} <= {*filters}
    return not (
        {*filters} - served
        or has_half_range
        or has_both_lists
        or session.get("fetch", "any") != "any"
        or session.get("usd", 9) < PRICES[vendor]
        or ("usd" in session and not (has_cap or may_overshoot))
        or ("calls" in session and not has_cap)
        or ("usd_per_day" in session and not may_overshoot)
        or ("usd_per_process" in settings and not may_overshoot)
        or "calls_per_day" in settings
    )


def cap_of(limits: Limits) -> int:
    """The most searches that are left of a session, at most the five of the adapters."""
    session = limits[0]
    return min(5, session.get("calls", 5), int(session.get("usd", 9) / 0.01 + 1e-9))


def with_langchain(vendor: str, url: str) -> Ask:
    key, model = f"test-key-{vendor}", MODELS[vendor]
    llm: Any
    if vendor == "openai":
        llm = ChatOpenAI(model=model, base_url=url, api_key=key, output_version="responses/v1")  # type: ignore[arg-type, unused-ignore]
    elif vendor == "anthropic":
        llm = ChatAnthropic(model_name=model, base_url=url, api_key=key)  # type: ignore[arg-type, call-arg, unused-ignore]
    else:
        google = pytest.importorskip("langchain_google_genai")
        llm = google.ChatGoogleGenerativeAI(model=model, google_api_key=key, base_url=url)

    async def ask(web: WebTools, filters: Any, session: Any, *, stream: bool, **more: Any) -> Any:
        options = {"native": "auto", "user": "ann", **filters, **session, **more}
        agent: Any = create_agent(llm, middleware=[WebMiddleware(web, **options)])
        question = {"messages": [("user", QUESTION)]}
        if not stream:
            return (await agent.ainvoke(question))["web_report"]["notes"]
        modes = ["messages", "values"]
        parts = [part async for part in agent.astream(question, stream_mode=modes)]
        return [state for mode, state in parts if mode == "values"][-1]["web_report"]["notes"]

    return ask


def with_pydantic_ai(vendor: str, url: str) -> Ask:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    package = pytest.importorskip("pydantic_ai_webtools")
    api = pytest.importorskip(f"pydantic_ai.models.{vendor}")
    providers = pytest.importorskip(f"pydantic_ai.providers.{vendor}")
    name = {"openai": "OpenAI", "anthropic": "Anthropic", "google": "Google"}[vendor]
    provider = getattr(providers, f"{name}Provider")(base_url=url, api_key=f"test-key-{vendor}")
    kind = "OpenAIResponsesModel" if vendor == "openai" else f"{name}Model"
    model = getattr(api, kind)(MODELS[vendor], provider=provider)

    async def ask(web: WebTools, filters: Any, limits: Any, *, stream: bool, **more: Any) -> Any:
        session = web.session(user="ann", **limits)
        search = package.WebSearch(session, **filters, **more)
        agent = pydantic_ai.Agent(model, capabilities=[search])
        if stream:
            async with agent.run_stream(QUESTION) as run:
                await run.get_output()
        else:
            await agent.run(QUESTION)
        return session.report("json")["notes"]

    return ask


def with_openai_agents(vendor: str, url: str) -> Ask:
    agents = pytest.importorskip("agents")
    package = pytest.importorskip("openai_agents_webtools")
    openai = pytest.importorskip("openai")
    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=url, api_key=f"test-key-{vendor}")
    model = agents.OpenAIResponsesModel(MODELS[vendor], client)

    async def ask(web: WebTools, filters: Any, limits: Any, *, stream: bool, **more: Any) -> Any:
        session = web.session(user="ann", **limits)
        options = {"model": MODELS[vendor], "base_url": url, **filters, **more}
        search = package.HostedSearch(session, **options)
        agent = agents.Agent(name="A", model=model, tools=[search.tool])
        if stream:
            run = agents.Runner.run_streamed(agent, QUESTION, hooks=search)
            _ = [event async for event in run.stream_events()]
        else:
            await agents.Runner.run(agent, QUESTION, hooks=search)
        return session.report("json")["notes"]

    return ask


ADAPTERS: dict[str, tuple[Callable[[str, str], Ask], set[str], tuple[str, ...]]] = {
    "langchain": (with_langchain, {*FILTERS[3], *FILTERS[9], "country"}, (*MODELS,)),
    "pydantic-ai": (with_pydantic_ai, {*FILTERS[3], "country"}, (*MODELS,)),
    "openai-agents": (with_openai_agents, SERVED["openai"], ("openai",)),
}
ROUTES = [(name, vendor) for name, adapter in ADAPTERS.items() for vendor in adapter[2]]


@pytest.mark.parametrize(("name", "vendor"), ROUTES)
async def test_a_vendor_searches_only_where_all_is_permitted(
    name: str, vendor: str, webtools_sandbox: SandboxServer
) -> None:
    make, sent_filters, _ = ADAPTERS[name]
    url = webtools_sandbox.model_url(vendor)
    ask, served = make(vendor, url), SERVED[vendor] & sent_filters
    cases = [(filters, LIMITS[0]) for filters in FILTERS]
    cases += [(FILTERS[0], limits) for limits in LIMITS[1:]]
    cases += random.Random(name + vendor).sample([*product(FILTERS[1:], LIMITS[1:])], 5)
    wrong: list[str] = []
    for number, (filters, limits) in enumerate(cases):
        webtools_sandbox.reset()
        session, settings, may_overshoot = limits
        options = {"stream": bool(number % 2), "native_overshoot": may_overshoot}
        with stand_in(vendor, url):  # type: ignore[arg-type, unused-ignore]
            with WebTools(webtools_sandbox.config(), budget=settings or None) as web:
                notes = await ask(web, filters, session, **options)
        sent = native_tools(webtools_sandbox, vendor)
        permitted = is_permitted(vendor, served, filters, limits)
        is_capped = all(tool.get("max_uses", 0) <= cap_of(limits) for tool in sent)
        if bool(sent) != permitted or not is_capped or not (permitted or notes):
            wrong.append(json.dumps([filters, limits, sent, notes]))
    assert wrong == []


def native_tools(server: SandboxServer, vendor: str) -> list[dict[str, Any]]:
    """The vendor's search in the requests to its models."""
    requests = [each for each in server.stats()["last"] if vendor in each["path"]]
    assert requests
    tools = [tool for each in requests for tool in each["body"]["tools"]]
    return [
        tool
        for tool in tools
        if str(tool.get("type")).startswith("web_search") or "googleSearch" in tool
    ]
