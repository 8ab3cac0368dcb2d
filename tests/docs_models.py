"""Stand-ins for the models of the documents' examples: they follow a script, and quote sources."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse

from webtools.fencing import remove_fences

_EXAMPLES = Path(__file__).parents[1] / "examples"
_LANGCHAIN = runpy.run_path(str(_EXAMPLES / "langchain_agent.py"))
_LLAMAINDEX = runpy.run_path(str(_EXAMPLES / "llamaindex_agent.py"))

QUESTION = "How do I read a zip file in Python?"
_SOURCE = re.compile(
    r"^(?:\[1\] |Source 1:\n)(.*?)(?:^\[2\] |^Source 2:|\Z)", re.DOTALL | re.MULTILINE
)
_SENTENCE = re.compile(r"[A-Z][^.\n]{40,300}\.(?=\s)")


def _quoted(prompt: str) -> str:
    """Answer from numbered sources with a sentence of the first."""
    [*_, source] = _SOURCE.findall(prompt) or [""]  # after an example
    sentence = _SENTENCE.search(" ".join(remove_fences(source).split()))
    return f"{sentence[0][:-1]} [1]." if sentence else "The sources do not answer it."


class _ChatModel(_LANGCHAIN["ScriptedModel"]):  # type: ignore[misc]
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        prompt = str(messages[-1].content)
        if len(messages) == 1 and prompt != QUESTION:
            answer = AIMessage(_quoted(prompt))
            return ChatResult(generations=[ChatGeneration(message=answer)])
        return super()._generate(messages, *args, **kwargs)


class _LanguageModel(_LLAMAINDEX["ScriptedModel"]):  # type: ignore[misc]
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
    return _ChatModel()


def language_model() -> Any:
    """Give a language model of LlamaIndex."""
    return _LanguageModel()


def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put stand-ins where the packages with OpenAI's models are, or would be."""
    openai = ("llama_index.llms.openai", "OpenAI", language_model)
    for name, member, make in (("langchain_openai", "ChatOpenAI", chat_model), openai):
        _put(monkeypatch, name, {member: _maker(make)})
    chat_models: Any = import_module("langchain.chat_models.base")
    forgetful = chat_models._get_chat_model_creator.__wrapped__  # it caches the package
    monkeypatch.setattr(chat_models, "_get_chat_model_creator", forgetful)
    if "llama_index.llms" not in sys.modules:  # it comes with the first package of a model
        _put(monkeypatch, "llama_index.llms", {"__path__": []})


def _put(monkeypatch: pytest.MonkeyPatch, name: str, members: dict[str, Any]) -> None:
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    module.__dict__.update(members)
    monkeypatch.setitem(sys.modules, name, module)


def _maker(make: Callable[[], Any]) -> Callable[..., Any]:
    def made(model: str) -> Any:
        assert model.startswith("gpt-")
        return make()

    return made
