"""The commands. Each takes its options and gives the exit code; imports happen when one runs."""
# ruff: noqa: PLC0415

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from webtools.cli.arguments import UsageError, given
from webtools.cli.output import show

if TYPE_CHECKING:
    from webtools.pipeline.context import CacheMode


def search(options: Namespace) -> int:
    """Search."""
    arguments = {"queries": options.texts, **given(options)}
    return _call("web_search", arguments, options, parts=len(options.texts))


def fetch(options: Namespace) -> int:
    """Read pages."""
    arguments = {"urls": options.texts, **given(options)}
    return _call("web_fetch", arguments, options, parts=len(options.texts))


def summarize(options: Namespace) -> int:
    """Summarize one document."""
    if len(options.texts) != 1:
        raise UsageError(f"give one URL, not {len(options.texts)}", "webtools summarize")
    return _call("summarize", {"url": options.texts[0], **given(options)}, options, parts=1)


def read(options: Namespace) -> int:
    """Read on where an output was cut."""
    return _call("web_read", given(options), options, parts=1)


def research(options: Namespace) -> int:
    """Research a question, as one of the four research commands does."""
    arguments = {"query": question(options), "command": options.command, **given(options)}
    parts = 2 if options.command == "web-deep" else 1
    return _call("web_research", arguments, options, parts=parts)


def question(options: Namespace) -> str:
    """Join the words of a question.

    Raises:
        UsageError: There is none.
    """
    words = " ".join(options.texts).strip()
    if not words:
        raise UsageError("QUERY is missing", f"webtools {options.command}")
    return words


def _call(tool: str, arguments: dict[str, Any], options: Namespace, *, parts: int) -> int:
    from webtools import WebTools
    from webtools.cli.drawing import progress

    bars = progress(parts=0 if options.plain else parts)
    began = monotonic()
    with WebTools(config=options.config) as web, bars as told:
        result = web.call_tool(tool, arguments, cache=_cache_mode(options), progress=told)
    return show(tool, result, options, monotonic() - began)


def _cache_mode(options: Namespace) -> CacheMode:
    if options.refresh:
        return "refresh"
    return "bypass" if options.no_cache else "use"


def plan(options: Namespace) -> int:
    """Tell what a research command would do."""
    from webtools.cli.plan import answer
    from webtools.cli.reports import report

    asked = question(options)
    return report(lambda: answer(asked, options.planned, given(options), options.config), options)


def explain(options: Namespace) -> int:
    """Tell why a call went as it did."""
    from webtools.cli.logs import explained
    from webtools.cli.reports import report

    return report(lambda: explained(options), options)


def cache(options: Namespace) -> int:
    """Tell about the cache, or empty it."""
    from webtools.cli.cache import cleared, stats
    from webtools.cli.reports import report

    make = {"stats": stats, "clear": cleared}[options.action]
    return report(lambda: make(options.config), options)


def log(options: Namespace) -> int:
    """Show the log."""
    from webtools.cli.logs import tail

    return tail(options)


def config(options: Namespace) -> int:
    """Tell about the config file, begin it, or change a key in it."""
    from webtools.cli import config as configuring

    return configuring.run(options)


def sandbox(options: Namespace) -> int:
    """Serve the sandbox."""
    from webtools.cli import sandbox as sandbox_module

    return sandbox_module.run(options.port, options.latency, options.write_config)


def demo(options: Namespace) -> int:
    """Show the demo."""
    from webtools.cli.demo import run

    return run(" ".join(options.texts), live=options.live)


COMMANDS: dict[str, Callable[[Namespace], int]] = {
    "web": research,
    "web-deep": research,
    "web-news": research,
    "web-docs": research,
    "search": search,
    "fetch": fetch,
    "summarize": summarize,
    "read": read,
    "plan": plan,
    "explain": explain,
    "log": log,
    "cache": cache,
    "config": config,
    "sandbox": sandbox,
    "demo": demo,
}
