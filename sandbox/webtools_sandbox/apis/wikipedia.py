"""Stand-in for the Action API of MediaWiki: pages found by `generator=search`, with what they say.

https://www.mediawiki.org/wiki/API:Search and Extension:TextExtracts (read 2026-11-22).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal
from zlib import crc32

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import Api, Json, NonBlank, QueryRequest, RefusedError, Route, where
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from webtools_sandbox.corpus import Document

_MOST_RESULTS, _MOST_EXTRACTS = 500, 20
_OK = 200


def _bounded(most: int) -> BeforeValidator:
    """Return a validator that takes `max`, and moves what is above the bound to it."""

    def read(value: object) -> object:
        text = str(value)
        return most if text == "max" else min(int(text), most) if text.isdecimal() else value

    return BeforeValidator(read)


class QueryPages(QueryRequest):
    """The parameters of a query whose pages a search generates."""

    action: Literal["query"]
    format: Literal["json"]
    formatversion: Literal["1", "2"] = "1"
    generator: Literal["search"]
    gsrsearch: NonBlank
    gsroffset: int = Field(default=0, ge=0)
    gsrlimit: Annotated[int, Field(ge=1), _bounded(_MOST_RESULTS)] = 10
    prop: str = ""
    inprop: str = ""
    exlimit: Annotated[int, Field(ge=1), _bounded(_MOST_EXTRACTS)] = _MOST_EXTRACTS
    exchars: int | None = Field(default=None, ge=1, le=1200)


class WikipediaApi(Api):
    """The Action API of a wiki whose articles are the sandbox's library."""

    name = "wikipedia"
    key = ""
    usual = False
    errors = data_files.errors("wikipedia")

    def routes(self) -> dict[str, Route]:
        """Return what the wiki serves here."""
        return {"GET /w/api.php": Route(QueryPages, self._pages)}

    def check_key(self, call: Call) -> None:
        """Accept everybody."""

    def settings(self, base_url: str) -> Json:
        """Return the entry of a web-search.json; there is no key."""
        return {"name": self.name, "type": self.name, "baseUrl": base_url}

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a parameter, with HTTP 200 like every error of the API's own."""
        name = where(fault)
        if fault["type"] == "missing" or not fault["input"]:
            return RefusedError(_OK, f'The "{name}" parameter must be set.', "missingparam")
        message = f'Unrecognized value for parameter "{name}": {str(fault["input"])[:80]}.'
        return RefusedError(_OK, message, "badvalue")

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:  # noqa: ARG002
        """Return MediaWiki's error body."""
        error = {"code": refused.code, "info": refused.message, "docref": "See /w/api.php."}
        return json_reply({"error": error, "servedby": "sandbox"}, status=refused.status)

    def _pages(self, request: QueryPages) -> Json:
        """Return the pages as the API does: by their number, with their rank in `index`."""
        hits, first = self.library.search(request.gsrsearch), request.gsroffset
        found = [hit.document for hit in hits[first : first + request.gsrlimit]]
        if not found:
            return {"batchcomplete": True}
        pages = [
            self._page(document, rank, request) for rank, document in enumerate(found, first + 1)
        ]
        by_number = sorted(pages, key=lambda page: int(page["pageid"]))
        answer: Json = {"batchcomplete": True, "query": {"pages": by_number}}
        if request.formatversion == "1":
            numbered = {str(page["pageid"]): page for page in by_number}
            answer = {"batchcomplete": "", "query": {"pages": numbered}}
        if len(hits) > first + len(found):
            answer["continue"] = {"gsroffset": first + len(found), "continue": "gsroffset||"}
        return answer

    def _page(self, document: Document, rank: int, request: QueryPages) -> Json:
        url = self.library.url(document)
        page: Json = {"pageid": crc32(url.encode()), "ns": 0, "title": document.title or url}
        page["index"] = rank
        wanted = request.prop.split("|")
        if "info" in wanted:
            page |= {"contentmodel": "wikitext", "pagelanguage": "en", "length": len(document.text)}
            page["touched"] = "2026-11-01T00:00:00Z"
        if "info" in wanted and "url" in request.inprop.split("|"):
            page |= {"fullurl": url, "canonicalurl": url, "editurl": f"{url}?action=edit"}
        if "extracts" in wanted and rank - request.gsroffset <= request.exlimit:
            page["extract"] = digest.clip(_introduction(document), request.exchars)
        return page


def _introduction(document: Document) -> str:
    """Return what stands above the first heading, as plain as it is."""
    return document.text.partition("\n#")[0].strip()
