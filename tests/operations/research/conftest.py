"""Research over the sandbox: its settings, with a log in clear and without pauses between tries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webtools import WebTools
from webtools._internal.pipeline import retries
from webtools_sandbox import SandboxServer


@pytest.fixture
def settings(
    webtools_sandbox: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    log = {"path": str(tmp_path / "log.ndjson")}
    return {**webtools_sandbox.config(), "cache": {}, "log": log}


@pytest.fixture
def web(settings: dict[str, Any]) -> Iterator[WebTools]:
    with WebTools(settings) as client:
        yield client
