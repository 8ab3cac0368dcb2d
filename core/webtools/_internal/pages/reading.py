"""Read a page's bytes: title, author, date and main text. Slow: do not call it in an event loop.

For HTML, `metadata` reads title, author and date, `visibility` drops hidden text, `main_text` finds
the main part, and `markdown` writes it. PDF is read with pypdf. The libraries come with the extra
`fetch` and are imported for the first page.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace

from webtools._internal.pages import INSTALL, documents, listings, robots
from webtools._internal.pages.block_pages import SCRIPTED, block_page
from webtools._internal.pages.charset import decode
from webtools._internal.pages.content import MAX_TEXT, Content, Source
from webtools._internal.pages.data_files import feed_html, read_notebook
from webtools._internal.pages.generators import rewrite
from webtools._internal.pages.kinds import TAG, is_html, kind_of
from webtools._internal.pages.linked_data import nodes_of, texts
from webtools._internal.pages.main_text import main_part
from webtools._internal.pages.markdown import to_markdown
from webtools._internal.pages.markup import Markup, scan
from webtools._internal.pages.metadata import facts_of
from webtools._internal.pages.pdf import read_pdf
from webtools._internal.pages.refreshes import (
    MAX_REFRESHED,
    declared_refreshes,
    refresh_target,
)
from webtools._internal.pages.sections import (
    MARK,
    find_section,
    is_in,
    mark,
    mark_line,
    put_first,
    section_of,
)
from webtools._internal.pages.tree import (
    Element,
    LeftOut,
    body_of,
    length_of,
    parse,
    strip_comments,
)
from webtools._internal.pages.twins import MIN_PROSE, announced, prose_length, read_markdown
from webtools._internal.pages.usage import of_markup
from webtools._internal.pages.visibility import drop_invisible
from webtools._internal.text.cleaning import one_line, without_controls
from webtools._internal.text.cutting import shortened
from webtools.errors import ConfigError, ProviderError, WebToolsError

MAX_HTML = 8 * 1024 * 1024
# Without a handler Python prints the warnings of libraries about odd pages to stderr.
for _name in ("charset_normalizer", "pypdf", "pdfminer"):
    logging.getLogger(_name).addHandler(logging.NullHandler())

_TARGET = re.compile(r"\]\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,2000})?\)")
_TEXT_KINDS = frozenset({"html", "xml", "text"})  # of which a part can be read
_LINE = 50  # characters by which a text is recognized
_MIN_PROSE_SHARE = 0.3  # of a page's prose: 19 of 1,114 good pages keep less
_WILD = "the markup is too large or too unusual to find the main text, so all text is returned"


def read(source: Source) -> Content:
    """Read a page.

    Raises:
        ProviderError: It has no text, cannot be read, or replaces the requested page.
    """
    if source.is_robots:
        return robots.read(source)
    kind = source.listing or _kind(source)
    labels = {"pdf": "PDF", "html": "HTML", **documents.NAMES}
    label = labels.get(kind, source.listing or "text")
    try:
        content = listings.read(source) if source.listing else _read_kind(kind, source)
    except WebToolsError:
        raise
    except ImportError as error:
        message = f"{label} cannot be read ({error}); reinstall: {INSTALL}"
        raise ConfigError(message.replace("\n", " ")) from None
    except Exception as error:  # noqa: BLE001  # parsers can raise anything for hostile bytes
        error_type = type(error).__name__
    else:
        warnings = [*content.warnings, *_warnings_about(source, kind)]
        content = replace(content, warnings=warnings)
        name = section_of(source.requested_url)
        if name and content.text and not (kind == "pdf" and "=" in name):
            content = _from_section(content, name)
        if len(content.text) <= MAX_TEXT:
            return content
        warning = f"only the first {MAX_TEXT:,} of {len(content.text):,} characters were read"
        return replace(content, text=content.text[:MAX_TEXT], warnings=[*content.warnings, warning])
    raise ProviderError(f"the {label} could not be read ({error_type}); it may be damaged")


def _kind(source: Source) -> str:
    """Return the kind of a page, unless it is a file of which only the start was downloaded."""
    is_zip = source.is_start and source.body.startswith(b"PK\x03\x04")  # perhaps a document
    kind = "zip" if is_zip else kind_of(source)
    if source.is_start and kind not in _TEXT_KINDS:
        size = len(source.body) // 2**20
        raise ProviderError(f"the file is larger than {size} MiB; use another source")
    return kind


def _warnings_about(source: Source, kind: str) -> Iterator[str]:
    if source.pages and kind != "pdf" and not source.listing:
        yield f'pages="{source.pages}" was ignored, because only PDF files have pages'
    if source.is_start:
        yield f"the page is larger than {len(source.body) // 2**20} MiB, and the rest was not read"


def _from_section(content: Content, name: str) -> Content:
    """Put a section first, or warn that no section has that name."""
    text = put_first(content.text, name)
    if text is not None:
        return replace(content, text=text)
    warning = f'the page has no section "{shortened(one_line(name), _LINE)}"'
    return replace(content, warnings=[*content.warnings, warning])


def _read_kind(kind: str, source: Source) -> Content:
    if kind == "pdf":
        return read_pdf(source)
    if kind in documents.TYPES:
        return _read_document(documents.to_html(source.body, kind), source)
    return _read_text(kind, source)


def _read_text(kind: str, source: Source) -> Content:
    text = without_controls(decode(source.body, source.content_type, markup=kind != "text"))
    if not text.strip():
        return _read_nothing(source)
    if (content := read_notebook(text)) is not None:
        return content
    if source.is_start and '"cell_type"' in text:  # the text of a notebook is mostly pictures
        raise ProviderError("the notebook is too large; use another source")
    if (feed := feed_html(text)) is not None:
        title, html = feed
        return _read_document(documents.Document(html, title), source)
    if kind == "html" and is_html(text):
        return _read_html(text, source)
    return read_markdown(text.strip(), source.content_type, source.url)


def _read_nothing(source: Source) -> Content:
    if target := refresh_target([source.refresh], source.url):
        return Content("", refresh=target)
    raise ProviderError("the page is empty")


def _read_document(document: documents.Document, source: Source) -> Content:
    """Read the HTML of a document, all of which is its main part."""
    html = f"<html><body>{document.html[:MAX_HTML]}</body></html>"
    markup = scan(html)
    root = parse(html) if markup.is_tame else None
    main = _main(markup, root, replace(source, whole=True))
    if not main.text:
        raise ProviderError("the document has no text")
    warnings = [*document.warnings, *main.warnings]
    if len(document.html) > MAX_HTML:
        warnings.append(f"only the first {MAX_HTML // 2**20} MiB of the document were read")
    title, author = (one_line(each) or None for each in (document.title, document.author))
    return replace(main, title=title, author=author, warnings=warnings)


# --- HTML --------------------------------------------------------------------------------------


def _read_html(html: str, source: Source) -> Content:
    is_cut = len(html) > MAX_HTML
    html = html[:MAX_HTML]
    markup = scan(html)
    root = parse(html) if markup.is_tame else None
    title, author, published_at = facts_of(markup, root, source.url)
    refreshes = [source.refresh, *declared_refreshes(root)]
    main = _main(markup, root, source)
    if len(main.text) < MAX_REFRESHED and (target := refresh_target(refreshes, source.url)):
        return replace(main, refresh=target)
    twin = source.twin or announced(markup.links, source.url)
    usage = of_markup(markup.meta, markup.links, source.url)
    error = block_page(source, html, markup, _TARGET.sub("]", main.text))
    may_have_twin = error is None or str(error) == SCRIPTED
    if error is None and not main.text:
        hidden = "; its markup hides all of it" if "hidden" in main.left_out else ""
        error = ProviderError(f"the page has no visible text{hidden}")
    if error is not None:
        if not twin or not may_have_twin:
            raise error
        facts = (title, author, published_at)
        return Content("", *facts, usage=usage, twin=twin, fault=str(error))
    is_poor = bool(main.warnings) or prose_length(main.text) < MIN_PROSE
    if is_cut:
        main.warnings.append(f"only the first {MAX_HTML // 2**20} MiB of the HTML were read")
    return replace(
        main,
        title=title,
        author=author,
        published_at=published_at,
        usage=usage,
        twin=twin if is_poor else "",
    )


def _main(markup: Markup, root: Element | None, source: Source) -> Content:
    """Return the main text with what was left out; without a tree, all visible text."""
    body = None if root is None else body_of(root)
    if body is None:
        return Content(without_controls(markup.text), warnings=[] if markup.is_tame else [_WILD])
    name = section_of(source.requested_url)
    section = find_section(root, name) if name else None
    left_out = LeftOut()
    drop_invisible(root, left_out)
    strip_comments(root)
    for element in list(body.iter("svg", "select")):  # never written
        left_out.drop(element, "outside" if element.tag == "svg" else "forms")
    rewrite(body)
    visible = length_of(body)
    spare = None if section is None or source.whole else deepcopy(root)
    part, prose_share = (body, 1.0) if source.whole else main_part(body, markup.title, left_out)
    if section is not None and spare is not None and not is_in(section, part):
        return _main(markup, spare, replace(source, whole=True))
    text = without_controls(to_markdown(part, source.url))
    if section is not None and mark(section, part):
        marked = to_markdown(part, source.url).split(MARK, 1)
        text = mark_line(text, MARK.join(map(without_controls, marked)))
    text = text.strip() or without_controls(markup.text)
    warnings = list(_warnings(left_out, visible, prose_share))
    declared = _declared_text(markup, source.url)
    if len(text) < _MIN_PROSE_SHARE * len(declared) and declared[:_LINE] not in text:
        text = f"{text}\n\n{declared}".strip()
        warnings = ["the article is not in the page itself but in its JSON-LD"]
    return Content(text, warnings=warnings, left_out=left_out.shares(visible))


def _declared_text(markup: Markup, url: str) -> str:
    """Return the longest text of an article in JSON-LD; markup in it becomes Markdown."""
    text = max(texts(nodes_of(markup.linked_data), "articleBody"), key=len, default="")
    fragment = parse(text) if TAG.search(text) and scan(text).is_tame else None
    if fragment is not None and (body := body_of(fragment)) is not None:
        drop_invisible(fragment, LeftOut())
        text = to_markdown(body, url)
    return without_controls(text).strip()


def _warnings(left_out: LeftOut, visible: int, prose_share: float) -> Iterator[str]:
    """Yield warnings about rare pages of which much may be missing."""
    lengths = left_out.lengths
    if lengths.get("hidden", 0) > visible:
        yield "the page hides more text than it shows, and the hidden text was left out"
    if prose_share < _MIN_PROSE_SHARE:
        yield f"the text has only {prose_share:.0%} of the page's prose; whole=True returns all"
    if 2 * lengths.get("comments", 0) > visible:
        yield "readers' comments, which are longer than the article, were left out"
