"""What all processes count together on a Redis server: spending, states of providers, rate limits.

Each change is one Lua script, or one transaction, on the server's own clock. The days' sums and
the epoch, by which a server that lost them is recognised, never expire: with a `volatile-…` policy
a full server evicts cached answers alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import NonNegativeInt, TypeAdapter, ValidationError

from webtools.storage.budget import Sum
from webtools.storage.circuit_breaker import FORGOTTEN_AFTER, Change, State
from webtools.storage.errors import StoreError
from webtools.storage.redis_server import (
    LEDGER_PATIENCE,
    LEDGER_PREFIX,
    PATIENCE,
    PREFIX,
    Client,
    Server,
    ServerError,
)

T = TypeVar("T")

_PRIVATE = 0o600
_DAY_ZERO = datetime(1970, 1, 1, tzinfo=UTC).date()
_LEDGER = ("epoch", "spend")
# The fields of a state: others can write there too.
_STATE = TypeAdapter(tuple[NonNegativeInt, NonNegativeInt, float, str, str, float])

# KEYS: epoch, sums. ARGV: a new epoch, the epoch known, the day it was last seen, the most calls
# seen on that day, …. Lost counts: this is another server's, or an emptied one's, first day; or
# fewer calls are counted today than were seen.
_LOOK = """
local day = math.floor(redis.call('TIME')[1] / 86400)
local epoch = redis.call('GET', KEYS[1])
if not epoch then
    epoch = day .. ':' .. ARGV[1]
    redis.call('SET', KEYS[1], epoch)
end
local usd = tonumber(redis.call('HGET', KEYS[2], day .. ':usd') or '0')
local calls = tonumber(redis.call('HGET', KEYS[2], day .. ':calls') or '0')
local made, seen_day = tonumber(string.match(epoch, '^%d+')), tonumber(ARGV[3])
local is_lost = 0
if ARGV[2] ~= '' and ARGV[2] ~= epoch then
    if made == day or seen_day == day then is_lost = 1 end
elseif seen_day == day and calls < tonumber(ARGV[4]) then is_lost = 1 end
"""
_TAKE = f"""{_LOOK}
if is_lost == 1 then return {{-1, day, epoch, usd, calls}} end
local cost = tonumber(ARGV[5])
if usd + cost > tonumber(ARGV[6]) or calls + 1 > tonumber(ARGV[7]) then
    return {{0, day, epoch, usd, calls}}
end
redis.call('HINCRBY', KEYS[2], day .. ':usd', ARGV[5])
if redis.call('HINCRBY', KEYS[2], day .. ':calls', 1) == 1 then
    for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
        if tonumber(string.match(field, '^%d+')) < day - 2 then
            redis.call('HDEL', KEYS[2], field)
        end
    end
end
return {{1, day, epoch, usd, calls + 1}}
"""
_CHANGE = f"""{_LOOK}
local of = tonumber(ARGV[5])
if of < 0 then of = day end
local change = tonumber(ARGV[6])
if change < 0 and (is_lost == 1 or ARGV[2] ~= epoch) then return 0 end
local field = of .. ':usd'
local sum = redis.call('HINCRBY', KEYS[2], field, ARGV[6])
if sum < 0 then redis.call('HSET', KEYS[2], field, '0') end
return 1
"""
_SUM = f"""{_LOOK}
return {{is_lost == 1 and -1 or 1, day, epoch, usd, calls}}
"""
_RESERVE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local start = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
local wait = start - now
if wait > tonumber(ARGV[2]) then return -1 end
local free = start + tonumber(ARGV[1])
redis.call('SET', KEYS[1], string.format('%.0f', free), 'PX', math.ceil((free - now) / 1000) + 1)
return wait
"""


class LostCountsError(StoreError):
    """The server has lost what was counted today."""


class _Answer(NamedTuple):
    """What a script says of the sums."""

    verdict: int
    day: int
    date: str
    epoch: str
    spent: Sum


class _Seen(NamedTuple):
    """What this process knows of the sums: the epoch, the day, and the calls of that day."""

    epoch: str
    day: int
    calls: int


_NOTHING_SEEN = _Seen("", -1, 0)


class RedisLedger:
    """The sums of each day; see `Ledger`.

    The epoch stands in a file as well, so that a process that starts later knows it too.

    Args:
        server: Where the sums are.
        record: The file.
    """

    def __init__(self, server: Server, record: Path) -> None:
        self._server = server
        self._record = record
        scripts = (server.script(text, LEDGER_PREFIX) for text in (_TAKE, _CHANGE, _SUM))
        self._take, self._change, self._sum = scripts
        self._recorded = ""  # what stood in the file when it was last read or written
        self._seen: _Seen | None = None  # None before the file was looked for

    @property
    def place(self) -> object:
        """The server."""
        return self._server

    def take(self, cost: int, most: Sum) -> tuple[str, Sum | None]:
        """Add a call to today's sums, as `Ledger` says.

        Raises:
            LostCountsError: What was counted today is lost: it might be spent twice.
        """
        answer = self._run_again(self._take, cost, most.micro_usd, most.calls)
        return answer.date, None if answer.verdict > 0 else answer.spent

    def change(self, day: str, change: int) -> None:
        """Add to the sum of a day, as `Ledger` says; nothing is given back that may be lost."""
        number = (datetime.fromisoformat(day).date() - _DAY_ZERO).days if day else -1
        self._run(self._change, int, number, change)

    def today(self) -> Sum:
        """Return what is spent today, as `Ledger` says.

        Raises:
            LostCountsError: That is lost.
        """
        return self._run_again(self._sum).spent

    def _run_again(self, script: Any, *arguments: int) -> _Answer:
        """Run a script, again where a person has put right what was lost."""
        answer = self._run(script, _answer, *arguments)
        if answer.verdict < 0 and self._is_put_right():
            answer = self._run(script, _answer, *arguments)
        if answer.verdict < 0:
            raise self._lost()
        self._see(_Seen(answer.epoch, answer.day, answer.spent.calls))
        return answer

    def _run(self, script: Any, read: Callable[[Any], T], *arguments: int) -> T:
        new = secrets.token_hex(8)  # never the same again, or a loss would not show
        given = (new, *self._known(), *arguments)

        def ask(client: Client) -> T:
            return read(script(client, _LEDGER, *given))

        return self._server.use(ask, patience=LEDGER_PATIENCE)

    def _see(self, seen: _Seen) -> None:
        before, self._seen = self._known(), seen
        if before[:2] != seen[:2]:
            self._write(seen)
        else:  # another thread's answer may have overtaken this one
            self._seen = max(before, seen)

    def _lost(self) -> LostCountsError:
        error = LostCountsError(
            f"{self._server.place} has lost what was counted today, as after a failover to an "
            "empty server"
        )
        begin = f"delete {self._record}" if self._recorded else "start the program again"
        error.remedies = "wait until 00:00 UTC", f"{begin} to go on with what is counted"
        return error

    # --- the file ------------------------------------------------------------------------------

    def _known(self) -> _Seen:
        if self._seen is None:
            self._recorded = self._read()
            self._seen = _parse(self._recorded)
        return self._seen

    def _is_put_right(self) -> bool:
        """Forget what was seen where a person has deleted the file, here or for another process."""
        text = self._read()
        if not self._recorded or _nonce(text) == _nonce(self._recorded):
            return False
        self._recorded, self._seen = text, _parse(text)
        return True

    def _read(self) -> str:
        with suppress(OSError, ValueError):
            return self._record.read_text("ascii")
        return ""

    def _write(self, seen: _Seen) -> None:
        """Write the epoch and the day; where that fails, only this process knows them."""
        with suppress(OSError):
            self._record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._recorded:
                self._begin(seen)
            text = f"{seen.epoch} {seen.day} {_nonce(self._recorded)}\n"
            if text != self._recorded:
                beside = self._record.with_name(f"{self._record.name}.{os.getpid()}")
                beside.touch(_PRIVATE)
                beside.write_text(text, "ascii")
                beside.replace(self._record)
                self._recorded = text

    def _begin(self, seen: _Seen) -> None:
        """Make the file, unless another process was first."""
        try:
            file = os.open(self._record, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
        except FileExistsError:
            self._recorded = self._read()
        else:
            self._recorded = f"{seen.epoch} {seen.day} {secrets.token_hex(8)}\n"
            try:
                os.write(file, self._recorded.encode())
            finally:
                os.close(file)


def _answer(raw: Any) -> _Answer:
    verdict, day, epoch, usd, calls = raw
    date = (_DAY_ZERO + timedelta(days=int(day))).isoformat()
    sums = Sum(int(usd), int(calls))
    return _Answer(int(verdict), int(day), date, epoch.decode("ascii"), sums)


def _parse(record: str) -> _Seen:
    words = record.split()
    with suppress(ValueError, IndexError):
        return _Seen(words[0], int(words[1]), 0)
    return _NOTHING_SEEN


def _nonce(record: str) -> str:
    return (record.split() or [""])[-1]


class RedisStates:
    """What is known of the providers in trouble; see `States`.

    Args:
        server: Where it is.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def read(self, key: str) -> State | None:
        """Return the state of a provider, as `States` says."""
        return self._server.use(lambda client: _state(client.get(_row(key))))

    def change(self, key: str, change: Change) -> State | None:
        """Replace a state, as `States` says; begun anew where another process was quicker."""
        name, deadline = _row(key), time.monotonic() + PATIENCE

        def attempt(pipe: Client) -> State | None:
            if time.monotonic() > deadline:
                raise ServerError(f"{self._server.place} cannot be used: too many change a state")
            stored = _state(pipe.get(name))
            after = change(stored)
            if after != stored:
                pipe.multi()
                if after is None:
                    pipe.delete(name)
                else:
                    pipe.set(name, json.dumps(astuple(after)), ex=round(2 * FORGOTTEN_AFTER))
            return after

        def changed(client: Client) -> State | None:
            after: State | None = client.transaction(attempt, name, value_from_callable=True)
            return after

        return self._server.use(changed)


def _row(key: str) -> str:
    return f"{PREFIX}health:{_hash(key)}"


def _state(raw: bytes | None) -> State | None:
    with suppress(ValidationError):  # it is none of ours
        return None if raw is None else State(*_STATE.validate_json(raw))
    return None


class RedisLimits:
    """Spaces what all processes ask.

    Args:
        server: Where they are given.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._reserve = server.script(_RESERVE)

    def reserve(self, name: str, interval: float, most: float) -> float | None:
        """Take the next free moment.

        Args:
            name: What is asked, such as `host:example.com`.
            interval: Seconds from one moment to the next.
            most: The most seconds to wait.

        Returns:
            The seconds to wait for it; None where they would be more: then nothing is taken.

        Raises:
            StoreError: The server cannot be used.
        """
        keys = (f"rate:{_hash(name)}",)
        arguments = round(interval * 1e6), round(most * 1e6)
        wait = self._server.use(lambda client: int(self._reserve(client, keys, *arguments)))
        return wait / 1e6 if 0 <= wait <= arguments[1] else None


def _hash(name: str) -> str:
    """Return what stands for a name in a key: it may hold an address."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]
