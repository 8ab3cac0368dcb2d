"""Writes the generated parts of the documentation, or tells which of them are stale.

    python scripts/generate_docs.py            write them
    python scripts/generate_docs.py --check    change nothing; exit code 1 if any is stale

A page holds what is made for it between two comments, which stay:

    <!-- generated: prices exa -->
    <!-- end of generated -->

The parts are the same on every supported Python: the help of the commands is laid out for 80
columns, and options are written as Python 3.13 does, `-n, --lines N`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import docs_floors
import docs_providers
import docs_tables

from webtools.cli import arguments as arguments_module
from webtools.cli.argument_parser import HelpFormatter
from webtools.results import ResearchEnvelope

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "docs/envelope.schema.json"
FLOORS = ROOT / "docs/floors.svg"
_COLUMNS = 80
_BEGIN = re.compile(r"<!-- generated: (.+) -->").fullmatch
_END = "<!-- end of generated -->"


# --- help --------------------------------------------------------------------------------------


class _Formatter(HelpFormatter):
    """Lays options out in one way on every Python, otherwise as the command does."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, _COLUMNS - 2)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        return f"{', '.join(action.option_strings)} {action.metavar}"


def command_help() -> str:
    """Return the help of every command, as it is printed on a terminal of 80 columns."""
    helps = {"": _top_help()}
    for name in arguments_module.COMMANDS:
        parser: Any = arguments_module.parser_of(name)
        parser.formatter_class = _Formatter
        helps[name] = parser.format_help()
    return "\n\n".join(
        f"## webtools {name}".rstrip() + f"\n\n```text\n{text.rstrip()}\n```"
        for name, text in helps.items()
    )


def _top_help() -> str:
    columns = patch.dict(os.environ, COLUMNS=str(_COLUMNS))
    with columns, redirect_stdout(StringIO()) as printed, suppress(SystemExit):
        arguments_module.read(["--help"])
    return printed.getvalue()


# --- pages -------------------------------------------------------------------------------------

PARTS: dict[str, Callable[..., str]] = {
    "arguments": docs_tables.arguments,
    "commands": command_help,
    "description": docs_tables.model_view,
    "details": docs_tables.details,
    "shared-details": docs_tables.shared_details,
    "errors": docs_tables.error_tree,
    "magics": docs_tables.magics,
    "model": docs_tables.model,
    "prices": docs_providers.prices,
    "provider": docs_providers.provider_facts,
    "providers": docs_providers.providers,
    "settings": docs_providers.settings,
    "variables": docs_providers.variables,
    "who-can": docs_providers.who_can,
}


def made(text: str) -> str:
    """Regenerate the parts of a page. Comments in a block of code are ignored.

    Raises:
        ValueError: A part is unknown, or one of its comments is missing.
    """
    lines, written, in_code = iter(text.splitlines()), list[str](), False
    for line in lines:
        written.append(line)
        in_code ^= line.startswith("```")
        if in_code:
            continue
        if line == _END:
            raise ValueError(f"`{_END}` ends nothing")
        if begin := _BEGIN(line):
            if _END not in lines:  # consumes the lines before it
                raise ValueError(f"`{line}` has no end")
            written += ["", _part(begin[1]), "", _END]
    return "\n".join(written) + "\n"


def _part(words: str) -> str:
    name, *given = words.split()
    if name not in PARTS:
        message = f'part "{name}" is unknown; known are {", ".join(PARTS)}'
        raise ValueError(message)
    return PARTS[name](*given)


def schema() -> str:
    """Return the schema of what research gives."""
    return json.dumps(ResearchEnvelope.model_json_schema(mode="serialization"), indent=2) + "\n"


def pages() -> list[Path]:
    """List the pages that may hold generated parts."""
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]


def wanted() -> dict[Path, str]:
    """Return every file with generated parts as it should be.

    Raises:
        ValueError: A page has a part that cannot be made; the message names the page.
    """
    found = {SCHEMA: schema(), FLOORS: docs_floors.picture()}
    for path in pages():
        text = path.read_text(encoding="utf-8")
        try:
            found[path] = made(text)
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            message = f"{path.relative_to(ROOT)}: {error}"
            raise ValueError(message) from error
    return found


def stale() -> list[Path]:
    """List the files that are not as they should be."""
    return [
        path
        for path, text in wanted().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str]) -> int:
    """Write or check, and give the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, only tell")
    only_tell = parser.parse_args(arguments).check
    for path in (found := stale()):
        if not only_tell:
            path.write_text(wanted()[path], encoding="utf-8")
        print(f"{'stale' if only_tell else 'written'}: {path.relative_to(ROOT)}")
    if found and only_tell:
        print("Run `make docs` and look at what changed.")
    return int(bool(found) and only_tell)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
