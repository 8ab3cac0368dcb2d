"""JSON-LD in a page, parsed as JSON within bounds and never searched by open-ended patterns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

Node = dict[str, Any]

_MOST_NODES = 2000  # of JSON-LD that are looked at
_DEEPEST = 40  # levels of JSON-LD
_BRACKETS = re.compile(r"[\[\]{}]")
_ARTICLES = re.compile(
    r"(?:article|posting|report|webpage|techarticle|story|review|paper)$", re.IGNORECASE
)
_DECODER = json.JSONDecoder(strict=False)


def nodes_of(scripts: Iterable[str]) -> list[Node]:
    """Return the objects that describe an article or a page, outer ones first.

    What is nested too deeply, or no JSON, describes nothing.
    """
    return [node for text in scripts for node in _nodes(text) if _is_of_page(node)]


def _nodes(text: str) -> Iterator[dict[str, Any]]:
    """Return the objects of a JSON-LD text, outer ones first."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        depth += 1 if match[0] in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > _DEEPEST:
        return
    try:
        level: list[Any] = [_DECODER.raw_decode(text.strip())[0]]
    except (ValueError, RecursionError):
        return
    seen = 0
    while level and seen < _MOST_NODES:
        below: list[Any] = []
        for each in level[:_MOST_NODES]:
            seen += 1
            if isinstance(each, list):
                below += each
            elif isinstance(each, dict):
                node = cast("dict[str, Any]", each)
                yield node
                below += [
                    node[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in node
                ]
        level = below


def _is_of_page(node: dict[str, Any]) -> bool:
    kinds = node.get("@type")
    named = cast("list[object]", kinds) if isinstance(kinds, list) else [cast("object", kinds)]
    return any(isinstance(kind, str) and _ARTICLES.search(kind) for kind in named)


def texts(nodes: Sequence[dict[str, Any]], key: str) -> Iterator[str]:
    """Yield the texts under a key of all nodes."""
    for node in nodes:
        value = node.get(key)
        if isinstance(value, str):
            yield value
