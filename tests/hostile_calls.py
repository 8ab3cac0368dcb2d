"""Calls of a hostile web by all the ways there are, and what they gave."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import hostile_corpus as corpus
import pytest
from hostile_corpus import QUERY, URLS

from webtools import WebTools
from webtools.cli import main
from webtools.progress import Progress
from webtools.tools import ToolResult
from webtools_sandbox import SandboxServer

METHODS = {
    "web_search": "search",
    "web_fetch": "fetch",
    "summarize": "summarize",
    "web_research": "research",
    "web_read": "read",
}
SEARCHERS = ["exa", "kagi", "brave", "perplexity"]
NAMES = [*corpus.TEXTS]


WITHOUT_LOGIN = [url for url in URLS if "@" not in url]  # one with a login is refused


def _calls(site: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name in SEARCHERS:
        given = {"queries": [QUERY], "limit": 20, "provider": name}
        yield f"search-{name}", "web_search", given
    yield "search-partly", "web_search", {"queries": [QUERY, corpus.SECOND], "limit": 20}
    kinds = {"text": True, "summary": True, "highlights": True}
    yield "fetch-exa", "web_fetch", {"urls": [*WITHOUT_LOGIN, "https://gone.example/"], **kinds}
    pages = [f"{site}/{name}{kind}" for name in NAMES for kind in ("", ".txt")]
    yield "fetch-direct", "web_fetch", {"urls": pages, "provider": "direct"}
    yield "summarize", "summarize", {"url": URLS[0]}
    for command in ("web", "web-deep", "web-news", "web-docs"):
        given = {"query": QUERY, "command": command, "limit": 10}
        yield f"research-{command}", "web_research", given
    asked = {"query": QUERY, "command": "web-deep", "limit": 10, "synthesis": "perplexity"}
    yield "research-perplexity", "web_research", asked


def _failing_calls() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name in SEARCHERS:
        yield f"failed-search-{name}", "web_search", {"queries": [QUERY], "provider": name}
    yield "failed-fetch", "web_fetch", {"urls": URLS[:1], "provider": "exa"}
    yield "failed-summarize", "summarize", {"url": URLS[0]}
    yield "failed-research", "web_research", {"query": QUERY, "command": "web-docs"}
    provider = corpus.TEXTS["tool"]
    yield "refused", "web_search", {"queries": [corpus.TEXTS["osc"]], "provider": provider}
    yield "refused-handle", "web_read", {"handle": corpus.TEXTS["fence"]}


READS = ["read", "read-find"]
SHOWN = [name for name, _, _ in _calls("")]
GOOD = [*SHOWN, *READS]
BAD = [name for name, _, _ in _failing_calls()]


def _command(tool: str, given: dict[str, Any]) -> list[str]:
    """Write a call as a command line, where it can be written as one."""
    provider = ["--provider", given["provider"]] if "provider" in given else []
    match tool:
        case "web_search":
            return ["search", "--limit", "20", *provider, "--", *given["queries"]]
        case "web_fetch":
            return ["fetch", *provider, *given["urls"]]
        case "summarize":
            return ["summarize", given["url"]]
        case "web_research":
            how = ["--synthesis", given["synthesis"]] if "synthesis" in given else []
            return [given["command"], "--limit", "10", *how, given["query"]]
        case _:
            return []


@dataclass
class Outcome:
    """What a call gave: to a model, to a program, and to the reader of a command's output."""

    tool: str
    arguments: dict[str, Any]
    result: ToolResult
    response: Any = None
    printed: str = ""


@dataclass
class Ground:
    """Calls under one config, after they were made."""

    web: WebTools
    config: Path
    site: str
    fence: str
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    progress: list[Progress] = field(default_factory=list[Progress])

    def __post_init__(self) -> None:
        self.logs = [self.config.with_name("log.ndjson")]

    def make_good_calls(self) -> None:
        for name, tool, arguments in _calls(self.site):
            assert not self.call(name, tool, arguments).is_error, name
        handle = self.outcomes["fetch-direct"].result.details["read_handle"]
        self.call("read", "web_read", {"handle": handle, "offset": 7})
        self.call("read-find", "web_read", {"handle": handle, "find": "\x1b[31m\u202ecsv"})

    def make_bad_calls(self) -> None:
        for name, tool, arguments in _failing_calls():
            assert self.call(name, tool, arguments).is_error, name

    def call(self, name: str, tool: str, arguments: dict[str, Any]) -> ToolResult:
        result = self.web.call_tool(tool, arguments, progress=self.progress.append)
        made = self.outcomes[name] = Outcome(tool, arguments, result)
        if command := _command(tool, arguments):
            made.printed = self._printed(command, fails=result.is_error)
        if not result.is_error:
            given = dict(arguments)
            first = given.pop(next(iter(given)))
            made.response = getattr(self.web, METHODS[tool])(first, **given)
        return result

    def _printed(self, command: list[str], *, fails: bool) -> str:
        printed = StringIO()
        name, *rest = command
        with redirect_stdout(printed), redirect_stderr(printed):
            for how in ([], ["--json"]):
                code = main([name, *how, "--config", str(self.config), *rest])
                assert bool(code) is fails
        return printed.getvalue()


def write_config(server: SandboxServer, site: str, folder: Path, fence: str) -> Path:
    config = server.config()
    direct = {"name": "direct", "type": "direct", "options": {"allowPrivateHosts": [site[7:]]}}
    config["providers"].append(direct)
    config["cache"] = {"path": str(folder / "cache.sqlite3")}
    config["log"] = {"path": str(folder / "log.ndjson")}
    path = folder / "web-search.json"
    path.write_text(json.dumps({**config, "fence": fence}), encoding="utf-8")
    path.chmod(0o600)
    return path


Make = Callable[[list[dict[str, Any]], str], Ground]


@contextmanager
def grounds(server: SandboxServer, new_folder: Callable[[str], Path]) -> Iterator[Make]:
    """Return the faults of the APIs, and where to call them from."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr("tempfile.tempdir", str(new_folder("saved")))
        site = stack.enter_context(corpus.site())

        def make(answers: list[dict[str, Any]], fence: str) -> Ground:
            corpus.serve(server, answers)
            config = write_config(server, site, new_folder("hostile"), fence)
            return Ground(stack.enter_context(WebTools(config)), config, site, fence)

        yield make
        server.reset()
