# ruff: noqa: E501  # pages as they are on the web
"""Rare markup is kept in the text, and faulty markup is read."""

from __future__ import annotations

import json
from datetime import date

import pytest
from test_pages import PROSE, URL, page, text

# --- within a line -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ruby>世<rp>(</rp><rt>se</rt><rp>)</rp></ruby> now", "世 now"),
        (
            '<math><mi>x</mi><annotation encoding="application/x-tex">x^2 +\n1</annotation></math>now',
            "See $x^2 + 1$ now",
        ),
        ('<math><mi>x</mi><annotation encoding="text">no</annotation></math>', "See x"),
        ("<b>one<br>two</b> now", "See one\ntwo now"),
        ("a<b> </b>b now", "See a b now"),
        ("<code></code>it now", "See it now"),
        (
            '<code>f(<a href="/a">int</a>, x)</code>',
            "See `f(int, x)` [int](https://docs.example/a)",
        ),
        ('a <a href="/x"> </a>b now', "See a b now"),
        ('a<a href="/x"></a>b now', "See ab now"),
        (f'<a href="/{"x" * 2001}">there</a> now', "See there now"),
        ('<a href="http://[">there</a> now', "See there now"),
        (
            '<a class="internal" href="/x">a</a> <a href="/x">b</a> now',
            "See [a](https://docs.example/x) [b](https://docs.example/x) now",
        ),
        ("x<sup><div>note</div></sup> now", "See x\n\nnote\n\nnow"),
    ],
)
def test_marks_within_a_line_are_written_only_where_they_mark_something(
    html: str, expected: str
) -> None:
    assert expected in text(f"<div>See {html}</div>")


# --- blocks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<a href="/x"><div>One.</div><div>Two.</div></a>',
            "[One.](https://docs.example/x)\n\nTwo.",
        ),
        ("<ol><li><pre>ls</pre></li></ol>", "1.\n```\nls\n```\n"),
        ("<p>a</p><h2> </h2><p>b</p>", "a\n\nb\n"),
        ("<p>a</p><pre> \n</pre><p>b</p>", "a\n\nb\n"),
        ("<pre>\n\n\n  a\n\n</pre>", "```\n  a\n```\n"),
        ("<pre><div>a</div><div>b</div>c</pre>", "```\na\nb\nc\n```\n"),
        ('<pre class="rust">fn a()</pre>', "```rust\nfn a()\n```\n"),
        ("<ul>Fares:<li>a</li>and<li>c</li></ul>", "Fares:\n\n- a\n\nand\n- c\n"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n\n- b\n"),
        (
            "<dl>Fares:<div><dt>Day</dt><dd>Two.</dd></div>and more</dl>",
            "Fares:\n\nDay\n: Two.\n\nand more\n",
        ),
        ("<dl><dt>Call</dt><dd><pre>ls</pre></dd></dl>", "Call\n\n```\nls\n```\n"),
    ],
)
def test_blocks_keep_all_their_text(html: str, expected: str) -> None:
    assert expected in text(html)


ROW = "<tr><td>a</td><td>b</td></tr>"
EMPTY = "|  |  |\n|---|---|\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<table role=presentation>{ROW}</table>", "a\n\nb\n"),
        (
            f"<table><caption>Fares</caption><colgroup><col></colgroup>{ROW}</table>",
            f"Fares\n\n{EMPTY}| a | b |\n",
        ),
        ("<p>x</p><table><tr><td></td><td> </td></tr></table><p>y</p>", "x\n\ny\n"),
        (
            "<table><tr><td rowspan=3>a</td><td>1</td></tr><tr><td>2</td></tr><tr><td>3</td></tr></table>",
            f"{EMPTY}| a | 1 |\n| a | 2 |\n| a | 3 |\n",
        ),
    ],
)
def test_a_table_is_written_by_what_it_holds(html: str, expected: str) -> None:
    assert expected in text(html)


def test_a_table_has_no_more_than_sixty_columns() -> None:
    markdown = text("<table><tr><td colspan=999>a</td><td>b</td></tr></table>")
    assert f"| a |{'  |' * 59} … |\n" in markdown
    assert "| b" not in markdown


# --- which part is the page --------------------------------------------------------------------


@pytest.mark.parametrize(
    "side",
    [
        '<div role="navigation">Elsewhere</div>',
        '<div id="sidebar"><a href="/x">Elsewhere</a></div>',
        '<p class="breadcrumbs"><a href="/x">Elsewhere</a></p>',
        "<aside>Elsewhere</aside>",
    ],
)
def test_navigation_is_dropped_from_documentation(side: str) -> None:
    markdown = page(f"<pre>ls</pre>{side}{PROSE}").text
    assert markdown.startswith("```\nls\n```")
    assert "Elsewhere" not in markdown


def test_comments_below_an_article_are_left_out_and_counted() -> None:
    content = page(f'<div>{PROSE * 2}<div class="comments"><p>First!</p></div></div>')
    assert content.text.count("rests at the pier") == 16
    assert "First!" not in content.text
    assert content.left_out["comments"] > 0


# --- what a page declares ----------------------------------------------------------------------


def declared(day: str) -> str:
    return f'<script type="application/ld+json">{json.dumps({"datePublished": day})}</script>'


@pytest.mark.parametrize(
    ("day", "url", "read_as"),
    [
        ("9999-12-31T23:30:00Z", "https://a.example/2026/02/14/x", date(2026, 2, 14)),
        ("Fri, 31 Dec 9999 23:00:00-0500", URL, None),
        ("Sat, 14 Feb 2026 10:00:00 GMT", URL, date(2026, 2, 14)),
        ("Sat, 44 Dec 2026 99:00:00 GMT", URL, None),
    ],
)
def test_no_declared_date_is_beyond_reading(day: str, url: str, read_as: date | None) -> None:
    result = page(f"<main>{PROSE}</main>", head=declared(day), url=url).published_at
    assert (result and result.date()) == read_as


def test_the_time_in_the_footer_of_an_article_dates_the_page() -> None:
    footer = '<footer><time class="published" datetime="2026-02-14">Saturday</time></footer>'
    result = page(f"<article>{PROSE}{footer}</article>").published_at
    assert result is not None
    assert result.date() == date(2026, 2, 14)
    assert page(f"<div>{PROSE}{footer}</div>").published_at is None
