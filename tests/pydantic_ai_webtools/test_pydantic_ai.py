"""The tools run in pydantic-ai, and one object searches natively or with ours."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent, ModelResponse, ToolReturnPart
from pydantic_ai.messages import TextPart, ToolCallPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from pydantic_ai_webtools import WebSearch, web_tool, web_toolset
from webtools import InputError, Session, WebTools
from webtools.native import stand_in
from webtools.tools import FETCH, SEARCH, TOOLS
from webtools_sandbox import SandboxServer

# The frameworks leave the connections of the vendors' clients to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore:Exception ignored in")
QUESTION = "How do I decode JSON with a custom decoder?"
MODELS = ("openai", "anthropic")


@pytest.fixture
def web(webtools_sandbox: SandboxServer) -> Iterator[WebTools]:
    with WebTools(webtools_sandbox.config()) as web:
        yield web
    gc.collect()  # the connections of this test


@pytest.fixture
def known(webtools_sandbox: SandboxServer) -> Iterator[None]:
    with ExitStack() as stack:
        for vendor in MODELS:
            stack.enter_context(stand_in(vendor, webtools_sandbox.model_url(vendor)))
        yield


class Outer(OpenAIResponsesModel):
    """A subclass, whose requests are not known."""


def model_for(vendor: str, server: SandboxServer, name: str = "", kind: Any = None) -> Any:
    url, key = server.model_url(vendor), f"test-key-{vendor}"
    if vendor == "openai":
        provider = OpenAIProvider(base_url=url, api_key=key)
        return (kind or OpenAIResponsesModel)(name or "gpt-5.2", provider=provider)
    anthropic = AnthropicProvider(base_url=url, api_key=key)
    return AnthropicModel(name or "claude-sonnet-4-6", provider=anthropic)


def sent_tools(server: SandboxServer) -> list[dict[str, Any]]:
    return server.stats()["last"][-1]["body"].get("tools") or []


def model_paths(server: SandboxServer) -> int:
    requests = server.stats()["requests"]
    return sum(n for path, n in requests.items() if path.startswith("/exa/"))


# --- tools -------------------------------------------------------------------------------------


@pytest.mark.parametrize("vendor", MODELS)
def test_a_real_model_searches_with_our_tool(
    vendor: str, web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    agent = Agent(model_for(vendor, webtools_sandbox), toolsets=[web_toolset(web)])
    result = agent.run_sync(QUESTION)
    assert "See [the first result](http" in result.output
    [part] = [
        part
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    expected = web.call_tool("web_search", {"queries": [QUESTION]})
    assert part.content == expected.text
    assert part.metadata["result_count"] == expected.details["result_count"]


def test_the_toolset_has_all_tools_with_our_schema(web: WebTools) -> None:
    toolset = web_toolset(web)
    assert [*toolset.tools] == [*TOOLS]
    for name, tool in toolset.tools.items():
        assert tool.tool_def.parameters_json_schema == TOOLS[name].input_model.model_json_schema()
        assert tool.tool_def.description == TOOLS[name].paragraph


def test_errors_do_not_use_up_retries(web: WebTools) -> None:
    seen: list[Any] = []

    def answer(messages: Any, info: Any) -> ModelResponse:
        seen.append(messages[-1].parts)
        if len(seen) > 3:
            return ModelResponse(parts=[TextPart("Done.")])
        return ModelResponse(parts=[ToolCallPart("web_search", {"limit": 999, "queries": ["x"]})])

    agent = Agent(FunctionModel(answer), toolsets=[web_toolset(web)])
    assert agent.run_sync(QUESTION).output == "Done."
    failures = [part for parts in seen[1:] for part in parts]
    assert len(failures) == 3
    assert all("999" in str(part.content) for part in failures)
    assert all(part.outcome == "failed" for part in failures)


def test_fixed_arguments_are_not_the_models(web: WebTools) -> None:
    tool = web_tool(SEARCH, web, limit=1, include_domains=["docs.python.org"])
    schema = tool.tool_def.parameters_json_schema
    assert {"limit", "include_domains"} & schema["properties"].keys() == set()
    with pytest.raises(InputError):
        web_tool(SEARCH, web, limit=999)


def test_one_agent_serves_many_sessions(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    toolset = web_toolset(lambda ctx: ctx.deps, tools=[SEARCH, FETCH])
    agent = Agent(model_for("openai", webtools_sandbox), deps_type=Session, toolsets=[toolset])
    sessions = [web.session(user=name) for name in ("ann", "ben")]
    agent.run_sync(QUESTION, deps=sessions[0])
    assert sessions[0].queries == [QUESTION]
    assert sessions[1].queries == []


def test_settings_and_a_function_are_not_combined() -> None:
    with pytest.raises(InputError):
        web_toolset(lambda ctx: ctx.deps, api_keys={"exa": "test-key-exa"})
    with pytest.raises(InputError):
        web_toolset("config.json")  # type: ignore[arg-type, unused-ignore]


# --- native or ours ----------------------------------------------------------------------------


@pytest.mark.parametrize("vendor", MODELS)
@pytest.mark.parametrize("is_streaming", [False, True])
async def test_a_known_route_searches_natively_and_the_session_knows(
    vendor: str,
    is_streaming: bool,
    web: WebTools,
    webtools_sandbox: SandboxServer,
    known: None,
) -> None:
    session = web.session()
    search = WebSearch(session, include_domains=["docs.python.org"])
    agent = Agent(model_for(vendor, webtools_sandbox), capabilities=[search])
    if is_streaming:
        async with agent.run_stream(QUESTION) as run:
            await run.get_output()
    else:
        await agent.run(QUESTION)
    [tool] = sent_tools(webtools_sandbox)
    assert tool["type"].startswith("web_search")
    domains = tool["filters"] if vendor == "openai" else tool
    assert domains["allowed_domains"] == ["docs.python.org"]
    report = session.report("json")
    assert report["queries"] == [QUESTION]
    assert report["cost_usd"] == 0.01
    assert report["calls"] == 1
    assert {source["how"] for source in report["sources"]} == {"native"}
    assert model_paths(webtools_sandbox) == 0


@pytest.mark.parametrize("vendor", MODELS)
def test_a_source_outside_the_domains_is_refused(
    vendor: str, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    webtools_sandbox.fault(provider=vendor, search="outside")
    search = WebSearch(session, include_domains=["docs.python.org"])
    Agent(model_for(vendor, webtools_sandbox), capabilities=[search]).run_sync(QUESTION)
    assert session.report("json")["refused"] == ["https://outside.example/page"]
    assert not session.has_seen("https://outside.example/page")


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "a filter that the vendor lacks": ({"language": "de"}, {}, {}),
    "dates": ({"start_published_date": "2026-01-01"}, {}, {}),
    "an unknown model": ({}, {"name": "gpt-4.1-nano"}, {}),
    "a subclass": ({}, {"kind": Outer}, {}),
    "money, and no limit of the vendor": ({}, {}, {"usd": 5}),
    "calls, and no limit of the vendor": ({}, {}, {"calls": 9}),
    "calls, whatever may be overshot": ({"native_overshoot": True}, {}, {"calls": 9}),
    "a gate": ({}, {}, {"fetch": "seen"}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_forbids_a_native_search_means_ours(
    case: str, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    options, model_options, limits = CASES[case]
    session = web.session(**limits)
    search = WebSearch(session, **options)
    model = model_for("openai", webtools_sandbox, **model_options)
    assert "See [" in Agent(model, capabilities=[search]).run_sync(QUESTION).output
    [tool] = sent_tools(webtools_sandbox)
    assert (tool["type"], tool["name"]) == ("function", "web_search")
    assert model_paths(webtools_sandbox) == 1
    assert "web_search was used" in str(session.report("json")["notes"])


@pytest.mark.parametrize("vendor", MODELS)
def test_errors_of_the_vendor_are_in_the_report_and_free(
    vendor: str, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    webtools_sandbox.fault(provider=vendor, search="error")
    agent = Agent(model_for(vendor, webtools_sandbox), capabilities=[WebSearch(session)])
    agent.run_sync(QUESTION)
    report = session.report("json")
    assert "error" in str(report["notes"])
    assert report["cost_usd"] == 0


@pytest.mark.parametrize("vendor", MODELS)
def test_a_made_up_link_is_told_from_a_native_source(
    vendor: str, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    agent = Agent(model_for(vendor, webtools_sandbox), capabilities=[WebSearch(session)])
    agent.run_sync(QUESTION)
    url = session.sources[0].url
    web_search = web_tool(SEARCH, session)
    own = Agent(model_for(vendor, webtools_sandbox), tools=[web_search])
    own.run_sync("How do I read a zip file?")
    assert [source.number for source in session.sources] == [*range(1, len(session.sources) + 1)]
    assert session.sources[0].url == url
    checked = session.check(f"Native [1]. See [it]({url}) and [that](https://made-up.example/).")
    assert checked.not_seen == ["https://made-up.example/"]
    assert checked.bad_numbers == []


def test_a_custom_base_url_means_ours(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    agent = Agent(model_for("openai", webtools_sandbox), capabilities=[WebSearch(web)])
    agent.run_sync(QUESTION)
    assert [tool["type"] for tool in sent_tools(webtools_sandbox)] == ["function"]


def test_a_budget_of_the_settings_means_ours(webtools_sandbox: SandboxServer, known: None) -> None:
    with WebTools(webtools_sandbox.config(), budget={"usd_per_process": 5}) as web:
        search = WebSearch(web)
        Agent(model_for("anthropic", webtools_sandbox), capabilities=[search]).run_sync(QUESTION)
    assert all("input_schema" in tool for tool in sent_tools(webtools_sandbox))


def test_what_is_left_limits_the_vendor(
    web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session(usd=0.025)
    agent = Agent(model_for("anthropic", webtools_sandbox), capabilities=[WebSearch(session)])
    limits: list[Any] = []
    for _ in range(3):
        agent.run_sync(QUESTION)
        limits += [tool.get("max_uses", "ours") for tool in sent_tools(webtools_sandbox)]
    assert limits == [2, 1, "ours"]


@pytest.mark.parametrize("has_functions", [False, True])
def test_gemini_searches_natively_also_beside_functions(
    has_functions: bool, web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    google = pytest.importorskip("pydantic_ai.models.google")
    providers = pytest.importorskip("pydantic_ai.providers.google")
    url, session = webtools_sandbox.model_url("google"), web.session()
    provider = providers.GoogleProvider(api_key="test-key-google", base_url=url)
    toolsets = [web_toolset(session, tools=[FETCH])] if has_functions else []
    with stand_in("google", url):
        model = google.GoogleModel("gemini-3.5-flash", provider=provider)
        Agent(model, capabilities=[WebSearch(session)], toolsets=toolsets).run_sync(QUESTION)
    report = session.report("json")
    assert (report["queries"], report["calls"], report["cost_usd"]) == ([QUESTION], 1, 0.014)
    assert {source["how"] for source in report["sources"]} == {"native"}
