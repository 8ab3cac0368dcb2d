"""Stand-in for version 0 of the Kagi API: /api/v0/search, /summarize, /fastgpt and /enrich.

https://help.kagi.com/kagi/api/summarizer.html and its neighbours (read 2026-11-21).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files, digest, query_text
from webtools_sandbox.apis.base import (
    Api,
    HttpUrl,
    Json,
    NonBlank,
    QueryRequest,
    RefusedError,
    Route,
    digest_of,
    where,
)
from webtools_sandbox.corpus import Collection, Document
from webtools_sandbox.keys import KAGI_V0_KEY, KeyRing, Standing
from webtools_sandbox.library import Filters, Library
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_LANGUAGES = (
    "BG|CS|DA|DE|EL|EN|ES|ET|FI|FR|HU|ID|IT|JA|KO|LT|LV|NB|NL|PL|PT|RO|RU|SK|SL|SV|TR|UK|ZH|ZH-HANT"
)
DEFAULT_BALANCE = 10_000.0
_SEARCH_PRICE, _ENRICH_PRICE, _FASTGPT_PRICE = 0.025, 0.002, 0.015
_SUMMARY_PRICE_PER_1000, _MURIEL_PRICE, _MAX_BILLED_TOKENS = 0.030, 1.00, 10_000
_CACHED_SEARCHES = 512


class SearchRequest(QueryRequest):
    """The parameters of a search, and of an enrichment."""

    q: NonBlank
    limit: int = Field(default=20, ge=1)


def _or_nothing(value: object) -> object:
    return value or None


class SummaryRequest(QueryRequest):
    """The parameters of a summary: of exactly one of `url` and `text`."""

    url: Annotated[HttpUrl | None, BeforeValidator(_or_nothing)] = None
    text: str | None = None
    engine: Literal["cecil", "agnes", "daphne", "muriel"] = "cecil"
    summary_type: Literal["summary", "takeaway"] = "summary"
    target_language: Annotated[str, Field(pattern=f"^({_LANGUAGES})$")] = "EN"
    cache: bool = True


class QuestionRequest(QueryRequest):
    """The body of a question to FastGPT."""

    query: NonBlank
    web_search: bool = True


class KagiV0(Api):
    """The older generation: `Bot` token, a prepaid balance in every answer."""

    name = "kagi"
    key = KAGI_V0_KEY
    errors = data_files.errors("kagi_v0")

    def __init__(self, library: Library, keys: KeyRing, balance: float = DEFAULT_BALANCE) -> None:
        """Serve `library` to the holders of `keys`, who share `balance` dollars."""
        super().__init__(library, keys)
        self._prepaid = self._balance = balance
        self._summarized: set[tuple[str, ...]] = set()
        self._found = library.cached(_CACHED_SEARCHES, self._search_items)

    def routes(self) -> dict[str, Route]:
        """Return what version 0 serves here."""
        return {
            "GET /api/v0/search": Route(SearchRequest, self._search),
            "GET /api/v0/summarize": Route(SummaryRequest, self._summarize),
            "POST /api/v0/summarize": Route(SummaryRequest, self._summarize),
            "POST /api/v0/fastgpt": Route(QuestionRequest, self._fastgpt),
            "GET /api/v0/enrich/web": Route(SearchRequest, partial(self._enrich, "docs")),
            "GET /api/v0/enrich/news": Route(SearchRequest, partial(self._enrich, "news")),
        }

    def reset(self) -> None:
        """Restore the balance and forget which summaries are cached."""
        self._balance = self._prepaid
        self._summarized.clear()

    def sent_key(self, call: Call) -> str:
        """Return the token after `Bot`."""
        scheme, _, token = call.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bot" else ""

    def fields(self, call: Call) -> Any:
        """Return the query string, with a JSON or form body of a POST over it."""
        if call.method == "GET" or not call.body:
            return dict(call.query)
        if "json" not in call.headers.get("content-type", ""):
            return call.query | call.form
        data = super().fields(call)
        return call.query | {name: value for name, value in data.items() if value is not None}

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a parameter."""
        kind = "Missing" if fault["type"] == "missing" else "Invalid"
        return self._refused(f"{kind} parameter: {where(fault)}")

    def success(self, call: Call, made: tuple[object, float]) -> Reply:
        """Charge for an answer and return it with what is left."""
        data, price = made
        if price > self._balance:
            raise self._no_credit()
        self._balance = round(self._balance - price, 6)
        meta = self._meta(call)
        answer = {"meta": meta, "data": data}
        if meta["ms"] % 2:  # about every second success carries a null error
            answer["error"] = None
        return json_reply(answer, headers={"X-Kagi-Trace": meta["id"]})

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:
        """Return the error body of version 0."""
        meta = self._meta(call)
        error = {"code": refused.code or refused.status, "msg": refused.message, "ref": None}
        return json_reply(
            {"meta": meta, "data": None, "error": [error]},
            status=refused.status,
            headers={"X-Kagi-Trace": meta["id"]},
        )

    def check_key(self, call: Call) -> None:
        """Refuse a key without credit with 400, as the real API does: only the code tells."""
        if self.keys.check(self.key, self.sent_key(call)) is Standing.NO_CREDIT:
            raise self._no_credit()
        super().check_key(call)

    def _no_credit(self) -> RefusedError:
        code, message = self.errors[402]
        return RefusedError(400, message, code)

    def _refused(self, message: str) -> RefusedError:
        return RefusedError(400, message, self.errors[400][0])

    def _search(self, request: SearchRequest) -> tuple[object, float]:
        return self._found(request.q, request.limit), _SEARCH_PRICE

    def _search_items(self, text: str, limit: int) -> list[Json]:
        """Return the hits and then the related searches; `_found` is this with a cache."""
        query, filters = query_text.read_operators(text)
        items = [
            self._item(hit.document, query) for hit in self.library.search(query, filters)[:limit]
        ]
        return [*items, {"t": 1, "list": query_text.related(query)}] if items else []

    def _enrich(self, collection: Collection, request: SearchRequest) -> tuple[object, float]:
        query, _ = query_text.read_operators(request.q)
        hits = self.library.search(query, Filters(collection=collection))[: request.limit]
        items = [
            {**self._item(hit.document, query), "rank": rank}
            for rank, hit in enumerate(hits, start=1)
        ]
        for item in items[1::3]:
            item["snippet"] = None
        return items, _ENRICH_PRICE if items else 0.0

    def _item(self, document: Document, query: str) -> Json:
        item: Json = {"t": 0, **query_text.described(self.library, document, query)}
        if document.published:
            item["published"] = document.published.replace(".000Z", "Z")
        return item

    def _summarize(self, request: SummaryRequest) -> tuple[object, float]:
        """Summarize by extraction; `target_language` is validated, but nothing is translated."""
        text = self._text_to_summarize(request)
        kind = request.summary_type
        output = digest.takeaways(text) if kind == "takeaway" else digest.summary(text)
        tokens = digest.token_count(text) + digest.token_count(output)
        job = (text, request.engine, kind, request.target_language)
        price = 0.0 if request.cache and job in self._summarized else _price(request.engine, tokens)
        self._summarized.add(job)
        return {"output": output, "tokens": tokens}, price

    def _text_to_summarize(self, request: SummaryRequest) -> str:
        if bool(request.url) == bool(request.text):
            raise self._refused("Exactly one of the parameters url and text must be given")
        if not request.url:
            return request.text or ""
        document = self.library.find(request.url)
        if document is None:
            raise self.refusal(500)
        return document.text

    def _fastgpt(self, request: QuestionRequest) -> tuple[object, float]:
        if not request.web_search:
            raise self._refused("Invalid parameter: web_search")
        query = request.query
        hits = self.library.search(query)[:3]
        references = [query_text.described(self.library, hit.document, query) for hit in hits]
        points = [self.library.snippet(hit.document, query) for hit in hits]
        output = " ".join(f"{point} [{number}]" for number, point in enumerate(points, start=1))
        data = {"output": output, "tokens": digest.token_count(output), "references": references}
        return data, _FASTGPT_PRICE

    def _meta(self, call: Call) -> Json:
        trace = digest_of(call).hex()
        ms = 80 + int(trace[:2], 16)
        return {"id": trace, "node": "sandbox", "ms": ms, "api_balance": self._balance}


def _price(engine: str, tokens: int) -> float:
    if engine == "muriel":
        return _MURIEL_PRICE
    return round(min(tokens, _MAX_BILLED_TOKENS) * _SUMMARY_PRICE_PER_1000 / 1000, 6)
