"""The spend ledger on a Redis server.

Each change is one Lua script on the server's own clock. The sums, and the epoch by which a server
that lost them is recognised, never expire: with a `volatile-…` policy, a full server evicts cache
entries alone. The number of calls only grows, or a server that lost some would not be recognised:
calls that were given back are counted beside it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from webtools._internal.storage.budget import Sum
from webtools._internal.storage.redis_store import LEDGER_PATIENCE, RedisStore
from webtools._internal.storage.store_errors import StoreError

T = TypeVar("T")

_PREFIX = "webtools:1:"  # the same in every version of the values: no sums are forgotten
_EPOCH, _SPEND, _SECRET = f"{_PREFIX}epoch", f"{_PREFIX}spend", f"{_PREFIX}secret"
_DAY_ZERO = datetime(1970, 1, 1, tzinfo=UTC).date()

# KEYS: epoch, sums. ARGV: a new epoch, the epoch last seen, the day on which it was seen, the calls
# seen on that day, …. The counts are lost if the server is another one, or was emptied, and has not
# counted all of today; or if it has counted fewer calls today than were seen.
_LOOK = """
local day = math.floor(redis.call('TIME')[1] / 86400)
local epoch = redis.call('GET', KEYS[1])
if not epoch then
    epoch = day .. ':' .. ARGV[1]
    redis.call('SET', KEYS[1], epoch)
end
local usd = tonumber(redis.call('HGET', KEYS[2], day .. ':usd') or '0')
local all_calls = tonumber(redis.call('HGET', KEYS[2], day .. ':calls') or '0')
local calls = all_calls - tonumber(redis.call('HGET', KEYS[2], day .. ':returned') or '0')
local made, seen_day = tonumber(string.match(epoch, '^%d+')), tonumber(ARGV[3])
local is_lost = 0
if ARGV[2] ~= '' and ARGV[2] ~= epoch then
    if made == day or seen_day == day then is_lost = 1 end
elseif seen_day == day and all_calls < tonumber(ARGV[4]) then is_lost = 1 end
"""
_RESERVE = f"""{_LOOK}
if is_lost == 1 then return {{-1, day, epoch, usd, calls, all_calls}} end
local cost = tonumber(ARGV[5])
if usd + cost > tonumber(ARGV[6]) or calls + 1 > tonumber(ARGV[7]) then
    return {{0, day, epoch, usd, calls, all_calls}}
end
redis.call('HINCRBY', KEYS[2], day .. ':usd', ARGV[5])
if redis.call('HINCRBY', KEYS[2], day .. ':calls', 1) == 1 then
    for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
        if tonumber(string.match(field, '^%d+')) < day - 2 then
            redis.call('HDEL', KEYS[2], field)
        end
    end
end
return {{1, day, epoch, usd, calls + 1, all_calls + 1}}
"""
_ADJUST = f"""{_LOOK}
local of = tonumber(ARGV[5])
if of < 0 then of = day end
local change, returned = tonumber(ARGV[6]), tonumber(ARGV[7])
if (change < 0 or returned > 0) and (is_lost == 1 or ARGV[2] ~= epoch) then return 0 end
local field = of .. ':usd'
local sum = redis.call('HINCRBY', KEYS[2], field, ARGV[6])
if sum < 0 then redis.call('HSET', KEYS[2], field, '0') end
if returned > 0 then redis.call('HINCRBY', KEYS[2], of .. ':returned', ARGV[7]) end
return 1
"""
_TODAY = f"""{_LOOK}
return {{is_lost == 1 and -1 or 1, day, epoch, usd, calls, all_calls}}
"""


class LostCountsError(StoreError):
    """The server has lost what was counted today: it might be spent twice."""


class _Reply(NamedTuple):
    verdict: int  # 1 for yes, 0 if the call does not fit, -1 if the counts are lost
    day: int  # today, in days since 1970
    date: str
    epoch: str
    sum: Sum
    all_calls: int  # of today, with those that were given back


class RedisLedger:
    """See `Ledger`.

    Args:
        store: The server.
        epoch_file: What this machine has seen of it.
        user: Hash of the user whose days are counted; empty for the days of all.
    """

    def __init__(self, store: RedisStore, epoch_file: Path, user: str = "") -> None:
        self.store = store
        self._file = EpochFile(epoch_file)
        self._user = user
        self._keys = _EPOCH, f"{_SPEND}:{user}" if user else _SPEND

    def of_user(self, user: str) -> RedisLedger:
        return RedisLedger(self.store, self._file.path, user)

    def forget(self) -> None:
        self.store.use(lambda client: client.unlink(self._keys[1]))

    def secret(self) -> bytes:
        def read(client: Any) -> bytes:
            client.set(_SECRET, secrets.token_hex(16), nx=True)
            return bytes(client.get(_SECRET))

        return self.store.use(read, patience=LEDGER_PATIENCE)

    def reserve(self, cost: int, limit: Sum) -> tuple[str, Sum | None]:
        reply = self._ask(_RESERVE, cost, limit.micro_usd, limit.calls)
        return reply.date, None if reply.verdict > 0 else reply.sum

    def adjust(self, day: str, change: int, calls: int = 0) -> None:
        number = (datetime.fromisoformat(day).date() - _DAY_ZERO).days if day else -1
        self._run(_ADJUST, int, number, change, calls)

    def today(self) -> Sum:
        return self._ask(_TODAY).sum

    def _ask(self, script: str, *arguments: int) -> _Reply:
        reply = self._run(script, _read_reply, *arguments)
        if reply.verdict < 0:
            raise self._lost_counts()
        # The calls of a user are not remembered: `forget` may delete them.
        self._file.note(Seen(reply.epoch, reply.day, 0 if self._user else reply.all_calls))
        return reply

    def _run(self, script: str, read: Callable[[Any], T], *arguments: int) -> T:
        seen = self._file.seen()
        new_epoch = secrets.token_hex(8)  # never used before, or a loss would not show
        facts = (new_epoch, seen.epoch, seen.day, seen.calls, *arguments)
        return self.store.use(
            lambda client: read(client.register_script(script)(self._keys, facts)),
            patience=LEDGER_PATIENCE,
        )

    def _lost_counts(self) -> LostCountsError:
        error = LostCountsError(
            f"{self.store.place} has lost today's budget count, for example by a failover to an "
            "empty server"
        )
        remedy = f"delete {self._file.path}" if self._file.path.exists() else "restart the program"
        error.remedies = "wait until 00:00 UTC", f"{remedy} to continue with the remaining count"
        return error


def _read_reply(raw: Any) -> _Reply:
    verdict, day, epoch, usd, calls, all_calls = raw
    date = (_DAY_ZERO + timedelta(days=int(day))).isoformat()
    spent = Sum(int(usd), int(calls))
    return _Reply(int(verdict), int(day), date, epoch.decode("ascii"), spent, int(all_calls))


# --- what this machine has seen of the server -----------------------------------------------------


class Seen(NamedTuple):
    """What was last seen of a server.

    Attributes:
        epoch: The epoch that the server got at its first use; empty if none was seen.
        day: The day on which it was seen, in days since 1970.
        calls: The calls that were counted on that day.
    """

    epoch: str = ""
    day: int = -1
    calls: int = 0


class EpochFile:
    """Holds the epoch and the day for later processes; calls are remembered in memory alone.

    A user who deletes the file accepts a loss of counts. If it cannot be written, only this process
    remembers.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = Seen()
        self._stamp: tuple[int, int] | None = None  # of the file, when it was read or written

    def seen(self) -> Seen:
        """Return what this process, or the file, says was last seen."""
        stamp = self._current_stamp()
        if stamp != self._stamp:  # another process has written it, or the user has deleted it
            self._seen, self._stamp = self._read(), stamp
        return self._seen

    def note(self, seen: Seen) -> None:
        """Remember what was seen now."""
        before = self.seen()
        if (before.epoch, before.day) != (seen.epoch, seen.day):
            self._seen = seen
            with suppress(OSError):
                self._write(f"{seen.epoch} {seen.day}\n")
            self._stamp = self._current_stamp()
        elif seen.calls > before.calls:  # else another thread has seen more
            self._seen = seen

    def _read(self) -> Seen:
        with suppress(OSError, ValueError):
            epoch, day, *_ = self.path.read_text("ascii").split()
            return Seen(epoch, int(day))
        return Seen()

    def _write(self, text: str) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
        temporary.touch(0o600)
        temporary.write_text(text, "ascii")
        temporary.replace(self.path)

    def _current_stamp(self) -> tuple[int, int] | None:
        with suppress(OSError):
            info = self.path.stat()
            return info.st_ino, info.st_mtime_ns
        return None
