"""The first example of an adapter's page runs with the extra of the adapter alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from side_installs import why_missing

DOCS = Path(__file__).parents[1] / "docs"
RUN = """
import ast, asyncio, inspect, sys
code = compile(sys.stdin.read(), "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
result = eval(code, {"__name__": "__main__"})
if inspect.iscoroutine(result):
    asyncio.run(result)
"""


@pytest.mark.parametrize("extra", ["pydantic-ai", "openai-agents"])
def test_the_first_example_runs_with_the_extra_alone(extra: str, tmp_path: Path) -> None:
    folder = Path(sys.prefix, extra)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        pytest.skip(f"{extra} is not installed alone{why_missing(extra)}")
    page = (DOCS / f"{extra}.md").read_text(encoding="utf-8")
    [install] = re.findall(r"^pip install 'agent-webtools\[(.*)\]'$", page, re.MULTILINE)
    assert install == extra
    [example, *_] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    command = [str(python), "-c", RUN]
    env = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    result = subprocess.run(
        command, check=False, input=example, capture_output=True, text=True, timeout=300, env=env
    )
    assert "See [the first result](http" in result.stdout, result.stderr
