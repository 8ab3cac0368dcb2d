"""`WebMiddleware(native="auto")`: real clients of model vendors, and the search of either side."""

from __future__ import annotations

import gc
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelFallbackMiddleware, hook_config
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from tool_agents import tool_messages

from langchain_webtools import WebMiddleware
from webtools import InputError, WebTools
from webtools.native import stand_in
from webtools_sandbox import SandboxServer
from webtools_sandbox.models import ModelVendor

pytestmark = [  # of the client of Google, which LangChain does not close
    pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
QUESTION = "How do I decode JSON with a custom decoder?"
THREAD = {"configurable": {"thread_id": "1"}}
Invoke = Callable[..., Awaitable[dict[str, Any]]]
Models = Callable[..., Any]
_numbers = count()
VENDORS = ("openai", "anthropic")
DATES = {"start_published_date": "2000-01-01", "end_published_date": "2030-12-31"}


@pytest.fixture
def models(webtools_sandbox: SandboxServer) -> Iterator[Models]:
    """Make chat models that talk to the simulated vendors."""

    def make(vendor: str, **options: Any) -> Any:
        url = webtools_sandbox.model_url(vendor)
        options = {"base_url": url, "api_key": f"test-key-{vendor}", "max_retries": 0} | options
        options["timeout"] = 60 + next(_numbers)  # LangChain shares clients among event loops
        if vendor == "openai":
            return ChatOpenAI(**{"model": "gpt-5.2", "output_version": "responses/v1"} | options)
        if vendor == "google":
            module = pytest.importorskip("langchain_google_genai")
            return module.ChatGoogleGenerativeAI(**{"model": "gemini-3.5-flash"} | options)
        return ChatAnthropic(**{"model_name": "claude-sonnet-4-6"} | options)

    with ExitStack() as stack:
        for vendor in (*VENDORS, "google"):
            stack.enter_context(stand_in(vendor, webtools_sandbox.model_url(vendor)))  # type: ignore[arg-type]
        yield make
    gc.collect()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The bodies of the requests to the simulated vendors."""
    bodies: list[dict[str, Any]] = []
    answer_with, failure = ModelVendor.answer_with, ModelVendor.failure

    def answer(self: Any, fault: Any, call: Any) -> Any:
        bodies.append(call.json())
        return answer_with(self, fault, call)

    def fail(self: Any, call: Any, *args: Any) -> Any:
        bodies.append(call.json())
        return failure(self, call, *args)

    monkeypatch.setattr(ModelVendor, "answer_with", answer)
    monkeypatch.setattr(ModelVendor, "failure", fail)
    return bodies


@pytest.fixture(params=["sync", "async", "stream", "astream"])
def invoke(request: pytest.FixtureRequest) -> Invoke:
    """Run an agent in one of the ways of LangChain; a stream is one of the model, too."""

    async def run(agent: Any, text: str = QUESTION, config: Any = None) -> dict[str, Any]:
        given = {"messages": [("user", text)]}
        modes = ["messages", "values"]
        if request.param == "sync":
            return agent.invoke(given, config)  # type: ignore[no-any-return]
        if request.param == "async":
            return await agent.ainvoke(given, config)  # type: ignore[no-any-return]
        if request.param == "stream":
            parts = [*agent.stream(given, config, stream_mode=modes)]
        else:
            parts = [each async for each in agent.astream(given, config, stream_mode=modes)]
        return [state for mode, state in parts if mode == "values"][-1]  # type: ignore[no-any-return]

    return run


def _types(body: dict[str, Any]) -> list[Any]:
    return [tool.get("type") for tool in body["tools"]]


def _names(body: dict[str, Any]) -> list[Any]:
    return [tool.get("name") for tool in body["tools"] if tool.get("type") != "web_search_20250305"]


@pytest.mark.parametrize("vendor", VENDORS)
async def test_the_vendor_searches_with_the_filters_and_the_session_records_it(
    vendor: str, invoke: Invoke, models: Models, web: WebTools, sent: Any
) -> None:
    middleware = WebMiddleware(web, native="auto", include_domains=["127.0.0.1"], max_native=3)
    result = await invoke(create_agent(models(vendor), middleware=[middleware]))
    (body,) = sent
    if vendor == "openai":
        tool = next(tool for tool in body["tools"] if tool["type"] == "web_search")
        assert tool["filters"] == {"allowed_domains": ["127.0.0.1"]}
        assert body["include"] == ["web_search_call.action.sources"]
    else:
        tool = next(tool for tool in body["tools"] if tool.get("type") == "web_search_20250305")
        assert (tool["allowed_domains"], tool["max_uses"]) == (["127.0.0.1"], 3)
    assert "web_fetch" in _names(body)
    assert "web_search" not in _names(body)
    report = result["web_report"]
    assert report["queries"] == [QUESTION]
    assert {source["how"] for source in report["sources"]} == {"native"}
    assert all(source["url"] and source["number"] for source in report["sources"])
    assert report["providers"][vendor]["requests"] == report["calls"] == 1
    assert (report["cost_usd"], report["cost_is_estimate"]) == (0.01, True)
    links = [source["url"] for source in report["sources"]]
    assert not any(link.partition("?")[0] in links for link in report["check"]["not_seen"])


@pytest.mark.parametrize("filters", [{}, DATES])
async def test_gemini_searches_beside_the_tools(
    filters: Any, invoke: Invoke, models: Models, web: WebTools, sent: Any
) -> None:
    middleware = WebMiddleware(web, native="auto", **filters)
    report = (await invoke(create_agent(models("google"), middleware=[middleware])))["web_report"]
    (search,) = [tool["googleSearch"] for tool in sent[0]["tools"] if "googleSearch" in tool]
    assert bool(search) == bool(filters)
    assert sent[0]["toolConfig"]["includeServerSideToolInvocations"] is True
    functions = [
        each["name"] for tool in sent[0]["tools"] for each in tool.get("functionDeclarations", ())
    ]
    assert "web_fetch" in functions
    assert "web_search" not in functions
    assert report["queries"] == [QUESTION]
    assert report["providers"]["google"]["requests"] == 1
    assert {source["how"] for source in report["sources"]} == {"native"}


OURS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("openai", {}, {"exclude_domains": ["a.example"]}, "exclude_domains"),
    ("anthropic", {}, {"language": "de"}, "language"),
    ("openai", {}, {"usd": 1.0}, "money"),
    ("openai", {}, {"calls": 5}, "calls"),
    ("anthropic", {}, {"usd": 0.009}, "USD is left"),
    ("anthropic", {}, {"fetch": "seen"}, "fetch"),
    ("openai", {"model": "gpt-5-unknown"}, {}, "gpt-5-unknown"),
    ("openai", {"reasoning_effort": "minimal"}, {}, "minimal"),
    ("openai", {"extra_body": {"x": 1}}, {}, "extra_body"),
    ("anthropic", {"output_version": "v1"}, {}, "v1"),
    ("google", {}, {"include_domains": ["a.example"]}, "include_domains"),
    ("google", {"model": "gemini-2.5-flash"}, {}, "function"),
]


@pytest.mark.parametrize(("vendor", "of_model", "options", "reason"), OURS)
async def test_ours_searches_where_the_vendors_search_does_not_serve_all(
    vendor: str,
    of_model: Any,
    options: Any,
    reason: str,
    models: Models,
    web: WebTools,
    sent: Any,
) -> None:
    middleware = WebMiddleware(web, native="auto", **options)
    agent = create_agent(models(vendor, **of_model), middleware=[middleware])
    result = await agent.ainvoke({"messages": [("user", QUESTION)]})
    assert not {"web_search", "web_search_20250305"} & {*_types(sent[0])}
    assert '"name": "web_search"' in json.dumps(sent[0])
    assert "googleSearch" not in json.dumps(sent[0])
    assert any(reason in note for note in result["web_report"]["notes"])
    assert tool_messages(result)[0].name == "web_search"


class Subclass(ChatOpenAI):
    """May send anything."""


@pytest.mark.parametrize("kind", ["base url", "environment", "subclass", "bound", "budget"])
async def test_an_unknown_route_means_ours(
    kind: str,
    invoke: Invoke,
    webtools_sandbox: SandboxServer,
    monkeypatch: pytest.MonkeyPatch,
    config_file: Any,
    sent: Any,
) -> None:
    url = webtools_sandbox.model_url("openai")
    options: dict[str, Any] = {"model": "gpt-5.2", "output_version": "responses/v1"}
    options |= {"api_key": "test-key-openai", "timeout": 60 + next(_numbers)}
    kwargs: dict[str, Any] = {}
    if kind == "budget":
        kwargs = {"budget": {"usd_per_day": 5}}
    if kind == "environment":
        monkeypatch.setenv("OPENAI_BASE_URL", url)
    else:
        options["base_url"] = url
    model: Any = (Subclass if kind == "subclass" else ChatOpenAI)(**options)
    if kind == "bound":
        model = model.bind(stop=None)
    with ExitStack() as stack:
        web = stack.enter_context(WebTools(config_file(), **kwargs))
        if kind in {"subclass", "bound", "budget"}:
            stack.enter_context(stand_in("openai", url))
        middleware = WebMiddleware(web, native="auto")
        result = await invoke(create_agent(model, middleware=[middleware]))
    assert "web_search" not in _types(sent[0])
    assert result["web_report"]["notes"]
    assert result["web_report"]["providers"].get("openai") is None


async def test_money_may_be_overshot_if_the_developer_says_so(
    invoke: Invoke, models: Models, web: WebTools, sent: Any
) -> None:
    middleware = WebMiddleware(web, native="auto", usd=1.0, native_overshoot=True)
    result = await invoke(create_agent(models("openai"), middleware=[middleware]))
    assert "web_search" in _types(sent[0])
    assert any("no limit" in note for note in result["web_report"]["notes"])


async def test_what_is_left_of_the_money_caps_the_searches(
    invoke: Invoke, models: Models, web: WebTools, sent: Any
) -> None:
    middleware = WebMiddleware(web, native="auto", usd=0.025)
    agent = create_agent(models("anthropic"), middleware=[middleware], checkpointer=InMemorySaver())
    for _ in range(3):
        result = await invoke(agent, config=THREAD)
    caps = [[tool["max_uses"] for tool in body["tools"] if "max_uses" in tool] for body in sent[:3]]
    assert caps == [[2], [1], []]
    assert result["web_report"]["cost_usd"] < 0.025 + 0.01


async def test_one_numbering_and_a_made_up_link_over_native_sources(
    invoke: Invoke, models: Models, web: WebTools
) -> None:
    sessions: list[Any] = []
    options = {"usd": 0.028, "on_end": lambda session, _: sessions.append(session)}
    middleware = WebMiddleware(web, native="auto", **options)  # type: ignore[arg-type]
    agent = create_agent(models("anthropic"), middleware=[middleware], checkpointer=InMemorySaver())
    for text in (QUESTION, QUESTION, "How do I read a zip file?"):  # the last one is ours
        result = await invoke(agent, text, THREAD)
    sources = result["web_report"]["sources"]
    assert {source["how"] for source in sources} == {"native", "search"}
    assert [source["number"] for source in sources] == [*range(1, len(sources) + 1)]
    url = sources[0]["url"]
    checked = sessions[-1].check(f"[1], [it]({url}) and [that](https://made-up.example/).")
    assert checked.not_seen == ["https://made-up.example/"]
    assert checked.bad_numbers == []


async def test_the_fallback_model_gets_the_tool_of_its_vendor(
    invoke: Invoke, models: Models, web: WebTools, sent: Any, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="openai", status=500)
    fallback = ModelFallbackMiddleware(models("anthropic"))
    agent = create_agent(models("openai"), middleware=[fallback, WebMiddleware(web, native="auto")])
    report = (await invoke(agent))["web_report"]
    assert "web_search" in _types(sent[0])
    assert "web_search_20250305" in _types(sent[-1])
    assert [*report["providers"]] == ["anthropic"]


async def test_a_request_that_fails_is_reported_since_its_searches_are_unknown(
    invoke: Invoke, models: Models, web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="openai", body="cut")
    fallback = ModelFallbackMiddleware(models("anthropic"))
    agent = create_agent(models("openai"), middleware=[fallback, WebMiddleware(web, native="auto")])
    report = (await invoke(agent))["web_report"]
    assert any("gpt-5.2" in note for note in report["notes"])
    assert not any("claude" in note for note in report["notes"])


class Again(AgentMiddleware):
    """Calls the model twice in each run."""

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> Any:
        answers = [message for message in state["messages"] if message.type == "ai"]
        return {"jump_to": "model"} if len(answers) % 2 else None


@pytest.mark.parametrize("version", [None, "v0", "responses/v1"])
async def test_sources_do_not_go_back_to_openai(
    version: Any, invoke: Invoke, models: Models, web: WebTools, sent: Any
) -> None:
    model = models("openai", output_version=version)
    middleware = [Again(), WebMiddleware(web, native="auto")]
    agent = create_agent(model, middleware=middleware, checkpointer=InMemorySaver())
    for _ in range(2):
        result = await invoke(agent, config=THREAD)
    assert len(sent) == 4
    assert "web_search_call" in json.dumps(sent[1]["input"])
    assert not any('"sources"' in json.dumps(body["input"]) for body in sent)
    assert result["web_report"]["calls"] == 4
    assert len(result["web_report"]["sources"]) == 2


async def test_a_paused_answer_is_continued(
    invoke: Invoke, models: Models, web: WebTools, sent: Any, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="anthropic", search="pause", times=2)
    agent = create_agent(models("anthropic"), middleware=[WebMiddleware(web, native="auto")])
    result = await invoke(agent)
    assert [_types(body) for body in sent] == [_types(sent[0])] * 3
    final = result["messages"][-1]
    assert final.text.startswith("Looking.Looking.")
    assert len(final.text) > len("Looking.Looking.")
    assert final.response_metadata["stop_reason"] == "end_turn"
    assert len(result["messages"]) == 2
    assert result["web_report"]["providers"]["anthropic"]["requests"] == 3


async def test_pauses_end(
    invoke: Invoke, models: Models, web: WebTools, sent: Any, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="anthropic", search="pause", times=100)
    agent = create_agent(models("anthropic"), middleware=[WebMiddleware(web, native="auto")])
    result = await invoke(agent)
    assert 3 < len(sent) < 12
    assert any("incomplete" in note for note in result["web_report"]["notes"])
    sent.clear()
    middleware = WebMiddleware(web, native="auto", usd=0.02)
    result = await invoke(create_agent(models("anthropic"), middleware=[middleware]))
    assert len(sent) == 2
    assert result["web_report"]["cost_usd"] == 0.02


async def test_a_result_in_the_next_message_is_counted_once(
    invoke: Invoke, models: Models, web: WebTools, sent: Any, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="anthropic", search="later")
    agent = create_agent(
        models("anthropic"),
        middleware=[WebMiddleware(web, tools=["web_fetch", "web_search"], native="auto")],
    )
    result = await invoke(agent)
    report = result["web_report"]
    assert report["providers"]["anthropic"]["requests"] == 1
    assert report["queries"] == [QUESTION]
    assert any(source["how"] == "native" for source in report["sources"])


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    "domains", ["127.0.0.1", ["127.0.0.1", ""], '["127.0.0.1"]', ("http://127.0.0.1/", "null")]
)
def test_domains_may_be_written_as_for_a_search(
    vendor: str, domains: Any, models: Models, web: WebTools
) -> None:
    middleware = WebMiddleware(web, native="auto", include_domains=domains)
    agent = create_agent(models(vendor), middleware=[middleware])
    report = agent.invoke({"messages": [("user", QUESTION)]})["web_report"]
    assert {source["how"] for source in report["sources"]} == {"native"}


@pytest.mark.parametrize("outputs", [None, 5, True, "x", {"a": 1}, [None, 5]])
def test_what_langchain_keeps_may_have_any_form(
    outputs: Any, models: Models, web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate = ChatOpenAI._generate

    def changed(*args: Any, **kwargs: Any) -> Any:
        result = generate(*args, **kwargs)
        result.generations[0].message.additional_kwargs["tool_outputs"] = outputs
        return result

    monkeypatch.setattr(ChatOpenAI, "_generate", changed)
    agent = create_agent(models("openai"), middleware=[WebMiddleware(web, native="auto")])
    assert agent.invoke({"messages": [("user", QUESTION)]})["web_report"]["calls"] == 1


@pytest.mark.parametrize("vendor", VENDORS)
async def test_what_is_outside_the_filters_is_refused(
    vendor: str, invoke: Invoke, models: Models, web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider=vendor, search="outside")
    middleware = WebMiddleware(web, native="auto", include_domains=["127.0.0.1"])
    report = (await invoke(create_agent(models(vendor), middleware=[middleware])))["web_report"]
    (refused,) = report["refused"]
    assert "outside.example" in refused
    assert not any("outside.example" in source["url"] for source in report["sources"])
    if vendor == "openai":  # its text has the link
        assert any("outside.example" in url for url in report["check"]["not_seen"])


@pytest.mark.parametrize("vendor", VENDORS)
async def test_an_error_of_the_vendors_search_is_reported_and_not_charged(
    vendor: str, invoke: Invoke, models: Models, web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider=vendor, search="error")
    agent = create_agent(models(vendor), middleware=[WebMiddleware(web, native="auto")])
    report = (await invoke(agent))["web_report"]
    assert any(vendor in note and "error" in note for note in report["notes"])
    assert (report["cost_usd"], report["calls"]) == (0, 0)


async def test_never_leaves_requests_as_they_are(
    invoke: Invoke, models: Models, web: WebTools, sent: Any
) -> None:
    await invoke(create_agent(models("openai"), middleware=[WebMiddleware(web)]))
    assert "web_search" in _names(sent[0])
    assert "include" not in sent[0]


def test_an_invalid_option_is_refused(web: WebTools) -> None:
    for options in ({"native": "always"}, {"native": "auto", "max_native": 0}):
        with pytest.raises(InputError, match=str([*options.values()][-1])):
            WebMiddleware(web, **options)  # type: ignore[arg-type]
