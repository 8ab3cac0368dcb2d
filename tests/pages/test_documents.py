# ruff: noqa: E501  # files as they are on the web
"""Files that are not HTML: PDF, feeds, notebooks, office documents; and bytes with false labels."""

from __future__ import annotations

import json
import random
import sys
from contextlib import suppress
from datetime import date
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from test_reading_pages import URL, _assembled, page, pdf, refusal

from webtools._internal.pages import documents as _documents
from webtools._internal.pages import pdf as _pdf
from webtools._internal.pages import reading as _reading
from webtools._internal.pages.content import Content, Source
from webtools._internal.pages.processes import Alarm
from webtools._internal.pages.reading import read
from webtools._internal.pages.workers import read_apart
from webtools.errors import ConfigError, ProviderError


def chosen(body: bytes, pages: str = "", fragment: str = "") -> Content:
    return read(Source(body, "application/pdf", URL + fragment, URL, pages=pages))


# --- PDF ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "junk", [b"\n\n", b"HTTP/1.1 200 OK\r\n\r\n", b"<br />Notice", b"x" * 1015]
)
@pytest.mark.parametrize("kind", ["application/pdf", "application/octet-stream", "text/html"])
def test_a_pdf_may_have_bytes_before_its_header(junk: bytes, kind: str) -> None:
    assert page(junk + pdf(["The tram stops here."]), kind).text == "The tram stops here."


@pytest.mark.parametrize("kind", ["text/html", "application/pdf", ""])
def test_a_page_about_the_header_of_a_pdf_is_no_pdf(kind: str) -> None:
    text = "<!doctype html><title>PDF</title><p>Each file starts with %PDF-1.7, see ISO 32000.</p>"
    assert "%PDF-1.7" in page(text, kind).text
    assert page("A file starts with\n%PDF-1.7 and ends with %%EOF.", "text/plain").text


@pytest.mark.parametrize(
    ("pages", "fragment", "numbers"),
    [
        ("2", "", [2]),
        ("2-4", "", [2, 3, 4]),
        ("4-", "", [4, 5]),
        ("5,1", "", [5, 1]),
        ("4-90", "", [4, 5]),
        ("", "#page=3", [3]),
        ("", "#zoom=50&page=3", [3]),
        ("1", "#page=3", [1]),
        ("", "#mypage=3", [1, 2, 3, 4, 5]),
    ],
)
def test_pages_of_a_pdf_are_chosen(pages: str, fragment: str, numbers: list[int]) -> None:
    content = chosen(pdf([f"Text {n}." for n in range(1, 6)]), pages, fragment)
    assert content.text == "\n\n".join(f"[Page {n}]\n\nText {n}." for n in numbers)
    assert content.page_count == 5


def test_pages_that_a_pdf_lacks_are_an_error_with_the_number_of_pages() -> None:
    with pytest.raises(Exception, match="2 pages.*7-9"):
        chosen(pdf(["One.", "Two."]), "7-9")


def test_the_rest_of_a_long_pdf_is_named_so_that_it_can_be_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_pdf, "MAX_PAGES", 3)
    body = pdf([f"Text {n}." for n in range(1, 9)])
    texts, pages = [], ""
    while True:
        content = chosen(body, pages)
        texts += content.text.split("\n\n")[1::2]
        if not content.warnings:
            break
        pages = content.warnings[0].split('"')[1]
    assert texts == [f"Text {n}." for n in range(1, 9)]


def test_values_of_form_fields_are_read() -> None:
    fields = [
        "/FT /Tx /T (name) /TU (Name of the ship) /V (Kittiwake)",
        "/FT /Tx /T (empty) /V ()",
        "/FT /Btn /T (ready) /V /Yes",
        "/FT /Btn /T (sold) /V /Off",
        "/FT /Ch /T (ports) /V [(Vell) (Oster)]",
        "/Parent 11 0 R",
    ]
    kids = " ".join(f"{n} 0 R" for n in range(5, 11))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{kids}] >> >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Annots [{kids}] >>",
        "<< /Length 0 >>\nstream\n\nendstream",
        *(f"<< /Type /Annot /Subtype /Widget {field} >>" for field in fields),
        "<< /FT /Tx /T (length) /V (40 m) >>",
        "<< >>",
    ]
    lines = page(_assembled(objects)).text.splitlines()
    assert lines == [
        "Name of the ship: Kittiwake",
        "ready: Yes",
        "ports: Vell, Oster",
        "length: 40 m",
    ]


def with_font(font: str, code: str, *more: str) -> bytes:
    stream = f"BT /F1 12 Tf 72 720 Td <{code}> Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
            " /Resources << /Font << /F1 5 0 R >> >> >>"
        ),
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        font,
        *more,
        "<< >>",
    ]
    return _assembled(objects)


KOREAN = with_font(
    "<< /Type /Font /Subtype /Type0 /BaseFont /HYSMyeongJo /Encoding /KSC-EUC-H"
    " /DescendantFonts [6 0 R] >>",
    "".join(f"{byte:02x}" for byte in "부산항".encode("euc_kr")),
    "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HYSMyeongJo"
    " /CIDSystemInfo << /Registry (Adobe) /Ordering (Korea1) /Supplement 1 >> >>",
)


def test_fonts_that_pypdf_cannot_decode_are_read_with_pdfminer() -> None:
    content = page(KOREAN)
    assert content.text == "부산항"
    assert content.warnings == []


def test_without_pdfminer_a_warning_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pdfminer", None)
    [warning] = page(KOREAN).warnings
    assert "agent-webtools[pdf]" in warning


def test_ligatures_become_letters() -> None:
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    table = (
        "begincmap 1 begincodespacerange <00> <ff> endcodespacerange "
        "2 beginbfchar <01> <fb01> <02> <fb03> endbfchar endcmap"
    )
    stream = f"<< /Length {len(table)} >>\nstream\n{table}\nendstream"
    assert page(with_font(font, "0102", stream)).text == "fiffi"


def test_installed_fonttools_do_not_change_the_text_of_a_pdf() -> None:
    """The names of an embedded font's glyphs may lie, and pypdf reads them with fontTools."""
    builder = pytest.importorskip("fontTools.fontBuilder").FontBuilder(1000, isTTF=False)
    pens = pytest.importorskip("fontTools.pens.t2CharStringPen")
    glyphs = [".notdef", "zero"]
    builder.setupGlyphOrder(glyphs)
    builder.setupCharacterMap({65: "zero"})
    char_strings = {name: pens.T2CharStringPen(600, None).getCharString() for name in glyphs}
    builder.setupCFF("Font", {}, char_strings, {})
    cff = builder.font["CFF "].cff
    cff[0].Encoding = [".notdef"] * 65 + ["zero"] + [".notdef"] * 190
    builder.setupHorizontalMetrics(dict.fromkeys(glyphs, (600, 0)))
    builder.setupHorizontalHeader()
    builder.setupOS2()
    builder.setupPost()
    written = BytesIO()
    builder.save(written)
    data = builder.font.getTableData("CFF ").decode("latin-1")
    body = with_font(
        "<< /Type /Font /Subtype /Type1 /BaseFont /Font /FontDescriptor 6 0 R >>",
        "41",
        "<< /Type /FontDescriptor /FontName /Font /Flags 4 /FontFile3 7 0 R >>",
        f"<< /Subtype /Type1C /Length {len(data)} >>\nstream\n{data}\nendstream",
    )
    assert read_apart(Source(body, "application/pdf", URL, URL), Alarm()).text == "A"
    assert sys.modules.get("fontTools") is not None


# --- kinds by their bytes ----------------------------------------------------------------------

TEXTS = {
    "JSON": '{"id": 7, "html": "<p>Fare: <b>4</b></p>",\n "note": null}',
    "JSON list": '[{"text": "<div>a</div>"}]',
    "lines of JSON": '{"a": "<p>1</p>"}\n{"a": "<p>2</p>"}',
    "Markdown": "# Ferry\n\nA <kbd>key</kbd> and a table:\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    "CSV": "name,cars\nKittiwake,120\nPuffin,90",
    "sitemap": '<?xml version="1.0"?>\n<urlset><url><loc>https://a.example/b</loc></url></urlset>',
    "plain": "ID3 tags and OggS files.\nRar! said the pirate.",
}
TYPES = [
    "",
    "text/html; charset=utf-8",
    "text/plain; charset=utf-8",
    "application/octet-stream",
    "binary/octet-stream",
    "application/markdown",
    "application/x-something",
]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_text_is_unchanged_whatever_its_type(text: str, kind: str) -> None:
    assert page(text, kind).text == text


RSS = """<?xml version="1.0"?><!-- made by hand -->
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
<title>Harbour news</title><link>https://harbour.example/</link><description>All boats.</description>
<item><title>Ice &amp; fog</title><link>https://harbour.example/ice</link>
<dc:creator>Ada Moe</dc:creator><pubDate>Tue, 03 Mar 2026 08:00:00 GMT</pubDate>
<description>Short.</description>
<content:encoded><![CDATA[<p>The <b>harbour</b> froze. <div>Open element]]></content:encoded></item>
<item><guid>https://harbour.example/two</guid><description>&lt;p&gt;No title here.&lt;/p&gt;</description>
<enclosure url="https://harbour.example/a.mp3" type="audio/mpeg"/></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Harbour notes</title>
<entry><title>Ice</title><link rel="self" href="https://harbour.example/self"/>
<link href="https://harbour.example/ice"/><updated>2026-03-03T08:00:00Z</updated>
<author><name>Ada Moe</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>The harbour froze.</p></div></content>
</entry></feed>"""


@pytest.mark.parametrize("kind", [*TYPES, "application/rss+xml", "text/xml"])
def test_a_feed_is_read_with_its_links_whatever_its_type(kind: str) -> None:
    content = page(RSS, kind)
    assert content.title == "Harbour news"
    for part in (
        "All boats.",
        "## [Ice & fog](https://harbour.example/ice)",
        "Tue, 03 Mar 2026 08:00:00 GMT · Ada Moe",
        "The **harbour** froze.",
        "No title here.",
        "(https://harbour.example/two)",
        "(https://harbour.example/a.mp3)",
    ):
        assert part in content.text
    assert "[Ice](https://harbour.example/ice)" in page(ATOM, kind).text
    assert "The harbour froze." in page(ATOM, kind).text


def test_entities_of_a_feed_are_not_expanded() -> None:
    bomb = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 9}">' for n in range(9))
    feed = f'<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a0 "boom">{bomb}]><rss><channel>'
    assert "boom" * 9 not in page(f"{feed}<title>&a9;</title></channel></rss>").text


@pytest.mark.parametrize("kind", [*TYPES, "application/x-ipynb+json", "application/json"])
def test_a_notebook_is_read_without_its_pictures(kind: str) -> None:
    picture = "aGFyYm91cg" * 40
    cells = [
        {"cell_type": "markdown", "source": ["# Fares\n", "In crowns."]},
        {
            "cell_type": "code",
            "source": "fare(3)",
            "outputs": [
                {"output_type": "stream", "text": ["loading\n"]},
                {
                    "output_type": "execute_result",
                    "data": {"text/plain": "12", "image/png": picture},
                },
                {"output_type": "error", "ename": "ValueError", "evalue": "no \x1b[31mfare"},
            ],
        },
    ]
    metadata = {"language_info": {"name": "python"}}
    body = json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4})
    content = page(body, kind)
    assert content.text == (
        "# Fares\nIn crowns.\n\n```python\nfare(3)\n```\n\n```\nloading\n```\n\n```\n12\n```\n\n"
        "```\nValueError: no fare\n```"
    )
    assert len(content.warnings) == 1


@pytest.mark.parametrize("text", ['{"cells": 1, "nbformat": 4}', '{"cells": [1], "nbformat": 4}'])
def test_json_that_resembles_a_notebook_is_text(text: str) -> None:
    assert page(text, "application/json").text == text


def test_html_over_the_limit_is_read_in_part_with_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_reading, "MAX_HTML", 2000)
    body = (
        f"<html><body>{''.join(f'<p>Sentence {n} is here.</p>' for n in range(200))}</body></html>"
    )
    content = page(body)
    assert content.text.startswith("Sentence 0 is here.")
    assert "Sentence 150" not in content.text
    assert len(content.warnings) == 1


# --- charsets ----------------------------------------------------------------------------------

RUSSIAN = "Паром пересекает пролив сорок раз в день и перевозит сто двадцать автомобилей. " * 3
JAPANESE = "フェリーは一日に四十回海峡を渡り、百二十台の車を運びます。冬は休みです。" * 3
KOREAN_TEXT = "여객선은 하루에 마흔 번 해협을 건너며 자동차 백이십 대를 싣습니다. " * 3
CHINESE = "渡轮每天往返海峡四十次,可载一百二十辆汽车。冬季停航。" * 3


@pytest.mark.parametrize(
    "kind", ["text/html", "text/html; charset=utf-8", "text/plain; charset=utf8"]
)
@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "cp932"),
        (KOREAN_TEXT, "euc_kr"),
        (CHINESE, "gb18030"),
    ],
)
def test_a_charset_is_found_without_or_against_the_header(text: str, codec: str, kind: str) -> None:
    body = f"<html><body><p>{text}</p></body></html>".encode(codec)
    assert text.strip() in page(body, kind).text


# --- documents ---------------------------------------------------------------------------------


def archive(**files: str | bytes) -> bytes:
    written = BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as opened:
        for name, data in files.items():
            opened.writestr(name, data)
    return written.getvalue()


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"


def docx(body: str, prolog: str = "") -> bytes:
    styles = (
        f'<w:styles {W}><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/>'
        "</w:style></w:styles>"
    )
    core = (
        '<c:coreProperties xmlns:c="http://schemas.openxmlformats.org/package/2006/metadata/'
        'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Fares 2026</dc:title>'
        "<dc:creator>Ada Moe</dc:creator></c:coreProperties>"
    )
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>'
    )
    links = (
        f'<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="r1" Type="{R}/officeDocument"'
        ' Target="word/document.xml"/></Relationships>'
    )
    own = (
        f'<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="r1" Type="{R}/styles"'
        ' Target="styles.xml"/></Relationships>'
    )
    files = {
        "[Content_Types].xml": types,
        "_rels/.rels": links,
        "word/document.xml": f"{prolog}<w:document {W}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": own,
        "word/styles.xml": styles,
        "docProps/core.xml": core,
    }
    return archive(**files)


def word_paragraph(text: str, style: str = "") -> str:
    mark = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{mark}<w:r><w:t>{text}</w:t></w:r></w:p>"


WORD = docx(
    word_paragraph("Fares", "H1")
    + word_paragraph("A crossing costs 4 crowns.")
    + "<w:tbl><w:tr>"
    + "".join(f"<w:tc>{word_paragraph(text)}</w:tc>" for text in ("Car", "12"))
    + "</w:tr></w:tbl>"
)


def workbook() -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Trips"
    for row in (["Day", "Cars"], [date(2026, 3, 1), 120], [None, "=B2*2"], [True, 1.5]):
        book.active.append(row)
    book.create_sheet("Secret").sheet_state = "hidden"
    book["Secret"]["A1"] = "hidden cell"
    written = BytesIO()
    book.save(written)
    return written.getvalue()


def slides() -> bytes:
    p = "http://schemas.openxmlformats.org/presentationml/2006/main"
    a = "http://schemas.openxmlformats.org/drawingml/2006/main"
    names = f'xmlns:p="{p}" xmlns:a="{a}" xmlns:r="{R}"'

    def shape(text: str, kind: str) -> str:
        return (
            f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody>'
            f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        )

    table = (
        "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:t>Car</a:t></a:r></a:p></a:tc>"
        "<a:tc><a:p><a:r><a:t>12</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>"
    )

    def links(**targets: str) -> str:
        return (
            f'<Relationships xmlns="{RELATIONSHIPS}">'
            + "".join(
                f'<Relationship Id="{name}" Type="{R}/{kind}" Target="{target}"/>'
                for name, (kind, target) in (
                    (key, value.split("|")) for key, value in targets.items()
                )
            )
            + "</Relationships>"
        )

    files = {
        "ppt/presentation.xml": f'<p:presentation {names}><p:sldIdLst><p:sldId id="1" r:id="r2"/>'
        '<p:sldId id="2" r:id="r1"/></p:sldIdLst></p:presentation>',
        "ppt/_rels/presentation.xml.rels": links(
            r1="slide|slides/slide1.xml", r2="slide|slides/slide2.xml"
        ),
        "ppt/slides/slide1.xml": f"<p:sld {names}>{shape('Second', 'title')}{table}</p:sld>",
        "ppt/slides/slide2.xml": f"<p:sld {names}>{shape('First', 'ctrTitle')}"
        f"{shape('4 crowns', 'body')}{shape('7', 'sldNum')}<p:graphicFrame/></p:sld>",
        "ppt/slides/_rels/slide2.xml.rels": links(r1="notesSlide|../notesSlides/n1.xml"),
        "ppt/notesSlides/n1.xml": f"<p:notes {names}>{shape('Speak up', 'body')}</p:notes>",
    }
    return archive(**files)


def book(**more: str) -> bytes:
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OEBPS/b.opf"/></rootfiles></container>',
        "OEBPS/b.opf": '<package xmlns="http://www.idpf.org/2007/opf"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Sound</dc:title>'
        '<dc:creator>Ada Moe</dc:creator></metadata><manifest><item id="b" href="two%20b.xhtml"/>'
        '<item id="a" href="one.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/>'
        "</spine></package>",
        "OEBPS/one.xhtml": "<!DOCTYPE html><html><body><h1>One</h1><p>The Søund is wide.</p></body></html>",
        "OEBPS/two b.xhtml": "<html><body><h1>Two</h1><p>The ferry is slow.</p></body></html>",
        **more,
    }
    return archive(**files)


def open_document(content: str) -> bytes:
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table", "draw")
    )
    files = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "META-INF/manifest.xml": "<manifest/>",
        "content.xml": f'<office:document-content{names} xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<office:body><office:text>{content}</office:text></office:body></office:document-content>",
    }
    return archive(**files)


ODT = open_document(
    "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
    '<text:h text:outline-level="1">Fares</text:h>'
    '<text:p>A <text:a xlink:href="https://a.example/x">crossing</text:a><text:s/>costs 4.'
    "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>In crowns."
    "</text:p></text:note-body></text:note></text:p>"
    "<text:list><text:list-item><text:p>Car</text:p></text:list-item></text:list>"
    "<table:table><table:table-row><table:table-cell><text:p>Bus</text:p></table:table-cell>"
    "<table:table-cell><text:p>40</text:p></table:table-cell></table:table-row></table:table>"
)
DOCUMENTS = {
    "docx": (WORD, ["# Fares", "A crossing costs 4 crowns.", "| Car | 12 |"]),
    "xlsx": (workbook(), ["## Trips", "| 2026-03-01 | 120 |", "=B2", "| TRUE | 1.5 |"]),
    "pptx": (
        slides(),
        ["## Slide 1\n\n### First", "4 crowns", "> Speak up", "### Second", "Car | 12"],
    ),
    "epub": (book(), ["# One\n\nThe Søund is wide.\n\n# Two\n\nThe ferry is slow."]),
    "odt": (
        ODT,
        ["# Fares", "[crossing](https://a.example/x) costs 4.", "In crowns.", "- Car", "Bus | 40"],
    ),
}


@pytest.mark.parametrize("kind", ["", "application/octet-stream", "application/zip", "text/html"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_read_whatever_its_type(name: str, kind: str) -> None:
    body, parts = DOCUMENTS[name]
    content = page(body, kind)
    for part in parts:
        assert part in content.text
    for part in ("deleted", "hidden cell", "Slide 7"):
        assert part not in content.text


def test_what_is_left_out_of_a_document_is_said() -> None:
    assert len(page(workbook()).warnings) == 1
    assert len(page(slides()).warnings) == 1


def test_a_document_has_its_title_and_author() -> None:
    assert (page(WORD).title, page(WORD).author) == ("Fares 2026", "Ada Moe")
    assert (page(book()).title, page(book()).author) == ("The Sound", "Ada Moe")


@pytest.mark.parametrize(("library", "body"), [("mammoth", WORD), ("openpyxl", workbook())])
def test_a_document_without_its_library_names_kind_and_extra(
    monkeypatch: pytest.MonkeyPatch, library: str, body: bytes
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ConfigError, match=r"\.(docx|xlsx)\).*agent-webtools\[documents\]"):
        page(body)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_bomb_in_a_document_is_not_unpacked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_documents, "MAX_UNPACKED", 10_000_000)
    body, _ = DOCUMENTS[name]
    written = BytesIO(body)
    with ZipFile(written, "a", ZIP_DEFLATED) as opened:
        opened.writestr("word/media/zeros.bin", bytes(11_000_000))
    assert "unpacks to more than" in refusal(written.getvalue())


def test_entities_of_a_document_are_refused() -> None:
    prolog = '<!DOCTYPE d [<!ENTITY a "boom">]>'
    assert "document type" in refusal(docx(word_paragraph("&a;"), prolog))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_damaged_document_is_an_error_of_ours(name: str) -> None:
    body, _ = DOCUMENTS[name]
    for size in (60, len(body) // 2, len(body) - 30):
        refusal(body[:size])
        with suppress(ProviderError):
            page(body[:size] + b"\xff" * 9 + body[size + 9 :])


def test_a_protected_book_is_an_error() -> None:
    uri = '<e><CipherReference URI="OEBPS/one.xhtml"/></e>'
    assert "protected" in refusal(book(**{"META-INF/encryption.xml": uri}))


def test_what_cannot_be_read_is_named_by_its_real_type() -> None:
    start = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    assert ".doc)" in refusal(start + "WordDocument".encode("utf-16-le"), "text/html")
    assert "password" in refusal(start + "EncryptedPackage".encode("utf-16-le"))
    assert "application/rtf" in refusal(b"{\\rtf1\\ansi Fares}", "text/plain")
    assert "image/avif" in refusal(b"\x00\x00\x00\x20ftypavif" + bytes(20), "video/mp4")
    assert "wordprocessingml" in refusal(b"PK\x03\x04" + bytes(99), _documents.TYPES["docx"])
    noise = random.Random(1).randbytes(4000)
    assert "application/octet-stream" in refusal(noise, "application/octet-stream")
