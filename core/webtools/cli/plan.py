"""`webtools plan`: what a research call would do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from webtools import WebTools
from webtools.cli.reports import Report
from webtools.display.plan_text import plan_text
from webtools.text.choices import Command


def answer(query: str, command: Command, given: dict[str, Any], config: str | None) -> Report:
    """Plan a research call.

    Raises:
        WebToolsError: The settings, or what was given, make no sense.
    """
    with WebTools(config=config) as web:
        plan = web.plan(query, command=command, **given)
    return Report(plan_text(plan, datetime.now(UTC)), plan.model_dump(mode="json"))
