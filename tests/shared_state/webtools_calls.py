"""Make calls in this process or in others, and describe their outcomes in plain values."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from webtools import WebTools
from webtools.errors import WebToolsError

Runtime = Literal["blocking", "async"]
_WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Call:
    """A call of a method of `WebTools`, by the name of the blocking one."""

    method: str
    subject: Any
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a call returned, or the error that it raised."""

    error: str = ""
    message: str = ""
    status: int | None = None
    retry_after: float | None = None
    provider: str | None = None
    cache_hit: bool = False
    cost_usd: float | None = None
    attempts: list[list[Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.titles)

    @property
    def succeeded(self) -> bool:
        return not self.error


def search(query: Any, **options: Any) -> Call:
    return Call("search", query, options)


def attempts_of(response: Any) -> list[list[Any]]:
    """Return the providers that a call tried or skipped, and whether each served."""
    return [[attempt.provider, attempt.served] for attempt in response.attempts]


def run(web: WebTools, call: Call, runtime: Runtime = "blocking") -> Outcome:
    return run_all(web, [call], runtime)[0]


def run_all(web: WebTools, calls: Sequence[Call], runtime: Runtime) -> list[Outcome]:
    """Make calls concurrently, in threads or in tasks."""
    if runtime == "async":
        return asyncio.run(_in_tasks(web, calls))
    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(lambda call: _blocking(web, call), calls))


async def _in_tasks(web: WebTools, calls: Sequence[Call]) -> list[Outcome]:
    return await asyncio.gather(*(_async(web, call) for call in calls))


def _blocking(web: WebTools, call: Call) -> Outcome:
    try:
        return _returned(getattr(web, call.method)(call.subject, **call.options))
    except WebToolsError as error:
        return _raised(error)


async def _async(web: WebTools, call: Call) -> Outcome:
    try:
        return _returned(await getattr(web, f"a{call.method}")(call.subject, **call.options))
    except WebToolsError as error:
        return _raised(error)


def _returned(response: Any) -> Outcome:
    items = getattr(response, "results", None) or getattr(response, "pages", [])
    return Outcome(
        provider=response.provider,
        cache_hit=response.cache_hit,
        cost_usd=response.cost_usd,
        attempts=attempts_of(response),
        warnings=list(response.warnings),
        titles=[item.title for item in items],
    )


def _raised(error: WebToolsError) -> Outcome:
    return Outcome(
        error=type(error).__name__,
        message=str(error),
        status=error.status,
        retry_after=error.retry_after,
    )


class Worker:
    """Another process with a `WebTools` of its own, on a clock that the test sets.

    With `frozen` its clocks move only by `forward` and while the process sleeps.
    """

    def __init__(self, config: dict[str, Any], frozen: bool) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._is_ready = False
        self._write({"config": config, "frozen": frozen})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)

    def start(self, *calls: Call, runtime: Runtime = "blocking", forward: float = 0.0) -> None:
        """Set the clock forward and begin to make the calls, all at once."""
        self.wait_until_ready()
        step = {"calls": [asdict(call) for call in calls], "runtime": runtime, "forward": forward}
        self._write(step)

    def outcomes(self) -> list[Outcome]:
        """Wait for the calls that were started."""
        return [Outcome(**outcome) for outcome in json.loads(self._read())]

    def run(self, call: Call, *, forward: float = 0.0) -> Outcome:
        self.start(call, forward=forward)
        return self.outcomes()[0]

    def wait_until_ready(self) -> None:
        """Wait until the process has started, so that several begin their calls together."""
        if not self._is_ready:
            assert json.loads(self._read()) == "ready"
            self._is_ready = True

    def _write(self, value: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value) + "\n")
        self._process.stdin.flush()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the worker process has ended"
        return line
