"""Stand-in for the Perplexity API: /search and the Agent API; Sonar answers that it is gone.

https://docs.perplexity.ai/api-reference (read 2026-11-21).
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis import perplexity_agent as agent
from webtools_sandbox.apis.base import (
    Api,
    Json,
    JsonRequest,
    NonBlank,
    Nothing,
    RefusedError,
    Route,
    described,
    listed,
    uuid_of,
)
from webtools_sandbox.corpus import Document, query_terms
from webtools_sandbox.keys import PERPLEXITY_KEY
from webtools_sandbox.library import Filters, moment
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

OLD_KEY = "test-key-perplexity-old"

_RETIRED = ("/chat/completions", "/v1/sonar", "/async/chat/completions")
_MOST_PEOPLE, _USUAL_MOST = 50, 20
_RECENCY = {"hour": 1, "day": 24, "week": 168, "month": 744, "year": 8760}
_US_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_AGENT_SOURCES = 3
_PASSAGES = 3
_LAST_UPDATED = "2026-09-01"


# --- requests ------------------------------------------------------------------------------------


def _us_date(value: object, *, end_of_day: bool = False) -> datetime | None:
    if value is None:
        return None
    try:
        if found := _US_DATE.fullmatch(str(value)):
            month, day, year = (int(part) for part in found.groups())
            return moment(f"{year:04}-{month:02}-{day:02}", end_of_day=end_of_day)
    except ValueError:  # such as 02/30/2026
        pass
    message = "must be a date of the form MM/DD/YYYY"
    raise ValueError(message)


_After = Annotated[datetime | None, BeforeValidator(_us_date)]
_Before = Annotated[
    datetime | None, BeforeValidator(lambda value: _us_date(value, end_of_day=True))
]


class SearchRequest(JsonRequest):
    """The body of a search, for one query or for several."""

    query: NonBlank | Annotated[list[NonBlank], Field(min_length=1, max_length=5)]
    search_type: Literal["web", "people", "fast"] = "web"
    max_results: int = Field(default=10, ge=1, le=_MOST_PEOPLE)
    max_tokens: int = Field(10_000, ge=1, le=1_000_000)
    max_tokens_per_page: int = Field(default=4096, ge=1, le=1_000_000)
    search_mode: Literal["web", "academic", "sec"] | None = None
    search_context_size: Literal["low", "medium", "high"] | None = None
    search_domain_filter: list[str] | None = None
    search_language_filter: list[str] | None = Field(default=None, max_length=10)
    search_recency_filter: Literal["hour", "day", "week", "month", "year"] | None = None
    search_after_date_filter: _After = None
    search_before_date_filter: _Before = None
    last_updated_after_filter: _After = None
    last_updated_before_filter: _Before = None
    country: str | None = None
    display_server_time: bool = False

    @field_validator("search_domain_filter")
    @classmethod
    def _allow_or_deny(cls, domains: list[str] | None) -> list[str] | None:
        if len({domain.startswith("-") for domain in listed(domains)}) > 1:
            message = "takes domains to allow or to deny, not both"
            raise ValueError(message)
        if len(listed(domains)) > 20:  # noqa: PLR2004
            message = "takes up to 20 domains"
            raise ValueError(message)
        return domains

    def check(self) -> None:
        """Refuse what is right by itself, and wrong together with something else."""
        dates = [value for name, value in self if name.endswith(("after_filter", "date_filter"))]
        if self.search_recency_filter and any(dates):
            raise _refused("search_recency_filter cannot be combined with date filters")
        if (
            self.search_context_size
            and {"max_tokens", "max_tokens_per_page"} & self.model_fields_set
        ):
            raise _refused("search_context_size cannot be combined with max_tokens")
        if self.search_type != "people" and self.max_results > _USUAL_MOST:
            raise _refused(f"max_results must be at most {_USUAL_MOST}")

    @property
    def filters(self) -> Filters:
        """What is left out."""
        domains = listed(self.search_domain_filter)
        start = self.search_after_date_filter
        if self.search_recency_filter:
            start = datetime.now(UTC) - timedelta(hours=_RECENCY[self.search_recency_filter])
        return Filters(
            include_domains=tuple(domain for domain in domains if not domain.startswith("-")),
            exclude_domains=tuple(domain[1:] for domain in domains if domain.startswith("-")),
            start=start,
            end=self.search_before_date_filter,
        )


def _refused(message: str) -> RefusedError:
    return RefusedError(400, f"validation failed: {message}", "invalid_request")


# --- answers -------------------------------------------------------------------------------------


class PerplexityApi(Api):
    """Perplexity's REST API over the sandbox's library."""

    name = "perplexity"
    key = PERPLEXITY_KEY
    errors = data_files.errors("perplexity")

    def routes(self) -> dict[str, Route]:
        """Return what Perplexity serves here, and what it no longer serves."""
        answering = Route(agent.AgentRequest, self._agent)
        return {
            "POST /search": Route(SearchRequest, self._search),
            "POST /v1/agent": answering,
            "POST /v1/responses": answering,
            **{f"POST {path}": Route(Nothing, self._retired) for path in _RETIRED},
        }

    def check_key(self, call: Call) -> None:
        """Refuse unknown keys, and keys older than the search API where they are too old."""
        if self.sent_key(call) != OLD_KEY:
            super().check_key(call)
        elif call.path == "/search":
            raise self.refusal(451)

    def no_object(self) -> RefusedError:
        """Return the error for a body that is no JSON object."""
        return _refused("body is not a JSON object")

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a field."""
        return _refused(described(fault))

    def success(self, call: Call, made: Json) -> Reply:
        """Return an answer with the number of its request."""
        numbered = {"id": f"{made.pop('prefix', '')}{uuid_of(call)}", **made}
        return json_reply(numbered, headers=_headers(call))

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:
        """Return Perplexity's error body."""
        headers = _headers(call, left=0 if refused.status == 429 else 49)  # noqa: PLR2004
        error = {"message": refused.message, "type": refused.code, "code": refused.status}
        return json_reply({"error": error}, status=refused.status, headers=headers)

    def _retired(self, _: Nothing) -> Json:
        message = "Sonar is now the Agent API. Send the request to /v1/agent instead."
        raise RefusedError(403, message, "chat_completions_not_available")

    def _search(self, request: SearchRequest) -> Json:
        """Answer a search; for several queries there is a list of results each."""
        request.check()
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}" if request.display_server_time else None
        results: list[Any]
        if isinstance(request.query, str):
            results = self._results(request.query, request)
        else:
            results = [self._results(query, request) for query in request.query]
        return {"results": results, "server_time": now}

    def _results(self, query: str, request: SearchRequest) -> list[Json]:
        if request.search_type == "people":
            return []
        hits = self.library.search(query, request.filters)[: request.max_results]
        most = 4 * request.max_tokens_per_page
        return [self._result(hit.document, query, rank, most) for rank, hit in enumerate(hits)]

    def _result(self, document: Document, query: str, rank: int, most: int) -> Json:
        """Return a hit; as in real answers some have no snippet, and a date may be null."""
        result: Json = {"title": document.title, "url": self.library.url(document)}
        result["snippet"] = "" if rank % 3 == 2 else _passages(document, query, most)  # noqa: PLR2004
        if document.published or rank % 2:
            result["date"] = document.published and document.published[:10]
        return result | {"last_updated": _LAST_UPDATED}

    def _agent(self, request: agent.AgentRequest) -> Json:
        request.check()
        question = agent.question_of(request.text)
        sources = agent.numbered_sources(request.text)
        found: list[Json] = []
        if request.searches and not sources:
            found = self._agent_results(question)
            sources = [
                agent.Source(one["id"], one["title"], agent.prose(one["snippet"])) for one in found
            ]
        return agent.response(request, agent.written(question, sources), found)

    def _agent_results(self, question: str) -> list[Json]:
        hits = self.library.search(question)[:_AGENT_SOURCES]
        return [
            {"id": number, **self._result(hit.document, question, 0, 2000), "source": "web"}
            for number, hit in enumerate(hits, start=1)
        ]


def _passages(document: Document, query: str, most: int) -> str:
    terms = frozenset(query_terms(query))
    found = digest.best_sentences(document.text, terms, count=_PASSAGES)
    return digest.clip(f"# {document.title}\n" + "\n...\n".join(found), most)


def _headers(call: Call, left: int = 49) -> dict[str, str]:
    headers = {"x-request-id": uuid_of(call)}
    if call.path == "/search":
        return headers
    limits = {"x-ratelimit-limit": "50", "x-ratelimit-remaining": f"{left}"}
    reset = {"x-ratelimit-used": f"{50 - left}", "x-ratelimit-reset": f"{int(time.time()) + 1}"}
    return headers | limits | reset
