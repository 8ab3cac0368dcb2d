"""Every example runs: with nothing set up, and with the user's own settings."""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from webtools.config.environment import variables
from webtools_sandbox import SandboxServer

FOLDER = Path(__file__).parents[1] / "examples"
# Ray starts processes of its own: `tests/bulk` runs that example.
EXAMPLES = sorted({*FOLDER.glob("*.py")} - {FOLDER / "ray_data.py"})
# LlamaIndex itself uses what pydantic deprecates.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
Run = Callable[[Path], str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run an example as a user whose home folder is that of the test; return what it prints.

    It runs in this process, as what it imports takes far longer than what it does.
    """
    for name in (*variables(), "CHAT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)

    def run(example: Path) -> str:
        monkeypatch.setattr(sys, "argv", [str(example)])
        runpy.run_path(str(example), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_with_nothing_set_up(example: Path, run: Run) -> None:
    assert run(example).strip()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_uses_the_settings_of_its_user(
    example: Path, run: Run, tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    path = tmp_path / ".pi/agent/web-search.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(webtools_sandbox.config()))
    path.chmod(0o600)
    assert run(example).strip()
    assert webtools_sandbox.stats()["requests"]


def test_research_shows_plan_answer_sources_cache_and_reasons(run: Run) -> None:
    shown = run(EXAMPLES[0].with_name("research.py"))
    parts = [
        r"^Would ask exa, then brave; costs 0\.\d+ USD at most\.\n",
        r"\n.+ \[1\]\n",
        r"\nCited:\n\[1\] http://(127\.0\.0\.1|localhost):\d+/(docs|news)/\S+\n",
        r"\nConfidence: (high|medium|low)\n",
        r"\nAsked again, it comes from the cache\n",
        r"\nCall [0-9a-z]{12} at ",
    ]
    places = [re.search(part, shown) for part in parts]
    assert all(places)
    assert [place.start() for place in places if place] == sorted(
        place.start() for place in places if place
    )
