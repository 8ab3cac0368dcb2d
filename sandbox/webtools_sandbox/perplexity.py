"""Stand-in for the Perplexity API: /search and the Agent API; Sonar answers that it is gone."""

from __future__ import annotations

import hashlib
import time
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from webtools_sandbox import _perplexity_agent as agent
from webtools_sandbox import _perplexity_request as requests
from webtools_sandbox import digest
from webtools_sandbox.corpus import query_terms
from webtools_sandbox.keys import NO_CREDIT, UNKNOWN
from webtools_sandbox.wire import Call, RefusedError, Reply, json_reply

if TYPE_CHECKING:
    from webtools_sandbox._perplexity_request import SearchRequest
    from webtools_sandbox.corpus import Document
    from webtools_sandbox.keys import KeyRing
    from webtools_sandbox.library import Library

KEY = "test-key-perplexity"
OLD_KEY = "test-key-perplexity-old"

_RETIRED = frozenset({"/chat/completions", "/v1/sonar", "/async/chat/completions"})
_AGENT_SOURCES = 3
_PASSAGES = 3
_LAST_UPDATED = "2026-09-01"
_TYPES = {
    400: ("invalid_request", "validation failed"),
    401: ("invalid_api_key", "Invalid API key provided."),
    402: ("insufficient_quota", "You have run out of credits."),
    403: ("forbidden", "This kind of key may not be used here."),
    404: ("not_found", "resource not found"),
    429: ("rate_limit_exceeded", "Too many requests."),
    451: (
        "api_key_created_before_search_api_cutoff",
        "This API key is too old for the search API.",
    ),
}
_GONE = "Sonar is now the Agent API. Send the request to /v1/agent instead."


class PerplexityApi:
    """Perplexity's REST API over the sandbox's library."""

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve `library` to the holders of `keys`."""
        self._library = library
        self._keys = keys
        self._routes = {
            "/search": self._search,
            "/v1/agent": self._agent,
            "/v1/responses": self._agent,
        }

    def answer(self, call: Call) -> Reply:
        """Answer as api.perplexity.ai does."""
        refused = self._refuse_key(call)
        if refused is not None:
            return refused
        if call.path in _RETIRED:
            return _error(call, 403, "chat_completions_not_available", _GONE)
        handler = self._routes.get(call.path)
        if handler is None or call.method != "POST":
            return self.failure(call, 404)
        try:
            return json_reply(handler(call.body), headers=_headers(call))
        except RefusedError as error:
            return _error(call, error.status, str(error.code), error.message)

    def _refuse_key(self, call: Call) -> Reply | None:
        key = self.sent_key(call)
        if key == OLD_KEY:
            return self.failure(call, 451) if call.path == "/search" else None
        status = {UNKNOWN: 401, NO_CREDIT: 402}.get(self._keys.check(KEY, key))
        return None if status is None else self.failure(call, status)

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return Perplexity's error body for `status`."""
        kind, text = _TYPES.get(status, ("internal_error", "The request could not be processed."))
        return _error(call, status, kind, message or text)

    def settings(self, base_url: str) -> dict[str, Any]:
        """Return the entry of a web-search.json."""
        return {"name": "perplexity", "type": "perplexity", "apiKey": KEY, "baseUrl": base_url}

    def sent_key(self, call: Call) -> str:
        """Return the token of a Bearer header."""
        scheme, _, token = call.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""

    def reset(self) -> None:
        """Nothing to forget: the answers carry no state."""

    def _search(self, body: bytes) -> dict[str, Any]:
        """Answer a search; for several queries there is a list of results each."""
        request = requests.read_search(body)
        lists = [self._results(query, request) for query in request.queries]
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}" if request.server_time else None
        results: list[Any] = lists if request.nested else lists[0]
        return {"id": str(_number(body)), "results": results, "server_time": now}

    def _results(self, query: str, request: SearchRequest) -> list[dict[str, Any]]:
        if request.finds_people:
            return []
        hits = self._library.search(query, request.filters)[: request.max_results]
        return [
            self._result(hit.document, query, rank, request.snippet_chars)
            for rank, hit in enumerate(hits)
        ]

    def _result(self, document: Document, query: str, rank: int, most: int) -> dict[str, Any]:
        """Describe a hit; as in real answers some have no snippet, and a date may be null."""
        result: dict[str, Any] = {"title": document.title, "url": self._library.url(document)}
        result["snippet"] = "" if rank % 3 == 2 else _passages(document, query, most)  # noqa: PLR2004
        if document.published or rank % 2:
            result["date"] = document.published and document.published[:10]
        return result | {"last_updated": _LAST_UPDATED}

    def _agent(self, body: bytes) -> dict[str, Any]:
        request = requests.read_agent(body)
        question = agent.question_of(request.input)
        sources = agent.numbered_sources(request.input)
        found: list[dict[str, Any]] = []
        if request.searches and not sources:
            found = self._agent_results(question)
            sources = [
                agent.Source(one["id"], one["title"], agent.prose(one["snippet"])) for one in found
            ]
        text = agent.written(question, sources)
        return agent.response(request, str(_number(body)), text, found)

    def _agent_results(self, question: str) -> list[dict[str, Any]]:
        hits = self._library.search(question)[:_AGENT_SOURCES]
        results: list[dict[str, Any]] = []
        for number, hit in enumerate(hits, start=1):
            result = {"id": number, **self._result(hit.document, question, 0, 2000)}
            results.append({**result, "source": "web"})
        return results


def _passages(document: Document, query: str, most: int) -> str:
    terms = frozenset(query_terms(query))
    found = digest.best_sentences(document.text, terms, count=_PASSAGES)
    return digest.clip(f"# {document.title}\n" + "\n...\n".join(found), most)


def _number(body: bytes) -> uuid.UUID:
    return uuid.UUID(bytes=hashlib.blake2b(body, digest_size=16).digest())


def _headers(call: Call, left: int = 49) -> dict[str, str]:
    headers = {"x-request-id": str(_number(call.body))}
    if call.path == "/search":
        return headers
    limits = {"x-ratelimit-limit": "50", "x-ratelimit-remaining": f"{left}"}
    reset = {"x-ratelimit-used": f"{50 - left}", "x-ratelimit-reset": f"{int(time.time()) + 1}"}
    return headers | limits | reset


def _error(call: Call, status: int, kind: str, message: str) -> Reply:
    headers = _headers(call, left=0 if status == 429 else 49)  # noqa: PLR2004
    body = {"error": {"message": message, "type": kind, "code": status}}
    return json_reply(body, status=status, headers=headers)
