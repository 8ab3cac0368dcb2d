"""The way of a call stays short: whoever adds a step to it takes one away."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts" / "count_steps.py"
MOST_FUNCTIONS = 160
MOST_GENERATORS = 12


def test_a_search_goes_through_few_functions_and_generators() -> None:
    # In a process of its own: what other tests have imported or hooked into makes the way longer.
    run = [sys.executable, str(SCRIPT), "--list"]
    found = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    functions, generators = (int(n) for n in re.findall(r"^(\d+) [fg]", found, re.MULTILINE))
    assert functions <= MOST_FUNCTIONS, found
    assert generators <= MOST_GENERATORS, found
    for end in ("_base.WebTool._run", "transport.Transport.send"):  # from end to end
        assert f"  {end}\n" in found
