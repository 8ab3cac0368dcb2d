"""An agent that belongs to a session."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.agent.workflow import AgentOutput, AgentStream, FunctionAgent
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory
from llama_index.core.tools import AsyncBaseTool
from llama_index.core.workflow import Context

from llamaindex_webtools._function_tools import web_of_tool
from llamaindex_webtools._spec import WebToolsSpec
from webtools import InputError, Session
from webtools.adapters import check_arguments
from webtools.native import NativeSearches, read_response, read_stream

if TYPE_CHECKING:
    from llama_index.core.agent.workflow.agent_context import AgentContext

_VENDORS = {"OpenAIResponses": "openai", "Anthropic": "anthropic"}  # by class of LLM


def _check_tool(tool: Any, session: Session) -> None:
    """Refuse a web tool whose calls would evade the session.

    Raises:
        InputError: The tool has another `WebTools`.
    """
    web = web_of_tool(tool)
    if web is not None and web is not session:
        raise InputError(
            f"The tool {tool.metadata.name} has another WebTools than the session, so its calls "
            "would not belong to it. Make the tool with the session."
        )


class WebAgent(FunctionAgent):
    """A `FunctionAgent` whose searches and answers belong to a session.

        with web.session(user="customer-7", usd=0.05, fetch="seen") as session:
            agent = WebAgent(session, llm=llm)
            handler = agent.run(user_msg=question)
            answer = await handler
            report = await handler.ctx.store.get("web_report")

    Links in the message of the user may be opened. What `OpenAIResponses` and `Anthropic` search on
    their side, if you configure that, is added to the session before the tools of the same step
    run. At the end, the context has `session.report("json")` with `check`, the check of the answer,
    as `web_report`.

    Args:
        session: The session of the conversation. Make an agent for each session.
        user_urls: Whether the links in the user's message may be opened. Pass False if another
            agent writes it.
        tools: The tools. Default: those of `WebToolsSpec(session)`.
        options: The other arguments of `FunctionAgent`.

    Raises:
        InputError: `session` is not a session, a tool has another `WebTools`, or an argument is
            unknown.
    """

    session: Any = Field(exclude=True)
    user_urls: bool = True

    def __init__(
        self,
        session: Session,
        *,
        user_urls: bool = True,
        tools: Sequence[Any] | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(session, Session):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(session).__name__
            raise InputError(f"session must be a session, such as web.session(), not {kind}.")
        check_arguments("WebAgent", options, {*type(self).model_fields} - {"session"})
        if tools is None:
            tools = WebToolsSpec(session).to_tool_list()
        for tool in tools:
            _check_tool(tool, session)
        super().__init__(session=session, user_urls=user_urls, tools=[*tools], **options)

    async def take_step(
        self,
        ctx: "AgentContext",
        llm_input: list[ChatMessage],
        tools: Sequence[AsyncBaseTool],
        memory: BaseMemory,
    ) -> AgentOutput:
        """Take a step, and add to the session what the vendor of the model has searched.

        Raises:
            InputError: A tool has another `WebTools`.
        """
        for tool in tools:  # also those of a `tool_retriever`
            _check_tool(tool, self.session)
        if self.user_urls:
            text = await ctx.store.get("user_msg_str", default=None)
            # It may read the settings.
            await asyncio.to_thread(self.session.allow, text or "", origin="user")
        stream, output = _Stream(ctx), None
        try:
            output = await super().take_step(stream, llm_input, tools, memory)
        finally:  # a stream that breaks has its searches, too
            raw = stream.responses if self.streaming else getattr(output, "raw", None)
            if raw and (searches := self._read(raw)) is not None:
                # In a thread, because the store or the tape can be written.
                await asyncio.to_thread(self.session.record_native, **searches.record())
        return output

    async def finalize(self, ctx: Context, output: AgentOutput, memory: BaseMemory) -> AgentOutput:
        """Check the answer, and put the report into the context."""
        output = await super().finalize(ctx, output, memory)
        check = await self.session.acheck(output.response.content or "")
        report = {**self.session.report("json"), "check": check.model_dump(mode="json")}
        await ctx.store.set("web_report", report)
        return output

    def _read(self, raw: Any) -> NativeSearches | None:
        """Read what the vendor has searched; None if its responses cannot be read."""
        names = [kind.__name__ for kind in type(self.llm).__mro__]
        vendor = next((_VENDORS[name] for name in names if name in _VENDORS), None)
        if vendor is None:
            return None
        read: Any = read_stream if self.streaming else read_response
        searches: NativeSearches = read(vendor, raw, model=self.llm.metadata.model_name)
        return searches


class _Stream:
    """A context that keeps the responses in the events that are written to it."""

    def __init__(self, ctx: "AgentContext") -> None:
        self._ctx = ctx
        self.responses: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def write_event_to_stream(self, event: Any) -> None:
        if isinstance(event, AgentStream):
            self.responses.append(event.raw)
        self._ctx.write_event_to_stream(event)
