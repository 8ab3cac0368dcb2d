"""What retriever, reader and postprocessor share."""

import logging
import sys
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseComponent

import webtools
from webtools import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from llama_index.core.llms import LLM

    from webtools import FetchResponse, SearchResponse, WebTools
    from webtools.config.overrides import Key

logger = logging.getLogger("llamaindex_webtools")


def check_count(name: str, value: int, most: int = sys.maxsize) -> int:
    """Return a number of a developer's; to a tool 0 would mean its default.

    Raises:
        InputError: It is no number from 1 on, or more than `most`.
    """
    if value not in range(1, most + 1):
        bounds = "1 or more" if most == sys.maxsize else f"1 to {most}"
        raise InputError(f"{name} {value!r} is not possible; use {bounds}.")
    return value


def check_llm(llm: "LLM") -> "LLM":
    """Return an LLM.

    Raises:
        InputError: It is something else, which would leave every answer to quotations.
    """
    if not hasattr(llm, "acomplete"):
        raise InputError(f"llm must be an LLM of LlamaIndex, not {type(llm).__name__}.")
    return llm


def log_warnings(response: "SearchResponse | FetchResponse") -> None:
    """Log what a call has to warn of, such as a filter that nobody could apply."""
    for warning in response.warnings:
        logger.warning("%s", warning)


def given_or_new(web: "WebTools | None", **settings: Any) -> "WebTools":
    """Return `web`, or for None a new `WebTools` with these arguments.

    Raises:
        InputError: `web` is not a `WebTools`, or comes with further arguments.
    """
    if web is None:
        return webtools.WebTools(**settings)
    if not isinstance(web, webtools.WebTools):  # pyright: ignore[reportUnnecessaryIsInstance]
        kind = type(web).__name__
        message = f'web must be a webtools.WebTools, not {kind}: write WebTools("...").'
        raise InputError(message)
    if names := [name for name, value in settings.items() if value is not None]:
        raise InputError(f"Pass web or {', '.join(names)}, not both: WebTools takes them too.")
    return web


class HoldsWeb(BaseComponent):
    """A component over a `WebTools`.

    `to_dict` leaves it out, as it may hold keys; give `from_dict` another: `from_dict(data,
    web=web)`. A pickle keeps where its settings are, and refuses keys given in code.
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
        self._web = given_or_new(web, api_keys=api_keys)

    @property
    def web(self) -> "WebTools":
        """What does the work."""
        found: WebTools = self._web
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Keep the `WebTools`: the base leaves out silently what refuses to be pickled."""
        state = super().__getstate__()
        state["__pydantic_private__"] = {"_web": self._web}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the `WebTools` back: the base restores the fields alone."""
        super().__setstate__(state)
        self._web = state["__pydantic_private__"]["_web"]
