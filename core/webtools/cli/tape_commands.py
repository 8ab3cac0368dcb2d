"""`webtools report`: what was done while a tape was recorded. `webtools compare`: what changed."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from webtools._internal.display.session_report import draw_markdown
from webtools._internal.session.tape_report import facts_of_tape
from webtools.cli.printing import SUCCESS, report
from webtools.client import WebTools
from webtools.comparison import compare as compare_runs


def report_tape(options: Namespace) -> int:
    """Print the report of a tape."""
    # What is a key now may not have been one when the tape was recorded.
    facts = WebTools().redact(facts_of_tape(Path(options.file)))
    report(options, draw_markdown(facts), facts)
    return SUCCESS


def compare(options: Namespace) -> int:
    """Compare two tapes, or two outputs of `--json`."""
    comparison = compare_runs(options.old, options.new)
    report(options, str(comparison), comparison.model_dump(mode="json"))
    return SUCCESS
