"""Which keys the imitated APIs accept."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

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


class KeyStatus(Enum):
    """What a key is worth to an API."""

    UNKNOWN = "unknown"
    GOOD = "good"
    NO_CREDIT = "no_credit"


class KeyRing:
    """Tells good keys from others.

    A key that ends in `-no-credit` is accepted, and out of credit; `test-key-exa-no-credit` still
    opens Exa alone.
    """

    def __init__(self, extra: Iterable[str] = ()) -> None:
        """Accept each API's own test key, and the `extra` ones for every API."""
        self._extra = frozenset(extra)

    def check(self, own_key: str, key: str) -> KeyStatus:
        """Describe what `key` is worth to the API whose test key is `own_key`."""
        stem = key.removesuffix(_SUFFIX)
        if key != stem and (own_key.startswith(stem) or not stem.startswith(_PREFIX)):
            return KeyStatus.NO_CREDIT
        return KeyStatus.GOOD if key == own_key or key in self._extra else KeyStatus.UNKNOWN
