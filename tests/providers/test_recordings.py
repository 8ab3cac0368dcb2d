"""The result of each recorded call: a line for every result or page, then warnings and cost.

After `make record`, `pytest --inline-snapshot=fix` updates the expected results.
"""

from __future__ import annotations

import pytest
from inline_snapshot import external_file
from playing import Play, outcome, plays
from recording import CASSETTES, SCENARIOS


@pytest.mark.parametrize("suffix", [".yaml", ".result"])
def test_every_recorded_call_has_a_cassette_and_an_expected_result(suffix: str) -> None:
    assert {path.stem for path in CASSETTES.glob(f"*{suffix}")} == set(SCENARIOS)


@pytest.mark.parametrize("name", [pytest.param(name, marks=plays(name)) for name in SCENARIOS])
def test_a_recorded_call_has_its_result(name: str, play: Play) -> None:
    result = "".join(f"{line}\n" for line in outcome(play))
    assert result == external_file(f"cassettes/{name}.result", format=".txt")
