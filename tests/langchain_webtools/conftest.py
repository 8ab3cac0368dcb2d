from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from webtools import WebTools
from webtools_sandbox import SandboxServer

ConfigFile = Callable[..., Path]


@pytest.fixture(autouse=True)
def no_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry at once."""
    monkeypatch.setattr("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0)


@pytest.fixture
def config_file(webtools_sandbox: SandboxServer, tmp_path: Path) -> ConfigFile:
    """Write a config that leads to the sandbox; arguments go into each provider's entry."""

    def write(**entry: Any) -> Path:
        config = webtools_sandbox.config()
        for provider in config["providers"]:
            provider.update(entry)
        path = tmp_path / "web-search.json"
        path.write_text(json.dumps(config))
        path.chmod(0o600)
        return path

    return write


@pytest.fixture
async def web(config_file: ConfigFile) -> AsyncIterator[WebTools]:
    """A `WebTools` that talks to the sandbox."""
    async with WebTools(config=config_file()) as web:
        yield web


@pytest.fixture
def page(webtools_sandbox: SandboxServer) -> str:
    """The URL of a page that the sandbox has."""
    return f"{webtools_sandbox.docs_url}/library/json.html"
