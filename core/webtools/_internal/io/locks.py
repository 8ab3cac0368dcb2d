"""Locks for state that several calls share, such as the settings."""

from threading import Lock, RLock

__all__ = ["Lock", "RLock"]
