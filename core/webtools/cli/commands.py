"""The commands. Each takes its options and returns the exit code; imports happen when one runs."""
# ruff: noqa: PLC0415

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from webtools.cli.tool_parsers import CALLS, RESEARCH


def call(options: Namespace) -> int:
    """Call a tool."""
    from webtools.cli.calls import call

    return call(options)


def plan(options: Namespace) -> int:
    """Describe what a research command would do."""
    from webtools.cli.calls import arguments_of
    from webtools.cli.plan import answer
    from webtools.cli.reports import report

    given = arguments_of(options)
    return report(lambda: answer(given, options), options)


def verify(options: Namespace) -> int:
    """Check an answer against its sources."""
    from webtools.cli.verify import verify as verified

    return verified(options)


def explain(options: Namespace) -> int:
    """Explain why a call went as it did."""
    from webtools.cli.logs import explained
    from webtools.cli.reports import report

    return report(lambda: explained(options), options)


def cache(options: Namespace) -> int:
    """Describe the cache, or empty it."""
    from webtools.cli.cache import cleared, stats
    from webtools.cli.reports import report

    make = {"stats": stats, "clear": cleared}[options.action]
    return report(lambda: make(options.config), options)


def log(options: Namespace) -> int:
    """Show the log."""
    from webtools.cli.logs import tail

    return tail(options)


def config(options: Namespace) -> int:
    """Describe the config file, begin it, or change a key in it."""
    from webtools.cli import config as configuring

    return configuring.run(options)


def sandbox(options: Namespace) -> int:
    """Serve the sandbox."""
    from webtools.cli import sandbox as sandbox_module

    return sandbox_module.run(options.port, options.latency, options.write_config)


def bulk(options: Namespace) -> int:
    """Make the calls of many items."""
    from webtools.cli.bulk import run

    return run(options)


def mcp(options: Namespace) -> int:
    """Serve the tools over MCP."""
    from webtools.cli.mcp import run

    return run(options)


def completion(options: Namespace) -> int:
    """Print what makes a shell complete the command."""
    from webtools.cli.completion import script

    return script(options)


def demo(options: Namespace) -> int:
    """Show the demo."""
    from webtools.cli.demo import run

    return run(" ".join(options.texts), live=options.live)


COMMANDS: dict[str, Callable[[Namespace], int]] = {
    **dict.fromkeys((*RESEARCH, *CALLS), call),
    "plan": plan,
    "verify": verify,
    "explain": explain,
    "log": log,
    "cache": cache,
    "config": config,
    "bulk": bulk,
    "mcp": mcp,
    "sandbox": sandbox,
    "completion": completion,
    "demo": demo,
}
