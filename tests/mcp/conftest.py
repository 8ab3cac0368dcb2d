from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

pytest.importorskip("mcp_types", reason="needs the extra mcp")

from webtools import WebTools
from webtools.mcp import serve_http
from webtools.mcp.access import Address

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

T = TypeVar("T")


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


@pytest.fixture
def while_serving(web: WebTools) -> Callable[..., Any]:
    """Do some work in a thread while this one serves HTTP, as it does in the command."""

    def serve(work: Callable[[str], T], **options: Any) -> T:
        def done(url: str) -> T:
            try:
                return work(url)
            finally:
                os.kill(os.getpid(), signal.SIGINT)

        with ThreadPoolExecutor(1) as pool:
            futures: list[Any] = []
            announce = lambda url: futures.append(pool.submit(done, url))  # noqa: E731
            serve_http(web, Address("127.0.0.1", 0), announce=announce, **options)
            return futures[0].result()

    return serve
