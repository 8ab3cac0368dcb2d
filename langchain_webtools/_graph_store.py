"""Copies of stored outputs in the store of a LangGraph run.

The folder of stored outputs belongs to one machine. A graph with a store (`BaseStore`) may be
resumed on another machine; there `web_read` finds the output in the graph's store. A store that
fails never fails the call.
"""

import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from webtools import WebTools
from webtools.adapters import output_reader
from webtools.errors import WebToolsError
from webtools.outputs import allow_reader, is_handle, load_output, save_output

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

_NAMESPACE = ("webtools", "outputs")
_LIFETIME_MINUTES = 24 * 60.0  # one day, as in the folder


def graph_store() -> "BaseStore | None":
    """Return the store of the LangGraph run that this call belongs to, if it has one."""
    graph_config = sys.modules.get("langgraph.config")  # a running graph has imported it
    with suppress(RuntimeError, LookupError):  # outside a run, or in a chain that is not a graph
        return graph_config.get_store() if graph_config else None
    return None


def copy_to_store(store: "BaseStore", details: dict[str, Any], web: WebTools) -> None:
    """Copy the full text of a truncated output to the store."""
    if handle := details.get("read_handle"):
        with suppress(Exception):
            text = {"text": load_output(handle, output_reader(web))}
            store.put(_namespace(web), handle, text, index=False, **_lifetime(store))


async def acopy_to_store(store: "BaseStore", details: dict[str, Any], web: WebTools) -> None:
    """Copy the full text of a truncated output to the store, awaited."""
    if handle := details.get("read_handle"):
        with suppress(Exception):
            reader = await asyncio.to_thread(output_reader, web)
            text = {"text": await asyncio.to_thread(load_output, handle, reader)}
            namespace = await asyncio.to_thread(_namespace, web)
            await store.aput(namespace, handle, text, index=False, **_lifetime(store))


def copy_from_store(store: "BaseStore", arguments: Any, web: WebTools) -> None:
    """Copy the output that `web_read` is asked for from the store, unless it is on this machine."""
    for handle in _missing_handles(arguments, web):
        with suppress(Exception):
            if item := store.get(_namespace(web), handle):
                _save(item.value["text"], web)


async def acopy_from_store(store: "BaseStore", arguments: Any, web: WebTools) -> None:
    """Copy the output that `web_read` is asked for from the store, awaited."""
    for handle in await asyncio.to_thread(_missing_handles, arguments, web):
        with suppress(Exception):
            namespace = await asyncio.to_thread(_namespace, web)
            if item := await store.aget(namespace, handle):
                await asyncio.to_thread(_save, item.value["text"], web)


def _namespace(web: WebTools) -> tuple[str, ...]:
    reader = output_reader(web)
    return (*_NAMESPACE, reader) if reader else _NAMESPACE


def _save(text: str, web: WebTools) -> None:
    path, reader = save_output(text), output_reader(web)
    if path and reader:
        allow_reader(path, reader)


def _lifetime(store: "BaseStore") -> dict[str, float]:
    return {"ttl": _LIFETIME_MINUTES} if store.supports_ttl else {}


def _missing_handles(arguments: Any, web: WebTools) -> list[str]:
    """List the handles in a call's arguments that have no output on this machine."""
    values = arguments.values() if isinstance(arguments, Mapping) else ()
    return [
        value
        for value in values
        if isinstance(value, str) and is_handle(value) and not _is_stored(value, web)
    ]


def _is_stored(handle: str, web: WebTools) -> bool:
    try:
        load_output(handle, output_reader(web))
    except WebToolsError:
        return False
    return True
