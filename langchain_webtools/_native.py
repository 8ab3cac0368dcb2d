"""The search of a model's vendor in the calls of an agent: the choice, the request, the reading."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, NamedTuple

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage
from langchain_core.messages.ai import add_usage
from langchain_core.tools import BaseTool

from langchain_webtools.tools import WebSearchTool
from webtools import Session, WebTools
from webtools.adapters import native_or_own
from webtools.native import NativeTool, NotNative, Route, read_response, without_sources

_PAUSED = "pause_turn"
_MAX_PAUSES = 5  # continuations of one answer
_OTHER_REQUEST = ("model", "model_name", "tools", "extra_body", "base_url")


class _Kind(NamedTuple):
    """A class of chat models.

    Attributes:
        vendor: The vendor that it calls.
        api: Name of the API in `webtools.native`.
        model: Attribute with the name of the model.
        base_url: Path of attributes to the base URL of the client.
        async_base_url: That of async calls.
    """

    vendor: str
    api: str
    model: str
    base_url: str
    async_base_url: str


_GOOGLE_URL = "client._api_client._http_options.base_url"
# Exact classes: a subclass may send something else.
_KINDS: Mapping[tuple[str, str], _Kind] = {
    ("langchain_openai.chat_models.base", "ChatOpenAI"): _Kind(
        "openai",
        "responses",
        "model_name",
        "root_client.base_url",
        "root_async_client.base_url",
    ),
    ("langchain_anthropic.chat_models", "ChatAnthropic"): _Kind(
        "anthropic", "messages", "model", "_client.base_url", "_async_client.base_url"
    ),
    ("langchain_google_genai.chat_models", "ChatGoogleGenerativeAI"): _Kind(
        "google", "generateContent", "model", *[_GOOGLE_URL] * 2
    ),
}


def _kind_of(model: BaseChatModel) -> _Kind | None:
    return _KINDS.get((type(model).__module__, type(model).__qualname__))


def _route_of(request: ModelRequest[Any], *, is_async: bool) -> Route | str:
    """Return where a request goes, or why that is not known."""
    model, settings = request.model, request.model_settings
    kind = _kind_of(model)
    if kind is None:
        return f"{type(model).__name__} is not a class whose requests are known"
    values = {**(getattr(model, "model_kwargs", None) or {}), **settings}
    changed = [name for name in _OTHER_REQUEST if name in values]
    if changed or getattr(model, "extra_body", None):
        return f"the request has its own {', '.join(changed) or 'extra_body'}"
    if getattr(model, "output_version", None) == "v1":
        return "with output_version 'v1' the vendor's blocks are not complete"
    try:
        base_url = attrgetter(kind.async_base_url if is_async else kind.base_url)(model)
    except AttributeError:
        return f"the base URL of {type(model).__name__} is not known"
    uses_chat = getattr(model, "use_responses_api", None) is False
    reasoning = values.get("reasoning") or getattr(model, "reasoning", None) or {}
    effort = values.get("reasoning_effort") or getattr(model, "reasoning_effort", None)
    return Route(
        base_url=str(base_url),
        api="chat/completions" if uses_chat else kind.api,
        model=str(getattr(model, kind.model)),
        reasoning_effort=str(effort or reasoning.get("effort") or ""),
        has_functions=len(request.tools) > 1 or request.response_format is not None,
    )


def _is_native(tool: BaseTool | dict[str, Any]) -> bool:
    """Return whether a tool is a vendor's search that the developer added."""
    if not isinstance(tool, dict):
        return False
    return str(tool.get("type", "")).startswith("web_search") or "google_search" in tool


@dataclass(frozen=True)
class NativeSearch:
    """How an agent may use the search of a model's vendor.

    Attributes:
        web: The `WebTools` of the agent's own search.
        filters: The filters of the developer.
        max_searches: Maximum number of searches in a response.
        overshoot: Whether a vendor without a limit may spend more money than what is left.
    """

    web: WebTools
    filters: Mapping[str, Any]
    max_searches: int
    overshoot: bool

    def choose(
        self, request: ModelRequest[Any], session: Session, *, is_async: bool
    ) -> NativeTool | NotNative:
        """Decide for one call of a model."""
        route = _route_of(request, is_async=is_async)
        if isinstance(route, str):
            return NotNative(route)
        if any(map(_is_native, request.tools)):
            return NotNative("the agent has a search of the vendor already")
        if request.tool_choice not in (None, "auto"):
            return NotNative("the request has its own tool_choice")
        return native_or_own(
            session,
            route,
            self.filters,
            max_searches=self.max_searches,
            overshoot=self.overshoot,
        )

    def is_own(self, tool: BaseTool | dict[str, Any]) -> bool:
        """Return whether a tool is the search that the vendor's can replace."""
        return isinstance(tool, WebSearchTool) and tool.web is self.web


class ModelTurn:
    """One call of a model, and those that continue an answer that the vendor has paused.

        turn = ModelTurn(search, request, session, is_async=False)
        while turn.request:
            turn.add(handler(turn.request))
        return turn.response

    Attributes:
        request: The next request, or None at the end.
        response: The response so far.
    """

    def __init__(
        self,
        search: NativeSearch,
        request: ModelRequest[Any],
        session: Session,
        *,
        is_async: bool,
    ) -> None:
        self._search, self._session, self._is_async = search, session, is_async
        self._kind = _kind_of(request.model)
        self._original = request = request.override(messages=_sendable(request.messages))
        self._tool: NativeTool | None = None
        self._choice: NativeTool | None = None  # of the latest request
        self._parts: list[AIMessage] = []
        self.request: ModelRequest[Any] | None = request
        self.response: Any = None
        if any(map(search.is_own, request.tools)):
            choice = search.choose(request, session, is_async=is_async)
            if isinstance(choice, NativeTool):
                self._tool = self._choice = choice
                self._note(choice.notes)
                self.request = self._with_native(choice, request.messages)
            else:
                self._note([f"{_name_of(request.model)} searched with webtools: {choice.reason}."])

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """Note for the report that a request failed whose searches the vendor may charge."""
        try:
            yield
        except BaseException:  # a run that is canceled, too
            if self._tool is not None:
                name = _name_of(self._original.model)
                note = f"A request to {name} failed. What it searched is not counted."
                self._note([note], self._choice)
            raise

    def add(self, response: ModelResponse[Any]) -> None:
        """Record what the vendor searched, and continue an answer that was paused."""
        message = next((each for each in response.result if isinstance(each, AIMessage)), None)
        self.response, request, self.request = response, self.request, None
        if message is None or self._kind is None or request is None:
            return
        self._record(message)
        self._parts.append(message)
        if message.response_metadata.get("stop_reason") == _PAUSED:
            self.request = self._continued([*request.messages, message])
        if len(self._parts) > 1:
            joined = _joined(self._parts)
            result = [joined if each is message else each for each in response.result]
            self.response = ModelResponse(result, response.structured_response)

    def _continued(self, messages: Sequence[AnyMessage]) -> ModelRequest[Any] | None:
        """Return the request that continues an answer, with the same tools if they are paid."""
        if self._tool is None or len(self._parts) > _MAX_PAUSES:
            self._note(["The vendor has paused the answer, which may be incomplete."])
            return None
        search, tool = self._search, self._tool
        choice = search.choose(self._original, self._session, is_async=self._is_async)
        if isinstance(choice, NotNative):
            self._note([f"An answer that the vendor paused is incomplete: {choice.reason}."])
            return None
        self._choice = choice
        if (choice.max_searches or 0) < (tool.max_searches or 0):
            tool = choice
        return self._with_native(tool, messages)

    def _with_native(self, native: NativeTool, messages: Sequence[AnyMessage]) -> ModelRequest[Any]:
        request = self._original
        others = [tool for tool in request.tools if not self._search.is_own(tool)]
        settings = {**request.model_settings}
        for name, value in native.request.items():
            known = settings.get(name) or getattr(request.model, name, None)
            if isinstance(value, list):
                settings[name] = list(dict.fromkeys([*(known or ()), *value]))
            else:
                settings[name] = {**(known or {}), **value}
        return request.override(
            tools=[*others, native.tool], model_settings=settings, messages=list(messages)
        )

    def _record(self, message: AIMessage) -> None:
        kind, filters = self._kind, self._search.filters
        assert kind is not None  # noqa: S101  for mypy
        searches = read_response(kind.vendor, _raw(message)).within(
            filters.get("include_domains") or (), filters.get("exclude_domains") or ()
        )
        if searches.stop == _PAUSED:  # what comes of it is noted elsewhere
            searches = replace(searches, stop="")
        self._session.record_native(**searches.record(), choice=self._choice)

    def _note(self, notes: Iterable[str], choice: NativeTool | None = None) -> None:
        vendor = self._kind.vendor if self._kind else ""
        self._session.record_native(vendor=vendor, notes=[*notes], choice=choice)


def _name_of(model: BaseChatModel) -> str:
    kind = _kind_of(model)
    return str(getattr(model, kind.model)) if kind else "The model"


def _raw(message: AIMessage) -> dict[str, Any]:
    """Return a message in the form of the vendor, with what LangChain keeps."""
    metadata, content = message.response_metadata, message.content
    if "grounding_metadata" in metadata:
        candidate = {"content": {"parts": [{"text": str(message.text)}]}, **metadata}
        return {"candidates": [candidate], "model_version": metadata.get("model_name", "")}
    blocks = [content] if isinstance(content, str) else content
    # With output_version "v0", OpenAI's calls are beside the content.
    outputs = message.additional_kwargs.get("tool_outputs")
    return {
        "content": [*(outputs if isinstance(outputs, list) else ()), *blocks],
        "usage": metadata.get("usage"),
        "stop_reason": metadata.get("stop_reason"),
        "model": metadata.get("model_name", ""),
    }


def _sendable(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return messages without the sources that OpenAI refuses in a request."""
    sendable: list[AnyMessage] = []
    for message in messages:
        if isinstance(message, AIMessage):
            fields = {"content": message.content, "additional_kwargs": message.additional_kwargs}
            update = {name: without_sources(value) for name, value in fields.items()}
            if any(update[name] is not value for name, value in fields.items()):
                message = message.model_copy(update=update)  # noqa: PLW2901
        sendable.append(message)
    return sendable


def _joined(parts: Sequence[AIMessage]) -> BaseMessage:
    """Return the parts of an answer that was paused as one message."""
    content: list[Any] = []
    usage = None
    for part in parts:
        text = part.content
        content += [{"type": "text", "text": text}] if isinstance(text, str) else text
        usage = add_usage(usage, part.usage_metadata)
    return parts[-1].model_copy(update={"content": content, "usage_metadata": usage})
