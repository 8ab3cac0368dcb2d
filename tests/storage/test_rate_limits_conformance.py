"""What all rate limits of several processes do; only servers have them, a file does not."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from redis_servers import SERVER_KINDS
from stores_made import Make

from webtools._internal.storage.stores import RateLimits


@pytest.fixture
def limits(make: Make) -> RateLimits:
    limits = make().rate_limits
    assert limits is not None
    return limits


only_servers: Any = pytest.mark.parametrize("make", SERVER_KINDS, indirect=True)


@pytest.mark.parametrize("make", ["sqlite"], indirect=True)
def test_a_file_has_none(make: Make) -> None:
    assert make().rate_limits is None


@only_servers
def test_slots_are_spaced_for_all(limits: RateLimits) -> None:
    with ThreadPoolExecutor(4) as pool:
        start = time.monotonic()
        waits = sorted(pool.map(lambda _: limits.reserve("exa", 0.5, 60), range(8)), key=float)
    lost = time.monotonic() - start
    assert [wait for wait in waits if wait is not None] == pytest.approx(
        [number * 0.5 for number in range(8)], abs=lost + 0.01
    )
    assert limits.reserve("kagi", 0.5, 60) == 0


@only_servers
def test_a_slot_that_is_too_late_is_not_reserved(limits: RateLimits) -> None:
    limits.reserve("exa", 10, 60)
    assert limits.reserve("exa", 10, 1) is None
    assert limits.reserve("exa", 10, 60) == pytest.approx(10, abs=0.5)
    assert limits.reserve("exa", 10, 60) == pytest.approx(20, abs=0.5)


@only_servers
def test_a_limit_that_is_over_no_longer_delays(limits: RateLimits) -> None:
    limits.reserve("exa", 0.05, 60)
    time.sleep(0.1)
    assert limits.reserve("exa", 10, 0) == 0
