from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from webtools import Config, WebTools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webtools_sandbox import SandboxServer


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0)


@pytest.fixture
def web(webtools_sandbox: SandboxServer) -> Iterator[WebTools]:
    with WebTools(Config.model_validate(webtools_sandbox.config())) as made:
        yield made
