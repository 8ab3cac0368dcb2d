from __future__ import annotations

import os
import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path
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

from webtools._internal.representation import Shown
from webtools.results import (
    Claim,
    FetchResponse,
    Page,
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


def snapshot(name: str, text: str) -> str:
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
    assert html == snapshot(f"{name}.html", html)
    assert markdown == snapshot(f"{name}.md", markdown)


@pytest.mark.parametrize("name", EVERY)
def test_html_holds_only_inert_tags_and_attributes(name: str) -> None:
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


def test_a_page_cannot_close_the_fence_around_it() -> None:
    page = Page(url="https://a.example/", text="a\n`````\n```\n<b>out</b>\n~~~~~~~\nb")
    markdown = FetchResponse(provider="p", pages=[page])._repr_markdown_()
    fences = [one for one in MarkdownIt().parse(markdown) if one.type == "fence"]
    assert [one.content for one in fences] == ["a\n`````\n```\n<b>out</b>\n~~~~~~~\nb\n"]


def response_of(number: int) -> SearchResponse:
    hits = [samples.result(f"T{n}", f"https://a.example/{n}") for n in range(number)]
    return SearchResponse(provider="p", queries=["pattern matching"], results=hits)


def test_of_ten_thousand_results_the_first_hundred_are_shown() -> None:
    response = response_of(10_000)
    html, markdown = response._repr_html_(), response._repr_markdown_()
    assert html.count("wt-rank") - html.count(".wt-rank") == 100
    assert "T99<" in html
    assert "T100<" not in html
    assert "9,900 more" in html
    assert markdown.count("https://a.example/") == 100
    assert "9,900 more" in markdown
    assert repr(response) == '<SearchResponse 10,000 results from p for "pattern matching">'
    assert len(response.to_dataframe()) == 10_000


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


@pytest.mark.parametrize("text", samples.hostile_texts(ORIGIN))
def test_a_hostile_tool_result_is_harmless_text_on_a_terminal(text: str) -> None:
    for is_error in (False, True):
        shown = on_terminal(ToolResult(text, {"read_handle": text}, is_error, text))
        assert TRICKS.findall(shown) == []
        assert len(shown) < 60_000


RESULT = ToolResult("<b>one</b>\n" * 20_000, {"read_handle": samples.HANDLE}, call_id="6ahay9")


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
        assert [TRICKS.findall(item) for item in shown] == [[], [], []]


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
def test_showing_a_response_never_raises(kind: Any, data: st.DataObject) -> None:
    fields = {name: data.draw(JUNK) for name in kind.model_fields}
    broken = kind.model_construct(**fields)
    shown = [repr(broken), str(broken)]
    if kind in KINDS:
        shown += [broken._repr_html_(), broken._repr_markdown_(), on_terminal(broken)]
    assert all(isinstance(text, str) for text in shown)


def test_only_unambiguous_urls_are_links() -> None:
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


def envelope_with_claim(status: str, text: str, quotation: str) -> ResearchEnvelope:
    cited = Quotation(url=samples.TUTORIAL, title="PEP 636", quotation=quotation)
    claim = Claim.model_construct(text=text, status=status, citations=[cited])
    answer = ResearchSynthesis(summary=text, citations=[samples.TUTORIAL], claims=[claim])
    return samples.ENVELOPE.model_copy(update={"synthesis": answer})


@pytest.mark.parametrize("status", ["quoted", "supported", "uncertain", "unsupported"])
def test_a_claim_has_its_status_and_its_quotation_to_the_letter(status: str) -> None:
    quotation = "A  PEP\n    explains <it> __well__."
    html = envelope_with_claim(status, "It is *explained*, `a_b`.", quotation)._repr_html_()
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


def test_failures_are_visible_and_unfolded() -> None:
    html = samples.FETCH._repr_html_()
    unfolded = re.sub(r"<details>.*?</details>", "", html, flags=re.DOTALL)
    assert "The page answered 404; check the URL." in unfolded
    assert "# Tutorial" not in unfolded
    assert "exa answered 500; try again later." in samples.SEARCHES._repr_html_()
    assert "✗ [https&#58;//a.example/gone]" in samples.FETCH._repr_markdown_()
