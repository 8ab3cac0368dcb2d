"""Stored outputs in the store of a LangGraph run, for threads that are resumed elsewhere."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import StateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langchain_webtools import WebReadTool
from langchain_webtools._base import WebTool
from langchain_webtools.tools import WebFetchTool
from webtools import WebTools, outputs


@pytest.fixture(params=["sync", "async"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


class Down(InMemoryStore):
    """A store whose server cannot be reached."""

    def batch(self, ops: Any) -> Any:
        raise ConnectionError

    async def abatch(self, ops: Any) -> Any:
        raise ConnectionError


async def _in_graph(way: str, tool: WebTool, arguments: Any, store: BaseStore) -> Any:
    call = {"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"}

    def node(_: Any) -> dict[str, Any]:
        return {"message": tool.invoke(call)}

    async def anode(_: Any) -> dict[str, Any]:
        return {"message": await tool.ainvoke(call)}

    graph: Any = StateGraph(cast("Any", dict))
    graph.add_node("call", RunnableLambda(node, anode))
    graph.set_entry_point("call")
    built = graph.compile(store=store)
    state = await built.ainvoke({}) if way == "async" else built.invoke({})
    return state["message"]


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Continue with another folder of stored outputs, as on another machine."""

    def move() -> None:
        folder = tmp_path / "elsewhere"
        folder.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(folder))

    return move


@pytest.fixture
def long_pages(page: str) -> dict[str, Any]:
    """Arguments of a fetch whose output is cut."""
    base = page.rpartition("/")[0]
    names = ["json", "argparse", "heapq", "asyncio", "logging", "tarfile", "zipfile", "decimal"]
    return {"urls": [f"{base}/{name}.html" for name in names]}


async def test_a_cut_output_can_be_read_where_its_file_is_not(
    way: str, web: WebTools, long_pages: dict[str, Any], elsewhere: Callable[[], None]
) -> None:
    store = InMemoryStore()
    message = await _in_graph(way, WebFetchTool(web=web), long_pages, store)
    handle = message.artifact["read_handle"]
    assert handle
    whole = outputs.load_output(handle)
    elsewhere()
    part = await _in_graph(way, WebReadTool(web=web), {"read_handle": handle}, store)
    assert part.status == "success"
    assert part.artifact["total_characters"] == len(whole)


async def test_users_read_only_their_outputs_from_the_store(
    way: str, web: WebTools, long_pages: dict[str, Any], elsewhere: Callable[[], None]
) -> None:
    store = InMemoryStore()
    message = await _in_graph(way, WebFetchTool(web=web.session(user="ann")), long_pages, store)
    arguments = {"handle": message.artifact["read_handle"]}
    elsewhere()
    for user, status in (("bob", "error"), ("ann", "success"), ("bob", "error")):
        tool = WebReadTool(web=web.session(user=user))
        assert (await _in_graph(way, tool, arguments, store)).status == status


async def test_what_the_store_does_not_hold_is_an_error_as_ever(way: str, web: WebTools) -> None:
    part = await _in_graph(way, WebReadTool(web=web), {"handle": "0" * 32}, InMemoryStore())
    assert part.status == "error"
    assert "0" * 32 in part.content


async def test_a_store_that_is_down_fails_no_call(
    way: str, web: WebTools, long_pages: dict[str, Any], elsewhere: Callable[[], None]
) -> None:
    message = await _in_graph(way, WebFetchTool(web=web), long_pages, Down())
    assert message.status == "success"
    handle = message.artifact["read_handle"]
    part = await _in_graph(way, WebReadTool(web=web), {"handle": handle}, Down())
    assert part.status == "success"
    elsewhere()
    part = await _in_graph(way, WebReadTool(web=web), {"handle": handle}, Down())
    assert part.status == "error"
