"""Stand-in for version 0 of the Kagi API: /api/v0/search, /summarize, /fastgpt and /enrich.

https://help.kagi.com/kagi/api/summarizer.html and its neighbours (read 2026-11-21).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

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
from webtools_sandbox.corpus import Collection
from webtools_sandbox.keys import KAGI_V0_KEY, KeyRing
from webtools_sandbox.library import NO_FILTERS, Filters, Library, PageHit
from webtools_sandbox.wire import Call, Reply

_LANGUAGES = (
    "BG|CS|DA|DE|EL|EN|ES|ET|FI|FR|HU|ID|IT|JA|KO|LT|LV|NB|NL|PL|PT|RO|RU|SK|SL|SV|TR|UK|ZH|ZH-HANT"
)
DEFAULT_BALANCE = 10_000.0
_SEARCH_PRICE, _ENRICH_PRICE, _FASTGPT_PRICE = 0.025, 0.002, 0.015
_SUMMARY_PRICE_PER_1000, _MURIEL_PRICE, _MAX_BILLED_TOKENS = 0.030, 1.00, 10_000
_CACHED_SEARCHES = 512


class SearchRequest(QueryRequest):
    """The parameters of a search or an enrichment."""

    q: NonBlank
    limit: int = Field(default=20, ge=1)


class SummaryRequest(QueryRequest):
    """The parameters of a summary: exactly one of `url` and `text`."""

    url: Annotated[HttpUrl | None, BeforeValidator(lambda value: value or None)] = None
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
    """The older version: a `Bot` token, and a prepaid balance in every response."""

    name = "kagi"
    key = KAGI_V0_KEY
    scheme = "bot"
    data = data_files.table("kagi_v0")

    def __init__(self, library: Library, keys: KeyRing, balance: float = DEFAULT_BALANCE) -> None:
        """Serve `library` to clients with one of `keys`, which share `balance` dollars."""
        super().__init__(library, keys)
        self._prepaid = self._balance = balance
        self._summarized: set[tuple[str, ...]] = set()
        self._items = library.cached(_CACHED_SEARCHES, self._found_items)

    def reset(self) -> None:
        """Restore the balance and forget which summaries are cached."""
        self._balance = self._prepaid
        self._summarized.clear()

    def fields(self, call: Call) -> Any:
        """Return the query string, overridden by the JSON body of a POST."""
        body_fields: Json = super().fields(call)
        return call.query | {
            name: value for name, value in body_fields.items() if value is not None
        }

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a parameter."""
        kind = "Missing" if field.kind == "missing" else "Invalid"
        return self.refusal(400, f"{kind} parameter: {field.name}")

    def headers(self, call: Call, status: int) -> dict[str, str]:  # noqa: ARG002
        """Return the trace of a request."""
        return {"X-Kagi-Trace": call.number}

    def success(self, call: Call, body: tuple[object, float]) -> Reply:
        """Charge for a response and return it with the balance."""
        data, price = body
        if price > self._balance:
            raise self.refused_key("no_credit")
        self._balance = round(self._balance - price, 6)
        meta = self._meta(call)
        answer = {"meta": meta, "data": data}
        if meta["ms"] % 2:  # about every second success carries a null error
            answer["error"] = None
        return super().success(call, answer)

    def error_body(self, call: Call, refused: RefusedError) -> Json:
        """Return the error body of version 0."""
        error = {"code": refused.code or refused.status, "msg": refused.message, "ref": None}
        return {"meta": self._meta(call), "data": None, "error": [error]}

    @Route(SearchRequest, "GET /api/v0/search")
    def search(self, request: SearchRequest) -> tuple[object, float]:
        """Answer with hits and then the related searches."""
        items = self._items(request.q, request.limit)
        related = {"t": 1, "list": query_text.related(request.q)}
        return [*items, related] if items else [], _SEARCH_PRICE

    @Route(SearchRequest, "GET /api/v0/enrich/web")
    def enrich_web(self, request: SearchRequest) -> tuple[object, float]:
        """Answer with hits of small sites."""
        return self._enrich("docs", request)

    @Route(SearchRequest, "GET /api/v0/enrich/news")
    def enrich_news(self, request: SearchRequest) -> tuple[object, float]:
        """Answer with news."""
        return self._enrich("news", request)

    def _enrich(self, collection: Collection, request: SearchRequest) -> tuple[object, float]:
        items = self._items(request.q, request.limit, collection)
        ranked: list[Json] = [{**item, "rank": n} for n, item in enumerate(items, start=1)]
        for item in ranked[1::3]:
            item["snippet"] = None
        return ranked, _ENRICH_PRICE if ranked else 0.0

    def _found_items(
        self, text: str, limit: int, collection: Collection | None = None
    ) -> list[Json]:
        """Return hits. `_items` adds a cache."""
        filters = Filters(collection=collection) if collection else NO_FILTERS
        query, filters = query_text.read_operators(text, filters)
        return [_item(hit) for hit in self.hits(query, filters, count=limit)]

    @Route(SummaryRequest, "GET /api/v0/summarize", "POST /api/v0/summarize")
    def summarize(self, request: SummaryRequest) -> tuple[object, float]:
        """Summarize by extraction; `target_language` is validated, but nothing is translated."""
        text = self._text_of(request)
        kind = request.summary_type
        output = digest.takeaways(text) if kind == "takeaway" else digest.summary(text)
        tokens = digest.token_count(text) + digest.token_count(output)
        job = (text, request.engine, kind, request.target_language)
        price = 0.0 if request.cache and job in self._summarized else _price(request.engine, tokens)
        self._summarized.add(job)
        return {"output": output, "tokens": tokens}, price

    def _text_of(self, request: SummaryRequest) -> str:
        if bool(request.url) == bool(request.text):
            raise self.refusal(400, "Exactly one of the parameters url and text must be given")
        if not request.url:
            return request.text or ""
        document = self.library.find(request.url)
        if document is None:
            raise self.refusal(500)
        return document.text

    @Route(QuestionRequest, "POST /api/v0/fastgpt")
    def fastgpt(self, request: QuestionRequest) -> tuple[object, float]:
        """Answer with a sentence of each of the best pages."""
        if not request.web_search:
            raise self.refusal(400, "Invalid parameter: web_search")
        hits = self.hits(request.query, count=3)
        output = " ".join(f"{hit.snippet} [{n}]" for n, hit in enumerate(hits, start=1))
        references = [query_text.described(hit) for hit in hits]
        tokens = digest.token_count(output)
        return {"output": output, "tokens": tokens, "references": references}, _FASTGPT_PRICE

    def _meta(self, call: Call) -> Json:
        trace = call.number
        ms = 80 + int(trace[:2], 16)
        return {"id": trace, "node": "sandbox", "ms": ms, "api_balance": self._balance}


def _item(hit: PageHit) -> Json:
    item: Json = {"t": 0, **query_text.described(hit)}
    if hit.document.published:
        item["published"] = hit.document.published.replace(".000Z", "Z")
    return item


def _price(engine: str, tokens: int) -> float:
    if engine == "muriel":
        return _MURIEL_PRICE
    return round(min(tokens, _MAX_BILLED_TOKENS) * _SUMMARY_PRICE_PER_1000 / 1000, 6)
