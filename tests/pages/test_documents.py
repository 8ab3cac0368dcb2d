"""Files that are not HTML: PDF, feeds, notebooks, office documents; and bytes with false labels."""

from __future__ import annotations

import sys
from io import BytesIO

import pytest
from test_reading_pages import URL, _assembled, page, pdf

from webtools._internal.pages import pdf as _pdf
from webtools._internal.pages.content import Content, Source
from webtools._internal.pages.processes import Alarm
from webtools._internal.pages.reading import read
from webtools._internal.pages.workers import read_apart


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
