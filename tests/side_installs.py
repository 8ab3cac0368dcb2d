"""What `make` installs beside the environment of the tests."""

from __future__ import annotations

import sys
from pathlib import Path


def why_missing(name: str) -> str:
    """Return why `make` did not install it, as the end of a sentence."""
    log = Path(sys.prefix, f"{name}.failed")
    lines = log.read_text(errors="replace").split("\n")[-5:] if log.exists() else []
    return "".join([": ", " ".join(lines).strip()]) if lines else ""
