"""The corpus as a website: HTML pages with the clutter of real pages."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from string import Template
from typing import TYPE_CHECKING

from webtools_sandbox import data_files
from webtools_sandbox.markup import contents_of, to_html
from webtools_sandbox.wire import Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webtools_sandbox.corpus import Collection, Document
    from webtools_sandbox.library import Library
    from webtools_sandbox.wire import Call

_HTML = "text/html; charset=utf-8"
_SPECIAL_STATUS = {"timeout": 408, "forbidden": 403, "http-403": 403, "broken": 500}
_CACHED_PAGES = 512
_COLLECTIONS: tuple[Collection, ...] = ("docs", "news")
_FRAME = Template(data_files.text("page.html"))
_MIN_HEADINGS = 3  # for a table of contents


class PagesSite:
    """The served documents. Faults apply to them as to the APIs."""

    def __init__(self, library: Library) -> None:
        """Serve `library`."""
        self._library = library

    def answer(self, call: Call) -> Reply:
        """Return the page."""
        if call.method not in {"GET", "HEAD"}:
            return Reply(405, b"", "text/plain")
        return page(self._library, call.path)

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return an HTML error page."""
        del call
        return error_page(status, message)

    def sent_key(self, call: Call) -> str:
        """Return the Authorization header."""
        return call.headers.get("authorization", "")


def page(library: Library, path: str) -> Reply:
    """Return the page at `path`, which starts with `/docs/` or `/news/`."""
    _, _, rest = path.partition("/")
    collection, _, inside = rest.partition("/")
    if collection not in _COLLECTIONS:
        return error_page(404)
    url = f"{library.bases[collection]}/{inside}"
    special = library.special(url)
    if special is not None:
        return error_page(_SPECIAL_STATUS.get(special, 404))
    if not inside:
        return Reply(200, _index(library, collection).encode(), _HTML)
    document = library.find(url)
    if document is None:
        return error_page(404)
    return Reply(200, render(document).encode(), _HTML)


@lru_cache(_CACHED_PAGES)
def render(document: Document) -> str:
    """Return the document as a whole HTML page."""
    title = escape(document.title)
    heading = f"<h1>{title}</h1>" if title else ""
    byline = escape(" · ".join(filter(None, (document.author, document.published))))
    signed = f"<p class='byline'>{byline}</p>\n" if byline else ""
    return _frame(
        title,
        f"<article>{heading}{signed}{to_html(document.text)}</article>",
        head="".join(_meta(document)),
        home=f"/{document.collection}/",
        contents="".join(_contents(document.text)),
    )


def _meta(document: Document) -> Iterator[str]:
    if document.author:
        yield f'<meta name="author" content="{escape(document.author)}">'
    if document.published:
        yield f'<meta property="article:published_time" content="{document.published}">'


def _contents(markdown: str) -> Iterator[str]:
    """Yield the table of contents of a long page."""
    headings = contents_of(markdown)
    if len(headings) < _MIN_HEADINGS:
        return
    yield '<nav class="contents"><h3>On this page</h3><ul>'
    for anchor, text in headings:
        yield f'<li><a href="#{escape(anchor)}">{escape(text)}</a></li>'
    yield "</ul></nav>"


def _frame(
    title: str, main: str, *, head: str = "", home: str = "/docs/", contents: str = ""
) -> str:
    return _FRAME.substitute(title=title, main=main, head=head, home=home, contents=contents)


def _index(library: Library, collection: Collection) -> str:
    links = "\n".join(_link(item) for item in library.documents if item.collection == collection)
    return _frame(f"All {collection}", f"<ul>{links}</ul>", home=f"/{collection}/")


def _link(document: Document) -> str:
    url = f"/{document.collection}/{document.path}"
    return f'<li><a href="{url}">{escape(document.title or document.path)}</a></li>'


def error_page(status: int, message: str | None = None) -> Reply:
    """Return an HTML error page."""
    text = _frame(f"Error {status}", f"<h1>Error {status}</h1><p>{escape(message or '')}</p>")
    return Reply(status, text.encode(), _HTML)
