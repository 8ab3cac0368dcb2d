"""JSON-LD in a page, parsed as JSON within bounds and never searched by open-ended patterns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from webtools._internal.text.narrowing import is_list, is_object

_MOST_NODES = 2000  # of JSON-LD that are looked at
_DEEPEST = 40  # levels of JSON-LD
_ARTICLES = re.compile(
    r"(?:article|posting|report|webpage|techarticle|story|review|paper)$", re.IGNORECASE
)
_DECODER = json.JSONDecoder(strict=False)


def nodes_of(scripts: Iterable[str]) -> list[dict[str, Any]]:
    """Return the objects that describe an article or a page.

    What is nested too deeply, or no JSON, describes nothing.
    """
    nodes = (node for text in scripts for node in islice(_objects(_parse(text)), _MOST_NODES))
    return [node for node in nodes if _is_of_page(node)]


def _parse(text: str) -> Any:
    try:
        return _DECODER.raw_decode(text.strip())[0]
    except (ValueError, RecursionError):
        return None


def _objects(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the objects in JSON-LD, each before those that it is about."""
    below: Sequence[Any] = value if is_list(value) else ()
    if is_object(value):
        yield value
        below = [value.get(key) for key in ("@graph", "mainEntity", "mainEntityOfPage")]
    if depth < _DEEPEST:
        for each in below:
            yield from _objects(each, depth + 1)


def _is_of_page(node: dict[str, Any]) -> bool:
    kinds = node.get("@type")
    named: list[Any] = kinds if is_list(kinds) else [kinds]
    return any(isinstance(kind, str) and _ARTICLES.search(kind) for kind in named)


def texts(nodes: Sequence[dict[str, Any]], key: str) -> Iterator[str]:
    """Yield the texts under a key of all nodes."""
    yield from (value for node in nodes if isinstance(value := node.get(key), str))
