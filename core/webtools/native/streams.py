"""Read what a vendor searched from the events of a stream, which may be cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from webtools.native.blocks import Block, parse_json
from webtools.native.reading import read_response
from webtools.native.records import NativeSearches

Json: TypeAlias = dict[str, Any]
CUT = "cut"


def read_stream(vendor: str, events: Iterable[Any], *, model: str = "") -> NativeSearches:
    """Read what a vendor searched from the events of a stream.

    If the stream was cut off, `stop` is `cut`, and the received events are read.

    Args:
        vendor: One of `VENDORS`.
        events: The events, as decoded JSON or as objects of the vendor's SDK.
        model: Name of the model, if the events lack it.

    Raises:
        ValueError: The vendor is unknown.
    """
    join = _JOINERS.get(vendor, _join_responses)
    return read_response(vendor, join([Block(event) for event in events]), model=model)


def _join_responses(events: Sequence[Block]) -> Json:
    """Return the final response, or the items that came before the stream was cut off."""
    items: dict[int, Json] = {}
    error, model = None, ""
    for event in events:
        model = model or event.block("response").text("model")
        kind, index = event.line("type"), event.index("output_index") or 0
        if kind in {"response.completed", "response.incomplete", "response.failed"}:
            return _plain(event.get("response"))
        if kind == "error":
            error = event.get("error") or event.plain()
        elif "item" in event:
            items[index] = _plain(event.get("item"))
        elif kind == "response.output_text.delta":
            _output_text(items, index)["text"] += event.text("delta")
        elif kind == "response.output_text.annotation.added":
            _output_text(items, index)["annotations"].append(event.get("annotation"))
        elif kind.startswith("response.web_search_call."):
            call = items.setdefault(index, {"type": "web_search_call"})
            call["status"] = kind.rpartition(".")[2]
    return {"model": model, "status": CUT, "output": list(items.values()), "error": error}


def _output_text(items: dict[int, Json], index: int) -> Json:
    """Return the text of a message that is not finished."""
    message = items.setdefault(index, {"type": "message"})
    if not message.get("content"):
        message["content"] = [{"type": "output_text", "text": "", "annotations": []}]
    text: Json = message["content"][0]
    return text


def _join_message(events: Sequence[Block]) -> Json:
    message: Json = {"stop_reason": CUT}
    blocks: dict[int, Json] = {}
    inputs: dict[int, str] = {}
    for event in events:
        kind, index = event.line("type"), event.index("index") or 0
        delta = event.block("delta")
        if kind == "message_start":
            message = {**_plain(event.get("message")), "stop_reason": CUT}
        elif kind == "content_block_start":
            blocks[index] = _plain(event.get("content_block"))
        elif kind == "content_block_delta":
            block = blocks.setdefault(index, {"type": "text"})
            block["text"] = f"{block.get('text') or ''}{delta.text('text')}"
            inputs[index] = inputs.get(index, "") + delta.text("partial_json")
            if "citation" in delta:
                block["citations"] = [*(block.get("citations") or ()), delta.get("citation")]
        elif kind == "message_delta":
            message["stop_reason"] = delta.text("stop_reason")
            message["usage"] = {**_plain(message.get("usage")), **_plain(event.get("usage"))}
        elif kind == "error":
            message["error"] = event.get("error")
    for index, text in inputs.items():
        if text:
            blocks[index]["input"] = parse_json(text)
    return {**message, "content": list(blocks.values())}


def _join_content(events: Sequence[Block]) -> Json:
    """Join the chunks; offsets of the last one count bytes of the whole text."""
    response: Json = {}
    candidates: dict[int, Json] = {}
    for event in events:
        response |= {key: value for key, value in event.plain().items() if value is not None}
        for candidate in event.blocks("candidates"):
            index = candidate.index("index") or 0
            joined = candidates.setdefault(index, {"text": "", "finish_reason": CUT})
            for part in candidate.block("content").blocks("parts"):
                joined["text"] += "" if part.get("thought") is True else part.text("text")
            for name in ("grounding_metadata", "url_context_metadata", "finish_reason"):
                joined[name] = candidate.get(name) or joined.get(name)
    for joined in candidates.values():
        joined["content"] = {"parts": [{"text": joined["text"]}]}
    return {**response, "candidates": list(candidates.values()) or [{"finish_reason": CUT}]}


def _join_completion(events: Sequence[Block]) -> Json:
    message: Json = {"content": "", "executed_tools": []}
    reason, error = CUT, None
    for event in events:
        error = event.get("error") or error
        for choice in event.blocks("choices"):
            delta = choice.block("delta")
            message["content"] += delta.text("content")
            message["executed_tools"] += delta.values("executed_tools")
            reason = choice.line("finish_reason") or reason
    return {"choices": [{"message": message, "finish_reason": reason}], "error": error}


def _plain(value: Any) -> Json:
    return Block(value).plain()


_JOINERS: Mapping[str, Callable[[Sequence[Block]], Json]] = MappingProxyType(
    {"anthropic": _join_message, "google": _join_content, "groq": _join_completion}
)
