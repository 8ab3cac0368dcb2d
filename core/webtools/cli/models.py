"""`--model PROVIDER:NAME`: a model that writes answers, through whichever framework is there."""

from __future__ import annotations

from importlib import import_module
from inspect import isclass
from typing import TYPE_CHECKING, Any

from webtools._internal.io.foreign import describe_error
from webtools.errors import ConfigError

if TYPE_CHECKING:
    from webtools.synthesis import Synthesizer

_FRAMEWORKS = (
    "pip install 'agent-webtools[langchain]' langchain-{0}",
    "pip install 'agent-webtools[llamaindex]' llama-index-llms-{0}",
)


def synthesizer_of(model: str) -> Synthesizer:
    """Return what lets a model write answers: by LangChain, or where that lacks it by LlamaIndex.

    Args:
        model: The provider and the model's name there, such as `openai:gpt-5-mini`.

    Raises:
        ConfigError: The name has another form, neither framework has the provider, or the
            provider refuses the settings, such as those without a key.
    """
    provider, _, name = model.partition(":")
    if not (provider.isidentifier() and name):
        raise ConfigError(f'--model "{model}" is not possible; write PROVIDER:NAME.')
    faults: list[str] = []
    for load in (_of_langchain, _of_llamaindex):
        try:
            return load(provider, name)
        except ImportError:
            continue
        except Exception as error:  # noqa: BLE001  # a provider's own package may raise anything
            faults.append(describe_error(error))
    if faults:
        raise ConfigError(f'--model "{model}" cannot be used: {faults[0]}')
    ways = "\nor: ".join(way.format(provider.replace("_", "-")) for way in _FRAMEWORKS)
    raise ConfigError(
        f'--model "{model}" takes a framework and its package for "{provider}":\n{ways}'
    )


def _of_langchain(provider: str, name: str) -> Synthesizer:
    from langchain.chat_models import init_chat_model  # noqa: PLC0415  an extra

    from langchain_webtools import ChatModelSynthesizer  # noqa: PLC0415  likewise

    model: Any = init_chat_model(name, model_provider=provider)
    return ChatModelSynthesizer(model)


def _of_llamaindex(provider: str, name: str) -> Synthesizer:
    """Load a model of the class that is called like its module, as those packages have it.

    Raises:
        ImportError: There is no such module, or no such class in it.
    """
    from llamaindex_webtools import LLMSynthesizer  # noqa: PLC0415  an extra

    module = import_module(f"llama_index.llms.{provider}")
    wanted = provider.replace("_", "")
    kinds: dict[str, Any] = vars(module)
    for title, kind in kinds.items():
        if isclass(kind) and title.lower() == wanted:
            make: Any = kind
            return LLMSynthesizer(make(model=name))
    raise ImportError(provider)
