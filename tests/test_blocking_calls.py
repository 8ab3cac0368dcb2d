"""No async path blocks its loop in the eyes of a detector, such as the one in `langgraph dev`."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import blockbuster.blockbuster
import coverage
import pytest
from blockbuster import BlockBuster, BlockingError
from servers import RawServer, answering, response

import langchain_webtools
import llamaindex_webtools
import webtools
from langchain_webtools import WebToolkit
from llamaindex_webtools import WebToolsSpec
from webtools import WebTools
from webtools._internal.logs import writer
from webtools._internal.operations.research import flow
from webtools._internal.pipeline import requests
from webtools._internal.text.domains import read_registry_suffixes
from webtools.config import log_path
from webtools.logs import events_of
from webtools.native import stand_in
from webtools_sandbox import SandboxServer

QUERY = "heap queue"
COMMANDS = ["web", "web-deep", "web-news", "web-docs"]


# Coverage measures the call from inside, with a lock of its own that is another thread's at times.
COVERAGE = Path(coverage.__file__).parent


def is_by_coverage() -> bool:
    """Return whether coverage makes the call that the detector looks at."""
    frame = inspect.currentframe()
    while frame is not None and Path(frame.f_code.co_filename).parent != COVERAGE:
        is_detector = frame.f_code.co_filename in {__file__, blockbuster.blockbuster.__file__}
        frame = frame.f_back if is_detector else None
    return frame is not None


@pytest.fixture
def detector() -> Iterator[BlockBuster]:
    """Detect blocking calls on any loop, but for those of the sandbox's own server."""
    ours = [webtools, langchain_webtools, llamaindex_webtools]
    result = BlockBuster(ours, excluded_modules=["webtools_sandbox"])
    for function in result.functions.values():
        is_allowed = function.can_block_predicate
        function.can_block_predicate = lambda *args, is_allowed=is_allowed, **kwargs: (
            is_by_coverage() or is_allowed(*args, **kwargs)
        )
    result.activate()
    yield result
    result.deactivate()


@pytest.fixture
def settings(webtools_sandbox: SandboxServer, tmp_path: Path) -> dict[str, Any]:
    """Give settings under which everything is on that touches the disk."""
    config = webtools_sandbox.config()
    host = webtools_sandbox.docs_url.split("/")[2]
    direct = {"name": "direct", "type": "direct", "options": {"allowPrivateHosts": [host]}}
    return {
        **config,
        "providers": [*config["providers"], direct],
        "cache": {"path": str(tmp_path / "new" / "cache.sqlite3")},
        "log": {"path": str(tmp_path / "new" / "log.ndjson")},
        "budget": {"usdPerDay": 100.0, "callsPerDay": 10_000},
    }


@pytest.fixture(params=["file", "code"])
def web(
    request: pytest.FixtureRequest, settings: dict[str, Any], tmp_path: Path
) -> Iterator[WebTools]:
    """Read the settings from a file, or take them as they are."""
    arguments: Any = settings
    if request.param == "file":
        arguments = tmp_path / "web-search.json"
        arguments.write_text(json.dumps(settings))
        arguments.chmod(0o600)
    with WebTools(arguments) as client:
        yield client


@pytest.fixture
def page(webtools_sandbox: SandboxServer) -> str:
    return f"{webtools_sandbox.docs_url}/library/heapq.html"


async def cold_and_warm(call: Callable[[], Awaitable[Any]]) -> tuple[Any, Any]:
    """Call twice: the second time everything is open, and the answer is kept."""
    return await call(), await call()


async def test_a_search_below_a_public_suffix_reads_the_list_in_a_thread(
    detector: BlockBuster, webtools_sandbox: SandboxServer
) -> None:
    read_registry_suffixes.cache_clear()
    with WebTools(webtools_sandbox.config("exa")) as web:
        for domain in ("gov", "docs.python.org"):
            response = await web.asearch(QUERY, include_domains=domain)
            assert response.filters["include_domains"] == ("local" if domain == "gov" else "native")
            read_registry_suffixes.cache_clear()


async def test_the_detector_would_notice(detector: BlockBuster, web: WebTools) -> None:
    with pytest.raises(BlockingError):
        web.search(QUERY)


@pytest.mark.parametrize("is_coverage", [True, False])
async def test_only_a_lock_of_coverage_may_block(detector: BlockBuster, is_coverage: bool) -> None:
    def function_in(folder: Path, code: str) -> Any:
        names: dict[str, Any] = {}
        exec(compile(code, str(folder / "measured.py"), "exec"), names)
        return names["function"]

    folder = COVERAGE if is_coverage else Path(webtools.__file__).parent
    acquire = function_in(folder, "def function(lock): lock.acquire(timeout=0.01)")
    call = function_in(Path(webtools.__file__).parent, "def function(acquire, lock): acquire(lock)")
    lock = threading.Lock()
    lock.acquire(blocking=False)
    with nullcontext() if is_coverage else pytest.raises(BlockingError):
        call(acquire, lock)


async def test_a_changed_file_applies_to_the_next_call(
    detector: BlockBuster, settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tape = tmp_path / "web-search.json", tmp_path / "run.jsonl"

    def write(url: str) -> None:
        exa = {"name": "exa", "type": "exa", "apiKey": "test-key-1", "baseUrl": url}
        path.write_text(json.dumps({**settings, "providers": [exa]}))
        path.chmod(0o600)

    late = "test-key-late-7Zq3dEf7hI"
    found = json.dumps({"results": [{"url": "https://a.example/", "title": late, "text": late}]})
    with RawServer(answering(response(body=found.encode()))) as old:
        with RawServer(answering(response(body=found.encode()))) as new:
            await asyncio.to_thread(write, old.url)
            with WebTools(path) as web:
                session = web.session(record=tape)
                await session.asearch("heap")
                await asyncio.to_thread(write, new.url)
                monkeypatch.setenv("GATEWAY_API_KEY", late)
                await session.asearch("queue")
    assert (old.connections, new.connections) == (1, 1)
    lines = await asyncio.to_thread(tape.read_text)
    assert [late in line for line in lines.splitlines()] == [False, True, False]


@pytest.mark.parametrize("provider", ["exa", "direct"])
async def test_fetching(detector: BlockBuster, web: WebTools, page: str, provider: str) -> None:
    cold, warm = await cold_and_warm(lambda: web.afetch([page], provider=provider))
    assert "heap" in (cold.pages[0].text or "")
    assert not any("own process" in warning for warning in cold.warnings)
    assert (warm.cache_hit, warm.pages) == (True, cold.pages)


@pytest.mark.parametrize("command", COMMANDS)
async def test_researching(detector: BlockBuster, web: WebTools, command: Any) -> None:
    query = "AI agents" if command == "web-news" else QUERY
    cold, warm = await cold_and_warm(lambda: web.aresearch(query, command=command))
    assert cold.results
    assert warm.results == cold.results
    plan = await web.aplan(QUERY, command=command)
    assert plan.chain


async def test_checking_an_answer(detector: BlockBuster, web: WebTools, page: str) -> None:
    answer = "A heap queue is also called a priority queue [1]."
    cold, warm = await cold_and_warm(lambda: web.averify(answer, [page]))
    assert cold.claims
    assert warm.claims == cold.claims


async def test_failing(
    detector: BlockBuster, web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=400, times=None)
    for _ in range(2):
        result = await web.acall_tool("web_search", {"queries": [QUERY]})
        assert result.is_error
        assert result.details["error"]["type"] == "BadRequestError"
    result = await web.acall_tool("web_search", {"queries": [""]})
    assert result.details["error"]["type"] == "InputError"


def arguments_of(page: str) -> dict[str, dict[str, Any]]:
    return {
        "web_search": {"queries": [QUERY, "json"]},
        "web_fetch": {"urls": [page]},
        "summarize": {"url": page},
        "web_research": {"query": QUERY, "command": "web-deep"},
    }


def is_same(warm: str, cold: str) -> bool:
    """Compare two texts, but for a word of where the second comes from."""
    return warm.replace(", from the cache.", ".") == cold


async def test_every_tool_and_reading_on(
    detector: BlockBuster, web: WebTools, page: str, webtools_sandbox: SandboxServer
) -> None:
    for name, arguments in arguments_of(page).items():
        cold, warm = await cold_and_warm(lambda: web.acall_tool(name, arguments))  # noqa: B023  # awaited here
        assert not cold.is_error, cold.text
        assert (warm.is_error, is_same(warm.text, cold.text)) == (False, True)
    names = ("typing", "doctest", "inspect", "difflib")
    pages = [f"{webtools_sandbox.docs_url}/library/{name}.html" for name in names]
    long = await web.acall_tool("web_fetch", {"urls": pages})
    path = long.details["full_output_path"]
    handle = long.details["truncation"].get("handle") or path
    assert path
    part = await web.acall_tool("web_read", {"handle": os.fspath(handle), "find": "typing"})
    assert part.text


async def test_langchain_tools(detector: BlockBuster, web: WebTools, page: str) -> None:
    arguments = arguments_of(page)
    for tool in WebToolkit(web=web).get_tools():
        if tool.name in arguments:
            text = await cold_and_warm(lambda: tool.ainvoke(arguments[tool.name]))  # noqa: B023  # awaited here
            assert text[0]
            assert is_same(text[1], text[0])


async def test_llamaindex_tools(detector: BlockBuster, web: WebTools, page: str) -> None:
    arguments = arguments_of(page)
    for tool in WebToolsSpec(web).to_tool_list():
        if tool.metadata.name in arguments:
            name = tool.metadata.name
            text = await cold_and_warm(lambda: tool.acall(**arguments[name]))  # noqa: B023  # awaited here
            assert not any(item.is_error for item in text)
            assert is_same(str(text[1]), str(text[0]))


async def test_the_log_is_complete(detector: BlockBuster, settings: dict[str, Any]) -> None:
    with WebTools(settings) as web:
        result = await web.acall_tool("web_search", {"queries": [QUERY]})
        accounts = web._settings.accounts()
    detector.deactivate()
    writer._writer.submit(int)
    response = _eventually(lambda: events_of(log_path(accounts), result.call_id))
    assert [item["event"] for item in response][-1] == "done"


def _eventually(look: Callable[[], list[Any]]) -> list[Any]:
    import time  # noqa: PLC0415

    for _ in range(100):
        try:
            result = look()
        except webtools.InputError:
            result = []
        if result and result[-1]["event"] == "done":
            break
        time.sleep(0.05)
    return look()


def record_threads(patch: pytest.MonkeyPatch, module: Any, name: str) -> list[int]:
    """Return a list to which each call of a function of a module adds its thread."""
    threads: list[int] = []
    function = getattr(module, name)

    def record(*arguments: Any) -> Any:
        threads.append(threading.get_ident())
        return function(*arguments)

    patch.setattr(module, name, record)
    return threads


async def test_a_long_response_is_redacted_in_another_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = record_threads(monkeypatch, requests, "redact_body")
    page = {"url": "https://a.example", "title": "A", "text": "*a* " * 100_000}
    body = json.dumps({"results": [page]}).encode()
    with RawServer(answering(response(body))) as server:
        exa = {"name": "exa", "type": "exa", "apiKey": "test-key-exa", "baseUrl": server.url}
        async with WebTools({"providers": [exa]}) as web:
            await web.afetch(["https://a.example"])
    assert threads
    assert threading.get_ident() not in threads


async def test_passages_of_pages_are_chosen_in_another_thread(
    monkeypatch: pytest.MonkeyPatch, web: WebTools
) -> None:
    threads = record_threads(monkeypatch, flow, "best_passages")
    await web.aresearch(QUERY, command="web-deep")
    assert threads
    assert threading.get_ident() not in threads


async def run_langchain(web: WebTools, url: str, options: dict[str, Any]) -> Any:
    openai = pytest.importorskip("langchain_openai")
    agents = pytest.importorskip("langchain.agents")
    timeout = 77 + len(options)  # LangChain keeps a client per time-out, which has its loop
    model = openai.ChatOpenAI(
        model="gpt-5.2", base_url=url, api_key="test-key-openai", timeout=timeout
    )
    middleware = langchain_webtools.WebMiddleware(
        web, native="auto", native_overshoot=True, **options
    )
    agent = agents.create_agent(model, middleware=[middleware])
    return (await agent.ainvoke({"messages": [("user", QUERY)]}))["web_report"]


async def run_pydantic_ai(web: WebTools, url: str, options: dict[str, Any]) -> Any:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.models.openai import OpenAIResponsesModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    from pydantic_ai_webtools import WebSearch  # noqa: PLC0415

    session = web.session(**options)
    provider = OpenAIProvider(base_url=url, api_key="test-key-openai")
    model = OpenAIResponsesModel("gpt-5.2", provider=provider)
    search = WebSearch(session, native_overshoot=True)
    await pydantic_ai.Agent(model, capabilities=[search]).run(QUERY)
    return session.report("json")


async def run_openai_agents(web: WebTools, url: str, options: dict[str, Any]) -> Any:
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    from openai_agents_webtools import HostedSearch  # noqa: PLC0415

    agents.set_tracing_disabled(True)
    session = web.session(**options)
    facts = {"model": "gpt-5.2", "base_url": url, "native_overshoot": True}
    search = await asyncio.to_thread(HostedSearch, session, **facts)
    client = openai.AsyncOpenAI(base_url=url, api_key="test-key-openai")
    model = agents.OpenAIResponsesModel("gpt-5.2", client)
    agent = agents.Agent(name="A", model=model, tools=[search.tool])
    await agents.Runner.run(agent, QUERY, hooks=search)
    return session.report("json")


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore:Exception ignored in")
@pytest.mark.parametrize("run", [run_langchain, run_pydantic_ai, run_openai_agents])
@pytest.mark.parametrize("options", [{}, {"user": "ann", "usd": 5, "usd_per_day": 5}], ids=str)
async def test_a_vendor_searches_for_an_agent(
    run: Callable[..., Awaitable[Any]],
    options: dict[str, Any],
    detector: BlockBuster,
    settings: dict[str, Any],
    tmp_path: Path,
    webtools_sandbox: SandboxServer,
) -> None:
    path = tmp_path / "web-search.json"
    path.write_text(json.dumps({**settings, "budget": {}}))
    path.chmod(0o600)
    url = webtools_sandbox.model_url("openai")
    with WebTools(path) as web, stand_in("openai", url):
        report = await run(web, url, options)
    assert report["providers"]["openai"]["requests"] == 1, report["notes"]
    assert report["cost_usd"] == 0.01
