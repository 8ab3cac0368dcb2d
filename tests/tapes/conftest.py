from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from webtools import WebTools
from webtools._internal.pipeline.tape import forget_ambient_tapes

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


@pytest.fixture(autouse=True)
def _no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("WEBTOOLS_RECORD", "WEBTOOLS_REPLAY"):
        monkeypatch.setenv(name, "")  # a test may change it, which is undone
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith(("WEB_SEARCH_", "WEBTOOLS_", "PI_")):
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    forget_ambient_tapes()
    yield
    forget_ambient_tapes()


@pytest.fixture
def web(webtools_sandbox: SandboxServer) -> Iterator[WebTools]:
    with WebTools(webtools_sandbox.config()) as web:
        yield web


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail whatever looks up a host name or connects."""

    def refuse(*args: Any, **_options: Any) -> NoReturn:
        raise AssertionError(f"a replay used the network: {args[1:]}")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)


@pytest.fixture
def unconfigured(tmp_path: Path) -> WebTools:
    """Return a client whose config file does not exist."""
    return WebTools(tmp_path / "missing.json")
