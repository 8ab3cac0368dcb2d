"""Errors that keep a store from being used."""

from __future__ import annotations


class StoreError(Exception):
    """The store cannot be used; the message says which and why.

    Attributes:
        remedies: What the user can do; each works on its own.
        off: What to do when the cache is off; empty if it comes back by itself.
        is_outage: Whether the store is expected to work again without a change.
    """

    remedies: tuple[str, ...] = ("fix the file or its permissions", "set cache.path to another one")
    off = ""
    is_outage = False


class ForeignFileError(StoreError):
    """The file belongs to someone else, and is unchanged."""

    off = "Set cache.path to another file, or move this one away"


class DamagedLedgerError(StoreError):
    """The file of the spend ledger is damaged, and is unchanged."""

    remedies = ("restore it from a backup", "move it away to begin a new count")
