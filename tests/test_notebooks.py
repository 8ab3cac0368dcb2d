"""Every notebook of the examples runs in a real kernel, offline, and is stored clean."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import nbformat
import psutil
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import webtools_sandbox as sandbox_module
from webtools.providers import PROVIDERS
from webtools.tools import TOOLS
from webtools_sandbox import SandboxServer

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
SECONDS = 120
KEYS = [
    str(getattr(sandbox_module, name)) for name in sandbox_module.__all__ if name.endswith("_KEY")
]
FOUND = r"http://(?:127\.0\.0\.1|localhost):\d+/(?:docs|news)/[\w./-]+\.html"
HTML = "text/html"
# Loaded by every Python that the kernel starts; what is hooked so cannot be unhooked.
GUARD = """
import sys
from ipaddress import ip_address

def is_loopback(host):
    try:
        return host in (None, "", b"", "localhost", b"localhost") or ip_address(host).is_loopback
    except ValueError:
        return False

def guard(event, args):
    if event == "socket.getaddrinfo":
        host = args[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        host = args[1][0] if isinstance(args[1], tuple) else None
    else:
        return
    if not is_loopback(host):
        raise OSError(f"this test has no network, yet {event} was called for {host!r}")

sys.addaudithook(guard)
"""


def environment(home: Path) -> dict[str, str]:
    """Give the environment of a user with this home folder, without settings or network."""
    (home / "guard").mkdir(exist_ok=True)
    (home / "guard" / "sitecustomize.py").write_text(GUARD)
    keys = {name for item in PROVIDERS.values() for name in item.about.key_variables}
    unset = re.compile("|".join([*keys, ".*_MODEL", "LANGSMITH_.*", "LANGCHAIN_.*", "OPENAI_.*"]))
    kept = {name: value for name, value in os.environ.items() if not unset.fullmatch(name)}
    folders = ("CACHE_HOME", "CONFIG_HOME", "DATA_HOME", "STATE_HOME")
    return {
        **kept,
        **{f"XDG_{name}": str(home / name) for name in folders},
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONPATH": str(home / "guard"),
        "TMPDIR": str(home),
    }


def execute(notebook: Any, home: Path) -> Any:
    """Run all cells in a kernel of their own, which is gone afterwards in any case."""
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        coalesce_streams=True,  # a kernel sends what a cell prints in pieces
        resources={"metadata": {"path": str(home)}},
        shutdown_kernel="immediate",
    )
    with pytest.MonkeyPatch.context() as patch:  # for the client; it writes into these, too
        for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
            patch.setenv(f"JUPYTER_{name}", str(home / "jupyter" / name))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        client.execute(env=environment(home))
    return notebook


def run(name: str, home: Path) -> Any:
    """Run a notebook of the examples; nothing in it fails, complains or shows a key."""
    ran = execute(nbformat.read(EXAMPLES / f"{name}.ipynb", 4), home)
    shown = [*outputs(ran)]
    assert {item.output_type for item in shown} <= {"display_data", "execute_result", "stream"}
    assert [item.text for item in shown if item.get("name") == "stderr"] == []
    assert [key for key in KEYS if key in json.dumps(shown, ensure_ascii=False)] == []
    return ran


def outputs(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        yield from cell.get("outputs", ())


def output(notebook: Any, name: str, kind: str = "text/plain") -> str:
    """Return what a cell printed and showed, in one of its output formats."""
    cell = next(cell for cell in notebook.cells if cell.id == name)
    return "\n".join(item.get("text") or item.data[kind] for item in cell.outputs)


# --- as they are stored ------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs_and_without_traces_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    nbformat.validate(notebook)  # ids included: these are of 4.5
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
    assert not re.search(r"/(home|root|tmp|Users|work|private)\b|[A-Z]:\\\\", text)
    assert text == json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"  # as Jupyter writes it


# --- with nothing set up -----------------------------------------------------------------------


def test_exploring_shows_tables_answers_and_failures(tmp_path: Path) -> None:
    ran = run("explore", tmp_path)
    assert re.search(rf'<table class="wt-results">.*href="{FOUND}"', output(ran, "search", HTML))
    frame = "<table" if find_spec("pandas") else re.compile(FOUND)
    assert re.search(frame, output(ran, "frame", HTML if find_spec("pandas") else "text/plain"))
    assert "searching" not in output(ran, "queries")  # a finished bar goes
    assert output(ran, "queries", HTML).count('class="wt-group"') == 2
    assert "ResearchPlan web-deep" in output(ran, "plan")
    assert re.search(
        rf'(?s)\[1\].*<table class="wt-results">.*href="{FOUND}"', output(ran, "deep", HTML)
    )
    assert re.search(rf"(?s)Answer:\n.+{FOUND}", output(ran, "envelope"))
    assert "searching" not in output(ran, "docs")
    assert "1 failed" in output(ran, "failed-page")
    assert "CRAWL_NOT_FOUND" in output(ran, "failed-page", HTML)
    assert output(ran, "failed-call").startswith("ConfigError: ")
    assert '"unknown"' in output(ran, "failed-call")


def test_the_agent_shows_its_calls_and_cites_their_results(tmp_path: Path) -> None:
    ran = run("langchain_agent", tmp_path)
    assert re.findall(r"^\w+", output(ran, "tools"), re.MULTILINE) == list(TOOLS)
    calls = rf'(?s)web_search "How do I .+ 3 results .+web_fetch "{FOUND}".+✓ {FOUND}'
    assert re.search(calls, output(ran, "agent"))
    cited = re.search(rf"Sources:\n- \[.+\]\(({FOUND})\)", output(ran, "answer"))
    assert cited
    assert cited[1] in output(ran, "data")
    assert output(ran, "failure").startswith('error\nquery " "')


def test_bulk_work_writes_rows_resumes_and_reads_its_results(tmp_path: Path) -> None:
    ran = run("bulk", tmp_path)
    assert output(ran, "run").startswith("7 rows: 6 ok, 1 failed, 0.042 USD")
    assert "failed" in output(ran, "frame")
    assert '"colour"' in output(ran, "rows")
    assert output(ran, "again").startswith("7 ")
    assert re.search(rf"^(\d+) of \1 pages read, such as {FOUND}$", output(ran, "pages").strip())


@pytest.mark.parametrize("name", ["langchain_rag", "llamaindex_query_engine"])
def test_an_answer_cites_sources_that_were_found(name: str, tmp_path: Path) -> None:
    ran = run(name, tmp_path)
    result = re.findall(FOUND, output(ran, "pages"))
    assert re.search(r"\w{3,} .+ \[1\]", output(ran, "answer"))
    cited = re.findall(rf"(?m)^\[\d\] .+: ({FOUND})$", output(ran, "sources"))
    assert cited
    assert {*cited} <= {*result}


# --- with the settings of the user -------------------------------------------------------------


@pytest.mark.parametrize("name", ["explore", "langchain_rag"])
def test_a_notebook_uses_the_settings_of_its_user(
    name: str, tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    file = tmp_path / ".pi/agent/web-search.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(webtools_sandbox.config()), encoding="utf-8")
    file.chmod(0o600)
    ran = run(name, tmp_path)
    urls = {*re.findall(FOUND, json.dumps([*outputs(ran)]))}
    assert webtools_sandbox.stats()["requests"]
    assert urls
    for url in urls:
        assert urlsplit(url).port == webtools_sandbox.port
        assert build_opener(ProxyHandler({})).open(url, timeout=10).status == 200


# --- the kernel --------------------------------------------------------------------------------


def test_a_kernel_has_no_network_and_is_gone_after_a_failure(tmp_path: Path) -> None:
    cells = [
        "import os; print(os.getpid())",
        "import socket\nsocket.create_connection(('127.0.0.1', 1))",
        "socket.create_connection(('192.0.2.1', 80), timeout=1)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
    notebook.cells[1].metadata["tags"] = ["raises-exception"]
    with pytest.raises(CellExecutionError, match="this test has no network"):
        execute(notebook, tmp_path)
    own, refused, _ = notebook.cells
    assert refused.outputs[0].ename == "ConnectionRefusedError"  # the loopback may be asked
    assert not psutil.pid_exists(int(own.outputs[0].text))
