"""The first part: the real command in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webtools.cli.demo import _screen
from webtools.cli.demo._script import Call, Script

if TYPE_CHECKING:
    from webtools import WebTools


def show(script: Script, web: WebTools, config: Path | None) -> bool:
    """Answer with commands, whose output is read as an agent would read it."""
    del web  # the commands make their own
    seen: list[str] = []
    while isinstance(turn := script.turn(seen), Call):
        words = [*_WORDS[turn.tool](turn.arguments), *(["--config", str(config)] if config else [])]
        _screen.command(["webtools", *words])
        done = _run(words)
        failed = done.returncode != 0
        seen.append(done.stderr if failed else done.stdout)
        _screen.result(seen[-1], is_error=failed)
        if failed and len(seen) == 1:
            return False
    _screen.answer(turn)
    return True


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
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


_WORDS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "web_search": lambda given: ["search", *given["queries"], "--limit", str(given["limit"])],
    "web_fetch": lambda given: [
        "fetch",
        *given["urls"],
        "--max-characters",
        str(given["text_max_characters"]),
    ],
    "summarize": lambda given: ["summarize", given["url"]],
}
