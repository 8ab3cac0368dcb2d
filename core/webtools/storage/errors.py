"""What keeps a store from being used."""

from __future__ import annotations


class StoreError(Exception):
    """The store cannot be used; the message says which and why.

    Attributes:
        remedies: What to do, each on its own.
        off: What to do, where the cache is off; empty where it will be on again by itself.
        is_outage: Whether the store is expected to be usable again without a change.
    """

    remedies: tuple[str, ...] = ("make the file usable", "set cache.path to another one")
    off = ""
    is_outage = False


class LockedError(StoreError):
    """Another process keeps the file locked."""


class ForeignFileError(StoreError):
    """The file is not ours, and was left as it is."""

    off = "set cache.path to another file, or move that one away"
