"""Search many queries in Ray Data, with one client in each actor.

    python examples/ray_data.py "zip file" "json decoder"

It uses your own settings: a config file, or a provider's key in the environment. Without them, it
starts the offline sandbox, which has the documentation of Python's standard library. On a cluster,
every machine needs the settings; leave out `ray.init` to use the cluster of RAY_ADDRESS.
Needs: pip install 'agent-webtools[sandbox]' 'ray[data]'.
"""

import json
import logging
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import ray
import ray.data

from webtools import WebTools, bulk
from webtools.config import Settings
from webtools_sandbox import SandboxServer

queries = sys.argv[1:] or [
    f"{topic} {word}"
    for topic in ("csv file", "heap queue", "json decoder", "zip file")
    for word in ("example", "error")
]
with ExitStack() as stack:
    web = WebTools()
    if not Settings().accounts().accounts:  # neither a config file nor a key
        server = stack.enter_context(SandboxServer())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        config = Path(folder, "web-search.json")
        config.write_text(json.dumps(server.config()))
        web = WebTools(config=config)

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    stack.callback(ray.shutdown)
    options = bulk.Options(column="item", arguments={"limit": 3}, workers=4)
    rows = ray.data.from_items(queries, override_num_blocks=2).map_batches(
        bulk.BatchCaller,
        fn_constructor_args=("search", web, options),
        batch_size=4,
        compute=ray.data.ActorPoolStrategy(size=2),
    )
    # `rows.write_parquet("results")` writes them where they are made.
    for row in rows.iter_rows():
        results = json.loads(row["result"])["results"] if row["result"] else []
        print(row["item"], row["status"], row["error"] or [result["title"] for result in results])
