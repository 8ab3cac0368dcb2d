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
# The field with the answer. An object with `content` may also be that of a framework.
_ANSWERS: Mapping[Callable[[Block, Findings], None], tuple[str, ...]] = MappingProxyType(
    {
        read_responses: ("output", "content"),
        read_message: ("content",),
        read_content: ("candidates", "prompt_feedback"),
        read_completion: ("choices",),
    }
)
VENDORS: tuple[str, ...] = tuple(_READERS)
"""The vendors whose responses can be read."""


def read_response(vendor: str, response: Any, *, model: str = "") -> NativeSearches:
    """Read what a vendor searched.

    Whatever the vendor sent, this does not raise. What can be read is returned. A warning says if
    it has no answer of this vendor, such as the response of another one.

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
    findings = Findings(model=root.line("model", "model_version") or model)
    read = _READERS[vendor]
    read(root, findings)
    findings.add_error(root.block("error"))
    is_of_another = read is read_responses and "stop_reason" in root  # a message of Anthropic
    if is_of_another or not (findings.errors or any(name in root for name in _ANSWERS[read])):
        names = " or ".join(f"`{name}`" for name in _ANSWERS[read])
        findings.warnings.append(
            f"The response is not one of {vendor} (its answer is in {names}), so its searches are "
            "not counted. Pass the vendor that sent it, and the whole response."
        )
    return _searches(vendor, findings)


def _searches(vendor: str, findings: Findings) -> NativeSearches:
    is_estimated = findings.stated_searches is None
    searches = findings.counted if findings.stated_searches is None else findings.stated_searches
    usd = findings.stated_usd
    if usd is None:
        usd = search_cost(vendor, findings.model, searches)
    return NativeSearches(
        vendor=vendor,
        model=findings.model,
        text="".join(findings.texts),
        queries=tuple(dict.fromkeys(findings.queries)),
        sources=tuple(findings.sources.values()),
        citations=tuple(findings.citations),
        opened=tuple(dict.fromkeys(findings.opened)),
        unlisted=findings.unlisted(),
        searches=searches,
        is_count_estimated=is_estimated and bool(searches),
        pending=findings.pending,
        cost_usd=usd,
        is_cost_estimated=findings.stated_usd is None and bool(searches),
        cost_has_tokens=findings.cost_has_tokens,
        errors=tuple(findings.errors),
        stop=findings.stop,
        display_html=findings.display_html,
        warnings=findings.all_warnings(),
    )
