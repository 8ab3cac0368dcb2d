"""Answer synthesis and claim verification with a LlamaIndex LLM."""

from collections.abc import Awaitable, Callable

from llama_index.core.llms import LLM

from llamaindex_webtools._component import check_llm
from webtools.synthesis import ModelSynthesizer, ModelVerifier


class LLMSynthesizer(ModelSynthesizer):
    """Write the answers of research with an LLM.

    Each claim of the model is compared with the sources that it cites. Claims that are not quoted
    are marked `(uncertain)`. Claims that share no content word with their sources are omitted. If
    the model fails, the answer quotes the sources.

    Example:
        from llama_index.llms.openai import OpenAI
        from llamaindex_webtools import LLMSynthesizer
        from webtools import WebTools

        writer = LLMSynthesizer(OpenAI("gpt-5-mini"))
        envelope = WebTools().research("How is a JSON Lines file read?", synthesis=writer)
        print(envelope.synthesis.summary)
    """

    def __init__(self, llm: LLM) -> None:
        """Use an LLM. Each answer takes one call."""
        super().__init__(*_callables(llm))
        self.llm = llm


class LLMVerifier(ModelVerifier):
    """Judge claims with an LLM.

    A claim is `supported` if the model says so and quotes a source that the claim cites. The
    quotation must be in the source and contain the numbers and names of the claim. Without a model,
    no claim is `supported`.

    Example:
        from llama_index.llms.openai import OpenAI
        from llamaindex_webtools import LLMVerifier
        from webtools import WebTools

        judge = LLMVerifier(OpenAI("gpt-5-mini"))
        report = WebTools().verify("... [1]", ["https://example.com"], verifier=judge)
        print([claim.status for claim in report.claims])
    """

    def __init__(self, llm: LLM) -> None:
        """Use an LLM. Each check takes one call."""
        super().__init__(*_callables(llm))
        self.llm = llm


def _callables(llm: LLM) -> tuple[Callable[[str], str], Callable[[str], Awaitable[str]]]:
    check_llm(llm)

    def ask(prompt: str) -> str:
        return llm.complete(prompt).text

    async def aask(prompt: str) -> str:
        return (await llm.acomplete(prompt)).text

    return ask, aask
