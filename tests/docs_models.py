"""Stand-ins for the models of the documents' examples: they follow a script, and quote sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse

from webtools.cli.demo import _langchain, _llamaindex
from webtools.cli.demo._script import Script

QUESTION = "How do I read a zip file in Python?"
_SOURCE = re.compile(
    r"^(?:\[1\] |Source 1:\n)(.*?)(?:^\[2\] |^Source 2:|\Z)", re.DOTALL | re.MULTILINE
)
_SENTENCE = re.compile(r"[A-Z][^.\n]{40,300}\.(?=\s)")


def _quoted(prompt: str) -> str:
    """Answer from numbered sources with a sentence of the first."""
    [*_, source] = _SOURCE.findall(prompt) or [""]  # before it stands an example
    sentence = _SENTENCE.search(" ".join(source.split()))
    return f"{sentence[0][:-1]} [1]." if sentence else "The sources do not answer it."


class _ChatModel(_langchain.ScriptedModel):
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        prompt = str(messages[-1].content)
        if len(messages) == 1 and prompt != self.script.question:
            answer = AIMessage(_quoted(prompt))
            return ChatResult(generations=[ChatGeneration(message=answer)])
        return super()._generate(messages, *args, **kwargs)


class _LanguageModel(_llamaindex.ScriptedModel):
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        prompt = str(messages[-1].content)
        if _SOURCE.search(prompt):
            answer = ChatMessage(role="assistant", content=_quoted(prompt))
            return ChatResponse(message=answer)
        return await super().achat(messages, **kwargs)

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=_quoted(prompt))


def chat_model() -> BaseChatModel:
    """Give a chat model of LangChain."""
    return _ChatModel(script=Script(QUESTION))


def language_model() -> Any:
    """Give a language model of LlamaIndex."""
    return _LanguageModel(script=Script(QUESTION))
