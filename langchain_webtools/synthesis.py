"""Answer synthesis and claim verification with a LangChain chat model."""

from collections.abc import Awaitable, Callable

from langchain_webtools._fields import ChatModel, check_model
from webtools.synthesis import ModelSynthesizer, ModelVerifier


class ChatModelSynthesizer(ModelSynthesizer):
    """Write the answers of research with a chat model.

    Each claim of the model is compared with the sources that it cites. Claims that are not quoted
    are marked `(uncertain)`. Claims that share no content word with their sources are omitted. If
    the model fails, the answer quotes the sources.

    Example:
        from langchain.chat_models import init_chat_model
        from langchain_webtools import ChatModelSynthesizer
        from webtools import WebTools

        writer = ChatModelSynthesizer(init_chat_model("openai:gpt-5-mini"))
        envelope = WebTools().research("How is a JSON Lines file read?", synthesis=writer)
        print(envelope.synthesis.summary)

    Calls of the model appear in the trace of the run that started the research, and are reported to
    its callbacks.
    """

    def __init__(self, model: ChatModel) -> None:
        """Use a chat model. Each answer takes one call."""
        super().__init__(*_callables(model))
        self.model = model


class ChatModelVerifier(ModelVerifier):
    """Judge claims with a chat model.

    A claim is `supported` if the model says so and quotes a source that the claim cites. The
    quotation must be in the source and contain the numbers and names of the claim. Without a model,
    no claim is `supported`.

    Example:
        from langchain.chat_models import init_chat_model
        from langchain_webtools import ChatModelVerifier
        from webtools import WebTools

        judge = ChatModelVerifier(init_chat_model("openai:gpt-5-mini"))
        report = WebTools().verify("... [1]", ["https://example.com"], verifier=judge)
        print([claim.status for claim in report.claims])
    """

    def __init__(self, model: ChatModel) -> None:
        """Use a chat model. Each check takes one call."""
        super().__init__(*_callables(model))
        self.model = model


def _callables(model: ChatModel) -> tuple[Callable[[str], str], Callable[[str], Awaitable[str]]]:
    check_model(model)

    def ask(prompt: str) -> str:
        return str(model.invoke(prompt).text)

    async def aask(prompt: str) -> str:
        return str((await model.ainvoke(prompt)).text)

    return ask, aask
