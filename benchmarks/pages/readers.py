"""The readers that are compared, each in a process of its own."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PEERS = ("trafilatura", "MarkItDown", "html-to-markdown")


@dataclass(frozen=True)
class Reading:
    """What a reader made of a page, and the CPU seconds of the quicker of two readings."""

    title: str
    text: str
    seconds: float


class Reader:
    """A reader in a running process."""

    def __init__(self, name: str, process: "subprocess.Popen[str]") -> None:
        self.name = name
        self._process = process

    def read(self, body: bytes, url: str) -> Reading:
        """Read a page; without text if the reader fails."""
        request = {"body": base64.b64encode(body).decode(), "url": url}
        return Reading(**json.loads(self._exchange(json.dumps(request))))

    def _exchange(self, line: str) -> str:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(line + "\n")
        stdin.flush()
        answer = stdout.readline()
        if not answer:
            raise RuntimeError(f"the process of {self.name} ended")
        return answer


@contextmanager
def running(base: Path | None) -> Iterator[tuple[list[Reader], dict[str, str]]]:
    """Start all readers; give those that run, and the reason of each that does not."""
    readers: list[Reader] = []
    absent: dict[str, str] = {} if base else {"base": "no --base DIR"}
    processes = []
    try:
        for name in ("today", *(["base"] if base else []), *PEERS):
            process = _start(name, base if name == "base" else None)
            processes.append(process)
            assert process.stdout is not None
            facts = json.loads(process.stdout.readline() or '{"absent": "its process ended"}')
            if base and name == "base" and not _is_from(base, facts.get("origin")):
                facts.setdefault("absent", f"{base} has no webtools")
            if reason := facts.get("absent"):
                absent[name] = reason
            else:
                readers.append(Reader(name, process))
        yield readers, absent
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def _start(name: str, base: Path | None) -> "subprocess.Popen[str]":
    """Run the worker; an older checkout with the interpreter of its `.venv`, if it has one."""
    python, core = sys.executable, ROOT / "core"
    if base:
        own = base / ".venv/bin/python"
        python, core = str(own) if own.exists() else sys.executable, base.resolve() / "core"
    paths = os.pathsep.join(filter(None, [str(core), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [python, "-P", str(Path(__file__).with_name("worker.py")), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"},
    )


def _is_from(base: Path, origin: str | None) -> bool:
    return origin is not None and Path(origin).resolve().is_relative_to(base.resolve())
