"""Read the JSON-LD of a page, within bounds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from webtools._internal.text.narrowing import is_list, is_object

_MAX_NODES = 2000  # of JSON-LD that are read
_MAX_DEPTH = 40  # levels of JSON-LD
_ARTICLES = re.compile(
    r"(?:article|posting|report|webpage|techarticle|story|review|paper)$", re.IGNORECASE
)
_DECODER = json.JSONDecoder(strict=False)


def nodes_of(scripts: Iterable[str]) -> list[dict[str, Any]]:
    """Return the objects that describe an article or a page.

    JSON that is malformed or nested too deeply is ignored.
    """
    nodes: list[dict[str, Any]] = []
    for text in scripts:
        with suppress(ValueError, RecursionError):
            value = _DECODER.raw_decode(text.strip())[0]
            nodes += filter(_describes_page, islice(_objects(value), _MAX_NODES))
    return nodes


def _objects(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the objects in JSON-LD, each before its children."""
    children: Sequence[Any] = value if is_list(value) else ()
    if is_object(value):
        yield value
        children = [value.get(key) for key in ("@graph", "mainEntity", "mainEntityOfPage")]
    if depth < _MAX_DEPTH:
        for child in children:
            yield from _objects(child, depth + 1)


def _describes_page(node: dict[str, Any]) -> bool:
    value = node.get("@type")
    types: list[Any] = value if is_list(value) else [value]
    return any(isinstance(name, str) and _ARTICLES.search(name) for name in types)


def texts(nodes: Sequence[dict[str, Any]], key: str) -> Iterator[str]:
    """Yield the texts under a key of all nodes."""
    yield from (value for node in nodes if isinstance(value := node.get(key), str))
