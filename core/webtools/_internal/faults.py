"""What an error says about what to do next. The classes of errors do not say it."""

from __future__ import annotations

from enum import Flag, auto
from typing import TypeVar

E = TypeVar("E", bound=Exception)


class Fault(Flag):
    """Facts about an error for our own code. They are not in its details.

    Attributes:
        NONE: No further fact.
        GONE: The site says that the page does not exist.
        REFUSED: webtools refuses to read the address.
        FORBIDDEN: The operator's settings forbid pages of the host.
        DISALLOWED: The site disallows the page: in robots.txt, or for models.
        ADVISED: The message says to check the URL, or to try again later.
        BROKEN_PLUGIN: An installed package announces a provider that cannot be loaded.
        NOT_SENT: There was no connection, so the request did not reach the provider.
    """

    NONE = 0
    GONE = auto()
    REFUSED = auto()
    FORBIDDEN = auto()
    DISALLOWED = auto()
    ADVISED = auto()
    BROKEN_PLUGIN = auto()
    NOT_SENT = auto()


def with_fault(error: E, fault: Fault) -> E:
    """Return an error of this package with these facts."""
    vars(error)["fault"] = fault
    return error
