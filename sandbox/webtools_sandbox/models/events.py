"""The events in which each vendor streams a response."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]


def openai_events(response: Json) -> Iterator[Json]:
    """Stream a response of the Responses API."""
    for number, event in enumerate(_openai_events(response)):
        yield {**event, "sequence_number": number}


def _openai_events(response: Json) -> Iterator[Json]:
    started = {**response, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": started}
    yield {"type": "response.in_progress", "response": started}
    for index, item in enumerate(response["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        empty: Json = {"content": []} if item["type"] == "message" else {}
        added = {**item, **empty, "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": index, "item": added}
        if item["type"] == "web_search_call":
            for state in ("in_progress", "searching", "completed"):
                yield {"type": f"response.web_search_call.{state}", **place}
        elif item["type"] == "function_call":
            done = "response.function_call_arguments.done"
            yield {"type": done, **place, "arguments": item["arguments"], "name": item["name"]}
        else:
            yield from _text_events(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _text_events(item: Json, place: Json) -> Iterator[Json]:
    for index, part in enumerate(item["content"]):
        here = {**place, "content_index": index}
        empty = {**part, "text": "", "annotations": []}
        yield {"type": "response.content_part.added", **here, "part": empty}
        for text in halves(part["text"]):
            delta = {"delta": text, "logprobs": []}
            yield {"type": "response.output_text.delta", **here, **delta}
        for note_index, note in enumerate(part["annotations"]):
            note_place = {**here, "annotation_index": note_index, "annotation": note}
            yield {"type": "response.output_text.annotation.added", **note_place}
        done = {"text": part["text"], "logprobs": []}
        yield {"type": "response.output_text.done", **here, **done}
        yield {"type": "response.content_part.done", **here, "part": part}


def anthropic_events(message: Json) -> Iterator[Json]:
    """Stream a message; the number of searches comes at the end."""
    usage = {"input_tokens": message["usage"]["input_tokens"], "output_tokens": 1}
    start = {**message, "content": [], "stop_reason": None, "usage": usage}
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _block_events(index: int, block: Json) -> Iterator[Json]:
    start, deltas = block, list[Json]()
    if block["type"] == "text":
        start = {"type": "text", "text": ""}
        cited = block.get("citations") or []
        if cited:
            start["citations"] = []
        deltas = [{"type": "citations_delta", "citation": citation} for citation in cited]
        deltas += [{"type": "text_delta", "text": text} for text in halves(block["text"])]
    elif block["type"] in {"server_tool_use", "tool_use"}:
        start = {**block, "input": {}}
        parts = halves(json.dumps(block["input"]))
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def google_events(response: Json) -> Iterator[Json]:
    """Stream the chunks of a response; the last one has the sources."""
    [candidate] = response["candidates"]
    rest = {key: value for key, value in response.items() if key != "candidates"}
    *first, last = [
        {**part, **({"text": text} if text is not None else {})}
        for part in candidate["content"]["parts"]
        for text in (halves(part["text"]) if "text" in part else [None])
    ]
    for part in first:
        content = {"role": "model", "parts": [part]}
        yield {**rest, "candidates": [{"content": content, "index": 0}]}
    content = {"role": "model", "parts": [last]}
    yield {**rest, "candidates": [{**candidate, "content": content}]}


def halves(text: str) -> list[str]:
    """Split a text in two, so that clients have to join it."""
    middle = len(text) // 2
    return [part for part in (text[:middle], text[middle:]) if part] or [""]


EVENTS = {"openai": openai_events, "anthropic": anthropic_events, "google": google_events}
