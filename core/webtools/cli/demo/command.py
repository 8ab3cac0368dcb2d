"""The first parts: the real command in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from webtools.cli.demo import screen
from webtools.cli.demo.script import Call, Script

if TYPE_CHECKING:
    from webtools import WebTools


def show(script: Script, web: WebTools, config: Path | None) -> bool:
    """Answer with commands, read as an agent would read them; tells whether every one worked."""
    del web  # the commands make their own
    seen: list[str] = []
    worked = True
    while isinstance(turn := script.turn(seen), Call):
        words = _words(turn, config)
        done = run(words)
        failed = done.returncode != 0
        worked = worked and not failed
        seen.append(done.stderr if failed else done.stdout)
        screen.result(seen[-1], is_error=failed)
    screen.answer(turn)
    return worked


def run(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Show a command and run it."""
    screen.command(["webtools", *words])
    # Without PYTHONSAFEPATH, a `webtools.py` in the current folder would be run instead.
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONSAFEPATH": "1"}
    return subprocess.run(  # noqa: S603  our own command, and no shell
        [sys.executable, "-m", "webtools", *words],
        check=False,
        capture_output=True,
        encoding="utf-8",
        env=environment,
        stdin=subprocess.DEVNULL,
    )


def _words(wanted: Call, config: Path | None) -> list[str]:
    given = wanted.arguments
    options = config_option(config)
    match wanted.tool:
        case "web_search":
            queries = given["queries"]
            return ["search", "--limit", str(given["limit"]), *options, *as_texts(queries)]
        case "web_fetch":
            return ["fetch", f"--question={given['question']}", *options, *given["urls"]]
        case _:
            return ["summarize", *options, given["url"]]


def config_option(config: Path | None) -> list[str]:
    """Return the option that names a config file; none is needed for the user's own."""
    return ["--config", str(config)] if config else []


def as_texts(queries: list[str]) -> list[str]:
    """Mark queries as texts where they look like options."""
    return [*(["--"] if any(query.startswith("-") for query in queries) else []), *queries]
