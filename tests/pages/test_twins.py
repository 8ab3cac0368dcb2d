"""Markdown that a site offers is read: negotiated, or announced for a page with little text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from offering_site import PAGE, PARAGRAPH, Fetch, Reply, Site, blocking, on_a_loop

from webtools import WebTools, WebToolsError

MARKDOWN = f"# Ferry times\n\n{PARAGRAPH * 4}\n\n- The last one leaves at ten.\n"
LINK = '<link rel="alternate" type="text/markdown" href="/page.md">'
SHELL = "<!DOCTYPE html><html><head>{}<title>Ferry</title></head><body>{}</body></html>"
POOR = {
    "short": "<p>See you there.</p>",
    "empty": "",
    "scripted": '<div id="root"></div><script src="a.js"></script>',
    "hidden": f"<p>{PARAGRAPH * 3}</p><div hidden>{PARAGRAPH * 30}</div>",
    "links": "<ul>" + "<li><a href='/a/very/long/address/of/a/page'>Go</a></li>" * 30 + "</ul>",
}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        site.replies["/page.md"] = Reply(MARKDOWN, kind="text/markdown; charset=utf-8")
        yield site


def web_of(site: Site, **settings: Any) -> WebTools:
    return WebTools(config={"providers": [site.entry()]}, cache=False, **settings)


@pytest.mark.parametrize("get", [blocking, on_a_loop])
@pytest.mark.parametrize("kind", ["text/markdown", "text/x-markdown; charset=utf-8"])
def test_markdown_is_asked_for_first_and_read_by_the_type_of_the_answer(
    site: Site, get: Fetch, kind: str
) -> None:
    def negotiated(request: dict[str, str]) -> Reply:
        if request.get("accept", "").startswith("text/markdown"):
            return Reply(MARKDOWN, kind=kind, headers={"x-markdown-tokens": "725"})
        return Reply()

    site.replies["/a"] = negotiated
    with web_of(site) as web:
        [page] = get(web, f"{site.url}/a").pages
    assert (page.url, page.title, page.markdown_tokens) == (f"{site.url}/a", "Ferry times", 725)
    assert page.text == MARKDOWN.strip()
    assert site.count("/a") == 1


def test_a_site_that_accepts_no_such_request_is_asked_once_more(site: Site) -> None:
    def strict(request: dict[str, str]) -> Reply:
        wants = "text/markdown" in request.get("accept", "")
        return Reply("", "406 Not Acceptable") if wants else Reply()

    site.replies["/a"] = strict
    site.replies["/never"] = Reply("", "406 Not Acceptable")
    with web_of(site) as web:
        assert web.fetch(f"{site.url}/a").pages[0].title == "Ferry"
        with pytest.raises(WebToolsError):
            web.fetch(f"{site.url}/never")
    assert (site.count("/a"), site.count("/never")) == (2, 2)


@pytest.mark.parametrize("get", [blocking, on_a_loop])
@pytest.mark.parametrize("place", ["header", "markup"])
@pytest.mark.parametrize("name", POOR)
def test_the_announced_twin_of_a_poor_page_is_read(
    site: Site, get: Fetch, place: str, name: str
) -> None:
    head, headers = (LINK, {}) if place == "markup" else ("", {"Link": LINK_HEADER})
    site.replies["/a"] = Reply(SHELL.format(head, POOR[name]), headers=headers)
    with web_of(site) as web:
        [page] = get(web, f"{site.url}/a").pages
    assert (page.url, page.markdown_url) == (f"{site.url}/a", f"{site.url}/page.md")
    assert page.text == MARKDOWN.strip()


LINK_HEADER = '</x>; rel=next, </page.md>; rel="alternate"; type="text/markdown"'


def test_a_page_with_enough_prose_costs_no_second_request(site: Site) -> None:
    site.replies["/a"] = Reply(PAGE.replace("<head>", f"<head>{LINK}"))
    with web_of(site) as web:
        assert web.fetch(f"{site.url}/a").pages[0].markdown_url is None
    assert not site.count("/page.md")


TWINS = {
    "missing": Reply("", "404 Not Found"),
    "a web page": Reply(SHELL.format("", f"<p>{PARAGRAPH * 9}</p>"), kind="text/markdown"),
    "another type": Reply(MARKDOWN, kind="text/html"),
    "soft 404": Reply("# Page not found\n", kind="text/markdown"),
    "less": Reply("Little.", kind="text/markdown"),
    "empty": Reply("", kind="text/markdown"),
    "elsewhere": Reply("", "302 Found", {"Location": "http://127.0.0.2:9/page.md"}),
    "an outage": Reply("", "500 Oops"),
    "refused": Reply(MARKDOWN, headers={"Content-Signal": "ai-input=no"}, kind="text/markdown"),
}


@pytest.mark.parametrize("body", ["short", "scripted"])
@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_cannot_be_taken_leaves_what_the_page_has(
    site: Site, name: str, body: str
) -> None:
    site.replies["/a"] = Reply(SHELL.format(LINK, POOR[body]))
    site.replies["/page.md"] = TWINS[name]
    with web_of(site, fetch={"respect": "obey"}) as web:
        if body == "scripted" and name != "less":
            with pytest.raises(WebToolsError, match="JavaScript"):
                web.fetch(f"{site.url}/a")
            return
        [page] = web.fetch(f"{site.url}/a").pages
    assert page.text == ("Little." if body == "scripted" else "See you there.")


def test_a_twin_passes_the_same_guard_as_its_page(site: Site) -> None:
    with Site() as other:
        other.replies["/page.md"] = Reply(MARKDOWN, kind="text/markdown")
        link = LINK.replace("/page.md", f"{other.url}/page.md")
        site.replies["/a"] = Reply(SHELL.format(link, POOR["short"]))
        site.replies["/robots.txt"] = Reply("User-agent: *\nDisallow: /*.md\n")
        site.replies["/b"] = Reply(SHELL.format(LINK, POOR["short"]))
        with web_of(site) as web:
            texts = [
                web.fetch(f"{site.url}/a").pages[0].text,
                web.fetch(f"{site.url}/b", robots=True).pages[0].text,
            ]
        assert texts == ["See you there."] * 2
        assert not other.asked
    assert not site.count("/page.md")


@pytest.mark.parametrize(
    ("front", "title", "author", "day"),
    [
        (
            'title: "Ferry: all times"\nauthor: Ann\ndate: 2026-03-04',
            "Ferry: all times",
            "Ann",
            4,
        ),
        ("title: 'Plain'  \ntags: [a, b]\ndate: 2026-03-05T10:00:00Z", "Plain", None, 5),
        ("title: [a, b]\nauthor: {name: x}\ndate: soon", "Ferry times", None, None),
        ("title: |\n  two\n  lines\nauthor: &a b", "Ferry times", None, None),
        ("Title: Upper # comment", "Upper", None, None),
    ],
)
def test_plain_front_matter_is_read(
    site: Site, front: str, title: str, author: str | None, day: int | None
) -> None:
    site.replies["/a"] = Reply(f"---\n{front}\n---\n\n{MARKDOWN}", kind="text/markdown")
    with web_of(site) as web:
        [page] = web.fetch(f"{site.url}/a").pages
    assert (page.title, page.author, page.text) == (title, author, MARKDOWN.strip())
    expected = datetime(2026, 3, day, tzinfo=UTC).date() if day else None
    assert (page.published_at.date() if page.published_at else None) == expected


def test_a_rule_that_is_no_front_matter_stays(site: Site) -> None:
    for text in ("---\nonly a rule\n", "---\ntitle: All\n---\n", f"---\n{PARAGRAPH * 100}"):
        site.replies["/a.md"] = Reply(text, kind="text/plain")
        with web_of(site) as web:
            assert web.fetch(f"{site.url}/a.md").pages[0].text == text.strip()
