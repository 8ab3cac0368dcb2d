"""Type-check the Python that users are shown: README, docs and examples, as their checkers would.

Each page and notebook becomes one file, whose body is a coroutine: its blocks share their names
and may await. Cells and blocks with magics are left out. mypy runs strictly with pydantic's
plugin and without it, and pyright as it comes: all at the same time, or those that are named.
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
CACHE = ROOT / ".mypy_cache"
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
SCRIPTS = sorted(ROOT.glob("examples/*.py"))
NOTEBOOKS = sorted(ROOT.glob("examples/*.ipynb"))
# A block under a comment `file: PATH` is a file of its own, which its page's test runs.
_FENCED = re.compile(r"(<!-- file: [^\n]*\n+)?^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_MAGIC = re.compile(r"^(?:%|get_ipython\(\)).*$", re.MULTILINE)
_MADE = re.compile(r" -o (\w+)")
# What a page takes for granted: a chat model of each framework, and what its reader has made.
_HEAD = """\
from typing import Any
from langchain_core.language_models import BaseChatModel
from llama_index.core.llms.function_calling import FunctionCallingLLM

"""
_MYPY = """\
[mypy]
strict = true
mypy_path = core:sandbox
{plugins}
[mypy-shown.*]
allow_redefinition = true
disable_error_code = import-not-found, import-untyped
"""
# With the plugin our own code is checked the same way, so that what mypy knows of it serves here.
_VARIANTS = {"plugins =": CACHE / "examples", "plugins = pydantic.mypy": CACHE}
_PYRIGHT = {"reportMissingImports": "none", "reportUnusedExpression": "none"}


def pages() -> Iterator[tuple[str, list[str]]]:
    """Yield each page's and notebook's path and its blocks of Python, the docstrings' ones too."""
    for path in PAGES:
        found = _FENCED.findall(path.read_text(encoding="utf-8"))
        yield str(path.relative_to(ROOT)), [code for mark, code in found if not mark]
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code"]
        yield str(path.relative_to(ROOT)), [without_magics(item) for item in code]


def without_magics(cell: str) -> str:
    """Replace a cell's magics by assignments of the names that they define."""
    if cell.startswith("%%"):
        return ""
    return _MAGIC.sub(lambda line: "".join(f"{n}: Any = 0" for n in _MADE.findall(line[0])), cell)


def as_module(name: str, blocks: list[str]) -> str:
    """Put the blocks of one page into one module."""
    parameters = "" if name.endswith(".ipynb") else "model: BaseChatModel, llm: FunctionCallingLLM"
    body = textwrap.indent("\n".join(blocks), "    ", lambda _: True)
    return f"{_HEAD}async def page({parameters}) -> None:\n{body}"


def write(folder: Path) -> None:
    """Write every page that has Python, and the scripts, into a package, which settings name."""
    (folder / "__init__.py").touch()
    for name, blocks in pages():
        if blocks:
            path = folder / (re.sub(r"\W", "_", name) + ".py")
            path.write_text(as_module(name, blocks), encoding="utf-8")
    for script in SCRIPTS:
        (folder / f"examples_{script.name}").write_text(script.read_text(encoding="utf-8"))


def commands(folder: Path) -> Iterator[list[str]]:
    """Write the checkers' settings, and yield their command lines."""
    for number, (plugins, cache) in enumerate(_VARIANTS.items()):
        settings = folder / f"mypy{number}.ini"
        settings.write_text(_MYPY.format(plugins=plugins), encoding="utf-8")
        options = ["--config-file", str(settings), "--cache-dir", str(cache)]
        yield ["mypy", *options, *map(str, sorted(folder.glob("*.py")))]
    (folder / "pyrightconfig.json").write_text(json.dumps(_PYRIGHT), encoding="utf-8")
    yield ["pyright", "--project", str(folder), "--pythonpath", sys.executable]


def main(names: list[str]) -> int:
    """Run the checkers, or those of these names; return how many of them complain."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made, "shown")
        folder.mkdir()
        write(folder)
        running = [
            subprocess.Popen([sys.executable, "-m", *item], cwd=ROOT)  # noqa: S603  our own
            for item in commands(folder)
            if not names or item[0] in names
        ]
        return sum(item.wait() != 0 for item in running)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
