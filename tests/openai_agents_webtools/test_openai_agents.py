"""The tools run in the OpenAI Agents SDK, and the hosted search is used where it serves all."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    FunctionTool,
    ModelSettings,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    WebSearchTool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from openai_agents_webtools import HostedSearch, strip_sources, web_tool, web_tools
from webtools import InputError, Session, WebTools
from webtools.native import stand_in
from webtools.tools import FETCH, SEARCH, TOOLS
from webtools_sandbox import SandboxServer

# The frameworks leave the connections of the vendors' clients to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore:Exception ignored in")
QUESTION = "How do I decode JSON with a custom decoder?"
SOURCES = ModelSettings(response_include=["web_search_call.action.sources"])
both_ways = pytest.mark.parametrize("is_streaming", [False, True], ids=["whole", "streaming"])


@pytest.fixture
def web(webtools_sandbox: SandboxServer) -> Iterator[WebTools]:
    set_tracing_disabled(True)
    with WebTools(webtools_sandbox.config()) as web:
        yield web
    gc.collect()  # the connections of this test


@pytest.fixture
def known(webtools_sandbox: SandboxServer) -> Iterator[None]:
    with stand_in("openai", webtools_sandbox.model_url("openai")):
        yield


def model_for(server: SandboxServer) -> OpenAIResponsesModel:
    client = AsyncOpenAI(base_url=server.model_url("openai"), api_key="test-key-openai")
    return OpenAIResponsesModel("gpt-5.2", client)


def sent_tools(server: SandboxServer) -> list[dict[str, Any]]:
    return server.stats()["last"][-1]["body"].get("tools") or []


def hosted(server: SandboxServer, web: WebTools, **options: Any) -> HostedSearch:
    url = server.model_url("openai")
    return HostedSearch(web, **{"model": "gpt-5.2", "base_url": url, **options})


async def ask(agent: Any, items: Any = QUESTION, *, is_streaming: bool, **options: Any) -> Any:
    if not is_streaming:
        return await Runner.run(agent, items, **options)
    run = Runner.run_streamed(agent, items, **options)
    async for _event in run.stream_events():
        pass
    return run


def bodies(server: SandboxServer) -> list[dict[str, Any]]:
    """The requests to the model."""
    return [each["body"] for each in server.stats()["last"] if "model" in (each["body"] or ())]


async def test_a_real_model_searches_with_our_tool(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    agent = Agent(name="A", model=model_for(webtools_sandbox), tools=[*web_tools(web)])
    result = await Runner.run(agent, QUESTION)
    tools = sent_tools(webtools_sandbox)
    assert "See [the first result](http" in result.final_output
    [output] = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    assert output == web.call_tool("web_search", {"queries": [QUESTION]}).text
    search = next(tool for tool in tools if tool["name"] == "web_search")
    assert search["strict"] is False
    assert search["parameters"]["required"] == ["queries"]


def test_all_tools_have_our_schema(web: WebTools) -> None:
    for tool in web_tools(web):
        own = TOOLS[tool.name]
        assert tool.params_json_schema == own.input_model.model_json_schema()
        assert tool.description == own.paragraph


@pytest.mark.parametrize("arguments", ['{"limit": 999, "queries": ["x"]}', "[", "5", ""])
async def test_an_error_is_a_text_for_the_model(web: WebTools, arguments: str) -> None:
    context: Any = None
    text = await web_tool(SEARCH, web).on_invoke_tool(context, arguments)
    assert "quer" in text or "999" in text


async def test_one_agent_serves_many_sessions(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    tools = web_tools(lambda context: context.context, tools=[SEARCH, FETCH])
    agent = Agent[Session](name="A", model=model_for(webtools_sandbox), tools=[*tools])
    sessions = [web.session(user=name) for name in ("ann", "ben")]
    await Runner.run(agent, QUESTION, context=sessions[0])
    assert sessions[0].queries == [QUESTION]
    assert sessions[1].queries == []


def test_tools_may_be_named(web: WebTools) -> None:
    assert [tool.name for tool in web_tools(web, tools=["web_search"])] == [SEARCH.name]
    with pytest.raises(InputError, match="web_search"):
        web_tool("web_serch", web)


async def test_a_run_without_its_session_is_no_run_on_the_default_settings() -> None:
    tool = web_tool(SEARCH, lambda context: context.context)
    context: Any = SimpleNamespace(context=None)
    with pytest.raises(InputError, match="NoneType"):
        await tool.on_invoke_tool(context, '{"queries": ["zip"]}')


def test_fixed_arguments_are_not_the_models(web: WebTools) -> None:
    schema = web_tool(SEARCH, web, limit=1).params_json_schema
    assert "limit" not in schema["properties"]
    with pytest.raises(InputError):
        web_tool(SEARCH, web, limit=999)


@pytest.mark.parametrize(
    "domains", ["docs.python.org", '["docs.python.org", ""]', ("docs.python.org",)]
)
async def test_domains_may_be_written_as_for_a_search(
    domains: Any, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    search = hosted(webtools_sandbox, session, include_domains=domains)
    agent = Agent(name="A", model=model_for(webtools_sandbox), tools=[search.tool])
    await Runner.run(agent, QUESTION, hooks=search)
    assert [source["how"] for source in session.report("json")["sources"]] == ["native"]


@both_ways
async def test_the_hosted_search_is_added_to_the_session(
    is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session, domains = web.session(), ["docs.python.org"]
    search = hosted(webtools_sandbox, session, include_domains=domains)
    assert isinstance(search.tool, WebSearchTool)
    assert not search.reason
    model = model_for(webtools_sandbox)
    agent = Agent(name="A", model=model, tools=[search.tool], model_settings=SOURCES)
    webtools_sandbox.fault(provider="openai", search="outside")
    for _ in range(2):
        await ask(agent, is_streaming=is_streaming, hooks=search)
    [sent] = sent_tools(webtools_sandbox)
    assert sent["filters"] == {"allowed_domains": domains}
    report = session.report("json")
    assert report["queries"] == [QUESTION] * 2
    assert report["calls"] == report["providers"]["openai"]["requests"] == 2
    assert (report["cost_usd"], report["cost_is_estimate"]) == (0.02, True)
    assert report["refused"] == ["https://outside.example/page"]
    assert [source["how"] for source in report["sources"]] == ["native"] * 2


@both_ways
async def test_a_made_up_link_is_distinguished_from_a_hosted_source(
    is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    search = hosted(webtools_sandbox, session)
    agent = Agent(name="A", model=model_for(webtools_sandbox), tools=[search.tool])
    await ask(agent, is_streaming=is_streaming, hooks=search)
    own = Agent(name="B", model=agent.model, tools=[web_tool(SEARCH, session)])
    await ask(own, "How do I read a zip file?", is_streaming=is_streaming)
    assert [source.number for source in session.sources] == [*range(1, len(session.sources) + 1)]
    assert {source.how for source in session.sources} == {"native", "search"}
    url = session.sources[0].url
    checked = session.check(f"Native [1]. See [it]({url}) and [that](https://made-up.example/).")
    assert checked.not_seen == ["https://made-up.example/"]
    assert checked.bad_numbers == []


@both_ways
async def test_sources_do_not_go_back(
    is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    agent = Agent(
        name="A",
        model=model_for(webtools_sandbox),
        tools=[hosted(webtools_sandbox, web).tool],
        model_settings=SOURCES,
    )
    first = await ask(agent, is_streaming=is_streaming)
    history = [*first.to_input_list(), {"role": "user", "content": "And encode?"}]
    config = RunConfig(call_model_input_filter=strip_sources)
    second = await ask(agent, history, is_streaming=is_streaming, run_config=config)
    assert second.final_output
    sent = bodies(webtools_sandbox)
    assert "web_search_call" in json.dumps(sent[-1]["input"])
    assert not any('"sources"' in json.dumps(body["input"]) for body in sent)
    with pytest.raises(Exception, match="sources"):
        await ask(agent, history, is_streaming=is_streaming)


def settings(**values: Any) -> dict[str, Any]:
    return {"model_settings": ModelSettings(**values)}


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        ({"language": "de"}, {}),
        ({"exclude_domains": ["a.example"]}, {}),
        ({}, {"usd": 5}),
        ({}, {"usd_per_day": 5, "user": "ann"}),
        ({}, {"calls": 5}),
        ({"native_overshoot": True}, {"calls": 5}),
        ({}, {"fetch": "strict"}),
        ({"model": "gpt-4.1-nano"}, {}),
        ({"model": "gpt-5", **settings(reasoning={"effort": "minimal"})}, {}),
        (settings(extra_body={"model": "gpt-4.1-nano"}), {}),
        (settings(extra_args={"model": "gpt-4.1-nano"}), {}),
        (settings(tool_choice="none"), {}),
    ],
    ids=str,
)
@both_ways
async def test_what_forbids_the_hosted_search_means_ours(
    options: dict[str, Any],
    limits: dict[str, Any],
    is_streaming: bool,
    web: WebTools,
    webtools_sandbox: SandboxServer,
    known: None,
) -> None:
    session = web.session(**limits)
    search = hosted(webtools_sandbox, session, **options)
    assert isinstance(search.tool, FunctionTool)
    assert search.reason
    assert search.reason in str(session.report("json")["notes"])
    agent = Agent(name="A", model=model_for(webtools_sandbox), tools=[search.tool])
    assert "See [" in (await ask(agent, is_streaming=is_streaming, hooks=search)).final_output
    assert [tool["type"] for tool in sent_tools(webtools_sandbox)] == ["function"]


def test_settings_that_go_with_the_hosted_search_are_accepted(
    web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    options = settings(reasoning={"effort": "high"}, tool_choice="auto", temperature=0.5)
    assert isinstance(hosted(webtools_sandbox, web, **options).tool, WebSearchTool)


def test_money_may_be_overshot_on_request_and_the_report_says_that_nothing_limits_it(
    web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session(usd=5)
    search = hosted(webtools_sandbox, session, native_overshoot=True)
    assert isinstance(search.tool, WebSearchTool)
    assert "no limit" in str(session.report("json")["notes"])


@both_ways
async def test_an_error_of_the_hosted_search_is_reported(
    is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    search = hosted(webtools_sandbox, session)
    agent = Agent(name="A", model=model_for(webtools_sandbox), tools=[search.tool])
    webtools_sandbox.fault(provider="openai", search="error")
    await ask(agent, is_streaming=is_streaming, hooks=search)
    report = session.report("json")
    assert "error" in str(report["notes"])
    assert (report["cost_usd"], report["calls"]) == (0, 0)


def test_a_function_is_no_web(webtools_sandbox: SandboxServer) -> None:
    with pytest.raises(InputError):
        hosted(webtools_sandbox, lambda context: context.context)  # type: ignore[arg-type, unused-ignore]


def test_a_custom_base_url_means_ours(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    assert isinstance(hosted(webtools_sandbox, web).tool, FunctionTool)
