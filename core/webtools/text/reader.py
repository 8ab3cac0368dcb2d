"""Where messages are read: they tell a user of the command line of flags, others of Python."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Literal, TypeAlias

Place: TypeAlias = Literal["terminal", "notebook", "python"]

is_command_line = ContextVar("is_command_line", default=False)
"""Whether somebody typed a command, and waits for it."""


def place() -> Place:
    """Return where a message of now is read."""
    if is_command_line.get():
        return "terminal"
    ipython = sys.modules.get("IPython")
    is_notebook = ipython is not None and ipython.get_ipython() is not None
    return "notebook" if is_notebook else "python"
