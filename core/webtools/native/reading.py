"""Read what a vendor searched from a whole response."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from webtools.native.blocks import Block
from webtools.native.completions import read_completion
from webtools.native.facts import search_cost
from webtools.native.findings import Findings
from webtools.native.generate_content import read_content
from webtools.native.messages import read_message
from webtools.native.records import NativeSearches
from webtools.native.responses import read_responses

_READERS: Mapping[str, Callable[[Block, Findings], None]] = MappingProxyType(
    {
        "openai": read_responses,
        "anthropic": read_message,
        "google": read_content,
        "xai": read_responses,
        "groq": read_completion,
        "perplexity": read_responses,
    }
)
VENDORS: tuple[str, ...] = tuple(_READERS)
"""The vendors whose responses can be read."""


def read_response(vendor: str, response: Any, *, model: str = "") -> NativeSearches:
    """Read what a vendor searched.

    Whatever the vendor sent, this does not raise. What can be read is returned.

    Args:
        vendor: One of `VENDORS`.
        response: The response, as decoded JSON or as an object of the vendor's SDK. A list is
            taken as the blocks of the response.
        model: Name of the model, if the response lacks it.

    Raises:
        ValueError: The vendor is unknown.
    """
    if vendor not in _READERS:
        raise ValueError(f"vendor {vendor!r} is unknown; use one of {', '.join(VENDORS)}")
    root = Block({"content": response} if isinstance(response, (list, tuple)) else response)
    found = Findings(model=root.line("model", "model_version") or model)
    _READERS[vendor](root, found)
    found.add_error(root.block("error"))
    return _searches(vendor, found)


def _searches(vendor: str, found: Findings) -> NativeSearches:
    is_estimated = found.stated_searches is None
    searches = found.counted if found.stated_searches is None else found.stated_searches
    usd = found.stated_usd
    if usd is None:
        usd = search_cost(vendor, found.model, searches)
    return NativeSearches(
        vendor=vendor,
        model=found.model,
        text="".join(found.texts),
        queries=tuple(dict.fromkeys(found.queries)),
        sources=tuple(found.sources.values()),
        citations=tuple(found.citations),
        opened=tuple(dict.fromkeys(found.opened)),
        searches=searches,
        is_count_estimated=is_estimated and bool(searches),
        pending=found.pending,
        cost_usd=usd,
        is_cost_estimated=found.stated_usd is None and bool(searches),
        cost_has_tokens=found.cost_has_tokens,
        errors=tuple(found.errors),
        stop=found.stop,
        display_html=found.display_html,
        warnings=found.all_warnings(),
    )
