"""Run the benchmarks: all, or those named (`PARTS`); `--docs DIR` is for `answers` and `pages`."""

import argparse
import platform
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from benchmarks.report import Row, show

PARTS = (
    "calls",
    "load",
    "start",
    "cutting",
    "caching",
    "research",
    "bulk",
    "sharing",
    "pages",
    "answers",
)
PAGE_SETS = ("gold", "readability", "articles", "defuddle")


def main(arguments: list[str]) -> int:
    """Print a table per part; the exit code is 1 when a target is missed, 2 for an unknown part."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PART")
    parser.add_argument("--claims", type=Path, help="labelled claims, as JSON lines")
    parser.add_argument("--docs", type=Path, help="folder of documentation packages")
    for name in PAGE_SETS:
        parser.add_argument(f"--{name}", type=Path, help="for `pages`: see benchmarks/pages")
    parser.add_argument("--base", type=Path, help="for `pages`: an older checkout")
    parser.add_argument("--every", type=int, default=1, help="for `pages`: every Nth page")
    options = parser.parse_args(arguments)
    names: list[str] = options.names
    unknown = set(names) - set(PARTS)
    if unknown:
        print(f"no such part: {', '.join(sorted(unknown))}; use {', '.join(PARTS)}")
        return 2
    print(f"Python {platform.python_version()}; of rounds in turn, the lower quartile of each side")
    print("(of imports the median)")
    print(f"     {'':<58}{'ours':>12}{'peer':>12}{'value':>9}  target")
    missed: list[Row] = []
    for name in names or PARTS:
        print(f"{name}:")
        for row in _rows(name, options):
            show([row])
            missed += [row] if row.reached is False else []
    print(f"{len(missed)} missed" if missed else "all reached")
    return 1 if missed else 0


def _rows(name: str, options: argparse.Namespace) -> Iterator[Row]:
    """Import a part, with the frameworks that it alone needs, and measure it."""
    rows = import_module(f"benchmarks.{name}").rows
    if name == "pages":
        folders = {each: getattr(options, each) for each in ("docs", *PAGE_SETS)}
        return rows(folders, options.base, options.every)
    return rows(options.docs, options.claims) if name == "answers" else rows()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
