"""`webtools demo`: run real commands for one question over the offline sandbox."""

from __future__ import annotations

import json
import shlex
from argparse import Namespace
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from webtools.cli.arguments import read
from webtools.cli.calls import call_tool
from webtools.cli.printing import FAILED, SUCCESS, USAGE, complain, tell
from webtools.cli.tool_results import show
from webtools.config import Settings
from webtools.tools import ToolResult

_QUESTION = "How do I generate secure random tokens in Python?"
_DOCS_URL, _NEWS_URL = "https://docs.python.org/3", "https://news.example"
_NEXT_STEPS = """\
What next:
  webtools config init        create your config file
  webtools search "..."       search with it
  webtools demo --live        run this demo with your own providers
  webtools sandbox            test your own agents offline

Agents: use `WebToolkit` of `langchain_webtools`, or `WebToolsSpec` of `llamaindex_webtools`"""


def run(options: Namespace) -> int:
    """Show the demo, and return the exit code: 1 if a command failed, 2 if it cannot start."""
    question = " ".join(options.texts) or _QUESTION
    try:
        with _config_options(live=options.live) as config:
            return _show(question, config)
    except ImportError as error:
        complain(str(error))
        return USAGE


@contextmanager
def _config_options(*, live: bool) -> Generator[list[str]]:
    """Yield options for the sandbox, or none for the user's own settings."""
    if live:
        Settings().accounts().select("search")  # raises an error that explains what to configure
        yield []
        return
    from webtools_sandbox import SandboxServer  # noqa: PLC0415  an optional extra

    # Its pages have their real addresses, so that the commands work afterwards too.
    server = SandboxServer(docs_url=_DOCS_URL, news_url=_NEWS_URL)
    with TemporaryDirectory(prefix="webtools-demo-") as folder, server:
        path = Path(folder, "web-search.json")
        path.write_text(json.dumps(server.config(), indent=2), encoding="utf-8")
        tell(
            "Offline: a sandbox on this machine answers in place of the providers. To send the "
            "same commands to the web, run them yourself."
        )
        yield ["--config", str(path)]


def _show(question: str, config: list[str]) -> int:
    tell(f"Question: {question}")
    results = _run("1. Search", ["search", "--keyless", "--limit", "3", "--", question], config)
    pages = [] if results.is_error else results.details["results"]
    outcomes = [results]
    if pages:
        words = ["fetch", f"--question={question}", "--text-max-characters=1500"]
        title = "2. Read the best passages of the first page"
        outcomes.append(_run(title, [*words, "--", pages[0]["url"]], config))
    words = ["web-deep", "--keyless", "--", question]
    outcomes.append(_run("3. Answer with citations", words, config))
    tell(f"\n{_NEXT_STEPS}")
    return FAILED if any(result.is_error for result in outcomes) else SUCCESS


def _run(title: str, words: list[str], config: list[str]) -> ToolResult:
    """Run a command, and show its output as the command does."""
    tell(f"\n{title}\n{'=' * len(title)}\n")
    print(f"$ webtools {shlex.join(words)}\n", flush=True)  # in one line, to be copied
    options = read([words[0], *config, *words[1:]])
    start = monotonic()
    result = call_tool(options)
    show(options.tool, result, options, monotonic() - start)
    return result
