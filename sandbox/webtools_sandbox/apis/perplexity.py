"""Stand-in for the Perplexity API: /search and the Agent API; Sonar answers that it is gone.

https://docs.perplexity.ai/api-reference (read 2026-11-21).
"""

from __future__ import annotations

import time
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis import perplexity_agent as agent
from webtools_sandbox.apis.base import (
    Api,
    Json,
    JsonRequest,
    NonBlank,
    QueryRequest,
    RefusedError,
    Route,
    Texts,
)
from webtools_sandbox.apis.dates import FirstUsDay, LastUsDay, ago
from webtools_sandbox.keys import PERPLEXITY_KEY
from webtools_sandbox.library import Filters, PageHit
from webtools_sandbox.wire import Call, Reply

OLD_KEY = "test-key-perplexity-old"

_MAX_PEOPLE, _MAX_RESULTS, _MAX_DOMAINS = 50, 20, 20
_DAYS = {"hour": 1 / 24, "day": 1, "week": 7, "month": 31, "year": 365}
_AGENT_SOURCES = 3
_PASSAGES = 3
_CHARACTERS_A_TOKEN = 4
_A_MINUTE, _TOO_MANY = 50, 429


# --- requests ------------------------------------------------------------------------------------


def _allow_or_deny(domains: tuple[str, ...]) -> tuple[str, ...]:
    if len({domain.startswith("-") for domain in domains}) > 1:
        raise ValueError("takes domains to allow or to deny, not both")
    if len(domains) > _MAX_DOMAINS:
        raise ValueError(f"takes up to {_MAX_DOMAINS} domains")
    return domains


class SearchRequest(JsonRequest):
    """The body of a search, for one query or for several."""

    query: NonBlank | Annotated[list[NonBlank], Field(min_length=1, max_length=5)]
    search_type: Literal["web", "people", "fast"] = "web"
    max_results: int = Field(default=10, ge=1, le=_MAX_PEOPLE)
    max_tokens: int = Field(10_000, ge=1, le=1_000_000)
    max_tokens_per_page: int = Field(default=4096, ge=1, le=1_000_000)
    search_mode: Literal["web", "academic", "sec"] | None = None
    search_context_size: Literal["low", "medium", "high"] | None = None
    search_domain_filter: Annotated[Texts, AfterValidator(_allow_or_deny)] = ()
    search_language_filter: list[str] | None = Field(default=None, max_length=10)
    search_recency_filter: Literal["hour", "day", "week", "month", "year"] | None = None
    search_after_date_filter: FirstUsDay = None
    search_before_date_filter: LastUsDay = None
    last_updated_after_filter: FirstUsDay = None
    last_updated_before_filter: LastUsDay = None
    country: str | None = None

    @property
    def fault(self) -> str:
        """The errors of valid fields that cannot be combined."""
        dates = [value for name, value in self if name.endswith(("after_filter", "date_filter"))]
        if self.search_recency_filter and any(dates):
            return "search_recency_filter cannot be combined with date filters"
        tokens = {"max_tokens", "max_tokens_per_page"} & self.model_fields_set
        if self.search_context_size and tokens:
            return "search_context_size cannot be combined with max_tokens"
        if self.search_type != "people" and self.max_results > _MAX_RESULTS:
            return f"max_results must be at most {_MAX_RESULTS}"
        return ""

    @property
    def filters(self) -> Filters:
        """The filters."""
        domains, recency = self.search_domain_filter, self.search_recency_filter
        return Filters(
            include_domains=tuple(domain for domain in domains if not domain.startswith("-")),
            exclude_domains=tuple(domain[1:] for domain in domains if domain.startswith("-")),
            start=ago(_DAYS[recency]) if recency else self.search_after_date_filter,
            end=self.search_before_date_filter,
        )


# --- answers -------------------------------------------------------------------------------------


class PerplexityApi(Api):
    """Perplexity's REST API over the sandbox's library."""

    name = "perplexity"
    key = PERPLEXITY_KEY
    is_default = True
    data = data_files.table("perplexity")

    def check_key(self, call: Call) -> None:
        """Refuse unknown keys, and for a search keys older than the search API."""
        if self.sent_key(call) != OLD_KEY:
            super().check_key(call)
        elif call.path == "/search":
            raise self.refusal(451)

    def no_object(self) -> RefusedError:
        """Return the error for a body that is not a JSON object."""
        return self._format_error("body is not a JSON object")

    def _format_error(self, message: str) -> RefusedError:
        return self.refusal(400, f"validation failed: {message}")

    def headers(self, call: Call, status: int) -> dict[str, str]:
        """Return the id of a request and, for the agent, the rest of the rate limit."""
        headers = {"x-request-id": call.uuid}
        if call.path == "/search":
            return headers
        remaining = 0 if status == _TOO_MANY else _A_MINUTE - 1
        limits = {"limit": _A_MINUTE, "remaining": remaining, "used": _A_MINUTE - remaining}
        limits["reset"] = int(time.time()) + 1
        return headers | {f"x-ratelimit-{name}": str(value) for name, value in limits.items()}

    def success(self, call: Call, body: Json) -> Reply:
        """Return a response with the id of its request."""
        number = f"{'resp_' if 'output' in body else ''}{call.uuid}"
        return super().success(call, {"id": number, **body})

    @Route(QueryRequest, "POST /chat/completions")
    def sonar(self, _: QueryRequest) -> Json:
        """Refuse requests to the removed endpoint."""
        message = "Sonar is now the Agent API. Send the request to /v1/agent instead."
        raise self.refusal(403, message, "chat_completions_not_available")

    @Route(SearchRequest, "POST /search")
    def search(self, request: SearchRequest) -> Json:
        """Answer a search, with a list of results per query if there are several."""
        if request.fault:
            raise self._format_error(request.fault)
        if isinstance(request.query, str):
            return {"results": self._results(request.query, request), "server_time": None}
        several = [self._results(query, request) for query in request.query]
        return {"results": several, "server_time": None}

    def _results(self, query: str, request: SearchRequest) -> list[Json]:
        if request.search_type == "people":
            return []
        hits = self.hits(query, request.filters, count=request.max_results)
        max_characters = _CHARACTERS_A_TOKEN * request.max_tokens_per_page
        return [_result(hit, rank, max_characters) for rank, hit in enumerate(hits)]

    @Route(agent.AgentRequest, "POST /v1/agent", "POST /v1/responses")
    def respond(self, request: agent.AgentRequest) -> Json:
        """Answer a question from the sources in the input, else from a search."""
        if request.fault:
            raise self._format_error(request.fault)
        question = agent.question_of(request.text)
        sources = agent.numbered_sources(request.text)
        web_results: list[Json] = []
        if request.searches and not sources:
            hits = enumerate(self.hits(question, count=_AGENT_SOURCES), start=1)
            web_results = [{"id": n, **_result(hit, 0, 2000), "source": "web"} for n, hit in hits]
            sources = [
                agent.Source(one["id"], one["title"], agent.prose(one["snippet"]))
                for one in web_results
            ]
        return agent.response(request, agent.written(question, sources), web_results)


def _result(hit: PageHit, rank: int, max_characters: int) -> Json:
    """Return a hit. As in the real API, some have no snippet, and dates may be null."""
    page = hit.document
    passages = f"# {page.title}\n" + "\n...\n".join(hit.sentences(_PASSAGES))
    result: Json = {"title": page.title, "url": hit.url}
    result["snippet"] = "" if rank % 3 == 2 else digest.clip(passages, max_characters)  # noqa: PLR2004
    if page.published or rank % 2:
        result["date"] = page.published and page.published[:10]
    return result | {"last_updated": "2026-09-01"}
