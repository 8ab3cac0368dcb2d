"""Whom to pass over for now, and the one call that finds out whether that is still needed."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from webtools.errors import InputError, UnavailableError
from webtools.flows.drivers import Flow, Offload
from webtools.pipeline.context import CallContext
from webtools.providers import Account
from webtools.storage.circuit_breaker import Parking

_NOTHING_LEARNED = InputError("nothing was sent")  # an error that says nothing of a provider


class CircuitOpenError(UnavailableError):
    """A provider is not called, as it is parked."""

    def __init__(self, parking: Parking) -> None:
        super().__init__(words(parking), provider=parking.provider)
        self.parking = parking


def take_leave(account: Account, context: CallContext) -> Flow[None]:
    """Take the leave to call a provider once.

    Raises:
        CircuitOpenError: It is to be passed over for now, which is written down.
    """
    health = context.facilities.health
    if health.is_sound(account):
        return
    parking: Parking | None = yield Offload(partial(health.parked, account))
    if parking is not None:
        log_skipped(parking, context)
        raise CircuitOpenError(parking)


def not_needed(account: Account, context: CallContext) -> Flow[None]:
    """Return the leave for an ailing provider, if no call came of it as the answer was cached."""
    yield Offload(partial(context.facilities.health.failed, account, _NOTHING_LEARNED))


def log_skipped(parking: Parking, context: CallContext) -> None:
    """Write down that a provider is passed over."""
    context.log(
        "provider_skipped",
        provider=parking.provider,
        kind=parking.kind,
        reason=parking.reason,
        until=parking.until,
    )


def words(parking: Parking) -> str:
    """Explain why a provider is passed over."""
    return f"it is parked until {clock(parking)}, as {parking.reason}."


def clock(parking: Parking) -> str:
    """Return the time at which a provider may be called again."""
    until = datetime.fromtimestamp(parking.until, UTC)
    return f"{until:%Y-%m-%d %H:%M:%S} UTC"
