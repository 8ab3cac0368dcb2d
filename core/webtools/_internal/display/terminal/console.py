"""Consoles that interpret no markup, emoji codes or highlighting in a text."""

from __future__ import annotations

import os
import sys
from io import StringIO
from typing import IO, Any

from rich.console import Console, RenderableType

from webtools._internal.text.visible import is_terminal

_INERT: Any = dict.fromkeys(("force_jupyter", "markup", "emoji", "highlight"), False)


def console_for(file: IO[str] | None = None, width: int | None = None) -> Console:
    """Make a console for a file, stderr by default.

    Colours and links are used on terminals only, and not if `NO_COLOR` is set.
    """
    stream = sys.stderr if file is None else file
    terminal = is_terminal(stream)
    return Console(
        file=stream,
        width=width,
        force_terminal=terminal,
        color_system="auto" if terminal and not os.environ.get("NO_COLOR") else None,
        **_INERT,
    )


def to_text(renderable: RenderableType, width: int = 80, *, color: bool = False) -> str:
    """Draw into a string, without a final newline.

    Args:
        renderable: What to draw.
        width: Columns.
        color: Whether to draw as for a terminal with 256 colours and links.
    """
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=color,
        color_system="256" if color else None,
        no_color=False,
        legacy_windows=False,
        **_INERT,
    )
    with console.capture() as capture:
        console.print(renderable)
    return capture.get().removesuffix("\n")
