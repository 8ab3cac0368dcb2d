"""The calls of tools: their arguments, how long they may take, and where their output goes."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from webtools import WebTools
from webtools.cli.arguments import UsageError
from webtools.cli.drawing import progress
from webtools.cli.files import check_output, write_output
from webtools.cli.models import synthesizer_of
from webtools.cli.output import FINE, report, show
from webtools.errors import RequestTimeoutError
from webtools.tools import TOOLS, ToolResult


def call(options: Namespace) -> int:
    """Call a tool, show what it returned, and return the exit code."""
    arguments = arguments_of(options)
    check_output(options)
    began = monotonic()
    result = _result(options, arguments)
    if options.output is None or result.is_error:
        return show(options.tool, result, options, monotonic() - began)
    return write_output(options, result)


def plan(options: Namespace) -> int:
    """Describe what a research call with these arguments would do."""
    from webtools._internal.display.plan_text import plan_text  # noqa: PLC0415  no call needs it

    given = arguments_of(options)
    if options.model:
        given["synthesis"] = synthesizer_of(options.model)
    with WebTools(config=options.config, keyless=options.keyless) as web:
        found = web.plan(**given)
    report(options, plan_text(found, datetime.now(UTC)), found.model_dump(mode="json"))
    return FINE


def arguments_of(options: Namespace) -> dict[str, Any]:
    """Collect the arguments of the tool, as they were given.

    Raises:
        UsageError: There is no subject, or one too many.
    """
    names = TOOLS[options.tool].input_model.model_fields
    given = {name: getattr(options, name, None) for name in names}
    given[options.subject] = _subject(options)
    if given.get("synthesis") == "llm" and not options.model:
        raise UsageError('synthesis "llm" needs --model PROVIDER:NAME', f"webtools {options.run}")
    return {name: value for name, value in given.items() if value is not None}


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
        raise UsageError(f"give one {options.subject.upper()}, not {len(texts)}", prog)
    return texts[0]


def _result(options: Namespace, arguments: dict[str, Any]) -> ToolResult:
    how: dict[str, Any] = {"cache": options.cache or "use"}
    if model := getattr(options, "model", None):
        how["synthesizer"] = synthesizer_of(model)
        arguments.setdefault("synthesis", "llm")
    with (
        WebTools(config=options.config, keyless=getattr(options, "keyless", None)) as web,
        progress(parts=0 if options.plain else _parts(options)) as told,
    ):
        if options.timeout is None:
            return web.call_tool(options.tool, arguments, progress=told, **how)
        work = web.acall_tool(options.tool, arguments, progress=told, **how)
        return _run_within(options.timeout, work, web)


def _parts(options: Namespace) -> int:
    return 2 if options.run == "web-deep" else len(options.texts)


def _run_within(seconds: float, work: Any, web: WebTools) -> ToolResult:
    """Run a call; at the end of its time it is cancelled, and its connections are closed.

    Raises:
        RequestTimeoutError: It took longer.
    """
    import asyncio  # noqa: PLC0415 - only this way of calling takes it

    async def within() -> ToolResult:
        async with web:
            return await asyncio.wait_for(work, seconds)

    try:
        return asyncio.run(within())
    except TimeoutError:
        message = f"The call was ended after {seconds:g} s; give it more with --timeout."
    raise RequestTimeoutError(message)
