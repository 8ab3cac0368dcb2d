"""Writes the answers of Perplexity's agent: sentences taken from the sources, with their numbers.

The same input always gets the same answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webtools_sandbox import digest
from webtools_sandbox.corpus import query_terms

if TYPE_CHECKING:
    from webtools_sandbox._perplexity_request import AgentRequest

Json = dict[str, Any]

_TIME = 1_790_000_000  # fixed, so that a request always gets the same bytes
_HEAD = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_QUESTION = re.compile(r"^Question:\s*(.+)$", re.MULTILINE)
_NOT_PROSE = ("http://", "https://", "#", "...")
_MOST_SENTENCES = 5
_INPUT_PRICE, _OUTPUT_PRICE, _SEARCH_PRICE = 0.25e-6, 2e-6, 0.0025
_NOTHING = "The sources do not answer the question."


@dataclass(frozen=True)
class Source:
    """One numbered source of an input."""

    number: int
    title: str
    text: str


def question_of(text: str) -> str:
    """Return what an input asks: its line `Question:`, or else its first line."""
    found = _QUESTION.search(text)
    return found[1] if found else text.strip().split("\n", 1)[0]


def numbered_sources(text: str) -> list[Source]:
    """Return the sources that an input lists as `[1] Title`, each with the lines below it."""
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads), len(text)][1:]
    return [
        Source(int(head[1]), head[2], prose(text[head.end() : end]))
        for head, end in zip(heads, ends, strict=bool(heads))
    ]


def prose(block: str) -> str:
    """Leave out addresses, headings and the marks between passages."""
    lines = [line.strip() for line in block.splitlines()]
    return "\n".join(line for line in lines if not line.startswith(_NOT_PROSE))


def written(question: str, sources: list[Source]) -> str:
    """Answer with the sentence of each source that fits best; a source without one is left out."""
    terms = frozenset(query_terms(question))
    sentences: list[str] = []
    for source in sources:
        found = digest.best_sentences(source.text, terms, count=1) or [source.title]
        if terms & set(digest.words(f"{found[0]} {source.title}")):
            sentences.append(f"{found[0].rstrip('.')} [{source.number}].")
    return " ".join(sentences[:_MOST_SENTENCES]) or _NOTHING


def response(request: AgentRequest, number: str, text: str, found: list[Json]) -> Json:
    """Return the whole answer; one that needs more tokens than allowed has no output at all."""
    tokens = digest.token_count(text)
    most = request.max_output_tokens
    cut = most is not None and tokens > most
    usage = _usage(digest.token_count(request.input), most if cut and most else tokens, found)
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": _TIME,
        "completed_at": None if cut else _TIME + 1,
        "status": "incomplete" if cut else "completed",
        "model": request.model,
        "preset": request.preset,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": [] if cut else _output(request, number, text, found),
        "tools": [{"type": "web_search"}] if request.searches else [],
        "store": request.store,
        "background": False,
        "service_tier": "default",
        "usage": usage,
    }


def _output(request: AgentRequest, number: str, text: str, found: list[Json]) -> list[Json]:
    content: Json = {"type": "output_text", "text": text, "annotations": []}
    message: Json = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
    message |= {"status": "completed", "content": [content]}
    if not found:
        return [message]
    queries = [question_of(request.input)]
    return [{"type": "search_results", "queries": queries, "results": found}, message]


def _usage(tokens_in: int, tokens_out: int, found: list[Json]) -> Json:
    tools = {"search_web": {"invocation": 1, "cost_usd": _SEARCH_PRICE}} if found else {}
    costs = {
        "input_cost": round(tokens_in * _INPUT_PRICE, 8),
        "output_cost": round(tokens_out * _OUTPUT_PRICE, 8),
        "tool_calls_cost": _SEARCH_PRICE if found else 0.0,
    }
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
        "tool_calls_details": tools,
        "cost": {"currency": "USD", "total_cost": round(sum(costs.values()), 8), **costs},
    }
