"""`webtools plan`: what a research call would do."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from typing import Any

from webtools import WebTools
from webtools.cli.models import synthesizer_of
from webtools.cli.reports import Report
from webtools.display.plan_text import plan_text


def answer(given: dict[str, Any], options: Namespace) -> Report:
    """Plan a research call with the arguments that it would get.

    Raises:
        WebToolsError: The settings, or what was given, make no sense.
    """
    if options.model:
        given["synthesis"] = synthesizer_of(options.model)
    with WebTools(config=options.config, keyless=options.keyless) as web:
        plan = web.plan(**given)
    return Report(plan_text(plan, datetime.now(UTC)), plan.model_dump(mode="json"))
