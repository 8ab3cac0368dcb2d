"""The first parts: the real command in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from webtools.cli.demo import screen
from webtools.cli.demo.script import Call, Script
from webtools.errors import ConfigError

if TYPE_CHECKING:
    from webtools import WebTools


def show(script: Script, web: WebTools, config: Path | None) -> bool:
    """Answer with commands, read as an agent would read them; tells whether every one worked."""
    del web  # the commands make their own
    seen: list[str] = []
    worked = True
    while isinstance(turn := script.turn(seen), Call):
        done = _run(turn, config)
        failed = done.returncode != 0
        worked = worked and not failed
        seen.append(done.stderr if failed else done.stdout)
        screen.result(seen[-1], is_error=failed)
    screen.answer(turn)
    return worked


def research(script: Script, web: WebTools, config: Path | None) -> bool:
    """Answer with `webtools web-deep`; tells whether it worked, or was left out for a reason."""
    try:
        web.plan(script.question, command="web-deep")
    except ConfigError as error:
        what, _, _ = str(error).partition(". ")
        screen.text(f"Left out: {what}.")
        return True
    done = _run(Call("web_research", {"query": script.question}), config)
    if done.returncode != 0:
        screen.result(done.stderr, is_error=True)
        return False
    # The passages between the answer and its sources would fill screens.
    answer, _, rest = done.stdout.strip().partition("\n\nPassages:\n\n")
    _, mark, sources = rest.rpartition("\n\nSources:\n")
    screen.answer(f"{answer}{mark}{sources}")
    return True


def _run(wanted: Call, config: Path | None) -> subprocess.CompletedProcess[str]:
    """Show the command for a call, and run it."""
    words = ["webtools", *_words(wanted, ["--config", str(config)] if config else [])]
    screen.command(words)
    # Without PYTHONSAFEPATH, a `webtools.py` in the current folder would be run instead.
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONSAFEPATH": "1"}
    return subprocess.run(  # noqa: S603  our own command, and no shell
        [sys.executable, "-m", *words],
        check=False,
        capture_output=True,
        encoding="utf-8",
        env=environment,
        stdin=subprocess.DEVNULL,
    )


def _words(wanted: Call, options: list[str]) -> list[str]:
    given = wanted.arguments
    match wanted.tool:
        case "web_search":
            options, texts = ["--limit", str(given["limit"]), *options], given["queries"]
            name = "search"
        case "web_fetch":
            options, texts = [f"--question={given['question']}", *options], given["urls"]
            name = "fetch"
        case "summarize":
            name, texts = "summarize", [given["url"]]
        case _:
            name, texts = "web-deep", [given["query"]]
    # What looks like an option is marked as a text.
    mark = ["--"] if any(text.startswith("-") for text in texts) else []
    return [name, *options, *mark, *texts]
