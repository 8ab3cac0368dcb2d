"""Answer a question with the LlamaIndex workflow that searches, fetches and synthesizes.

    python examples/llamaindex_workflow.py "How do I generate a secure token?"

It uses your own settings: a config file, or a provider's key in the environment. Without them, it
starts the offline sandbox, which has the documentation of Python's standard library. Set CHAT_MODEL
to a model of OpenAI, such as gpt-5. Without it, a stand-in quotes the first source.
Needs: pip install 'agent-webtools[llamaindex,sandbox]', and llama-index-llms-openai for CHAT_MODEL.
"""

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from typing import Any

from llama_index.core.llms import CompletionResponse, MockLLM

from llamaindex_webtools.workflows import SearchFetchSynthesizeWorkflow, WebProgressEvent
from webtools import WebTools
from webtools.config import Settings
from webtools_sandbox import SandboxServer


class QuotingLLM(MockLLM):
    """Quotes the beginning of the first source."""

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Answer the prompt of the workflow: number, metadata and text of each source."""
        source = prompt.rpartition("Source 1:\n")[2].partition("Source 2:\n")[0]
        return CompletionResponse(text=f"{' '.join(source.split()[:60])} … [1]")


def model() -> Any:
    """Return the model that CHAT_MODEL names, else the stand-in."""
    if name := os.environ.get("CHAT_MODEL"):
        from llama_index.llms.openai import OpenAI  # noqa: PLC0415  not needed otherwise

        return OpenAI(model=name)
    return QuotingLLM(max_tokens=None)


async def answer(question: str) -> None:
    """Show how far the run is, then the answer and what it cites."""
    async with AsyncExitStack() as stack:
        config = None
        if not Settings().accounts().accounts:  # neither a config file nor a key
            config = stack.enter_context(SandboxServer()).config()
        web = await stack.enter_async_context(WebTools(config))
        handler = SearchFetchSynthesizeWorkflow(web, llm=model()).run(query=question)
        async for event in handler.stream_events():
            if isinstance(event, WebProgressEvent):
                print(f"{event.stage} {event.done}/{event.total} {event.subject}")
        found: Any = await handler
    print("", found, "", "Cited:", sep="\n")
    for source in found.citations:
        print(f"- {source.metadata['title']}: {source.metadata['url']}")


asyncio.run(answer(" ".join(sys.argv[1:]) or "How do I generate a secure token?"))
