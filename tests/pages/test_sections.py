"""The section that a URL names comes first; words to scroll to are no part of a URL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from offering_site import PARAGRAPH, Fetch, Reply, Site, blocking, on_a_loop
from test_reading_pages import pdf

from webtools import WebTools
from webtools._internal.pages.reading import Source, read

URL = "https://w.example/guide"
NAMES = ["intro", "install", "options", "end"]
PROSE = {name: f"About the {name}: {PARAGRAPH * 4}".strip() for name in NAMES}
# Ways to name a section: `{0}` is its name, `{1}` its prose.
SECTIONS = {
    "heading": "<h2 id='{0}'>The {0} part</h2><p>{1}</p>",
    "section": "<section id='{0}'><h2>The {0} part</h2><p>{1}</p></section>",
    "old anchor before": "<a name='{0}'></a><h2>The {0} part</h2><p>{1}</p>",
    "old anchor in": "<h2><a name='{0}'>The {0} part</a></h2><p>{1}</p>",
    "anchor in a paragraph": "<p><a id='{0}'></a></p><h2>The {0} part</h2><p>{1}</p>",
    "span at the end": "<h2>The {0} part <span id='{0}'></span></h2><p>{1}</p>",
    "permalink": "<h2>The {0} part<a class='anchor' id='{0}' href='#{0}'>#</a></h2><p>{1}</p>",
    "github": "<h2 id='user-content-{0}'>The {0} part</h2><p>{1}</p>",
    "hidden anchor": "<span id='{0}' style='display:none'></span><h2>The {0} part</h2><p>{1}</p>",
    "table": "<h2>The {0} part</h2><table id='{0}'><tr><td>{1}</td><td>1</td></tr></table>",
    "row": "<table><tr id='{0}'><td>The {0} part</td><td>{1}</td></tr></table>",
    "signature": "<dl class='py'><dt class='sig' id='{0}'>{0}()</dt><dd><p>{1}</p></dd></dl>",
    "item": "<ul><li id='{0}'>The {0} part. {1}</li></ul>",
    "item's paragraph": "<ol><li><p id='{0}'>{1}</p></li></ol>",
    "quotation": "<blockquote id='{0}'><p>{1}</p></blockquote>",
    "code": "<pre id='{0}'>{0} = 1</pre><p>{1}</p>",
    "in bold": "<p><b id='{0}'>The {0} part</b> {1}</p>",
    "slug": "<h2>The {0} part</h2><p>{1}</p>",
}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture
def web(site: Site) -> Iterator[WebTools]:
    with WebTools(config={"providers": [site.entry()]}, cache=False) as web:
        yield web


def page_of(*parts: str) -> str:
    return f"<!doctype html><title>Guide</title><main><h1>Guide</h1>{''.join(parts)}</main>"


def words(text: str | None) -> list[str]:
    return sorted((text or "").split())


@pytest.mark.parametrize("get", [blocking, on_a_loop])
@pytest.mark.parametrize("name", NAMES[:3])
@pytest.mark.parametrize("kind", SECTIONS)
def test_a_section_comes_first_and_nothing_is_lost(
    site: Site, web: WebTools, get: Fetch, kind: str, name: str
) -> None:
    site.replies["/a"] = Reply(page_of(*(SECTIONS[kind].format(n, PROSE[n]) for n in NAMES)))
    fragment = f"the-{name}-part" if kind == "slug" else name
    whole, response = get(web, f"{site.url}/a"), get(web, f"{site.url}/a#{fragment}")
    text = response.pages[0].text or ""
    assert words(text) == words(whole.pages[0].text)
    assert "\ufdd0" not in text
    assert not response.warnings
    assert all(path == "/a" for path, _ in site.asked)
    if kind != "row":  # the table is one part
        start = text.index(PROSE[name])
        assert all(text.index(PROSE[other]) > start for other in NAMES if other != name)


def test_a_section_of_markdown_comes_first(site: Site, web: WebTools) -> None:
    code = "```sh\n# Install\n```"
    parts = [f"## The `{name}` part\n\n{PROSE[name]}\n\n### More\n\n{code}" for name in NAMES]
    body = "\n\n".join(["# Guide", code, *parts, "## Install\n\nHere it is."])
    site.replies["/a"] = Reply(body, kind="text/markdown")
    for name in NAMES:
        [page] = web.fetch(f"{site.url}/a#the-{name}-part").pages
        assert (page.text or "").startswith(parts[NAMES.index(name)])
    [page] = web.fetch(f"{site.url}/a#install").pages
    assert (page.text or "").startswith("## Install\n\nHere it is.\n\n# Guide")
    assert words(page.text) == words(body)


def test_a_section_outside_of_the_main_part_is_read(site: Site, web: WebTools) -> None:
    aside = f"<aside id='hours'><h3>Hours</h3><p>Daily until nine. {PARAGRAPH}</p></aside>"
    body = page_of(*(f"<p>{PROSE[name]}</p>" for name in NAMES))
    site.replies["/a"] = Reply(f"{body}<footer><p id='imprint'>Pier 4, Sound</p></footer>{aside}")
    [page] = web.fetch(f"{site.url}/a#imprint").pages
    assert (page.text or "").startswith("Pier 4, Sound")
    assert all(prose in (page.text or "") for prose in PROSE.values())


@pytest.mark.parametrize(
    "end",
    [
        "<ul><li>First item<li>Target <a id=s></a></ul>",
        "<dl><dt>Term</dt><dd>Target <span id=s></span></dd></dl>",
        "<div>Target <a name=s></a></div>",
        "<p>Target <a name=s></a></p>",
        "<blockquote>Target <a id=s></a></blockquote>",
    ],
)
def test_a_line_that_ends_in_the_anchor_comes_first(end: str) -> None:
    html = f"<main><h1>Guide</h1><p>{PARAGRAPH}</p>{end}</main>".encode()
    text = read(Source(html, "text/html", f"{URL}#s", URL, whole=True)).text
    assert "Target" in text.split("\n")[0]


TAGS = ["p", "div", "span", "b", "a", "x-a", "q", "ul", "li", "dl", "dt", "dd", "button", "code"]
TAGS += ["table", "tr", "td", "details", "summary", "sup", "ruby", "math", "h2", "pre", "label"]


def elements(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    inside = st.lists(children, min_size=1, max_size=4).map("".join)
    return st.builds("<{0} id=NAME>{1}</{0}>".format, st.sampled_from(TAGS), inside)


MARKUP = st.recursive(st.sampled_from(["ab", "c", " ", "https://w.example/", "d e"]), elements)


@settings(max_examples=60, deadline=None)
@given(st.lists(MARKUP, min_size=1, max_size=5))
def test_a_section_changes_only_the_order_of_lines(parts: list[str]) -> None:
    texts = "".join(parts).split("NAME")
    ids = range(len(texts) - 1)
    body = "".join(f"{text}s{place}" for place, text in zip(ids, texts, strict=False)) + texts[-1]
    html = f"<main><h1>Guide</h1><p>{PARAGRAPH}</p>{body}<p>{PARAGRAPH}</p></main>".encode()

    def lines(url: str, *, whole: bool = False) -> list[str]:
        text = read(Source(html, "text/html", url, url, whole=whole)).text
        return sorted(filter(None, map(str.strip, text.split("\n"))))

    wanted = [lines(URL), lines(URL, whole=True)]  # whole if the section is not in the main part
    assert all(lines(f"{URL}#s{place}") in wanted for place in ids)


@pytest.mark.parametrize("name", ["nowhere", "%C3%BC", "a%0Ab", "/route"])
def test_an_unknown_section_is_a_warning_and_the_page_is_whole(
    site: Site, web: WebTools, name: str
) -> None:
    [plain] = web.fetch(f"{site.url}/a").pages
    response = web.fetch(f"{site.url}/a#{name}")
    assert response.pages[0].text == plain.text
    assert any("section" in warning for warning in response.warnings)


def test_the_cut_is_made_after_the_section_was_put_first(site: Site, web: WebTools) -> None:
    site.replies["/a"] = Reply(page_of(*(SECTIONS["heading"].format(n, PROSE[n]) for n in NAMES)))
    [page] = web.fetch(f"{site.url}/a#end", text_max_characters=100).pages
    assert (page.text or "").startswith("## The end part")


@pytest.mark.parametrize("fragment", ["", "page=2", "page=2&zoom=3"])
def test_pages_of_a_pdf_are_no_sections(site: Site, web: WebTools, fragment: str) -> None:
    site.replies["/a"] = Reply(
        pdf(["One ferry", "Two ferries"]).decode("latin-1"), kind="application/pdf"
    )
    url = f"{site.url}/a#{fragment}" if fragment else f"{site.url}/a"
    assert not [each for each in web.fetch(url).warnings if "section" in each]


@pytest.mark.parametrize("end", [":~:text=ferry", ":~:text=The%20ferry,cars&text=x"])
@pytest.mark.parametrize("section", ["", "intro"])
def test_words_to_scroll_to_enter_no_result_and_no_cache_key(
    site: Site, tmp_path: Any, section: str, end: str
) -> None:
    site.replies["/a"] = Reply(page_of(*(SECTIONS["heading"].format(n, PROSE[n]) for n in NAMES)))
    plain = f"{site.url}/a#{section}" if section else f"{site.url}/a"
    url = f"{site.url}/a#{section}{end}"
    with WebTools(
        config={"providers": [site.entry()]}, cache={"path": str(tmp_path / "cache.db")}
    ) as web:
        first = web.fetch([url, plain])
        second = web.fetch(plain)
    assert {page.url for page in first.pages} == {plain}
    assert second.cache_hit
    assert site.count("/a") == 1
    assert ":~:" not in first.model_dump_json()


def test_pages_of_what_has_none_are_a_warning(site: Site, web: WebTools) -> None:
    response = web.fetch(f"{site.url}/a", pages="2-3")
    assert response.pages[0].text
    assert any("2-3" in warning for warning in response.warnings)


def test_a_long_document_is_cut_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webtools._internal.pages.reading.MAX_HTML", 2**20)
    items = "<entry><title>One</title><content>" + "ferry " * 200_000 + "</content></entry>"
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>{items}</feed>'
    content = read(Source(feed.encode(), "application/atom+xml"))
    assert any("1 MiB" in warning for warning in content.warnings)
