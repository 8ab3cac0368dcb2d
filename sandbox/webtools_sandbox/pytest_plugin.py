"""The pytest fixture `webtools_sandbox`: no test sees the traffic or faults of another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from webtools_sandbox.server import SandboxServer


@pytest.fixture(scope="session")
def webtools_sandbox_server() -> Iterator[SandboxServer]:
    """Start one sandbox for the whole run; tests use `webtools_sandbox` instead."""
    # Imported here: pytest loads this module in every run, also where no test needs a sandbox.
    from webtools_sandbox.server import SandboxServer  # noqa: PLC0415

    with SandboxServer() as server:
        yield server


@pytest.fixture(scope="session")
def webtools_sandbox_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the folder for cache, budget and log of the clients, instead of the user's own."""
    return tmp_path_factory.mktemp("webtools")


@pytest.fixture
def webtools_sandbox(
    webtools_sandbox_server: SandboxServer, webtools_sandbox_folder: Path
) -> Iterator[SandboxServer]:
    """Yield a running `SandboxServer` without faults, latency or earlier traffic.

    Clients start afresh too: circuit breakers, caches and budgets of earlier tests are gone.
    """
    from webtools.testing.isolation import isolated  # noqa: PLC0415 - as above

    webtools_sandbox_server.reset()
    with isolated(webtools_sandbox_folder):
        yield webtools_sandbox_server
    webtools_sandbox_server.reset()  # tests that use the server alone start without faults
