"""Type-check the Python that users are shown: README, docs and examples, as their checkers would.

Each page and notebook becomes one file, whose body is a coroutine: its blocks share their names
and may await. Cells and blocks with magics are left out. mypy runs strictly with pydantic's
plugin and without it, and pyright as it comes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".mypy_cache" / "examples"
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
SCRIPTS = sorted(ROOT.glob("examples/*.py"))
NOTEBOOKS = sorted(ROOT.glob("examples/*.ipynb"))
_FENCED = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_MAGIC = re.compile(r"^\s*[%!]", re.MULTILINE)
# What a page takes for granted: a chat model of each framework, and what its reader has made.
_HEAD = """\
from typing import Any
from langchain_core.language_models import BaseChatModel
from llama_index.core.llms.function_calling import FunctionCallingLLM

async def page(model: BaseChatModel, llm: FunctionCallingLLM) -> None:
"""
_MYPY = """\
[mypy]
strict = true
allow_redefinition = true
disable_error_code = import-not-found
"""
_PLUGIN = "plugins = pydantic.mypy\n"


def pages() -> Iterator[tuple[str, list[str]]]:
    """Yield each page's and notebook's path and its blocks of Python, the docstrings' ones too."""
    for path in PAGES:
        yield str(path.relative_to(ROOT)), _FENCED.findall(path.read_text(encoding="utf-8"))
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code"]
        yield str(path.relative_to(ROOT)), [each for each in code if not _MAGIC.search(each)]


def as_module(blocks: list[str]) -> str:
    """Put the blocks of one page into one module."""
    return _HEAD + textwrap.indent("\n".join(blocks), "    ", lambda _: True)


def write(folder: Path) -> list[Path]:
    """Write every page that has Python into a folder, and give the files to check."""
    found: list[Path] = []
    for name, blocks in pages():
        if blocks:
            path = folder / (re.sub(r"\W", "_", name) + ".py")
            path.write_text(as_module(blocks), encoding="utf-8")
            found.append(path)
    return found


def commands(folder: Path, files: list[Path]) -> Iterator[list[str]]:
    """Write the checkers' settings, and yield their command lines."""
    every = [str(path) for path in (*files, *SCRIPTS)]
    for name, extra in {"plain": "", "plugin": _PLUGIN}.items():
        settings = folder / f"{name}.ini"
        settings.write_text(_MYPY + extra, encoding="utf-8")
        options = ["--config-file", str(settings), "--cache-dir", str(CACHE / name)]
        yield ["-m", "mypy", *options, *every]
    settings = folder / "pyrightconfig.json"
    settings.write_text(json.dumps({"include": every, "reportMissingImports": "none"}))
    yield ["-m", "pyright", "--project", str(settings), "--pythonpath", sys.executable]


def main() -> int:
    """Run the checkers; gives how many of them complain."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        running = [
            subprocess.Popen([sys.executable, *each], cwd=ROOT)  # noqa: S603  our own commands
            for each in commands(folder, write(folder))
        ]
        return sum(each.wait() != 0 for each in running)


if __name__ == "__main__":
    sys.exit(main())
