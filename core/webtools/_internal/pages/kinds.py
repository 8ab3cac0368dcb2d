"""Tell what kind of content a body is, by its bytes more than by the server's header."""

from __future__ import annotations

import json
import mimetypes
import re

from webtools._internal.pages import documents
from webtools._internal.pages.charset import is_noise, is_text
from webtools._internal.pages.content import Source
from webtools._internal.pages.pdf import is_pdf
from webtools.errors import ProviderError

_LOOKS_LIKE_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--(?:(?!-->).){0,2000}-->\s*|<\?xml[^>]{0,200}\?>\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
TAG = re.compile(r"</?[a-z][^<>]{0,2000}>", re.IGNORECASE)
_SIGNATURES = {
    rb"\x89PNG\r\n": "image/png",
    rb"\xff\xd8\xff": "image/jpeg",
    rb"GIF8[79]a": "image/gif",
    rb"II\*\0|MM\0\*": "image/tiff",
    rb"RIFF....WEBP": "image/webp",
    rb"RIFF....AVI ": "video/x-msvideo",
    rb"RIFF....WAVE": "audio/wav",
    rb"....ftypavi[fs]": "image/avif",
    rb"....ftyp(?:hei[cx]|mif1)": "image/heic",
    rb"....ftypM4A": "audio/mp4",
    rb"....ftyp": "video/mp4",
    rb"PK\x03\x04": "application/zip",
    rb"\x1f\x8b": "application/gzip",
    rb"BZh[1-9]1AY&SY": "application/x-bzip2",
    rb"\xfd7zXZ\0": "application/x-xz",
    rb"\x28\xb5\x2f\xfd": "application/zstd",
    rb"Rar!\x1a": "application/vnd.rar",
    rb"7z\xbc\xaf": "application/x-7z-compressed",
    rb"\x7fELF": "application/x-executable",
    rb"MZ\x90": "application/x-msdownload",
    rb"\0asm": "application/wasm",
    rb"SQLite format 3\0": "application/vnd.sqlite3",
    rb"OggS\0": "audio/ogg",
    rb"fLaC": "audio/flac",
    rb"ID3[\2-\4]": "audio/mpeg",
    rb"\x1a\x45\xdf\xa3": "video/webm",
    rb"wOFF": "font/woff",
    rb"wOF2": "font/woff2",
    rb"\{\\rtf\d": "application/rtf",
    rb"%!PS-Adobe": "application/postscript",
    rb"\xd0\xcf\x11\xe0": "application/x-ole-storage",
}
_FAMILIES = frozenset({"application", "audio", "font", "image", "model", "multipart", "video"})
_NAMED_TYPES = frozenset(
    {
        *_SIGNATURES.values(),
        *mimetypes.MimeTypes().types_map[True].values(),
    }
)
_LONGEST_TYPE = 24  # characters
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_UNKNOWN_TYPES = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "unknown/unknown"}
)
_NO_TEXT_TYPES = re.compile(r"(?:audio|font|image|video)/(?!svg\+xml|x-?mpegurl).*")
_XML_ROOT = re.compile(
    r"\s*(?:<\?xml(?P<declaration>[^>]{0,200})\?>)?"
    r"(?:\s|<!--(?:(?!-->).){0,2000}-->|<![^<>]{0,2000}>|<\?[^<>]{0,2000}>)*<(?P<root>[a-z][\w:.-]*)",
    re.IGNORECASE | re.DOTALL,
)
_XML_ROOTS = frozenset({"rss", "feed", "rdf:rdf", "urlset", "sitemapindex", "opml"})
# Markdown may have tags as well. It begins with a heading or with front matter.
_MARKDOWN = re.compile(r"\s*(?:#{1,6} \S|---\r?\n[\w-]+:|\[!\[|```)")


def kind_of(source: Source) -> str:
    """Return `html`, `xml`, `text`, `pdf` or a kind of document.

    Raises:
        ProviderError: The content is of another kind.
    """
    declared = source.content_type.partition(";")[0].strip().lower()
    head = source.body[:4096]
    is_html = _LOOKS_LIKE_HTML.match(head.replace(b"\0", b"").lstrip(b"\xff\xfe")) is not None
    if is_pdf(source.body, declared, is_html=is_html):
        return "pdf"
    if kind := documents.kind_of(source.body):
        return kind
    _check_signature(head, declared)
    is_marked = declared in _HTML_TYPES or declared.startswith("text/")
    is_binary = not is_text(head, source.content_type)
    if is_binary or (not is_marked and is_noise(head, source.content_type)):
        raise _no_text(declared if declared not in _UNKNOWN_TYPES else "application/octet-stream")
    if declared in _HTML_TYPES or (is_html and not declared.startswith("text/")):
        return "html"
    if head.strip() and _NO_TEXT_TYPES.fullmatch(declared):
        raise _no_text(declared)
    return "xml" if declared.endswith("xml") else "text"


def _check_signature(head: bytes, declared: str) -> None:
    for mark, name in _SIGNATURES.items():
        if re.match(mark, head, re.DOTALL):
            if declared in documents.TYPES.values():
                raise ProviderError(f"the {declared} file could not be read; it may be damaged")
            raise _no_text(name)


def is_html(text: str) -> bool:
    """Return whether a text that was sent as HTML is HTML, and not other text with tags."""
    if not TAG.search(text) or _MARKDOWN.match(text) or is_json(text):
        return False
    match = _XML_ROOT.match(text)
    root = match["root"].lower() if match else ""
    is_xml = match is not None and match["declaration"] is not None
    return root not in _XML_ROOTS and (not is_xml or root in {"html", "head", "body"})


def is_json(text: str) -> bool:
    """Return whether a text is JSON, or lines of JSON."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    for part in (text, text.lstrip().partition("\n")[0]):
        try:
            json.loads(part)
        except (ValueError, RecursionError):
            continue
        return True
    return False


def _no_text(kind: str) -> ProviderError:
    """Return the error for a content type. A long one may be a sentence that the page chose."""
    name = re.sub(r"[^a-z0-9.+/_-]", "", kind)
    if name not in _NAMED_TYPES and (len(name) > _LONGEST_TYPE or len(re.split("[._-]", name)) > 2):  # noqa: PLR2004
        family = name.partition("/")[0]
        name = f"{family}/…" if family in _FAMILIES else ""
    name = name or "unknown"
    return ProviderError(
        f"the content type {name} is not supported; only HTML, PDF, text and documents can be read"
    )
