"""Run the benchmarks: all, or those named (see `PARTS`); `--docs DIR` is for `answers`."""

import argparse
import os
import platform
import sys

from benchmarks import answers, caching, calls, cutting, load, research, start
from benchmarks.report import Row, show

PARTS = {
    "calls": calls,
    "load": load,
    "start": start,
    "cutting": cutting,
    "caching": caching,
    "research": research,
    "answers": answers,
}


def main(names: list[str]) -> int:
    """Print a table per part; the exit code is 1 when a target is missed, 2 for an unknown part."""
    unknown = set(names) - set(PARTS)
    if unknown:
        print(f"no such part: {', '.join(sorted(unknown))}; use {', '.join(PARTS)}")
        return 2
    print(f"Python {platform.python_version()}; of rounds in turn, the lower quartile of each side")
    print("(of imports the median)")
    print(f"     {'':<58}{'ours':>12}{'peer':>12}{'value':>9}  target")
    missed: list[Row] = []
    for name in names or PARTS:
        for row in PARTS[name].rows():
            show([row])
            missed += [row] if row.reached is False else []
    print(f"{len(missed)} missed" if missed else "all reached")
    return 1 if missed else 0


def arguments() -> list[str]:
    """Return the parts that are named; where the documentation is goes into the environment."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--docs", help="folder with the documentation that answers asks about")
    given = parser.parse_args()
    if given.docs:
        os.environ["WEBTOOLS_BENCH_DOCS"] = given.docs
    return list(given.parts)


if __name__ == "__main__":
    sys.exit(main(arguments()))
