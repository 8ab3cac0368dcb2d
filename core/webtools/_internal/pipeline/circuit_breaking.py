"""Refuses calls to a provider whose circuit breaker is open."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.circuit_breaker import REJECTED_KEY, OpenCircuit
from webtools.errors import UnavailableError
from webtools.providers import Account, Capability


class CircuitOpenError(UnavailableError):
    """A provider is not called, because its circuit breaker is open."""

    def __init__(self, circuit: OpenCircuit) -> None:
        super().__init__(explain_circuit(circuit), provider=circuit.provider)
        self.circuit = circuit


async def check_circuit(account: Account, capability: Capability, call: Call) -> None:
    """Check that a provider may be called. A half-open circuit lets a single call through.

    Raises:
        CircuitOpenError: Its circuit breaker is open. This is logged.
    """
    health = call.services.health
    if health.is_sound(account, capability):
        return
    circuit = await call.io.call_blocking(
        partial(health.open_circuit, account, capability),
        undo=lambda _: health.release_trial(account, capability),
    )
    if circuit is not None:
        call.log(
            "provider_skipped",
            provider=circuit.provider,
            kind=circuit.kind,
            reason=circuit.reason,
            until=circuit.until,
        )
        raise CircuitOpenError(circuit)


def explain_circuit(circuit: OpenCircuit) -> str:
    """Explain why a provider is skipped."""
    advice = " Check the key." if circuit.reason.startswith(REJECTED_KEY) else ""
    until = retry_time(circuit)
    return f'"{circuit.provider}" is skipped until {until}, because {circuit.reason}.{advice}'


def retry_time(circuit: OpenCircuit) -> str:
    """Return the time from which a provider is called again."""
    until = datetime.fromtimestamp(circuit.until, UTC)
    return f"{until:%Y-%m-%d %H:%M:%S} UTC"
