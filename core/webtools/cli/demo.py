"""`webtools demo`: run real commands for one question over the offline sandbox."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from argparse import Namespace
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from webtools.cli.printing import FAILED, FINE, USAGE, complain, tell
from webtools.config import Settings

_QUESTION = "How do I generate secure random tokens in Python?"
_MAX_LINES = 30  # of the output of a command
_FIRST_URL = re.compile(r"^ +(https?://\S+)$", re.MULTILINE)
_NEXT_STEPS = """\
What next:
  webtools config init        create your config file
  webtools search "..."       search with it
  webtools demo --live        run this demo with your own providers
  webtools sandbox            test your own agents offline

Agents: use `WebToolkit` of `langchain_webtools`, or `WebToolsSpec` of `llamaindex_webtools`"""


def run(options: Namespace) -> int:
    """Show the demo, and return the exit code: 1 if a command failed, 2 if it cannot start."""
    question = " ".join(options.texts) or _QUESTION
    try:
        with _config_options(live=options.live) as config:
            return _show(question, config)
    except ImportError as error:
        complain(str(error))
        return USAGE


@contextmanager
def _config_options(*, live: bool) -> Generator[list[str]]:
    """Yield options for the sandbox, or none for the user's own settings."""
    if live:
        Settings().accounts().select("search")  # raises an error that explains what to configure
        yield []
        return
    from webtools_sandbox import SandboxServer  # noqa: PLC0415  an optional extra

    with TemporaryDirectory(prefix="webtools-demo-") as folder, SandboxServer() as server:
        path = Path(folder, "web-search.json")
        path.write_text(json.dumps(server.config(), indent=2), encoding="utf-8")
        tell(f"The offline sandbox simulates the providers at {server.url}.")
        yield ["--config", str(path)]


def _show(question: str, config: list[str]) -> int:
    tell(f"Question: {question}")
    results = _run("1. Search", ["search", "--limit", "3", *config, "--", question])
    url = _FIRST_URL.search(results or "")
    page: str | None = ""
    if url is not None:
        passages = ["fetch", f"--question={question}", *config, "--", url[1]]
        page = _run("2. Read the best passages of the first page", passages)
    answer = _run("3. Answer with citations", ["web-deep", *config, "--", question])
    tell(f"\n{_NEXT_STEPS}")
    return FAILED if None in {results, page, answer} else FINE


def _run(title: str, words: list[str]) -> str | None:
    """Run a command, show the start of its output, and return the output (None on failure)."""
    tell(f"\n{title}\n{'=' * len(title)}\n\n$ webtools {shlex.join(words)}\n")
    process = subprocess.run(  # noqa: S603  our own command, and no shell
        [sys.executable, "-m", "webtools", *words],
        check=False,
        capture_output=True,
        encoding="utf-8",
        # PYTHONSAFEPATH: do not run a `webtools.py` of the current folder instead.
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONSAFEPATH": "1"},
        stdin=subprocess.DEVNULL,
    )
    if process.returncode != 0:
        tell(f"failed:\n{process.stderr.strip()}")
        return None
    answer, _, appendix = process.stdout.strip().partition("\n\nPassages:\n\n")
    lines = (answer + "".join(appendix.rpartition("\n\nSources:\n")[1:])).splitlines()
    tell("\n".join(lines[:_MAX_LINES]))
    if len(lines) > _MAX_LINES:
        tell(f"… {len(lines) - _MAX_LINES} more lines")
    return process.stdout
