"""What a platform or an installation lacks stops only what needs it, and is named."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from webtools_sandbox import SandboxServer

ROOT = Path(__file__).resolve().parent.parent
POSIX_ONLY = {
    *("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "curses", "readline", "syslog"),
    *("posix", "crypt", "nis", "spwd", "_curses"),
}
# The standard library itself imports some of them on POSIX, so it comes first.
WITHOUT_POSIX = f"""
import asyncio, getpass, pdb, shutil, subprocess, sys, tempfile, uuid
for name in {sorted(POSIX_ONLY - {"posix"})}:
    sys.modules[name] = None
from webtools._internal.pages import processes, workers
"""
PROGRAM = (
    "import mcp.server.stdio, uvicorn\n"  # they go by the platform
    + WITHOUT_POSIX
    + """
processes._PROGRAM = (
    "import sys; from importlib import import_module;"
    "[import_module(name) for name in ('asyncio', 'tempfile', 'subprocess')];"
    "sys.modules.update(dict.fromkeys(('resource', 'fcntl', 'pwd', 'grp', 'termios')));"
) + processes._PROGRAM
"""
)


def run(code: str, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def config(tmp_path: Path, webtools_sandbox: SandboxServer) -> str:
    settings = webtools_sandbox.config()
    host = webtools_sandbox.docs_url.split("/")[2]
    direct = {"name": "pages", "type": "direct", "options": {"allowPrivateHosts": [host]}}
    settings["providers"] = [
        *[entry for entry in settings["providers"] if entry["type"] != "direct"],
        direct,
    ]
    path = tmp_path / "web-search.json"
    path.write_text(json.dumps(settings))
    path.chmod(0o600)
    return str(path)


def test_without_modules_of_posix_it_searches_and_reads_a_page_apart(
    config: str, webtools_sandbox: SandboxServer
) -> None:
    code = f"""{PROGRAM}
from webtools import WebTools
with WebTools(config=sys.argv[1]) as web:
    print(len(web.search("heap").results) > 0)
    page = web.fetch(sys.argv[2], provider="pages")
    print(bool(page.pages[0].text), page.warnings, len(workers.processes()))
"""
    url = f"{webtools_sandbox.docs_url}/library/heapq.html"
    completed = run(code, config, url)
    assert (completed.stdout, completed.stderr) == ("True\nTrue [] 1\n", "")


def test_without_modules_of_posix_it_serves_mcp_over_stdio(config: str) -> None:
    code = f"{PROGRAM}\nfrom webtools.cli import command\ncommand()"
    client = {"name": "test", "version": "1"}
    first = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    call = {"name": "web_search", "arguments": {"query": "heap"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": first},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with subprocess.Popen(
        [sys.executable, "-c", code, "mcp", "--config", config],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
    assert answers[0]["result"]["serverInfo"]["name"] == "webtools"
    assert answers[1]["result"]["structuredContent"]["results"]


def test_without_modules_of_posix_it_serves_mcp_over_http(config: str) -> None:
    code = f"""{PROGRAM}
import os, signal, threading, httpx
from webtools import WebTools
from webtools.mcp import serve_http
from webtools.mcp.access import Address

def ask(url):
    print(httpx.post(url, json={{}}).status_code, flush=True)
    os.kill(os.getpid(), signal.SIGINT)

def announce(url):
    threading.Thread(target=ask, args=[url]).start()

serve_http(WebTools(config=sys.argv[1]), Address("127.0.0.1", 0), announce=announce)
"""
    assert run(code, config).stdout in {"400\n", "406\n"}


def test_no_module_imports_at_its_top_what_only_posix_has() -> None:
    faults: list[str] = []
    folders = ("core", "sandbox", "langchain_webtools", "llamaindex_webtools")
    for path in [path for folder in folders for path in (ROOT / folder).rglob("*.py")]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            imported = {name.partition(".")[0] for name in [*names, getattr(node, "module", "")]}
            is_import = isinstance(node, (ast.Import, ast.ImportFrom))
            if is_import and imported & POSIX_ONLY:
                faults.append(f"{path}:{node.lineno}")
    assert not faults


# Each optional library, and what imports it.
USES = {
    "mcp": "import webtools.mcp",
    "uvicorn": "import webtools.mcp",
    "rich": "import webtools.rendering",
    "IPython": "import webtools.notebook",
    "aiohttp": "import webtools_sandbox; webtools_sandbox.SandboxServer",
    "argcomplete": "from webtools.cli import main; main(['completion', 'bash'])",
    "protego": (
        "from webtools._internal.pages import robots;"
        "robots.read(robots.source_of('https://a.example/', robots.file_of(b'x'), 9.0))"
    ),
    "markdown_it": "from webtools._internal.display.html import _draw_markdown as f; f('x')",
    "pandas": "from webtools._internal.display.data_frame import to_data_frame as f; f(None)",
    "matplotlib": "from webtools._internal.display.plots import _draw as f; f('', {'b': 1}, None)",
    "pytest": "import webtools.testing",
    "langchain_core": "import langchain_webtools; langchain_webtools.WebToolkit",
    "llama_index": "import llamaindex_webtools; llamaindex_webtools.WebToolsSpec",
}


@pytest.mark.parametrize("library", USES)
def test_a_library_that_is_broken_is_not_called_missing(library: str, tmp_path: Path) -> None:
    (tmp_path / f"{library}.py").write_text("import no_such_dependency")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {USES[library]}"
    output = run(code).stderr
    assert "no_such_dependency" in output
    assert "pip install" not in output
