"""Stand-in for Gemini's `generateContent` (facts of 2026-11-26)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webtools_sandbox.library import NO_FILTERS, Filters, moment
from webtools_sandbox.models.base import ModelVendor, objects
from webtools_sandbox.models.events import google_events
from webtools_sandbox.models.turn import Json, RefusedError, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webtools_sandbox.models.turn import SearchFault, Step
    from webtools_sandbox.wire import Call

_PATH = re.compile(r"/v1(?:beta)?/models/(?P<model>[\w.-]+):(?P<method>\w+)")
_REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"


class GoogleVendor(ModelVendor):
    """`POST /google/v1beta/models/MODEL:generateContent` and `:streamGenerateContent`."""

    name = "google"
    has_event_names = False

    def sent_key(self, call: Call) -> str:
        """Return the key of a request."""
        return call.headers.get("x-goog-api-key") or call.query.get("key", "")

    def streams(self, body: Json, call: Call) -> bool:
        """Return whether the response is a stream."""
        return "streamGenerateContent" in call.path

    def read(self, body: Json, call: Call) -> Turn:
        """Read a request."""
        match = _PATH.fullmatch(call.path)
        if match is None:
            raise RefusedError(f"{call.path} is not found.", status=404)
        tools = objects(body.get("tools"))
        search = next((tool["googleSearch"] for tool in tools if "googleSearch" in tool), None)
        functions = [
            str(function.get("name"))
            for tool in tools
            for function in objects(tool.get("functionDeclarations"))
        ]
        config = body.get("toolConfig") or {}
        if search is not None and functions and not config.get("includeServerSideToolInvocations"):
            raise RefusedError("Built-in tools and function calling cannot be combined.")
        contents = objects(body.get("contents"))
        parts = [(item, part) for item in contents for part in objects(item.get("parts"))]
        texts = [
            index
            for index, (item, part) in enumerate(parts)
            if part.get("text") and item.get("role") in {None, "user"}
        ]
        if not texts:
            raise RefusedError("contents are required")
        outputs = [
            str(part["functionResponse"].get("response"))
            for _, part in parts[texts[-1] :]
            if "functionResponse" in part
        ]
        return Turn(
            str(parts[texts[-1]][1]["text"]),
            tuple(outputs),
            None if search is None else _filters(search),
            tuple(functions),
        )

    def write(
        self, step: Step, turn: Turn, fault: SearchFault | None, body: Json, call: Call
    ) -> Json:
        """Write the response."""
        match = _PATH.fullmatch(call.path)
        part: Json = {"text": step.text}
        if step.call:
            part = {"functionCall": {"name": step.call, "args": step.arguments}}
        content = {"role": "model", "parts": [part]}
        candidate: Json = {"content": content, "finishReason": "STOP", "index": 0}
        if step.has_searched and fault != "error":
            candidate["groundingMetadata"] = _grounding(step, turn)
        return {
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": 10,
                "candidatesTokenCount": 10,
                "totalTokenCount": 20,
            },
            "modelVersion": match["model"] if match else "",
            "responseId": call.number[:12],
        }

    def events(self, response: Json) -> Iterator[Json]:
        """Yield the chunks of a stream."""
        return google_events(response)

    def error(self, status: int, message: str, param: str) -> Json:
        """Return the body of an error."""
        names = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
        name = names.get(status, "INVALID_ARGUMENT")
        return {"error": {"code": status, "message": message, "status": name}}


def _filters(tool: Json) -> Filters:
    bounds = tool.get("timeRangeFilter") or {}
    # The API accepts both spellings of its fields.
    start, end = (
        bounds.get(f"{name}Time") or bounds.get(f"{name}_time") for name in ("start", "end")
    )
    if not (start or end):
        return NO_FILTERS
    if not (start and end):
        raise RefusedError("time_range_filter needs start_time and end_time.")
    return Filters(start=moment(start), end=moment(end))


def _grounding(step: Step, turn: Turn) -> Json:
    """Return the sources as redirects; offsets count bytes."""
    chunks = [
        {"web": {"uri": f"{_REDIRECT}{index}", "title": urlsplit(source.url).hostname}}
        for index, source in enumerate(step.sources)
    ]
    segment = {"endIndex": len(step.text.encode()), "text": step.text}
    supports = [{"segment": segment, "groundingChunkIndices": [0]}] if chunks else []
    return {
        "webSearchQueries": [turn.question],
        "groundingChunks": chunks,
        "groundingSupports": supports,
        "searchEntryPoint": {"renderedContent": "<div>Google</div>"},
    }
