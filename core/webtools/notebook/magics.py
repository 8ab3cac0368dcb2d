"""Magics for IPython and Jupyter. Load them with `%load_ext webtools`.

    %web_search --provider exa-main -o found structural pattern matching
    %web_fetch https://docs.python.org/3/
    %web_deep what did Python 3.10 add?

Options come before the query. The query is not parsed, so it keeps its quotes. `{expression}` and
`$name` are replaced by their values. `-o NAME` stores the response in a variable.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import os
import re
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from importlib.util import find_spec
from string import Formatter
from typing import Any, cast

from webtools_sandbox import SandboxServer

try:
    from IPython.core.completer import (
        CompletionContext,
        SimpleCompletion,
        SimpleMatcherResult,
        context_matcher,  # pyright: ignore[reportUnknownVariableType]
    )
    from IPython.core.error import UsageError
    from IPython.core.magic import (
        Magics,
        line_cell_magic,
        line_magic,
        magics_class,
        needs_local_scope,
        no_var_expand,
    )
    from IPython.utils.text import DollarFormatter
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "IPython":
        raise
    _MESSAGE = "webtools.notebook needs IPython: pip install 'agent-webtools[notebook]'"
    raise ImportError(_MESSAGE) from error

from webtools._internal.pipeline.tape import ambient_tape, forget_ambient_tapes
from webtools._internal.text.narrowing import is_list
from webtools._internal.text.reader import short_interrupt
from webtools._internal.text.visible import display_lines
from webtools.client import WebTools
from webtools.config import Settings
from webtools.config import check as described
from webtools.config.paths import RECORD_VARIABLE, REPLAY_VARIABLE
from webtools.errors import WebToolsError
from webtools.inputs.options import Option, outdated
from webtools.notebook.line import OptionError, completions, read_line, usage
from webtools.notebook.question import Question
from webtools.notebook.table import MAGICS, OUTPUT, TAPE_OPTIONS, Magic
from webtools.progress import NotebookProgress, TerminalProgress

__all__ = ["WebMagics", "load_ipython_extension", "unload_ipython_extension"]

_OTHER_MAGICS = ("web_config", "web_sandbox", "webtools")
_MAX_ERROR_LINES = 40
_ANY_MAGIC = re.compile(rf".*?%({'|'.join(MAGICS)})\s")


class WebMagics(Magics):
    """The magics of a session. They share one `WebTools`."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._session = shell  # untyped, because its types differ between versions
        self._source: str | None = None  # a config file
        self._sandbox: SandboxServer | None = None
        self._web = WebTools()

    @no_var_expand
    @line_magic
    def web_config(self, line: str) -> None:
        """Use a config file for all later calls, or `--default` for the default one.

        Without an argument, describe the current settings.
        """
        path = line.strip().strip("\"'")
        with _usage_errors("web_config"):
            if path.startswith("-") and path != "--default":
                raise OptionError(f"{path} is not an option; use a path or --default.")
        source = None if path == "--default" else path or self._source
        note = f"The settings have not changed. In use: {self._source_in_use}."
        with _short_errors("" if source == self._source else note):
            lines = described(Settings(source if path else self._config))
        if path:
            self._use(source)
        print("\n".join(lines))

    @no_var_expand
    @line_magic
    def web_sandbox(self, line: str) -> None:
        """Start the offline sandbox and use it for all later calls, until `stop`.

        It simulates the providers' APIs on this machine and needs no key. `-o NAME` stores a
        `WebTools` that uses it in a variable.
        """
        with _usage_errors("web_sandbox"):
            arguments, action = read_line(line, (OUTPUT,))
            variable = _variable(arguments.get("output"))
            if action not in {"", "start", "stop"}:
                raise OptionError(f'Unknown action "{action}"; use start or stop.')
        if action == "stop":
            self._use(self._source)
            print(f"The sandbox is stopped. The magics use {self._source_in_use} again.")
            return
        if self._sandbox is None:
            server = SandboxServer()
            server.start()
            self._use(self._source, server)
        server = cast("SandboxServer", self._sandbox)
        if variable:
            self._session.push({variable: WebTools(server.config())})
        print(f"All magics now use the sandbox at {server.url}. To stop it: `%web_sandbox stop`.")

    @no_var_expand
    @line_magic
    def webtools(self, line: str) -> None:
        """Record all later calls with `--record FILE`, or answer them with `--replay FILE`.

        With both, calls that are not on the tape are made and recorded. Without an option, calls
        are made as usual again.
        """
        with _usage_errors("webtools"):
            options, text = read_line(line, TAPE_OPTIONS)
            if text:
                raise OptionError(f'"{text}" is not an option; use --record or --replay.')
        forget_ambient_tapes()
        for option, variable in (("record", RECORD_VARIABLE), ("replay", REPLAY_VARIABLE)):
            os.environ.pop(variable, None)
            if option in options:
                os.environ[variable] = options[option]
        with _short_errors():
            if (tape := ambient_tape()) is not None:
                tape.open()
        files = [f"{name} {path}" for name, path in options.items()]
        print(f"All calls now {' and '.join(files)}." if files else "No tape is in use.")

    def _use(self, source: str | None, server: SandboxServer | None = None) -> None:
        """Use a config file, or a sandbox in its place, from now on."""
        self.close()
        self._source, self._sandbox = source, server
        self._web = WebTools(self._config)

    @property
    def _config(self) -> str | dict[str, Any] | None:
        return self._source if self._sandbox is None else self._sandbox.config()

    @property
    def _source_in_use(self) -> str:
        """The source of the settings, for messages."""
        if self._sandbox is not None:
            return f"the sandbox at {self._sandbox.url}"
        return self._source or "your usual settings"

    def close(self) -> None:
        """Close the connections, and stop the sandbox."""
        self._web.close()
        if self._sandbox is not None:
            self._sandbox.stop()

    def _call(self, name: str, line: str, cell: str | None, scope: Any) -> Any:
        magic = MAGICS[name]
        if magic.new_name:
            print(outdated(f"%{name}", f"%{magic.new_name}"), file=sys.stderr)
        names: dict[str, Any] = {**self._session.user_ns, **(scope or {})}
        with _usage_errors(name):
            arguments, text = read_line(line, magic.options)
            if "help" in arguments:
                print(_help(magic))
                return None
            values = {key: _expanded(value, names) for key, value in arguments.items()}
            if "timeout" in values:
                values["timeout"] = _seconds(values["timeout"])
            variable = _variable(values.pop("output", None))
            subject = magic.read_subject(_expanded(f"{text}\n{cell or ''}", names).strip())
            if not subject:
                raise OptionError(f"the query or URL is missing, as in: %{name} {magic.example}")
        response = self._ask(magic, subject, values)
        if variable:
            self._session.push({variable: response})
        return response

    def _ask(self, magic: Magic, subject: Any, values: dict[str, Any]) -> Any:
        with ExitStack() as stack:
            stack.enter_context(_short_errors())
            stack.enter_context(short_interrupt())
            progress, web = stack.enter_context(self._progress(subject, magic)), self._web
            if values.keys() & {"config", "keyless"}:
                config, keyless = values.pop("config", self._config), values.pop("keyless", None)
                web = stack.enter_context(WebTools(config, keyless=keyless))
            if values.pop("plan", False):
                print(outdated("--plan", "%web_plan"), file=sys.stderr)
                for option in ("cache", "timeout"):  # a plan makes no call
                    values.pop(option, None)
                return web.plan(subject, **magic.fixed, **values)
            call: Callable[..., Any] = getattr(web, magic.method)
            options = {"progress": progress} if magic.makes_calls else {}
            return call(subject, **magic.fixed, **values, **options)

    def _progress(self, subject: Any, magic: Magic) -> AbstractContextManager[Any]:
        if magic.method != "research" and (isinstance(subject, str) or len(subject) == 1):
            return nullcontext()  # there is nothing to count
        if hasattr(self._session, "kernel"):
            return NotebookProgress()
        return TerminalProgress() if find_spec("rich") else nullcontext()

    @context_matcher()  # type: ignore[untyped-decorator]  # pyright: ignore[reportUntypedFunctionDecorator]
    def complete(self, context: CompletionContext) -> SimpleMatcherResult:
        """Complete options and their values, such as names of providers, without Python's names."""
        words: list[str] = []
        with suppress(Exception):  # such as invalid settings
            words = self._completions(context.text_until_cursor)
        matches = [SimpleCompletion(word) for word in words if word.startswith(context.token)]
        return {"completions": matches, "ordered": True, "suppress": bool(matches)}

    def _completions(self, text: str) -> list[str]:
        match = _ANY_MAGIC.match(text)
        if match is None:
            return []
        due = completions(text[match.end() :], MAGICS[match[1]].options)
        if not isinstance(due, Option):
            return due
        choices: Sequence[str] = due.choices
        if due.target == "provider":
            choices = [account.name for account in Settings(self._config).accounts().accounts]
        return [f'"{choice}"' if " " in choice else choice for choice in choices]


def _help(magic: Magic) -> str:
    return f"{magic.summary}\n\nOptions:\n{usage(magic.options)}"


def _make_magic(name: str) -> Any:
    """Return a line and cell magic that expands variables after it has read the options.

    Otherwise the text of a page in a variable could set options.
    """

    def call(self: WebMagics, line: str, cell: str | None = None, local_ns: Any = None) -> Any:
        return self._call(name, line, cell, local_ns)  # pyright: ignore[reportPrivateUsage]

    call.__name__, call.__doc__ = name, _help(MAGICS[name])
    magic: Any = needs_local_scope(no_var_expand(call))
    # Its types differ between versions.
    return cast("Any", line_cell_magic)(magic)


for _name in MAGICS:
    setattr(WebMagics, _name, _make_magic(_name))
magics_class(WebMagics)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise OptionError(f'"{text}" is not a time-out; use a number of seconds.') from None


def _expanded(value: Any, names: Mapping[str, Any]) -> Any:
    """Replace `{expression}` and `$name` in what a user wrote."""
    if is_list(value):
        return [_expanded(item, names) for item in value]
    if not isinstance(value, str):
        return value
    return "\n".join(_line_expanded(line, names) for line in value.split("\n"))


def _line_expanded(line: str, names: Mapping[str, Any]) -> str:
    """Replace as IPython does: everything in a line, or nothing if one expression fails.

    Raises:
        OptionError: An expression failed that was probably not meant as text.
    """
    try:
        return str(DollarFormatter().vformat(line, (), names))  # loses all lines but the last
    except Exception as error:  # noqa: BLE001  # the user's code may raise anything
        fault = type(error).__name__
    for expression, needed in _expressions(line):
        if missing := needed - {*names, *vars(builtins)}:
            reason = f"there is no variable {min(missing)}"
        else:
            reason = f"{{{expression}}} was not replaced: the line raised {fault}"
        raise OptionError(f"{reason}. For a literal brace or dollar, write {{{{, }}}} or $$.")
    return line


def _expressions(line: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the expressions in braces that use variables, with the names of these."""
    with suppress(ValueError):  # a single brace
        for _, name, format_spec, _ in Formatter().parse(line):
            expression = ":".join(filter(None, [name, format_spec])).strip()
            with suppress(SyntaxError, RecursionError, MemoryError):
                nodes = [*ast.walk(ast.parse(expression, mode="eval"))]
                names = [node for node in nodes if isinstance(node, ast.Name)]
                bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
                bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
                if needed := {node.id for node in names} - bound:
                    yield expression, needed


def _variable(name: str | None) -> str | None:
    if name is not None and keyword.iskeyword(name):
        raise OptionError(f'"{name}" is a Python keyword; choose another name.')
    if name is not None and not name.isidentifier():
        raise OptionError(f'"{name}" is not a variable name; use letters, digits and underscores.')
    return name


@contextmanager
def _usage_errors(name: str) -> Generator[None, None, None]:
    """Show wrong usage on one line, without a traceback."""
    try:
        yield
    except OptionError as error:
        raise UsageError(f"%{name}: {error}") from None


@contextmanager
def _short_errors(note: str = "") -> Generator[None, None, None]:
    """Show our errors with a note, and without a traceback."""
    try:
        yield
    except WebToolsError as error:
        lines, _ = display_lines(str(error), _MAX_ERROR_LINES)
        _shorten(error, "\n".join(filter(None, [*lines, note])))
        raise


def _shorten(error: BaseException, message: str) -> None:
    text = f"{type(error).__name__}: {message}"
    # IPython calls this method to render an error.
    vars(error)["_render_traceback_"] = lambda: [text]


def load_ipython_extension(shell: Any) -> None:
    """Add the magics. `%load_ext webtools` calls this function."""
    magics = WebMagics(shell)
    shell.register_magics(magics)
    shell.Completer.custom_matchers.append(magics.complete)
    shell.input_transformer_manager.token_transformers.append(Question)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the magics. `%unload_ext webtools` calls this function."""
    manager = shell.magics_manager
    magics = manager.registry.pop(WebMagics.__name__, None)
    if magics is None:
        return
    magics.close()
    for kind in manager.magics.values():
        for name in (*MAGICS, *_OTHER_MAGICS):
            kind.pop(name, None)
    shell.Completer.custom_matchers.remove(magics.complete)
    shell.input_transformer_manager.token_transformers.remove(Question)
