"""The offline example of an adapter's page runs with its extra alone, at the oldest versions.

What is installed is in the Makefile and in `constraints.txt`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from side_installs import why_missing

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
RUN = """
import ast, asyncio, inspect, sys
from importlib.metadata import version
print(*map(version, sys.argv[1:]))
code = compile(sys.stdin.read(), "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
result = eval(code, {"__name__": "__main__"})
if inspect.iscoroutine(result):
    asyncio.run(result)
"""
SHOWN = {
    "pydantic-ai": "See [the first result](http",
    "openai-agents": "See [the first result](http",
    "langchain": "{'anthropic': {'requests': 1",
}


@pytest.mark.parametrize("extra", SHOWN)
def test_the_offline_example_runs_with_the_extra_alone(extra: str, tmp_path: Path) -> None:
    folder = Path(sys.prefix, extra)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        pytest.skip(f"{extra} is not installed alone{why_missing(extra)}")
    page = (ROOT / "docs" / f"{extra}.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    example = next(code for code in examples if "model_url" in code)
    installs = re.findall(r"^pip install 'agent-webtools\[(.*?)\]'", page, re.MULTILINE)
    assert f"{extra},sandbox" in installs
    floors = dict(re.findall(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", " ".join(EXTRAS[extra])))
    command = [str(python), "-c", RUN, *floors]
    env = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    result = subprocess.run(
        command,
        check=False,
        input=example,
        capture_output=True,
        text=True,
        timeout=300,
        env=env,
        cwd=tmp_path,
    )
    assert SHOWN[extra] in result.stdout, result.stderr
    versions = result.stdout.split("\n")[0].split()
    for version, floor in zip(versions, floors.values(), strict=True):
        assert f"{version}.".startswith(f"{floor}."), "this is not the oldest version"


def test_extras_for_services_install_no_test_server() -> None:
    for_people = {"sandbox", "cli", "notebook", "all"}  # they have `webtools demo`
    for extra in EXTRAS.keys() - for_people:
        assert not [name for name in EXTRAS[extra] if "sandbox" in name or "aiohttp" in name], extra
