"""Magics for IPython and Jupyter: `%load_ext webtools`, then `%web`, `%web_fetch` and others.

    %web --provider exa-main -o found structural pattern matching
    %web_fetch https://docs.python.org/3/
    %web_deep what did Python 3.10 add?

Options stand before the query; everything after them is the query as it is, quotes and all.
`{expression}` and `$name` are replaced by what they stand for. `-o NAME` keeps the response.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib.util import find_spec
from string import Formatter
from typing import Any, TypeVar, cast

try:
    from IPython.core.error import TryNext, UsageError
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

from webtools.client import WebTools
from webtools.config.settings import Settings
from webtools.config.settings import check as described
from webtools.errors import WebToolsError
from webtools.notebook.line import Option, OptionError, check, completions, read_line, usage
from webtools.notebook.question import Question
from webtools.notebook.table import MAGICS, Magic
from webtools.progress import NotebookProgress, TerminalProgress
from webtools.text.narrowing import is_list
from webtools.text.visible import display_lines

__all__ = ["WebMagics", "load_ipython_extension", "unload_ipython_extension"]

_MOST_LINES = 40  # of an error; those of settings hold an example
_ANY_MAGIC = re.compile(rf".*?%({'|'.join(MAGICS)})\s")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _magic(function: _Function) -> _Function:
    """Make a line and cell magic that expands variables itself, after the options are read.

    Otherwise the text of a page that stands in a variable could set options.
    """
    function.__doc__ = f"{function.__doc__}\n\nOptions:\n{usage(MAGICS[function.__name__].options)}"
    made: Any = needs_local_scope(no_var_expand(function))
    # Typed differently from version to version.
    return cast("_Function", cast("Any", line_cell_magic)(made))


@magics_class
class WebMagics(Magics):
    """The magics of a session; they share one `WebTools`."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._session = shell  # without the types, which differ from version to version
        self._source: str | None = None
        self._web = WebTools()

    @_magic
    def web(self, line: str, cell: str | None = None, local_ns: Any = None) -> Any:
        """Search the web; in a cell, every line is a query and all run at the same time."""
        return self._call("web", line, cell, local_ns)

    @_magic
    def web_deep(self, line: str, cell: str | None = None, local_ns: Any = None) -> Any:
        """Read the best pages on a question and answer it with citations."""
        return self._call("web_deep", line, cell, local_ns)

    @_magic
    def web_news(self, line: str, cell: str | None = None, local_ns: Any = None) -> Any:
        """Find recent news on a question."""
        return self._call("web_news", line, cell, local_ns)

    @_magic
    def web_docs(self, line: str, cell: str | None = None, local_ns: Any = None) -> Any:
        """Find documentation of a library."""
        return self._call("web_docs", line, cell, local_ns)

    @_magic
    def web_fetch(self, line: str, cell: str | None = None, local_ns: Any = None) -> Any:
        """Read pages; in a cell, every line is a URL."""
        return self._call("web_fetch", line, cell, local_ns)

    @_magic
    def web_summarize(self, line: str, cell: str | None = None, local_ns: Any = None) -> Any:
        """Summarize the document behind a URL."""
        return self._call("web_summarize", line, cell, local_ns)

    @no_var_expand
    @line_magic
    def web_config(self, line: str) -> None:
        """Use a config file for all later calls, or `--default` for the usual one.

        Without a path, tell about the settings in force.
        """
        path = line.strip().strip("\"'")
        source = None if path == "--default" else path or self._source
        kept = f"Nothing was changed; still in force: {self._source or 'the usual settings'}."
        with _told_shortly("" if source == self._source else kept):
            lines = described(Settings(source))
        if source != self._source:
            self.close()
            self._source, self._web = source, WebTools(source)
        print("\n".join(lines))  # noqa: T201  # as IPython's own magics do

    def close(self) -> None:
        """Close the connections."""
        self._web.close()

    def _call(self, name: str, line: str, cell: str | None, scope: Any) -> Any:
        magic = MAGICS[name]
        names: dict[str, Any] = {**self._session.user_ns, **(scope or {})}
        with _usage_told(name):
            given, text = read_line(line, magic.options)
            if "help" in given:
                print(getattr(self, name).__doc__)  # noqa: T201  # as above
                return None
            values = {key: _expanded(value, names) for key, value in given.items()}
            check(values, magic.options)
            keep = _variable(values.pop("output", None))
            subject = magic.reads(_expanded(f"{text}\n{cell or ''}", names).strip())
            if not subject:
                raise OptionError(f"give what it is about, such as: %{name} {magic.example}")
        response = self._ask(magic, subject, values)
        if keep:
            self._session.push({keep: response})
        return response

    def _ask(self, magic: Magic, subject: Any, values: dict[str, Any]) -> Any:
        config = values.pop("config", None)
        with (
            _told_shortly(),
            nullcontext(self._web) if config is None else WebTools(config) as web,
            self._progress(subject, magic) as progress,
        ):
            if values.pop("plan", False):
                values.pop("cache", None)  # a plan does not ask anybody
                return web.plan(subject, **magic.fixed, **values)
            call: Callable[..., Any] = getattr(web, magic.method)
            return call(subject, **magic.fixed, **values, progress=progress)

    def _progress(self, subject: Any, magic: Magic) -> AbstractContextManager[Any]:
        if magic.method != "research" and (isinstance(subject, str) or len(subject) == 1):
            return nullcontext()  # there is nothing to count
        if hasattr(self._session, "kernel"):
            return NotebookProgress()
        return TerminalProgress() if find_spec("rich") else nullcontext()

    def complete(self, _: Any, event: Any) -> list[str]:
        """Complete options and their values, names of providers among them.

        Raises:
            TryNext: There is nothing to offer; IPython then asks others.
        """
        try:
            offered = self._offered(event.text_until_cursor)
        except Exception as error:
            # Typing goes on, whatever is wrong with the settings.
            raise TryNext from error
        if not offered:
            raise TryNext
        return offered

    def _offered(self, text: str) -> list[str]:
        match = _ANY_MAGIC.match(text)
        if match is None:
            return []
        due = completions(text[match.end() :], MAGICS[match[1]].options)
        if not isinstance(due, Option):
            return due
        if due.target == "provider":
            accounts = Settings(self._source).accounts().accounts
            return [_quoted(account.name) for account in accounts]
        return [_quoted(choice) for choice in due.choices]


def _quoted(value: str) -> str:
    """Write a value as it must stand in a line."""
    return f'"{value}"' if " " in value else value


def _expanded(value: Any, names: Mapping[str, Any]) -> Any:
    """Replace `{expression}` and `$name` in what a user wrote."""
    if is_list(value):
        return [_expanded(item, names) for item in value]
    if not isinstance(value, str):
        return value
    return "\n".join(_line_expanded(line, names) for line in value.split("\n"))


def _line_expanded(line: str, names: Mapping[str, Any]) -> str:
    """Replace as IPython does: all of a line, or nothing if one expression fails.

    Raises:
        OptionError: It is none that was meant as it stands; searching for it would be in vain.
    """
    try:
        return str(DollarFormatter().vformat(line, (), names))  # loses all lines but the last
    except Exception as error:  # noqa: BLE001  # any code of the user's
        fault = type(error).__name__
    for expression, needed in _expressions(line):
        if missing := needed - {*names, *vars(builtins)}:
            told = f"there is no variable {min(missing)}"
        else:
            told = f"{{{expression}}} was not replaced, as the line raised {fault}"
        raise OptionError(f"{told}; write {{{{, }}}} or $$ for braces or a dollar as they are.")
    return line


def _expressions(line: str) -> Iterator[tuple[str, set[str]]]:
    """Give what stands in braces and names variables, with these; most braces are no code."""
    with suppress(ValueError):  # a brace that stands alone
        for _, name, rest, _ in Formatter().parse(line):
            expression = ":".join(filter(None, [name, rest])).strip()
            with suppress(SyntaxError, RecursionError, MemoryError):
                nodes = [*ast.walk(ast.parse(expression, mode="eval"))]
                named = [node for node in nodes if isinstance(node, ast.Name)]
                bound = {node.id for node in named if isinstance(node.ctx, ast.Store)}
                bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
                if needed := {node.id for node in named} - bound:
                    yield expression, needed


def _variable(name: str | None) -> str | None:
    if name is not None and keyword.iskeyword(name):
        raise OptionError(f'"{name}" is a word of Python itself; choose another name.')
    if name is not None and not name.isidentifier():
        raise OptionError(f'"{name}" cannot be the name of a variable; use letters and digits.')
    return name


@contextmanager
def _usage_told(name: str) -> Generator[None, None, None]:
    """Let wrong usage be one line without a traceback."""
    try:
        yield
    except OptionError as error:
        raise UsageError(f"%{name}: {error}") from None


@contextmanager
def _told_shortly(kept: str = "") -> Generator[None, None, None]:
    """Let our errors, and Ctrl-C, be shown without the frames that led to them."""
    try:
        yield
    except WebToolsError as error:
        lines, _ = display_lines(str(error), _MOST_LINES)
        _shorten(error, "\n".join(filter(None, [*lines, kept])))
        raise
    except KeyboardInterrupt as stopped:
        _shorten(stopped, "the call was stopped")
        raise


def _shorten(error: BaseException, words: str) -> None:
    shown = f"{type(error).__name__}: {words}"
    # What IPython asks an error for; the error itself stays what it is for `except`.
    vars(error)["_render_traceback_"] = lambda: [shown]


def load_ipython_extension(shell: Any) -> None:
    """Add the magics; what `%load_ext webtools` calls."""
    magics = WebMagics(shell)
    shell.register_magics(magics)
    shell.set_hook("complete_command", magics.complete, re_key=_ANY_MAGIC.pattern)
    shell.input_transformer_manager.token_transformers.append(Question)


def unload_ipython_extension(shell: Any) -> None:
    """Take the magics away; what `%unload_ext webtools` calls."""
    manager = shell.magics_manager
    magics = manager.registry.pop(WebMagics.__name__, None)
    if magics is None:
        return
    magics.close()
    for kind in manager.magics.values():
        for name in (*MAGICS, "web_config"):
            kind.pop(name, None)
    shell.strdispatchers["complete_command"].regexs.pop(
        _ANY_MAGIC, None
    )  # compiled alike, so equal
    shell.input_transformer_manager.token_transformers.remove(Question)
