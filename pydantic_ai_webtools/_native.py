from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai import NativeToolCallPart, NativeToolReturnPart, RunContext, TextPart
from pydantic_ai.capabilities import NativeOrLocalTool
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import (
    CompletedStreamedResponse,
    Model,
    ModelRequestContext,
    ModelRequestParameters,
    StreamedResponse,
)
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.native_tools import WebFetchTool, WebSearchTool, WebSearchUserLocation
from pydantic_ai.settings import ModelSettings

from pydantic_ai_webtools._tools import Web, web_tool
from webtools import InputError, Session
from webtools.adapters import native_or_own, web_of
from webtools.native import NativeSearches, NativeTool, NotNative, Route, read_response
from webtools.native.blocks import Block
from webtools.tools import SEARCH

# The classes of pydantic-ai whose requests are known. A subclass may send others.
_APIS = {
    "OpenAIResponsesModel": "responses",
    "AnthropicModel": "messages",
    "GoogleModel": "generateContent",
}
_OTHER_REQUEST = ("extra_body", "openai_native_tools", "tool_choice")  # settings
_FILTERS = {"include_domains", "exclude_domains", "country"}  # of WebSearchTool


@dataclass(init=False)
class WebSearch(NativeOrLocalTool[Any]):
    """Web search by the vendor or with `web_search`, decided for each request and its model.

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
        if max_native < 1:
            raise InputError(f"Invalid max_native {max_native!r}: expected 1 or more.")
        self._find, self._filters = web_of(web), SEARCH.with_fixed(filters).fixed
        self._max_native, self._overshoot = max_native, native_overshoot
        self._context: RunContext[Any] | None = None  # of the request that is made
        self._choice: NativeTool | None = None  # for it
        tool = web_tool(SEARCH, self._find, **filters)
        super().__init__(native=WebSearchTool(), local=tool, id="web_search")

    def choose(self, context: RunContext[Any]) -> NativeTool | NotNative:
        """Return the vendor's tool, or the reason why `web_search` is used."""
        if unknown := sorted({name for name, value in self._filters.items() if value} - _FILTERS):
            return NotNative(f"pydantic-ai does not send {', '.join(unknown)} to a vendor")
        model = context.model
        settings = {
            **(getattr(model, "settings", None) or {}),
            **(context.model_settings or {}),
        }
        for name in _OTHER_REQUEST:
            if settings.get(name) not in (None, "auto", {}, []):
                return NotNative(f"the request has its own {name}")
        effort = str(settings.get("openai_reasoning_effort") or settings.get("thinking") or "")
        route = Route(
            base_url=getattr(model, "base_url", None) or "",
            api=_APIS.get(type(model).__name__, ""),
            model=model.model_name,
            reasoning_effort=effort,
            has_functions=True,
        )
        return native_or_own(
            self._find(context),
            route,
            self._filters,
            max_searches=self._max_native,
            overshoot=self._overshoot,
        )

    # --- hooks of pydantic-ai ------------------------------------------------------------------

    def get_native_tools(self) -> Sequence[Any]:
        """Return no tool: `prepare_model_request` adds the one for the model of the request."""
        return []

    async def for_run(self, ctx: RunContext[Any]) -> WebSearch:  # noqa: ARG002
        """Return a copy, which has the context of one run."""
        return copy.copy(self)

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Add the vendor's search to a request, if the model that gets the request serves all."""
        model, settings = request_context.model, request_context.model_settings
        self._context = replace(ctx, model=model, model_settings=settings)
        # In a thread, because the settings, the store or the tape can be read and written.
        choice = await asyncio.to_thread(self._choose_and_note, self._context)
        if choice is None:
            return request_context
        parameters = request_context.model_request_parameters
        tools = [*parameters.native_tools, _native_tool(choice)]
        request_context.model_request_parameters = replace(parameters, native_tools=tools)
        if choice.facts.vendor == "openai":  # else it names cited sources only
            include: Any = {"openai_include_web_search_sources": True}
            request_context.model_settings = {**(settings or {}), **include}
        return request_context

    def _choose_and_note(self, context: RunContext[Any]) -> NativeTool | None:
        self._note()  # an attempt with another model may not have been made
        choice = self.choose(context)
        if isinstance(choice, NotNative):
            self._note(f"web_search was used: {choice.reason}")
            return None
        self._note(*choice.notes)
        self._choice = choice
        return choice

    def get_wrapper_model(self, model: Model) -> Model | None:
        """Return the model with a reader of its responses."""
        is_known = self._context is not None and type(model).__name__ in _APIS
        return _Recorded(model, self) if is_known else None

    # --- what the vendor does ------------------------------------------------------------------

    def continued(
        self, messages: Sequence[ModelMessage], parameters: ModelRequestParameters
    ) -> ModelRequestParameters | None:
        """Return the parameters of a request, or None if it continues what cannot be paid."""
        is_paused = isinstance(messages[-1], ModelResponse) and messages[-1].state == "suspended"
        old = [tool for tool in parameters.native_tools if isinstance(tool, WebSearchTool)]
        if not (is_paused and old and self._context):
            return parameters
        choice = self.choose(self._context)
        if isinstance(choice, NotNative):
            self._note(f"an answer that the vendor paused is incomplete: {choice.reason}")
            return None
        self._choice = choice
        others = [tool for tool in parameters.native_tools if tool not in old]
        return replace(parameters, native_tools=[*others, _native_tool(choice)])

    def record(self, response: ModelResponse) -> None:
        """Add what the vendor searched to the session."""
        searches, session = read_model_response(response), self._session()
        lists = [self._filters.get(f"{word}_domains") or () for word in ("include", "exclude")]
        if session is None:
            return
        if searches is None:
            self._note()
            return
        record = searches.within(*lists).record()
        session.record_native(**record, choice=self._choice)

    def note_failure(self) -> None:
        """Note that a request failed whose searches the vendor may charge."""
        self._note("A request failed. What the vendor searched for it is not counted.")

    def _note(self, *notes: str) -> None:
        if (session := self._session()) and self._context:
            vendor, choice = str(self._context.model.system), self._choice
            session.record_native(vendor=vendor, notes=notes, choice=choice)

    def _session(self) -> Session | None:
        web = self._find(self._context) if self._context else None
        return web if isinstance(web, Session) else None


class _Recorded(WrapperModel):
    """Records what each request searched. An answer that was paused takes several."""

    def __init__(self, model: Model, search: WebSearch) -> None:
        super().__init__(model)
        self._search = search

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        parameters = await asyncio.to_thread(
            self._search.continued, messages, model_request_parameters
        )
        if parameters is None:
            return ModelResponse(parts=[])
        try:
            response = await super().request(messages, model_settings, parameters)
        except BaseException:  # a run that is canceled, too
            await self._note_failure(parameters)
            raise
        await asyncio.to_thread(self._search.record, response)
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        parameters = await asyncio.to_thread(
            self._search.continued, messages, model_request_parameters
        )
        if parameters is None:
            end = ModelResponse(parts=[])
            yield CompletedStreamedResponse(end, model_request_parameters=model_request_parameters)
            return
        is_recorded = False
        try:
            async with super().request_stream(
                messages, model_settings, parameters, run_context
            ) as stream:
                try:
                    yield stream
                finally:
                    is_recorded = True
                    await asyncio.to_thread(self._search.record, stream.get())
        except BaseException:
            if not is_recorded:
                await self._note_failure(parameters)
            raise

    async def _note_failure(self, parameters: ModelRequestParameters) -> None:
        if any(isinstance(tool, WebSearchTool) for tool in parameters.native_tools):
            await asyncio.to_thread(self._search.note_failure)


def _native_tool(choice: NativeTool) -> WebSearchTool:
    domains = choice.tool.get("filters") or choice.tool
    country = (choice.tool.get("user_location") or {}).get("country")
    return WebSearchTool(
        allowed_domains=domains.get("allowed_domains"),
        blocked_domains=domains.get("blocked_domains"),
        max_uses=choice.max_searches,
        user_location=WebSearchUserLocation(country=country) if country else None,
    )


def read_model_response(response: ModelResponse) -> NativeSearches | None:
    """Return what a vendor searched for a response, or None if it did not search."""
    vendor = (response.provider_name or "").partition("-")[0]
    readers = {"openai": _openai, "anthropic": _anthropic, "google": _google}
    if vendor not in readers or not any(_parts(response, WebSearchTool.kind)):
        return None
    return read_response(vendor, readers[vendor](response), model=response.model_name or "")


def _parts(response: ModelResponse, kind: str) -> tuple[list[NativeToolCallPart], dict[str, Any]]:
    """Return the calls of a native tool, and their results by the IDs of the calls."""
    parts = [part for part in response.parts if getattr(part, "tool_name", "") == kind]
    calls = [part for part in parts if isinstance(part, NativeToolCallPart)]
    results = [part for part in parts if isinstance(part, NativeToolReturnPart)]
    return calls, {part.tool_call_id: part.content for part in results}


def _cited(response: ModelResponse) -> list[tuple[str, Any]]:
    """Return the texts of the answer with the citations as the vendor sent them."""
    texts = [part for part in response.parts if isinstance(part, TextPart)]
    return [(part.content, (part.provider_details or {}).get("citations")) for part in texts]


def _arguments(call: NativeToolCallPart) -> dict[Any, Any]:
    return Block({"args": call.args}).block("args").plain()


def _openai(response: ModelResponse) -> dict[str, Any]:
    calls, results = _parts(response, WebSearchTool.kind)
    output: list[dict[str, Any]] = []
    for call in calls:
        result = Block(results.get(call.tool_call_id))
        action = {**_arguments(call), "sources": result.get("sources")}
        status = result.get("status")
        output.append({"type": "web_search_call", "action": action, "status": status})
    for text, notes in _cited(response):
        output.append({"type": "output_text", "text": text, "annotations": notes})
    return {"output": output}


def _anthropic(response: ModelResponse) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for part in response.parts:  # in their order: a model can name a page before it is found
        if isinstance(part, NativeToolCallPart):
            block = {"type": "server_tool_use", "name": part.tool_name, "id": part.tool_call_id}
            content.append({**block, "input": _arguments(part)})
        elif isinstance(part, NativeToolReturnPart):
            kind = f"{part.tool_name}_tool_result"
            content.append(
                {"type": kind, "tool_use_id": part.tool_call_id, "content": part.content}
            )
    for text, citations in _cited(response):
        content.append({"type": "text", "text": text, "citations": citations})
    count = response.usage.details.get("web_search_requests")
    usage = {"server_tool_use": {"web_search_requests": count}}
    return {"content": content, "usage": usage}


def _pages(results: dict[str, Any]) -> list[Any]:
    return [page for result in results.values() for page in Block({"": result}).values("")]


def _google(response: ModelResponse) -> dict[str, Any]:
    calls, found = _parts(response, WebSearchTool.kind)
    opened = _pages(_parts(response, WebFetchTool.kind)[1])
    queries = [query for call in calls for query in Block(_arguments(call)).values("queries")]
    chunks: list[Any] = [{"web": page} for page in _pages(found)]
    parts, supports = list[dict[str, Any]](), list[dict[str, Any]]()
    for text, citations in _cited(response):
        # Each is a support with the chunks that it refers to.
        for citation in Block({"citations": citations}).blocks("citations"):
            first = len(chunks)
            chunks += citation.values("grounding_chunks")
            segment = {**citation.block("segment").plain(), "part_index": len(parts)}
            indices = range(first, len(chunks))
            supports.append({"segment": segment, "grounding_chunk_indices": [*indices]})
        parts.append({"text": text})
    grounding = {
        "web_search_queries": queries,
        "grounding_chunks": chunks,
        "grounding_supports": supports,
    }
    candidate = {"content": {"parts": parts}, "grounding_metadata": grounding}
    return {"candidates": [{**candidate, "url_context_metadata": {"url_metadata": opened}}]}
