"""A function of the caller that writes the answers of research."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from webtools._internal.io.async_foreign import both_ways
from webtools._internal.io.runtime import IO
from webtools._internal.text.cleaning import without_controls
from webtools.errors import InputError, RequestError
from webtools.inputs.argument_values import shown
from webtools.providers.drafts import Draft, Synthesizer
from webtools.providers.protocols import SynthesisQuery


class FunctionSynthesizer:
    """Has a function of the caller write the answer.

    Attributes:
        name: The name in results and in the log.
    """

    def __init__(self, function: Callable[..., Any], name: str, *, takes_io: bool) -> None:
        """Use a blocking or async function that returns a text or a `Draft`."""
        self.name = name
        self._function = function
        self._takes_io = takes_io

    async def draft(self, query: SynthesisQuery, deadline: float, io: IO, /) -> Draft:
        """Call the function.

        Raises:
            RequestError: It raised, returned something else, or took too long.
        """
        arguments = (query, deadline, io) if self._takes_io else (query,)
        ways = both_ways(partial(self._function, *arguments))
        result: object = await io.call_foreign(*ways, deadline)
        if isinstance(result, str):
            return Draft(without_controls(result).strip())
        if isinstance(result, Draft):
            return result
        kind = type(result).__name__
        raise RequestError(f"The synthesizer failed: it returned {kind} instead of a text.")


def as_synthesizer(value: Any) -> Synthesizer:
    """Return a synthesizer for what a caller passed.

    Raises:
        InputError: It is neither a function of the query nor an object with such a method `draft`.
    """
    function = getattr(value, "draft", value)
    kind = type(value).__name__
    if not callable(function):
        expected = "a name, a function, ChatModelSynthesizer(model) or LLMSynthesizer(llm)"
        raise InputError(f"synthesis must be {expected}, not {kind}.")
    takes_io = accepts(function, 3)
    if takes_io and function is not value and inspect.iscoroutinefunction(function):
        return cast("Synthesizer", value)
    name = getattr(value, "name", getattr(value, "__name__", kind))
    name = name if isinstance(name, str) else kind
    if not (takes_io or accepts(function, 1)):
        what = "its method draft" if function is not value else "a function"
        raise InputError(f"synthesis {shown(name)}: {what} must take one argument, the query.")
    return FunctionSynthesizer(function, name, takes_io=takes_io)


def accepts(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function can be called with this number of positional arguments."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # a function in C without a signature
        return count == 1
    return True
