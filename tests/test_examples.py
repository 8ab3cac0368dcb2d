"""Every example runs: with nothing set up, and with the user's own settings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from webtools.providers import PROVIDERS
from webtools_sandbox import SandboxServer

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def _run(example: Path, home: Path) -> str:
    """Run an example as a user whose home folder this is; gives what it prints."""
    keys = {name for each in PROVIDERS.values() for name in each.about.key_variables}
    unset = {*keys, "CHAT_MODEL", "XDG_CACHE_HOME", "XDG_STATE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "none")}
    done = subprocess.run(
        [sys.executable, str(example)],
        check=False,
        capture_output=True,
        cwd=home,
        encoding="utf-8",
        env=environment,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_with_nothing_set_up(example: Path, tmp_path: Path) -> None:
    assert _run(example, tmp_path).strip()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_uses_the_settings_of_its_user(
    example: Path, tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    path = tmp_path / ".pi/agent/web-search.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(webtools_sandbox.config()))
    path.chmod(0o600)
    assert _run(example, tmp_path).strip()
    assert webtools_sandbox.stats()["requests"]


def test_research_shows_plan_answer_sources_cache_and_reasons(tmp_path: Path) -> None:
    shown = _run(EXAMPLES[0].with_name("research.py"), tmp_path)
    parts = [
        r"^Would ask exa, then brave; costs 0\.\d+ USD at most\.\n",
        r"\n.+ \[1\]\n",
        r"\nCited:\n\[1\] http://(127\.0\.0\.1|localhost):\d+/(docs|news)/\S+\n",
        r"\nConfidence: (high|medium|low)\n",
        r"\nAsked again, it comes from the cache\n",
        r"\nWhy:\n- exa served the call because it was the first in line",
    ]
    places = [re.search(part, shown) for part in parts]
    assert all(places)
    assert [place.start() for place in places if place] == sorted(
        place.start() for place in places if place
    )
