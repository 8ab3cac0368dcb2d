"""The commands. Each takes its options and gives the exit code; imports happen when one runs."""
# ruff: noqa: PLC0415

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from webtools.cli._arguments import UsageError, given
from webtools.cli._output import FINE, USAGE, complain, show


def search(options: Namespace) -> int:
    """Search."""
    return _call("web_search", {"queries": options.texts, **given(options)}, options)


def fetch(options: Namespace) -> int:
    """Read pages."""
    return _call("web_fetch", {"urls": options.texts, **given(options)}, options)


def summarize(options: Namespace) -> int:
    """Summarize one document."""
    if len(options.texts) != 1:
        raise UsageError(f"give one URL, not {len(options.texts)}", "webtools summarize")
    return _call("summarize", {"url": options.texts[0], **given(options)}, options)


def _call(tool: str, arguments: dict[str, Any], options: Namespace) -> int:
    from webtools import WebTools

    with WebTools(config=options.config) as web:
        result = web.call_tool(tool, arguments)
    return show(result, as_json=options.json)


def config(options: Namespace) -> int:
    """Tell about the config file."""
    from webtools.errors import ConfigError

    actions = {"path": _config_path, "check": _config_check, "example": _config_example}
    try:
        lines = actions[options.action](options)
    except ConfigError as error:
        complain(str(error))
        return USAGE
    print("\n".join(lines))
    return FINE


def _config_path(_: Namespace) -> list[str]:
    from webtools.config import config_paths, find_config

    used = find_config() or "none, so the environment is read"
    return [f"Belongs at: {config_paths()[0]}", f"In use: {used}"]


def _config_check(options: Namespace) -> list[str]:
    from webtools.config import Settings, check

    return check(Settings(options.config))


def _config_example(_: Namespace) -> list[str]:
    from webtools.config import EXAMPLE

    return [EXAMPLE]


def sandbox(options: Namespace) -> int:
    """Serve the sandbox."""
    from webtools.cli import _sandbox

    return _sandbox.run(options.port, options.latency, options.write_config)


def demo(options: Namespace) -> int:
    """Show the demo."""
    from webtools.cli.demo import run

    return run(" ".join(options.texts), live=options.live)


COMMANDS: dict[str, Callable[[Namespace], int]] = {
    "search": search,
    "fetch": fetch,
    "summarize": summarize,
    "sandbox": sandbox,
    "demo": demo,
    "config": config,
}
