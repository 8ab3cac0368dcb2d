"""Run the benchmarks: all, or those named (see `PARTS`)."""

import platform
import sys

from benchmarks import caching, calls, cutting, load, research, start
from benchmarks.report import Row, show

PARTS = {
    "calls": calls,
    "load": load,
    "start": start,
    "cutting": cutting,
    "caching": caching,
    "research": research,
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
