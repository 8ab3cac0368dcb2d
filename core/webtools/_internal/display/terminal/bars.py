"""Progress bars of a long call, one for each stage."""

from __future__ import annotations

import sys
from threading import Lock
from typing import IO

from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as RichProgress
from rich.table import Column

from webtools._internal.display.terminal.console import GOOD, MUTED, console_for
from webtools._internal.text.visible import is_terminal
from webtools.progress import Stage

_WIDTH = 20
_MARGIN = 3


class Bars:
    """Progress bars that are removed on `close`."""

    def __init__(self, file: IO[str]) -> None:
        """Draw on a terminal; a few columns stay free for the `^C` of Ctrl-C."""
        console = console_for(file)
        console.width = max(console.width - _MARGIN, _WIDTH)
        self._bars = RichProgress(
            BarColumn(_WIDTH, complete_style=GOOD, finished_style=GOOD),
            TextColumn("{task.description}", markup=False),
            TextColumn(
                "{task.fields[subject]}",
                style=MUTED,
                markup=False,
                table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
            ),
            console=console,
            transient=True,
            expand=True,
            # Not if it is piped: the output of the program must stay unchanged.
            redirect_stdout=is_terminal(sys.stdout),
            redirect_stderr=is_terminal(sys.stderr),
        )
        self._lock = Lock()
        self._tasks: dict[str, TaskID] = {}
        self._bars.start()

    def show(self, stage: Stage) -> None:
        """Update the bar of a stage, or add it."""
        with self._lock:
            task = self._tasks.get(stage.name)
            if task is None:
                task = self._tasks[stage.name] = self._bars.add_task("", subject="")
        self._bars.update(
            task,
            total=stage.total,
            completed=stage.done,
            description=stage.words,
            subject=stage.subject,
        )

    def close(self) -> None:
        """Remove the bars."""
        self._bars.stop()
