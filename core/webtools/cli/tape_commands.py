"""`webtools compare`: what changed between two runs."""

from __future__ import annotations

from argparse import Namespace

from webtools.cli.printing import SUCCESS, report
from webtools.comparison import compare as compare_runs


def compare(options: Namespace) -> int:
    """Compare two tapes, or two outputs of `--json`."""
    comparison = compare_runs(options.old, options.new)
    report(options, str(comparison), comparison.model_dump(mode="json"))
    return SUCCESS
