"""Answer a question with a LangChain agent that searches, reads a page and cites it.

    python examples/langchain_agent.py "How do I read a zip file in Python?"

It uses your own settings: a config file, or a provider's key in the environment. Without them, it
starts the offline sandbox, which has the documentation of Python's standard library. Set CHAT_MODEL
to a model, such as openai:gpt-5. Without it, a stand-in follows a script.
Needs: pip install 'agent-webtools[langchain,sandbox]', and the package of CHAT_MODEL's provider.
"""

import os
import re
import sys
from contextlib import ExitStack
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langchain_webtools import WebToolkit
from webtools import WebTools
from webtools.config import Settings
from webtools_sandbox import SandboxServer

FIRST_RESULT = re.compile(r"^\d+\. (.+)\n +(https?://\S+)$", re.MULTILINE)


class ScriptedModel(BaseChatModel):
    """A stand-in for a model: searches, reads the first page, and quotes it."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> BaseChatModel:
        """Ignore the tools: the script names them."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        outputs = [message.text for message in messages if isinstance(message, ToolMessage)]
        result = FIRST_RESULT.search(outputs[0]) if outputs else None
        if not outputs:
            question = next(item.text for item in messages if isinstance(item, HumanMessage))
            reply = call("web_search", queries=[question], limit=3)
        elif result is None:
            reply = AIMessage("Nothing was found.")
        elif len(outputs) == 1:
            reply = call("web_fetch", urls=[result[2]], text_max_characters=600)
        else:
            words = outputs[1].partition(f"\n{result[2]}\n")[2].split()
            text = f"{' '.join(words[:40])} …\n\nSources:\n- [{result[1]}]({result[2]})"
            reply = AIMessage(text)
        return ChatResult(generations=[ChatGeneration(message=reply)])


def call(name: str, **arguments: Any) -> AIMessage:
    """Return a message that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


def main(question: str) -> None:
    """Ask the agent, and print its tool calls and its answer."""
    name = os.environ.get("CHAT_MODEL")
    model = init_chat_model(name) if name else ScriptedModel()
    with ExitStack() as stack:
        config = None
        if not Settings().accounts().accounts:  # neither a config file nor a key
            config = stack.enter_context(SandboxServer()).config()
        web = stack.enter_context(WebTools(config))
        agent = create_agent(
            model,
            WebToolkit(web=web).get_tools(),
            system_prompt="Answer from the web tools alone, and cite the URLs you used.",
        )
        state = agent.invoke({"messages": [HumanMessage(question)]})
    for message in state["messages"]:
        for tool_call in getattr(message, "tool_calls", []):
            print("->", tool_call["name"], tool_call["args"])
    print("", state["messages"][-1].text, sep="\n")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "How do I read a zip file in Python?")
