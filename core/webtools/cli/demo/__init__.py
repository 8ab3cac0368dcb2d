"""`webtools demo`: one question, answered by commands and by two agents, over real HTTP."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from webtools.cli.demo import screen
from webtools.cli.demo.script import TOOLS, Script
from webtools.cli.output import FAILED, FINE, USAGE, complain, tell

if TYPE_CHECKING:
    from webtools import WebTools

QUESTION = "How do I generate secure random tokens in Python?"

_NEXT_STEPS = """\
What next:
  webtools config init        begin your own config file
  webtools search "..."       search with it
  webtools demo --live        the same over your own providers
  webtools sandbox            run your own agents offline, with test keys"""


Show: TypeAlias = Callable[[Script, "WebTools", Path | None], bool]


@dataclass(frozen=True)
class _Part:
    """One way of answering: who shows it, and what that needs."""

    title: str
    show: str  # module and function, called with the script, the tools and the config file
    install: str = ""


def run(options: Namespace) -> int:
    """Show the demo, over the sandbox or the user's own config.

    Returns:
        The exit code: 0 also when a framework is not installed; 2 when nothing can be shown.
    """
    try:
        with _settings(live=options.live) as config:
            return _show(" ".join(options.texts) or QUESTION, config)
    except ImportError as error:
        complain(str(error))
        return USAGE


@contextmanager
def _settings(*, live: bool) -> Generator[Path | None, None, None]:
    """Yield the config file to use; None is the user's own."""
    if live:
        yield None
        return
    from webtools_sandbox import SandboxServer  # noqa: PLC0415

    with TemporaryDirectory(prefix="webtools-demo-") as folder, SandboxServer() as server:
        path = Path(folder, "web-search.json")
        path.write_text(json.dumps(server.config(), indent=2), encoding="utf-8")
        screen.text(f"The offline sandbox serves the providers' APIs at {server.url}.")
        yield path


def _show(question: str, config: Path | None) -> int:
    from webtools import WebTools  # noqa: PLC0415

    start = time.monotonic()
    script = Script(question, _usable_tools(config))
    screen.text(f"Question: {question}")
    screen.text("The agents' model is a script; tools, agent loops and HTTP are real.")
    with WebTools(config=config) as web:
        outcomes = [_show_part(part, script, web, config) for part in _PARTS]
    tell(f"\nDone in {time.monotonic() - start:.1f} s.\n\n{_NEXT_STEPS}")
    return FINE if all(outcomes) else FAILED


def _usable_tools(config: Path | None) -> tuple[str, ...]:
    """List the tools that some provider can serve; without search there is nothing to show."""
    from webtools.calls.select import servable  # noqa: PLC0415
    from webtools.config import Settings  # noqa: PLC0415

    accounts = Settings(config).accounts()
    accounts.select("search")
    usable = {tool.name for tool in servable(accounts)}
    for tool, capability in TOOLS.items():
        if tool not in usable:
            screen.text(f"No configured provider can {capability}: {tool} is left out.")
    return ("web_search", *(tool for tool in TOOLS if tool in usable))


def _show_part(part: _Part, script: Script, web: WebTools, config: Path | None) -> bool:
    """Show a part, or what it takes: a package that is not there is no failure."""
    screen.heading(part.title)
    module, _, function = part.show.partition(":")
    try:
        show: Show = getattr(import_module(f"{__name__}.{module}"), function)
    except ImportError as error:
        is_missing = isinstance(error, ModuleNotFoundError)  # else it is a wrong release
        package = (error.name or "").partition(".")[0]
        why = f"the package {package} is not installed" if is_missing and package else error
        screen.text(f"Left out: {why}. It takes:")
        print(f"  pip install --upgrade {part.install}", flush=True)
        return is_missing
    return show(script, web, config)


_PARTS = (
    _Part("1. The command line", "command:show"),
    _Part("2. Research with citations", "command:research"),
    _Part(
        "3. A LangChain agent (create_agent)",
        "langchain:show",
        "'agent-webtools[langchain]' langchain",
    ),
    _Part(
        "4. A LlamaIndex agent (FunctionAgent)", "llamaindex:show", "'agent-webtools[llamaindex]'"
    ),
)
