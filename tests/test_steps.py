"""The way of a call stays short: whoever adds a step to it takes one away."""

from __future__ import annotations

from pathlib import Path

from scripts.count_steps import count_search

MOST_FUNCTIONS = 160
MOST_GENERATORS = 12


def test_a_search_goes_through_few_functions_and_generators(tmp_path: Path) -> None:
    steps = count_search(tmp_path)
    names = [code.co_qualname for code in steps.functions]
    assert len(names) <= MOST_FUNCTIONS, names
    assert len(steps.generators) <= MOST_GENERATORS, steps.generators
    assert {"WebTool._run", "BlockingTransport.send"} <= {*names}  # from end to end
