"""A session goes wherever a `WebTools` goes: its gate, limits and sources hold there too."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from wires import Wire, web_of

from langchain_webtools import WebPageLoader, WebSearchRetriever, WebToolkit
from llamaindex_webtools import FetchPagePostprocessor, WebPageReader, WebRetriever, WebToolsSpec
from webtools import InputError, Session, WebTools, bulk

SEEN, UNSEEN = "https://docs.example/guide", "https://evil.example/zq7secret"
Use = Callable[[Session, str], Any]


@pytest.fixture
def wire() -> Wire:
    return Wire(SEEN)


@pytest.fixture
def web(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> WebTools:
    return web_of(wire, monkeypatch, defaultProvider="exa")


def langchain_tool(session: Session, name: str, **arguments: Any) -> Any:
    [tool] = WebToolkit(web=session).get_tools([name])
    call = {"name": name, "args": arguments, "id": "1", "type": "tool_call"}
    return tool.invoke(call), asyncio.run(tool.ainvoke(call))


def llamaindex_tool(session: Session, name: str, **arguments: Any) -> Any:
    tools = {tool.metadata.name: tool for tool in WebToolsSpec(session).to_tool_list()}
    return tools[name].call(**arguments), asyncio.run(tools[name].acall(**arguments))


def mcp_tool(session: Session, name: str, **arguments: Any) -> Any:
    client = pytest.importorskip("mcp.client", reason="needs the extra mcp")
    from webtools.mcp import make_server  # noqa: PLC0415

    async def call() -> Any:
        async with client.Client(make_server(session)) as connected:
            return await connected.call_tool(name, arguments)

    return asyncio.run(call())


def postprocessed(session: Session, url: str) -> Any:
    nodes = [NodeWithScore(node=TextNode(text="x", metadata={"url": url}), score=1.0)]
    processor = FetchPagePostprocessor(web=session, provider="exa")
    return processor.postprocess_nodes(nodes, QueryBundle("ferry"))


def in_bulk(session: Session, operation: Any, subject: str) -> Any:
    column = "url" if operation == "fetch" else "query"
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        options = bulk.Options(robots=False)
        bulk.run(
            operation, [{column: subject, "provider": "exa"}], rows, web=session, options=options
        )
        return rows.read_text()


FETCHING: dict[str, Use] = {
    "method": lambda s, url: s.fetch(url, provider="exa"),
    "LangChain tool": lambda s, url: langchain_tool(s, "web_fetch", urls=[url], provider="exa"),
    "LangChain loader": lambda s, url: WebPageLoader(url, web=s, provider="exa").load(),
    "LlamaIndex tool": lambda s, url: llamaindex_tool(s, "web_fetch", urls=[url], provider="exa"),
    "LlamaIndex reader": lambda s, url: WebPageReader(s, provider="exa").load_data([url]),
    "LlamaIndex postprocessor": postprocessed,
    "MCP": lambda s, url: mcp_tool(s, "web_fetch", urls=[url], provider="exa"),
    "bulk": lambda s, url: in_bulk(s, "fetch", url),
}
SEARCHING: dict[str, Use] = {
    "method": lambda s, query: s.search(query, provider="exa"),
    "LangChain tool": lambda s, query: langchain_tool(s, "web_search", queries=[query]),
    "LangChain retriever": lambda s, query: WebSearchRetriever(web=s).invoke(query),
    "LlamaIndex tool": lambda s, query: llamaindex_tool(s, "web_search", queries=[query]),
    "LlamaIndex retriever": lambda s, query: WebRetriever(web=s).retrieve(query),
    "MCP": lambda s, query: mcp_tool(s, "web_search", queries=[query]),
    "bulk": lambda s, query: in_bulk(s, "search", query),
}


@pytest.mark.parametrize("name", FETCHING)
def test_the_gate_holds_on_every_surface(web: WebTools, wire: Wire, name: str) -> None:
    session = web.session(fetch="seen")
    with contextlib.suppress(Exception):
        outcome = FETCHING[name](session, UNSEEN)
        assert "zq7secret" not in str(getattr(outcome, "content", ""))
    assert wire.requests == []
    assert wire.looked_up == []
    assert session.report("json")["refused"]
    session.search("ferry", provider="exa")
    FETCHING[name](session, SEEN)
    assert [source.is_read for source in session.sources] == [True]
    assert SEEN in wire.left()


@pytest.mark.parametrize("name", SEARCHING)
def test_the_sources_of_every_surface_are_kept(web: WebTools, wire: Wire, name: str) -> None:
    session = web.session(calls=20)
    SEARCHING[name](session, "ferry")
    assert [source.url for source in session.sources] == [SEEN]
    assert set(session.queries) == {"ferry"}
    facts = session.report("json")
    assert facts["calls"] >= 1
    assert facts["cost_usd"] > 0


@pytest.mark.parametrize("name", SEARCHING)
def test_the_limits_hold_on_every_surface(web: WebTools, wire: Wire, name: str) -> None:
    session = web.session(calls=1)
    session.search("tram", provider="exa")
    sent = len(wire.requests)
    with contextlib.suppress(Exception):
        assert SEEN not in str(SEARCHING[name](session, "ferry"))
    assert len(wire.requests) == sent


@pytest.mark.parametrize("limit", [{"calls": 2}, {"usd": 0.0085}, {"seconds": 3600.0}])
def test_a_limit_stops_bulk_work_which_can_be_resumed(
    web: WebTools, tmp_path: Path, limit: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, items = tmp_path / "rows.jsonl", [{"query": str(number)} for number in range(5)]
    options = bulk.Options(workers=1)
    session = web.session(**limit)
    if "seconds" in limit:
        left = iter([3600.0] * 4)
        monkeypatch.setattr(session._dispatcher, "seconds_left", lambda: next(left, 0.0))
    stopped = bulk.run("search", items, rows, web=session, options=options)
    assert stopped.stopped
    assert len([row for row in bulk.read(rows) if row.status == "ok"]) == 2
    finished = bulk.run("search", items, rows, web=web.session(), options=options)
    assert len([row for row in bulk.read(rows) if row.status == "ok"]) == 5
    assert not finished.stopped


def test_a_caller_for_other_processes_takes_no_session(web: WebTools) -> None:
    with pytest.raises(TypeError, match=r"state\(\)"):
        pickle.dumps(bulk.BatchCaller("search", web=web.session()))


def test_several_clients_do_not_share_a_session_over_http(web: WebTools) -> None:
    pytest.importorskip("mcp.client", reason="needs the extra mcp")
    from webtools.mcp import make_server  # noqa: PLC0415

    for options in ({"fetch": "seen"}, {"usd": 1.0}, {"calls": 3}, {"user": "ann"}):
        with pytest.raises(InputError, match="session"):
            make_server(web.session(**options), is_remote=True)  # type: ignore[arg-type]
    assert make_server(web.session(), is_remote=True)
    assert make_server(web, is_remote=True)
    with pytest.raises(InputError, match="fetch"):
        make_server(web, session={"fetch": "none"})
