"""The fourth part: a LlamaIndex agent whose model is the script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection

from llamaindex_webtools import WebToolsSpec
from webtools.cli.demo import screen
from webtools.cli.demo.script import Call, Script

if TYPE_CHECKING:
    from webtools import WebTools


class ScriptedModel(CustomLLM, FunctionCallingLLM):
    """A function-calling model that reads the tools' messages and follows the script.

    Not `MockFunctionCallingLLM`: the older releases of llama-index-core have none.
    """

    script: Script

    @property
    def metadata(self) -> LLMMetadata:
        """State that this model can call functions."""
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return the next turn."""
        del kwargs
        seen = [message.content or "" for message in messages if message.role == "tool"]
        turn = self.script.turn(seen)
        if not isinstance(turn, Call):
            return ChatResponse(message=ChatMessage(role="assistant", content=turn))
        wanted = ToolSelection(
            tool_id=f"call-{len(seen)}", tool_name=turn.tool, tool_kwargs=turn.arguments
        )
        extra = {"tool_calls": [wanted]}
        return ChatResponse(message=ChatMessage(role="assistant", additional_kwargs=extra))

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        """Yield the next turn in one piece."""

        async def pieces() -> AsyncGenerator[ChatResponse, None]:
            yield await self.achat(messages, **kwargs)

        return pieces()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Refuse: the script chats."""
        raise NotImplementedError(prompt, formatted, kwargs)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """Refuse: the script chats."""
        raise NotImplementedError(prompt, formatted, kwargs)

    def _prepare_chat_with_tools(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        del args
        return {"messages": kwargs.get("chat_history") or []}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        """Read the calls that `achat` wrote."""
        del error_on_no_tool_call, kwargs
        return list(response.message.additional_kwargs.get("tool_calls", []))


def show(script: Script, web: WebTools, config: Path | None) -> bool:
    """Run the agent and show each tool call as it ends; return whether every one worked."""
    del config  # `web` has it
    return asyncio.run(_answer(script, web))


async def _answer(script: Script, web: WebTools) -> bool:
    agent: Any = FunctionAgent(
        tools=WebToolsSpec(web=web).to_tool_list(), llm=ScriptedModel(script=script)
    )
    handler = agent.run(user_msg=script.question)
    worked = True
    async for event in handler.stream_events():
        if isinstance(event, ToolCallResult):
            call: Any = event  # its arguments are only half typed
            screen.call(Call(event.tool_name, call.tool_kwargs))
            output = event.tool_output
            screen.result(output.content, is_error=output.is_error)
            worked = worked and not output.is_error
    screen.answer(str(await handler))
    return worked
