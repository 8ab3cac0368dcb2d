from __future__ import annotations

import os
from pathlib import Path

import pytest

from webtools.config.environment import variables


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the home folder of a user without settings."""
    settings = set(variables())
    for name in os.environ:
        if name in settings or name.startswith(("XDG_", "WEBTOOLS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path
