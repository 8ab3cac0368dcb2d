"""A chat model with scripted answers that records its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.llms import ChatMessage, mock

if TYPE_CHECKING:
    from collections.abc import Sequence

if not hasattr(mock, "MockFunctionCallingLLM"):
    pytest.skip("this llama-index-core has no scripted model", allow_module_level=True)

from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM


class Script:
    def __init__(self, *replies: ChatMessage, kind: Any = MockFunctionCallingLLM) -> None:
        self._replies = iter(replies)
        self.shown: list[ChatMessage] = []
        self.llm: Any = kind(response_generator=self._reply, is_chat_model=True)

    def _reply(self, messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        self.shown = list(messages)
        return next(self._replies)

    @property
    def last_shown(self) -> str:
        return self.shown[-1].content or ""


def says(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def calls(*tools: tuple[str, dict[str, Any]]) -> ChatMessage:
    blocks = [
        ToolCallBlock(tool_call_id=str(number), tool_name=name, tool_kwargs=arguments)
        for number, (name, arguments) in enumerate(tools)
    ]
    return ChatMessage(role="assistant", blocks=blocks)
