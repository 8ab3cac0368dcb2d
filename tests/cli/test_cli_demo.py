"""demo: in parts, and from end to end."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli_calls import Cli

from webtools.cli import demo
from webtools.cli.demo import screen
from webtools.cli.demo.script import NOTHING_FOUND, Call, Script
from webtools.config import config_paths
from webtools.text.fencing import fenced

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

# LlamaIndex itself uses what pydantic deprecates.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

FOUND = """\
1. One page
   https://a.example/one
   A snippet about https://c.example/other

2. Another page
   https://b.example/two
"""
PARTS = (
    "1. The command line",
    "2. Research with citations",
    "3. A LangChain agent",
    "4. A LlamaIndex agent",
)


# --- the script --------------------------------------------------------------------------------


def test_it_searches_for_keywords_and_for_the_question() -> None:
    turn = Script("How do I use asyncio?").turn([])
    assert turn == Call("web_search", {"queries": ["asyncio", "How do I use asyncio?"], "limit": 3})


def test_a_question_of_fillers_alone_is_searched_for_once() -> None:
    turn = Script("what is it").turn([])
    assert isinstance(turn, Call)
    assert turn.arguments["queries"] == ["what is it"]


def test_it_reads_the_first_page_that_was_found() -> None:
    turns = [Script("q").turn([FOUND]), Script("q").turn([FOUND, "page"])]
    assert turns == [
        Call("web_fetch", {"urls": ["https://a.example/one"], "question": "q"}),
        Call("summarize", {"url": "https://a.example/one"}),
    ]


def test_it_answers_from_the_page_it_read_and_cites_it() -> None:
    page = "## One\nhttps://a.example/one\n\n## Use\n\nFirst.\nSecond.\n\n```python\nuse()\n```"
    answer = Script("q").turn([FOUND, page, "A summary."])
    assert answer == "First. Second.\n\nSources:\n- [One page](https://a.example/one)"


def test_without_a_page_it_answers_from_the_last_text() -> None:
    answer = Script("q").turn([FOUND, "page", "First.\nSecond."])
    assert answer == "First. Second.\n\nSources:\n- [One page](https://a.example/one)"


def test_without_results_it_cites_nothing() -> None:
    assert Script("q").turn(["No results found."]) == NOTHING_FOUND


def test_it_leaves_out_the_tools_that_no_provider_serves() -> None:
    script = Script("q", ("web_search", "summarize"))
    assert script.turn([FOUND]) == Call("summarize", {"url": "https://a.example/one"})
    assert isinstance(script.turn([FOUND, "s"]), str)


def test_a_long_answer_ends_with_a_sentence() -> None:
    answer = Script("q").turn([FOUND, "p", "A sentence. " + "words " * 100])
    assert isinstance(answer, str)
    assert answer.startswith("A sentence.\n")


def test_an_answer_without_a_sentence_is_cut() -> None:
    answer = Script("q").turn([FOUND, "p", "words " * 100])
    assert isinstance(answer, str)
    assert len(answer.partition("\n")[0]) == 200


def test_a_long_title_is_cut_in_the_sources() -> None:
    answer = Script("q").turn([FOUND.replace("One page", "Page " * 40), "p", "S."])
    assert isinstance(answer, str)
    assert re.search(r"^- \[Page Page [^\]]*…\]\(https://a.example/one\)$", answer, re.MULTILINE)


def test_it_reads_through_the_fence_that_models_see() -> None:
    answer = Script("q").turn([fenced(FOUND), "page", fenced("First.\nSecond.")])
    assert answer == "First. Second.\n\nSources:\n- [One page](https://a.example/one)"


def test_an_excerpt_fits_and_leaves_urls_whole(capsys: pytest.CaptureFixture[str]) -> None:
    url = f"https://a.example/{'x' * 80}"
    screen.result(fenced(f"{'word ' * 30}{url}\n{url}"))
    prose, alone = capsys.readouterr().out.splitlines()
    assert len(prose) == 78
    assert alone == f"   {url}"


def test_on_a_narrow_terminal_no_word_is_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    words = "word " * 30
    screen.text(words)
    screen.command(["webtools", *words.split()])
    screen.answer(f"1. {words}")
    screen.result(f"{words}\n{words}")
    lines = capsys.readouterr().out.splitlines()
    assert 35 < max(map(len, lines)) <= 40
    assert {*" ".join(lines).split()} <= {"$", "webtools", "\\", "Answer:", "1.", "word", "w…", "…"}


def test_the_demo_s_last_words_fit_a_narrow_terminal_too(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch)
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    assert max(map(len, cli("demo").out.splitlines())) <= 40


def test_an_excerpt_says_how_much_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    screen.result("1\n2")
    assert capsys.readouterr().out == "   1\n   2\n"
    screen.result("\n\n".join("12345678"))
    assert capsys.readouterr().out.endswith("   6\n   … 2 more lines\n")


# --- the demo ----------------------------------------------------------------------------------


def urls(text: str) -> set[str]:
    return set(re.findall(r"https?://[^\s)\"\]]+", text))


def test_it_answers_four_times_in_80_columns_and_cites_what_it_was_given(cli: Cli) -> None:
    done = cli("demo")
    assert (done.code, done.err) == (0, "")
    out = done.out
    parts = re.split("|".join(map(re.escape, PARTS)), out)[1:]
    assert len(parts) == 4
    _, research, *_ = parts
    assert "$ webtools web-deep --config" in research
    answer, _, sources = research.partition("Sources:")
    cited = {int(number) for number in re.findall(r"\[(\d+)\]", answer)}
    listed = {int(number) for number in re.findall(r"^ +(\d+)\. ", sources, re.MULTILINE)}
    assert {1} <= cited <= listed
    assert "Passages:" not in research
    for part in (*parts[:1], *parts[2:]):
        steps, _, answer = part.partition("\nAnswer:\n")
        assert all(f"{name}" in steps for name in ("search", "fetch", "summarize"))
        sources = urls(answer.partition("Sources:")[2].partition("\nDone in")[0])
        assert sources
        assert sources <= urls(steps)
    assert out.count("Generate cryptographically strong pseudo-random") >= 3
    assert "webtools config init" in parts[-1]
    assert max(map(len, out.splitlines())) <= 80


def hide(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Let packages seem not to be installed."""
    for name in list(sys.modules):
        if name.partition(".")[0] in packages or name.startswith("webtools.cli.demo.l"):
            monkeypatch.delitem(sys.modules, name)
    for name in packages:
        monkeypatch.setitem(sys.modules, name, None)


def only(monkeypatch: pytest.MonkeyPatch, *functions: str) -> None:
    """Leave out the other parts, which take their time."""
    parts = tuple(part for part in demo._PARTS if part.show in functions)
    assert len(parts) == len(functions)
    monkeypatch.setattr(demo, "_PARTS", parts)


def test_without_the_frameworks_it_says_what_to_install_and_shows_the_rest(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only(monkeypatch, "command:research", "langchain:show", "llamaindex:show")
    hide(monkeypatch, "langchain", "llama_index")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(tmp_path.iterdir())
    done = cli("demo")
    assert set(tmp_path.iterdir()) == before
    assert done.code == 0
    assert "Left out: the package langchain is not installed. It takes:\n" in done.out
    assert "pip install --upgrade 'agent-webtools[langchain]' langchain\n" in done.out
    assert "pip install --upgrade 'agent-webtools[llamaindex]'\n" in done.out
    assert done.out.count("\nAnswer:\n") == 1


def test_a_framework_of_another_release_is_a_failure(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "langchain:show")
    # Other tests may have loaded both.
    monkeypatch.delitem(sys.modules, "webtools.cli.demo.langchain", raising=False)
    monkeypatch.delattr("langchain_webtools.WebToolkit", raising=False)
    monkeypatch.setattr("langchain_webtools.__getattr__", lambda name: getattr(object, name))
    done = cli("demo")
    assert done.code == 1
    assert "cannot import name 'WebToolkit'" in " ".join(done.out.split())


def test_live_without_settings_is_exit_2_with_the_config_message(cli: Cli) -> None:
    done = cli("demo", "--live")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("webtools: KAGI_API_KEY environment variable is not set.")


@pytest.fixture
def own_config(config: str) -> Path:
    """The sandbox as the user's own providers."""
    path = config_paths()[0]
    path.parent.mkdir(parents=True)
    return Path(config).rename(path)


def test_live_uses_the_user_s_own_config(
    cli: Cli, own_config: Path, webtools_sandbox: SandboxServer
) -> None:
    done = cli("demo", "--live", "How do heaps work?")
    assert (done.code, done.err) == (0, "")
    assert done.out.count(f"{webtools_sandbox.docs_url}/library/heapq.html)") == 3
    assert "Sources:\n   1. heapq — Heap queue algorithm (a.k.a. priority queue)\n" in done.out
    assert "sandbox" not in done.out.partition("What next")[0]
    assert "--config" not in done.out


def test_live_leaves_out_what_no_provider_of_the_user_serves(
    cli: Cli, own_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "command:show", "langchain:show")
    config = json.loads(own_config.read_text())
    own_config.write_text(json.dumps({"providers": config["providers"][:1]}))
    done = cli("demo", "--live", "How do heaps work?")
    assert done.code == 0
    assert "No configured provider can summarize: summarize is left out." in done.out
    assert done.out.count("\nAnswer:\n") == 2


def test_live_leaves_out_research_when_no_provider_of_the_user_serves_it(
    cli: Cli, own_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "command:research")
    config = json.loads(own_config.read_text())
    found = [entry for entry in config["providers"] if entry["type"] == "perplexity"]
    own_config.write_text(json.dumps({**config, "defaultProvider": None, "providers": found}))
    done = cli("demo", "--live", "How do heaps work?")
    assert (done.code, done.err) == (0, "")
    words = " ".join(done.out.split())
    assert "Left out: web_research: no retrieval providers configured (" in words
    assert "web-deep" not in done.out
    assert "Answer:" not in done.out


def test_a_numbered_line_of_an_answer_goes_on_below_its_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen.answer("12. " + "word " * 20)
    first, second = capsys.readouterr().out.splitlines()[2:]
    assert first.startswith("   12. word")
    assert second.startswith("       word")


def test_a_failing_search_is_shown_and_is_exit_1(
    cli: Cli, own_config: Path, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    done = cli("demo", "--live")
    assert done.code == 1
    assert done.out.count("   failed:\n") == 4
    assert done.out.count("Nothing was found") == 3
    assert "test-key" not in done.out + done.err


def test_a_question_that_begins_with_a_dash_stays_a_question(
    cli: Cli, own_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "command:show", "command:research")
    done = cli("demo", "--live", "--", "--version")
    words = done.out.replace(" \\\n   ", "")
    assert "-- version --version" in words
    assert "web-deep -- --version" in words
    assert "failed" not in done.out


def test_the_scripted_llamaindex_model_only_chats() -> None:
    from webtools.cli.demo.llamaindex import ScriptedModel  # noqa: PLC0415

    model = ScriptedModel(script=Script("q"))
    with pytest.raises(NotImplementedError):
        model.complete("x")
    with pytest.raises(NotImplementedError):
        model.stream_complete("x")
