"""Reports: what a command tells, as text for people and as data for programs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from webtools.cli.output import FINE, failure, print_json, tell
from webtools.errors import WebToolsError


@dataclass(frozen=True, slots=True)
class Report:
    """The same, told twice.

    Attributes:
        text: For people.
        data: For programs, as JSON has it.
    """

    text: str
    data: dict[str, Any]


def report(make: Callable[[], Report], options: Namespace) -> int:
    """Print a report in the way asked for, or why there is none, and give the exit code."""
    try:
        made = make()
    except WebToolsError as error:
        return failure(error, as_json=options.json)
    if options.json:
        print_json(made.data)
    else:
        tell(made.text)
    return FINE
