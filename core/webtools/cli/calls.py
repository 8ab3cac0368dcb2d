"""Call a tool with the arguments of the command line."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from contextlib import nullcontext
from time import monotonic
from typing import Any

from webtools import WebTools
from webtools.cli.arguments import UsageError
from webtools.cli.files import check_output, write_output
from webtools.cli.models import load_synthesizer
from webtools.cli.terminal_output import progress
from webtools.cli.tool_results import show
from webtools.errors import RequestTimeoutError
from webtools.tools import ALL_TOOLS, ToolResult


def call(options: Namespace) -> int:
    """Call a tool, show what it returned, and return the exit code."""
    check_output(options)
    start = monotonic()
    result = call_tool(options)
    if options.output is None or result.is_error:
        return show(options.tool, result, options, monotonic() - start)
    return write_output(options, result)


def tool_arguments(options: Namespace) -> dict[str, Any]:
    """Return the arguments of the tool.

    Raises:
        UsageError: The subject is missing, or there are several.
    """
    names = ALL_TOOLS[options.tool].input_model.model_fields
    values = {name: getattr(options, name, None) for name in names}
    values[options.subject] = _subject(options)
    if values.get("synthesis") == "llm" and not options.model:
        raise UsageError("--synthesis llm needs --model PROVIDER:NAME", f"webtools {options.run}")
    return {name: value for name, value in values.items() if value is not None}


def _subject(options: Namespace) -> str | list[str]:
    prog = f"webtools {options.run}"
    texts: list[str] = options.texts
    if options.subject in {"queries", "urls"}:
        return texts
    if options.subject == "query":
        if words := " ".join(texts).strip():
            return words
        raise UsageError("QUERY is missing", prog)
    if len(texts) > 1:
        raise UsageError(f"pass one {options.subject.upper()}, not {len(texts)}", prog)
    return texts[0]


def call_tool(options: Namespace) -> ToolResult:
    """Call a tool with progress on stderr, and return its result.

    Raises:
        UsageError: The subject is missing, or there are several.
        RequestTimeoutError: The call took longer than `--timeout`.
    """
    arguments = tool_arguments(options)
    settings: dict[str, Any] = {"cache": options.cache or "use"}
    if model := getattr(options, "model", None):
        settings["synthesizer"] = load_synthesizer(model)
        arguments.setdefault("synthesis", "llm")
    with (
        WebTools(config=options.config, keyless=getattr(options, "keyless", None)) as web,
        nullcontext() if options.plain else progress(options.tool, _parts(options)) as callback,
    ):
        session = with_tape(web, options)
        if options.timeout is None:
            return session.call_tool(options.tool, arguments, progress=callback, **settings)
        coroutine = session.acall_tool(options.tool, arguments, progress=callback, **settings)
        return _run_with_timeout(options.timeout, coroutine, web)


def with_tape(web: WebTools, options: Namespace) -> WebTools:
    """Return what records or replays calls as the options say.

    Raises:
        InputError: A tape cannot be used.
    """
    if options.record or options.replay:
        return web.session(record=options.record, replay=options.replay)
    return web


def _parts(options: Namespace) -> int:
    if options.run == "web-deep":
        return 2
    return 1 if options.subject == "query" else len(options.texts)


def _run_with_timeout(seconds: float, coroutine: Any, web: WebTools) -> ToolResult:
    """Run a call. After a time-out, cancel it and close its connections.

    Raises:
        RequestTimeoutError: It took longer.
    """

    async def run() -> ToolResult:
        async with web:
            return await asyncio.wait_for(coroutine, seconds)

    try:
        return asyncio.run(run())
    except TimeoutError:
        message = f"The call did not finish within {seconds:g} s. Use a longer --timeout."
    raise RequestTimeoutError(message)
