"""`webtools verify`: check an answer against its sources, claim by claim."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from pathlib import Path

from webtools import WebTools
from webtools._internal.grounding.blocks import FENCES
from webtools._internal.text.visible import display_lines, display_text
from webtools.cli.calls import with_tape
from webtools.cli.printing import FAILED, SUCCESS, note, report
from webtools.cli.terminal_output import progress
from webtools.errors import InputError
from webtools.results import Page, Verified

_MAX_CHARACTERS = 1_000_000  # of a file, which may be endless
_MAX_TEXT_CHARACTERS = 1000  # of a claim or quotation
_MAX_CODE_LINES = 60
_SOURCE = r"\d+\. .*\n {3}https?://.*\n(?: {3}.*\n)*"
_SOURCES = re.compile(rf"\n\nSources:\n((?:{_SOURCE})+)\nConfidence: ")


def verify(options: Namespace) -> int:
    """Check an answer."""
    answer, urls = _parts(_read(options.file))
    sources: list[str] | list[Page] = options.sources or (urls if options.fetch else _unread(urls))
    with WebTools(config=options.config) as web, progress("verify"):
        verified = with_tape(web, options).verify(answer, sources, fetch=options.fetch)
    report(options, _text(verified), verified.model_dump(mode="json"))
    return FAILED if verified.dropped or (options.strict and verified.uncertain) else SUCCESS


def _parts(text: str) -> tuple[str, list[str]]:
    """Split the output of a research command into the answer and the URLs of its sources.

    Passages are left out, because they are quotations. Any other text is an answer.
    """
    matches = list(_SOURCES.finditer(text))
    if not matches:
        return text, []
    answer, passages, _ = text[: matches[-1].start()].partition("\n\nPassages:\n\n")
    if passages:
        note("only the answer is checked, not the passages below it.")
    return answer, re.findall(r"^ {3}(http\S+)", matches[-1][1], re.MULTILINE)


def _unread(urls: list[str]) -> list[Page]:
    """Return pages without a text: the URLs are not requested."""
    if urls:
        note("the pages that the answer cites are not read. To read them, add --fetch.")
    return [Page(url=url) for url in urls]


def _text(verified: Verified) -> str:
    """Return the report: each claim with its status, quotations, sources and closest passage."""
    blocks: list[str] = []
    for claim in verified.claims:
        rows = [f"{claim.status}: {_shown(claim.text)}"]
        for citation in claim.citations:
            is_code = citation.quotation.strip() and claim.text.startswith(FENCES)
            rows += (
                [] if is_code or not citation.quotation else [f"   “{_shown(citation.quotation)}”"]
            )
            rows.append(f"   {display_text(citation.url, _MAX_TEXT_CHARACTERS)}")
        if claim.nearest is not None:
            nearest = display_text(claim.nearest.text, _MAX_TEXT_CHARACTERS)
            rows.append(f"   closest passage: “{nearest}”")
        blocks.append("\n".join(rows))
    notes = [
        display_text(text, _MAX_TEXT_CHARACTERS) for text in (*verified.reasons, *verified.warnings)
    ]
    return "\n\n".join(filter(None, [*blocks, "\n".join(notes)])) or "No claims found."


def _shown(text: str) -> str:
    """Return a claim on one line, or code below it in its own lines."""
    if not text.startswith(FENCES):
        return display_text(text, _MAX_TEXT_CHARACTERS)
    lines, more = display_lines(text, _MAX_CODE_LINES)
    left_out = [f"… {more} more lines"] if more else []
    return "\n".join(["", *(f"   {line}" for line in (*lines, *left_out))])


def _read(file: str) -> str:
    """Return the text of a file, or of stdin.

    Raises:
        InputError: It cannot be read.
    """
    if file == "-":
        return sys.stdin.read(_MAX_CHARACTERS)
    try:
        with Path(file).open(encoding="utf-8", errors="replace") as stream:
            return stream.read(_MAX_CHARACTERS)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
