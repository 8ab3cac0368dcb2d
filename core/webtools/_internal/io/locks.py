"""Locks for state that calls share, for packages that may not import `threading`."""

from threading import Lock, RLock

__all__ = ["Lock", "RLock"]
