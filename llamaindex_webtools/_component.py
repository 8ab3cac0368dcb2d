"""Shared by the retriever, the reader and the postprocessor."""

import logging
import sys
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseComponent

from webtools import InputError
from webtools.adapters import check_web

if TYPE_CHECKING:
    from collections.abc import Mapping

    from llama_index.core.llms import LLM

    from webtools import FetchResponse, SearchResponse, WebTools
    from webtools.config.config_models import Key

logger = logging.getLogger("llamaindex_webtools")


def check_count(name: str, value: int, maximum: int = sys.maxsize) -> int:
    """Return `value`. The core would take 0 for its default.

    Raises:
        InputError: `value` is not a whole number from 1 to `maximum`.
    """
    if value not in range(1, maximum + 1):
        bounds = "1 or more" if maximum == sys.maxsize else f"1 to {maximum}"
        raise InputError(f"{name} {value!r} is invalid; use {bounds}.")
    return value


def check_llm(llm: "LLM") -> "LLM":
    """Return `llm`.

    Raises:
        InputError: `llm` is something else; every answer would consist of quotations.
    """
    if not hasattr(llm, "acomplete"):
        raise InputError(f"llm must be an LLM of LlamaIndex, not {type(llm).__name__}.")
    return llm


def log_warnings(response: "SearchResponse | FetchResponse") -> None:
    for warning in response.warnings:
        logger.warning("%s", warning)


class WebComponent(BaseComponent):
    """A component with a `WebTools`.

    `to_dict` leaves the `WebTools` out, because it may hold keys. Pass one to `from_dict`:
    `from_dict(data, web=web)`. A pickle contains the path of its settings. Pickling fails if keys
    were passed in code.
    """

    _web: Any = PrivateAttr()

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        api_keys: "Mapping[str, Key] | None" = None,
        **fields: Any,
    ) -> None:
        super().__init__(**fields)
        self._web = check_web(web, api_keys=api_keys)

    @property
    def web(self) -> "WebTools":
        """The `WebTools` that does the work."""
        web: WebTools = self._web
        return web

    def __getstate__(self) -> dict[str, Any]:
        """Include the `WebTools`: the base class silently drops what cannot be pickled."""
        state = super().__getstate__()
        state["__pydantic_private__"] = {"_web": self._web}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the `WebTools`: the base class restores only the fields."""
        super().__setstate__(state)
        self._web = state["__pydantic_private__"]["_web"]
