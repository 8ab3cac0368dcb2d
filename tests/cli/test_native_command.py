"""`webtools native` prints the table of facts."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from webtools.cli import main, native_command
from webtools.native import FACTS, MAX_AGE_DAYS

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_native_facts.py"


def test_the_table_names_each_model_with_date_and_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["native"]) == 0
    text = capsys.readouterr().out
    for facts in FACTS:
        shown = (*facts.models, facts.base_urls[0], facts.read_on.isoformat(), facts.source)
        shown = (*shown, facts.unconfirmed)
        assert [part for part in shown if part not in text] == []


def test_the_table_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["native", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["facts"]
    assert [row["vendor"] for row in rows] == [facts.vendor for facts in FACTS]


@pytest.mark.parametrize(("days", "is_noted"), [(MAX_AGE_DAYS, False), (MAX_AGE_DAYS + 1, True)])
def test_old_facts_are_noted(
    days: int,
    is_noted: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            first = min(facts.read_on for facts in FACTS)
            return datetime.combine(first + timedelta(days=days), datetime.min.time(), UTC)

    monkeypatch.setattr(native_command, "datetime", Later)
    assert main(["native"]) == 0
    assert (str(MAX_AGE_DAYS) in capsys.readouterr().err) == is_noted


def test_the_check_before_a_release_needs_no_package() -> None:
    command = [sys.executable, "-I", "-S", str(SCRIPT)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stderr == ""
