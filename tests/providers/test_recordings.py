"""The result of each recorded call: a line for every result or page, then warnings and cost.

After `make record`, `pytest --inline-snapshot=fix` updates the expected results.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from inline_snapshot import external_file
from playing import Play, outcome, plays
from recording import CASSETTES, SCENARIOS, Source, call, sandbox_source

# The other results depend on the ranking, and thus on the documentation of the running Python.
COMPARED = ("-filtered", "-contents", "-summary")


@pytest.mark.parametrize("suffix", [".yaml", ".result"])
def test_every_recorded_call_has_a_cassette_and_an_expected_result(suffix: str) -> None:
    assert {path.stem for path in CASSETTES.glob(f"*{suffix}")} == set(SCENARIOS)


@pytest.mark.parametrize("name", [pytest.param(name, marks=plays(name)) for name in SCENARIOS])
def test_a_recorded_call_has_its_result(name: str, play: Play) -> None:
    result = "".join(f"{line}\n" for line in outcome(play))
    assert result == external_file(f"cassettes/{name}.result", format=".txt")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Source]:
    with sandbox_source() as source:
        yield source


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_sandbox_still_gives_the_recorded_result(name: str, sandbox: Source) -> None:
    result = "".join(f"{line}\n" for line in outcome(lambda: call(name, sandbox)))
    is_from_sandbox = "live API" not in (CASSETTES / f"{name}.yaml").read_text("utf-8")[:50]
    if SCENARIOS[name].fails or (is_from_sandbox and any(part in name for part in COMPARED)):
        assert result == (CASSETTES / f"{name}.result").read_text("utf-8")
    else:
        assert "Error" not in result.partition("\n")[0]
