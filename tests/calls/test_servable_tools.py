"""Tools are offered so far as the settings can serve them; a record says which are not, and why."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from webtools import WebTools
from webtools.config import Settings
from webtools.tools import TOOLS

EXA = {"name": "exa", "type": "exa", "apiKey": "test-key-1234"}


def test_a_tool_without_a_provider_is_omitted_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "webtools")
    with WebTools({"providers": [EXA]}) as web:
        assert [*TOOLS.values()] != [*web.tools()]
    [message] = caplog.messages
    assert "summarize" in message


def test_unreadable_settings_omit_no_tool_and_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with WebTools(tmp_path / "missing.json") as web:
        assert web.tools() == tuple(TOOLS.values())
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "missing.json" in record.getMessage()


async def test_a_detector_of_blocking_calls_omits_no_tool(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def detected(_: Settings) -> None:
        raise OSError("os.stat blocks the loop")

    monkeypatch.setattr(Settings, "accounts", detected)
    async with WebTools() as web:
        assert web.tools() == tuple(TOOLS.values())
    assert "os.stat blocks the loop" in caplog.text
