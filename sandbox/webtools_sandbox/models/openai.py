"""Stand-in for OpenAI's Responses API (facts of 2026-11-26)."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from webtools_sandbox.library import Filters
from webtools_sandbox.models.base import ModelVendor, objects, texts
from webtools_sandbox.models.events import openai_events
from webtools_sandbox.models.turn import Json, RefusedError, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webtools_sandbox.models.turn import SearchFault, Step
    from webtools_sandbox.wire import Call

_SEARCHES = ("web_search", "web_search_2025_08_26")
_SOURCES = "web_search_call.action.sources"


class OpenAIVendor(ModelVendor):
    """`POST /openai/v1/responses`."""

    name = "openai"
    search_faults = frozenset({"error", "outside", "uncounted"})

    def read(self, body: Json, call: Call) -> Turn:
        """Read a request."""
        request_input = body.get("input")
        items = objects(request_input) or [{"role": "user", "content": request_input}]
        for index, item in enumerate(items):
            _check_item(index, item)
        last = max((i for i, item in enumerate(items) if item.get("role") == "user"), default=0)
        outputs = [
            texts(item.get("output"))
            for item in items[last:]
            if item.get("type") == "function_call_output"
        ]
        tools = objects(body.get("tools"))
        search = next((tool for tool in tools if tool.get("type") in _SEARCHES), None)
        return Turn(
            texts(items[last].get("content")),
            tuple(outputs),
            None if search is None else _filters(search),
            tuple(str(tool.get("name")) for tool in tools if tool.get("type") == "function"),
        )

    def write(
        self, step: Step, turn: Turn, fault: SearchFault | None, body: Json, call: Call
    ) -> Json:
        """Write the response."""
        number = call.number[:12]
        output: list[Json] = []
        if step.has_searched:
            output.append(_search_call(step, turn, fault, body, number))
        if step.call:
            arguments = json.dumps(step.arguments, ensure_ascii=False)
            ids = {"id": f"fc_{number}", "call_id": f"call_{number}"}
            output.append(
                {"type": "function_call", **ids, "name": step.call, "arguments": arguments}
            )
        else:
            output.append(_message(step, fault, number))
        for item in output:
            item.setdefault("status", "completed")
        usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
        details = {"input_tokens_details": {"cached_tokens": 0}}
        details["output_tokens_details"] = {"reasoning_tokens": 0}
        is_counted = step.has_searched and fault != "uncounted"
        searches = {"web_search": {"num_requests": int(fault != "error")}} if is_counted else {}
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": int(time.time()),
            "status": "completed",
            "model": body.get("model"),
            "output": output,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "top_p": 1.0,
            "tool_choice": "auto",
            "tools": objects(body.get("tools")),
            "usage": usage | details,
            **({"tool_usage": searches} if searches else {}),
        }

    def events(self, response: Json) -> Iterator[Json]:
        """Yield the events of a stream."""
        return openai_events(response)

    def error(self, status: int, message: str, param: str) -> Json:
        """Return the body of an error."""
        kind = "rate_limit_exceeded" if status == 429 else "invalid_request_error"  # noqa: PLR2004
        code = "unknown_parameter" if param else None
        return {"error": {"message": message, "type": kind, "param": param or None, "code": code}}


def _check_item(index: int, item: Json) -> None:
    action = item.get("action") if item.get("type") == "web_search_call" else None
    if not isinstance(action, dict):
        return
    for name in ("sources", "query"):
        if name in action and (name == "sources" or action[name] is None):
            param = f"input[{index}].action.{name}"
            raise RefusedError(f"Unknown parameter: '{param}'.", param)


def _filters(tool: Json) -> Filters:
    filters = tool.get("filters") or {}
    if unknown := sorted({*filters} - {"allowed_domains"}):
        raise RefusedError(f"Unknown parameter: 'tools[0].filters.{unknown[0]}'.", unknown[0])
    return Filters(include_domains=tuple(filters.get("allowed_domains") or ()))


def _search_call(
    step: Step, turn: Turn, fault: SearchFault | None, body: Json, number: str
) -> Json:
    action: Json = {"type": "search", "query": turn.question, "queries": [turn.question]}
    if _SOURCES in (body.get("include") or ()):
        action["sources"] = [{"type": "url", "url": source.url} for source in step.sources]
    call = {"type": "web_search_call", "id": f"ws_{number}", "action": action}
    return {**call, "status": "failed"} if fault == "error" else call


def _message(step: Step, fault: SearchFault | None, number: str) -> Json:
    notes: list[Json] = []
    text = step.text
    if step.sources and fault != "error":
        source = step.sources[0]
        link = f"([{source.title}]({source.url}))"
        url = f"{source.url}?utm_source=openai"
        span = {"start_index": len(text) + 1, "end_index": len(text) + 1 + len(link)}
        notes = [{"type": "url_citation", "url": url, "title": source.title, **span}]
        text = f"{text} {link}"
    content = [{"type": "output_text", "text": text, "annotations": notes, "logprobs": []}]
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
