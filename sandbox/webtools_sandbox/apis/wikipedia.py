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
    formatversion: Literal["2"]
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
    data = data_files.table("wikipedia")

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a parameter, with HTTP 200 like every error of the API's own."""
        name = field.name
        if field.kind == "missing" or not field.value:
            return RefusedError(_OK, f'The "{name}" parameter must be set.', "missingparam")
        message = f'Unrecognized value for parameter "{name}": {str(field.value)[:80]}.'
        return RefusedError(_OK, message, "badvalue")

    @Route(QueryPages, "GET /w/api.php")
    def pages(self, request: QueryPages) -> Json:
        """Return the pages as the API does: by their number, with their rank in `index`."""
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
    made: Json = {"pageid": crc32(url.encode()), "ns": 0, "title": hit.title}
    made["index"] = request.gsroffset + number + 1
    wanted = request.prop.split("|")
    if "info" in wanted:
        made |= {"contentmodel": "wikitext", "pagelanguage": "en", "length": len(page.text)}
        made["touched"] = "2026-11-01T00:00:00Z"
    if "info" in wanted and "url" in request.inprop.split("|"):
        made |= {"fullurl": url, "canonicalurl": url, "editurl": f"{url}?action=edit"}
    if "extracts" in wanted and number < request.exlimit:
        introduction = page.text.partition("\n#")[0].strip()
        made["extract"] = digest.clip(introduction, request.exchars)
    return made
