"""Answer synthesis and claim verification with a LangChain chat model."""

from collections.abc import Awaitable, Callable

from langchain_webtools._fields import ChatModel, check_model
from webtools.synthesis import ModelSynthesizer, ModelVerifier


class ChatModelSynthesizer(ModelSynthesizer):
    """Answers research questions with a chat model, from the sources.

    Each claim of the model is compared with the sources that it cites. Claims that are not quoted
    are marked `(uncertain)`. Claims that share no word with their sources are left out. When the
    model fails, the sources are returned without an answer.

    Example:
        from langchain.chat_models import init_chat_model
        from langchain_webtools import ChatModelSynthesizer
        from webtools import WebTools

        writer = ChatModelSynthesizer(init_chat_model("openai:gpt-5-mini"))
        envelope = WebTools().research("How is a JSON Lines file read?", synthesis=writer)
        print(envelope.synthesis.summary)

    Calls of the model appear in traces below the run that started the research, and are reported
    to its callbacks.
    """

    def __init__(self, model: ChatModel) -> None:
        """Use the model, with one plain-text call per answer."""
        super().__init__(*_callables(model))
        self.model = model


class ChatModelVerifier(ModelVerifier):
    """Judges claims with a chat model.

    A claim is `supported` if the model judges so and names a quotation that is in a source the
    claim cites and contains the claim's numbers and names. Without a model no claim is `supported`.

    Example:
        from langchain.chat_models import init_chat_model
        from langchain_webtools import ChatModelVerifier
        from webtools import WebTools

        judge = ChatModelVerifier(init_chat_model("openai:gpt-5-mini"))
        report = WebTools().verify("... [1]", ["https://example.com"], verifier=judge)
        print([claim.status for claim in report.claims])
    """

    def __init__(self, model: ChatModel) -> None:
        """Use the model, with one plain-text call per answer."""
        super().__init__(*_callables(model))
        self.model = model


def _callables(model: ChatModel) -> tuple[Callable[[str], str], Callable[[str], Awaitable[str]]]:
    check_model(model)

    def ask(prompt: str) -> str:
        return str(model.invoke(prompt).text)

    async def aask(prompt: str) -> str:
        return str((await model.ainvoke(prompt)).text)

    return ask, aask
