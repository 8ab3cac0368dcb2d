"""Simulate the APIs of the providers offline, over HTTP on this machine.

    from webtools_sandbox import SandboxServer

    with SandboxServer() as server:
        print(server.config())

Requires the extra `sandbox`: `pip install 'agent-webtools[sandbox]'`. The package includes the
pytest fixture `webtools_sandbox`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from webtools_sandbox.faults import Fault
from webtools_sandbox.keys import (
    BRAVE_KEY,
    CONTEXT7_KEY,
    EXA_KEY,
    FIRECRAWL_KEY,
    JINA_KEY,
    KAGI_V0_KEY,
    KAGI_V1_KEY,
    LINKUP_KEY,
    PARALLEL_KEY,
    PERPLEXITY_KEY,
    SERPER_KEY,
    TAVILY_KEY,
    YOU_KEY,
)

if TYPE_CHECKING:
    from webtools_sandbox.server import SandboxServer, serve

__all__ = [
    "BRAVE_KEY",
    "CONTEXT7_KEY",
    "EXA_KEY",
    "FIRECRAWL_KEY",
    "JINA_KEY",
    "KAGI_V0_KEY",
    "KAGI_V1_KEY",
    "LINKUP_KEY",
    "PARALLEL_KEY",
    "PERPLEXITY_KEY",
    "SERPER_KEY",
    "TAVILY_KEY",
    "YOU_KEY",
    "Fault",
    "SandboxServer",
    "serve",
]


def __getattr__(name: str) -> Any:
    """Import the server, which needs aiohttp, when it is first used."""
    if name not in {"SandboxServer", "serve"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.server"), name)
