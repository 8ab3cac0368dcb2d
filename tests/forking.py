"""Runs a function in a forked process, which cannot outlive its test."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def in_child(function: Callable[[], Any], seconds: int = 60) -> int:
    """Return 0 if the function returned something true in a forked process."""
    child = os.fork()
    if not child:
        # By the default action, because Python's handlers do not run while a lock is awaited in C.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        try:
            os._exit(0 if function() else 1)
        except BaseException:  # noqa: BLE001  # the child must not run the other tests
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
