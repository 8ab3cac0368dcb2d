"""Provider text becomes plain text, and text that only looks like marks stays."""

from __future__ import annotations

import pytest

from webtools._internal.text.cleaning import one_line, without_controls
from webtools._internal.text.web_urls import is_web_url


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[1;38;5;196mred", "red"),
        ("\x1b[?25lhidden", "hidden"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;ZXZpbA==\x9ctext", "text"),
        ("\x1bPq#0\x1b\\text", "text"),
        ("\x1b_hidden\x1b\\\x1b^hidden\x1b\\\x1bXhidden\x1b\\text", "text"),
        ("\x1bc\x1b7\x1b(Btext", "text"),
        ("\x1b[31", ""),
        ("end\x1b", "end"),
        ("\x1b\x1b[31mred", "red"),
        ("a\x00b\x08c\x7fd\x85e", "abcde"),
        ("a\x0bb\x0cc", "abc"),
        ("bell\x07", "bell"),
    ],
)
def test_terminal_sequences_and_controls_are_dropped(given: str, plain: str) -> None:
    assert without_controls(given) == plain


@pytest.mark.parametrize(
    "given",
    [
        "see \x1b]52 in the manual\nsecond line",
        "said â\x80\x9cyesâ\x80\x9d twice\nsecond line",  # UTF-8 quotes read as Latin-1
        "\x90\x98\x9d\x9e\x9fsecond line",
    ],
)
def test_a_sequence_without_an_end_removes_no_other_text(given: str) -> None:
    assert without_controls(given).endswith("second line")
    assert without_controls(given + "\x07").endswith("second line")


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("<b>Rust</b> &amp; <strong>C</strong>", "Rust & C"),
        ("it&#39;s &quot;so&quot; &hellip; &#x2014;", 'it\'s "so" … —'),
        ("&amp;lt;b&amp;gt;", "&lt;b&gt;"),  # decoded once, as it was encoded once
        ("List&lt;String&gt;", "List<String>"),
        ("List<String> and Map<K, V>", "List<String> and Map<K, V>"),
        ("vector<int>", "vector<int>"),
        ("a < b and c > d", "a < b and c > d"),
        ('<span class="hl">x</span><em>y</em><i>z</i><mark>!</mark>', "xyz!"),
        ("one<br>two<br/>three", "one two three"),
        ("<p>one</p><p>two</p>", "one two"),
        ("  a \t b\nc\u00a0d\u2003e ", "a b c d e"),
        ("a&nbsp;&nbsp;b", "a b"),
        ("&lt;b&gt; marks text", "<b> marks text"),
        ("R&D, AT&T, a&b=c", "R&D, AT&T, a&b=c"),
        ("red\x1b[31m &#27;[0m", "red [0m"),
        ("\ud83d", "\ufffd"),
        ("", ""),
    ],
)
def test_a_title_becomes_one_plain_line(given: str, plain: str) -> None:
    assert one_line(given) == plain


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example",
        "http://a.example/",
        "HTTPS://A.EXAMPLE/x?y=1#z",
        "https://a.example:8443/x",
        "https://user:word@a.example/x",
        "https://127.0.0.1:80/",
        "https://[::1]:8080/x",
        "https://bücher.example/straße?q=ü",
        "https://a.example?q=1",
        "https://a.example/%20(x)[y]'z",
    ],
)
def test_a_web_address_is_one(url: str) -> None:
    assert is_web_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.example",
        "/search?q=b",
        "//a.example/",
        "https://",
        "https:///path",
        "https://?q",
        "ftp://a.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https:a.example",
        "https://a.example/ b",
        "https://a.example/\nb",
        "https://a.example/\x00",
        "https://a.example/\x1b[31m",
        "https://a.example/\u202ekcab",
        "https://a.example\\@evil.example",
        'https://a.example/"x',
        "https://a.example/<b>",
        "https://a.example:99999/",
        "https://a.example:port/",
        "https://[::1/",
        "https://a\u2100b.example/",
        " https://a.example/",
        "https://a.example/\ud800",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    assert not is_web_url(url)
