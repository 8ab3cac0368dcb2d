"""Stand-in for version 0 of the Kagi API: /api/v0/search, /summarize, /fastgpt and /enrich."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn, cast

from webtools_sandbox import _kagi_text as kagi_text
from webtools_sandbox import digest
from webtools_sandbox.keys import NO_CREDIT, UNKNOWN
from webtools_sandbox.library import Filters
from webtools_sandbox.wire import Call, RefusedError, Reply, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from webtools_sandbox.corpus import Collection, Document
    from webtools_sandbox.keys import KeyRing
    from webtools_sandbox.library import Library

    Handler = Callable[[Call], tuple[object, float]]

KEY = "test-key-kagi-v0"

_ENGINES = frozenset({"cecil", "agnes", "daphne", "muriel"})
_SUMMARY_TYPES = frozenset({"summary", "takeaway"})
_LANGUAGES = frozenset(
    str.split(
        "BG CS DA DE EL EN ES ET FI FR HU ID IT JA KO LT LV NB NL PL PT RO RU SK SL SV TR UK ZH"
        " ZH-HANT"
    )
)
_UNAUTHORIZED, _BAD_PARAMETER, _NO_CREDIT = 2, 1, 101
_SEARCH_PRICE, _ENRICH_PRICE, _FASTGPT_PRICE = 0.025, 0.002, 0.015
_SUMMARY_PRICE_PER_1000, _MURIEL_PRICE, _MAX_BILLED_TOKENS = 0.030, 1.00, 10_000
_DEFAULT_LIMIT = 20
_CACHED_SEARCHES = 512
_MESSAGES = {401: "Unauthorized", 429: "Rate limit exceeded", 404: "Not found"}


class KagiV0:
    """The older generation: `Bot` token, a prepaid balance in every answer."""

    def __init__(self, library: Library, keys: KeyRing, balance: float) -> None:
        """Serve `library` to the holders of `keys`, who share `balance` dollars."""
        self._library = library
        self._keys = keys
        self._prepaid = self._balance = balance
        self._summarized: set[tuple[str, ...]] = set()
        self._found = library.cached(_CACHED_SEARCHES, self._search_items)
        self._routes: dict[tuple[str, str], Handler] = {
            ("GET", "/api/v0/search"): self._search,
            ("GET", "/api/v0/summarize"): self._summarize,
            ("POST", "/api/v0/summarize"): self._summarize,
            ("POST", "/api/v0/fastgpt"): self._fastgpt,
            ("GET", "/api/v0/enrich/web"): self._enrich,
            ("GET", "/api/v0/enrich/news"): self._enrich,
        }

    def answer(self, call: Call) -> Reply:
        """Answer as kagi.com/api/v0 does, and charge for it."""
        handler = self._routes.get((call.method, call.path))
        if handler is None:
            return self.failure(call, 404)
        try:
            self._check_key(call)
            data, price = handler(call)
            self._charge(price)
        except RefusedError as refused:
            return self._error_reply(call, refused)
        return self._data_reply(call, data)

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return this generation's error body for `status`."""
        code = {401: _UNAUTHORIZED, 402: _NO_CREDIT}.get(status, status)
        text = message or _MESSAGES.get(status, "The request failed")
        return self._error_reply(call, RefusedError(text, code=code, status=status))

    def reset(self) -> None:
        """Restore the balance and forget which summaries are cached."""
        self._balance = self._prepaid
        self._summarized.clear()

    def _check_key(self, call: Call) -> None:
        scheme, _, key = call.headers.get("authorization", "").partition(" ")
        standing = self._keys.check(KEY, key.strip())
        if scheme.lower() != "bot" or standing is UNKNOWN:
            raise RefusedError("Unauthorized", code=_UNAUTHORIZED, status=401)
        if standing is NO_CREDIT:
            self._refuse_credit()

    def _charge(self, price: float) -> None:
        if price > self._balance:
            self._refuse_credit()
        self._balance = round(self._balance - price, 6)

    @staticmethod
    def _refuse_credit() -> NoReturn:
        # HTTP 400 and not 402: only the code tells.
        raise RefusedError("Insufficient credit to perform this request.", code=_NO_CREDIT)

    def _search(self, call: Call) -> tuple[object, float]:
        return self._found(_query(call), _limit(call)), _SEARCH_PRICE

    def _search_items(self, text: str, limit: int) -> list[dict[str, Any]]:
        """Return the hits and then the related searches; `_found` is this with a cache."""
        query, filters = kagi_text.read_operators(text)
        hits = self._library.search(query, filters)[:limit]
        items = [self._item(hit.document, query) for hit in hits]
        related = {"t": 1, "list": kagi_text.related(query)}
        return [*items, related] if items else []

    def _enrich(self, call: Call) -> tuple[object, float]:
        collection: Collection = "news" if call.path.endswith("/news") else "docs"
        query, _ = kagi_text.read_operators(_query(call))
        hits = self._library.search(query, Filters(collection=collection))[:_DEFAULT_LIMIT]
        items = [
            {**self._item(hit.document, query), "rank": rank}
            for rank, hit in enumerate(hits, start=1)
        ]
        for item in items[1::3]:
            item["snippet"] = None
        return items, _ENRICH_PRICE if items else 0.0

    def _item(self, document: Document, query: str) -> dict[str, Any]:
        item: dict[str, Any] = {"t": 0, **kagi_text.described(self._library, document, query)}
        if document.published:
            item["published"] = document.published.replace(".000Z", "Z")
        return item

    def _summarize(self, call: Call) -> tuple[object, float]:
        """Summarize by extraction; `target_language` is validated, but nothing is translated."""
        fields = _fields(call)
        text = self._text_to_summarize(fields)
        engine = _choice(fields, "engine", "cecil", _ENGINES)
        kind = _choice(fields, "summary_type", "summary", _SUMMARY_TYPES)
        language = _choice(fields, "target_language", "EN", _LANGUAGES)
        output = digest.takeaways(text) if kind == "takeaway" else digest.summary(text)
        tokens = digest.token_count(text) + digest.token_count(output)
        job = (text, engine, kind, language)
        cached = job in self._summarized and fields.get("cache", "true").lower() != "false"
        self._summarized.add(job)
        price = 0.0 if cached else _summary_price(engine, tokens)
        return {"output": output, "tokens": tokens}, price

    def _text_to_summarize(self, fields: dict[str, str]) -> str:
        url, text = fields.get("url"), fields.get("text")
        if bool(url) == bool(text):
            _refuse("Exactly one of the parameters url and text must be given")
        if not url:
            return text or ""
        if not url.startswith(("http://", "https://")):
            _refuse("Invalid parameter: url")
        document = self._library.find(url)
        if document is None:
            raise RefusedError("Could not read the document", code=500, status=500)
        return document.text

    def _fastgpt(self, call: Call) -> tuple[object, float]:
        fields = _fields(call)
        query = fields.get("query", "").strip()
        if not query:
            _refuse("Missing parameter: query")
        if fields.get("web_search", "true").lower() == "false":
            _refuse("Invalid parameter: web_search")
        hits = self._library.search(query)[:3]
        references = [kagi_text.described(self._library, hit.document, query) for hit in hits]
        points = [self._library.snippet(hit.document, query) for hit in hits]
        output = " ".join(f"{point} [{number}]" for number, point in enumerate(points, start=1))
        data = {"output": output, "tokens": digest.token_count(output), "references": references}
        return data, _FASTGPT_PRICE

    def _meta(self, call: Call) -> dict[str, Any]:
        trace = kagi_text.trace_of(call.path.encode(), call.query_string.encode(), call.body)
        ms = 80 + int(trace[:2], 16)
        return {"id": trace, "node": "sandbox", "ms": ms, "api_balance": self._balance}

    def _data_reply(self, call: Call, data: object) -> Reply:
        meta = self._meta(call)
        answer = {"meta": meta, "data": data}
        if meta["ms"] % 2:  # about every second success carries a null error
            answer["error"] = None
        return json_reply(answer, headers={"X-Kagi-Trace": meta["id"]})

    def _error_reply(self, call: Call, refused: RefusedError) -> Reply:
        meta = self._meta(call)
        error = {"code": refused.code, "msg": refused.message, "ref": None}
        return json_reply(
            {"meta": meta, "data": None, "error": [error]},
            status=refused.status,
            headers={"X-Kagi-Trace": meta["id"]},
        )


def _query(call: Call) -> str:
    query = call.query.get("q", "")
    if not query.strip():
        _refuse("Missing parameter: q")
    return query


def _limit(call: Call) -> int:
    text = call.query.get("limit", str(_DEFAULT_LIMIT))
    if not text.isdecimal() or int(text) < 1:
        _refuse("Invalid parameter: limit")
    return int(text)


def _fields(call: Call) -> dict[str, str]:
    """Read the parameters from the query string, and on POST from a JSON or form body."""
    if call.method == "GET" or not call.body:
        return call.query
    if "json" not in call.headers.get("content-type", ""):
        return call.query | call.form
    try:
        data = call.json()
    except ValueError:
        _refuse("The request body is not valid JSON")
    if not isinstance(data, dict):
        _refuse("The request body must be a JSON object")
    fields = cast("dict[str, object]", data)
    return call.query | {
        name: _as_text(value) for name, value in fields.items() if value is not None
    }


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _choice(fields: dict[str, str], name: str, default: str, allowed: frozenset[str]) -> str:
    value = fields.get(name, default)
    if value not in allowed:
        _refuse(f"Invalid parameter: {name}")
    return value


def _refuse(message: str) -> NoReturn:
    raise RefusedError(message, code=_BAD_PARAMETER)


def _summary_price(engine: str, tokens: int) -> float:
    if engine == "muriel":
        return _MURIEL_PRICE
    return round(min(tokens, _MAX_BILLED_TOKENS) * _SUMMARY_PRICE_PER_1000 / 1000, 6)
