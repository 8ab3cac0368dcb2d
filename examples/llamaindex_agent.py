"""Answer a question with a LlamaIndex agent that searches, reads a page and cites it.

    python examples/llamaindex_agent.py "How do I read a zip file in Python?"

It uses your own settings: a config file, or a provider's key in the environment. Without them, it
starts the offline sandbox, which has the documentation of Python's standard library. Set CHAT_MODEL
to a model of OpenAI, such as gpt-5. Without it, a stand-in follows a script.
Needs: pip install 'agent-webtools[llamaindex,sandbox]', and llama-index-llms-openai for CHAT_MODEL.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack
from typing import Any

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
from webtools import WebTools
from webtools.config import Settings
from webtools_sandbox import SandboxServer

FIRST_RESULT = re.compile(r"^\d+\. (.+)\n +(https?://\S+)$", re.MULTILINE)


class ScriptedModel(CustomLLM, FunctionCallingLLM):
    """A stand-in for a model: searches, reads the first page, and quotes it."""

    @property
    def metadata(self) -> LLMMetadata:
        """State that this model can call functions."""
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True)

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        """Return the next tool call, or the answer."""
        outputs = [message.content or "" for message in messages if message.role == "tool"]
        question = next(message.content for message in messages if message.role == "user")
        if not outputs:
            return call("web_search", queries=[question], limit=3)
        result = FIRST_RESULT.search(outputs[0])
        if result is None:
            return answer("Nothing was found.")
        title, url = result.groups()
        if len(outputs) == 1:
            return call("web_fetch", urls=[url], text_max_characters=600)
        words = outputs[1].partition(f"\n{url}\n")[2].split()
        return answer(f"{' '.join(words[:40])} …\n\nSources:\n- [{title}]({url})")

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        """Yield the whole response at once."""

        async def pieces() -> AsyncGenerator[ChatResponse, None]:
            yield await self.achat(messages, **kwargs)

        return pieces()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Refuse: agents chat."""
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        """Refuse: agents chat."""
        raise NotImplementedError

    def _prepare_chat_with_tools(self, *_: Any, **kwargs: Any) -> dict[str, Any]:
        return {"messages": kwargs.get("chat_history") or []}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **_: Any
    ) -> list[ToolSelection]:
        """Return the calls of a response."""
        return list(response.message.additional_kwargs.get("tool_calls", []))


def call(name: str, **arguments: Any) -> ChatResponse:
    """Return a response that calls a tool."""
    selection = ToolSelection(tool_id=f"call-{name}", tool_name=name, tool_kwargs=arguments)
    message = ChatMessage(role="assistant", additional_kwargs={"tool_calls": [selection]})
    return ChatResponse(message=message)


def answer(text: str) -> ChatResponse:
    """Return a response that is the answer."""
    return ChatResponse(message=ChatMessage(role="assistant", content=text))


def model() -> Any:
    """Return the model that CHAT_MODEL names, else the stand-in."""
    if name := os.environ.get("CHAT_MODEL"):
        from llama_index.llms.openai import OpenAI  # noqa: PLC0415  not needed otherwise

        return OpenAI(model=name)
    return ScriptedModel()


async def main(question: str) -> None:
    """Ask the agent, and print its tool calls and its answer."""
    with ExitStack() as stack:
        config = None
        if not Settings().accounts().accounts:  # neither a config file nor a key
            config = stack.enter_context(SandboxServer()).config()
        web = stack.enter_context(WebTools(config))
        agent = FunctionAgent(tools=[*WebToolsSpec(web=web).to_tool_list()], llm=model())
        handler = agent.run(user_msg=question)
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                print("->", event.tool_name, event.tool_kwargs)
        print("", await handler, sep="\n")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "How do I read a zip file in Python?"))
