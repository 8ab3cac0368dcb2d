from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("mcp_types", reason="needs the extra mcp")

from webtools import WebTools

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


@pytest.fixture(autouse=True)
def _no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith(("WEB_SEARCH_", "WEBTOOLS_", "PI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def config(tmp_path: Path, webtools_sandbox: SandboxServer) -> str:
    path = tmp_path / "web-search.json"
    path.write_text(json.dumps(webtools_sandbox.config()))
    path.chmod(0o600)
    return str(path)


@pytest.fixture
def web(config: str, own_temp: None) -> Iterator[WebTools]:
    with WebTools(config=config) as web:
        yield web
