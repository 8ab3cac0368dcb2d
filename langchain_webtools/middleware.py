"""Middleware that gives each conversation of an agent a session."""

import asyncio
import copy
import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from langchain_webtools._base import WebTool
from langchain_webtools._fields import check_web
from langchain_webtools._native import ModelTurn, NativeSearch
from langchain_webtools._sessions import OpenSessions, Stored, WebState, answer_of, texts_of_user
from langchain_webtools.toolkit import WebToolkit
from langchain_webtools.tools import WebSearchTool
from webtools import InputError, Session, WebTools
from webtools.adapters import check_arguments, shared_tape
from webtools.choices import CacheScope, FetchGate
from webtools.results import AnswerCheck
from webtools.tools import RESEARCH, SEARCH, TOOLS

if TYPE_CHECKING:
    from webtools.config.config_models import Key

KeysOf = Callable[[RunnableConfig], Mapping[str, "Key"]]


class SearchFilters(TypedDict, total=False):
    """Arguments of `web_search` that go with every search."""

    include_domains: str | Sequence[str]
    exclude_domains: str | Sequence[str]
    start_published_date: str | None
    end_published_date: str | None
    category: str | None
    country: str | None
    language: str | None
    safe_search: Literal["off", "moderate", "strict"] | None


class WebMiddleware(AgentMiddleware[WebState, Any, Any]):
    """Gives each conversation of an agent a session, and keeps it in the state of the graph.

    The agent gets the tools. Their calls are calls of the session: its limits, its gate and its
    numbers of sources. The session lasts as long as the conversation: a checkpointer keeps it for
    the next turn, also on another machine. Links that the user writes can be opened. The final
    answer is checked.

    Setup:
        ```bash
        pip install 'agent-webtools[langchain]'
        ```

    Instantiation:
        ```python
        from langchain.agents import create_agent
        from langchain_webtools import WebMiddleware
        from webtools import WebTools

        def customer(config):
            return config["configurable"]["customer"]

        middleware = WebMiddleware(WebTools(), user=customer, usd=0.05, fetch="seen")
        agent = create_agent("openai:gpt-5.2", middleware=[middleware])
        ```

    Invocation:
        ```python
        result = agent.invoke({"messages": [("user", question)]}, config)
        result["web_report"]["sources"], result["web_report"]["check"]["not_seen"]
        ```

    Args:
        web: Settings and connections. Default: a new `WebTools`.
        tools: Names of the tools of the agent. Default: all that a configured provider can serve.
            With a filter, `web_research` is left out, and refused if `tools` names it, because it
            does not apply filters.
        user: Name of the user, or a function that returns it for the config of a run. Other users
            are refused when they continue the conversation.
        user_urls: Whether the links in the messages of the user may be opened. Pass False if
            `HumanMessage`s do not come from the user, as those of a template or another agent.
        on_end: Called with the session and the check of the answer at the end of a run. In an async
            run, it can be a coroutine function.
        native: With `auto`, the vendor of the model searches where its own search serves all
            filters and limits; else the agent uses `web_search`, and the report says why. This is
            decided for each call of a model. Put this middleware after `ModelFallbackMiddleware`.
        max_native: Maximum number of searches in a response, for a vendor with such a limit.
        native_overshoot: Use a vendor without such a limit although `usd` limits the money.
        usd: Limit of the session, as `usd_per_day`, `calls`, `fetch` and `cache` in
            `WebTools.session`.
        seconds: Seconds from the beginning of a run until all calls end. The time in which it waits
            for a human counts, unless another process resumes it: there, the time begins again.
        api_keys: As for `WebTools.session`, or a function that returns it for the config of a run.
        record: As for `WebTools.session`: a tape of the calls of all conversations.
        replay: As for `WebTools.session`. Conversations share the tape, too: each call on it is
            replayed once.
        filters: Arguments of `web_search` that go with every search, such as `include_domains`. The
            model does not see them and cannot change them.

    Raises:
        InputError: An argument is not valid.
    """

    state_schema = WebState

    def __init__(
        self,
        web: WebTools | None = None,
        *,
        tools: Sequence[str] | None = None,
        user: str | Callable[[RunnableConfig], str] = "",
        user_urls: bool = True,
        on_end: Callable[[Session, AnswerCheck], object] | None = None,
        native: Literal["never", "auto"] = "never",
        max_native: int = 5,
        native_overshoot: bool = False,
        usd: float | None = None,
        usd_per_day: float | None = None,
        calls: int | None = None,
        seconds: float | None = None,
        fetch: FetchGate = "any",
        cache: CacheScope | None = None,
        api_keys: "Mapping[str, Key] | KeysOf | None" = None,
        record: str | os.PathLike[str] | None = None,
        replay: str | os.PathLike[str] | None = None,
        **filters: Unpack[SearchFilters],
    ) -> None:
        super().__init__()
        self._web = check_web(web)
        self._user, self._api_keys = user, api_keys
        self._user_urls, self._on_end = user_urls, on_end
        self._options: dict[str, Any] = {
            "usd": usd,
            "usd_per_day": usd_per_day,
            "calls": calls,
            "seconds": seconds,
            "fetch": fetch,
            "cache": cache,
        }
        if not callable(api_keys):
            self._options["api_keys"] = api_keys
        parameters = inspect.signature(WebMiddleware.__init__).parameters.values()
        named = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
        check_arguments("WebMiddleware", filters, named | {"web", *SearchFilters.__annotations__})
        if on_end is not None and not callable(on_end):
            raise InputError(f"on_end must be a function, not {type(on_end).__name__}.")
        # Refuse wrong options now, not in the first run.
        self._web.session(user="user" if callable(user) else user, **self._options)
        self._filters = SEARCH.with_fixed(filters).fixed
        if native not in ("never", "auto"):
            raise InputError(f"Invalid native {native!r}: expected never or auto.")
        if max_native < 1:
            raise InputError(f"Invalid max_native {max_native!r}: expected 1 or more.")
        self._native = (
            NativeSearch(self._web, self._filters, max_native, native_overshoot)
            if native == "auto"
            else None
        )
        self._sessions = OpenSessions(self._make_session, self._name_user)
        self.tools = self._make_tools(tools, offers_all=replay is not None)
        # Last: it may replace a file.
        self._options |= shared_tape(record, replay)

    def _make_tools(self, names: Sequence[str] | None, *, offers_all: bool) -> list[Any]:
        search = WebSearchTool(web=self._web, **self._filters)
        # A tape may answer any tool, without settings.
        tools = WebToolkit(self._web).get_tools([*TOOLS] if offers_all and not names else names)
        if self._filters:
            if names is not None and any(tool.name == RESEARCH.name for tool in tools):
                filters = ", ".join(self._filters)
                raise InputError(f"{RESEARCH.name} cannot apply {filters}. Leave out one of them.")
            tools = [tool for tool in tools if tool.name != RESEARCH.name]
        return [search if tool.name == SEARCH.name else tool for tool in tools]

    def _make_session(self, state: Mapping[str, Any] | None) -> Session:
        options, keys = self._options, self._api_keys
        if callable(keys):
            found = keys(get_config())
            if not isinstance(found, Mapping):
                raise InputError(f"api_keys= returned no keys, but {type(found).__name__}.")
            options = {**options, "api_keys": found}
        return self._web.session(user=self._name_user(), state=state, **options)

    def _name_user(self) -> str:
        if not callable(self._user):
            return self._user
        if user := self._user(get_config()):
            return user
        raise InputError("user= returned no name. Return the name of the run's user.")

    # --- the run -------------------------------------------------------------------------------

    def before_agent(self, state: WebState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Open the session of the conversation, and let the links of the user be opened."""
        stored = state.get("web_session")
        run, session = self._sessions.begin(stored)
        if self._user_urls:
            texts = texts_of_user(state["messages"], is_first=not stored)
            session.allow(*texts, origin="user")
        return {"web_session": {"run": run, "state": session.state()}, "web_report": None}

    async def abefore_agent(self, state: WebState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Async version of `before_agent`. The store of the settings is read in a thread."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    def before_model(self, state: WebState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Write what the tools have done to the state."""
        stored = state.get("web_session")
        if not stored:  # the run was interrupted before it had this middleware
            return self.before_agent(state, runtime)
        return _update(stored, self._sessions.find(stored))

    async def abefore_model(self, state: WebState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Async version of `before_model`."""
        stored = state.get("web_session")
        if not stored:
            return await self.abefore_agent(state, runtime)
        return _update(stored, await self._afind(stored))

    def after_agent(self, state: WebState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Check the answer, and write the session and its report to the state."""
        stored = state.get("web_session")
        session = self._sessions.find(stored)
        check = session.check(answer_of(state))
        if self._on_end:
            self._on_end(session, check)
        return self._end(stored, session, check)

    async def aafter_agent(self, state: WebState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Async version of `after_agent`."""
        stored = state.get("web_session")
        session = await self._afind(stored)
        check = await session.acheck(answer_of(state))
        if self._on_end:
            outcome = self._on_end(session, check)
            if inspect.isawaitable(outcome):
                await outcome
        return self._end(stored, session, check)

    def _end(self, stored: Stored | None, session: Session, check: AnswerCheck) -> dict[str, Any]:
        self._sessions.end(stored)
        report = {**session.report("json"), "check": check.model_dump(mode="json")}
        return {"web_report": report, **(_update(stored, session) or {})}

    async def _afind(self, stored: Stored | None) -> Session:
        session = self._sessions.known(stored)
        if session is None:
            session = await asyncio.to_thread(self._sessions.find, stored)
        return session

    after_model = before_model
    aafter_model = abefore_model

    # --- calls ---------------------------------------------------------------------------------

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Let the vendor of the model search, if its search serves what the developer set."""
        session = self._sessions.find(_stored_of(request))  # refuses another user's
        if self._native is None:
            return handler(request)
        turn = ModelTurn(self._native, request, session, is_async=False)
        while turn.request:
            with turn.noting_failure():
                response = handler(turn.request)
            turn.add(response)
        return turn.response  # type: ignore[no-any-return]

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Async version of `wrap_model_call`."""
        session = await self._afind(_stored_of(request))  # refuses another user's
        if self._native is None:
            return await handler(request)
        # In a thread, because the settings, the store or the tape can be read and written.
        turn = await asyncio.to_thread(ModelTurn, self._native, request, session, is_async=True)
        while turn.request:
            with turn.noting_failure():
                response = await handler(turn.request)
            await asyncio.to_thread(turn.add, response)
        return turn.response  # type: ignore[no-any-return]

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Run a tool in the session."""
        session = self._sessions.find(_stored_of(request))  # refuses another user's
        return handler(_within(session, request) if self._is_ours(request) else request)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run a tool in the session, awaited."""
        session = await self._afind(_stored_of(request))  # refuses another user's
        return await handler(_within(session, request) if self._is_ours(request) else request)

    def _is_ours(self, request: ToolCallRequest) -> bool:
        """Return whether a tool belongs to the session.

        Raises:
            InputError: It is a web tool that would evade the session.
        """
        tool = request.tool
        if not isinstance(tool, WebTool) or isinstance(tool.web, Session):
            return False
        if tool.web is not self._web:
            raise InputError(
                f"The tool {tool.name} has another WebTools than WebMiddleware, so its calls would "
                "not belong to the session. Leave the tool out, or make it with the same web=."
            )
        return True


def _stored_of(request: ToolCallRequest | ModelRequest[Any]) -> Stored | None:
    state: Any = request.state
    stored: Stored | None = state.get("web_session")
    return stored


def _within(session: Session, request: ToolCallRequest) -> ToolCallRequest:
    """Return a call whose tool is a copy that works in a session."""
    tool = copy.copy(request.tool)
    assert isinstance(tool, WebTool)  # noqa: S101  for mypy
    tool.web = session
    return request.override(tool=tool)


def _update(stored: Stored | None, session: Session) -> dict[str, Any] | None:
    """Return the update of the state, if the session has changed."""
    state = session.state()
    if not stored or stored["state"] == state:
        return None
    return {"web_session": {**stored, "state": state}}
