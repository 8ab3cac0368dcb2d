"""Report expressions that read like a translation, with file and line.

Usage: python scripts/check_plain_words.py [PATH ...]

`plain_words.txt` lists the expressions. A line that needs one as data, such as a word list or the
text of a page, ends with the comment `plain-words: data`.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SUFFIXES = {".css", ".html", ".ipynb", ".js", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yml"}
DATA = ["benchmarks/answers/pages/", "scripts/plain_words.txt"]  # quoted pages, and the list
IS_DATA = "plain-words: data"


def expressions() -> list[re.Pattern[str]]:
    """Compile the list; an expression ignores case unless it says otherwise."""
    lines = (ROOT / "scripts/plain_words.txt").read_text().splitlines()
    return [
        re.compile(line, 0 if line.startswith("(?-i:") else re.IGNORECASE)
        for line in lines
        if line and not line.startswith("#")
    ]


def tracked_files(paths: list[str]) -> list[str]:
    """List the text files under `paths` that are under version control, relative to the root."""
    listed = subprocess.run(  # noqa: S603
        ["git", "ls-files", "-z", "--", *paths],  # noqa: S607
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = [name for name in listed.split("\0") if Path(name).suffix in SUFFIXES]
    return [name for name in names if not name.startswith(tuple(DATA))]


def matches(path: str, patterns: list[re.Pattern[str]]) -> Iterator[str]:
    """Yield a message for each line with a listed expression."""
    for number, line in enumerate((ROOT / path).read_text(errors="replace").splitlines(), start=1):
        if IS_DATA in line:
            continue
        for pattern in patterns:
            if match := pattern.search(line):
                yield f'{path}:{number}: "{match[0]}" in: {line.strip()[:120]}'


def main() -> int:
    """Check the paths that were passed, else the whole repository."""
    patterns = expressions()
    messages = [
        message
        for path in tracked_files(sys.argv[1:] or ["."])
        for message in matches(path, patterns)
    ]
    for message in messages:
        print(message)
    if messages:
        print(f"{len(messages)} expressions to reword. Use plain, standard English instead.")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
