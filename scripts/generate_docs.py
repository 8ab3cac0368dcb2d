"""Write the generated parts of the documentation, or report which of them are stale.

    python scripts/generate_docs.py            write them
    python scripts/generate_docs.py --check    change nothing; exit with 1 if any is stale

A generated part of a page is between two comments:

    <!-- generated: prices exa -->
    <!-- end of generated -->
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import docs_commands
import docs_floors
import docs_providers
import docs_tables

from webtools.results import ResearchEnvelope

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "docs/envelope.schema.json"
FLOORS = ROOT / "docs/floors.svg"
_BEGIN = re.compile(r"<!-- generated: (.+) -->").fullmatch
_END = "<!-- end of generated -->"


# --- pages -------------------------------------------------------------------------------------

PARTS: dict[str, Callable[..., str]] = {
    "arguments": docs_tables.arguments,
    "commands": docs_commands.reference,
    "details": docs_tables.details,
    "shared-details": docs_tables.shared_details,
    "errors": docs_tables.error_tree,
    "filters": docs_providers.filters,
    "magics": docs_tables.magics,
    "model": docs_tables.model,
    "native": docs_tables.native,
    "prices": docs_providers.prices,
    "provider": docs_providers.provider,
    "providers": docs_providers.providers,
    "settings": docs_providers.settings,
    "variables": docs_providers.variables,
}


def generate(text: str) -> str:
    """Return a page with its parts generated again; comments in code blocks stay.

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
            if _END not in lines:  # consumes the old text
                raise ValueError(f"`{line}` has no end")
            written += ["", _part(begin[1]), "", _END]
    return "\n".join(written) + "\n"


def _part(words: str) -> str:
    name, *arguments = words.split()
    if name not in PARTS:
        raise ValueError(f'part "{name}" is unknown; known are {", ".join(PARTS)}')
    return PARTS[name](*arguments)


def schema() -> str:
    """Return the JSON schema of the research envelope."""
    return json.dumps(ResearchEnvelope.model_json_schema(mode="serialization"), indent=2) + "\n"


def pages() -> list[Path]:
    """List the pages that may have generated parts."""
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]


def generated_files() -> dict[Path, str]:
    """Return the current text of every file with generated parts.

    Raises:
        ValueError: A part of a page cannot be generated; the message names the page.
    """
    texts = {SCHEMA: schema(), FLOORS: docs_floors.picture()}
    for path in pages():
        text = path.read_text(encoding="utf-8")
        try:
            texts[path] = generate(text)
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise ValueError(f"{path.relative_to(ROOT)}: {error}") from error
    return texts


def stale() -> dict[Path, str]:
    """Return the files that are out of date, with the text that they should have."""
    return {
        path: text
        for path, text in generated_files().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main(arguments: list[str]) -> int:
    """Write or check the files, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, only report")
    only_check = parser.parse_args(arguments).check
    files = stale()
    for path, text in files.items():
        if not only_check:
            path.write_text(text, encoding="utf-8")
        print(f"{'stale' if only_check else 'written'}: {path.relative_to(ROOT)}")
    if files and only_check:
        print("Run `make docs` and look at what changed.")
    return int(bool(files) and only_check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
