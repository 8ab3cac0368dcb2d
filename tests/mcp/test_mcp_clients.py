"""Clients that others wrote, over HTTP; each in an environment that has it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from foreign_clients import TOKEN
from side_installs import why_missing

from webtools.tools import TOOLS

SCRIPT = Path(__file__).with_name("foreign_clients.py")
# `make` builds the second one: it pins the SDK below 2, and speaks the older revision alone.
ENVIRONMENTS = [Path(sys.executable), Path(sys.prefix, "mcp-1", "bin", "python")]
MODULES = {
    "llama-index": "llama_index.tools.mcp",
    "langchain-adapters": "langchain_mcp_adapters",
    "langchain": "fastmcp",  # the package under `langchain.mcp`
}


def python_with(module: str) -> str:
    for python in ENVIRONMENTS:
        code = f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"
        attempts = [str(python), "-c", code]
        if python.exists() and not subprocess.run(attempts, stderr=-3, check=False).returncode:
            return str(python)
    places = ", ".join(map(str, ENVIRONMENTS))
    pytest.skip(f"{module} is not installed in any of {places}{why_missing('mcp-1')}")


@pytest.mark.parametrize("name", MODULES)
def test_a_client_of_others_lists_and_calls(name: str, while_serving: Callable[..., Any]) -> None:
    command = [python_with(MODULES[name]), "-W", "ignore", str(SCRIPT), name]

    def work(url: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, url], capture_output=True, text=True, timeout=120, check=False
        )

    ran = while_serving(work, token=TOKEN)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout.splitlines()[-1])
    assert result["tools"] == list(TOOLS)
    assert "heapq" in result["text"]
