"""`webtools verify`: check an answer against its sources, claim by claim."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from pathlib import Path

from webtools import WebTools
from webtools._internal.text.visible import display_text
from webtools.cli.output import FAILED, FINE, note, report
from webtools.errors import InputError
from webtools.results import Verified

_MOST = 1_000_000  # characters of a file, which may be one without an end
_LONGEST = 1000  # characters of a claim or quotation
_LISTED = r"\d+\. .*\n {3}https?://.*\n(?: {3}.*\n)*"
_SOURCES = re.compile(rf"\n\nSources:\n((?:{_LISTED})+)\nConfidence: ")


def verify(options: Namespace) -> int:
    """Check an answer."""
    answer, sources = _parts(_read(options.file))
    with WebTools(config=options.config) as web:
        found = web.verify(answer, options.sources or sources)
    report(options, _text(found), found.model_dump(mode="json"))
    return FAILED if found.dropped or (options.strict and found.uncertain) else FINE


def _parts(text: str) -> tuple[str, list[str]]:
    """Split what a research command printed into its answer and the URLs that `[n]` stands for.

    Its passages are quotations and no claims. Any other text is an answer as it is.
    """
    found = list(_SOURCES.finditer(text))
    if not found:
        return text, []
    answer, passages, _ = text[: found[-1].start()].partition("\n\nPassages:\n\n")
    if passages:
        note("the answer is checked, and not the passages below it.")
    return answer, re.findall(r"^ {3}(http\S+)", found[-1][1], re.MULTILINE)


def _text(found: Verified) -> str:
    """Return the report: each claim with its status, quotations, sources and closest passage."""
    blocks: list[str] = []
    for claim in found.claims:
        rows = [f"{claim.status}: {display_text(claim.text, _LONGEST)}"]
        for each in claim.citations:
            quotation = display_text(each.quotation, _LONGEST)
            rows += [f"   “{quotation}”"] if quotation else []
            rows.append(f"   {display_text(each.url, _LONGEST)}")
        if claim.nearest is not None:
            rows.append(f"   closest passage: “{display_text(claim.nearest.text, _LONGEST)}”")
        blocks.append("\n".join(rows))
    notes = [display_text(each, _LONGEST) for each in (*found.reasons, *found.warnings)]
    return "\n\n".join(filter(None, [*blocks, "\n".join(notes)])) or "No claims."


def _read(file: str) -> str:
    """Return the text of a file, or of stdin.

    Raises:
        InputError: It cannot be read.
    """
    if file == "-":
        return sys.stdin.read(_MOST)
    try:
        with Path(file).open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_MOST)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
