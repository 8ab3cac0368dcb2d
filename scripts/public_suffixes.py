"""Renew the public suffix list that the core holds as data.

    python scripts/public_suffixes.py [FILE]

Without a file it is fetched from its home, as the list itself asks. Comments are left out, but for
the licence and the version; names outside ASCII are written as they travel in URLs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import httpx

HOME = "https://publicsuffix.org/list/public_suffix_list.dat"
DATA = Path(__file__).parents[1] / "core/webtools/text/public_suffixes.txt"
# A list this much shorter than ever is a page about an error, or was cut.
FEWEST = 9_000


def condensed(text: str) -> str:
    """Return the rules of a list, one a line, under its licence and version.

    Raises:
        ValueError: The text is not the list, or not the whole of it.
    """
    lines = [line.strip() for line in text.splitlines()]
    rules = [line.split()[0] for line in lines if line and not line.startswith("//")]
    version = [line for line in lines if line.startswith("// VERSION:")]
    if len(rules) < FEWEST or len(version) != 1 or "// ===END PRIVATE DOMAINS===" not in lines:
        raise ValueError(f"not the whole public suffix list: {len(rules)} rules")
    licence = [
        f"// From {HOME}, without its comments.",
        "// This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0.",
        "// The licence: https://mozilla.org/MPL/2.0/",
    ]
    return "\n".join([*licence, *version, *(_ascii(rule) for rule in rules)]) + "\n"


def _ascii(rule: str) -> str:
    return rule if rule.isascii() else rule.encode("idna").decode()


def main() -> None:
    """Write the list from the file that the command names, or from its home."""
    if sys.argv[1:]:
        text = Path(sys.argv[1]).read_text(encoding="utf-8")
    else:
        text = httpx.get(HOME, timeout=30).raise_for_status().text
    DATA.write_text(condensed(text), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
