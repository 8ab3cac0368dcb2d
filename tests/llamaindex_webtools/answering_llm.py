"""A completion model with fixed answers that records its prompts."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import MockLLM
from llama_index.core.llms.callbacks import llm_completion_callback


class AnsweringLLM(MockLLM):
    _replies: list[str] = PrivateAttr()
    _asked: list[str] = PrivateAttr()

    def __init__(self, *replies: str) -> None:
        super().__init__()
        self._replies = list(replies)
        self._asked = []

    @property
    def asked(self) -> list[str]:
        return self._asked

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self._asked.append(prompt)
        return CompletionResponse(
            text=self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        )
