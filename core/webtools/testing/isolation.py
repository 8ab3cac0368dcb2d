"""Isolates tests from each other."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from webtools._internal.pipeline.tool_call import forget_calls
from webtools.config.paths import files_in


@contextmanager
def isolated(folder: Path) -> Generator[None]:
    """Forget earlier calls of this process, and use an empty folder for cache, budget and log.

    Settings with a `cache.path` or `log.path` of their own keep it.

    Args:
        folder: Holds these files only. Its files are deleted first.
    """
    forget_calls()
    for file in folder.iterdir():
        with suppress(OSError):  # Windows does not delete an open file
            file.unlink()
    with files_in(folder):
        yield
    forget_calls()
