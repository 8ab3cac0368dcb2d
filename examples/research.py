"""Research a question: the maximum cost, the answer with its sources, and the log of the call.

    python examples/research.py "How do I read a CSV file?"

It uses your own settings: a config file, or a provider's key in the environment. Without them, it
starts the offline sandbox, which has the documentation of Python's standard library.
Needs: pip install 'agent-webtools[fetch,sandbox]'.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from webtools import WebTools
from webtools.config import Settings, log_path
from webtools.logs import events_of, explain
from webtools.tools import RESEARCH
from webtools_sandbox import SandboxServer


@contextmanager
def sandbox_config() -> Iterator[dict[str, Any]]:
    """Lead every call to the sandbox, with a cache and a log that last as long as it does."""
    folders = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # Windows keeps open files
    with folders as folder, SandboxServer() as sandbox:
        kept = {"cache": {"path": str(Path(folder, "cache.sqlite3"))}}
        yield sandbox.config() | kept | {"log": {"path": str(Path(folder, "log.ndjson"))}}


question = " ".join(sys.argv[1:]) or "How do I read a CSV file?"
with ExitStack() as stack:
    config = None
    if not Settings().accounts().accounts:  # neither a config file nor a key
        config = stack.enter_context(sandbox_config())
    web = stack.enter_context(WebTools(config))

    plan = web.plan(question, command="web-deep")  # sends nothing
    chain = ", then ".join(step.provider for step in plan.chain)
    print(f"Would ask {chain}; costs {plan.worst_cost_usd} USD at most.", "", sep="\n")

    called = web.call_tool(RESEARCH.name, {"query": question, "command": "web-deep"})
    if called.is_error:
        sys.exit(called.text)
    if synthesis := called.details["synthesis"]:
        print(synthesis["summary"], "", "Cited:", sep="\n")
        for number, url in enumerate(synthesis["citations"], 1):
            print(f"[{number}] {url}")
    print("Confidence:", called.details["meta"]["confidence"])
    print(*called.details["warnings"], sep="\n")

    again = web.research(question, command="web-deep").meta
    print("Asked again, it comes", "from the cache" if again.cache_hit else "from the providers")
    accounts = Settings(config).accounts()
    if accounts.config.log.enabled and called.call_id:
        events = events_of(log_path(accounts), called.call_id)
        print("", explain(events), sep="\n")
