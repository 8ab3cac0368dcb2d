"""`webtools verify`: an answer against its sources, claim by claim."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from webtools.cli.parsing import Parser, add_config, add_json, parser_for

if TYPE_CHECKING:
    from webtools.results import Verified

_MOST = 1_000_000  # characters of a file, which may be one without an end
_LONGEST = 1000  # characters of a claim or quotation


def verify_parser(name: str) -> Parser:
    """Describe `verify`."""
    parser = parser_for(
        name,
        "Check an answer, from any model, against its sources: every claim with what\n"
        "is found out about it, and the quotation that bears it out. Exits with 1\n"
        "where a claim is unsupported.",
        """\
examples:
  webtools verify answer.md                       against the URLs that it cites
  webtools verify answer.md --source https://docs.python.org/3/library/json.html
  webtools web-deep "zip bombs" | webtools verify - --strict
  webtools verify --json answer.md | jq '.claims[] | select(.status == "unsupported")'
""",
    )
    option = parser.add_argument
    option("file", metavar="FILE", help="the answer, as Markdown or plain text; - is stdin")
    option(
        "--source",
        dest="sources",
        action="append",
        default=[],
        metavar="URL",
        help="a page to check against; [1] means the first. Without any, the URLs in the answer",
    )
    option("--strict", action="store_true", help="exit with 1 for uncertain claims too")
    add_config(parser)
    add_json(parser, "print the whole report as one JSON document")
    return parser


def verify(options: Namespace) -> int:
    """Check an answer."""
    from webtools import WebTools  # noqa: PLC0415
    from webtools.cli.output import FAILED, FINE, failure, print_json, tell  # noqa: PLC0415
    from webtools.errors import WebToolsError  # noqa: PLC0415

    try:
        with WebTools(config=options.config) as web:
            found = web.verify(_read(options.file), options.sources)
    except WebToolsError as error:
        return failure(error, as_json=options.json)
    if options.json:
        print_json(found.model_dump(mode="json"))
    else:
        tell(_text(found))
    return FAILED if found.dropped or (options.strict and found.uncertain) else FINE


def _text(found: Verified) -> str:
    """Write the report: each claim with its status, its quotations and their sources."""
    from webtools.text.visible import display_text  # noqa: PLC0415

    blocks: list[str] = []
    for claim in found.claims:
        rows = [f"{claim.status}: {display_text(claim.text, _LONGEST)}"]
        for each in claim.citations:
            quoted = display_text(each.quotation, _LONGEST)
            rows += [f"   “{quoted}”", f"   {display_text(each.url, _LONGEST)}"]
        blocks.append("\n".join(rows))
    notes = [display_text(each, _LONGEST) for each in (*found.reasons, *found.warnings)]
    return "\n\n".join(filter(None, [*blocks, "\n".join(notes)])) or "No claims."


def _read(file: str) -> str:
    """Return the text of a file, or of stdin.

    Raises:
        InputError: It cannot be read.
    """
    from webtools.errors import InputError  # noqa: PLC0415

    if file == "-":
        return sys.stdin.read(_MOST)
    try:
        with Path(file).open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_MOST)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
