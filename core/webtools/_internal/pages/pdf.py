"""Read the text of PDF files, page by page and within bounds.

pypdf reads them. It cannot decode some fonts of Chinese, Japanese and Korean files; pages with such
a font are read with pdfminer.six, which comes with the extra `pdf`.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

from webtools._internal.pages.content import MAX_TEXT, Content, Source
from webtools._internal.text.cleaning import one_line, without_controls
from webtools._internal.text.cutting import shortened
from webtools._internal.text.page_numbers import page_indexes
from webtools.errors import ProviderError

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MAX_PAGES = 500  # in one call
_SHARE_OF_TIME = 0.8  # the rest is for the last page
_LONGEST_LINE = 300
_HEADER_WITHIN = 1024  # bytes; other readers accept a PDF header there
_TRAILER_WITHIN = 2048  # bytes
_HEADER = re.compile(rb"%PDF-\d")
_HEADER_FIRST = re.compile(rb"\s{0,100}%PDF-")
_NO_TITLE = re.compile(
    r"untitled.*|(?:microsoft )?(?:word|powerpoint)(?: -.*)?|.*\.(?:docx?|pptx?|dvi|tex|indd)"
    r"|title|\(?none\)?|document\d*|slide 1",
    re.IGNORECASE,
)
_ENCRYPTED = "the PDF needs a password; use another source"
# Orderings of CIDs whose characters pypdf does not know, unless the font has a table of them.
_ORDERINGS = frozenset({"Japan1", "GB1", "CNS1", "Korea1"})
_UNDECODED = (
    "the PDF has Chinese, Japanese or Korean fonts that may be read wrongly; reading them needs "
    "pdfminer.six: pip install 'agent-webtools[pdf]'"
)
_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_MAX_PARENTS = 20  # of a form field


def is_pdf(body: bytes, declared: str, *, is_html: bool) -> bool:
    """Return whether a body is a PDF file, which may have other bytes before its header."""
    if _HEADER_FIRST.match(body):
        return True
    if is_html or not _HEADER.search(body, 0, _HEADER_WITHIN):
        return False
    return declared == "application/pdf" or b"startxref" in body[-_TRAILER_WITHIN:]


def read_pdf(source: Source) -> Content:
    """Read a PDF file, or the pages of it that were chosen. Damaged files can raise any error.

    No further page is started after most of the time.

    Raises:
        ProviderError: The file is encrypted, has no text, or lacks the chosen pages.
    """
    deadline = time.monotonic() + source.seconds * _SHARE_OF_TIME
    header = _HEADER.search(source.body, 0, _HEADER_WITHIN)
    body = source.body[header.start() :] if header else source.body
    reader = _open(body)
    total = len(reader.pages)
    chosen = source.pages or _page_of_fragment(source.requested_url)
    indexes = page_indexes(chosen, total) if chosen else list(range(total))
    if not indexes:
        size = "1 page" if total == 1 else f"{total} pages"
        raise ProviderError(f'the PDF has {size}, none of which pages="{chosen}" selects')
    undecodable = {index for index in indexes[:MAX_PAGES] if _is_undecodable(reader.pages[index])}
    mined = _mined_texts(body, undecodable, deadline)
    texts = list(_texts(reader, indexes, deadline, mined))
    if not any(texts):
        raise ProviderError("the PDF has no text; if its pages are images, it needs OCR")
    warnings = []
    if rest := indexes[len(texts) :]:
        warnings.append(
            f"only {len(texts)} of the PDF's {total} pages were read; "
            f'pages="{rest[0] + 1}-{rest[-1] + 1}" reads on'
        )
    if undecodable - {*mined}:
        warnings.append(_UNDECODED)
    numbered = (
        f"[Page {n + 1}]\n\n{text}" for n, text in zip(indexes, texts, strict=False) if text
    )
    text = texts[0] if total == 1 else "\n\n".join(numbered)
    return replace(_with_metadata(reader, text, warnings), page_count=total)


def _page_of_fragment(url: str) -> str:
    match = re.search(r"#(?:.*&)?page=(\d{1,6})(?:&|$)", url)
    return match[1] if match else ""


def _open(body: bytes) -> PdfReader:
    from pypdf import PdfReader  # noqa: PLC0415 - of the extra `fetch`
    from pypdf.errors import DependencyError  # noqa: PLC0415

    try:
        reader = PdfReader(BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ProviderError(_ENCRYPTED)
        len(reader.pages)
    except DependencyError:
        message = (
            "the PDF is encrypted; to read it if it needs no password: pip install cryptography"
        )
        raise ProviderError(message) from None
    return reader


def _texts(
    reader: PdfReader, indexes: Sequence[int], deadline: float, mined: dict[int, str]
) -> Iterator[str]:
    size = 0
    for number, index in enumerate(indexes[:MAX_PAGES]):
        if size > MAX_TEXT or (number and time.monotonic() > deadline):
            return
        page = reader.pages[index]
        text = mined.get(index) or page.extract_text()
        text = without_controls("\n\n".join([text.strip(), "\n".join(_form_values(page))]))
        text = text.translate(_LIGATURES).strip()
        size += len(text)
        yield text


def _form_values(page: PageObject) -> Iterator[str]:
    """Yield the names and values of the form fields of a page."""
    names = set()
    for annotation in _objects(page.get("/Annots")):
        field: dict[str, Any] = {}
        parent = annotation if annotation.get("/Subtype") == "/Widget" else {}
        for _ in range(_MAX_PARENTS):  # a field inherits what it lacks
            field = {**parent, **field}
            parent = _resolved(parent.get("/Parent")) or {}
        value = _resolved(field.get("/V"))
        values = value if isinstance(value, list) else [value]
        text = ", ".join(str(each).removeprefix("/") for each in values if isinstance(each, str))
        name = one_line(str(_resolved(field.get("/TU")) or _resolved(field.get("/T")) or ""))
        kind = field.get("/FT")
        is_filled = text.strip() and (kind in {"/Tx", "/Ch"} or (kind == "/Btn" and text != "Off"))
        if is_filled and name not in names:
            names.add(name)
            yield f"{name}: {text}" if name else text


def _is_undecodable(page: PageObject) -> bool:
    """Return whether a page has a font whose characters pypdf does not know."""
    try:
        fonts = _resolved((_resolved(page.get("/Resources")) or {}).get("/Font")) or {}
        return any(
            font.get("/Subtype") == "/Type0"
            and "/ToUnicode" not in font
            and any(
                (_resolved(each.get("/CIDSystemInfo")) or {}).get("/Ordering") in _ORDERINGS
                for each in _objects(font.get("/DescendantFonts"))
            )
            for font in _objects(list(fonts.values()))
        )
    except Exception:  # noqa: BLE001  # damaged resources must not lose the text
        return False


def _objects(values: Any) -> Iterator[Any]:
    """Yield the dictionaries of an array."""
    resolved = _resolved(values)
    for value in resolved if isinstance(resolved, list) else []:
        if isinstance(each := _resolved(value), dict):
            yield each


def _resolved(value: Any) -> Any:
    return value.get_object() if hasattr(value, "get_object") else value


def _mined_texts(body: bytes, indexes: set[int], deadline: float) -> dict[int, str]:
    """Read pages with pdfminer.six, if it is installed and can read them."""
    texts: dict[int, str] = {}
    if not indexes or find_spec("pdfminer") is None:
        return texts
    from pdfminer.high_level import extract_pages  # noqa: PLC0415 - of the extra `pdf`
    from pdfminer.layout import LTTextContainer  # noqa: PLC0415

    with suppress(Exception):  # pypdf reads the pages that fail
        layouts = extract_pages(BytesIO(body), page_numbers=indexes)
        for index, layout in zip(sorted(indexes), layouts, strict=False):
            boxes = (box.get_text() for box in layout if isinstance(box, LTTextContainer))
            texts[index] = "\n".join(boxes)
            if time.monotonic() > deadline:
                break
    return texts


def _with_metadata(reader: PdfReader, text: str, warnings: list[str]) -> Content:
    try:
        metadata = reader.metadata
        if metadata is None:
            return Content(text, warnings=warnings)
        title, author = _line(metadata.title), _line(metadata.author)
        published_at = _utc(metadata.creation_date)
    except Exception:  # noqa: BLE001  # damaged metadata must not lose the text
        return Content(text, warnings=warnings)
    title = None if title is None or _NO_TITLE.fullmatch(title) else title
    return Content(text, title, author, published_at, warnings)


def _line(value: object) -> str | None:
    return shortened(one_line(value), _LONGEST_LINE) or None if isinstance(value, str) else None


def _utc(value: datetime | None) -> datetime | None:
    if value is None:
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
