"""The third part: a LangChain agent whose model is the script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain import agents
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langchain_webtools import WebToolkit
from webtools.cli.demo import screen
from webtools.cli.demo.script import Call, Script

if TYPE_CHECKING:
    from webtools import WebTools


class ScriptedModel(BaseChatModel):
    """A chat model that reads the tools' messages and follows the script."""

    script: Script

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> ScriptedModel:
        """Take note of no tools: the script names them."""
        del tools, kwargs
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        del args, kwargs
        seen = [str(message.content) for message in messages if isinstance(message, ToolMessage)]
        turn = self.script.turn(seen)
        if isinstance(turn, Call):
            wanted = ToolCall(name=turn.tool, args=turn.arguments, id=f"call-{len(seen)}")
            message = AIMessage("", tool_calls=[wanted])
        else:
            message = AIMessage(turn)
        return ChatResult(generations=[ChatGeneration(message=message)])


def show(script: Script, web: WebTools, config: Path | None) -> bool:
    """Run the agent and show each message as it comes; return whether every call worked."""
    del config  # `web` has it
    untyped: Any = agents  # what `create_agent` gives is only half typed
    agent = untyped.create_agent(ScriptedModel(script=script), WebToolkit(web=web).get_tools())
    question = {"messages": [("user", script.question)]}
    updates = agent.stream(question, stream_mode="updates")
    steps = [step for update in updates for step in update.values()]
    worked = [_show_message(message) for step in steps for message in step["messages"]]
    return all(worked)


def _show_message(message: BaseMessage) -> bool:
    """Show a message; tells whether it is good news."""
    if isinstance(message, ToolMessage):
        failed = message.status == "error"
        screen.result(str(message.content), is_error=failed)
        return not failed
    if isinstance(message, AIMessage) and message.tool_calls:
        for wanted in message.tool_calls:
            screen.call(Call(wanted["name"], wanted["args"]))
    else:
        screen.answer(str(message.content))
    return True
