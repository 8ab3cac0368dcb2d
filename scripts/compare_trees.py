"""Compare two versions of the source tree: the same calls on every surface, against the sandbox.

    python scripts/compare_trees.py record before.jsonl     # with the environment of one tree
    python scripts/compare_trees.py record after.jsonl      # with the environment of the other
    python scripts/compare_trees.py compare before.jsonl after.jsonl

A recording holds what each call returned or raised, what the command line printed, and the requests
that the sandbox received. Record both on the same day: the sandbox dates its news by it. Renamed
fields and intended differences are listed in `compare_trees.toml`, or the file given by `--config`.
The exit code of `compare` is 1 if there are other differences.
"""

# ruff: noqa: D102, D103 - most functions say it by their names

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import io
import json
import logging
import os
import re
import sys
import tempfile
import tomllib
import warnings
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from compare_trees_calls import Scenario, Step, scenarios

LONGEST_TEXT = 3_000  # characters of a text that are recorded; the rest is hashed
MOST_SHOWN = 60
Outcome = dict[str, Any]


# --- surfaces ----------------------------------------------------------------------------------


@dataclass
class Session:
    """What the steps of one scenario share.

    Attributes:
        web: The instance of `WebTools`.
        config_path: Its settings as a file, for the command line.
        read_handle: The handle of the last output that was cut.
    """

    web: Any
    config_path: Path
    read_handle: str = "0" * 32

    def arguments(self, step: Step) -> dict[str, Any]:
        return {
            name: self.read_handle if value == "$handle" else value
            for name, value in step.arguments.items()
        }


METHODS = {
    "web_search": ("search", "queries"),
    "web_fetch": ("fetch", "urls"),
    "summarize": ("summarize", "url"),
    "web_research": ("research", "query"),
    "web_read": ("read", "handle"),
    "verify": ("verify", "answer"),
    "plan": ("plan", "query"),
}
SINGULAR = {"queries": "query", "urls": "url"}
PLAIN_ERRORS = ("provider", "status", "retryable", "retry_after")


def method_call(session: Session, step: Step, prefix: str = "") -> Any:
    """Call the method of `WebTools` that a tool stands for; return its result or its coroutine."""
    name, subject = METHODS[step.tool]
    arguments = session.arguments(step)
    if subject not in arguments:
        subject = SINGULAR.get(subject, subject)
    positional = [arguments.pop(subject)] if subject in arguments else []
    return getattr(session.web, prefix + name)(*positional, **arguments)


def response_outcome(response: Any) -> Outcome:
    return {"result": response.model_dump(mode="json"), "text": str(response)}


def error_outcome(error: BaseException) -> Outcome:
    fields = {name: getattr(error, name) for name in PLAIN_ERRORS if hasattr(error, name)}
    return {"error": type(error).__name__, "text": str(error), **fields}


def core(session: Session, step: Step) -> Outcome:
    return response_outcome(method_call(session, step))


async def core_async(session: Session, step: Step) -> Outcome:
    return response_outcome(await method_call(session, step, "a"))


def tool_outcome(result: Any) -> Outcome:
    return {"text": result.text, "details": result.details, "is_error": result.is_error}


def call_tool(session: Session, step: Step) -> Outcome:
    return tool_outcome(session.web.call_tool(step.tool, session.arguments(step)))


async def call_tool_async(session: Session, step: Step) -> Outcome:
    return tool_outcome(await session.web.acall_tool(step.tool, session.arguments(step)))


def langchain_call(session: Session, step: Step) -> tuple[Any, dict[str, Any]]:
    from langchain_webtools import WebToolkit  # noqa: PLC0415 - an optional extra

    tools = {tool.name: tool for tool in WebToolkit(web=session.web).get_tools()}
    arguments = session.arguments(step)
    return tools[step.tool], {"type": "tool_call", "id": "1", "name": step.tool, "args": arguments}


def message_outcome(message: Any) -> Outcome:
    status = {"is_error": message.status == "error"}
    return {"text": message.content, "details": message.artifact, **status}


def langchain(session: Session, step: Step) -> Outcome:
    tool, call = langchain_call(session, step)
    return message_outcome(tool.invoke(call))


async def langchain_async(session: Session, step: Step) -> Outcome:
    tool, call = langchain_call(session, step)
    return message_outcome(await tool.ainvoke(call))


def llamaindex_tool(session: Session, step: Step) -> Any:
    from llamaindex_webtools import WebToolsSpec  # noqa: PLC0415 - an optional extra

    tools = {tool.metadata.name: tool for tool in WebToolsSpec(web=session.web).to_tool_list()}
    return tools[step.tool]


def output_outcome(output: Any) -> Outcome:
    return {"text": output.content, "details": output.raw_output, "is_error": output.is_error}


def llamaindex(session: Session, step: Step) -> Outcome:
    return output_outcome(llamaindex_tool(session, step).call(**session.arguments(step)))


async def llamaindex_async(session: Session, step: Step) -> Outcome:
    tool = llamaindex_tool(session, step)
    return output_outcome(await tool.acall(**session.arguments(step)))


async def mcp(session: Session, step: Step) -> Outcome:
    from mcp.client import Client  # noqa: PLC0415 - an optional extra

    from webtools.mcp import make_server  # noqa: PLC0415 - needs that extra

    async with Client(make_server(session.web)) as client:
        result = await client.call_tool(step.tool, session.arguments(step))
    blocks = [block.model_dump(mode="json") for block in result.content]
    return {"content": blocks, "details": result.structured_content, "is_error": result.is_error}


COMMANDS = {"web_search": "search", "web_fetch": "fetch", "web_read": "read"}
SUBJECTS = ("query", "queries", "url", "urls", "handle", "answer")
OPTIONS = {"include_domains": "include-domain", "exclude_domains": "exclude-domain"}


def command_line(session: Session, step: Step) -> list[str]:
    """Write a call of a tool as a command."""
    arguments = session.arguments(step)
    command = arguments.pop("command", "web") if step.tool == "web_research" else step.tool
    words = [COMMANDS.get(command, command), "--config", str(session.config_path)]
    subjects = [arguments.pop(name) for name in SUBJECTS if name in arguments]
    for name, value in arguments.items():
        option = f"--{OPTIONS.get(name, name).replace('_', '-')}"
        for item in value if isinstance(value, list) else [value]:
            words += [option] if item is True else [option, str(item)]
    for subject in subjects:
        words += ["--", *map(str, subject if isinstance(subject, list) else [subject])]
    return words


def run_command(words: list[str]) -> Outcome:
    from webtools.cli import main  # noqa: PLC0415 - after the environment is set

    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            code: Any = main(words)
        except SystemExit as error:
            code = error.code
    stdout, stderr = (stream.buffer.getvalue().decode("utf-8") for stream in streams)  # type: ignore[attr-defined]
    return {"exit_code": code, "stdout": stdout, "stderr": stderr}


def cli(session: Session, step: Step) -> Outcome:
    return run_command(command_line(session, step))


def cli_json(session: Session, step: Step) -> Outcome:
    words = command_line(session, step)
    outcome = run_command([words[0], "--json", *words[1:]])
    with contextlib.suppress(ValueError):
        outcome["stdout"] = json.loads(outcome["stdout"])
    return outcome


BLOCKING: dict[str, Callable[[Session, Step], Outcome]] = {
    "core": core,
    "call_tool": call_tool,
    "langchain": langchain,
    "llamaindex": llamaindex,
    "cli": cli,
    "cli --json": cli_json,
}
ASYNC: dict[str, Callable[[Session, Step], Awaitable[Outcome]]] = {
    "core async": core_async,
    "call_tool async": call_tool_async,
    "langchain async": langchain_async,
    "llamaindex async": llamaindex_async,
    "mcp": mcp,
}
FOR_METHODS_ONLY = {"core", "core async"}


# --- recording ---------------------------------------------------------------------------------


class Recorder:
    """Runs scenarios against one sandbox, each with settings and a store of its own."""

    def __init__(self, sandbox: Any, folder: Path) -> None:
        self._sandbox = sandbox
        self._folder = folder
        self._runs = 0

    def record(self, scenario: Scenario) -> Iterator[Outcome]:
        for surface in [*BLOCKING, *ASYNC]:
            if scenario.is_for_methods and surface not in FOR_METHODS_ONLY:
                continue
            for number, outcome in enumerate(self._run(scenario, surface)):
                yield {"scenario": scenario.name, "surface": surface, "step": number, **outcome}

    def _run(self, scenario: Scenario, surface: str) -> list[Outcome]:
        from webtools import WebTools  # noqa: PLC0415 - after the environment is set

        self._sandbox.reset()
        self._runs += 1
        folder = self._folder / f"{self._runs:06}"
        folder.mkdir()
        config = scenario.config(self._sandbox, folder)
        path = folder / "web-search.json"
        path.write_text(json.dumps(config))
        path.chmod(0o600)

        if surface in BLOCKING:
            with WebTools(config) as web:
                session = Session(web, path)
                return [self._blocking(session, surface, step) for step in scenario.steps]

        async def run() -> list[Outcome]:
            async with WebTools(config) as web:
                session = Session(web, path)
                return [await self._async(session, surface, step) for step in scenario.steps]

        return asyncio.run(run())

    def _blocking(self, session: Session, surface: str, step: Step) -> Outcome:
        self._prepare(step)
        try:
            outcome = BLOCKING[surface](session, self._resolve(step))
        except Exception as error:  # noqa: BLE001 - it is what is compared
            outcome = error_outcome(error)
        return self._complete(session, outcome)

    async def _async(self, session: Session, surface: str, step: Step) -> Outcome:
        self._prepare(step)
        try:
            outcome = await ASYNC[surface](session, self._resolve(step))
        except Exception as error:  # noqa: BLE001 - it is what is compared
            outcome = error_outcome(error)
        return self._complete(session, outcome)

    def _prepare(self, step: Step) -> None:
        self._sandbox.reset_stats()
        self._sandbox.clear_faults()
        for fault in step.faults:
            self._sandbox.fault(**fault)

    def _resolve(self, step: Step) -> Step:
        """Put the addresses of the sandbox into a step."""
        text = json.dumps(step.arguments)
        text = text.replace("$docs", self._sandbox.docs_url)
        text = text.replace("$news", self._sandbox.news_url)
        return Step(step.tool, json.loads(text), step.faults)

    def _complete(self, session: Session, outcome: Outcome) -> Outcome:
        details = outcome.get("details") or outcome.get("result") or outcome.get("stdout") or {}
        if isinstance(details, dict):
            session.read_handle = details.get("read_handle") or session.read_handle
        elif shown := re.search(r"\b[0-9a-f]{32}\b", str(details)):
            session.read_handle = shown[0]
        requests = [self._request(sent) for sent in self._sandbox.stats()["last"]]
        found = {"outcome": outcome, "requests": requests}
        plain = normalized(json.loads(json.dumps(found, default=str)), self._replacements())
        plain["requests"].sort(key=json.dumps)  # concurrent requests arrive in any order
        return plain

    def _replacements(self) -> list[tuple[re.Pattern[str], str]]:
        return [
            (re.compile(rf"\b{self._sandbox.port}\b"), "<port>"),
            (re.compile(re.escape(str(self._folder)) + r"(/\d{6})?"), "<folder>"),
            *PATTERNS,
        ]

    @staticmethod
    def _request(sent: Mapping[str, Any]) -> dict[str, Any]:
        headers = {k: v for k, v in sent["headers"].items() if k not in {"host", "content-length"}}
        return {**sent, "headers": headers}


PATTERNS = [
    (re.compile(r"(untrusted-web-data )[0-9a-f]{6,}"), r"\1<token>"),
    (re.compile(r"\b[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\b\d+(\.\d+)? ?(ms|seconds?)\b"), r"<time> \2"),
    (re.compile(r"0x[0-9a-f]{6,}"), "<address>"),
    (re.compile(r"\b(29\d\d|3000) s\b"), "<time> s"),  # until the date of "HTTP 429 until a date"
]
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00| UTC)?")
TIMES = {"retry_after", "ms", "age_s", "elapsed"}  # fields that hold what is left of a time


def normalized(value: Any, replacements: list[tuple[re.Pattern[str], str]], name: str = "") -> Any:
    """Replace what differs from run to run: ports, folders, ids, times near the present."""
    match value:
        case dict():
            return {key: normalized(item, replacements, key) for key, item in value.items()}
        case list():
            return [normalized(item, replacements, name) for item in value]
        case str():
            for pattern, replacement in replacements:
                value = pattern.sub(replacement, value)
            return shortened(MOMENT.sub(lambda match: without_present(match[0]), value))
        case float() if name in TIMES:
            return round(value / 10) * 10
    return value


def without_present(moment: str) -> str:
    """Replace a moment of the last hour or the next day; others are part of the sandbox's data."""
    text = moment.removesuffix(" UTC").removesuffix("Z").removesuffix("+00:00")
    try:
        away = datetime.fromisoformat(text).replace(tzinfo=UTC) - datetime.now(UTC)
    except ValueError:
        return moment
    return "<now>" if timedelta(hours=-1) < away < timedelta(days=1) else moment


def shortened(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{text[:LONGEST_TEXT]}… ({len(text)} characters, SHA-256 {digest})"


def prepare_environment(folder: Path) -> None:
    """Leave no key, config file or terminal of the user to what is recorded."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_proxy", "_PROXY")) or name.startswith(
            ("WEB_SEARCH_", "WEBTOOLS_", "PI_")
        ):
            del os.environ[name]
    os.environ.update(COLUMNS="100", TERM="dumb", NO_COLOR="1", HOME=str(folder))
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(folder / name)
    tempfile.tempdir = str(folder)
    warnings.simplefilter("ignore")
    logging.disable()


def record(path: Path, only: str) -> int:
    with tempfile.TemporaryDirectory() as name, path.open("w", encoding="utf-8") as file:
        folder = Path(name)
        prepare_environment(folder)
        from webtools_sandbox import SandboxServer  # noqa: PLC0415 - after the environment is set

        count = 0
        with SandboxServer() as sandbox:
            recorder = Recorder(sandbox, folder)
            for scenario in scenarios():
                if fnmatchcase(scenario.name, only):
                    for row in recorder.record(scenario):
                        file.write(json.dumps(row, sort_keys=True) + "\n")
                        count += 1
    print(f"{count} outcomes recorded in {path}")
    return 0


# --- comparing ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """One value that differs."""

    scenario: str
    surface: str
    path: str
    before: Any
    after: Any


class Expectations:
    """Renamed fields, and differences that are intended."""

    def __init__(self, path: Path) -> None:
        data = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
        self._renamed: dict[str, str] = data.get("renamed", {})
        self._intended: list[dict[str, str]] = data.get("intended", [])

    def renamed(self, value: Any) -> Any:
        match value:
            case dict():
                return {self._renamed.get(k, k): self.renamed(item) for k, item in value.items()}
            case list():
                return [self.renamed(item) for item in value]
            case str():
                return self._renamed.get(value, value)
        return value

    def is_intended(self, difference: Difference) -> bool:
        return any(self._matches(rule, difference) for rule in self._intended)

    @staticmethod
    def _matches(rule: Mapping[str, str], difference: Difference) -> bool:
        globs = all(
            fnmatchcase(getattr(difference, name), rule.get(name, "*"))
            for name in ("scenario", "surface", "path")
        )
        texts = all(
            re.search(rule.get(name, ""), str(getattr(difference, name)))
            for name in ("before", "after")
        )
        return globs and texts


MISSING = "<missing>"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    match value:
        case dict() if value:
            for key, item in value.items():
                yield from leaves(item, f"{path}.{key}" if path else key)
        case list() if value:
            for number, item in enumerate(value):
                yield from leaves(item, f"{path}.{number}")
        case _:
            yield path, value


def read_recording(path: Path) -> dict[tuple[str, str, int], Any]:
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {(row.pop("scenario"), row.pop("surface"), row.pop("step")): row for row in rows}


def differences(before: Path, after: Path, expectations: Expectations) -> Iterator[Difference]:
    old, new = read_recording(before), read_recording(after)
    for key in sorted(old.keys() | new.keys()):
        olds = dict(leaves(expectations.renamed(old.get(key, MISSING))))
        news = dict(leaves(expectations.renamed(new.get(key, MISSING))))
        for path in sorted(olds.keys() | news.keys()):
            values = olds.get(path, MISSING), news.get(path, MISSING)
            if values[0] != values[1]:
                yield Difference(f"{key[0]} ({key[2]})", key[1], path, *values)


def compare(before: Path, after: Path, config: Path) -> int:
    expectations = Expectations(config)
    all_differences = list(differences(before, after, expectations))
    unexpected = [item for item in all_differences if not expectations.is_intended(item)]
    alike: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for difference in unexpected:
        path = re.sub(r"\.\d+", ".N", difference.path)
        alike[path, "".join(changed_parts(difference))].append(difference)
    for group in sorted(alike.values(), key=len, reverse=True)[:MOST_SHOWN]:
        first = group[0]
        surfaces = ", ".join(dict.fromkeys(difference.surface for difference in group))
        print(f"{len(group)} times {first.path} in {first.scenario}; {surfaces}")
        old, new = changed_parts(first)
        print(f"    - {old}\n    + {new}")
    if len(alike) > MOST_SHOWN:
        print(f"and {len(alike) - MOST_SHOWN} other kinds of differences")
    print(
        f"{len(unexpected)} differences, and {len(all_differences) - len(unexpected)} intended ones"
    )
    return 1 if unexpected else 0


def changed_parts(difference: Difference) -> tuple[str, str]:
    """Return both values from shortly before the first character that differs."""
    old, new = json.dumps(difference.before), json.dumps(difference.after)
    pairs = enumerate(zip(old, new, strict=False))
    same = next((number for number, pair in pairs if len(set(pair)) > 1), len(old))
    start = max(0, same - 40)
    return old[start : start + 160], new[start : start + 160]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run all calls and write their outcomes")
    recording.add_argument("path", type=Path)
    recording.add_argument("--only", default="*", help="pattern of the scenarios' names")
    comparing = commands.add_parser("compare", help="compare two recordings")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    config = Path(__file__).with_suffix(".toml")
    comparing.add_argument("--config", type=Path, default=config, help=f"default: {config.name}")
    options = parser.parse_args()
    if options.command == "record":
        return record(options.path, options.only)
    return compare(options.before, options.after, options.config)


if __name__ == "__main__":
    sys.exit(main())
