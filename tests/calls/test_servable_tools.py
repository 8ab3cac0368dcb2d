"""Tools are offered so far as the settings can serve them; a record says which are not, and why."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from webtools import WebTools
from webtools.config import Settings
from webtools.tools import TOOLS

EXA = {"name": "exa", "type": "exa", "apiKey": "test-key-1234"}


def test_what_no_provider_can_serve_is_left_out_and_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "webtools")
    with WebTools({"providers": [EXA]}) as web:
        assert [*TOOLS.values()] != [*web.tools()]
    [said] = [record.getMessage() for record in caplog.records]
    assert said.endswith("can serve them: summarize.")


def test_settings_that_cannot_be_read_leave_nothing_out_and_say_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with WebTools(tmp_path / "missing.json") as web:
        assert web.tools() == tuple(TOOLS.values())
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "missing.json does not exist" in record.getMessage()


def test_a_fault_of_ours_is_not_taken_for_settings_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_: Settings) -> None:
        raise LookupError("a fault of ours")

    monkeypatch.setattr(Settings, "accounts", broken)
    with WebTools() as web, pytest.raises(LookupError):
        web.tools()


async def test_a_detector_of_blocking_calls_leaves_nothing_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def detected(_: Settings) -> None:
        raise OSError("os.stat blocks the loop")

    monkeypatch.setattr(Settings, "accounts", detected)
    async with WebTools() as web:
        assert web.tools() == tuple(TOOLS.values())
    assert "os.stat blocks the loop" in caplog.text
