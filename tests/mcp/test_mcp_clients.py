"""Clients that others wrote, over stdio; each in an environment that has it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from webtools.tools import TOOLS

SCRIPT = Path(__file__).with_name("foreign_clients.py")
# `make` builds the second one: it pins the SDK below 2, and speaks the older revision alone.
ENVIRONMENTS = [Path(sys.executable), Path(sys.prefix, "mcp-1", "bin", "python")]
MODULES = {
    "llama-index": "llama_index.tools.mcp",
    "langchain-adapters": "langchain_mcp_adapters.client",
    "langchain": "langchain.mcp",
}


def python_with(module: str) -> str:
    for python in ENVIRONMENTS:
        code = f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"
        tried = [str(python), "-c", code]
        if python.exists() and not subprocess.run(tried, stderr=-3, check=False).returncode:
            return str(python)
    pytest.skip(f"{module} is not installed in any of {', '.join(map(str, ENVIRONMENTS))}")


@pytest.mark.parametrize("name", MODULES)
def test_a_client_of_others_lists_and_calls(name: str, config: str) -> None:
    python = python_with(MODULES[name])
    ran = subprocess.run(
        [python, "-W", "ignore", str(SCRIPT), name, sys.executable, config],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["tools"] == list(TOOLS)
    assert "heapq" in found["text"]
