"""Read feeds and notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from importlib import import_module
from typing import Any

from webtools._internal.pages.content import Content
from webtools._internal.pages.tree import Element
from webtools._internal.text.cleaning import without_controls

_FEED = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}\?>)?(?:\s|<!--(?:(?!-->).){0,2000}-->|<\?[^<>]{0,2000}>)*"
    r"<(?:rss|feed|rdf:RDF)\b",
    re.DOTALL,
)
_ATTACHMENT = re.compile(r"data:image/[\w.+-]{1,40};base64,[\w+/=\s]{40,}")


def feed_html(text: str) -> tuple[str, str] | None:
    """Return the title and the entries of an RSS or Atom feed as HTML; None for other text."""
    if not _FEED.match(text):
        return None
    etree: Any = import_module("lxml.etree")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    root = etree.fromstring(text.strip().encode("utf-8", "replace"), parser)
    if root is None:
        return None
    entries = list(root.iter("{*}item", "{*}entry"))
    channel = next(root.iter("{*}channel"), root)
    title = _first(channel, "title")
    facts = [_first(channel, name) for name in ("description", "subtitle")]
    parts = [f"<h1>{escape(title)}</h1>", *(_balanced(fact) for fact in facts if fact)]
    for entry in entries:
        parts += _entry(entry)
    return title, "".join(parts) if entries or title else ""


def _entry(entry: Element) -> Iterator[str]:
    link = _first(entry, "link") or next(
        (
            each.get("href", "")
            for each in entry.iterchildren("{*}link")
            if each.get("rel", "alternate") == "alternate"
        ),
        "",
    )
    link = link or (guid if (guid := _first(entry, "guid")).startswith("http") else "")
    title = escape(_plain(_first(entry, "title")) or link or "Entry")
    yield f'<h2><a href="{escape(link)}">{title}</a></h2>' if link else f"<h2>{title}</h2>"
    date = next(filter(None, (_first(entry, name) for name in _DATES)), "")
    authors = [_first(each, "name") or _text(each) for each in entry.iterchildren(*_AUTHORS)]
    if facts := [escape(fact) for fact in (date, *authors) if fact]:
        yield f"<p>{' · '.join(facts)}</p>"
    texts = sorted((_content(each) for each in entry.iterchildren(*_CONTENTS)), key=len)
    if texts:
        yield _balanced(texts[-1])  # a summary is part of the content
    for enclosure in entry.iterchildren("{*}enclosure"):
        if url := enclosure.get("url"):
            kind = escape(enclosure.get("type") or "enclosure")
            yield f'<p><a href="{escape(url)}">{kind}</a></p>'


_DATES = ("pubDate", "published", "updated", "date")
_AUTHORS = ("{*}author", "{*}creator")
_CONTENTS = ("{*}encoded", "{*}content", "{*}description", "{*}summary")


def _first(parent: Element, name: str) -> str:
    return next((_text(each) for each in parent.iterchildren(f"{{*}}{name}")), "")


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _content(element: Element) -> str:
    if element.get("type") == "xhtml":
        etree: Any = import_module("lxml.etree")
        return "".join(etree.tostring(each, encoding="unicode") for each in element)
    text = "".join(element.itertext())
    return f"<p>{escape(text)}</p>" if element.get("type") == "text" else text


def _plain(html: str) -> str:
    return re.sub(r"<[^<>]{0,500}>", "", html)


def _balanced(html: str) -> str:
    """Close the open elements of HTML, so that it does not swallow what follows."""
    lxml_html: Any = import_module("lxml.html")
    if not html.strip():
        return ""
    root = lxml_html.fragment_fromstring(html, create_parent="div")
    return str(lxml_html.tostring(root, encoding="unicode"))


def read_notebook(text: str) -> Content | None:
    """Read a Jupyter notebook, without pictures; None for other text."""
    if '"cells"' not in text or '"nbformat"' not in text:
        return None
    try:
        notebook = json.loads(text)
        cells = notebook.get("cells") or notebook["worksheets"][0]["cells"]
        metadata = notebook.get("metadata") or {}
        language = (metadata.get("language_info") or {}).get("name") or (
            metadata.get("kernelspec") or {}
        ).get("language", "python")
        pictures: list[str] = []
        parts = [part for cell in cells for part in _cell(cell, str(language), pictures)]
    except (ValueError, RecursionError, AttributeError, TypeError, LookupError):
        return None
    warnings = [f"{len(pictures)} pictures of the notebook were left out"] if pictures else []
    return Content(without_controls("\n\n".join(filter(None, parts))), warnings=warnings)


def _cell(cell: dict[str, Any], language: str, pictures: list[str]) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input", "")))
    kind = cell.get("cell_type")
    if kind == "code":
        yield _fenced(source, language)
        for output in cell.get("outputs") or ():
            yield _output(output, pictures)
    elif kind == "heading":
        yield f"{'#' * int(cell.get('level', 1))} {source}"
    else:
        yield _ATTACHMENT.sub("", source).strip()
        pictures += cell.get("attachments") or ()


def _output(output: dict[str, Any], pictures: list[str]) -> str:
    if output.get("output_type") in {"error", "pyerr"}:
        return _fenced(f"{output.get('ename')}: {output.get('evalue')}")
    data = {**output, **(output.get("data") or {})}
    pictures += [kind for kind in data if kind.startswith(("image/", "png", "jpeg"))]
    for kind in (
        "text",
        "text/plain",
        "text/markdown",
        "text/latex",
        "application/json",
        "text/html",
    ):
        if value := data.get(kind):
            is_text = isinstance(value, str | list)
            return _fenced(_joined(value) if is_text else json.dumps(value, ensure_ascii=False))
    return ""


def _joined(lines: Any) -> str:
    return "".join(lines) if isinstance(lines, list) else str(lines)


def _fenced(text: str, language: str = "") -> str:
    if not text.strip():
        return ""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"
