"""Where messages are read: on the command line they name flags, elsewhere Python arguments."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

Place: TypeAlias = Literal["keyless command", "command", "mcp", "notebook", "python"]

typed = ContextVar[Place | None]("typed", default=None)
"""The kind of command that is running, if any."""


@contextmanager
def short_interrupt() -> Generator[None]:
    """Let a notebook show an interrupt in one line, as it shows our errors."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        # IPython calls this method to render an error.
        line = "KeyboardInterrupt: the call was stopped"
        vars(interrupt)["_render_traceback_"] = lambda: [line]
        raise


def handle_source() -> str:
    """Say where the user finds the handle of a stored output."""
    if place() in {"command", "keyless command"}:
        return "a handle; copy it from the last line of a truncated output, `[Read on: ...]`"
    return "a handle; pass the read_handle of an earlier result"


def place() -> Place:
    """Return where the user reads messages."""
    if command := typed.get():
        return command
    ipython = sys.modules.get("IPython")
    is_notebook = ipython is not None and ipython.get_ipython() is not None
    return "notebook" if is_notebook else "python"
