"""One process that reads pages: how it is started, asked, and ended."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from pydantic import BaseModel

from webtools._internal.pages import frames
from webtools._internal.pages.content import Content, Source
from webtools.errors import ConfigError, Fault, ProviderError

START_SECONDS = 30.0
_LAST_WORDS = 0.5  # seconds that a process whose pipes are closed may take to end by itself
_END_SECONDS = 5.0  # for the system to bury a process that was killed
_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|PROXY", re.IGNORECASE)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?w?(?:\.exe)?", re.IGNORECASE)
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline());"
    "from webtools._internal.pages.worker import main; main()"
)


class Answer(BaseModel):
    """What a process says of a page; it says the first before it is given any."""

    content: Content | None = None
    error: str = ""
    is_setup: bool = False
    fault: int = 0
    is_last: bool

    def read(self) -> Content:
        """Return what the page says, or raise what is wrong with it."""
        if self.content is None:
            kind = ConfigError if self.is_setup else ProviderError
            raise kind(self.error, fault=Fault(self.fault))
        return self.content


class Alarm:
    """Ends the process that is at work on a page, when time is over or nobody wants it any more.

    Attributes:
        has_rung: Whether that was the case.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.has_rung = False

    def ring(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self.has_rung = True
            if self._process is not None:
                self._process.kill()

    def set_on(self, process: subprocess.Popen[bytes] | None) -> bool:
        """Choose the process to end, or none; False when it is too late for that."""
        with self._lock:
            self._process = process
            return not self.has_rung


class Worker:
    """One process.

    Attributes:
        process: The process.
        since: When it began with the page at hand, on the monotonic clock.
        is_sound: Whether it can be given another page.
    """

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(  # noqa: S603  # this Python, and a program of ours
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={
                name: value for name, value in os.environ.items() if not _SECRET_NAME.search(name)
            },
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            process_group=None if sys.platform == "win32" else 0,  # Ctrl-C is not for it
        )
        self._pages = cast("IO[bytes]", self.process.stdin)
        self._answers = cast("IO[bytes]", self.process.stdout)
        self.since = time.monotonic()
        self.is_sound = False

    def start(self) -> None:
        """Wait until it is ready for pages.

        Raises:
            OSError: It is no Python that can read pages.
        """
        paths = [path for path in sys.path if isinstance(path, str)]  # pyright: ignore[reportUnnecessaryIsInstance]
        timer = timer_of(START_SECONDS, self.process.kill)
        try:
            self._pages.write(json.dumps(paths).encode() + b"\n")
            self.is_sound = self._answer() is not None
        finally:
            timer.cancel()
        if not self.is_sound:
            raise OSError("the process did not start")

    def ask(self, source: Source, alarm: Alarm) -> Answer | None:
        """Have a page read; None when the process ended over it."""
        self.is_sound, self.since = False, time.monotonic()
        answer = None
        if alarm.set_on(self.process):
            with suppress(OSError, ValueError):
                frames.write_page(self._pages, source)
                answer = self._answer()
        if answer is not None:
            self.is_sound = alarm.set_on(None) and not answer.is_last
        return answer

    def _answer(self) -> Answer | None:
        frame = frames.read(self._answers)
        return None if frame is None else Answer.model_validate_json(frame)

    def crash(self) -> ProviderError:
        """Build the error for a page that ended the process."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_LAST_WORDS)
        self.close()
        code = self.process.returncode or 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return ProviderError(
            f"the page ended the process that was reading it ({how}); it may be damaged, or need "
            "too much memory; use another source"
        )

    def close(self) -> None:
        """End the process, and see it buried."""
        self.process.kill()
        self.forsake()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_END_SECONDS)

    def forsake(self) -> None:
        """Close our ends of the pipes; without another one the process ends."""
        for pipe in (self._pages, self._answers):
            with suppress(OSError):
                pipe.close()


def timer_of(seconds: float, work: Callable[[], object]) -> threading.Timer:
    """Start a timer that keeps nobody from ending."""
    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()
    return timer


# --- starting ----------------------------------------------------------------------------------


def start_worker() -> Worker | None:
    """Start a process with the first Python that can; None when none can."""
    for program in _programs():
        try:
            worker = Worker([program, *_flags(), "-c", _PROGRAM])
        except (OSError, ValueError):
            continue
        try:
            worker.start()
        except (OSError, ValueError, RuntimeError):
            worker.close()
        else:
            return worker
    return None


def _programs() -> list[str]:
    """List what may be the program of this Python; where that is embedded, it is another's."""
    if getattr(sys, "frozen", False):
        return []
    home, version = Path(sys.exec_prefix), sys.version_info
    known = [sys.executable, getattr(sys, "_base_executable", None)]
    others = [home / "bin" / f"python{version.major}.{version.minor}", home / "python.exe"]
    names = [str(name) for name in (*known, *others) if name and _PYTHON.fullmatch(Path(name).name)]
    return [name for name in dict.fromkeys(names) if os.access(name, os.X_OK)]


def _flags() -> list[str]:
    """Repeat the flags that decide on what Python finds; `-P` keeps the working folder out."""
    if sys.flags.isolated:
        return ["-I"]
    named = {"-E": sys.flags.ignore_environment, "-s": sys.flags.no_user_site}
    return ["-P", *(flag for flag, is_set in named.items() if is_set)]
