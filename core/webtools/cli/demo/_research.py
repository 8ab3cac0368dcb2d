"""The second part: one command that reads the best pages and answers with citations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from webtools._kinds import Command
from webtools.cli.demo import _command, _screen
from webtools.cli.demo._script import Script
from webtools.errors import ConfigError

if TYPE_CHECKING:
    from webtools import WebTools

_COMMAND: Command = "web-deep"


def show(script: Script, web: WebTools, config: Path | None) -> bool:
    """Answer with `webtools web-deep`; tells whether it worked, or was left out for a reason."""
    try:
        web.plan(script.question, command=_COMMAND)
    except ConfigError as error:
        what, _, _ = str(error).partition(". ")
        _screen.text(f"Left out: {what}.")
        return True
    options = _command.config_option(config)
    done = _command.run([_COMMAND, *options, *_command.as_texts([script.question])])
    if done.returncode != 0:
        _screen.result(done.stderr, is_error=True)
        return False
    _screen.answer(done.stdout.strip())
    return True
