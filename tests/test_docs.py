"""The code that the README and the docs show runs, unchanged, against the sandbox.

A page's Python blocks run in turn and share their names; where they need a chat model, `model` is
one of LangChain and `llm` one of LlamaIndex, and the packages that bring OpenAI's have stand-ins.
An `agent` that a block makes is asked a question. Functions named `test_…` are called as pytest
would. Lines of `sh` are run where they are ours or `curl`, and those of `console` must print what
is shown; three dots stand for anything. `webtools sandbox` serves, on a free port, until the page
ends. JSON is a config, an envelope or a line of the log. A comment `file: PATH` before a block
marks what the test of that page writes to a file.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from docs_models import QUESTION, chat_model, language_model, stand_in

from webtools import ResearchEnvelope, WebTools, logs
from webtools.cli import main
from webtools.cli.arguments import read as read_arguments
from webtools.cli.sandbox import trial_config, write_config
from webtools.config import Config, load
from webtools.config.environment import variables
from webtools_sandbox import SandboxServer

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(ROOT.glob("docs/**/*.md"))]
LANGUAGES = {"python", "py", "ipython", "sh", "console", "json", "text", "toml"}
ANSWERS = ["Sources:\n- [zipfile"]  # of an agent
SHOWN = {  # what the examples of a page must have printed, lest they find nothing and go on
    "README.md": ["json.decoder — Implementation of JSONDecoder", "# json.decoder", *ANSWERS * 2],
    "docs/index.md": ["# json.decoder", "zipfile — Read and write ZIP files"],
    "docs/langchain.md": [
        "Sources:\n- [zipfile",
        "2 calls of customer-7",
        "success 5 0.007",
        "search_result",
        "[1]",
    ],
    "docs/llamaindex.md": [
        "Sources:\n- [zipfile",
        "2 calls,",
        "False 5 0.007",
        "synthesizing 1 of 1",
        "[1]",
    ],
    "docs/notebooks.md": ["<SearchResponse 4 results from exa>", "'medium'"],
    "docs/tools/index.md": ["5 False", "True\nFalse", "searching 2 of 2", "is blank"],
    "docs/tools/web_search.md": ["'category': 'native'"],
    "docs/tools/web_fetch.md": ["CRAWL_NOT_FOUND"],
    "docs/tools/web_research.md": ["[1] https://docs.python.org/3/library/zipfile.html"],
    "docs/providers/direct.md": ["True", "blocked by webtools"],
    "docs/sandbox.md": ["Sandbox at http://127.0.0.1:", "the next request fails: 401"],
    "docs/service.md": ["JSONDecoder", *["200", "200"] * 2, "400"],
    "docs/research.md": ["['exa', 'brave'] 0.017"],
    "docs/security.md": ["False"],
    "docs/sessions.md": [
        *("url_not_seen", "True", "nowhere.html", "[99]", "| exa |"),
        *("True\n[]", "{'not_compared': 5}"),
    ],
    "docs/write-an-adapter.md": ["['web_search', 'web_fetch']", "searching 1 of 1", "1. ", "topic"],
    "docs/bulk.md": ["2 0.0 all is done", "ok heap queue ", "3 of 3 done"],
}
CALL_ID = "6ahdbay157jv"  # in an example it stands for the last call
PORT = "127.0.0.1:8765"  # where `webtools sandbox` serves if nothing else is said
DOCS_URL, NEWS_URL = "https://docs.python.org/3", "https://news.example"


@dataclass(frozen=True)
class Block:
    """A block of code; `place` is its file and line, `mark` the comment before it."""

    place: str
    language: str
    text: str
    mark: str = ""


def blocks_of(page: Path) -> list[Block]:
    result: list[Block] = []
    before, fence, start, received = "", "", 0, list[str]()
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not fence and line.startswith("```"):
            fence, start, received = line, number, []
        elif fence and line == "```":
            place = f"{page.relative_to(ROOT)}:{start}"
            mark = before.removeprefix("<!-- ").removesuffix(" -->") if "<!--" in before else ""
            result.append(Block(place, fence[3:], "\n".join(received) + "\n", mark))
            fence = before = ""
        elif fence:
            received.append(line)
        elif line.strip():
            before = line
    return result


BLOCKS = {str(page.relative_to(ROOT)): blocks_of(page) for page in PAGES}
EVERY = [block for blocks in BLOCKS.values() for block in blocks]


# --- the surroundings --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[SandboxServer]:
    """A sandbox whose pages seem to be those of the real site."""
    with SandboxServer(docs_url=DOCS_URL, news_url=NEWS_URL) as running:
        yield running


@pytest.fixture
def configured(
    server: SandboxServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_temp: None
) -> SandboxServer:
    """A user whose settings lead to the sandbox, in a folder with a config for it as well."""
    server.reset()
    folder = tmp_path / ".pi/agent"
    folder.mkdir(parents=True)
    for path in (folder / "web-search.json", tmp_path / "sandbox.json"):
        write_config(path, trial_config(server, path))
    for name in variables():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", f"{_bin(tmp_path)}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    stand_in(monkeypatch)
    return server


def _bin(folder: Path) -> Path:
    """Make a folder of commands: this Python, and ours run by it."""
    result = folder / "bin"
    result.mkdir()
    for name, arguments in {"webtools": "-m webtools", "python": ""}.items():
        script = result / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        script.chmod(0o700)
    return result


def last_call() -> str:
    [event] = logs.tail(Path.home() / ".pi/agent/web-search-log.ndjson", 1)
    return str(event["call"])


# --- how each language is run ------------------------------------------------------------------


class Page:
    """Runs the blocks of one page."""

    def __init__(
        self, server: SandboxServer, output: Callable[[], str], resources: ExitStack
    ) -> None:
        self._server = server
        self._output = output
        self._resources = resources
        self._served = ""  # host and port of the sandbox that the page started
        self._names: dict[str, Any] = {"__name__": "page"}
        self._shell: Any = None

    def run(self, block: Block) -> None:
        if block.mark.startswith("file: "):
            return
        getattr(self, f"_{block.language}", self._nothing)(block)
        self._output()  # what one block prints is not for the next

    def _nothing(self, block: Block) -> None:
        """Output, or what another test is about."""

    def _python(self, block: Block) -> None:
        if re.search(r"\bmodel\b", block.text):
            self._names.setdefault("model", chat_model())
        if re.search(r"\bllm\b", block.text):
            self._names.setdefault("llm", language_model())
        before = dict(self._names)
        code = compiled(block)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, self._names))
        else:
            exec(code, self._names)
        for name in self._names.keys() - before.keys():
            if name.startswith("test_"):
                self._server.reset()
                self._names[name](self._server)
        if (agent := self._names.get("agent")) is not before.get("agent"):
            sys.stdout.write(asyncio.run(answer_of(agent)))

    def _ipython(self, block: Block) -> None:
        if self._shell is None:
            self._shell = _new_shell()
            self._shell.run_cell("%load_ext webtools").raise_error()
        self._shell.run_cell(block.text).raise_error()

    def _sh(self, block: Block) -> None:
        for line in block.text.splitlines():
            check_command(line)
            if shlex.split(line, comments=True)[:1] in (["webtools"], ["curl"]):
                self._command(line, block.place)

    def _console(self, block: Block) -> None:
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            line, _, expected = part.partition("\n")
            call = last_call() if CALL_ID in part else ""
            self._output()
            self._command(line.replace(CALL_ID, call), block.place)
            assert_shown(expected.replace(CALL_ID, call), self._output(), block.place)

    def _command(self, line: str, place: str) -> None:
        words = shlex.split(line, comments=True)
        if words[0] == "curl":
            assert self._served, f"{place}: nothing serves there yet"
            send(words, self._served, place)
        elif words[1:2] == ["sandbox"]:
            self._served = self._resources.enter_context(serving(words[1:]))
        elif re.search(r"\s[|<>]\s", line):
            process = subprocess.run(
                line, shell=True, check=False, capture_output=True, text=True, timeout=60
            )
            assert process.returncode == 0, f"{place}: {line}\n{process.stderr}"
        else:
            assert main(words[1:]) == 0, f"{place}: {line}\n{self._output()}"

    def _json(self, block: Block) -> None:
        data = json.loads(block.text)
        if {"results", "meta"} <= data.keys():
            envelope = ResearchEnvelope.model_validate(data)
            assert envelope.model_dump(mode="json") == data, block.place
        elif "event" in data:
            assert list(data)[:4] == ["ts", "event", "call", "pid"], block.place
        else:
            # Who copies it must get snippets.
            without = [
                entry.name
                for entry in load(block.text, block.place).providers
                if getattr(entry.options, "search_highlights", None) is False
            ]
            assert without == [], block.place


async def answer_of(agent: Any) -> str:
    """Ask an agent of either framework."""
    if not hasattr(agent, "ainvoke"):
        return str(await agent.run(QUESTION))
    answer = await agent.ainvoke({"messages": [("user", QUESTION)]})
    return str(answer["messages"][-1].text)


@contextmanager
def serving(arguments: list[str]) -> Generator[str]:
    """Run `webtools sandbox` on a free port and yield its host and port."""
    options = read_arguments(arguments)
    if options.write_config:
        Path(options.write_config).unlink(missing_ok=True)  # that of the page's surroundings
    command = [sys.executable, "-m", "webtools", *arguments, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
            sys.stdout.write(first)
            yield re.findall(r"^Sandbox at http://(\S+),", first)[0]
        finally:
            process.kill()


def send(words: list[str], served: str, place: str) -> None:
    """Run a line of curl, without curl if need be, and tell what the next request gets."""
    assert PORT in words[-1], place
    url = words[-1].replace(PORT, served)
    if shutil.which("curl"):
        subprocess.run([*words[:-1], "--fail", "--silent", url], check=True, timeout=60)
    else:
        assert words[1:-2] == ["-d"], place
        httpx.post(url, content=words[-2]).raise_for_status()
    status = httpx.post(f"http://{served}/exa/search").status_code
    sys.stdout.write(f"the next request fails: {status}")


def compiled(block: Block) -> Any:
    page, _, line = block.place.partition(":")
    text = "\n" * int(line) + block.text  # so that a traceback names the line of the page
    return compile(text, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def _new_shell() -> Any:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.history_manager.enabled = False
    return shell


def assert_shown(expected: str, printed: str, place: str) -> None:
    """Compare what was printed with what a page shows, where `...` stands for anything."""
    lines = [
        "(?s:.*)" if line == "..." else re.escape(line).replace(re.escape("..."), ".*")
        for line in expected.strip().splitlines()
    ]
    assert re.fullmatch("\n".join(lines), printed.strip()), f"{place} prints:\n{printed}"


def check_command(line: str) -> None:
    """Refuse a command that cannot be meant: it must be ours, or one that we can vouch for."""
    words = shlex.split(line, comments=True)
    if not words:
        return
    known: dict[str, Callable[[], bool]] = {
        "webtools": lambda: True,
        "curl": lambda: "/_sandbox/" in words[-1],
        "pip": lambda: words[1] == "install" and _extras(words[2]) <= EXTRAS,
        "export": lambda: words[1].partition("=")[0] in {*variables(), "WEBTOOLS_CONFIG"},
        "make": lambda: words[1] in TARGETS,
        ".venv/bin/python": lambda: words[1:3] == ["-m", "pytest"],
    }
    assert words[0] in known, f"this command is not checked: {line}"
    assert known[words[0]](), line


def _extras(requirement: str) -> set[str]:
    match = re.fullmatch(r"agent-webtools(?:\[([a-z,-]+)\])?", requirement)
    assert match, requirement
    return set((match[1] or "all").split(","))


_PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
_OPTIONAL = _PROJECT.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
EXTRAS = set(
    re.findall(r"^([\w-]+) = \[(?!\])", _OPTIONAL, re.MULTILINE)
)  # those that bring something
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


# --- the tests ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # what the frameworks' own modules do
@pytest.mark.parametrize("name", [name for name, blocks in BLOCKS.items() if blocks])
def test_the_examples_of_a_page_work(
    name: str, configured: SandboxServer, capsys: pytest.CaptureFixture[str]
) -> None:
    printed: list[str] = []

    def output() -> str:
        printed.append(capsys.readouterr().out)
        return printed[-1]

    if name == "docs/service.md":
        pytest.importorskip("fastapi")
    with ExitStack() as resources:
        page = Page(configured, output, resources)
        for block in BLOCKS[name]:
            page.run(block)
    for words, times in Counter(SHOWN.get(name, ())).items():
        assert "".join(printed).count(words) >= times, words


def test_every_code_block_has_a_language() -> None:
    for block in EVERY:
        assert block.language in LANGUAGES, block.place


def test_no_block_is_left_out() -> None:
    for block in EVERY:
        assert (
            block.mark.startswith(("file: ", "excerpt: ", "generated", "end of generated"))
            or not block.mark
        )


def test_the_links_of_the_documents_lead_somewhere() -> None:
    for page in PAGES:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_documents_show_every_key_of_the_config() -> None:
    text = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    for field in Config.model_fields.values():
        assert f"`{field.alias}`" in text


def test_one_dictionary_is_a_config(webtools_sandbox: SandboxServer) -> None:
    with WebTools(webtools_sandbox.config()) as web:
        assert web.search("json").results
