"""The tools run in pydantic-ai, and one object searches natively or with ours."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import (
    Agent,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    ToolReturnPart,
)
from pydantic_ai.capabilities import ModelFallback
from pydantic_ai.messages import TextPart, ToolCallPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from pydantic_ai_webtools import WebSearch, read_model_response, web_tool, web_toolset
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


def test_a_run_without_its_session_is_no_run_on_the_default_settings(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    def call(messages: Any, info: Any) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart("web_search", {"queries": ["zip"]})])

    agent = Agent(FunctionModel(call), toolsets=[web_toolset(lambda ctx: ctx.deps)])
    with pytest.raises(InputError, match="NoneType"):
        agent.run_sync(QUESTION)
    assert not model_paths(webtools_sandbox)


def test_tools_may_be_named(web: WebTools) -> None:
    assert web_tool("web_search", web).name == SEARCH.name
    with pytest.raises(InputError, match="web_search"):
        web_toolset(web, tools=["web_serch"])
    with pytest.raises(InputError, match="max_native 0"):
        WebSearch(web, max_native=0)


def test_settings_and_a_function_are_not_combined() -> None:
    with pytest.raises(InputError):
        web_toolset(lambda ctx: ctx.deps, api_keys={"exa": "test-key-exa"})
    with pytest.raises(InputError):
        web_toolset("config.json")  # type: ignore[arg-type, unused-ignore]


# --- native or ours ----------------------------------------------------------------------------

both_ways = pytest.mark.parametrize("is_streaming", [False, True], ids=["whole", "streaming"])
each_vendor = pytest.mark.parametrize("vendor", MODELS)


async def ask(agent: Any, *, is_streaming: bool, **options: Any) -> Any:
    """Run an agent, and return the result; `output` is its answer."""
    if not is_streaming:
        return await agent.run(QUESTION, **options)
    async with agent.run_stream(QUESTION, **options) as run:
        run.output = await run.get_output()
    return run


def bodies(server: SandboxServer) -> list[dict[str, Any]]:
    """The requests to the models."""
    return [each["body"] for each in server.stats()["last"] if "model" in (each["body"] or ())]


@each_vendor
@both_ways
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
    await ask(agent, is_streaming=is_streaming)
    [tool] = sent_tools(webtools_sandbox)
    assert tool["type"].startswith("web_search")
    domains = tool["filters"] if vendor == "openai" else tool
    assert domains["allowed_domains"] == ["docs.python.org"]
    assert tool.get("max_uses") == (5 if vendor == "anthropic" else None)
    report = session.report("json")
    assert report["queries"] == [QUESTION]
    assert (report["cost_usd"], report["cost_is_estimate"]) == (0.01, True)
    assert report["calls"] == report["providers"][vendor]["requests"] == 1
    assert {source["how"] for source in report["sources"]} == {"native"}
    assert len(report["sources"]) == 2  # of which one is cited
    assert model_paths(webtools_sandbox) == 0


@each_vendor
@both_ways
async def test_a_source_outside_the_domains_is_refused(
    vendor: str, is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    webtools_sandbox.fault(provider=vendor, search="outside")
    search = WebSearch(session, include_domains=["docs.python.org"])
    agent = Agent(model_for(vendor, webtools_sandbox), capabilities=[search])
    await ask(agent, is_streaming=is_streaming)
    assert session.report("json")["refused"] == ["https://outside.example/page"]
    assert not session.has_seen("https://outside.example/page")


@each_vendor
@pytest.mark.parametrize(
    "domains",
    [
        "docs.python.org",
        ["https://docs.python.org/", ""],
        '["docs.python.org"]',
        ("docs.python.org",),
    ],
)
async def test_domains_may_be_written_as_for_a_search(
    vendor: str, domains: Any, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    search = WebSearch(session, include_domains=domains)
    await Agent(model_for(vendor, webtools_sandbox), capabilities=[search]).run(QUESTION)
    assert session.report("json")["calls"] == 1
    assert {source["how"] for source in session.report("json")["sources"]} == {"native"}


SHAPES = (
    None,
    5,
    True,
    "x",
    [],
    [None],
    [[5]],
    {"sources": 5, "status": []},
    [{"url": 1}],
    [{"uri": []}],
)
ARGUMENTS = (
    {"query": "zip"},
    None,
    "{bad",
    '["x"]',
    {"query": 5, "queries": 5},
    {"queries": [None]},
)


OPENED = {
    "anthropic": {"type": "web_fetch_result", "url": "https://model.example/?d=secret"},
    "google-gla": [{"retrieved_url": "https://model.example/?d=secret"}],
}


@pytest.mark.parametrize("vendor", OPENED)
def test_a_page_that_a_model_had_opened_is_not_seen_when_it_is_found(vendor: str) -> None:
    made_up = "https://model.example/?d=secret"
    found = [{"url": made_up, "uri": made_up, "title": "t"}]
    parts = [
        NativeToolCallPart("web_fetch", {"url": made_up}, tool_call_id="f"),
        NativeToolReturnPart("web_fetch", OPENED[vendor], tool_call_id="f"),
        NativeToolCallPart("web_search", {"query": "x"}, tool_call_id="s"),
        NativeToolReturnPart("web_search", found, tool_call_id="s"),
    ]
    searches = read_model_response(ModelResponse(parts=parts, provider_name=vendor))
    assert searches is not None
    assert searches.opened == searches.unlisted == (made_up,)


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "google-gla"])
@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("tool", ["web_search", "web_fetch"])
def test_no_shape_of_a_response_raises(tool: str, vendor: str, arguments: Any) -> None:
    search = NativeToolCallPart("web_search", {}, tool_call_id="s")
    for content, citations in product(SHAPES, SHAPES):
        call = NativeToolCallPart(tool, arguments, tool_call_id="c")
        returned = NativeToolReturnPart(tool, content, tool_call_id="c")
        text = TextPart("x", provider_details={"citations": citations})
        response = ModelResponse(parts=[search, call, returned, text], provider_name=vendor)
        searches = read_model_response(response)
        assert searches is not None
        assert searches.sources == ()


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
@both_ways
async def test_what_forbids_a_native_search_means_ours(
    case: str, is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    options, model_options, limits = CASES[case]
    session = web.session(**limits)
    search = WebSearch(session, **options)
    agent = Agent(model_for("openai", webtools_sandbox, **model_options), capabilities=[search])
    assert "See [" in (await ask(agent, is_streaming=is_streaming)).output
    [tool] = sent_tools(webtools_sandbox)
    assert (tool["type"], tool["name"]) == ("function", "web_search")
    assert model_paths(webtools_sandbox) == 1
    assert "web_search was used" in str(session.report("json")["notes"])


@pytest.mark.parametrize(
    "settings",
    [
        {"openai_reasoning_effort": "minimal"},
        {"extra_body": {"x": 1}},
        {"openai_native_tools": [{"type": "web_search"}]},
    ],
    ids=str,
)
@pytest.mark.parametrize("is_of_the_run", [False, True])
def test_settings_that_change_the_request_mean_ours(
    settings: Any, is_of_the_run: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    model, of_run = model_for("openai", webtools_sandbox), settings if is_of_the_run else None
    agent = Agent(model, capabilities=[WebSearch(web)], model_settings=None if of_run else settings)
    agent.run_sync(QUESTION, model_settings=of_run)
    sent = sent_tools(webtools_sandbox)
    of_the_developer = settings.get("openai_native_tools", [])
    assert [tool for tool in sent if tool not in of_the_developer] == [
        tool for tool in sent if tool["type"] == "function"
    ]


@both_ways
async def test_the_fallback_model_gets_the_tool_of_its_vendor(
    is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    webtools_sandbox.fault(provider="openai", status=500, times=9)
    session, second = web.session(), model_for("anthropic", webtools_sandbox)
    capabilities = [ModelFallback(second), WebSearch(session, include_domains=["docs.python.org"])]
    agent = Agent(model_for("openai", webtools_sandbox), capabilities=capabilities)
    await ask(agent, is_streaming=is_streaming)
    sent = bodies(webtools_sandbox)
    assert {tool["type"] for body in sent[:-1] for tool in body["tools"]} == {"web_search"}
    [tool] = sent[-1]["tools"]
    assert (tool["allowed_domains"], tool["max_uses"]) == (["docs.python.org"], 5)
    assert [*session.report("json")["providers"]] == ["anthropic"]


@both_ways
@pytest.mark.parametrize("unknown", [{"name": "gpt-4.1-nano"}, {"kind": Outer}], ids=str)
async def test_an_unknown_fallback_model_gets_ours(
    unknown: Any, is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    webtools_sandbox.fault(provider="anthropic", status=500, times=9)
    session, second = web.session(), model_for("openai", webtools_sandbox, **unknown)
    capabilities = [ModelFallback(second), WebSearch(session)]
    agent = Agent(model_for("anthropic", webtools_sandbox), capabilities=capabilities)
    await ask(agent, is_streaming=is_streaming)
    assert [tool["type"] for tool in sent_tools(webtools_sandbox)] == ["function"]
    assert "web_search was used" in str(session.report("json")["notes"])
    both = FallbackModel(model_for("openai", webtools_sandbox), second)
    await ask(Agent(both, capabilities=[WebSearch(session)]), is_streaming=is_streaming)
    assert [tool["type"] for tool in sent_tools(webtools_sandbox)] == ["function"]


@both_ways
async def test_sources_do_not_go_back_to_openai(
    is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    agent = Agent(model_for("openai", webtools_sandbox), capabilities=[WebSearch(session)])
    history: Any = []
    for _ in range(3):
        run = await ask(agent, is_streaming=is_streaming, message_history=history)
        history = run.all_messages()
    sent = bodies(webtools_sandbox)
    assert "web_search_call.action.sources" in sent[0]["include"]
    assert "web_search_call" in json.dumps(sent[2]["input"])
    assert not any('"sources"' in json.dumps(body["input"]) for body in sent)
    assert session.report("json")["calls"] == 3
    assert len(session.sources) == 2


@both_ways
async def test_a_paused_answer_is_continued_and_all_its_searches_count(
    is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    webtools_sandbox.fault(provider="anthropic", search="pause", times=2)
    agent = Agent(model_for("anthropic", webtools_sandbox), capabilities=[WebSearch(session)])
    run = await ask(agent, is_streaming=is_streaming)
    assert len(bodies(webtools_sandbox)) == 3
    [_, answer] = run.all_messages()
    text = "".join(part.content for part in answer.parts if isinstance(part, TextPart))
    assert text.startswith("Looking.Looking.")
    assert len(text) > len("Looking.Looking.")
    report = session.report("json")
    assert (report["calls"], report["cost_usd"]) == (3, 0.03)
    assert report["queries"] == [QUESTION] * 3


@both_ways
@pytest.mark.parametrize("limits", [{"usd": 0.025}, {"calls": 2}], ids=str)
async def test_a_pause_is_not_continued_beyond_the_limits(
    limits: Any, is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session(**limits)
    webtools_sandbox.fault(provider="anthropic", search="pause", times=100)
    agent = Agent(model_for("anthropic", webtools_sandbox), capabilities=[WebSearch(session)])
    assert "Looking." in (await ask(agent, is_streaming=is_streaming)).output
    sent = bodies(webtools_sandbox)
    assert [tool["max_uses"] for body in sent for tool in body["tools"]] == [2, 1]
    report = session.report("json")
    assert (report["calls"], report["cost_usd"]) == (2, 0.02)
    assert "incomplete" in str(report["notes"])


@each_vendor
@both_ways
async def test_errors_of_the_vendor_are_in_the_report_and_free(
    vendor: str, is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    webtools_sandbox.fault(provider=vendor, search="error")
    agent = Agent(model_for(vendor, webtools_sandbox), capabilities=[WebSearch(session)])
    await ask(agent, is_streaming=is_streaming)
    report = session.report("json")
    assert "error" in str(report["notes"])
    assert (report["cost_usd"], report["calls"]) == (0, 0)


@each_vendor
@both_ways
async def test_a_made_up_link_is_distinguished_from_a_native_source(
    vendor: str, is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    agent = Agent(model_for(vendor, webtools_sandbox), capabilities=[WebSearch(session)])
    answer = (await ask(agent, is_streaming=is_streaming)).output
    url = session.sources[0].url
    assert url not in session.check(f"{answer} {url}").not_seen
    web_search = web_tool(SEARCH, session)
    own = Agent(model_for(vendor, webtools_sandbox), tools=[web_search])
    await own.run("How do I read a zip file?")
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


@both_ways
async def test_what_is_left_limits_the_vendor(
    is_streaming: bool, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session(usd=0.025)
    agent = Agent(model_for("anthropic", webtools_sandbox), capabilities=[WebSearch(session)])
    limits: list[Any] = []
    for _ in range(3):
        await ask(agent, is_streaming=is_streaming)
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


def test_the_citations_of_google_have_their_pages_and_characters() -> None:
    def page(number: int) -> dict[str, Any]:
        return {"web": {"uri": f"https://{number}.example/", "title": f"Page {number}"}}

    def support(text: str, *pages: int) -> dict[str, Any]:
        end = len(text.encode())
        segment = {"start_index": 0, "end_index": end, "text": text, "part_index": 7}
        return {"segment": segment, "grounding_chunks": [page(number) for number in pages]}

    first, second = "Öffne das Archiv.", "Lies es."
    call = NativeToolCallPart("web_search", {"queries": ["zip"]}, tool_call_id="c")
    returned = NativeToolReturnPart("web_search", [page(1)["web"]], tool_call_id="c")
    texts = [
        TextPart(first, provider_details={"citations": [support(first, 1)]}),
        TextPart(second, provider_details={"citations": [support(second, 2, 1)]}),
    ]
    parts = [call, returned, *texts]
    response = ModelResponse(parts=parts, provider_name="google", model_name="gemini-3.5-flash")
    searches = read_model_response(response)
    assert searches is not None
    cited = [(each.url, searches.text[each.start : each.end]) for each in searches.citations]
    assert cited == [
        ("https://1.example/", first),
        ("https://2.example/", second),
        ("https://1.example/", second),
    ]
    assert len(searches.sources) == 2
    assert searches.searches == 1


@each_vendor
async def test_a_request_that_fails_is_reported_since_its_searches_are_unknown(
    vendor: str, web: WebTools, webtools_sandbox: SandboxServer, known: None
) -> None:
    session = web.session()
    webtools_sandbox.fault(provider=vendor, body="cut", times=9)
    agent = Agent(model_for(vendor, webtools_sandbox), capabilities=[WebSearch(session)])
    with pytest.raises(Exception):  # noqa: B017, PT011  # of the SDK
        await agent.run(QUESTION)
    assert any("not counted" in note for note in session.report("json")["notes"])
