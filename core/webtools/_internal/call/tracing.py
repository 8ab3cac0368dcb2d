"""The span of a tool call, by OpenTelemetry's conventions for generative AI (`execute_tool`)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from webtools._internal.http.watching import end_span
from webtools._internal.pipeline.tool_call import Call

_CONTEXT = "opentelemetry.context"
_ATTRIBUTES = ("provider_used", "cost_usd", "cache_hit", "result_count", "degraded", "confidence")


class ToolSpan:
    """The current span until it ends, so that requests become its children."""

    def __init__(self, tracer: Any, name: str, attributes: Mapping[str, Any]) -> None:
        self._span = tracer.start_span(name, attributes=attributes)
        api: Any = sys.modules["opentelemetry.trace"]
        self._context: Any = sys.modules[_CONTEXT]
        self._token = self._context.attach(api.set_span_in_context(self._span))

    def end(self, facts: Mapping[str, Any]) -> None:
        """End the span with the facts of the call. A call without facts was canceled."""
        self._context.detach(self._token)
        for name in _ATTRIBUTES:
            if facts.get(name) is not None:
                self._span.set_attribute(f"webtools.{name}", facts[name])
        end_span(self._span, facts.get("error") if facts else "cancelled")


def begin_span(tracer: Any, tool: str, arguments: BaseModel, call: Call) -> ToolSpan:
    """Begin the span of a call. It has the arguments only if the log has them, too."""
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "function",
    }
    if call.id:
        attributes["webtools.call_id"] = call.id
    if call.accounts.config.log.queries == "on":
        attributes["gen_ai.tool.call.arguments"] = arguments.model_dump_json(exclude_unset=True)
    return ToolSpan(tracer, f"execute_tool {tool}", attributes)
