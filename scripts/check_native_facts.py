"""Warn before a release about facts of `webtools.native` that should be checked again."""

from __future__ import annotations

import importlib.util
import sys
from datetime import UTC, datetime
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "core/webtools/native/facts.py"


def main() -> int:
    """Print a warning of GitHub Actions for each old row."""
    # The file alone: a release job has none of the dependencies of the package.
    spec = importlib.util.spec_from_file_location("facts", FILE)
    if spec is None or spec.loader is None:
        return 1
    module = importlib.util.module_from_spec(spec)
    sys.modules["facts"] = module
    spec.loader.exec_module(module)
    today = datetime.now(UTC).date()
    for facts in module.FACTS:
        if module.is_old(facts.read_on, today):
            print(f"::warning::{facts.vendor}: read on {facts.read_on} ({facts.source})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
