"""What one call imports: nothing that only other calls need, and nothing late where loops run."""

import subprocess
import sys

from webtools_sandbox import SandboxServer

BLOCKING = """
import sys
from webtools import WebTools
with WebTools(config=CONFIG) as web: web.search("json decoder")
print(*sys.modules)
"""
FROZEN = """
import dataclasses, sys
from webtools import WebTools
with WebTools(config=CONFIG) as web: web.search("json decoder")
for name in [name for name in sys.modules if name.startswith("webtools")]:
    for each in vars(sys.modules[name]).values():
        made = vars(each).get("__dataclass_params__") if isinstance(each, type) else None
        if made and made.frozen and each.__module__ == name: print(each.__name__)
"""
AWAITED = """
import asyncio, sys
from webtools import WebTools
before = set(sys.modules)

async def main():
    async with WebTools(config=CONFIG) as web: await web.acall_tool("web_search", {"query": "json"})

asyncio.run(main())
print(*sys.modules.keys() - before)
"""


def modules(program: str, server: SandboxServer) -> set[str]:
    config = server.config()
    used = [each for each in config["providers"] if each["type"] == "exa"]
    code = f"CONFIG = {config | {'providers': used}!r}\n{program}"
    return set(subprocess.check_output([sys.executable, "-c", code], text=True).split())


def test_a_blocking_search_imports_nothing_of_loops_httpx_and_other_calls(
    webtools_sandbox: SandboxServer,
) -> None:
    imported = modules(BLOCKING, webtools_sandbox)
    assert "webtools.providers.exa" in imported
    others = {"webtools.providers.kagi", "webtools.operations.fetch", "webtools.calls.present"}
    assert not imported & {"asyncio", "anyio._backends._asyncio", "httpx", *others}


def test_a_first_call_on_a_loop_imports_nothing_of_ours(webtools_sandbox: SandboxServer) -> None:
    late = modules(AWAITED, webtools_sandbox)
    assert not {name for name in late if name.partition(".")[0] in {"webtools", "anyio"}}


def test_what_one_search_makes_are_records_as_each_frozen_dataclass_takes_a_millisecond(
    webtools_sandbox: SandboxServer,
) -> None:
    users_hold = {"Progress", "Tool", "ToolResult", "Request", "Response"}
    assert modules(FROZEN, webtools_sandbox) <= users_hold | {"About", "Accounts"}
