"""The imitated APIs, by the name that prefixes their paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from webtools_sandbox.brave import BraveApi
from webtools_sandbox.context7 import Context7Api
from webtools_sandbox.exa import ExaApi
from webtools_sandbox.kagi import KagiApi
from webtools_sandbox.perplexity import PerplexityApi

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webtools_sandbox.keys import KeyRing
    from webtools_sandbox.library import Library
    from webtools_sandbox.wire import Api


class MakeApi(Protocol):
    """How an imitated API is made."""

    def __call__(self, library: Library, keys: KeyRing) -> Api:
        """Serve `library` to the holders of `keys`."""
        ...


# The first one is the default provider of the sandbox's configuration.
APIS: Mapping[str, MakeApi] = {
    "exa": ExaApi,
    "kagi": KagiApi,
    "brave": BraveApi,
    "perplexity": PerplexityApi,
    "context7": Context7Api,
}
