from __future__ import annotations

import atexit
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import notebook_samples as samples
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config as IPythonConfig

from webtools.errors import RateLimitError, RequestError
from webtools.notebook import magics as notebook_module
from webtools.progress import Progress

if TYPE_CHECKING:
    from typing import Self

KEY = "test-key-canary-1"
CONFIG = {
    "defaultProvider": "exa-main",
    "providers": [
        {"name": "exa-main", "type": "exa", "apiKey": KEY},
        {"name": "my kagi", "type": "kagi", "apiKey": KEY},
    ],
}


class StubTools:
    """Stands in for WebTools: remembers what it was asked, and answers with samples."""

    made: ClassVar[list[StubTools]] = []
    failure: ClassVar[BaseException | None] = None

    def __init__(self, config: Any = None, *, keyless: bool | None = None) -> None:
        self.config, self.keyless = config, keyless
        self.calls: list[tuple[str, Any, dict[str, Any]]] = []
        self.closed = 0
        self.made.append(self)

    def _answer(self, method: str, answer: Any, subject: Any, arguments: dict[str, Any]) -> Any:
        progress = arguments.pop("progress", None)
        self.calls.append((method, subject, arguments))
        if progress is not None:
            progress(Progress("web_search", "searching", 1, 2, "q"))
        if self.failure is not None:
            raise self.failure
        return answer

    def search(self, subject: Any, **arguments: Any) -> Any:
        return self._answer("search", samples.SEARCH, subject, arguments)

    def fetch(self, subject: Any, **arguments: Any) -> Any:
        return self._answer("fetch", samples.FETCH, subject, arguments)

    def read(self, subject: Any, **arguments: Any) -> Any:
        assert "progress" not in arguments
        return self._answer("read", samples.PART, subject, arguments)

    def summarize(self, subject: Any, **arguments: Any) -> Any:
        return self._answer("summarize", samples.SUMMARY, subject, arguments)

    def research(self, subject: Any, **arguments: Any) -> Any:
        return self._answer("research", samples.ENVELOPE, subject, arguments)

    def plan(self, subject: Any, **arguments: Any) -> Any:
        return self._answer("plan", samples.PLAN, subject, arguments)

    def close(self) -> None:
        self.closed += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> list[StubTools]:
    monkeypatch.setattr(StubTools, "made", [])
    monkeypatch.setattr(StubTools, "failure", None)
    monkeypatch.setattr(notebook_module, "WebTools", StubTools)
    return StubTools.made


@pytest.fixture(scope="module")
def _shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    settings = IPythonConfig()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "nocolor"
    settings.InteractiveShell.ipython_dir = str(tmp_path_factory.mktemp("ipython"))
    hook, displayed = sys.excepthook, sys.displayhook
    shell: Any = InteractiveShell(config=settings)
    yield shell
    atexit.unregister(shell.atexit_operations)
    shell.atexit_operations()
    sys.excepthook, sys.displayhook = hook, displayed


@pytest.fixture
def shell(_shell: Any) -> Iterator[Any]:
    yield _shell
    if "webtools" in _shell.extension_manager.loaded:
        _shell.run_line_magic("unload_ext", "webtools")
    _shell.reset(new_session=False)


@pytest.fixture
def session(shell: Any, stubs: list[StubTools]) -> Any:
    """A shell with our magics over a stub."""
    shell.run_line_magic("load_ext", "webtools")
    return shell


def only_call(stubs: list[StubTools]) -> tuple[str, Any, dict[str, Any]]:
    """The one call that was made."""
    [call] = stubs[-1].calls
    return call


def test_the_response_is_the_value_of_the_cell_and_kept_under_the_name(session: Any) -> None:
    ran = session.run_cell("%web_search -o found rust async")
    assert ran.success
    assert ran.result is samples.SEARCH
    assert session.user_ns["found"] is samples.SEARCH
    session.run_cell("taken = %web_search rust async")
    assert session.user_ns["taken"] is samples.SEARCH


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("%%web_search -n 2\none  two\n\n  three\n",
         ("search", ["one  two", "three"], {"limit": "2"})),
        ("%%web_search first\nsecond", ("search", ["first", "second"], {})),
        ("%web_fetch https://a/ https://b/", ("fetch", ["https://a/", "https://b/"], {})),
        ("%%web_fetch --text\nhttps://a/\nhttps://b/\n",
         ("fetch", ["https://a/", "https://b/"], {"text": True})),
        ("%web_summarize --summary-type takeaway https://a/",
         ("summarize", "https://a/", {"summary_type": "takeaway"})),
        ("%web_read --offset 9 --find 'a b' 0b2d",
         ("read", "0b2d", {"offset": "9", "find": "a b"})),
        ("%%web_deep --synthesis none\nWhat is\nit?\n",
         ("research", "What is\nit?", {"command": "web-deep", "synthesis": "none"})),
        ("%web_news --recency-days 3 what now",
         ("research", "what now", {"command": "web-news", "recency_days": "3"})),
        ("%web_research --command web-docs asyncio",
         ("research", "asyncio", {"command": "web-docs"})),
        ("%web_docs --cache refresh asyncio",
         ("research", "asyncio", {"command": "web-docs", "cache": "refresh"})),
        ("%web_plan --command web-deep -n 2 why",
         ("plan", "why", {"command": "web-deep", "limit": "2"})),
        ("%web_search --include-domain a.example --include-domain b.example q",
         ("search", ["q"], {"include_domains": ["a.example", "b.example"]})),
    ],
)  # fmt: skip
def test_each_magic_calls_its_method(
    session: Any, stubs: list[StubTools], source: str, call: Any
) -> None:
    assert session.run_cell(source).success
    assert only_call(stubs) == call


@pytest.mark.parametrize(
    ("source", "queries"),
    [
        ("topic = 'rust'\n%web_search {topic} async", ["rust async"]),
        ("topic = 'rust'\n%web_search $topic async", ["rust async"]),
        ("topic = 'rust'\n%web_search {topic.upper()} {1 + 1}", ["RUST 2"]),
        ("%web_search python {} vs {'a': 1} $unknown", ["python {} vs {'a': 1} $unknown"]),
        ("%web_search {0:>5} or { or }", ["{0:>5} or { or }"]),
        ("%web_search {{unknown}} reader", ["{unknown} reader"]),
        ("%web_search {[n for n in range(2)]} {(lambda x: x)(3)}", ["[0, 1] 3"]),
        ("def f(local):\n    %web_search {local} async\nf('rust')", ["rust async"]),
        ("topic = '{1 + 1} $topic'\n%web_search {topic}", ["{1 + 1} $topic"]),
    ],
)
def test_known_variables_are_replaced_once(
    session: Any, stubs: list[StubTools], source: str, queries: list[str]
) -> None:
    session.run_cell(source)
    assert only_call(stubs)[1] == queries


@pytest.mark.parametrize(
    ("source", "query"),
    [
        ("%web_deep what did Python 3.10 add?", "what did Python 3.10 add?"),
        ("x = 1\nif x:\n    %web_deep what is asyncio??\n", "what is asyncio??"),
        ("found = %web_deep -n 2 what's new?", "what's new?"),
        ("found = {}\nfound['a'] = %web_deep really?  ", "really?"),
        ("%time x = 1\n%web_deep what is asyncio?", "what is asyncio?"),
        ("%%web_deep\nwhat is asyncio?", "what is asyncio?"),
    ],
)
def test_a_question_may_end_in_a_question_mark(
    session: Any, stubs: list[StubTools], source: str, query: str
) -> None:
    assert session.run_cell(source).success
    assert only_call(stubs)[1] == query


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("%web_search", "%web_search "),
        ("%%web_search\n\n  \n", "%web_search "),
        ("%web_search --quux x", "--quux"),
        ("%web_search --limti 3 x", '"--limit"'),
        ("%web_fetch -p", "-p"),
        ("%web_search -o 1st x", '"1st"'),
        ("%web_search -o class x", '"class"'),
        ("%web_search {unknown} reader", "unknown"),
        ("%%web_search\none\n{len(unknown[0].title)}", "unknown"),
        ("%web_search --config {unknown} x", "unknown"),
        ("%web_search {__name__.none} x", "{__name__.none}"),
        ("%web_search {__name__} $unknown", "{__name__}"),
        ("%web_sandbox restart", '"restart"'),
        ("%web_summarize https://a/ https://b/", "one URL"),
        ("%web_read --cache use x", "--cache"),
        ("%web_read", "%web_read {result.details['read_handle"),
    ],
)
def test_wrong_usage_is_one_line_and_sends_nothing(
    session: Any,
    stubs: list[StubTools],
    capsys: pytest.CaptureFixture[str],
    source: str,
    message: str,
) -> None:
    ran = session.run_cell(source)
    assert isinstance(ran.error_in_exec, UsageError)
    out, err = capsys.readouterr()
    magic = source.split(maxsplit=1)[0].lstrip("%")
    assert (out + err).startswith(f"UsageError: %{magic}: ")
    assert message in out + err
    assert (out + err).count("\n") == 1
    assert stubs[0].calls == []


def test_our_errors_keep_their_type_and_are_shown_without_a_traceback(
    session: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failure = RateLimitError("exa answered 429; wait \x1b[31m5 s.", provider="exa")
    monkeypatch.setattr(StubTools, "failure", failure)
    ran = session.run_cell("%web_search -o found x")
    assert ran.error_in_exec is failure
    out, err = capsys.readouterr()
    assert out + err == "RateLimitError: exa answered 429; wait 5 s.\n"
    assert "found" not in session.user_ns


def test_ctrl_c_is_shown_without_a_traceback(
    session: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(StubTools, "failure", KeyboardInterrupt())
    session.run_cell("%web_search x")
    out, err = capsys.readouterr()
    assert (out + err).startswith("KeyboardInterrupt: ")
    assert (out + err).count("\n") == 1


@pytest.mark.parametrize("magic", ["web_search", "web_fetch", "web_summarize", "web_research"])
def test_a_magic_that_makes_calls_has_a_time_limit(
    session: Any, stubs: list[StubTools], magic: str
) -> None:
    session.run_cell(f"seconds = 2.5\n%{magic} --timeout $seconds https://a.example/")
    assert not isinstance(session.last_execution_result.error_in_exec, BaseException)
    assert [arguments["timeout"] for _, _, arguments in stubs[-1].calls] == [2.5]


def test_keyless_holds_for_one_call_under_the_settings_in_force(
    session: Any, stubs: list[StubTools], config: Path
) -> None:
    session.run_cell(f"%web_config {config}")
    session.run_cell("%web_search --keyless one")
    session.run_cell("%web_search two")
    *_, kept, once = [(item.config, item.keyless, len(item.calls)) for item in stubs]
    assert (kept, once) == ((str(config), None, 1), (str(config), True, 1))


def test_a_config_file_for_one_call_does_not_affect_others(
    session: Any, stubs: list[StubTools]
) -> None:
    session.run_cell("%web_search --config /a/web-search.json one")
    session.run_cell("%web_search two")
    assert [(stub.config, len(stub.calls), stub.closed) for stub in stubs] == [
        (None, 1, 0),
        ("/a/web-search.json", 1, 1),
    ]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "web-search.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    path.chmod(0o600)
    return path


def test_a_config_file_can_be_set_for_all_later_calls(
    session: Any,
    stubs: list[StubTools],
    config: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("EXA_API_KEY", KEY)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config.parent / "none"))
    monkeypatch.setenv("HOME", str(config.parent / "none"))
    for line in (f'"{config}"', "", "--default"):
        session.run_line_magic("web_config", line)
    out = capsys.readouterr().out
    assert out.count(f"Source: {config}") == 2
    assert "Source: the environment (EXA_API_KEY)" in out
    assert KEY not in out
    assert [(stub.config, stub.closed) for stub in stubs] == [
        (None, 1),
        (str(config), 1),
        (None, 0),
    ]


def test_the_sandbox_answers_until_it_is_stopped(
    shell: Any, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_line_magic("load_ext", "webtools")
    shell.run_line_magic("web_config", str(config))
    for line in ("", "start", "-o web start"):
        shell.run_line_magic("web_sandbox", line)
    response = shell.run_cell("%web_search heap queue").result
    assert "heapq" in response.results[0].title
    assert shell.user_ns["web"].search("heap queue").results == response.results
    capsys.readouterr()
    shell.run_line_magic("web_config", "")
    assert "http://127.0.0.1:" in capsys.readouterr().out
    shell.run_cell(f"%web_config {config}.missing")
    assert "In use: the sandbox at http://127.0.0.1:" in capsys.readouterr().out
    shell.run_line_magic("web_sandbox", "stop")
    assert str(config) in capsys.readouterr().out
    shell.run_line_magic("web_config", "")
    assert "127.0.0.1" not in capsys.readouterr().out
    with pytest.raises(RequestError):
        shell.user_ns["web"].search("heap queue", cache="bypass")


def test_an_option_is_not_taken_for_a_config_file(session: Any) -> None:
    with pytest.raises(UsageError, match="--help"):
        session.run_line_magic("web_config", "--help")


def complete(shell: Any, line: str) -> list[str]:
    """Complete as a notebook does, which replaces the part of the line from `start` on."""
    with provisionalcompleter():
        offered = [*shell.Completer.completions(line, len(line))]
    return [line[: one.start].rpartition(" ")[2].rpartition("=")[2] + one.text for one in offered]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%web_search --provider ", ["exa-main", '"my kagi"']),
        ("%web_search -p ex", ["exa-main"]),
        ("found = %web_fetch --provider=ex", ["exa-main"]),
        ("%%web_summarize --engine a", ["agnes"]),
        ("%web_search --category per", []),
        ("%web_search --category pe", ["people"]),
        ("%web_deep --rec", ["--recency-days"]),
    ],
)
def test_names_and_options_are_completed(
    session: Any, config: Path, line: str, offered: list[str]
) -> None:
    session.run_line_magic("web_config", str(config))
    matches = complete(session, line)
    assert [one for one in matches if one in offered] == offered
    assert offered or "personal site" not in "".join(matches)


def test_python_names_are_not_completed_among_the_options(session: Any) -> None:
    matches = complete(session, "%web_search --")
    assert "--provider" in matches
    assert all(match.startswith("--") for match in matches)


def test_unloading_takes_everything_away(session: Any, stubs: list[StubTools]) -> None:
    session.run_line_magic("unload_ext", "webtools")
    for kind in session.magics_manager.magics.values():
        assert [name for name in kind if name.startswith("web")] == []
    assert complete(session, "%web_search --prov") == []
    assert stubs[0].closed == 1
    session.run_line_magic("load_ext", "webtools")
    session.run_line_magic("reload_ext", "webtools")
    assert session.run_cell("%web_search x").success
    assert complete(session, "%web_search --prov") == ["--provider"]


def load_again() -> None:
    spec = importlib.util.spec_from_file_location("again", str(notebook_module.__file__))
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_without_ipython_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    load_again()
    monkeypatch.setitem(sys.modules, "IPython.core.error", None)
    needs = r"^webtools.notebook needs IPython: pip install 'agent-webtools\[notebook\]'$"
    with pytest.raises(ImportError, match=needs):
        load_again()
