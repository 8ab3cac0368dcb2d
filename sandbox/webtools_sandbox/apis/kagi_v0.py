"""Stand-in for version 0 of the Kagi API: /api/v0/search and /api/v0/summarize.

https://help.kagi.com/kagi/api/search-legacy.html and summarizer.html (read 2026-11-21).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from webtools_sandbox import data_files, digest, query_text
from webtools_sandbox.apis.base import (
    Api,
    BadField,
    HttpUrl,
    Json,
    NonBlank,
    QueryRequest,
    RefusedError,
    Route,
)
from webtools_sandbox.keys import KAGI_V0_KEY
from webtools_sandbox.library import PageHit
from webtools_sandbox.wire import Call, Reply

_LANGUAGES = (
    "BG|CS|DA|DE|EL|EN|ES|ET|FI|FR|HU|ID|IT|JA|KO|LT|LV|NB|NL|PL|PT|RO|RU|SK|SL|SV|TR|UK|ZH|ZH-HANT"
)
_BALANCE = 10.0


class SearchRequest(QueryRequest):
    """The parameters of a search."""

    q: NonBlank
    limit: int = Field(default=20, ge=1)


class SummaryRequest(QueryRequest):
    """The parameters or the body of a request for a summary."""

    url: HttpUrl
    engine: Literal["cecil", "agnes", "daphne", "muriel"] = "cecil"
    summary_type: Literal["summary", "takeaway"] = "summary"
    target_language: Annotated[str, Field(pattern=f"^({_LANGUAGES})$")] = "EN"


class KagiV0(Api):
    """The older version: a `Bot` token, and a balance in every response."""

    name = "kagi"
    key = KAGI_V0_KEY
    scheme = "bot"
    data = data_files.table("kagi_v0")

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a parameter."""
        kind = "Missing" if field.kind == "missing" else "Invalid"
        return self.refusal(400, f"{kind} parameter: {field.name}")

    def headers(self, call: Call, status: int) -> dict[str, str]:  # noqa: ARG002
        """Return the trace of a request."""
        return {"X-Kagi-Trace": call.number}

    def success(self, call: Call, body: object) -> Reply:
        """Return a response with the balance."""
        meta = _meta(call)
        answer = {"meta": meta, "data": body}
        if meta["ms"] % 2:  # about every second success carries a null error
            answer["error"] = None
        return super().success(call, answer)

    def error_body(self, call: Call, refused: RefusedError) -> Json:
        """Return the error body of version 0."""
        error = {"code": refused.code or refused.status, "msg": refused.message, "ref": None}
        return {"meta": _meta(call), "data": None, "error": [error]}

    @Route(SearchRequest, "GET /api/v0/search", cached=True)
    def search(self, request: SearchRequest) -> list[Json]:
        """Answer with hits and then the related searches."""
        query, filters = query_text.read_operators(request.q)
        items = [_item(hit) for hit in self.hits(query, filters, count=request.limit)]
        related: Json = {"t": 1, "list": query_text.related(request.q)}
        return [*items, related] if items else []

    @Route(SummaryRequest, "GET /api/v0/summarize", "POST /api/v0/summarize", cached=True)
    def summarize(self, request: SummaryRequest) -> Json:
        """Summarize by extraction; `target_language` is validated, but nothing is translated."""
        document = self.library.find(request.url)
        if document is None:
            raise self.refusal(500)
        is_list = request.summary_type == "takeaway"
        output = (digest.takeaways if is_list else digest.summary)(document.text)
        tokens = digest.token_count(document.text) + digest.token_count(output)
        return {"output": output, "tokens": tokens}


def _item(hit: PageHit) -> Json:
    item: Json = {"t": 0, **query_text.described(hit)}
    if hit.document.published:
        item["published"] = hit.document.published.replace(".000Z", "Z")
    return item


def _meta(call: Call) -> Json:
    trace = call.number
    ms = 80 + int(trace[:2], 16)
    return {"id": trace, "node": "sandbox", "ms": ms, "api_balance": _BALANCE}
