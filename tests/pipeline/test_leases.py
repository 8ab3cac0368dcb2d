"""Leases that are given back, however a call ends."""

from __future__ import annotations

import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from webtools.errors import RequestError
from webtools.flows.drivers import Flow, Offload
from webtools.pipeline.leases import leased


class Given:
    """Leases that are had at once."""

    def __init__(self) -> None:
        self.ended: list[tuple[str, int]] = []

    def take(self, _: str) -> int:
        return 7

    def end(self, key: str, token: int, *, is_void: bool) -> None:
        del is_void
        self.ended.append((key, token))


def nothing_cached() -> Flow[None]:
    yield from ()


def made(_: Any) -> Flow[tuple[str, bool]]:
    yield from ()
    return "value", True


def failed(_: Any) -> Flow[tuple[str, bool]]:
    yield from ()
    raise RequestError("no answer")


def broken(_: Any) -> Flow[tuple[str, bool]]:
    yield from ()
    raise ZeroDivisionError


def begun(leases: Given, make: Any) -> Flow[Any]:
    """Return the flow of a call that has just taken its lease."""
    context: Any = SimpleNamespace(
        services=SimpleNamespace(leases=leases),
        options=SimpleNamespace(cache="use"),
        try_cache=lambda use: use(),
    )
    flow = leased(context, "key", nothing_cached, make, time.monotonic() + 60)
    step = next(flow)
    assert isinstance(step, Offload)
    assert step.function() is False
    return flow


def wait_until_ended(leases: Given) -> None:
    end = time.monotonic() + 10
    while not leases.ended:
        assert time.monotonic() < end
        time.sleep(0.005)
    assert leases.ended == [("key", 7)]


@pytest.mark.parametrize("make", [made, failed])
def test_a_call_that_is_cancelled_before_its_last_step_is_carried_out_gives_its_lease_back(
    make: Any,
) -> None:
    leases = Given()
    flow = begun(leases, make)
    assert isinstance(flow.send(False), Offload)  # to give it back, which nobody does
    flow.close()
    wait_until_ended(leases)


def test_an_error_that_is_none_of_ours_gives_the_lease_back() -> None:
    leases = Given()
    flow = begun(leases, broken)
    with pytest.raises(ZeroDivisionError):
        flow.send(False)
    wait_until_ended(leases)


INTERRUPTED = """
import time
from webtools.pipeline import leases

class Slow:
    def abandon(self):
        time.sleep(0.1)
        print("given back", flush=True)

leases._abandon(Slow())
"""


def test_an_interrupted_process_gives_its_leases_back_before_it_ends() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "given back\n"
