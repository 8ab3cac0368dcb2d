"""Stand-in for the Action API of MediaWiki: pages found by `generator=search`, with what they say.

https://www.mediawiki.org/wiki/API:Search and Extension:TextExtracts (read 2026-11-22).
"""

from __future__ import annotations

from typing import Annotated, Literal
from zlib import crc32

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    BadField,
    Json,
    NonBlank,
    QueryRequest,
    RefusedError,
    Route,
)
from webtools_sandbox.library import PageHit

_MAX_RESULTS, _MAX_EXTRACTS = 500, 20
_OK = 200


def _bounded(maximum: int) -> BeforeValidator:
    """Return a validator that accepts `max`, and lowers larger numbers to the maximum."""

    def read(value: object) -> object:
        text = str(value)
        return maximum if text == "max" else min(int(text), maximum) if text.isdecimal() else value

    return BeforeValidator(read)


class QueryPages(QueryRequest):
    """The parameters of a query whose pages a search generates."""

    action: Literal["query"]
    format: Literal["json"]
    formatversion: Literal["2"]
    generator: Literal["search"]
    gsrsearch: NonBlank
    gsroffset: int = Field(default=0, ge=0)
    gsrlimit: Annotated[int, Field(ge=1), _bounded(_MAX_RESULTS)] = 10
    prop: str = ""
    inprop: str = ""
    exlimit: Annotated[int, Field(ge=1), _bounded(_MAX_EXTRACTS)] = _MAX_EXTRACTS
    exchars: int | None = Field(default=None, ge=1, le=1200)


class WikipediaApi(Api):
    """The Action API of a wiki whose articles are the sandbox's library."""

    name = "wikipedia"
    data = data_files.table("wikipedia")

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a parameter, with HTTP 200 like all errors of this API."""
        name = field.name
        if field.kind == "missing" or not field.value:
            return RefusedError(_OK, f'The "{name}" parameter must be set.', "missingparam")
        message = f'Unrecognized value for parameter "{name}": {str(field.value)[:80]}.'
        return RefusedError(_OK, message, "badvalue")

    @Route(QueryPages, "GET /w/api.php")
    def pages(self, request: QueryPages) -> Json:
        """Return the pages by number, with their rank in `index`."""
        first, count = request.gsroffset, request.gsrlimit
        hits = self.hits(request.gsrsearch, count=count + 1, first=first)
        answer: Json = {"batchcomplete": True}
        if hits:
            pages = [_page(hit, n, request) for n, hit in enumerate(hits[:count])]
            answer["query"] = {"pages": sorted(pages, key=lambda page: int(page["pageid"]))}
        if len(hits) > count:
            answer["continue"] = {"gsroffset": first + count, "continue": "gsroffset||"}
        return answer


def _page(hit: PageHit, number: int, request: QueryPages) -> Json:
    url, page = hit.url, hit.document
    entry: Json = {"pageid": crc32(url.encode()), "ns": 0, "title": hit.title}
    entry["index"] = request.gsroffset + number + 1
    properties = request.prop.split("|")
    if "info" in properties:
        entry |= {"contentmodel": "wikitext", "pagelanguage": "en", "length": len(page.text)}
        entry["touched"] = "2026-11-01T00:00:00Z"
    if "info" in properties and "url" in request.inprop.split("|"):
        entry |= {"fullurl": url, "canonicalurl": url, "editurl": f"{url}?action=edit"}
    if "extracts" in properties and number < request.exlimit:
        introduction = page.text.partition("\n#")[0].strip()
        entry["extract"] = digest.clip(introduction, request.exchars)
    return entry
