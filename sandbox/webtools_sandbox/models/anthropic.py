"""Stand-in for Anthropic's Messages API (facts of 2026-11-26)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from webtools_sandbox.library import Filters
from webtools_sandbox.models.base import ModelVendor, objects, texts
from webtools_sandbox.models.events import anthropic_events
from webtools_sandbox.models.turn import Json, RefusedError, Turn, decide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webtools_sandbox.models.turn import SearchFault, Step
    from webtools_sandbox.wire import Call

_SEARCH, _RESULT = "web_search", "web_search_tool_result"


class AnthropicVendor(ModelVendor):
    """`POST /anthropic/v1/messages`."""

    name = "anthropic"
    search_faults = frozenset({"error", "outside", "pause", "later", "uncounted"})

    def read(self, body: Json, call: Call) -> Turn:
        """Read a request."""
        messages = objects(body.get("messages"))
        if not messages:
            raise RefusedError("messages: Field required")
        tools = objects(body.get("tools"))
        counts = Counter(tool.get("name") for tool in tools)
        if repeated := [name for name, count in counts.items() if count > 1]:
            raise RefusedError(f"tools: Tool names must be unique: {repeated[0]}")
        search = next((tool for tool in tools if str(tool.get("type")).startswith(_SEARCH)), None)
        blocks = [block for message in messages for block in objects(message.get("content"))]
        _check_results(blocks)
        texts_of_user = [i for i, message in enumerate(messages) if _text(message)[0] == "user"]
        last = max(texts_of_user, default=0)
        outputs = [
            texts(block.get("content"))
            for message in messages[last:]
            for block in objects(message.get("content"))
            if block.get("type") == "tool_result"
        ]
        return Turn(
            _text(messages[last])[1],
            tuple(outputs),
            None if search is None else _filters(search),
            tuple(str(tool.get("name")) for tool in tools if "input_schema" in tool),
            messages[-1].get("role") == "assistant",
            _pending(blocks),
        )

    def write(
        self, step: Step, turn: Turn, fault: SearchFault | None, body: Json, call: Call
    ) -> Json:
        """Write the response."""
        number = call.number[:12]
        if fault == "later" and turn.functions and not turn.outputs:
            content, reason, count = _call_without_result(turn, number), "tool_use", 0
        elif turn.pending:
            step = decide(replace(turn, outputs=()), self.library, None)
            content, reason, count = [_result(step, turn.pending), _answer(step)], "end_turn", 1
        elif step.has_searched:
            content, reason, count = _with_search(step, turn, fault, number)
        elif step.call:
            call_block = {"type": "tool_use", "id": f"toolu_{number}", "name": step.call}
            content, reason, count = [{**call_block, "input": step.arguments}], "tool_use", 0
        else:
            content, reason, count = [{"type": "text", "text": step.text}], "end_turn", 0
        usage: Json = {"input_tokens": 10, "output_tokens": 10}
        if fault != "uncounted":
            counts = {"web_search_requests": count, "web_fetch_requests": 0}
            usage["server_tool_use"] = counts
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }

    def events(self, response: Json) -> Iterator[Json]:
        """Yield the events of a stream."""
        return anthropic_events(response)

    def error(self, status: int, message: str, param: str) -> Json:
        """Return the body of an error."""
        kinds = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
        kind = kinds.get(status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


def _text(message: Json) -> tuple[str, str]:
    """Return the role of a message, if it has text, and the text."""
    text = texts(message.get("content"))
    return (str(message.get("role")) if text else "", text)


def _check_results(blocks: list[Json]) -> None:
    for block in blocks:
        for result in objects(block.get("content")):
            if result.get("type") == "web_search_result" and not result.get("encrypted_content"):
                raise RefusedError("web_search_result.encrypted_content: Field required")


def _filters(tool: Json) -> Filters:
    allowed, blocked = tool.get("allowed_domains") or (), tool.get("blocked_domains") or ()
    # The model searches once for a request, so it keeps to every limit that the API accepts.
    if (limit := tool.get("max_uses")) is not None and limit < 1:
        raise RefusedError("tools.0.max_uses: Input should be greater than 0")
    if allowed and blocked:
        raise RefusedError("Only one of allowed_domains and blocked_domains can be used.")
    return Filters(include_domains=tuple(allowed), exclude_domains=tuple(blocked))


def _pending(blocks: list[Json]) -> str:
    done = {block.get("tool_use_id") for block in blocks if block.get("type") == _RESULT}
    calls = (block.get("id") for block in blocks if block.get("type") == "server_tool_use")
    return next((str(call) for call in calls if call not in done), "")


def _server_call(turn: Turn, call_id: str) -> Json:
    call = {"type": "server_tool_use", "id": call_id, "name": _SEARCH}
    return {**call, "input": {"query": turn.question}}


def _call_without_result(turn: Turn, number: str) -> list[Json]:
    function = {"type": "tool_use", "id": f"toolu_{number}", "name": turn.functions[0]}
    arguments = {"urls": ["https://docs.python.org/3/library/json.html"]}
    return [_server_call(turn, f"srvtoolu_{number}"), {**function, "input": arguments}]


def _with_search(
    step: Step, turn: Turn, fault: SearchFault | None, number: str
) -> tuple[list[Json], str, int]:
    call_id = f"srvtoolu_{number}"
    call = _server_call(turn, call_id)
    if fault == "error":
        error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
        result = {"type": _RESULT, "tool_use_id": call_id, "content": error}
        return [call, result, {"type": "text", "text": "The search failed."}], "end_turn", 0
    if fault == "pause":
        looking = {"type": "text", "text": "Looking."}
        return [looking, call, _result(step, call_id)], "pause_turn", 1
    return [call, _result(step, call_id), _answer(step)], "end_turn", 1


def _result(step: Step, call_id: str) -> Json:
    results = [
        {
            "type": "web_search_result",
            "url": source.url,
            "title": source.title,
            "encrypted_content": f"enc-{index}",
            "page_age": None,
        }
        for index, source in enumerate(step.sources)
    ]
    return {"type": _RESULT, "tool_use_id": call_id, "content": results}


def _answer(step: Step) -> Json:
    citations = [
        {
            "type": "web_search_result_location",
            "url": source.url,
            "title": source.title,
            "encrypted_index": "enc-0",
            "cited_text": source.sentence[:150],
        }
        for source in step.sources[:1]
    ]
    return {"type": "text", "text": step.text, "citations": citations or None}
