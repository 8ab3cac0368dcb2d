"""The second part: one command that reads the best pages and answers with citations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from webtools.cli.demo import command, screen
from webtools.cli.demo.script import Script
from webtools.errors import ConfigError
from webtools.text.choices import Command

if TYPE_CHECKING:
    from webtools import WebTools

_COMMAND: Command = "web-deep"


def show(script: Script, web: WebTools, config: Path | None) -> bool:
    """Answer with `webtools web-deep`; tells whether it worked, or was left out for a reason."""
    try:
        web.plan(script.question, command=_COMMAND)
    except ConfigError as error:
        what, _, _ = str(error).partition(". ")
        screen.text(f"Left out: {what}.")
        return True
    options = command.config_option(config)
    done = command.run([_COMMAND, *options, *command.as_texts([script.question])])
    if done.returncode != 0:
        screen.result(done.stderr, is_error=True)
        return False
    screen.answer(_without_passages(done.stdout.strip()))
    return True


def _without_passages(shown: str) -> str:
    """Return an answer and its sources: the passages between them would fill screens."""
    answer, _, rest = shown.partition("\n\nPassages:\n\n")
    _, mark, sources = rest.rpartition("\n\nSources:\n")
    return f"{answer}{mark}{sources}"
