"""Turn office documents and books into HTML, which is then read like a page.

They are ZIP archives of XML. mammoth reads .docx and openpyxl reads .xlsx (extra `documents`); the
other kinds are walked here. Sizes are checked before anything is unpacked. No entity is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time
from html import escape
from importlib import import_module
from io import BytesIO
from itertools import zip_longest
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from webtools._internal.pages.content import MAX_TEXT
from webtools._internal.pages.tree import Element
from webtools.errors import ConfigError, ProviderError

MAX_UNPACKED = 128 * 1024 * 1024  # bytes of all entries of an archive
_MAX_ENTRIES = 20_000
_MAX_REPEATED = 64  # cells that an OpenDocument table repeats
INSTALL = "pip install 'agent-webtools[documents]'"
_OFFICE = "application/vnd.openxmlformats-officedocument"
TYPES = {
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "pptx": f"{_OFFICE}.presentationml.presentation",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "epub": "application/epub+zip",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
}
NAMES = {
    "docx": "Word document (.docx)",
    "pptx": "PowerPoint presentation (.pptx)",
    "xlsx": "Excel workbook (.xlsx)",
    "epub": "EPUB book",
    "odt": "OpenDocument text (.odt)",
    "ods": "OpenDocument spreadsheet (.ods)",
    "odp": "OpenDocument presentation (.odp)",
}
_FOLDERS = {"word/document": "docx", "ppt/presentation": "pptx", "xl/workbook": "xlsx"}
_OLD_STREAMS = {
    "WordDocument": "a Word document (.doc)",
    "Workbook": "an Excel workbook (.xls)",
    "PowerPoint Document": "a PowerPoint presentation (.ppt)",
    "EncryptedPackage": "an Office document with a password",
}
_DOCTYPES = tuple("<!DOCTYPE".encode(name) for name in ("ascii", "utf-16-le", "utf-16-be"))
_LEVEL = re.compile(r"[1-6]")


@dataclass(slots=True)
class Document:
    """A document as HTML.

    Attributes:
        html: The content.
        title: Title, or "".
        author: Author, or "".
        warnings: Clauses about what was left out.
    """

    html: str
    title: str = ""
    author: str = ""
    warnings: list[str] = field(default_factory=list[str])


def kind_of(body: bytes) -> str | None:
    """Return a key of `TYPES`, or None if the body is no document.

    Raises:
        ProviderError: It is a document of a kind that cannot be read.
    """
    if body.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1"):
        for stream, name in _OLD_STREAMS.items():
            if stream.encode("utf-16-le") in body:
                message = f"{name} cannot be read; use another format or source"
                raise ProviderError(message)
    if not body.startswith(b"PK\x03\x04"):
        return None
    try:
        with ZipFile(BytesIO(body)) as archive:
            names = archive.namelist()
            if len(names) > _MAX_ENTRIES:
                return None
            mark = b""
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:  # noqa: PLR2004
                mark = archive.read("mimetype").strip()
    except Exception:  # noqa: BLE001  # a damaged archive is named by its type
        return None
    for kind, name in TYPES.items():
        if mark.removesuffix(b"-template") == name.encode():
            return kind
    found = (kind for start, kind in _FOLDERS.items() for name in names if name.startswith(start))
    return next(found, None)


def to_html(body: bytes, kind: str) -> Document:
    """Convert a document. Damaged ones can raise any error.

    Raises:
        ConfigError: A library is missing.
        ProviderError: The document is too large, protected or empty.
    """
    with ZipFile(BytesIO(body)) as archive:
        if sum(info.file_size for info in archive.infolist()) > MAX_UNPACKED:
            size = MAX_UNPACKED // 2**20
            raise ProviderError(f"the {NAMES[kind]} unpacks to more than {size} MiB")
        try:
            document = _READERS[kind](archive, body)
        except ImportError as error:
            message = f"reading a {NAMES[kind]} needs {error.name}: {INSTALL}"
            raise ConfigError(message) from None
        with suppress(KeyError, BadZipFile, ValueError, SyntaxError):
            name = "docProps/core.xml" if kind in _FOLDERS.values() else "meta.xml"
            _add_facts(document, _parse(archive.read(name)))
    return document


def _parse(data: bytes) -> Element:
    etree: Any = import_module("lxml.etree")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(data, parser)


def _add_facts(document: Document, root: Element) -> None:
    document.title = document.title or _text(next(root.iter("{*}title"), None))
    document.author = document.author or _text(next(root.iter("{*}creator"), None))


def _text(element: Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _attribute(element: Element, name: str) -> str:
    """Return an attribute of any namespace."""
    return next(
        (str(value) for key, value in element.items() if key.rpartition("}")[2] == name), ""
    )


def _check_entities(archive: ZipFile) -> None:
    """Refuse document type definitions, which Office files must not have."""
    for name in archive.namelist():
        if name.endswith((".xml", ".rels")) and any(
            mark in archive.read(name) for mark in _DOCTYPES
        ):
            raise ProviderError("the document has a document type definition, which is refused")


# --- Office Open XML ---------------------------------------------------------------------------


def _read_docx(archive: ZipFile, body: bytes) -> Document:
    mammoth: Any = import_module("mammoth")

    _check_entities(archive)
    converted = mammoth.convert_to_html(
        BytesIO(body),
        style_map="p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh",
        convert_image=mammoth.images.img_element(lambda _image: {}),
    )
    parts = [name for name in archive.namelist() if re.fullmatch(r"word/document\d*\.xml", name)]
    has_formulas = any(b"<m:oMath" in archive.read(name) for name in parts)
    warnings = ["formulas of the Word document were left out"] if has_formulas else []
    return Document(converted.value, warnings=warnings)


def _read_xlsx(archive: ZipFile, body: bytes) -> Document:
    load_workbook: Any = import_module("openpyxl").load_workbook

    _check_entities(archive)
    results = load_workbook(BytesIO(body), read_only=True, data_only=True)
    formulas = load_workbook(BytesIO(body), read_only=True)
    document, parts, size = Document(""), list[str](), 0
    for sheet in results.worksheets:
        if sheet.sheet_state != "visible":
            document.warnings.append("hidden sheets of the workbook were left out")
            continue
        parts.append(f"<h2>{escape(sheet.title)}</h2><table>")
        for row in _rows(sheet, formulas[sheet.title]):
            parts.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>")
            size += len(parts[-1])
            if size > 2 * MAX_TEXT:
                document.warnings.append("only the first rows of the workbook were read")
                break
        parts.append("</table>")
        if size > 2 * MAX_TEXT:
            break
    document.warnings = list(dict.fromkeys(document.warnings))
    document.html = "".join(parts)
    return document


def _rows(sheet: Any, formulas: Any) -> Iterator[list[str]]:
    """Yield the rows that have values; a formula without a stored result is shown itself."""
    for each in (sheet, formulas):
        each.reset_dimensions()  # files may claim any size
    for values, sources in zip_longest(
        sheet.iter_rows(values_only=True), formulas.iter_rows(values_only=True), fillvalue=()
    ):
        pairs = zip_longest(values, sources)
        row = [_cell(source if value is None else value) for value, source in pairs]
        while row and not row[-1]:
            row.pop()
        if row:
            yield row


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, date | time):
        return value.isoformat().replace("T", " ")
    return str(getattr(value, "text", value))


def _read_pptx(archive: ZipFile, _body: bytes) -> Document:
    main = "ppt/presentation.xml"
    links = _links_of(archive, main)
    slides = _parse(archive.read(main)).iter("{*}sldId")
    parts, others = list[str](), 0
    for number, slide in enumerate(slides, 1):
        name, _ = links[slide.get(f"{{{_RELATIONS}}}id")]
        root, targets = _parse(archive.read(name)), _links_of(archive, name)
        parts.append(f"<h2>Slide {number}</h2>")
        parts += _shapes(root, targets)
        others += sum(1 for frame in root.iter("{*}graphicFrame") if not _tables(frame))
        for target, kind in targets.values():
            if kind.endswith("/notesSlide"):
                notes = _parse(archive.read(target))
                parts += [
                    f"<blockquote>{text}</blockquote>"
                    for shape in notes.iter("{*}sp")
                    if _placeholder(shape) == "body" and (text := "".join(_lines(shape, {})))
                ]
    warning = f"{others} charts or diagrams of the presentation were left out"
    return Document("".join(parts), warnings=[warning] if others else [])


_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_Links = dict[str, tuple[str, str]]


def _links_of(archive: ZipFile, name: str) -> _Links:
    """Return the targets of a part and their types by id."""
    folder, _, file = name.rpartition("/")
    try:
        root = _parse(archive.read(f"{folder}/_rels/{file}.rels"))
    except KeyError:
        return {}
    links = {}
    for each in root:
        target = each.get("Target", "")
        if each.get("TargetMode") != "External":
            target = target[1:] if target.startswith("/") else normpath(join(folder, target))
        links[each.get("Id")] = (target, each.get("Type", ""))
    return links


def _placeholder(shape: Element) -> str:
    mark = next(shape.iter("{*}ph"), None)
    return "" if mark is None else mark.get("type", "body")


def _tables(frame: Element) -> list[Element]:
    return list(frame.iter("{*}tbl"))


def _shapes(root: Element, links: _Links) -> Iterator[str]:
    for shape in root.iter("{*}sp", "{*}graphicFrame"):
        kind = _placeholder(shape)
        if kind in {"sldNum", "dt", "ftr"}:
            continue
        if shape.tag.endswith("}sp"):
            for line in _lines(shape, links):
                is_title = kind in {"title", "ctrTitle"}
                yield f"<h3>{line[3:-4]}</h3>" if is_title else line
        for table in _tables(shape):
            rows = (
                "".join(f"<td>{''.join(_lines(cell, links))}</td>" for cell in row.iter("{*}tc"))
                for row in table.iter("{*}tr")
            )
            yield f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _lines(shape: Element, links: _Links) -> Iterator[str]:
    """Yield the paragraphs of a shape."""
    for paragraph in shape.iter("{*}p"):
        text = ""
        for run in paragraph.iter("{*}r", "{*}fld", "{*}br"):
            part = "<br>" if run.tag.endswith("}br") else escape("".join(run.itertext()))
            link = next(run.iter("{*}hlinkClick"), None)
            url = "" if link is None else links.get(link.get(f"{{{_RELATIONS}}}id"), ("", ""))[0]
            is_web = url.startswith(("http://", "https://"))
            text += f'<a href="{escape(url)}">{part}</a>' if is_web else part
        if text.strip():
            yield f"<p>{text}</p>"


# --- OpenDocument ------------------------------------------------------------------------------

_SKIPPED = frozenset({"tracked-changes", "annotation", "sequence-decls", "forms", "note-citation"})
_TAGS = {
    "p": "p",
    "list": "ul",
    "list-item": "li",
    "list-header": "li",
    "table": "table",
    "table-row": "tr",
    "note-body": "span",
}


def _read_open_document(archive: ZipFile, _body: bytes) -> Document:
    if b"manifest:encryption-data" in archive.read("META-INF/manifest.xml"):
        raise ProviderError("the document needs a password; use another source")
    root = _parse(archive.read("content.xml"))
    body = next(root.iter("{*}body"))
    return Document("".join(_converted(body)))


def _converted(element: Element) -> Iterator[str]:
    """Yield the HTML of an OpenDocument element."""
    if not isinstance(element.tag, str):
        return
    name = element.tag.rpartition("}")[2]
    if name in _SKIPPED:
        return
    if name in {"s", "tab", "line-break"}:
        yield "<br>" if name == "line-break" else " "
        return
    tag, attributes = _TAGS.get(name, ""), ""
    if name == "h":
        level = _attribute(element, "outline-level")
        tag = f"h{level if _LEVEL.fullmatch(level) else 6}"
    elif name == "a" and (url := _attribute(element, "href")).startswith("http"):
        tag, attributes = "a", f' href="{escape(url)}"'
    elif name in {"table-cell", "covered-table-cell"}:
        tag = "td"
    elif name in {"table", "page"} and (title := _attribute(element, "name")):
        yield f"<h2>{escape(title)}</h2>"
    inner = escape(element.text or "")
    inner += "".join(
        part for child in element for part in (*_converted(child), escape(child.tail or ""))
    )
    if name == "note":
        inner = f" ({inner.strip()})"
    html = f"<{tag}{attributes}>{inner}</{tag}>" if tag else inner
    repeated = _attribute(element, "number-columns-repeated")
    times = min(_MAX_REPEATED, int(repeated)) if repeated.isdecimal() and inner.strip() else 1
    yield html * times


# --- EPUB --------------------------------------------------------------------------------------


def _read_epub(archive: ZipFile, _body: bytes) -> Document:
    container = _parse(archive.read("META-INF/container.xml"))
    package = next(container.iter("{*}rootfile")).get("full-path", "")
    root = _parse(archive.read(package))
    hrefs = {item.get("id"): unquote(item.get("href", "")) for item in root.iter("{*}item")}
    names = [
        normpath(join(dirname(package), hrefs[each.get("idref")]))
        for each in root.iter("{*}itemref")
        if each.get("idref") in hrefs
    ]
    with suppress(KeyError):
        protected = archive.read("META-INF/encryption.xml").decode("utf-8", "replace")
        if any(name in unquote(protected) for name in names):
            raise ProviderError("the EPUB book is protected; use another source")
    document = Document("".join(_chapters(archive, names)))
    _add_facts(document, root)
    return document


def _chapters(archive: ZipFile, names: Iterable[str]) -> Iterator[str]:
    lxml_html: Any = import_module("lxml.html")
    parser = lxml_html.HTMLParser(encoding="utf-8")
    for name in names:
        data = archive.read(name)
        root = lxml_html.document_fromstring(data, parser) if data.strip() else None
        for body in [] if root is None else root.iter("body"):
            yield "".join(lxml_html.tostring(each, encoding="unicode") for each in body)


_READERS: dict[str, Callable[[ZipFile, bytes], Document]] = {
    "docx": _read_docx,
    "pptx": _read_pptx,
    "xlsx": _read_xlsx,
    "epub": _read_epub,
    "odt": _read_open_document,
    "ods": _read_open_document,
    "odp": _read_open_document,
}
