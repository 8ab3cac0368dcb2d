"""Check that the tag of a release is the version of everything that is released.

python scripts/check_version.py v1.2.3
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(tag: str, root: Path = ROOT) -> int:
    """Print what differs from the tag; return 1 if anything does."""
    wrong = [
        f"{place} has {version or 'no version'}, the tag is {tag}"
        for place, version in versions(root)
        if f"v{version}" != tag
    ]
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


def versions(root: Path) -> list[tuple[str, str]]:
    """List each place that names the version, and the version there."""
    module = root / "core" / "webtools" / "_version.py"
    own = re.findall(r'__version__ = "(.+)"', module.read_text(encoding="utf-8"))
    server = json.loads((root / "server.json").read_text(encoding="utf-8"))
    package = server["packages"][0]
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[?(\d[^\s\]]*)", changes, re.MULTILINE)
    arguments = [str(argument.get("value")) for argument in package["runtimeArguments"]]
    return [
        ("core/webtools/_version.py", own[0]),
        ("server.json", server["version"]),
        ("server.json, packages", package["version"]),
        *[("server.json, --from", text.partition("==")[2]) for text in arguments if "==" in text],
        ("CHANGELOG.md", released[0] if released else ""),
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
