"""Words of a fixed choice that inputs, results and settings share."""

from __future__ import annotations

from typing import Literal, TypeAlias

Capability: TypeAlias = Literal["search", "fetch", "summarize", "docs", "synthesize"]
"""What a provider can do."""
CacheMode: TypeAlias = Literal["use", "refresh", "bypass"]
Command: TypeAlias = Literal["web", "web-deep", "web-news", "web-docs"]
Confidence: TypeAlias = Literal["high", "medium", "low"]
Fence: TypeAlias = Literal["pages", "all", "off"]
FetchGate: TypeAlias = Literal["any", "seen", "strict"]
CacheScope: TypeAlias = Literal["own", "shared"]
Origin: TypeAlias = Literal["search", "page", "native", "user", "developer", "argument"]
