"""The keys that the simulated APIs accept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

BRAVE_KEY = "test-key-brave"
CONTEXT7_KEY = "test-key-context7"
EXA_KEY = "test-key-exa"
FIRECRAWL_KEY = "test-key-firecrawl"
JINA_KEY = "test-key-jina"
KAGI_V0_KEY = "test-key-kagi-v0"
KAGI_V1_KEY = "test-key-kagi-v1"
LINKUP_KEY = "test-key-linkup"
PARALLEL_KEY = "test-key-parallel"
PERPLEXITY_KEY = "test-key-perplexity"
SERPER_KEY = "test-key-serper"
TAVILY_KEY = "test-key-tavily"
YOU_KEY = "test-key-you"

_PREFIX = "test-key"
_SUFFIX = "-no-credit"


KeyStatus: TypeAlias = Literal["valid", "no_credit", "unknown"]


class KeyRing:
    """The keys that the APIs accept.

    A key that ends in `-no-credit` is known and out of credit. `test-key-exa-no-credit` is a key of
    Exa only.
    """

    def __init__(self, extra: Iterable[str] = ()) -> None:
        """Accept the test key of each API, and the `extra` keys for all APIs."""
        self._extra = frozenset(extra)

    def check(self, own_key: str, key: str) -> KeyStatus:
        """Return the status of `key` for the API whose test key is `own_key`."""
        stem = key.removesuffix(_SUFFIX)
        if key != stem and (own_key.startswith(stem) or not stem.startswith(_PREFIX)):
            return "no_credit"
        return "valid" if key == own_key or key in self._extra else "unknown"
