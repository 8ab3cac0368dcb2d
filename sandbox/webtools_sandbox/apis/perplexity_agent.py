"""The agent of the imitated Perplexity: its request, and its answers with numbered sources.

An answer is made of sentences taken from the sources; the same input always gets the same one.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from webtools_sandbox import digest
from webtools_sandbox.apis.base import Json, JsonRequest
from webtools_sandbox.corpus import query_terms

_TIME = 1_790_000_000  # fixed, so that a request always gets the same bytes
_HEAD = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_QUESTION = re.compile(r"^Question:\s*(.+)$", re.MULTILINE)
_NOT_PROSE = ("http://", "https://", "#", "...", "```", ">")
_MAX_SENTENCES = 5
_INPUT_PRICE, _OUTPUT_PRICE, _SEARCH_PRICE = 0.25e-6, 2e-6, 0.0025
_NOTHING = "The sources do not answer the question."


_Model = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.:-]+$")]


class Part(JsonRequest):
    """A part of a message."""

    text: str = ""


class Message(JsonRequest):
    """A message of an input."""

    content: str | list[Part]


class AgentRequest(JsonRequest):
    """The body of a question to the agent."""

    input: str | list[Message] = ""
    model: _Model | None = None
    models: list[_Model] = Field(default=[], max_length=5)
    preset: Literal["fast", "low", "medium", "high", "xhigh", "wide-research"] | None = None
    effort: Literal["fast", "low", "medium", "high", "xhigh"] | None = None
    tools: list[Json] = Field(default=[])
    tool_choice: Literal["none", "auto", "required"] | Json | None = None
    stream: Literal[False] | None = None
    max_steps: int = Field(default=1, ge=1, le=100)
    max_output_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    store: bool | None = None

    @property
    def text(self) -> str:
        """The input as text."""
        if isinstance(self.input, str):
            return self.input
        contents = [item.content for item in self.input]
        parts = [[Part(text=item)] if isinstance(item, str) else item for item in contents]
        return "\n\n".join(part.text for item in parts for part in item)

    @property
    def chosen_model(self) -> str | None:
        """The name of the model."""
        return self.model or next(iter(self.models), None)

    @property
    def searches(self) -> bool:
        """Whether the web is searched: a preset has tools, a model alone has none."""
        named = [tool.get("type") for tool in self.tools]
        needs_search = bool(self.preset or self.effort) or "web_search" in named
        return self.tool_choice != "none" and needs_search

    @property
    def fault(self) -> str:
        """The error of an input that lacks a model or preset."""
        model = self.chosen_model
        if not self.text.strip():
            return "input cannot be empty"
        if model is None and not (self.preset or self.effort):
            return "one of model, models or preset is required"
        if model and model.startswith("anthropic/") and self.max_output_tokens is None:
            return f"max_output_tokens is required for {model}"
        return ""


class Source(NamedTuple):
    """One numbered source of an input."""

    number: int
    title: str
    text: str


def question_of(text: str) -> str:
    """Return the question in an input: its line `Question:`, else its first line."""
    match = _QUESTION.search(text)
    return match[1] if match else text.strip().split("\n", 1)[0]


def numbered_sources(text: str) -> list[Source]:
    """Return the sources that an input lists as `[1] Title`, each with the lines below it."""
    _, *parts = _HEAD.split(text)
    found = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return [Source(int(number), title, prose(below)) for number, title, below in found]


def prose(block: str) -> str:
    """Remove URLs, headings and the marks between passages."""
    lines = [line.strip() for line in block.splitlines()]
    return "\n".join(line for line in lines if not line.startswith(_NOT_PROSE))


def written(question: str, sources: list[Source]) -> str:
    """Answer with the best sentence of each source that has one."""
    terms = frozenset(query_terms(question))
    sentences: list[str] = []
    for source in sources:
        found = digest.best_sentences(source.text, terms, count=1) or [source.title]
        if terms & set(digest.words(f"{found[0]} {source.title}")):
            sentences.append(f"{found[0].rstrip('.')} [{source.number}].")
    return " ".join(sentences[:_MAX_SENTENCES]) or _NOTHING


def response(request: AgentRequest, text: str, found: list[Json]) -> Json:
    """Return the response. If it needs more tokens than allowed, it has no output."""
    tokens = digest.token_count(text)
    max_tokens = request.max_output_tokens
    cut = max_tokens is not None and tokens > max_tokens
    usage = _usage(
        digest.token_count(request.text), max_tokens if cut and max_tokens else tokens, found
    )
    return {
        "object": "response",
        "created_at": _TIME,
        "completed_at": None if cut else _TIME + 1,
        "status": "incomplete" if cut else "completed",
        "model": request.chosen_model or "openai/gpt-5.1",
        "preset": request.preset or request.effort,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": [] if cut else _output(request, text, found),
        "tools": [{"type": "web_search"}] if request.searches else [],
        "store": request.store is not False,
        "background": False,
        "service_tier": "default",
        "usage": usage,
    }


def _output(request: AgentRequest, text: str, found: list[Json]) -> list[Json]:
    content: Json = {"type": "output_text", "text": text, "annotations": []}
    message: Json = {"type": "message", "id": "msg_1", "role": "assistant"}
    message |= {"status": "completed", "content": [content]}
    if not found:
        return [message]
    queries = [question_of(request.text)]
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
