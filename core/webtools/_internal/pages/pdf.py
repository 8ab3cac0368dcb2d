"""Read the text of PDF files with pypdf, page by page and within bounds."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

from webtools._internal.pages.content import MAX_TEXT, Content
from webtools._internal.text.cleaning import one_line, shortened, without_controls
from webtools.errors import ProviderError

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PAGES = 500
_SHARE_OF_TIME = 0.8  # the rest is for the last page
_LONGEST_LINE = 300
_NO_TITLE = re.compile(
    r"untitled.*|(?:microsoft )?(?:word|powerpoint)(?: -.*)?|.*\.(?:docx?|pptx?|dvi|tex|indd)"
    r"|title|\(?none\)?|document\d*|slide 1",
    re.IGNORECASE,
)
_ENCRYPTED = "the PDF needs a password; use another source"


def read_pdf(body: bytes, seconds: float) -> Content:
    """Read a PDF file. Damaged files can raise any error.

    Args:
        body: The bytes.
        seconds: Time allowed; no further page is started after most of it.

    Raises:
        ProviderError: The file is encrypted or has no text.
    """
    deadline = time.monotonic() + seconds * _SHARE_OF_TIME
    reader = _open(body)
    pages = list(_texts(reader, deadline))
    if not any(pages):
        raise ProviderError("the PDF has no text; if its pages are images, it needs OCR")
    total = len(reader.pages)
    warning = f"only {len(pages)} of the PDF's {total} pages were read"
    warnings = [warning] if len(pages) < total else []
    numbered = (f"[Page {n}]\n\n{text}" for n, text in enumerate(pages, 1) if text)
    text = pages[0] if len(pages) == 1 else "\n\n".join(numbered)
    return _with_metadata(reader, text, warnings)


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


def _texts(reader: PdfReader, deadline: float) -> Iterator[str]:
    size = 0
    for index in range(min(len(reader.pages), MAX_PAGES)):
        if size > MAX_TEXT or (index and time.monotonic() > deadline):
            return
        text = without_controls(reader.pages[index].extract_text()).strip()
        size += len(text)
        yield text


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
