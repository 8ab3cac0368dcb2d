"""Read what lists the pages of a site: llms.txt, robots.txt, sitemaps, and the links of a page.

This runs in a page process, with its limits on time and memory. Sitemaps follow
https://www.sitemaps.org/protocol.html, llms.txt https://llmstxt.org.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any
from urllib.parse import urljoin

from webtools._internal.faults import Fault, with_fault
from webtools._internal.pages.charset import decode
from webtools._internal.pages.content import Content, Source
from webtools._internal.pages.markup import scan
from webtools._internal.pages.refreshes import (
    MAX_REFRESHED,
    declared_refreshes,
    refresh_target,
)
from webtools._internal.pages.tree import LeftOut, length_of, parse, text_of
from webtools._internal.pages.visibility import drop_invisible
from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.urls import parse as parse_url
from webtools.errors import InputError, ProviderError

LLMS, ROBOTS, SITEMAP, LINKS = "llms.txt", "robots.txt", "sitemap", "links"
MAX_LINKS = 50_000  # of a file; the maximum of the sitemap protocol
MAX_SITEMAP = 50 * 1024 * 1024  # bytes of a decompressed file; the maximum of the protocol
_MAX_CHARACTERS = 8_000_000  # of the URLs and titles of a file
_MAX_HTML = 8 * 1024 * 1024
_MAX_URL, _MAX_TITLE = 2048, 200
_PART = 64 * 1024  # bytes to parse at once
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_SITEMAP_LINE = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S{1,2048})", re.IGNORECASE | re.MULTILINE)
_LINK = re.compile(
    r"\[([^\[\]]{1,300})\]\([ \t]{0,5}<?"
    r"([^\s()<>]{1,2048}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)"
)


@dataclass(slots=True)
class _Links:
    """Collects the links of a file: absolute URLs without a fragment, and their titles."""

    base: str
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    sitemaps: list[str] = field(default_factory=list[str])
    left_out: int = 0
    room: int = _MAX_CHARACTERS

    def add(self, address: str, title: str = "", *, is_sitemap: bool = False) -> None:
        """Add a link, unless it is not an http(s) URL, or the file has too many."""
        if not 0 < len(address) <= _MAX_URL:
            return
        with suppress(InputError, ValueError):
            url = parse_url(urljoin(self.base, address.strip())).url
            title = " ".join(without_controls(title).split())[:_MAX_TITLE]
            self.room -= len(url) + len(title)
            if self.room < 0 or len(self.links) + len(self.sitemaps) >= MAX_LINKS:
                self.left_out += 1
            elif is_sitemap:
                self.sitemaps.append(url)
            else:
                self.links.append((url, title))

    def content(self, *warnings: str) -> Content:
        """Return the links, once each."""
        clauses = [*warnings]
        if self.left_out:
            clauses.append(
                f"only the first {len(self.links) + len(self.sitemaps):,} URLs were read"
            )
        sitemaps = list(dict.fromkeys(self.sitemaps))
        return Content("", warnings=clauses, links=self.links, sitemaps=sitemaps)


def read(source: Source) -> Content:
    """Read a file that lists pages, as `source.listing` says.

    Raises:
        ProviderError: It is not such a file.
    """
    links = _Links(source.url)
    match source.listing:
        case "sitemap":
            return _read_sitemap(source, links)
        case "llms.txt":
            return _read_llms(source, links)
        case "robots.txt":
            for match in _SITEMAP_LINE.finditer(source.body.decode("utf-8", "replace")):
                links.add(match[1], is_sitemap=True)
            return links.content()
        case _:
            return _read_page(source, links)


def _read_llms(source: Source, links: _Links) -> Content:
    """Read an llms.txt. The links of its section "Optional" are the last ones."""
    text = "" if _is_html(source) else decode(source.body, source.content_type, markup=False)
    if not text.lstrip("\ufeff \t\r\n").startswith("# "):
        raise _not_a("an llms.txt")
    optional = list[tuple[str, str]]()
    is_optional = False
    for line in text.splitlines():
        if line.startswith("## "):
            is_optional = line[3:].strip().lower() == "optional"
        for title, address in _LINK.findall(line):
            if is_optional:
                optional.append((address, title))
            else:
                links.add(address, title)
    for address, title in optional:
        links.add(address, title)
    return links.content()


def _read_page(source: Source, links: _Links) -> Content:
    """Read the visible links of a page with their texts."""
    text = decode(source.body, source.content_type, markup=True)[:_MAX_HTML]
    if not _is_html(source) and not text.lstrip("\ufeff \t\r\n").startswith("<"):
        for title, address in _LINK.findall(text):
            links.add(address, title)
        return replace(links.content(), refresh=refresh_target([source.refresh], source.url))
    root = parse(text) if scan(text).is_tame else None
    if root is None:
        raise ProviderError("its markup is too large or too unusual to find the links")
    target = refresh_target([source.refresh, *declared_refreshes(root)], source.url)
    drop_invisible(root, LeftOut())
    base = root.find(".//base[@href]")
    if base is not None:
        with suppress(ValueError):
            links.base = urljoin(source.url, base.get("href"))
    for anchor in root.iter("a", "area"):
        address = anchor.get("href", "").strip()
        if address and not address.startswith("#"):
            images = " ".join(image.get("alt", "") for image in anchor.iter("img"))
            title = text_of(anchor).strip() or images.strip()
            links.add(address, title or anchor.get("aria-label", "") or anchor.get("title", ""))
    is_short = length_of(root) < MAX_REFRESHED
    return replace(links.content(), refresh=target if is_short else "")


def _is_html(source: Source) -> bool:
    return source.content_type.partition(";")[0].strip().lower() in _HTML_TYPES


# --- sitemaps ----------------------------------------------------------------------------------


def _read_sitemap(source: Source, links: _Links) -> Content:
    """Read a sitemap, or an index of sitemaps; XML or one URL per line, perhaps compressed."""
    parts = _parts(source.body)
    try:
        first = next(parts, b"")
        if first.removeprefix(b"\xef\xbb\xbf").lstrip()[:4].lower() == b"http":
            for line in b"".join([first, *parts]).decode("utf-8", "replace").splitlines():
                links.add(line.strip())
            is_damaged = False
        else:
            is_damaged = _read_xml(first, parts, links)
    except zlib.error:
        is_damaged = True
    if not (links.links or links.sitemaps):
        raise _not_a("a sitemap with a URL")
    damage = ["it is damaged, so some of its URLs may be missing"] if is_damaged else []
    return links.content(*damage)


def _parts(body: bytes) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed if it is in gzip format."""
    if not body.startswith(b"\x1f\x8b"):
        yield from (body[at : at + _PART] for at in range(0, len(body), _PART))
        return
    decompressor = zlib.decompressobj(wbits=31)
    room = MAX_SITEMAP
    while body and room > 0 and not decompressor.eof:
        part = decompressor.decompress(body, min(_PART, room))
        body = decompressor.unconsumed_tail
        room -= len(part)
        yield part
    if not decompressor.eof:
        raise zlib.error("the end is missing, or it is too large")


def _read_xml(first: bytes, parts: Iterator[bytes], links: _Links) -> bool:
    """Add the URLs of an XML sitemap; return whether it is malformed.

    Elements of other namespaces, such as images, have a `loc` too, but not directly in a `url`.
    Each element is dropped at its end, so that the size of the file does not matter.
    """
    etree: Any = import_module("lxml.etree")
    parser = etree.XMLPullParser(
        events=("end",), resolve_entities=False, no_network=True, huge_tree=False, recover=True
    )
    for part in _with_first(first, parts):
        parser.feed(part)
        for _, element in parser.read_events():
            parent = element.getparent()
            if parent is not None and _name(element) == "loc":
                kind = _name(parent)
                if kind in {"url", "sitemap"}:
                    links.add((element.text or "").strip(), is_sitemap=kind == "sitemap")
            element.clear()
            while element.getprevious() is not None:
                del parent[0]
        if links.left_out:
            return False
    return bool(parser.error_log.filter_from_fatals())


def _with_first(first: bytes, parts: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from parts


def _name(element: Any) -> str:
    name: str = element.tag
    return name.rpartition("}")[2]


def _not_a(kind: str) -> ProviderError:
    return with_fault(ProviderError(f"it is not {kind}"), Fault.GONE)
