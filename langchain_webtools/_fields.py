"""Validators and field types that the constructors share."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, TypeAlias, cast

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from pydantic import BaseModel, BeforeValidator
from pydantic_core import PydanticCustomError

from webtools import WebTools, adapters
from webtools.config.config_models import ClientArguments
from webtools.errors import InputError

_SETTINGS = ("api_keys", "keyless")  # of a `WebTools`

ChatModel: TypeAlias = Runnable[LanguageModelInput, BaseMessage]
"""Any chat model, also one made by `with_fallbacks`, `with_retry` or `init_chat_model`."""

_CLIENT_HINT = '{kind} does not accept "{name}". Pass web=WebTools({name}=...).'
_KEY_HINT = (
    '{kind} does not accept "{name}". Pass api_keys={"exa": "..."}, or set a variable such as '
    "EXA_API_KEY."
)


def check_web(web: Any, **settings: Any) -> WebTools:
    """Return `web`; for None, make a `WebTools` from the settings.

    Raises:
        ValueError: `web` is not a `WebTools`, or comes with settings.
    """
    if web is None:
        return WebTools(**settings)
    try:
        return adapters.check_web(web, **settings)
    except InputError as error:
        raise ValueError(str(error)) from None  # pydantic reports it as a `ValidationError`


def check_model(model: ChatModel | None) -> ChatModel | None:
    """Return the chat model.

    Raises:
        InputError: `model` is something else; every answer would consist of quotations.
    """
    if model is not None and not hasattr(model, "ainvoke"):
        kind = type(model).__name__
        raise InputError(f'llm must be a chat model, such as init_chat_model("..."), not {kind}.')
    return model


# The defaults are set where the fields are declared: type checkers would miss them here.
Web = Annotated[WebTools, BeforeValidator(check_web)]
Model = Annotated[ChatModel | None, BeforeValidator(check_model)]


def use_settings(values: Any) -> Any:
    """Replace the constructor's arguments `api_keys` and `keyless` by a `WebTools` with them."""
    if not isinstance(values, Mapping):
        return values
    settings = {name: values[name] for name in _SETTINGS if values.get(name) is not None}
    if not settings:
        return values
    web = check_web(values.get("web"), **settings)
    return {name: value for name, value in values.items() if name not in _SETTINGS} | {"web": web}


def check_argument_names(cls: type[BaseModel], values: Any) -> Any:
    """Return the constructor's arguments if the class has all of them.

    Raises:
        PydanticCustomError: An argument is unknown. Pydantic reports it as a `ValidationError`.
    """
    if not isinstance(values, Mapping):
        return values
    names = {*cls.model_fields, *(field.alias for field in cls.model_fields.values())}
    unknown = next((name for name in values if name not in names), None)
    if unknown is None:
        return values
    facts = {"kind": cls.__name__, "name": ascii(unknown)[1:-1]}
    if str(unknown).endswith("api_key"):
        raise PydanticCustomError("unknown_argument", _KEY_HINT, facts)
    if unknown in ClientArguments.__annotations__:
        raise PydanticCustomError("unknown_argument", _CLIENT_HINT, facts)
    known = {*cls.model_fields, *getattr(cls, "client_arguments", ())}
    suggestions = get_close_matches(str(unknown), sorted(known), n=1)
    facts["suggestion"] = f'; did you mean "{suggestions[0]}"?' if suggestions else "."
    of_client = ["and those of WebTools"] if hasattr(cls, "client_arguments") else []
    facts["own"] = ", ".join([*_own_fields(cls), *of_client])
    message = '{kind} does not accept "{name}"{suggestion} Its arguments are: {own}.'
    raise PydanticCustomError("unknown_argument", message, facts)


def _own_fields(cls: type[BaseModel]) -> list[str]:
    """List the fields that LangChain's base class does not have."""
    base = next(parent for parent in cls.__mro__ if parent.__module__.startswith("langchain_core."))
    inherited: Mapping[str, Any] = cast("type[BaseModel]", base).model_fields
    return [name for name in cls.model_fields if name not in inherited]
