"""Where messages are read: on the command line they name flags, elsewhere Python arguments."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Literal, TypeAlias

Place: TypeAlias = Literal["keyless command", "command", "mcp", "notebook", "python"]

typed = ContextVar[Place | None]("typed", default=None)
"""The kind of command that is running, if any."""


def place() -> Place:
    """Return where the user reads messages."""
    if command := typed.get():
        return command
    ipython = sys.modules.get("IPython")
    is_notebook = ipython is not None and ipython.get_ipython() is not None
    return "notebook" if is_notebook else "python"
