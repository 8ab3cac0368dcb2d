"""Rate limits that all processes with the same store share."""

from __future__ import annotations

from typing import Protocol


class RateLimits(Protocol):
    """Rate limits of all processes that use a store. `WebTools.rate_limits` returns them."""

    def reserve(self, name: str, interval: float, max_wait: float) -> float | None:
        """Reserve the next free slot. This blocks: call it in a thread from async code.

        Args:
            name: What is limited, such as `host:example.com`.
            interval: Seconds from one slot to the next.
            max_wait: The most seconds to wait.

        Returns:
            The seconds to wait; None if they are more than `max_wait`: then nothing is reserved.

        Raises:
            StoreError: The store cannot be used.
        """
        ...
