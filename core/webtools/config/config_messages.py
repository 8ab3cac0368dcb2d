"""The words of messages about settings: what pydantic found, and what holds keys."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NoReturn

from webtools._internal.text.quoting import SHORTEST_KEY, hint, looks_like_key, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

_OF_NUMBERS = ("int", "float", "bool", "greater", "less")  # beginnings of kinds of faults


def fail(what: str) -> NoReturn:
    """Raise what pydantic, and `load`, turn into our error."""
    raise ValueError(what)


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Describe the first fault that pydantic found: its path, what is wrong, and the value.

    A text is told only if it is too short for a key: these may stand anywhere by mistake.
    """
    faults = error.errors(include_url=False)
    # A misspelt key is also a missing one: the spelling is what to tell.
    fault = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    path = _path(fault["loc"])
    if fault["type"] == "extra_forbidden":
        key, fields = str(fault["loc"][-1]), model.model_fields
        # Python code spells the settings with underscores, a config file in camel case.
        known = [*fields] if "_" in key else [str(info.alias) for info in fields.values()]
        return _unknown_key(path, key, known)
    if fault["type"] == "missing":
        return f"{path} is missing"
    text = re.sub(r"^Value error, |^\w+ (?=should)", "", fault["msg"]).replace("should", "must", 1)
    return f"{path} {text}{_not(fault)}"


def _not(fault: ErrorDetails) -> str:
    kind, value = fault["type"], fault["input"]
    if isinstance(value, str):
        is_told = kind != "value_error" and len(value) < SHORTEST_KEY
    else:
        is_told = isinstance(value, (int, float)) and kind.startswith(_OF_NUMBERS)
    return f", not {json.dumps(value)}" if is_told else ""


def _path(steps: Sequence[int | str]) -> str:
    texts = (f"[{step}]" if isinstance(step, int) else f".{_bare(step)}" for step in steps)
    return "".join(texts).removeprefix(".")


def _bare(key: str) -> str:
    is_word = re.fullmatch(r"\w{1,60}", key, re.ASCII) and not looks_like_key(key)
    return key if is_word else quote(key)


def _unknown_key(path: str, key: str, known: Sequence[str]) -> str:
    return f"{path} is an unknown key{hint(key, known)}; known are: {', '.join(known)}"


def not_picklable(kind: type) -> TypeError:
    """Make the error for whatever holds keys and is being pickled."""
    return TypeError(
        f"{kind.__name__} holds API keys, so it cannot be pickled; "
        "give the other process the config file's path and build it there, or give as apiKey a "
        "function that can be imported by its name"
    )
