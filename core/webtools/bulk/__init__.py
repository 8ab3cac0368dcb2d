"""Search, fetch or research many items, and write one typed row for each.

    from webtools import bulk

    summary = bulk.run("search", ["first query", "second query"], "rows.jsonl")
    for row in bulk.read("rows.jsonl"):
        print(row.status, row.subject, row.cost_usd)

To resume an interrupted run, make the same call again.
"""

from webtools.bulk.batches import BatchCaller
from webtools.bulk.bulk_models import Failure, Operation, Outcome, Status
from webtools.bulk.bulk_options import Options
from webtools.bulk.bulk_progress import State, Summary
from webtools.bulk.items import Given
from webtools.bulk.row_files import read
from webtools.bulk.running import arun, run

__all__ = [
    "BatchCaller",
    "Failure",
    "Given",
    "Operation",
    "Options",
    "Outcome",
    "State",
    "Status",
    "Summary",
    "arun",
    "read",
    "run",
]
