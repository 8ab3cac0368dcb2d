"""Stand-in for the Perplexity API: /search and the Agent API, which answers from given sources.

https://docs.perplexity.ai/api-reference (read 2026-11-21).
"""

from __future__ import annotations

import re
import time
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import Api, Json, JsonRequest, NonBlank, RefusedError, Route, Texts
from webtools_sandbox.apis.dates import FirstUsDay, LastUsDay
from webtools_sandbox.corpus import query_terms
from webtools_sandbox.keys import PERPLEXITY_KEY
from webtools_sandbox.library import Filters, PageHit
from webtools_sandbox.wire import Call, Reply

_MAX_DOMAINS = 20
_PASSAGES = 3
_CHARACTERS_A_TOKEN = 4
_A_MINUTE, _TOO_MANY = 50, 429

_TIME = 1_790_000_000  # fixed, so that a request always gets the same bytes
_HEAD = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_QUESTION = re.compile(r"^Question:\s*(.+)$", re.MULTILINE)
_NOT_PROSE = ("http://", "https://", "#", "...", "```", ">")
_MAX_SENTENCES = 5
_INPUT_PRICE, _OUTPUT_PRICE = 0.25e-6, 2e-6
_NO_ANSWER = "The sources do not answer the question."


# --- requests ------------------------------------------------------------------------------------


def _allow_or_deny(domains: tuple[str, ...]) -> tuple[str, ...]:
    if len({domain.startswith("-") for domain in domains}) > 1:
        raise ValueError("takes domains to allow or to deny, not both")
    if len(domains) > _MAX_DOMAINS:
        raise ValueError(f"takes up to {_MAX_DOMAINS} domains")
    return domains


class SearchRequest(JsonRequest):
    """The body of a search."""

    query: NonBlank
    search_type: Literal["web", "fast"] = "web"
    max_results: int = Field(default=10, ge=1, le=20)
    max_tokens_per_page: int = Field(default=4096, ge=1, le=1_000_000)
    search_domain_filter: Annotated[Texts, AfterValidator(_allow_or_deny)] = ()
    search_language_filter: list[str] | None = Field(default=None, max_length=10)
    search_after_date_filter: FirstUsDay = None
    search_before_date_filter: LastUsDay = None
    country: str | None = None

    @property
    def filters(self) -> Filters:
        """The filters."""
        domains = self.search_domain_filter
        return Filters(
            include_domains=tuple(domain for domain in domains if not domain.startswith("-")),
            exclude_domains=tuple(domain[1:] for domain in domains if domain.startswith("-")),
            start=self.search_after_date_filter,
            end=self.search_before_date_filter,
        )


class AgentRequest(JsonRequest):
    """The body of a question to the agent, with the sources in the input."""

    input: NonBlank
    preset: Literal["fast", "low", "medium", "high", "xhigh", "wide-research"]
    tool_choice: Literal["none"]
    stream: Literal[False] | None = None
    store: bool | None = None


# --- answers -------------------------------------------------------------------------------------


class PerplexityApi(Api):
    """Perplexity's REST API over the sandbox's library."""

    name = "perplexity"
    key = PERPLEXITY_KEY
    is_default = True
    data = data_files.table("perplexity")

    def no_object(self) -> RefusedError:
        """Return the error for a body that is not a JSON object."""
        return self.refusal(400, "validation failed: body is not a JSON object")

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

    @Route(SearchRequest, "POST /search")
    def search(self, request: SearchRequest) -> Json:
        """Answer a search."""
        hits = self.hits(request.query, request.filters, count=request.max_results)
        max_characters = _CHARACTERS_A_TOKEN * request.max_tokens_per_page
        results = [_result(hit, rank, max_characters) for rank, hit in enumerate(hits)]
        return {"results": results, "server_time": None}

    @Route(AgentRequest, "POST /v1/agent", "POST /v1/responses")
    def respond(self, request: AgentRequest) -> Json:
        """Answer a question from the numbered sources in the input."""
        text = _answer_text(request.input)
        content: Json = {"type": "output_text", "text": text, "annotations": []}
        message: Json = {"type": "message", "id": "msg_1", "role": "assistant"}
        message |= {"status": "completed", "content": [content]}
        return {
            "object": "response",
            "created_at": _TIME,
            "completed_at": _TIME + 1,
            "status": "completed",
            "model": "openai/gpt-5.1",
            "preset": request.preset,
            "error": None,
            "incomplete_details": None,
            "output": [message],
            "tools": [],
            "store": request.store is not False,
            "background": False,
            "service_tier": "default",
            "usage": _usage(digest.token_count(request.input), digest.token_count(text)),
        }


def _result(hit: PageHit, rank: int, max_characters: int) -> Json:
    """Return a hit. As in the real API, some have no snippet, and dates may be null."""
    page = hit.document
    passages = f"# {page.title}\n" + "\n...\n".join(hit.sentences(_PASSAGES))
    result: Json = {"title": page.title, "url": hit.url}
    result["snippet"] = "" if rank % 3 == 2 else digest.clip(passages, max_characters)  # noqa: PLR2004
    if page.published or rank % 2:
        result["date"] = page.published and page.published[:10]
    return result | {"last_updated": "2026-09-01"}


# --- the agent's answers -------------------------------------------------------------------------


class Source(NamedTuple):
    """One numbered source of an input."""

    number: str
    title: str
    text: str


def _answer_text(text: str) -> str:
    """Answer with the best sentence of each source that has one."""
    question = _QUESTION.search(text)
    terms = frozenset(query_terms(question[1] if question else text))
    sentences: list[str] = []
    for source in _numbered_sources(text):
        best, *_ = digest.best_sentences(source.text, terms, count=1) or [source.title]
        if terms & set(digest.words(f"{best} {source.title}")):
            sentences.append(f"{best.rstrip('.')} [{source.number}].")
    return " ".join(sentences[:_MAX_SENTENCES]) or _NO_ANSWER


def _numbered_sources(text: str) -> list[Source]:
    """Return the sources that an input lists as `[1] Title`, each with the lines below it."""
    _, *parts = _HEAD.split(text)
    rows = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return [Source(number, title, _prose(below)) for number, title, below in rows]


def _prose(block: str) -> str:
    """Remove URLs, headings and the marks between passages."""
    lines = [line.strip() for line in block.splitlines()]
    return "\n".join(line for line in lines if not line.startswith(_NOT_PROSE))


def _usage(tokens_in: int, tokens_out: int) -> Json:
    costs = {
        "input_cost": round(tokens_in * _INPUT_PRICE, 8),
        "output_cost": round(tokens_out * _OUTPUT_PRICE, 8),
        "tool_calls_cost": 0.0,
    }
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
        "tool_calls_details": {},
        "cost": {"currency": "USD", "total_cost": round(sum(costs.values()), 8), **costs},
    }
