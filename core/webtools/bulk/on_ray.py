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
from importlib import import_module
from itertools import islice
from typing import Any

from webtools.bulk import working
from webtools.bulk.items import Item
from webtools.bulk.limits import LocalLimiter, Reserve, limiter_for
from webtools.bulk.models import Outcome
from webtools.bulk.working import Plan
from webtools.client import WebTools
from webtools.errors import ConfigError
from webtools.http.threads import in_own_thread

_INSTALL = "pip install 'agent-webtools[ray]'"
_MOST_ITEMS = 100_000  # of one data set, all of which Ray holds in its memory
_MOST_BLOCKS = 2000
_ROUNDS = 4  # calls that each worker of an actor makes for a block


async def work_off(
    plan: Plan,
    items: Iterator[Item],
    begin: Callable[[Item], bool],
    keep: Callable[[Outcome], None],
) -> str:
    """Make the calls of all items on Ray's workers.

    Returns:
        Why it ended before all was done; empty where it did not.

    Raises:
        ConfigError: Ray is not installed, or the settings cannot travel.
    """
    ray = library()
    _check_travels(plan.web)
    stopped, rows = "", _all_rows(ray, items, plan, begin)
    while row := await asyncio.wrap_future(in_own_thread(lambda: next(rows, None), "webtools-ray")):
        stopped = stopped or str(row["stopped"])
        if row["row"]:
            keep(Outcome.model_validate_json(row["row"]))
    return stopped


def _all_rows(
    ray: Any, items: Iterator[Item], plan: Plan, begin: Callable[[Item], bool]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of all items, or of those before one that says why no more can come."""
    some = [*islice(items, _MOST_ITEMS)]
    if not some:
        return  # Ray takes seconds to start
    with _running(ray):
        while some:
            for item in some:
                begin(item)
            stopped = False
            for row in _rows(ray, some, plan):
                stopped = stopped or bool(row["stopped"])
                yield row
            some = [] if stopped else [*islice(items, _MOST_ITEMS)]


def library() -> Any:
    """Import Ray, before a row is begun.

    Raises:
        ConfigError: It is not installed.
    """
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
        self._reserve: Reserve = limiter_for(limits) if limits else limiter.reserve.remote
        self._loop = asyncio.Runner()
        self._stopped = ""

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        """Return a row for each item of a batch, and in the last one why no more can come."""
        rows: list[str] = []
        if not self._stopped:
            items: list[Item] = [pickle.loads(bytes(each)) for each in batch["item"]]  # noqa: S301  our own
            work = working.work_off(
                self._plan,
                iter(items),
                self._reserve,
                begin=lambda _: True,
                keep=lambda row: rows.append(row.model_dump_json()),
            )
            self._stopped = self._loop.run(work)
        stopped = [""] * len(rows)
        if self._stopped:
            rows.append("")
            stopped.append(self._stopped)
        return {"row": rows, "stopped": stopped}

    def __del__(self) -> None:
        """Close the loop and its connections."""
        with suppress(Exception):
            self._loop.close()
