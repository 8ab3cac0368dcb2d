"""An offline stand-in for the providers' APIs: real HTTP, and nothing leaves the machine.

    from webtools_sandbox import SandboxServer

    with SandboxServer() as server:
        print(server.config())

Needs the extra `sandbox`: `pip install 'agent-webtools[sandbox]'`. A pytest fixture,
`webtools_sandbox`, comes with the package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webtools_sandbox.brave import KEY as BRAVE_KEY
    from webtools_sandbox.context7 import KEY as CONTEXT7_KEY
    from webtools_sandbox.exa import KEY as EXA_KEY
    from webtools_sandbox.faults import Fault
    from webtools_sandbox.kagi import V0_KEY as KAGI_V0_KEY
    from webtools_sandbox.kagi import V1_KEY as KAGI_V1_KEY
    from webtools_sandbox.perplexity import KEY as PERPLEXITY_KEY
    from webtools_sandbox.server import SandboxServer, serve

__all__ = [
    "BRAVE_KEY",
    "CONTEXT7_KEY",
    "EXA_KEY",
    "KAGI_V0_KEY",
    "KAGI_V1_KEY",
    "PERPLEXITY_KEY",
    "Fault",
    "SandboxServer",
    "serve",
]

_HOMES = {
    "BRAVE_KEY": ("brave", "KEY"),
    "CONTEXT7_KEY": ("context7", "KEY"),
    "EXA_KEY": ("exa", "KEY"),
    "Fault": ("faults", "Fault"),
    "KAGI_V0_KEY": ("kagi", "V0_KEY"),
    "KAGI_V1_KEY": ("kagi", "V1_KEY"),
    "PERPLEXITY_KEY": ("perplexity", "KEY"),
    "SandboxServer": ("server", "SandboxServer"),
    "serve": ("server", "serve"),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(f"{__name__}.{module}"), attribute)
