from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import NativeToolCallPart, NativeToolReturnPart, RunContext, TextPart
from pydantic_ai.capabilities import NativeOrLocalTool
from pydantic_ai.messages import ModelResponse
from pydantic_ai.native_tools import WebSearchTool, WebSearchUserLocation

from pydantic_ai_webtools._tools import Web, web_tool
from webtools import Session
from webtools.adapters import native_or_own, web_of
from webtools.native import NativeSearches, NativeTool, NotNative, Route, read_response
from webtools.tools import SEARCH

# The classes of pydantic-ai whose requests are known. A subclass may send others.
_APIS = {
    "OpenAIResponsesModel": "responses",
    "AnthropicModel": "messages",
    "GoogleModel": "generateContent",
}
_FILTERS = {"include_domains", "exclude_domains", "country"}  # of WebSearchTool


@dataclass(init=False)
class WebSearch(NativeOrLocalTool[Any]):
    """Web search, on the vendor's side or ours, decided before each request.

        Agent(model, capabilities=[WebSearch(web, include_domains=["python.org"])])

    The vendor searches if it serves all filters, the gate and the limits of the session; else the
    model gets `web_search`. What the vendor searched is added to the session.

    Args:
        web: As for `web_tool`.
        max_native: Maximum number of native searches in a response, where the vendor has a limit.
        native_overshoot: Use a vendor that can spend more than what is left of the money.
        filters: Arguments of `web_search` that the model neither sees nor changes.
    """

    def __init__(
        self,
        web: Web | None = None,
        *,
        max_native: int = 5,
        native_overshoot: bool = False,
        **filters: Any,
    ) -> None:
        self._find, self._filters = web_of(web), filters
        self._max_native, self._overshoot = max_native, native_overshoot
        tool = web_tool(SEARCH, self._find, **filters)
        super().__init__(native=self._native_tool, local=tool, id="web_search")

    def choose(self, context: RunContext[Any]) -> NativeTool | NotNative:
        """Return the vendor's tool, or the reason why `web_search` is used."""
        if unknown := sorted({name for name, value in self._filters.items() if value} - _FILTERS):
            return NotNative(f"pydantic-ai does not send {', '.join(unknown)} to a vendor")
        model = context.model
        base_url = getattr(model, "base_url", None) or ""
        settings = getattr(model, "settings", None) or {}
        effort = str(settings.get("openai_reasoning_effort") or settings.get("thinking") or "")
        api = _APIS.get(type(model).__name__, "")
        return native_or_own(
            self._find(context),
            Route(base_url, api, model.model_name, effort, has_functions=True),
            self._filters,
            max_searches=self._max_native,
            overshoot=self._overshoot,
        )

    def _native_tool(self, context: RunContext[Any]) -> WebSearchTool | None:
        choice = self.choose(context)
        session = self._find(context)
        if isinstance(session, Session):
            notes = (
                [f"web_search was used: {choice.reason}"]
                if isinstance(choice, NotNative)
                else choice.notes
            )
            session.record_native(vendor=str(context.model.system), notes=notes)
        if isinstance(choice, NotNative):
            return None
        domains = choice.tool.get("filters") or choice.tool
        place = choice.tool.get("user_location") or {}
        country = place.get("country")
        return WebSearchTool(
            allowed_domains=domains.get("allowed_domains"),
            blocked_domains=domains.get("blocked_domains"),
            max_uses=choice.max_searches,
            user_location=WebSearchUserLocation(country=country) if country else None,
        )

    def _native_unique_id(self) -> str:
        return WebSearchTool.kind

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: Any,  # noqa: ARG002
        response: ModelResponse,
    ) -> ModelResponse:
        """Add what the vendor searched to the session."""
        session, found = self._find(ctx), read_model_response(response)
        if isinstance(session, Session) and found is not None:
            domains = [
                self._filters.get(f"{word}_domains") or () for word in ("include", "exclude")
            ]
            session.record_native(**found.within(*domains).record())
        return response


def read_model_response(response: ModelResponse) -> NativeSearches | None:
    """Return what a vendor searched for a response, or None if it did not search."""
    vendor = (response.provider_name or "").partition("-")[0]
    parts = [part for part in response.parts if isinstance(part, NativeToolCallPart)]
    calls = [part for part in parts if part.tool_name == WebSearchTool.kind]
    readers = {"openai": _openai, "anthropic": _anthropic, "google": _google}
    results = {
        part.tool_call_id: part.content
        for part in response.parts
        if isinstance(part, NativeToolReturnPart) and part.tool_name == WebSearchTool.kind
    }
    if vendor not in readers or not (calls or results):
        return None
    raw = readers[vendor](calls, results, response)
    return read_response(vendor, raw, model=response.model_name or "")


def _cited(response: ModelResponse) -> list[tuple[str, Any]]:
    """Return the texts of the answer with the citations as the vendor sent them."""
    texts = [part for part in response.parts if isinstance(part, TextPart)]
    return [(part.content, (part.provider_details or {}).get("citations")) for part in texts]


def _openai(calls: Any, results: dict[str, Any], response: ModelResponse) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    for call in calls:
        result = results.get(call.tool_call_id) or {}
        action = {**call.args_as_dict(), "sources": result.get("sources")}
        status = result.get("status")
        output.append({"type": "web_search_call", "action": action, "status": status})
    for text, notes in _cited(response):
        output.append({"type": "output_text", "text": text, "annotations": notes})
    return {"output": output}


def _anthropic(calls: Any, results: dict[str, Any], response: ModelResponse) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for call in calls:
        block = {"type": "server_tool_use", "name": "web_search", "id": call.tool_call_id}
        content.append({**block, "input": call.args_as_dict()})
    for call_id, result in results.items():
        kind = "web_search_tool_result"
        content.append({"type": kind, "tool_use_id": call_id, "content": result})
    for text, citations in _cited(response):
        content.append({"type": "text", "text": text, "citations": citations})
    count = response.usage.details.get("web_search_requests")
    usage = {"server_tool_use": {"web_search_requests": count}}
    return {"content": content, "usage": usage}


def _google(calls: Any, results: dict[str, Any], response: ModelResponse) -> dict[str, Any]:
    queries = [query for call in calls for query in call.args_as_dict().get("queries") or ()]
    pages = [page for result in results.values() for page in result or ()]
    grounding = {"web_search_queries": queries, "grounding_chunks": [{"web": p} for p in pages]}
    parts = [{"text": text} for text, _ in _cited(response)]
    return {"candidates": [{"content": {"parts": parts}, "grounding_metadata": grounding}]}
