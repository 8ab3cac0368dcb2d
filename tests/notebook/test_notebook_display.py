from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import IPython
import notebook_samples as samples
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.formatters import PlainTextFormatter
from IPython.core.interactiveshell import InteractiveShell
from IPython.terminal.interactiveshell import TerminalInteractiveShell
from markdown_it import MarkdownIt
from rich.pretty import pretty_repr

from webtools._internal.display import html as as_html_module
from webtools._internal.display import plain
from webtools._internal.display import result_rows as rows_module
from webtools._internal.display.contents import outline
from webtools._internal.display.elements import Html, tag
from webtools._internal.display.hook import Shown
from webtools._internal.display.html import draw as draw_html
from webtools._internal.display.plan_text import plan_text
from webtools._internal.display.results_markdown import draw as draw_markdown
from webtools._internal.display.results_markdown import inert
from webtools._internal.display.text import cut, cut_lines
from webtools._internal.display.wrapping import wrapped
from webtools.results import (
    Claim,
    FetchResponse,
    Page,
    Passage,
    Quotation,
    ReadResponse,
    ResearchEnvelope,
    ResearchPlan,
    ResearchSynthesis,
    SearchResponse,
    SearchResult,
    SummaryResponse,
)
from webtools.tools import ToolResult

ORIGIN = "http://127.0.0.1:9"
HOSTILE = samples.hostile(ORIGIN)
EVERY = {**samples.NORMAL, **{f"hostile-{name}": one for name, one in HOSTILE.items()}}
SNAPSHOTS = Path(__file__).parent / "snapshots"
KINDS = [SearchResponse, FetchResponse, SummaryResponse, ReadResponse]
KINDS += [ResearchEnvelope, ResearchPlan]
STYLE = re.compile(r"<style>.*?</style>")

TAGS = {"div", "style", "span", "bdi", "a", "table", "thead", "tbody", "tr", "th", "td", "pre"}
TAGS |= {"details", "summary", "ul", "ol", "li", "p", "br", "hr", "em", "strong", "code"}
TAGS |= {"blockquote", "h1", "h2", "h3", "h4", "h5", "h6"}
ATTRIBUTES = {"class", "href", "target", "rel", "dir", "scope", "colspan", "id", "start"}
TRICKS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


class Seen(HTMLParser):
    """The tags and links of a fragment, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[dict[str, str | None]] = []
        self.ids: list[str | None] = []
        self.text = ""
        self.depth = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += 1
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id"]
        if tag == "a":
            self.links.append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        self.text += data


def kept(name: str, text: str) -> str:
    path = SNAPSHOTS / name
    if os.environ.get("WEBTOOLS_UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8", newline="\n")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", samples.NORMAL)
def test_html_and_markdown_are_as_they_were(name: str) -> None:
    response: Any = samples.NORMAL[name]
    html = STYLE.sub("<style>…</style>", response._repr_html_())
    html = re.sub(r"(?=<(?:div|table|tr|td|th|details|li|ol|ul|pre)\b)", "\n", html).lstrip() + "\n"
    markdown = response._repr_markdown_() + "\n"
    assert html == kept(f"{name}.html", html)
    assert markdown == kept(f"{name}.md", markdown)


def test_the_snapshots_are_complete() -> None:
    wanted = {f"{name}.{kind}" for name in samples.NORMAL for kind in ("html", "md")}
    assert {path.name for path in SNAPSHOTS.iterdir() if path.suffix != ".txt"} == wanted


@pytest.mark.parametrize("name", EVERY)
def test_html_holds_only_what_can_do_nothing(name: str) -> None:
    html = EVERY[name]._repr_html_()
    seen = Seen(html)
    assert set(seen.tags) <= TAGS
    assert seen.attributes <= ATTRIBUTES
    assert seen.depth == 0
    assert seen.tags.count("style") == 1
    assert "url(" not in STYLE.findall(html)[0]
    assert "@import" not in STYLE.findall(html)[0]
    # Notebooks typeset formulas, which can hold a link that runs a script.
    assert {"tex2jax_ignore", "mathjax_ignore"} <= {*re.findall(r"\w+", html.partition(">")[0])}
    for link in seen.links:
        href = link["href"] or ""
        if href.startswith("#"):
            assert href[1:] in seen.ids
        else:
            assert re.match(r"https?://[!-~]+$", href)
            assert link["rel"] == "noopener noreferrer nofollow"
            assert link["target"] == "_blank"


@pytest.mark.parametrize("name", EVERY)
def test_no_text_hides_or_reorders_anything(name: str) -> None:
    response = EVERY[name]
    for text in (response._repr_html_(), response._repr_markdown_(), repr(response)):
        assert TRICKS.findall(text) == []


@pytest.mark.parametrize("name", EVERY)
def test_markdown_holds_no_html_no_images_and_only_web_links(name: str) -> None:
    markdown = EVERY[name]._repr_markdown_()
    parsed = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = [
        token for block in parsed.parse(markdown) for token in (block, *(block.children or []))
    ]
    assert {token.type for token in tokens} & {"html_block", "html_inline", "image"} == set()
    links = [token.attrGet("href") for token in tokens if token.type == "link_open"]
    assert all(re.match(r"https?://", str(link)) for link in links)
    known = {"inline", "text", "softbreak", "hardbreak", "fence", "code_inline", "strong_open"}
    known |= {"strong_close", "link_open", "link_close", "paragraph_open", "paragraph_close"}
    lists = {
        f"{one}_{end}"
        for one in ("bullet_list", "ordered_list", "list_item")
        for end in ("open", "close")
    }
    tables = {
        f"{one}_{end}"
        for one in ("table", "thead", "tbody", "tr", "th", "td")
        for end in ("open", "close")
    }
    assert {token.type for token in tokens} <= known | lists | tables


@pytest.mark.parametrize("text", samples.hostile_texts(ORIGIN)[:-2])
def test_markdown_shows_foreign_text_letter_by_letter(text: str) -> None:
    shown = cut(text, 10_000)
    inline = MarkdownIt("commonmark").parseInline(f"x {inert(shown)}")[0].children or []
    assert "".join(token.content for token in inline) == f"x {shown}"
    assert {token.type for token in inline} <= {"text", "code_inline", "text_special"}


def test_a_page_cannot_close_the_fence_around_it() -> None:
    page = Page(url="https://a.example/", text="a\n`````\n```\n<b>out</b>\n~~~~~~~\nb")
    markdown = FetchResponse(provider="p", pages=[page])._repr_markdown_()
    fences = [one for one in MarkdownIt().parse(markdown) if one.type == "fence"]
    assert [one.content for one in fences] == ["a\n`````\n```\n<b>out</b>\n~~~~~~~\nb\n"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("short", "short"),
        ("ends in an ellipsis …", "ends in an ellipsis …"),
        ("x" * 40, "x" * 40),
        ("x" * 41, "x" * 40 + "… (+1 characters)"),
        ("x" * 1_000_040, "x" * 40 + "… (+1,000,000 characters)"),
        ("\u200b" * 1000 + "hidden", "… (+846 characters)"),
        (None, ""),
        (7, ""),
    ],
)
def test_a_cut_text_says_how_much_is_missing(text: Any, shown: str) -> None:
    assert cut(text, 40) == shown


def test_a_cut_page_says_how_much_is_missing() -> None:
    assert cut_lines("one\n\n  two", 100) == ("one\n\n  two", "")
    assert cut_lines("one\ntwo", 5) == ("one\nt", "… (+2 characters)")
    assert cut_lines(None, 5) == ("", "")


def test_a_part_read_on_is_shown_whole_with_its_place() -> None:
    text = "line of a long page\n" * 2500
    part = samples.PART.model_copy(update={"content": text})
    for shown in (part._repr_html_(), part._repr_markdown_()):
        assert text.rstrip() in shown
        assert "1,200 to 51,200 of 64,000" in shown
        assert samples.HANDLE in shown
        assert "next offset 1,250" in shown
    assert "<pre" not in samples.MISSED._repr_html_()
    assert "found at" not in samples.MISSED._repr_html_()


def many(number: int) -> SearchResponse:
    hits = [samples.result(f"T{n}", f"https://a.example/{n}") for n in range(number)]
    return SearchResponse(provider="p", queries=["pattern matching"], results=hits)


def test_of_ten_thousand_results_the_first_hundred_are_shown() -> None:
    response = many(10_000)
    html, markdown = response._repr_html_(), response._repr_markdown_()
    assert html.count("wt-rank") - html.count(".wt-rank") == 100
    assert "T99<" in html
    assert "T100<" not in html
    assert "9,900 more" in html
    assert markdown.count("https://a.example/") == 100
    assert "9,900 more" in markdown
    assert repr(response) == '<SearchResponse 10,000 results from p for "pattern matching">'
    assert len(response.to_dataframe()) == 10_000


def test_one_page_or_result_is_drawn_unfolded_and_prints_as_a_model() -> None:
    page, hit = samples.FETCH.pages[0], samples.PLAIN[1]
    assert "<details" not in page._repr_html_()
    assert "<em>more</em> text" in page._repr_html_()
    assert "A tutorial | of it." in hit._repr_html_()
    assert repr(hit).startswith("SearchResult(title='PEP 636: ")
    assert "https://" not in Passage(text="From a string.")._repr_html_()
    assert samples.sources()[1]._repr_html_() == hit.model_copy(update={"query": ""})._repr_html_()
    assert on_terminal([hit]) == f"[{hit!r}]"
    assert on_terminal(hit).startswith(f"Result · exa-main\n\n{samples.TUTORIAL}\n")


@pytest.mark.no_cover
def test_a_hundred_huge_pages_stay_bounded() -> None:
    pages = [Page(url=f"https://a.example/{n}", text="<&>" * 400_000) for n in range(101)]
    response = FetchResponse(provider="p", pages=pages)
    assert len(response._repr_html_()) < 3_000_000
    assert len(response._repr_markdown_()) < 3_000_000
    assert "… and 1 more page" in response._repr_html_()
    assert len(repr(pages[0])) < 1000
    assert len(repr(pages)) < 101_000


@pytest.mark.parametrize("name", [name for name in HOSTILE if isinstance(HOSTILE[name], Shown)])
def test_no_line_of_a_log_is_long(name: str) -> None:
    assert len(repr(HOSTILE[name])) < 1000
    assert "\n" not in repr(HOSTILE[name])
    assert str(HOSTILE[name]) == repr(HOSTILE[name])
    assert len(pretty_repr(HOSTILE[name])) < 1000


def test_a_response_says_in_one_line_what_it_is() -> None:
    told = {name: repr(one) for name, one in samples.NORMAL.items() if isinstance(one, Shown)}
    assert told == {
        "search": '<SearchResponse 4 results from exa-main for "pattern matching">',
        "searches": "<SearchResponse 2 results from exa-main, 1 query failed>",
        "nothing": '<SearchResponse 0 results from exa-main for "zxqj">',
        "fetch": "<FetchResponse 2 fetched from direct, 1 failed>",
        "summary": "<SummaryResponse cecil · summary · 17 tokens from kagi-main for "
        '"https://peps.python.org/pep-0636/">',
        "part": f"<ReadResponse characters 1,200 to 1,250 of 64,000 from {samples.HANDLE}, "
        "next offset 1,250>",
        "found": f"<ReadResponse characters 1,200 to 1,250 of 1,250 from {samples.HANDLE} "
        'for "MATCH command", found at 1,227, the end>',
        "missed": f'<ReadResponse 64,000 characters from {samples.HANDLE} for "walrus">',
        "research": '<ResearchEnvelope web-deep 4 results from exa-main for "what did Python 3.10 '
        'add?", medium confidence, 2 citations>',
        "plan": '<ResearchPlan web-deep exa-main → kagi-main for "what did Python 3.10 add?", '
        "at most 0.01 USD>",
    }
    alone = FetchResponse(provider="p", pages=[Page(url="https://a.example/")])
    assert repr(alone) == '<FetchResponse 1 fetched from p for "https://a.example/">'
    found = samples.ENVELOPE.model_copy(update={"synthesis": None})
    assert "citations" not in repr(found)


def in_shell(value: Any, kind: type[InteractiveShell] | None) -> str:
    """Give the text that IPython makes of a value where such a shell runs."""
    shell = Mock(spec=kind) if kind else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IPython, "get_ipython", lambda: shell)
        return str(PlainTextFormatter()(value))


def on_terminal(value: Any) -> str:
    return in_shell(value, TerminalInteractiveShell)


@pytest.mark.parametrize("name", EVERY)
def test_a_terminal_gets_harmless_text_of_bounded_length(name: str) -> None:
    text = on_terminal(EVERY[name])
    assert TRICKS.findall(text) == []
    assert len(text) < 60_000
    assert text.count("\n") < 1500
    assert text != repr(EVERY[name])


def test_a_terminal_without_colours_gets_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert (
        on_terminal(samples.SEARCH)
        .partition("\n\n")[2]
        .startswith(
            f" 1. What's New In Python 3.10\n    {samples.WHATS_NEW}\n    Structural pattern"
        )
    )
    told = on_terminal(samples.SEARCHES)
    assert re.findall(r'^("[^"]+"| \d\.|    No results|✗ “failing”)', told, re.MULTILINE) == [
        *('"pattern matching"', " 1.", " 2."),
        *('"nothing at all"', "    No results", "✗ “failing”"),
    ]
    assert on_terminal(samples.NOTHING) == "Search · 0 results · exa-main\n\nNo results found."
    answer = on_terminal(samples.ENVELOPE)
    assert "[1]. A PEP explains it" in answer.replace("\n", " ")
    assert "\n! Confidence: medium, as two sources" in answer
    assert answer.count(samples.TUTORIAL) == 1  # one list of sources
    assert on_terminal(samples.SUMMARY).endswith(f"\n\n{samples.SUMMARY.text}")
    assert "\n    match command.split():" in on_terminal(samples.PART)
    assert "The page answered 404" in on_terminal(samples.FETCH)


@pytest.mark.parametrize("name", ["plan", "bare", "wide"])
def test_a_terminal_gets_the_plan_that_the_command_prints(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    bare = samples.PLAN.model_copy(update={"reading": None, "synthesizer": None, "budget": None})
    wide = samples.PLAN.model_copy(update={"synthesis": samples.STEP, "kept_since": None})
    plan = {"plan": samples.PLAN, "bare": bare, "wide": wide}[name]
    assert on_terminal(plan) == wrapped(plan_text(plan, datetime.now(UTC)), 60)


def test_a_tool_result_on_a_terminal_is_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    found = ToolResult("1. Title\n   https://a.example/", {"read_handle": samples.HANDLE})
    assert on_terminal(found) == (
        f"Tool result · 30 characters · read_handle\n{samples.HANDLE}\n\n"
        "1. Title\n   https://a.example/"
    )
    failed = ToolResult("exa answered 500.", is_error=True, call_id="abc")
    assert on_terminal(failed) == (
        "Tool result · failed · 17 characters · call abc\n\n✗ Failed: exa answered 500."
    )
    assert on_terminal(ToolResult("")) == "Tool result · 0 characters"


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("a\n" * 20, "a\n" * 19 + "a"),
        ("a\n" * 22, "a\n" * 20 + "… and 2 more lines"),
        ("a" * 51_200, "a" * 51_200),
        ("a" * 51_203, "a" * 51_200 + "\n… (+3 characters)"),
    ],
    ids=["lines", "more lines", "characters", "more characters"],
)
def test_a_long_tool_result_is_folded_and_says_how_much_more_there_is(
    text: str, folded: str
) -> None:
    assert on_terminal(ToolResult(text)).partition("\n\n")[2] == folded


@pytest.mark.parametrize("text", samples.hostile_texts(ORIGIN))
def test_a_hostile_tool_result_is_harmless_text_on_a_terminal(text: str) -> None:
    for is_error in (False, True):
        shown = on_terminal(ToolResult(text, {"read_handle": text}, is_error, text))
        assert TRICKS.findall(shown) == []
        assert len(shown) < 60_000


def test_what_is_left_out_on_a_terminal_is_counted() -> None:
    assert on_terminal(many(1000)).endswith("\n… and 980 more results")
    pages = [Page(url=f"https://a.example/{n}", text="x") for n in range(125)]
    assert on_terminal(FetchResponse(provider="p", pages=pages)).endswith("… and 25 more pages")


def test_within_something_else_a_terminal_gets_the_line() -> None:
    response = samples.NOTHING
    assert on_terminal([response]) == f"[{response!r}]"
    assert on_terminal({"a": (response,)}) == f"{{'a': ({response!r},)}}"
    written: list[str] = []
    printer = SimpleNamespace(stack=[1], text=written.append)
    response._repr_pretty_(printer, cycle=True)
    response._repr_pretty_(SimpleNamespace(text=written.append), cycle=False)
    assert written == [repr(response)] * 2


@pytest.mark.parametrize("name", EVERY)
def test_a_notebook_saves_the_line_beside_the_html(name: str) -> None:
    response = EVERY[name]
    assert in_shell(response, InteractiveShell) == in_shell(response, None) == repr(response)


def test_without_ipython_it_is_the_line_and_nothing_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "IPython"]:
        monkeypatch.delitem(sys.modules, name)
    assert PlainTextFormatter()(samples.NOTHING) == repr(samples.NOTHING)
    assert "IPython" not in sys.modules


def test_ipython_in_a_terminal_prints_the_text(tmp_path: Path) -> None:
    code = "from webtools import SummaryResponse as S; S(text='one two', summary_type='summary', "
    code += "engine='cecil', url='https://a.example/', tokens=2, provider='p')"
    command = [sys.executable, "-m", "IPython", "--quick", "--no-banner", "-c", code]
    environ = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    ran = subprocess.run(
        command, env=environ, capture_output=True, check=True, text=True, timeout=60
    )
    assert "one two" in ran.stdout
    assert "<SummaryResponse" not in ran.stdout


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three", "one two\nthree"),
        ("  one two three", "  one two\n  three"),
        ("1. one two three", "1. one\n   two\n   three"),
        ("- one two three", "- one two\n  three"),
        ("[1] a bc def", "[1] a bc\n    def"),
        ("see https://a.example/long now", "see\nhttps://a.example/long\nnow"),
        ("가나 다라 마바", "가나 다라\n마바"),
        ("one\n\n  two", "one\n\n  two"),
        (" " * 20, ""),
        (" " * 20 + "x", " " * 20 + "x"),
    ],
)
def test_lines_break_between_words(text: str, shown: str) -> None:
    assert wrapped(text, 9) == shown


BLANKS = " " * 50_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"xxxxx{BLANKS}", "xxxxx"),
        (f"xxxxx yyyyy{BLANKS}", "xxxxx\nyyyyy"),
        (f"xxxxx{BLANKS}y", "xxxxx\ny"),
        (f"{BLANKS}xxxxx", f"{BLANKS}xxxxx"),
        (f"- {BLANKS}", "-"),
        (f"1.{BLANKS}x", "1.\n    x"),
        (f"xxxxx{BLANKS}\n" * 3, "xxxxx\n" * 3),
        (f"xxxxx{chr(0x3000) * 50_000}", "xxxxx"),
    ],
    ids=lambda text: text[:8],
)
def test_however_many_blanks_there_are_lines_break_at_once(text: str, shown: str) -> None:
    began = time.perf_counter()
    assert wrapped(text, 9) == shown
    assert time.perf_counter() - began < 10


RESULT = ToolResult("<b>one</b>\n" * 20_000, {"read_handle": samples.HANDLE}, call_id="6ahay9")


def test_a_tool_result_is_a_line_and_its_text_is_what_a_model_reads() -> None:
    assert repr(RESULT) == f"<ToolResult 220,000 characters, read_handle {samples.HANDLE}>"
    assert repr(ToolResult("no", is_error=True)) == "<ToolResult failed, 2 characters>"
    assert str(RESULT) == RESULT.text
    assert pickle.loads(pickle.dumps(RESULT)) == RESULT
    assert not hasattr(RESULT, "__dict__")


def test_a_tool_result_in_a_notebook_has_its_text_folded_and_the_handle() -> None:
    html = RESULT._repr_html_()
    assert f"read_handle {samples.HANDLE}" in html
    assert "call 6ahay9" in html
    unfolded = re.sub(r"<details>.*?</details>", "", html, flags=re.DOTALL)
    assert "one" not in Seen(unfolded).text.split("Tool result")[1]
    assert "&lt;b&gt;one&lt;/b&gt;" in html
    assert len(html) < 200_000
    markdown = RESULT._repr_markdown_()
    assert f"read&#95;handle {samples.HANDLE}" in markdown
    assert len(markdown) < 6000
    failed = ToolResult("exa <b>answered</b> 500\x1b[1m.", is_error=True)
    assert "exa &lt;b&gt;answered&lt;/b&gt; 500." in failed._repr_html_()
    assert "<details" not in failed._repr_html_()
    assert failed._repr_markdown_().count("answered") == 1


@pytest.mark.parametrize("text", samples.hostile_texts(ORIGIN))
def test_a_tool_result_with_a_hostile_text_shows_it_and_nothing_more(text: str) -> None:
    for result in (ToolResult(text, {"read_handle": text}), ToolResult(text, {}, is_error=True)):
        seen = Seen(result._repr_html_())
        assert set(seen.tags) <= TAGS
        assert seen.links == []
        assert len(repr(result)) < 200
        shown = (result._repr_html_(), result._repr_markdown_(), repr(result))
        assert [TRICKS.findall(each) for each in shown] == [[], [], []]


def test_a_tool_result_of_anything_at_all_can_be_shown() -> None:
    broken: Any = ToolResult(None, None)  # type: ignore[arg-type]
    shown = (repr(broken), broken._repr_html_(), broken._repr_markdown_())
    assert shown == ("ToolResult",) * 3


def test_parts_of_a_response_print_all_their_fields_shortly() -> None:
    hit = samples.result("A" * 1_000_000, "https://a.example/", "s\u202e")
    assert len(repr(hit)) < 600
    assert repr(hit).startswith("SearchResult(title='AAA")
    assert "snippet='s\\u202e'" in repr(hit)
    assert str(hit).startswith("title='AAA")


def test_a_value_that_cannot_be_printed_leaves_the_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "shorten", lambda value: 1 / 0)
    assert repr(samples.PLAIN[0]) == "SearchResult()"


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_without_any_field_shows_its_type(kind: Any) -> None:
    broken = kind.model_construct()
    assert repr(broken) == kind.__name__
    assert str(broken) == kind.__name__
    assert broken._repr_html_() == kind.__name__
    assert broken._repr_markdown_() == kind.__name__
    assert on_terminal(broken) == kind.__name__
    assert list(broken.__repr_args__()) == []
    assert pretty_repr(broken) == f"{kind.__name__}()"


class Hostile:
    """An object whose every use raises."""

    def __repr__(self) -> str:
        raise RecursionError

    def __getattr__(self, name: str) -> Any:
        raise ValueError(name)

    def __bool__(self) -> bool:
        raise TypeError

    __str__ = __repr__


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.builds(Hostile)
    | st.datetimes()
    | st.just(samples.PLAIN[0])
    | st.just(samples.META),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("kind", [*KINDS, Page, SearchResult])
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_whatever_it_holds_showing_it_never_raises(kind: Any, data: st.DataObject) -> None:
    fields = {name: data.draw(JUNK) for name in kind.model_fields}
    broken = kind.model_construct(**fields)
    shown = [repr(broken), str(broken)]
    if kind in KINDS:
        shown += [broken._repr_html_(), broken._repr_markdown_(), on_terminal(broken)]
    assert all(isinstance(text, str) for text in shown)


def test_a_type_that_cannot_be_drawn_is_an_error_inside() -> None:
    drawing = (draw_html, draw_markdown, plain.line, outline)
    for draw in (*drawing, rows_module._part, plain.draw):
        with pytest.raises(TypeError, match="^int$"):
            draw(3)
    with pytest.raises(TypeError, match="^int$"):
        as_html_module._part(3, "")


def test_text_is_escaped_unless_it_was_made_here() -> None:
    assert tag("b", "<i>", class_='"', id="") == '<b class="&quot;">&lt;i&gt;</b>'
    assert tag("b", Html("<i></i>")) == "<b><i></i></b>"


def test_only_urls_that_lead_where_they_say_are_links() -> None:
    urls = [*samples.HOSTILE_URLS, samples.TUTORIAL]
    hits = [samples.result("T", url) for url in urls]
    response = SearchResponse(provider="p", queries=["pattern matching"], results=hits)
    html = {link["href"] for link in Seen(response._repr_html_()).links}
    odd = "https://a.example/'onclick=x"
    assert html == {samples.TUTORIAL, odd}
    markdown = response._repr_markdown_()
    assert set(re.findall(r"\]\(([^)]*)\)", markdown)) == {samples.TUTORIAL, odd}


def test_a_link_in_markdown_cannot_be_broken_out_of() -> None:
    url = "https://a.example/?a=(b)&copy=1|2`$x$*_{y}"
    response = SearchResponse(provider="p", queries=["q"], results=[samples.result("T", url)])
    tokens = MarkdownIt().enable("table").parse(response._repr_markdown_())
    links = [
        child.attrGet("href")
        for token in tokens
        for child in token.children or []
        if child.type == "link_open"
    ]
    assert links == ["https://a.example/?a=%28b%29&copy=1%7C2%60%24x%24*_%7By%7D"]


def test_citations_lead_to_the_one_list_of_sources() -> None:
    html = samples.ENVELOPE._repr_html_()
    seen = Seen(html)
    ids = [name for name in seen.ids if name]
    inner = [link["href"] for link in seen.links if "target" not in link]
    assert inner == [f"#{ids[number - 1]}" for number in (1, 2, 1, 2)]
    assert len(ids) == len(samples.ENVELOPE.results)
    assert html.count(f">{samples.TUTORIAL}<") == 1
    other = samples.ENVELOPE.model_copy(
        update={"meta": samples.ENVELOPE.meta.model_copy(update={"query": "other"})}
    )
    assert set(Seen(other._repr_html_()).ids).isdisjoint(ids)


def test_the_answer_stands_first_and_warnings_below_it_folded() -> None:
    html = samples.ENVELOPE._repr_html_()
    unfolded = re.sub(r"<details>.*?</details>", "", html, flags=re.DOTALL)
    assert "Only one of the sources is recent." not in unfolded
    assert "1 of 5 pages could not be read." not in unfolded
    assert html.index("A PEP explains it") < html.index("wt-results") < html.index("Only one of")


def claimed(status: str, text: str, quotation: str) -> ResearchEnvelope:
    cited = Quotation(url=samples.TUTORIAL, title="PEP 636", quotation=quotation)
    claim = Claim.model_construct(text=text, status=status, citations=[cited])
    answer = ResearchSynthesis(summary=text, citations=[samples.TUTORIAL], claims=[claim])
    return samples.ENVELOPE.model_copy(update={"synthesis": answer})


@pytest.mark.parametrize("status", ["quoted", "supported", "uncertain", "unsupported"])
def test_a_claim_has_its_status_and_its_quotation_to_the_letter(status: str) -> None:
    quotation = "A  PEP\n    explains <it> __well__."
    html = claimed(status, "It is *explained*, `a_b`.", quotation)._repr_html_()
    assert f"1 claim {status}" in html
    pattern = rf"<details><summary>[^/]*<bdi>{status}</bdi></span></summary><div><blockquote><bdi>"
    assert re.search(pattern, html)
    assert f"{escape(quotation)}</bdi></blockquote>" in html
    assert "<p>It is *explained*, <code>a_b</code>. " in html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("## Head\n\n- *a*\n- b", "<h2>Head</h2><ul><li><em>a</em></li><li>b</li></ul>"),
        ("```python\nif x:\n    y  = 1\n```", "<pre><code>if x:\n    y  = 1</code></pre>"),
        (">>> f(1)\n2\n\nx", "<pre><code>&gt;&gt;&gt; f(1)\n2</code></pre><p>x</p>"),
        ("> quoted", "<blockquote><p>quoted</p></blockquote>"),
        ("__init__ and a_b_c", "<p>__init__ and a_b_c</p>"),
        ("<b>x</b> &amp; &#8238;", "<p>&lt;b&gt;x&lt;/b&gt; &amp;amp; &amp;#8238;</p>"),
        ("[a]: http://b.example\n\n[a]", "<p>[a]: http://b.example</p><p>[a]</p>"),
        ("![x](https://a.example/p.png)", "!<a href="),
        ("[x](javascript:run)", "<p>[x](javascript:run)</p>"),
        ("[https://bank.example](https://a.example/)", "<p>https://bank.example</p>"),
        ("3. x", '<ol start="3"><li>x</li></ol>'),
    ],
)
def test_a_page_is_rendered_markdown_that_can_do_nothing(text: str, html: str) -> None:
    page = FetchResponse(provider="p", pages=[Page(url="https://a.example/", text=text)])
    shown = page._repr_html_().replace("\n<", "<")
    assert html in shown
    assert set(Seen(shown).tags) <= TAGS


def test_without_markdown_it_pages_are_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "webtools._internal.display.prose_markup", raising=False)
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    html = samples.FETCH._repr_html_()
    assert "match command.split():\n    case [action]:" in html
    assert (Seen(samples.ENVELOPE._repr_html_()).links[0]["href"] or "").startswith("#")


@pytest.mark.parametrize("title", ["---", "===", "- x", "2. x", "+ x", "# x", "\u200b", "```"])
def test_a_source_without_a_link_is_one_line_of_text(title: str) -> None:
    page = Page(url="javascript:x", title=title, text="x")
    tokens = (
        MarkdownIt()
        .enable("table")
        .parse(FetchResponse(provider="p", pages=[page])._repr_markdown_())
    )
    shown = [
        child.content for token in tokens for child in token.children or [] if child.type == "text"
    ]
    assert "✓ javascript:x" in shown
    assert title in shown or not title.isprintable()
    assert {token.type for token in tokens} <= {
        "paragraph_open",
        "inline",
        "paragraph_close",
        "fence",
    }


def test_failures_are_visible_and_unfolded() -> None:
    html = samples.FETCH._repr_html_()
    unfolded = re.sub(r"<details>.*?</details>", "", html, flags=re.DOTALL)
    assert "The page answered 404; check the URL." in unfolded
    assert "# Tutorial" not in unfolded
    assert "exa answered 500; try again later." in samples.SEARCHES._repr_html_()
    assert "✗ [https&#58;//a.example/gone]" in samples.FETCH._repr_markdown_()


def test_research_without_results_or_synthesis_says_so() -> None:
    meta = samples.ENVELOPE.meta.model_copy(
        update={
            "cache_hit": True,
            "cost_usd": None,
            "provider_used": None,
            "recency_days": None,
            "degraded": [],
            "uncertainty": None,
            "confidence_rule": "",
        }
    )
    empty = ResearchEnvelope(results=[], meta=meta)
    assert "No results found." in empty._repr_html_()
    assert "No results found." in empty._repr_markdown_()
    assert "cached 2026-11-21 10:02 UTC" in empty._repr_html_()
    assert repr(empty).startswith('<ResearchEnvelope web-deep 0 results for "')
    uncited = empty.model_copy(
        update={"synthesis": samples.ENVELOPE.synthesis.model_copy(update={"citations": []})}  # type: ignore[union-attr]
    )
    assert "<ol" not in uncited._repr_html_()


def test_a_bare_plan_shows_no_more_than_there_is() -> None:
    plan = samples.PLAN.model_copy(
        update={
            "budget": None,
            "reading": None,
            "synthesizer": None,
            "kept_since": None,
            "recency_days": None,
        }
    )
    assert "Budget" not in plan._repr_html_()
    unlimited = samples.PLAN.budget.model_copy(  # type: ignore[union-attr]
        update={
            "usd_per_day": None,
            "calls_per_day": None,
            "usd_per_process": None,
            "calls_per_process": None,
        }
    )
    drawn = plan.model_copy(update={"budget": unlimited})._repr_html_()
    assert "Budget" not in drawn


def test_many_notes_are_counted() -> None:
    response = samples.NOTHING.model_copy(update={"warnings": [f"w{n}" for n in range(25)]})
    assert "… and 5 more warnings" in response._repr_html_()


def test_what_is_cached_at_an_unknown_time_says_cached() -> None:
    response = samples.NOTHING.model_copy(update={"cache_hit": True})
    assert "cached<" in response._repr_html_()
