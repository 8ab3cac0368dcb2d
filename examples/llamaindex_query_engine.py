"""Answer a question from the web with a LlamaIndex query engine that cites its sources.

    python examples/llamaindex_query_engine.py "How do I generate a secure token?"

It uses your own settings: a config file, or a provider's key in the environment. Without them, it
starts the offline sandbox, which has the documentation of Python's standard library. Set CHAT_MODEL
to a model of OpenAI, such as gpt-5. Without it, a stand-in quotes the first source.
Needs: pip install 'agent-webtools[llamaindex,sandbox]', and llama-index-llms-openai for CHAT_MODEL.
"""

import os
import sys
from contextlib import ExitStack
from typing import Any

from llama_index.core.llms import CompletionResponse, MockLLM
from llama_index.core.query_engine import CitationQueryEngine

from llamaindex_webtools.postprocessors import FetchPagePostprocessor
from llamaindex_webtools.retrievers import WebRetriever
from webtools import WebTools
from webtools.config import Settings
from webtools_sandbox import SandboxServer


class QuotingLLM(MockLLM):
    """Quotes the beginning of the first source."""

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Answer the prompt of a citation query engine."""
        source = prompt.rpartition("Source 1:\n")[2].partition("\n\n\n")[0]
        return CompletionResponse(text=f"{' '.join(source.split()[:60])} … [1]")


def model() -> Any:
    """Return the model that CHAT_MODEL names, else the stand-in."""
    if name := os.environ.get("CHAT_MODEL"):
        from llama_index.llms.openai import OpenAI  # noqa: PLC0415  not needed otherwise

        return OpenAI(model=name)
    return QuotingLLM(max_tokens=None)


question = " ".join(sys.argv[1:]) or "How do I generate a secure token?"
with ExitStack() as stack:
    config = None
    if not Settings().accounts().accounts:  # neither a config file nor a key
        config = stack.enter_context(SandboxServer()).config()
    web = stack.enter_context(WebTools(config))
    engine = CitationQueryEngine(
        retriever=WebRetriever(web, similarity_top_k=3),
        node_postprocessors=[FetchPagePostprocessor(web, max_characters=2000)],
        llm=model(),
    )
    answer = engine.query(question)
print(answer, "", "Sources:", sep="\n")
for number, node in enumerate(answer.source_nodes, 1):
    print(f"[{number}] {node.metadata['title']}: {node.metadata['url']}")
