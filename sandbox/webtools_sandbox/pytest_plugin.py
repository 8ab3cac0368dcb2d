"""The pytest fixture `webtools_sandbox`: a sandbox in its first state for every test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webtools_sandbox.server import SandboxServer


@pytest.fixture(scope="session")
def webtools_sandbox_server() -> Iterator[SandboxServer]:
    """Start one sandbox for the whole run; tests use `webtools_sandbox` instead."""
    # Not at the top: this module is loaded in every pytest run of whoever has the package.
    from webtools_sandbox.server import SandboxServer  # noqa: PLC0415

    with SandboxServer() as server:
        yield server


@pytest.fixture
def webtools_sandbox(webtools_sandbox_server: SandboxServer) -> Iterator[SandboxServer]:
    """Yield a running `SandboxServer` without faults, latency or earlier traffic."""
    webtools_sandbox_server.reset()
    yield webtools_sandbox_server
    webtools_sandbox_server.reset()  # what uses the server of the whole run finds no faults
