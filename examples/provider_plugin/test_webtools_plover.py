"""The tests that every provider must pass: `python -m pytest`, where the package is installed."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import webtools_plover

from webtools.testing import URLS, ProviderConformance


class TestPlover(ProviderConformance):
    """Plover passes the tests of all providers."""

    @pytest.fixture
    def provider(self) -> ModuleType:
        """Return the module under test."""
        return webtools_plover

    @pytest.fixture
    def samples(self) -> dict[str, Any]:
        """Return a response of the API for each function that reads one."""
        hit = {"url": URLS[0], "title": "Plover", "extract": "A wader.", "published": 1767225600}
        pages = [{"url": url, "title": "Plover", "text": "A plover wades."} for url in URLS]
        return {"search": {"results": [hit]}, "fetch": {"pages": pages}}
