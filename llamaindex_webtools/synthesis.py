"""Lets a LlamaIndex LLM write the answers of web research."""

from llama_index.core.llms import LLM

from webtools.synthesis import ModelSynthesizer


class LLMSynthesizer(ModelSynthesizer):
    """Answers research questions with an LLM, from the sources that were found.

    Each citation of the model is checked against the text of its source: what the source does not
    bear out is left out of the answer, or marked as uncertain. When the model fails, the sources
    are returned without an answer.

    Example:
        from llama_index.llms.openai import OpenAI
        from llamaindex_webtools import LLMSynthesizer
        from webtools import WebTools

        writer = LLMSynthesizer(OpenAI("gpt-5-mini"))
        found = WebTools().research("How is a JSON Lines file read?", synthesis=writer)
        print(found.synthesis.summary)
    """

    def __init__(self, llm: LLM) -> None:
        """Take the model; it is asked once for each answer, in plain text."""
        super().__init__(self._asked, self._awaited)
        self.llm = llm

    def _asked(self, prompt: str) -> str:
        return self.llm.complete(prompt).text

    async def _awaited(self, prompt: str) -> str:
        return (await self.llm.acomplete(prompt)).text
