"""`webtools plan`: what a research call would do."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime

from webtools import WebTools
from webtools.cli.calls import arguments_of
from webtools.cli.models import synthesizer_of
from webtools.cli.output import FINE, report
from webtools.display.plan_text import plan_text


def answer(options: Namespace) -> int:
    """Plan a research call with the arguments that it would get."""
    given = arguments_of(options)
    if options.model:
        given["synthesis"] = synthesizer_of(options.model)
    with WebTools(config=options.config, keyless=options.keyless) as web:
        plan = web.plan(**given)
    report(options, plan_text(plan, datetime.now(UTC)), plan.model_dump(mode="json"))
    return FINE
