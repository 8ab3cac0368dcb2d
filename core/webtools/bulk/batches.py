"""Bulk work inside a distributed data set, such as one of Ray Data."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from webtools.bulk.bulk_models import Operation, Outcome
from webtools.bulk.bulk_options import Options
from webtools.bulk.items import check_arguments, read_items
from webtools.bulk.working import Plan, make_calls
from webtools.client import WebTools


class BatchCaller:
    """Make one call for each row of a batch. A callable class for Ray Data's `map_batches`.

    A batch is a dictionary of columns. The result has the same columns and these four:

    - `status`: `ok`, `empty`, `failed` or `skipped`, as in `Outcome`.
    - `result`: the response as JSON text; empty if the call failed.
    - `error`: why the call failed; otherwise empty.
    - `cost_usd`: the price of all attempts in USD, NaN if unknown.

    After an error that every row would get, such as a spent budget, the remaining rows of the batch
    are `skipped`, and `error` gives the reason.

    Ray creates one instance per actor, so each actor has its own client and connections. The pickle
    of a client contains the path of its config file but no key. Every machine therefore needs the
    file or the environment variables. Intervals apply to each actor, or to all actors together if
    the store is a Redis server.

    Args:
        operation: `search`, `fetch` or `research`.
        web: Makes the calls. Default: `WebTools()`.
        options: Arguments, concurrency and intervals. `column` is the column with the query or
            URL; without it, the columns are the arguments of the call. `in_flight`, `retry_failed`
            and `retry_skipped` have no effect.

    Raises:
        InputError: The arguments in `options` are invalid.

    Example:
        ```python
        rows = ray.data.read_csv("queries.csv").map_batches(
            bulk.BatchCaller,
            fn_constructor_args=("search", WebTools(config="/etc/webtools/web-search.json")),
            batch_size=64,
            compute=ray.data.ActorPoolStrategy(size=4),
        )
        ```
    """

    def __init__(
        self, operation: Operation, web: WebTools | None = None, options: Options | None = None
    ) -> None:
        options = options or Options()
        check_arguments(operation, options)
        self._plan = Plan(web or WebTools(), operation, options)
        self._runner = asyncio.Runner()

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return the batch with the result columns.

        Raises:
            ConfigError: The settings are invalid, or no provider can fetch.
        """
        plan = self._plan
        items = [*read_items(plan.operation, _rows(batch), plan.options)]
        outcomes: dict[int, Outcome] = {}
        reason = self._runner.run(
            make_calls(
                plan,
                iter(items),
                begin=lambda _: True,
                keep=lambda outcome: outcomes.update({outcome.index: outcome}),
            )
        )
        rows = [self._result(outcomes.get(item.index), reason) for item in items]
        names = ("status", "result", "error", "cost_usd")
        return {**batch, **{name: [row[i] for row in rows] for i, name in enumerate(names)}}

    def __del__(self) -> None:
        """Close the event loop: Ray drops an actor's instance without a call."""
        with suppress(AttributeError):  # the arguments were invalid
            self._runner.close()

    def _result(self, outcome: Outcome | None, reason: str) -> tuple[str, str, str, float]:
        redact = self._plan.web.redact
        if outcome is None:
            return "skipped", "", redact(reason), 0.0
        response = redact(outcome.response)
        result = "" if response is None else response.model_dump_json()
        error = "" if outcome.error is None else redact(outcome.error.message)
        cost = float("nan") if outcome.cost_usd is None else outcome.cost_usd
        return outcome.status, result, error, cost


def _rows(batch: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a batch, with Python's values instead of numpy's."""
    columns: list[Sequence[Any]] = [
        values.tolist() if hasattr(values, "tolist") else values for values in batch.values()
    ]
    return [dict(zip(batch, row, strict=True)) for row in zip(*columns, strict=True)]
