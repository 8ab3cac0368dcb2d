"""Whom to pass over for now, and the one call that finds out whether that is still needed."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from webtools.errors import InputError, UnavailableError
from webtools.flows.drivers import Flow, Offload
from webtools.pipeline.context import CallContext
from webtools.providers import Account
from webtools.storage.circuit_breaker import OpenCircuit

_NOTHING_LEARNED = InputError("nothing was sent")  # an error that says nothing of a provider


class CircuitOpenError(UnavailableError):
    """A provider is not called, as its circuit is open."""

    def __init__(self, circuit: OpenCircuit) -> None:
        super().__init__(words(circuit), provider=circuit.provider)
        self.circuit = circuit


def take_leave(account: Account, context: CallContext) -> Flow[None]:
    """Take the leave to call a provider once.

    Raises:
        CircuitOpenError: It is to be passed over for now, which is written down.
    """
    health = context.services.health
    if health.is_sound(account):
        return
    circuit: OpenCircuit | None = yield Offload(partial(health.open_circuit, account))
    if circuit is not None:
        log_skipped(circuit, context)
        raise CircuitOpenError(circuit)


def not_needed(account: Account, context: CallContext) -> Flow[None]:
    """Return the leave for a provider in trouble, if the answer was cached and no call made."""
    yield Offload(partial(context.services.health.failed, account, _NOTHING_LEARNED))


def log_skipped(circuit: OpenCircuit, context: CallContext) -> None:
    """Write down that a provider is passed over."""
    context.log(
        "provider_skipped",
        provider=circuit.provider,
        kind=circuit.kind,
        reason=circuit.reason,
        until=circuit.until,
    )


def words(circuit: OpenCircuit) -> str:
    """Explain why a provider is passed over."""
    return f"it is skipped until {clock(circuit)}, as {circuit.reason}."


def clock(circuit: OpenCircuit) -> str:
    """Return the time at which a provider may be called again."""
    until = datetime.fromtimestamp(circuit.until, UTC)
    return f"{until:%Y-%m-%d %H:%M:%S} UTC"
