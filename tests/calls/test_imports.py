"""A first call on an event loop does not hold it up with imports."""

import subprocess
import sys

from webtools_sandbox import SandboxServer

PROGRAM = """
import asyncio, sys
from webtools import WebTools
before = set(sys.modules)

async def main():
    async with WebTools(config=CONFIG) as web: await web.acall_tool("web_search", {"query": "json"})

asyncio.run(main())
print(*sys.modules.keys() - before)
"""


def test_a_first_call_on_a_loop_imports_nothing_of_ours(webtools_sandbox: SandboxServer) -> None:
    config = webtools_sandbox.config()
    used = [entry for entry in config["providers"] if entry["type"] == "exa"]
    code = f"CONFIG = {config | {'providers': used}!r}\n{PROGRAM}"
    late = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert not {name for name in late if name.partition(".")[0] in {"webtools", "anyio"}}
