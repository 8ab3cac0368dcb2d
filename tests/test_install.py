"""The install lines that users are shown bring what comes next."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
README = (ROOT / "README.md").read_text("utf-8")
# Import name, or its beginning, to the package that has it.
PACKAGES = {
    "langchain.": "langchain",
    "langchain_core": "langchain-core",
    "llama_index.core": "llama-index-core",
    "llama_index.llms.openai": "llama-index-llms-openai",
}


def names(requirement: str) -> set[str]:
    """The packages that a requirement names, those of our own extras included."""
    name, _, extras = re.split(r"[<>=~;]", requirement)[0].partition("[")
    if name != "agent-webtools":
        return {name}
    own = [item for extra in extras.rstrip("]").split(",") for item in EXTRAS[extra]]
    return {name}.union(*map(names, own))


@pytest.mark.parametrize("section", ["With LangChain", "With LlamaIndex"])
def test_the_agent_of_a_section_runs_after_its_install_line(section: str) -> None:
    text = README.partition(f"## {section}\n")[2].partition("\n## ")[0]
    installed = set[str]().union(*map(names, _install_line(text).split()))
    imported = {
        package
        for module in re.findall(r"^from (\S+) import", text, re.MULTILINE)
        for start, package in PACKAGES.items()
        if f"{module}.".startswith(start)
    }
    assert imported
    assert imported <= installed


def test_the_first_install_line_brings_the_sandbox_that_the_demo_needs() -> None:
    installed = set[str]().union(*map(names, _install_line(README).split()))
    assert "aiohttp" in installed


def _install_line(text: str) -> str:
    return re.findall(r"^pip install (.*)$", text, re.MULTILINE)[0].replace("'", "")


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_demo_installs_neither_the_other_extras_nor_the_development_tools() -> None:
    command = ["make", "--dry-run", "VENV=/nowhere/venv", "demo"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.findall(r"--editable '(.*?)'", process.stdout) == [".[cli]"]
    assert "--group" not in process.stdout
