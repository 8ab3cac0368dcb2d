"""The same work on Ray Data: a pool of actors makes the calls, this process keeps the rows.

What travels to the actors is where the settings are, never a key: each reads them itself. Whoever
asks when is decided by the store where it can, else by one more actor, so that an interval holds
for all of them together.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any

from webtools.bulk import working
from webtools.bulk.calls import Caller
from webtools.bulk.items import Item
from webtools.bulk.limits import Limiter, LocalLimiter, StoreLimiter
from webtools.bulk.models import Operation, Outcome
from webtools.bulk.options import Options
from webtools.client import WebTools
from webtools.errors import ConfigError
from webtools.http.threads import in_own_thread

_INSTALL = "pip install 'agent-webtools[ray]'"
_MOST_ITEMS = 100_000  # of one data set, all of which Ray holds in its memory
_MOST_BLOCKS = 2000
_ROUNDS = 4  # calls that each worker of an actor makes for a block


@dataclass(frozen=True, slots=True)
class Plan:
    """What the actors do.

    Attributes:
        web: Makes the calls; it travels as where its settings are.
        operation: Which call.
        options: How.
    """

    web: WebTools
    operation: Operation
    options: Options


async def work_off(
    items: Iterator[Item],
    plan: Plan,
    begin: Callable[[Item], Outcome | None],
    keep: Callable[[Outcome], None],
) -> str:
    """Make the calls of all items on Ray's workers.

    Returns:
        Why it ended before all was done; empty where it did not.

    Raises:
        ConfigError: Ray is not installed, or the settings cannot travel.
    """
    ray = _library()
    _check_travels(plan.web)
    is_over = False
    loop = asyncio.get_running_loop()

    async def kept(row: Outcome) -> None:
        if not is_over:  # else the file is closed
            keep(row)

    def take(row: Outcome) -> bool:
        if not is_over:
            asyncio.run_coroutine_threadsafe(kept(row), loop).result()
        return is_over

    work = partial(_work_off, ray, items, plan, begin, take)
    try:
        return await asyncio.wrap_future(in_own_thread(work, "webtools-ray"))
    finally:
        is_over = True


def _work_off(
    ray: Any,
    items: Iterator[Item],
    plan: Plan,
    begin: Callable[[Item], Outcome | None],
    take: Callable[[Outcome], bool],
) -> str:
    """Do it blocking; it ends where `take` says that nobody wants another row."""
    stopped, some = "", [*islice(items, _MOST_ITEMS)]
    if not some:
        return ""  # Ray takes seconds to start
    with _running(ray):
        while some and not stopped:
            for item in some:
                begin(item)
            for row in _rows(ray, some, plan):
                stopped = stopped or str(row["stopped"])
                if row["row"] and take(Outcome.model_validate_json(row["row"])):
                    return ""
            some = [*islice(items, _MOST_ITEMS)]
    return stopped


def _library() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise ConfigError(f"on='ray' needs Ray: {_INSTALL}") from None


def _check_travels(web: WebTools) -> None:
    try:
        pickle.dumps(web)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise ConfigError(
            f"These settings cannot go to Ray's workers: {error}. Name a config file that all "
            "machines have, or set the environment of each."
        ) from None


@contextmanager
def _running(ray: Any) -> Generator[None]:
    """Use the Ray that runs, or the one that RAY_ADDRESS names, or start one on this machine."""
    logger = logging.getLogger("ray.data")
    level, is_own = logger.level, not ray.is_initialized()
    logger.setLevel(logging.WARNING)
    if is_own:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
        if is_own:
            ray.shutdown()


def _rows(ray: Any, items: list[Item], plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the rows of some items as they are done."""
    data = import_module("ray.data")
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    actors = max(1, int(ray.cluster_resources().get("CPU", 1)))
    size = max(plan.options.workers * _ROUNDS, -(-len(items) // _MOST_BLOCKS))
    blocks = min(len(items), max(actors, -(-len(items) // size)))
    limiter = ray.remote(num_cpus=0)(LocalLimiter).remote()
    given = [{"item": pickle.dumps(item)} for item in items]
    made = data.from_items(given, override_num_blocks=blocks).map_batches(
        Actor,
        fn_constructor_args=(plan, limiter),
        compute=data.ActorPoolStrategy(size=min(actors, blocks)),
        batch_size=size,
    )
    yield from made.iter_rows()


class Actor:
    """Makes the calls of one process of Ray.

    Args:
        plan: What to do.
        limiter: The actor that decides who may be asked when.
    """

    def __init__(self, plan: Plan, limiter: Any) -> None:
        self._plan = plan
        limits = plan.web.rate_limits()
        self._limiter: Limiter = StoreLimiter(limits) if limits else _SharedLimiter(limiter)
        self._loop = asyncio.Runner()
        self._stopped = ""

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        """Return a row for each item of a batch, and in the last one why no more can come."""
        rows: list[str] = []
        if not self._stopped:
            items: list[Item] = [pickle.loads(bytes(each)) for each in batch["item"]]  # noqa: S301  our own
            self._stopped = self._loop.run(self._work_off(items, rows))
        stopped = [""] * len(rows)
        if self._stopped:
            rows.append("")
            stopped.append(self._stopped)
        return {"row": rows, "stopped": stopped}

    async def _work_off(self, items: list[Item], rows: list[str]) -> str:
        plan = self._plan
        work = working.Work(
            iter(items),
            Caller(plan.web, plan.operation, plan.options),
            working.courtesy_for(plan.web, plan.operation, plan.options),
            self._limiter,
            begin=lambda _: None,
            keep=lambda row: rows.append(row.model_dump_json()),
        )
        return await working.work_off(work, plan.options.workers)

    def __del__(self) -> None:
        """Close the loop and its connections."""
        with suppress(Exception):
            self._loop.close()


class _SharedLimiter:
    """Asks the actor that decides for all."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    async def reserve(self, name: str, interval: float) -> float:
        """Take the next free moment, as `Limiter` says."""
        wait: float = await self._actor.reserve.remote(name, interval)
        return wait
