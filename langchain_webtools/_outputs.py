"""Stored outputs in the store of a LangGraph run.

The folder of stored outputs belongs to one machine. A graph with a store (`BaseStore`) may be
resumed on another one; there `web_read` finds the output in the graph's store.
"""

import asyncio
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from webtools._internal.output.stored import is_handle, load, save
from webtools._internal.text.narrowing import is_mapping
from webtools.errors import InputError

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

NAMESPACE = ("webtools", "outputs")
_MINUTES = 24 * 60.0  # an output is stored for a day, as in the folder


def graph_store() -> "BaseStore | None":
    """Return the store of the LangGraph run that this call belongs to, if it has one."""
    graph = sys.modules.get("langgraph.config")  # a graph that runs has imported it
    with suppress(RuntimeError, LookupError):  # outside a run, or in a chain that is no graph
        return graph.get_store() if graph else None
    return None


def keep(store: "BaseStore", details: dict[str, Any]) -> None:
    """Put the whole of an output that was cut into the store; never raises."""
    if handle := details.get("read_handle"):
        with suppress(Exception):  # a store that is down must not fail the call
            store.put(NAMESPACE, handle, {"text": load(handle)}, index=False, **_lifetime(store))


async def akeep(store: "BaseStore", details: dict[str, Any]) -> None:
    """Put the whole of an output that was cut into the store, awaited."""
    if handle := details.get("read_handle"):
        with suppress(Exception):
            value = {"text": await asyncio.to_thread(load, handle)}
            await store.aput(NAMESPACE, handle, value, index=False, **_lifetime(store))


def restore(store: "BaseStore", arguments: Any) -> None:
    """Bring the output that is to be read from the store, unless it is here; never raises."""
    for handle in _absent(arguments):
        with suppress(Exception):
            if item := store.get(NAMESPACE, handle):
                save(item.value["text"])


async def arestore(store: "BaseStore", arguments: Any) -> None:
    """Bring the output that is to be read from the store, awaited."""
    for handle in await asyncio.to_thread(_absent, arguments):
        with suppress(Exception):
            if item := await store.aget(NAMESPACE, handle):
                await asyncio.to_thread(save, item.value["text"])


def _lifetime(store: "BaseStore") -> dict[str, float]:
    return {"ttl": _MINUTES} if store.supports_ttl else {}


def _absent(arguments: Any) -> list[str]:
    """List the handles among a call's arguments under which nothing is stored here."""
    values = arguments.values() if is_mapping(arguments) else ()
    return [each for each in values if isinstance(each, str) and is_handle(each) and _is_gone(each)]


def _is_gone(handle: str) -> bool:
    try:
        load(handle)
    except InputError:
        return True
    return False
