"""Count the way of one call, from the LangChain tool to the socket and back.

The call is a `web_search` against the sandbox: warm, not in the cache, cache and log on. What is
counted are named functions of this distribution (each once, however often it is called), and how
many generators are suspended in one another where they are deepest.

    python scripts/count_steps.py [--list]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from inspect import CO_GENERATOR
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

OURS = ("/webtools/", "/langchain_webtools/")


@dataclass(slots=True)
class Steps:
    """What a call went through.

    Attributes:
        functions: Our functions, in the order in which they were first entered.
        calls: How often one of them was called.
        generators: Names of the generators on the stack where it was deepest, outermost first.
    """

    functions: dict[CodeType, None] = field(default_factory=dict[CodeType, None])
    calls: int = 0
    generators: list[str] = field(default_factory=list[str])

    def enter(self, frame: FrameType) -> None:
        """Take down that a frame was entered."""
        if not _is_ours(frame):
            return
        self.calls += 1
        self.functions.setdefault(frame.f_code)
        nested = [item.f_code.co_name for item in _stack(frame) if _is_generator(item)]
        if len(nested) > len(self.generators):
            self.generators = nested[::-1]


def _stack(frame: FrameType | None) -> list[FrameType]:
    frames: list[FrameType] = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _is_ours(frame: FrameType) -> bool:
    name = frame.f_code.co_filename.replace("\\", "/")
    return any(our in name for our in OURS) and "<" not in frame.f_code.co_name


def _is_generator(frame: FrameType) -> bool:
    return _is_ours(frame) and bool(frame.f_code.co_flags & CO_GENERATOR)


def count(call: Callable[[], Any]) -> Steps:
    """Count the steps of a call."""
    steps = Steps()

    def follow(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            steps.enter(frame)

    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
    return steps


def count_search(folder: Path) -> Steps:
    """Count the steps of one `web_search` with the LangChain tool: of three, the shortest way.

    On a busy machine a file may seem too slow to be read at once, which takes a longer way.

    Args:
        folder: Where cache and log may be written.
    """
    from langchain_webtools import WebSearchTool  # noqa: PLC0415 - the framework takes a second
    from webtools import WebTools  # noqa: PLC0415
    from webtools_sandbox import SandboxServer  # noqa: PLC0415

    with SandboxServer() as server:
        config = server.config()
        entry = next(item for item in config["providers"] if item["type"] == "exa")
        config |= {
            "defaultProvider": entry["name"],
            "cache": {"path": str(folder / "cache.sqlite3")},
            "log": {"path": str(folder / "log.ndjson")},
        }
        with WebTools(config=config) as web:
            tool = WebSearchTool(web=web)
            for query in ("json decoder", "zip bombs"):
                tool.invoke({"query": query})
            queries = ("secure random token", "heap queue", "temporary files")
            ways = [count(partial(tool.invoke, {"query": item})) for item in queries]
            return min(ways, key=lambda way: len(way.functions))


def main() -> None:
    """Print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="name the functions")
    listed = parser.parse_args().list
    with tempfile.TemporaryDirectory() as folder:
        steps = count_search(Path(folder))
    files = {code.co_filename for code in steps.functions}
    print(f"{len(steps.functions)} functions in {len(files)} files, {steps.calls} calls")
    print(f"{len(steps.generators)} generators nested: {' > '.join(steps.generators)}")
    for code in steps.functions if listed else ():
        print(f"  {Path(code.co_filename).stem}.{code.co_qualname}")


if __name__ == "__main__":
    main()
