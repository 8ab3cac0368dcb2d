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
        if made and made.frozen and made.eq and each.__module__ == name: print(each.__name__)
"""
TEXT_ANNOTATIONS = """
import sys
from webtools import WebTools
folders = "webtools.results", "webtools.inputs", "webtools.config"
for name in [name for name in sys.modules if name.startswith(folders)]:
    for each in vars(sys.modules[name]).values():
        if hasattr(each, "model_fields") and each.__module__ == name:
            if {str} & {*map(type, each.__annotations__.values())}: print(each.__name__)
"""
DEEPEST = """
import sys

class Depths:
    deepest = 0

    def find_spec(self, *_):
        frame, depth = sys._getframe(), 0
        while frame: frame, depth = frame.f_back, depth + 1
        self.deepest = max(self.deepest, depth)

sys.meta_path.insert(0, depths := Depths())
from webtools import WebTools
print(depths.deepest)
"""
PATTERNS = """
import re, re._compiler as compiler, sys
found = []
compile_one = compiler.compile

def counted(pattern, flags=0):
    frame = sys._getframe(1)
    while frame.f_globals["__name__"].partition(".")[0] == "re": frame = frame.f_back
    if frame.f_globals["__name__"].startswith("webtools."): found.append(pattern)
    return compile_one(pattern, flags)

compiler.compile = counted
from webtools import WebTools
print(len(found))
"""
TOKENIZED = """
import tokenize

def refuse(*_): raise RuntimeError

tokenize.tokenize = tokenize.generate_tokens = refuse
from webtools import WebTools
with WebTools(config=CONFIG) as web: print(len(web.search("json decoder", country="de").results))
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
BUILT = """
import asyncio
from pydantic import BaseModel
from webtools import WebTools

def unbuilt(kind):
    for each in kind.__subclasses__():
        yield from [] if each.__pydantic_complete__ else [each]
        yield from unbuilt(each)

async def main():
    async with WebTools(config=CONFIG) as web:
        before = set(unbuilt(BaseModel))
        await web.asearch("json")
        for each in before - set(unbuilt(BaseModel)): print(each.__name__)

asyncio.run(main())
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
    others |= {"webtools.providers.direct", "webtools.pages.ssrf", "html", "html.entities"}
    others |= {"webtools.results.plan", "webtools.results.research", "webtools.logs.events"}
    assert not imported & {"asyncio", "anyio._backends._asyncio", "httpx", *others}


def test_a_first_call_on_a_loop_imports_nothing_of_ours(webtools_sandbox: SandboxServer) -> None:
    late = modules(AWAITED, webtools_sandbox)
    assert not {name for name in late if name.partition(".")[0] in {"webtools", "anyio"}}


def test_a_first_search_on_a_loop_builds_no_model(webtools_sandbox: SandboxServer) -> None:
    assert modules(BUILT, webtools_sandbox) == set()


def test_what_one_search_makes_are_records_as_each_frozen_dataclass_takes_a_millisecond(
    webtools_sandbox: SandboxServer,
) -> None:
    assert modules(FROZEN, webtools_sandbox) <= {"Accounts"}


def test_models_are_annotated_by_types_as_pydantic_would_compile_each_text(
    webtools_sandbox: SandboxServer,
) -> None:
    assert modules(TEXT_ANNOTATIONS, webtools_sandbox) == set()


def test_no_model_has_builtins_whose_parameters_pydantic_reads_with_a_tokenizer(
    webtools_sandbox: SandboxServer,
) -> None:
    assert modules(TOKENIZED, webtools_sandbox) == {"5"}


def test_imports_stand_no_deeper_within_imports_than_a_piece_of_the_stack_holds(
    webtools_sandbox: SandboxServer,
) -> None:
    [deepest] = modules(DEEPEST, webtools_sandbox)
    assert int(deepest) <= 120


def test_patterns_that_few_texts_need_are_compiled_when_one_does(
    webtools_sandbox: SandboxServer,
) -> None:
    [found] = modules(PATTERNS, webtools_sandbox)
    assert int(found) <= 20
