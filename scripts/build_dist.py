"""Builds wheel and sdist into dist/, proves that two builds are alike, and installs the wheel.

make dist
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMPORTS = "import langchain_webtools, llamaindex_webtools, webtools, webtools_sandbox"


def main() -> int:
    """Build, compare, check and install; return 1 where the builds differ."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    first = _build(dist)
    with tempfile.TemporaryDirectory() as folder:
        second = _build(Path(folder))
    if first != second:
        print("The builds differ:", first, second, file=sys.stderr)
        return 1
    files = sorted(map(str, dist.iterdir()))
    _run(sys.executable, "-m", "twine", "check", "--strict", *files)
    with tempfile.TemporaryDirectory() as folder:
        _install(next(name for name in files if name.endswith(".whl")), Path(folder))
    for name, digest in first.items():
        print(f"{digest}  {name}")
    return 0


def _build(folder: Path) -> dict[str, str]:
    """Build into a folder; return the SHA-256 of each file by its name."""
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def _install(wheel: str, folder: Path) -> None:
    """Install the wheel without extras into an environment of its own, and use it there."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    constraints = str(ROOT / "constraints.txt")
    _run(str(python), "-m", "pip", "install", "--quiet", "--constraint", constraints, wheel)
    _run(str(python), "-c", IMPORTS)
    _run(str(python), "-m", "webtools", "--version")


def _run(*command: str) -> None:
    """Run a command at the time of the last commit, away from the sources.

    Raises:
        CalledProcessError: It failed.
    """
    log = subprocess.run(
        ["git", "log", "-1", "--format=%ct"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    environment = {**os.environ, "SOURCE_DATE_EPOCH": log.stdout.strip()}
    subprocess.run(command, cwd=tempfile.gettempdir(), env=environment, check=True)  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
