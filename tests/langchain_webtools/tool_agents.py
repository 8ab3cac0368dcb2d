"""Agents whose model follows a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

Call = tuple[str, dict[str, Any]]


class Scripted(GenericFakeChatModel):
    """Says what the script says, and keeps what it was shown."""

    disable_streaming: Any = True
    seen: list[list[BaseMessage]] = []  # noqa: RUF012  pydantic copies it

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.seen.append(list(messages))
        return super()._generate(messages, *args, **kwargs)


def script(*turns: Call | Sequence[Call] | str) -> Scripted:
    """Return a model whose turns are calls, or a text."""
    return Scripted(messages=iter([_message(number, turn) for number, turn in enumerate(turns)]))


def _message(number: int, turn: Call | Sequence[Call] | str) -> AIMessage:
    if isinstance(turn, str):
        return AIMessage(turn)
    calls: Any = [turn] if isinstance(turn[0], str) else turn
    return AIMessage(
        "",
        tool_calls=[
            {"name": name, "args": arguments, "id": f"call_{number}_{index}"}
            for index, (name, arguments) in enumerate(calls)
        ],
    )


def tool_messages(result: dict[str, Any]) -> list[ToolMessage]:
    """Return the results of the tools of a run."""
    return [message for message in result["messages"] if isinstance(message, ToolMessage)]


def code_of(message: ToolMessage) -> Any:
    """Return the code of an error."""
    return (message.artifact.get("error") or {}).get("code")
