"""The chat model that writes or judges answers, as arguments take it."""

from typing import Annotated, TypeAlias

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from pydantic import BeforeValidator

from webtools.errors import InputError

ChatModel: TypeAlias = Runnable[LanguageModelInput, BaseMessage]
"""Any chat model, also one made by `with_fallbacks`, `with_retry` or `init_chat_model`."""


def check_model(model: ChatModel | None) -> ChatModel | None:
    """Return a chat model, or None for none.

    Raises:
        InputError: It is something else, which would leave every answer to quotations.
    """
    if model is not None and not hasattr(model, "ainvoke"):
        kind = type(model).__name__
        raise InputError(f'llm must be a chat model, not {kind}: write init_chat_model("...").')
    return model


Model = Annotated[ChatModel | None, BeforeValidator(check_model)]
"""The type of a field `llm`."""
