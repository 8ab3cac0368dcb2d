"""What a session has used: tool calls and money, per process.

Each process counts for itself. A state has the counts of all processes by their ids. Counts only
grow, so that loading a state twice changes nothing.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Mapping
from weakref import WeakValueDictionary

from webtools._internal.storage.budget import Sum, count_spending, spent_by
from webtools.errors import SESSION_LIMIT, QuotaError


class Spending:
    """The calls and the money of a session, shared by the sessions of its id in this process.

    Its process sum in `storage.budget` includes what other processes have spent.
    """

    def __init__(self) -> None:
        self._process = _Process.id
        self._own_calls = 0
        self._own_micro_usd = 0
        self._others: dict[str, Sum] = {}

    def count_calls(self, limit: int | None, count: int = 1) -> None:
        """Count a tool call, or several searches of a vendor.

        Raises:
            QuotaError: They exceed the limit of the session.
        """
        with _Process.lock:
            self._follow_fork()
            made = self._own_calls + sum(each.calls for each in self._others.values())
            if limit is None or made + count <= limit:
                self._own_calls += count
                return
        raise QuotaError(
            f"This session has made {made} of {limit} calls (calls). Answer with what you have, or "
            "raise calls of the session.",
            code=SESSION_LIMIT,
        )

    def take_back_calls(self, count: int) -> None:
        """Take back calls that were counted but not made."""
        with _Process.lock:
            if self._process == _Process.id:  # else the parent takes them back
                self._own_calls -= count

    def count_usd(self, micro_usd: int, calls: int = 0) -> None:
        """Count money that no budget has counted, and calls beside it."""
        with _Process.lock:
            self._follow_fork()
            self._own_calls += calls
        count_spending(self, micro_usd)

    def merge(self, use: Mapping[str, Sum]) -> None:
        """Add the counts of a state."""
        with _Process.lock:
            self._follow_fork()
            for process, spent in use.items():
                if process == self._process:
                    self._own_calls = max(self._own_calls, spent.calls)
                    missing = spent.micro_usd - self._own_sum()
                else:
                    known = self._others.get(process, Sum(0, 0))
                    total = _higher(known, spent)
                    self._others[process] = total
                    missing = total.micro_usd - known.micro_usd
                if missing > 0:
                    count_spending(self, missing)

    def by_process(self) -> dict[str, Sum]:
        """Return the counts of each process."""
        with _Process.lock:
            self._follow_fork()
            self._own_micro_usd = self._own_sum()
            own = Sum(self._own_micro_usd, self._own_calls)
            return {**self._others, self._process: own}

    def total(self) -> Sum:
        """Return the counts of all processes."""
        sums = self.by_process().values()
        return Sum(sum(each.micro_usd for each in sums), sum(each.calls for each in sums))

    def _own_sum(self) -> int:
        others = sum(each.micro_usd for each in self._others.values())
        return max(0, spent_by(self).micro_usd - others)

    def _follow_fork(self) -> None:
        """In a forked process, count from zero beside what its parent had counted."""
        if self._process == _Process.id:
            return
        self._others[self._process] = Sum(self._own_micro_usd, self._own_calls)
        self._process, self._own_calls, self._own_micro_usd = _Process.id, 0, 0
        count_spending(self, sum(each.micro_usd for each in self._others.values()))


def _higher(first: Sum, second: Sum) -> Sum:
    return Sum(max(first.micro_usd, second.micro_usd), max(first.calls, second.calls))


class _Process:
    """This process: its id, and the lock of all counts."""

    id = secrets.token_hex(8)
    lock = threading.RLock()


def _after_fork_in_child() -> None:
    _Process.id, _Process.lock = secrets.token_hex(8), threading.RLock()


def _before_fork() -> None:
    for spending in list(_spendings.values()):
        spending.by_process()  # notes what this process has spent, which a child forgets


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)

_spendings: WeakValueDictionary[tuple[str, str], Spending] = WeakValueDictionary()


def spending_of(user: str, session_id: str) -> Spending:
    """Return the counts of a session in this process."""
    key = user, session_id
    with _Process.lock:
        return _spendings.get(key) or _spendings.setdefault(key, Spending())
