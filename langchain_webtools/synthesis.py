"""Lets a LangChain chat model write the answers of web research."""

from langchain_core.language_models import BaseChatModel

from webtools.synthesis import ModelSynthesizer


class ChatModelSynthesizer(ModelSynthesizer):
    """Answers research questions with a chat model, from the sources that were found.

    Each citation of the model is checked against the text of its source: what the source does not
    bear out is left out of the answer, or marked as uncertain. When the model fails, the sources
    are returned without an answer.

    Example:
        from langchain.chat_models import init_chat_model
        from langchain_webtools import ChatModelSynthesizer
        from webtools import WebTools

        writer = ChatModelSynthesizer(init_chat_model("openai:gpt-5-mini"))
        found = WebTools().research("How is a JSON Lines file read?", synthesis=writer)
        print(found.synthesis.summary)

    A call of the model appears in traces below the run that started the research, and its
    callbacks are told of it.
    """

    def __init__(self, model: BaseChatModel) -> None:
        """Take the model; it is asked once for each answer, in plain text."""
        super().__init__(self._asked, self._awaited)
        self.model = model

    def _asked(self, prompt: str) -> str:
        return str(self.model.invoke(prompt).text)

    async def _awaited(self, prompt: str) -> str:
        return str((await self.model.ainvoke(prompt)).text)
