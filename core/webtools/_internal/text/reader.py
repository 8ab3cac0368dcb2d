"""Where messages are read: they tell a user of the command line of flags, others of Python."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Literal, TypeAlias

Place: TypeAlias = Literal["keyless command", "command", "mcp", "notebook", "python"]

typed = ContextVar[Place | None]("typed", default=None)
"""What somebody typed and waits for: a command that takes `--keyless`, or another, if any."""


def place() -> Place:
    """Return where a message of now is read."""
    if command := typed.get():
        return command
    ipython = sys.modules.get("IPython")
    is_notebook = ipython is not None and ipython.get_ipython() is not None
    return "notebook" if is_notebook else "python"
