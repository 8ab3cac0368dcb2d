"""`--model PROVIDER:NAME`: a model that writes answers, through LangChain or LlamaIndex."""

from __future__ import annotations

from importlib import import_module
from inspect import isclass
from typing import Any

from webtools._internal.io.foreign import describe_error
from webtools.errors import ConfigError
from webtools.providers.drafts import Synthesizer

_FRAMEWORKS = (
    "pip install 'agent-webtools[langchain]' langchain-{0}",
    "pip install 'agent-webtools[llamaindex]' llama-index-llms-{0}",
)


def load_synthesizer(model: str) -> Synthesizer:
    """Return a synthesizer for a model, from LangChain, else from LlamaIndex.

    Args:
        model: The provider and the name of the model, such as `openai:gpt-5-mini`.

    Raises:
        ConfigError: The format is invalid, neither framework has the provider, or the provider
            refuses the settings, for example without a key.
    """
    provider, _, name = model.partition(":")
    if not (provider.isidentifier() and name):
        raise ConfigError(
            f'--model "{model}" is invalid. Use PROVIDER:NAME, such as openai:gpt-5-mini.'
        )
    faults: list[str] = []
    reasons: list[str] = []
    for load in (_load_with_langchain, _load_with_llamaindex):
        try:
            return load(provider, name)
        except ImportError as error:
            reasons.append(str(error))
        except Exception as error:  # noqa: BLE001  # a provider's own package may raise anything
            faults.append(describe_error(error))
    if faults:
        raise ConfigError(f'--model "{model}" cannot be used: {faults[0]}')
    commands = "\nor ".join(text.format(provider.replace("_", "-")) for text in _FRAMEWORKS)
    raise ConfigError(
        f'--model "{model}" needs a framework and its package for "{provider}". Run\n{commands}\n'
        f"({'; '.join(reasons)})"
    )


def _load_with_langchain(provider: str, name: str) -> Synthesizer:
    from langchain.chat_models import init_chat_model  # noqa: PLC0415  an extra

    from langchain_webtools import ChatModelSynthesizer  # noqa: PLC0415  an extra

    model: Any = init_chat_model(name, model_provider=provider)
    return ChatModelSynthesizer(model)


def _load_with_llamaindex(provider: str, name: str) -> Synthesizer:
    """Load the class with the name of its module, which is LlamaIndex's convention.

    Raises:
        ImportError: The module or the class does not exist.
    """
    from llamaindex_webtools import LLMSynthesizer  # noqa: PLC0415  an extra

    module = import_module(f"llama_index.llms.{provider}")
    class_name = provider.replace("_", "")
    members: dict[str, Any] = vars(module)
    for member_name, member in members.items():
        if isclass(member) and member_name.lower() == class_name:
            model_class: Any = member
            return LLMSynthesizer(model_class(model=name))
    raise ImportError(f"llama_index.llms.{provider} has no class {class_name}")
