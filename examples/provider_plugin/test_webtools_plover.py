"""The tests that every provider must pass: `python -m pytest`, where the package is installed."""

from __future__ import annotations

from types import ModuleType

import pytest
import webtools_plover

from webtools.testing import ProviderConformance


class TestPlover(ProviderConformance):
    """Plover keeps to what every provider must hold to."""

    @pytest.fixture
    def provider(self) -> ModuleType:
        """Return what is under test."""
        return webtools_plover
