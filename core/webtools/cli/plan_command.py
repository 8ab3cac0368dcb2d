"""`webtools plan`: what a research call would do and cost."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime

from webtools import WebTools
from webtools._internal.display.plan_text import plan_text
from webtools.cli.calls import tool_arguments
from webtools.cli.models import load_synthesizer
from webtools.cli.printing import SUCCESS, report


def plan(options: Namespace) -> int:
    """Describe what a research call with these arguments would do."""
    arguments = tool_arguments(options)
    if options.model:
        arguments["synthesis"] = load_synthesizer(options.model)
    with WebTools(config=options.config, keyless=options.keyless) as web:
        research_plan = web.plan(**arguments)
    text = plan_text(research_plan, datetime.now(UTC))
    report(options, text, research_plan.model_dump(mode="json"))
    return SUCCESS
