# ruff: noqa: E501, RUF001  # pages as they are on the web
from __future__ import annotations

import re
import sys
import threading
import time
import zlib
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from webtools._internal.pages import pdf as _pdf
from webtools._internal.pages import reading as _extraction
from webtools._internal.pages.block_pages import BOT_CHECK, CONSENT, LOGIN, NOT_FOUND, SCRIPTED
from webtools._internal.pages.charset import _is_nearly_utf8, decode
from webtools._internal.pages.reading import Content, Source, read
from webtools._internal.pages.workers import within
from webtools.errors import ConfigError, ProviderError, WebToolsError

URL = "https://news.example/2026/ferry.html"
SENTENCES = (
    "The electric ferry Kittiwake finished its thousandth crossing of the Sound on Monday. "
    "It charges for seven minutes at each end and carries one hundred and twenty cars. "
    "The shipping company has ordered two more of the kind for the northern route. "
)


def page(
    body: bytes | str, content_type: str = "text/html; charset=utf-8", url: str = URL
) -> Content:
    data = body.encode() if isinstance(body, str) else body
    return read(Source(data, content_type, URL, url))


def refusal(body: bytes | str, content_type: str = "text/html", url: str = URL) -> str:
    with pytest.raises(ProviderError) as caught:
        page(body, content_type, url)
    return str(caught.value)


def document(main: str, *, title: str = "Ferry", head: str = "") -> str:
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}'
        f"</head><body>{main}</body></html>"
    )


# --- a page of a newspaper ---------------------------------------------------------------------

NEWSPAPER = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<title>Electric ferry crosses the Sound 1,000 times | The Vellmouth Post</title>
<meta property="og:title" content="Electric ferry crosses the Sound 1,000 times">
<meta name="author" content="Petra Lund; Sven Abara">
<meta property="article:published_time" content="2026-06-17T17:30:00+02:00">
<link rel="stylesheet" href="/style.css"><style>.x{color:red}</style>
<script>window.dataLayer=[{"event":"load"}];</script></head><body>
<header><nav><ul><li><a href="/">Home</a></li><li><a href="/sport">Sport</a></li></ul></nav></header>
<div id="cookie-banner" class="cookie-consent">We use cookies. <button>Accept all</button></div>
<main><article>
<h1>Electric ferry crosses the Sound 1,000 times</h1>
<p class="byline">By Petra Lund</p>
<p>The electric ferry <b>Kittiwake</b> finished its thousandth crossing of the Sound on Monday. It
charges for seven minutes at each end &amp; carries 120 cars.</p>
<h2>Quieter harbour</h2>
<p>The shipping company orders two more. Noise in the harbour has fallen by half, residents say,
and the mussels are said to have come back to the pier.</p>
<ul><li>Charging: seven minutes</li><li>Cars: one hundred and twenty</li></ul>
<table><tr><th>Year</th><th>Crossings</th></tr><tr><td>2025</td><td>312</td></tr></table>
<pre><code>speed = 12  # knots
</code></pre>
<p>Critics had called the ship a toy. It has not missed a day since, not even in the storm of
February, when the diesel ferry stayed in port for a week and the bridge was closed to lorries.</p>
</article></main>
<aside class="related"><h3>Read also</h3><a href="/a">Mayor resigns over bench</a></aside>
<div class="newsletter">Subscribe to our newsletter</div>
<footer>© 2019 The Vellmouth Post. All rights reserved.</footer>
</body></html>"""


PROSE = NEWSPAPER.replace("pre>", "p>")  # a page without code


def test_a_newspaper_page_has_title_authors_date_and_text() -> None:
    content = page(NEWSPAPER)
    assert content.title == "Electric ferry crosses the Sound 1,000 times"
    assert content.author == "Petra Lund, Sven Abara"
    assert content.published_at == datetime(2026, 6, 17, 15, 30, tzinfo=UTC)
    assert content.warnings == []
    for part in (
        "The electric ferry **Kittiwake** finished its thousandth crossing",
        "at each end & carries 120 cars.",
        "## Quieter harbour",
        "- Charging: seven minutes",
        "| 2025 | 312 |",
        "speed = 12",
        "stayed in port for a week",
    ):
        assert part in content.text
    for clutter in (
        *("cookies", "Sport", "newsletter", "All rights reserved", "dataLayer", "color:red"),
        *("Mayor resigns", "<p>", "&amp;"),
    ):
        assert clutter not in content.text


def test_reading_prints_nothing_and_warns_of_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    page(NEWSPAPER)
    refusal("<html></html>")
    with pytest.raises(ProviderError):
        page(b"%PDF-1.4 broken", "application/pdf")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<meta itemprop="datePublished" content="2026-02-14">', (2026, 2, 14)),
        ('<meta name="DC.date.issued" content="2026-02-14T10:00:00Z">', (2026, 2, 14, 10)),
        ('<meta name="date" content="2026/02/14 whatever">', (2026, 2, 14)),
        (
            (
                '<script type="application/ld+json">{"@type": "Article", "datePublished": '
                '"2026-02-14T23:30:00-02:00"}</script>'
            ),
            (2026, 2, 15, 1, 30),
        ),
        ('<meta property="article:published_time" content="soon">', None),
        ('<meta property="article:published_time" content="0001-01-01T00:00:00Z">', None),
        ('<meta property="article:published_time" content="1970-01-01T00:00:00Z">', None),
        ('<meta property="article:published_time" content="0001-01-02T00:00:00+14:00">', None),
        ('<meta name="date" content="November 19, 2019, 07:47 PM EST">', (2019, 11, 19)),
        ('<meta name="date" content="19 Nov 2019 07:09 GMT">', (2019, 11, 19)),
        ('<meta name="date" content="Tue, 19 Nov 2019 07:09:01 GMT">', (2019, 11, 19, 7, 9, 1)),
        ('<meta name="date" content="20191119">', (2019, 11, 19)),
        ("", None),
    ],
)
def test_the_date_is_the_declared_one_in_utc_and_never_a_guess(
    head: str, expected: tuple[int, ...] | None
) -> None:
    body = f"<article><p>{SENTENCES * 3}</p><p>Copyright 2008. Visited 2020-01-01.</p></article>"
    result = page(document(body, head=head)).published_at
    assert result == (None if expected is None else datetime(*expected, tzinfo=UTC))  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    ("times", "day"),
    [
        ('<time itemprop="datePublished" datetime="{}">14 Feb</time>', 14),
        (
            '<time class="entry-date" datetime="{}">14 Feb</time><p><time datetime="2020-01-01"></p>',
            14,
        ),
        ('<p class="byline">By Petra, <time datetime="{}">14 Feb</time></p>', 14),
        ('<p>The ferry <time datetime="{}">on 14 Feb</time> ' + SENTENCES + "</p>", None),
        ('<time datetime="{}">14 Feb</time><time datetime="2020-01-01">old</time>', None),
        ('<aside><time datetime="{}">14 Feb</time></aside>', None),
        ('<div class="comment"><time datetime="{}">14 Feb</time></div>', None),
    ],
)
def test_a_time_element_dates_a_page_if_it_is_marked_or_the_only_one_beside_the_text(
    times: str, day: int | None
) -> None:
    body = times.format("2026-02-14T08:00:00Z") + f"<p>{SENTENCES * 3}</p>"
    result = page(document(f"<article>{body}</article>")).published_at
    assert result == (None if day is None else datetime(2026, 2, day, 8, tzinfo=UTC))


def test_control_characters_and_terminal_escapes_are_removed() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x00\x08\x9b31m"
    body = f"<h1>Fer{evil}ry</h1><p>{evil}{SENTENCES}{evil}</p><p>&#27;[2J&#155;31m{SENTENCES}</p>"
    head = f'<meta name="author" content="Petra{evil} Lund">'
    content = page(document(f"<article>{body}</article>", title=f"Fer{evil}ry", head=head))
    for text in (content.title, content.author, content.text):
        assert text is not None
        assert not set(text) & {chr(n) for n in (*range(9), *range(11, 32), *range(127, 160))}


@pytest.mark.parametrize(
    "broken",
    [
        NEWSPAPER[: len(NEWSPAPER) * 3 // 4],
        NEWSPAPER.replace("</p>", "").replace("</li>", ""),
        NEWSPAPER.replace("</head>", "").replace("</body></html>", ""),
        NEWSPAPER.replace("<html lang", "<html/><html lang"),
        "<p>stray</p></div></b>" + NEWSPAPER,
        NEWSPAPER.replace("<main>", "<main><b><i><div <div <p =x '>"),
    ],
    ids=["cut off", "unclosed", "no head's end", "empty html", "stray ends", "broken tags"],
)
def test_malformed_html_has_its_text(broken: str) -> None:
    assert "finished its thousandth crossing" in page(broken).text


# --- charsets ----------------------------------------------------------------------------------

GERMAN = "Die Fähre überquert den Großen Sund, sagt Müller. "
JAPANESE = "電気フェリーは海峡を千回横断しました。市長は喜んでいます。"
RUSSIAN = "Электрический паром пересёк пролив тысячу раз, сообщает порт. "
CHINESE = "电动渡轮第一千次横渡海峡，港口的噪音减少了一半。"


def in_page(text: str, meta: str = "") -> str:
    head = f'<meta charset="{meta}">' if meta else ""
    body = f"<article><p>{text * 6}</p><p>{text * 5}</p></article>"
    return f"<!DOCTYPE html><html><head>{head}<title>x</title></head><body>{body}</body></html>"


@pytest.mark.parametrize(
    ("text", "encoding", "header", "meta"),
    [
        (GERMAN, "utf-8", "utf-8", ""),
        (GERMAN, "utf-8", "", "utf-8"),
        (GERMAN, "utf-8", "", ""),
        (GERMAN, "utf-8", "iso-8859-1", ""),  # the usual wrong header
        (GERMAN, "utf-8", "windows-1252", "utf-8"),
        (GERMAN, "utf-8-sig", "iso-8859-1", "iso-8859-1"),
        (GERMAN, "iso-8859-1", "ISO-8859-1", ""),
        (GERMAN, "iso-8859-1", "", "latin1"),
        (GERMAN, "iso-8859-1", "utf-8", "iso-8859-1"),  # valid as nothing else
        ("Preis: 5 € – „günstig“. ", "windows-1252", "iso-8859-1", ""),
        ("Preis: 5 € – „günstig“. ", "windows-1252", "windows-1252", ""),
        (JAPANESE, "shift_jis", "Shift_JIS", ""),
        (JAPANESE, "shift_jis", "", "x-sjis"),
        (JAPANESE, "shift_jis", "iso-8859-1", "shift_jis"),
        (JAPANESE, "shift_jis", "", ""),
        (JAPANESE, "euc_jp", "euc-jp", ""),
        (JAPANESE, "iso2022_jp", "iso-2022-jp", ""),
        (JAPANESE, "iso2022_jp", "", "iso-2022-jp"),
        (RUSSIAN, "windows-1251", "windows-1251", ""),
        (RUSSIAN, "koi8-r", "", "koi8-r"),
        (RUSSIAN, "windows-1251", "", ""),
        (CHINESE, "gb18030", "gb2312", ""),
        (CHINESE, "gb18030", "", "gbk"),
        (GERMAN, "utf-16", "", ""),  # with a byte order mark
        (GERMAN, "utf-16", "utf-8", "utf-8"),
        (GERMAN, "utf-16-le", "utf-16le", ""),
        (GERMAN, "utf-16-be", "text", ""),
        (GERMAN, "utf-32", "", ""),
        (GERMAN, "utf-8", "no-such-charset", ""),
        (GERMAN, "utf-8", "unicode_escape", "idna"),
    ],
)
def test_a_charset_is_detected_despite_header_and_page(
    text: str, encoding: str, header: str, meta: str
) -> None:
    body = in_page(text, meta).encode(encoding)
    kind = f"text/html; charset={header}" if header else "text/html"
    assert text.strip() in page(body, kind).text


def test_a_byte_that_is_wrong_costs_no_more_than_itself() -> None:
    body = in_page(GERMAN, "utf-8").encode().replace(b"Sund", b"S\xffnd", 1)
    assert "S\ufffdnd" in page(body, "text/html; charset=utf-8").text


@pytest.mark.parametrize("declared", ["", "; charset=iso-8859-1", "; charset=windows-1252"])
@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, JAPANESE, CHINESE])
def test_stray_bytes_do_not_make_another_charset_of_utf8(text: str, declared: str) -> None:
    body = (text * 3).encode() + b"\xa0 " + text.encode()
    assert decode(body, f"text/plain{declared}") == f"{text * 3}\ufffd {text}"
    latin = in_page(text, "iso-8859-1").encode().replace(b"</p>", b"\xff</p>")
    assert text.strip() in page(latin, "text/html").text


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("Grüße aus Kö".encode()[:-1], "text/plain", "Grüße aus K\ufffd"),
        ("Über 5 €".encode()[:-1], "text/plain; charset=iso-8859-1", "Über 5 \ufffd"),
        ("千回横断".encode()[:-2], "", "千回横\ufffd"),
        ("Dans un café".encode("latin-1"), "text/plain; charset=iso-8859-1", "Dans un café"),
        ("её с".encode("koi8-r"), "text/plain; charset=koi8-r", "её с"),
        ("หนึ".encode("cp874"), "text/plain; charset=tis-620", "หนึ"),
    ],
)
def test_a_cut_end_is_detected_by_the_valid_text_before_it(
    body: bytes, content_type: str, text: str
) -> None:
    assert decode(body, content_type) == text


@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Grüße aus Köln, «ÉTÉ» à 5 € ", "windows-1252"),
        ("Привет, «МИР»! Её сёстры ", "windows-1251"),
        ("Привет, мир! Её сёстры ", "koi8-r"),
        ("рок текст спорта ", "cp866"),
        ("電気ﾌｪﾘｰは海峡を横断 ", "shift_jis"),
        ("電気フェリーは海峡を横断 ", "euc-jp"),
        ("电动渡轮横渡海峡 ", "gbk"),
        ("電動渡輪橫渡海峽 ", "big5"),
        ("전기 여객선이 해협을 ", "euc-kr"),
        ("เรือข้ามฟากไฟฟ้า ", "tis-620"),
    ],
)
def test_text_of_another_charset_is_never_taken_for_damaged_utf8(
    text: str, encoding: str, times: int
) -> None:
    body = (text * times).encode(encoding)
    assert decode(body, f"text/plain; charset={encoding}") == text * times
    assert _is_nearly_utf8(body, []) is False


@pytest.mark.parametrize(
    ("encoding", "mark", "header"),
    [
        ("utf-16-le", "\ufeff", "; charset=utf-16"),
        ("utf-16-be", "\ufeff", ""),
        ("utf-16-le", "\ufeff", "; charset=utf-8"),
        ("utf-32-le", "\ufeff", ""),
        ("utf-16-le", "", "; charset=UTF-16LE"),
        ("utf-16-be", "", "; charset=utf-16be"),
        ("utf-16-le", "", "; charset=utf-16"),
        ("utf-16-be", "", "; charset=utf-16"),
    ],
)
@pytest.mark.parametrize("text", [JAPANESE * 40, "😀 " + JAPANESE * 80])
def test_utf16_is_read_though_hardly_any_of_it_is_ascii(
    encoding: str, mark: str, header: str, text: str
) -> None:
    plain = f"{mark}{text}\n\n{text}".encode(encoding)
    assert page(plain, f"text/plain{header}").text == f"{text}\n\n{text}"
    html = f"{mark}<html><h1>x</h1><p>{text}</p></html>".encode(encoding)
    assert text in page(html, f"text/html{header}").text


def test_a_declared_charset_of_plain_text_is_the_headers_alone() -> None:
    assert decode("charset=koi8-r ü".encode("iso-8859-1"), "text/plain; charset=latin1") == (
        "charset=koi8-r ü"
    )


# --- kinds -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        *("text/plain", "text/markdown; charset=utf-8", "text/csv", "application/json"),
        *(
            "application/ld+json",
            "application/xml",
            "application/rss+xml",
            "text/xml",
            "TEXT/PLAIN",
        ),
        *("application/yaml", "application/x-ndjson", "text/javascript", ""),
    ],
)
def test_text_is_returned_unchanged(kind: str) -> None:
    text = '{"a": [1, 2]}\n\n  # not *touched* <b>at all</b>'
    assert page(text, kind).text == text


@pytest.mark.parametrize(
    "kind", ["", "application/octet-stream", "text/html", "application/x-unknown"]
)
def test_html_is_recognised_without_its_type(kind: str) -> None:
    for text in (NEWSPAPER, "\ufeff\n<!-- note -->\n" + NEWSPAPER):
        assert page(text, kind).title == "Electric ferry crosses the Sound 1,000 times"


# Begins with a byte order mark by chance, and has fewer zeros than UTF-16 of ASCII.
MARKED_BINARY = b"\xff\xfe" + bytes(n * 37 % 256 if n % 12 > 1 else 0 for n in range(4000))


@pytest.mark.parametrize(
    ("body", "kind", "named"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png", "image/png"),
        (b"\x89PNG\r\n\x1a\n....", "text/html", "image/png"),
        (b"\xff\xd8\xff\xe0....", "", "image/jpeg"),
        (b"GIF89a....", "text/plain", "image/gif"),
        (b"PK\x03\x04....", "application/octet-stream", "application/zip"),
        (b"\x1f\x8b\x08....", "application/x-tar", "application/gzip"),
        (b"....ftypisom", "video/mp4", "video/mp4"),
        (b"RIFF....WEBPVP8 ", "", "image/webp"),
        (b"RIFF....WAVEfmt ", "", "audio/wav"),
        (b"hello", "image/svg", "image/svg"),
        (b"hello", "video/mp4", "video/mp4"),
        (b"hello\x1b[2J", "appl\x1b[2Jication/x", "appl2jication/x"),
        (b"a\x00b", "", "application/octet-stream"),
        (b"a" * 90 + b"\x00" * 10 + b"b" * 90, "text/html", "text/html"),
        (MARKED_BINARY, "text/html", "text/html"),
        (MARKED_BINARY, "text/plain; charset=utf-16", "text/plain"),
        (MARKED_BINARY[2:], "text/plain; charset=utf-16", "text/plain"),
        (MARKED_BINARY, "", "application/octet-stream"),
        (MARKED_BINARY, "application/octet-stream", "application/octet-stream"),
        ("\ufeffhello".encode("utf-16-le"), "image/x-icon", "image/x-icon"),
        ("\ufeffa\0b".encode(), "", "application/octet-stream"),
    ],
)
def test_content_without_text_is_refused_by_its_type(body: bytes, kind: str, named: str) -> None:
    text = refusal(body, kind)
    assert re.search(rf" {re.escape(named)}\b", text)


@pytest.mark.parametrize("body", [b"", b" \n ", b"\xef\xbb\xbf", b"\x08\x0b"])
@pytest.mark.parametrize("kind", ["text/html", "text/plain", "application/json", ""])
def test_a_page_of_nothing_is_an_error(body: bytes, kind: str) -> None:
    assert refusal(body, kind)


def test_very_long_text_is_cut_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_extraction, "MAX_TEXT", 1000)
    content = page("x" * 5000, "text/plain")
    assert len(content.text) == 1000
    [warning] = content.warnings
    assert "1,000 of 5,000 characters" in warning


# --- hostile markup ----------------------------------------------------------------------------

HOSTILE = {
    "deep divs": "<div>" * 20_000 + "deep " * 50,
    "deep inline": "<b><i>" * 10_000 + "deep " * 50,
    "deep tables": "<table><tr><td>" * 10_000 + "deep " * 50,
    "deep lists": "<ul><li>" * 10_000 + "deep " * 50,
    "deep quotes": "<blockquote>" * 20_000 + "deep " * 50,
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(60_000)) + ">" + "deep " * 50,
    "many elements": "<p>x</p>" * 105_000 + "deep " * 50,
    "one long word": "<p>" + "a" * 1_000_000 + " deep",
    "blanks": "<p>" + " " * 1_000_000 + "deep",
    "angle brackets": "<" * 250_000 + "deep",
    "open tags": "<a" * 500_000 + " deep",
    "comments": "<!--" * 300_000 + "deep",
    "entities": "<p>" + "&amp;" * 100_000 + "deep",
    "linked data": "<script type='application/ld+json'>" + "[" * 1_000_000 + "</script><p>deep",
    "linked dates": "<script type='application/ld+json'>"
    + '"datePublished":' * 60_000
    + "</script>"
    "<p>deep",
    "titles": "<title>" * 50_000 + "deep",
    "forms": "<form><input type=password>" * 6_000 + "deep",
    "processing": "<?xml " * 200_000 + "deep",
    "doctypes": "<!doctype html " * 100_000 + "deep",
    "cdata": "<![CDATA[" * 100_000 + "deep",
}


WILD = ("deep divs", "attributes", "many elements")  # all of its text is given


@pytest.mark.no_cover
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_ends_soon_in_text_or_an_error_of_ours(name: str) -> None:
    start = time.process_time()
    stack = 128 * 1024  # as musl gives its threads; glibc gives them 64 times that
    before = threading.stack_size(stack)
    try:
        with suppress(WebToolsError):
            result = within(60, lambda: page("<!doctype html><html><body>" + HOSTILE[name]))
        assert threading.stack_size() == stack
    finally:
        threading.stack_size(before)
    assert time.process_time() - start < 20
    if name in WILD:
        assert_all_text(result)


def assert_all_text(result: Content) -> None:
    assert result.text.rstrip().endswith("deep")
    assert len(result.warnings) == 1


def test_exceptions_of_a_library_become_provider_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (RecursionError(), MemoryError(), ValueError("secret"), AssertionError()):

        def fail(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr(_extraction, "main_part", fail)
        text = refusal(PROSE)
        assert f"({type(error).__name__})" in text
        assert "secret" not in text


def test_a_missing_library_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "lxml.etree", None)
    with pytest.raises(ConfigError, match="lxml.*pip install 'agent-webtools"):
        page(PROSE)


KINDS = st.sampled_from(
    ["text/html", "text/plain", "application/pdf", "", "application/json", "text/html;charset=sjis"]
) | st.text(max_size=30)
MARKUP = st.lists(
    st.sampled_from(
        [
            "<p>",
            "</p>",
            "<div",
            ">",
            "<table>",
            "<td>",
            "<li>",
            "<script>",
            "</script>",
            "<!--",
            "-->",
            "<title>",
            "<h1>",
            "<a href=",
            "'",
            '"',
            "&#x",
            "&amp;",
            "\x00",
            "�",
            "<svg>",
            "é",
            "<noscript>",
            "<input type=password>",
            "<meta name=date content=",
            "text ",
            "<pre>",
            "\n",
        ]
    )
    | st.text(max_size=8),
    max_size=40,
)


@settings(deadline=None)
@given(MARKUP, KINDS)
def test_any_markup_has_content_or_a_provider_error(parts: list[str], kind: str) -> None:
    assert_sound("".join(parts).encode("utf-8", "surrogatepass"), kind)


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 600), st.integers(0, 600))
def test_any_damaged_pdf_has_content_or_a_provider_error(
    junk: bytes, start: int, length: int
) -> None:
    complete = pdf(["One page of text."], title="T", created="D:20260214083000Z")
    assert_sound(complete[:start] + junk + complete[start + length :], "application/pdf")


def assert_sound(body: bytes, kind: str) -> None:
    try:
        content = read(Source(body, kind, URL, URL))
    except WebToolsError as error:
        printable = str(error).isprintable()
        assert printable, str(error)  # noqa: PT017  # both outcomes are judged here
        return
    assert content.text.strip()
    for text in (content.text, content.title or "", content.author or "", *content.warnings):
        text.encode()
        assert not set(text) & {chr(n) for n in (*range(9), *range(11, 32), *range(127, 160))}
    assert content.published_at is None or content.published_at.tzinfo is not None


# --- PDF ---------------------------------------------------------------------------------------


def pdf(pages: list[str], *, title: str = "", author: str = "", created: str = "") -> bytes:
    """Write a PDF file by hand, a line of text per page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "0 0 m 9 9 l S"
        objects += [
            (
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R"
                f" >> >> /Contents {5 + 2 * number} 0 R >>"
            ),
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    facts = {"Title": title, "Author": author, "CreationDate": created}
    info = " ".join(f"/{key} ({value})" for key, value in facts.items() if value)
    objects.append(f"<< {info} >>")
    return _assembled(objects)


def _assembled(objects: list[str]) -> bytes:
    data, offsets = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    start = len(data)
    lines = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{lines}trailer\n<< /Size {size} /Root 1 0 R "
    return data + f"{tail}/Info {size - 1} 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()


def test_a_pdf_has_the_text_of_its_pages_and_its_metadata() -> None:
    body = pdf(
        ["The ferry crosses.", "It charges.", "It rests."],
        title="The Ferry",
        author="Petra Lund",
        created="D:20260214083000+01'00'",
    )
    content = page(body, "application/pdf")
    assert content.text == (
        "[Page 1]\n\nThe ferry crosses.\n\n[Page 2]\n\nIt charges.\n\n[Page 3]\n\nIt rests."
    )
    assert (content.title, content.author) == ("The Ferry", "Petra Lund")
    assert content.published_at == datetime(2026, 2, 14, 7, 30, tzinfo=UTC)
    assert content.warnings == []


@pytest.mark.parametrize("kind", ["", "text/html", "application/octet-stream", "text/plain"])
def test_a_pdf_is_recognised_whatever_its_type(kind: str) -> None:
    assert page(b"\n" + pdf(["Text."]), kind).text == "Text."


def encrypted(password: str, algorithm: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf(["The ferry crosses."]))))
    writer.encrypt(password, "owner", algorithm=algorithm)
    written = BytesIO()
    writer.write(written)
    return written.getvalue()


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_an_encrypted_pdf_is_read_if_it_needs_no_password_and_else_an_error(algorithm: str) -> None:
    assert page(encrypted("", algorithm)).text == "The ferry crosses."
    assert refusal(encrypted("secret", algorithm)) == _pdf._ENCRYPTED


def test_a_long_pdf_is_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pdf, "MAX_PAGES", 3)
    content = page(pdf([f"Page {n}." for n in range(5)]))
    assert content.text.endswith("[Page 3]\n\nPage 2.")
    [warning] = content.warnings
    assert re.findall(r"\d+", warning) == ["3", "5", "4", "5"]


def test_a_compressed_bomb_in_a_pdf_is_an_error_of_ours_and_soon() -> None:
    bomb = zlib.compress(zlib.compress(b"q " * 60_000_000, 9), 9)
    stream = bomb.decode("latin-1")
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        f"<< /Length {len(bomb)} /Filter [/FlateDecode /FlateDecode] >>\nstream\n{stream}\nendstream",
        "<< >>",
    ]
    start = time.monotonic()
    assert "PDF" in refusal(_assembled(objects), "application/pdf")
    assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    "body", [b"%PDF-1.4", b"%PDF-1.7\n" + b"\x00" * 500, b"%PDF-" + b"1 0 obj " * 9]
)
def test_a_damaged_pdf_is_an_error(body: bytes) -> None:
    assert "PDF" in refusal(body, "application/pdf")


# --- pages that stand in for the one asked for --------------------------------------------------

CLOUDFLARE = """<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title>
<meta name="robots" content="noindex,nofollow"><style>*{box-sizing:border-box}</style></head>
<body><div class="main-wrapper" role="main"><div class="main-content"><h1>docs.example</h1>
<noscript><div id="challenge-error-text">Enable JavaScript and cookies to continue</div></noscript>
<p>Verifying you are human. This may take a few seconds.</p>
<p>docs.example needs to review the security of your connection before proceeding.</p></div></div>
<script>(function(){window._cf_chl_opt = {cvId: '3',cType: 'managed'};
var a=document.createElement('script');a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1';
})();</script></body></html>"""
GOOGLE_SORRY = """<html><head><title>https://www.google.com/search?q=x</title></head><body>
<form id="captcha-form" action="index" method="post"><noscript>In order to continue, please enable
javascript on your web browser.</noscript><script src="https://www.google.com/recaptcha/enterprise.js">
</script><div id="recaptcha" class="g-recaptcha" data-sitekey="k"></div></form>
<div>About this page<br><br>Our systems have detected unusual traffic from your computer network.
This page checks to see if it's really you sending the requests, and not a robot.</div></body></html>"""
PERIMETERX = """<html><head><title>Access to this page has been denied</title></head><body>
<h1>Press &amp; Hold to confirm you are a human (and not a bot).</h1><div id="px-captcha"></div>
<script>window._pxAppId = 'PXabc';</script><p>Reference ID 12345</p></body></html>"""
AKAMAI = """<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY><H1>Access Denied</H1>
Access to this page has been denied because we believe you are using automated access tools.<P>
Reference&#32;&#35;18&#46;4dfd&#46;1</BODY></HTML>"""
ANUBIS = """<!doctype html><html><head><title>Making sure you're not a bot!</title></head><body>
<h1>Making sure you're not a bot!</h1><p>Loading...</p><p>You are seeing this because the administrator
protects the server against the scourge of bots.</p><script src="/check.js"></script></body></html>"""
LINKEDIN = """<!DOCTYPE html><html><head><title>Sign Up | Network</title></head><body><main>
<h1>Join Network now — or sign in</h1><form action="/login"><label>Email</label><input type="email">
<label>Password</label><input type="password" name="p"><button>Agree &amp; Join</button></form>
<p>By clicking Agree you accept the User Agreement and Privacy Policy.</p></main></body></html>"""
LOGIN_FORM = """<!DOCTYPE html><html><head><title>Log in - Confluence</title></head><body>
<form method="post" action="/dologin.action"><h2>Log in</h2><input name="u"><input type="password">
<input type="submit" value="Log in"></form><p>Powered by a wiki.</p></body></html>"""
GERMAN_LOGIN = """<html><head><title>Anmeldung</title></head><body><h1>Bitte anmelden</h1>
<form><input name=user><input type='PASSWORD' name=pass><button>Weiter</button></form></body></html>"""
CONSENT_PAGE = """<html><head><title>Before you continue to Search</title></head><body>
<h1>Before you continue to Search</h1><p>We use cookies and data to deliver and maintain services.</p>
<p>If you choose to accept all, we will also use cookies to show personalized ads.</p>
<form action="https://consent.search.example/save"><button>Reject all</button><button>Accept all
</button></form></body></html>"""
REACT = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Dashboard</title>
<script defer src="/static/js/main.8e3f.js"></script></head><body>
<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>"""
VUE = """<!doctype html><html><head><title>Shop</title></head><body><div id="app"></div>
<script type="module" src="/assets/index.js"></script></body></html>"""
ENABLE = """<html><head><title>Forum</title><script src="a.js"></script></head><body>
<p>JavaScript is not available. We've detected that JavaScript is disabled in this browser.</p>
</body></html>"""
SOFT_404 = """<html><head><title>Page not found | Shop</title></head><body><nav>Home Sale</nav>
<h1>404</h1><p>Sorry, the page you were looking for was not found. Try the search.</p></body></html>"""
SOFT_404_GERMAN = """<html><head><title>Seite nicht gefunden</title></head><body>
<h1>Seite nicht gefunden</h1><p>Leider gibt es diese Seite nicht mehr.</p></body></html>"""
INCAPSULA = """<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"><script
src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3"></script></head><body><iframe
id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=5&xinfo=9-1-0&incident_id=8520-112&edet=12"
frameborder=0 width="100%">Request unsuccessful. Incapsula incident ID: 852-112</iframe></body></html>"""


def missing(title: str, heading: str, text: str) -> str:
    return document(f"<h1>{heading}</h1><p>{text}</p>", title=title)


def login(title: str, heading: str = "Welcome") -> str:
    return missing(title, heading, "<form><input><input type=password></form>Forgot it?")


WALLS = {
    "Cloudflare": (CLOUDFLARE, BOT_CHECK),
    "Incapsula": (INCAPSULA, BOT_CHECK),
    "Incapsula of old": (
        "<html><body><iframe src='/_Incapsula_Resource?SWUDNSAI=31'>Request unsuccessful.</iframe>",
        BOT_CHECK,
    ),
    "Google": (GOOGLE_SORRY, BOT_CHECK),
    "PerimeterX": (PERIMETERX, BOT_CHECK),
    "Akamai": (AKAMAI, BOT_CHECK),
    "Anubis": (ANUBIS, BOT_CHECK),
    "social network": (LINKEDIN, LOGIN),
    "wiki": (LOGIN_FORM, LOGIN),
    "German log-in": (GERMAN_LOGIN, LOGIN),
    "consent": (CONSENT_PAGE, CONSENT),
    "React": (REACT, SCRIPTED),
    "Vue": (VUE, SCRIPTED),
    "enable JavaScript": (ENABLE, SCRIPTED),
    "soft 404": (SOFT_404, NOT_FOUND),
    "German soft 404": (SOFT_404_GERMAN, NOT_FOUND),
}


NOWHERE = {  # title, heading, text
    "a blog": (
        "Page not found \u2013 My Blog",
        "Oops! That page can\u2019t be found.",
        "It looks like nothing was found at this location. Maybe try a search?",
    ),
    "a web server": (
        "404 Not Found",
        "Not Found",
        "The requested URL /x was not found on this server.",
    ),
    "IIS": (
        "404 - File or directory not found.",
        "Server Error",
        "The document you are looking for might have been removed.",
    ),
    "Next.js": ("404: This page could not be found.", "404", "This page could not be found."),
    "Google": (
        "Error 404 (Not Found)!!1",
        "",
        "404. That's an error. The requested URL was not found on this server.",
    ),
    "the site's name first, with a number": (
        "Acme - 404 Page Not Found",
        "Error",
        "Page not found",
    ),
    "an apology": (
        "Error - Page Not Found :(",
        "Sorry, the page you're looking for cannot be found.",
        "Hm.",
    ),
    "the site's name first": ("Acme | Page not found", "404", "Go home"),
    "another heading": (
        "Page not found | Acme",
        "Lost?",
        "We can't find that page. It may have moved.",
    ),
    "only a number": ("404", "404", "Go home"),
    "only a number, and words": (
        "404 | Acme",
        "404",
        "The page you requested does not exist. " * 3,
    ),
    "hardly any text": ("Page not found", "Page not found", "Our search knows more. " * 5),
    "much text": (
        "Page not found",
        "Page not found",
        "The page has been removed. " + SENTENCES * 2,
    ),
    "French": ("Page introuvable", "Page introuvable", "Retour"),
    "Spanish": ("Página no encontrada", "Error 404", "No existe"),
    "Japanese": ("ページが見つかりません", "404 Not Found", "お探しのページは見つかりません"),
    "not available": ("This page isn't available", "Sorry, this page isn't available.", "Back"),
}


@pytest.mark.parametrize("parts", NOWHERE.values(), ids=NOWHERE.keys())
def test_a_page_about_a_missing_page_is_an_error(parts: tuple[str, str, str]) -> None:
    assert refusal(missing(*parts)) == NOT_FOUND


@pytest.mark.parametrize(
    "title",
    [
        *("Log in", "Log in - Jira", "Login | Acme", "Acme \u2013 Log in or sign up", "Sign In"),
        *(
            "Sign in to your account",
            "Login required",
            "Login Page",
            "Log in / Sign up",
            "Log-in: Acme",
        ),
        *(
            "Sign in with your work account",
            "Anmeldung",
            "Anmelden bei Acme",
            "Connexion \u2022 Acme",
        ),
        *("Iniciar sesión", "ログイン | 例", "ログインページ", "请登录", "Please log in!"),
    ],
)
def test_a_title_that_ends_in_a_log_in_and_a_password_field_are_a_log_in(title: str) -> None:
    assert refusal(login(title)) == LOGIN
    assert refusal(login("Acme", title)) == LOGIN


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Login shells", "A login shell reads /etc/profile first."),
        ("How to log in", "Press the button at the top."),
        ("Sign in with Google | Docs", "Add the button, and verify the ID token on your server."),
        ("Login & security settings", "What they are for."),
        ("ログインシェル", "シェルの説明。"),
    ],
)
def test_a_title_that_continues_after_a_log_in_is_content(title: str, text: str) -> None:
    box = "<aside><form><input type=password></form></aside>"
    assert page(missing(title, title.partition(" |")[0], text + box)).text


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        *[
            (f"/{item}", True)
            for item in ("login", "sign-in/", "login.jsp", "sso/x", "wp-login.php")
        ],
        *[
            (f"/{item}", True)
            for item in ("auth", "auth/realms/x", "api/auth", "login_form", "a/login;x")
        ],
        *[
            (f"/{item}", False)
            for item in ("docs/auth/google", "login-shells", "author", "signing")
        ],
    ],
)
def test_a_redirect_to_a_login_is_recognized_by_path_segments(path: str, counts: bool) -> None:
    html = missing("Log in", "Log in", "Continue with your account.")
    moved = Source(html.encode(), "text/html", URL, f"https://news.example{path}")
    if counts:
        with pytest.raises(ProviderError, match=LOGIN):
            read(moved)
    assert counts or read(moved).text


@pytest.mark.parametrize(("text", "reason"), WALLS.values(), ids=WALLS.keys())
def test_a_block_page_is_an_error_with_its_reason(text: str, reason: str) -> None:
    assert refusal(text) == reason


def about(topic: str, more: str = "") -> str:
    return f"<article><h1>{topic}</h1><p>{SENTENCES}</p>{more}<p>{SENTENCES}</p></article>"


CONTENT = {
    "an article about captchas": document(
        "<article><h1>What is a CAPTCHA?</h1><p>A CAPTCHA asks visitors to verify that they are "
        "human and not a robot. Sites show it when they see unusual traffic.</p>"
        + f"<p>{SENTENCES}</p>" * 4
        + "</article>",
        title="What is a CAPTCHA? Bot detection explained",
    ),
    "a short entry on captchas": document(
        "<article><h1>Captcha</h1><p>A test that tells people from programs, often by distorted "
        "letters or pictures of traffic lights; the name was coined in 2003.</p></article>",
        title="Captcha - glossary",
    ),
    "an article about Cloudflare": document(
        about("How Cloudflare checks browsers", "<p>The page says: Just a moment...</p>")
        + "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
        title="How Cloudflare checks browsers",
    ),
    "an article on a guarded site": document(
        about("Ferry") + "<script src='/_Incapsula_Resource?SWJIYLWA=1'></script>"
    ),
    "a contact form with a captcha": document(
        "<main><h1>Contact us</h1><p>Write to us about the ferry, its tickets and its timetable. "
        "We answer within two days. Please confirm that you are not a robot before sending. Our "
        "office at the pier is open from eight to five, on Sundays from ten to two. Lost property "
        "is kept there for six weeks.</p><form><div class='g-recaptcha'></div></form></main>",
        title="Contact us",
    ),
    "an article with a log-in box": document(
        "<header><form>Log in <input type=password></form></header>" + about("Ferry")
    ),
    "a guide to signing in": document(
        about("How to sign in to your account", "<p>Enter your password and press Log in.</p>"),
        title="How to sign in to your account",
    ),
    "an article on consent": document(
        about("Why sites ask for consent to cookies", "<p>Accept all, says the button.</p>"),
        title="Cookie consent: what the law says",
    ),
    "an article with a cookie banner": document(
        "<div>We value your privacy. We use cookies. Accept all. Reject all.</div>" + about("Ferry")
    ),
    "an article in an app's root": document(
        f"<noscript>You need to enable JavaScript.</noscript><div id='root'>{about('Ferry')}</div>"
        "<script src=x></script>"
    ),
    "a short page in an app's root": document(
        "<div id='app'><main><h1>Ferry</h1><p>The ferry leaves at eight and at ten.</p></main></div>"
        "<script src=x></script>"
    ),
    "an article about JavaScript": document(
        about("JavaScript", "<p>If JavaScript is disabled, enable JavaScript in the settings.</p>")
        + "<script src=x></script>"
    ),
    "an article about 404": document(
        about("HTTP 404", "<p>404 means that the page was not found.</p>" + f"<p>{SENTENCES}</p>"),
        title="HTTP 404: page not found, explained",
    ),
    "an area code": missing(
        "404 area code", "404 area code", "Area code 404 serves Atlanta. " + SENTENCES
    ),
    "a car": missing(
        "404 Coupe - Peugeot Classics", "404 Coupe", "The 404 Coupe was built from 1962 to 1968."
    ),
    "a car named by its number": missing(
        "404 - Peugeot Classics",
        "404",
        "The 404 was built from 1960 to 1975, a saloon for families.",
    ),
    "an album": missing(
        "404 Not Found (album)", "404 Not Found (album)", "404 Not Found is an album of 2012."
    ),
    "what an error means": missing(
        "404: what the error means", "404: what the error means", "The server has no such page."
    ),
    "how an error is mended": missing(
        "404 Not Found - how to fix it", "404 Not Found", "The page has been moved? Restore it."
    ),
    "an exception": missing(
        "Not Found exception - API", "Not Found exception", "Raised when a key does not exist."
    ),
    "a status": missing(
        "404 Not Found - HTTP | Reference",
        "404 Not Found",
        "The 404 Not Found response status code indicates that the server cannot find the resource.",
    ),
    "a status at length": missing(
        "404 Not Found - HTTP",
        "404 Not Found",
        "The server cannot find what was asked for. Links to it are called broken. " + SENTENCES,
    ),
    "a heading is no second sign": missing(
        "Page not found - Framework", "Page not found", "Set a handler for it. " + SENTENCES
    ),
    "a post about a block": missing(
        "Incapsula blocks me",
        "Incapsula blocks me",
        "Request unsuccessful. Incapsula incident ID: 12, "
        'it says, and the source has &lt;iframe src="/_Incapsula_Resource?incident_id=12"&gt;.',
    ),
    "a short page on a guarded site": missing("Ferry", "Ferry", "It is late today.")
    + "<script src='/_Incapsula_Resource?SWJIYLWA=1'></script>",
    "a very short page": document("<p>The ferry is late today.</p>"),
    "a page named 404": document("<h1>Room 404</h1><p>The meeting is in the east wing.</p>"),
}


@pytest.mark.parametrize("text", CONTENT.values(), ids=CONTENT.keys())
def test_a_page_about_such_things_is_content(text: str) -> None:
    assert page(text).text


# --- the libraries -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "day",
    [
        *("5. März 2024", "5 mars 2024", "5 de marzo de 2024", "5 de março de 2024"),
        *("2024年3月5日", "March 5, 2024"),
    ],
)
def test_a_date_is_read_with_the_name_of_its_month_in_several_languages(day: str) -> None:
    body = f'<article><p class="published">{day}</p><p>{SENTENCES * 3}</p></article>'
    assert page(document(body)).published_at == datetime(2024, 3, 5, tzinfo=UTC)
