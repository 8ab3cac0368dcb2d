from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
import rendering_samples as samples

from webtools._internal.display import prose_markup as markup
from webtools._internal.text.visible import (
    LONGEST_URL,
    display_text,
    link_target,
)
from webtools.rendering import render_call, render_result, to_text

OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;(?:id=[0-9-]+;https?://[!-~]+|;)\x1b\\")


def everything(text: str) -> str:
    """Draw a text wherever foreign text can stand, as for a terminal."""
    result = samples.search(
        samples.hit(text, text, text),
        errors=[{"query": text, "message": text}],
        warnings=[text],
        full_output_path=text,
    )
    page = samples.page(text, title=text), samples.page(text, error=text)
    fetched = samples.FETCHED.details | {"results": [*page]}
    synthesis = {"summary": text, "citations": [text]}
    meta = dict.fromkeys(["provider_used", "confidence", "uncertainty"], text)
    research = samples.RESEARCH.details | {"synthesis": synthesis}
    research |= {"meta": meta | {"degraded": [text]}}
    summary = samples.SUMMARY.details | {"engine": text, "summary_type": text}
    drawn = [
        *[render_call(tool, {name: text}, label=text) for tool, name in CALLS],
        render_result("web_search", result, expanded=True),
        render_result("web_fetch", fetched, expanded=True),
        render_result("web_research", research, expanded=True),
        render_result("summarize", samples.ToolResult(text, summary), expanded=True),
        render_result("web_search", samples.failure(text), expanded=True),
        render_result("x", samples.ToolResult(text), expanded=True),
    ]
    return "\n".join(to_text(item, 80, color=True) for item in drawn)


CALLS = [
    *(("web_search", "queries"), ("web_fetch", "urls"), ("summarize", "url")),
    *(("summarize", "engine"), ("web_research", "query"), ("web_research", "command")),
    *(("web_read", "handle"), ("x", "y")),
]
ATTACKS = [
    samples.CSI,
    samples.OSC_LINK,
    samples.OSC_TITLE,
    samples.OVERRIDE,
    samples.ZERO_WIDTH,
    samples.TOWER,
    "\x1b]52;c;ZWNobyBwd25lZA==\x07",
    "\x1bP+q544e\x1b\\",
    "\x9d0;title\x9c",
    "\x1b",
    "\x9b2J",
    "a\rb\x08\x08\x7f\x0b\x0c\x00",
    "line\u2028break\u2029here\x85",
    "\ud800 lone",
    "[link=https://evil.example]click[/link] [bold]x[/] [/] [@click=x]y[/]",
    "https://ok.example/\x1b[31m",
    "https://ok.example/\u202e",
    "https://ok.example/;\x07",
]


def assert_harmless(drawn: str) -> None:
    remaining = OURS.sub("", drawn)
    for character in set(remaining) - {"\n"}:
        assert unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}, hex(ord(character))
        assert character not in INVISIBLE, hex(ord(character))


INVISIBLE = {
    *map(chr, range(0x200B, 0x2010)),
    *map(chr, range(0x2028, 0x202F)),
    *map(chr, range(0x2060, 0x2070)),
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0000, 0xE1000)),
    *"\u00ad\u034f\u061c\u180e\ufeff\u3164\uffa0\u115f",
}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda text: ascii(text)[:30])
def test_no_text_acts_on_the_terminal(attack: str) -> None:
    assert_harmless(everything(attack))
    assert_harmless(everything(f"before{attack}after"))


def test_markup_and_emoji_codes_are_shown_as_they_are() -> None:
    text = "[red]a[/red] :warning: [/] [link=https://evil.example]b[/link]"
    shown = to_text(
        render_result("web_search", samples.search(samples.hit(text, "x:", text)), True), 200
    )
    assert shown.count(text) == 2


def test_a_huge_text_is_cut_before_anything_looks_at_it() -> None:
    class Huge(str):
        __slots__ = ()

        def __getitem__(self, key: Any) -> str:
            assert isinstance(key, slice)
            assert key.stop < 10_000
            return str.__getitem__(self, key)

        def isascii(self) -> bool:
            raise AssertionError

        split = isprintable = isascii

    assert display_text(Huge("a" * 1_000_000), 10) == "aaaaaaaaa…"


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://a.example/x?y=1&z=[2]#f;g", "https://a.example/x?y=1&z=[2]#f;g"),
        ("HTTP://a.example", "HTTP://a.example"),
        ("https://ja.example/構", "https://ja.example/%E6%A7%8B"),
        ("https://a.example/%E6", "https://a.example/%E6"),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("file:///etc/passwd", None),
        ("//a.example", None),
        ("https://", None),
        ("https://bank.example@evil.example/", None),
        (samples.CYRILLIC_HOST, None),
        ("https://a.example/ x", None),
        ("https://a.example/\u200b", None),
        ("https://a.example/\x1b]8;;x\x1b\\", None),
        (f"https://a.example/{'b' * LONGEST_URL}", None),
    ],
)
def test_only_web_urls_shown_as_they_are_become_links(url: str, target: str | None) -> None:
    assert link_target(url, display_text(url, LONGEST_URL)) == target
    drawn = to_text(render_call("web_fetch", {"urls": [url]}), 5000, color=True)
    links = re.findall(r"\x1b\]8;id=[0-9-]+;([^\x1b]+)", drawn)
    assert links == ([target] if target else [])


def test_a_title_is_never_a_link() -> None:
    hit = samples.hit("https://evil.example/", "javascript:1", "https://evil.example/")
    drawn = to_text(render_result("web_search", samples.search(hit), expanded=True), color=True)
    assert "\x1b]8" not in drawn


@pytest.mark.parametrize(
    ("text", "is_link"),
    [
        ("good.example", False),
        ("see Good.Example now", False),
        ("**good**.example", False),
        ("`python.org`", False),
        ("good．example", False),  # noqa: RUF001  its dot is what is tested
        ("good.example:443", False),
        ("evil.example", True),
        ("docs of evil.example", True),
        ("json.load", True),
        ("the docs", True),
    ],
)
def test_a_link_names_no_other_host_than_its_own(text: str, is_link: bool) -> None:
    [_, inline, _] = markup.tokens(f"[{text}](https://www.evil.example/a)", is_page=True)
    kinds = [item.type for item in inline.children or []]
    assert ("link_open" in kinds) == is_link
