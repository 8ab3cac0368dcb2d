"""Messages about invalid settings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NoReturn

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel, to_snake
from pydantic_core import ErrorDetails

from webtools._internal.text.quoting import SHORTEST_KEY, hint, looks_like_key, quote

# Settings of earlier versions, also as keyword arguments.
REMOVED = {
    "loop_guard": "was removed in 0.4.0: the same search returns the same results. Delete it, and "
    "pass `page` or `exclude_domains` for other results",
}
_NUMBER_FAULTS = ("int", "float", "bool", "greater", "less")  # prefixes of pydantic's error types


def fail(message: str) -> NoReturn:
    """Raise an error that pydantic and `load` turn into a `ConfigError`."""
    raise ValueError(message)


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Describe the first fault of a model: path, fault and value.

    A text is shown only if it is too short for a key, which users may put anywhere by mistake.
    """
    faults = error.errors(include_url=False)
    # A misspelt key is also missing. Report the spelling.
    fault = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    path = _path(fault["loc"])
    if fault["type"] == "extra_forbidden":
        key, fields = str(fault["loc"][-1]), model.model_fields
        if to_snake(key) in REMOVED:
            return f"{path} {REMOVED[to_snake(key)]}"
        if twin := next((n for n, info in fields.items() if key in {n, info.alias}), ""):
            return f"{path} is set twice, as {quote(to_camel(twin))} and {quote(twin)}"
        # Python code spells the settings with underscores, a config file in camel case.
        names = [*fields] if "_" in key else [str(info.alias) for info in fields.values()]
        return f"{path} is an unknown key{hint(key, names)}. Known keys: {', '.join(names)}"
    if fault["type"] == "missing":
        return f"{path} is missing"
    text = re.sub(r"^Value error, |^\w+ (?=should)", "", fault["msg"]).replace("should", "must", 1)
    return f"{path} {text}{_shown_value(fault)}"


def _shown_value(fault: ErrorDetails) -> str:
    kind, value = fault["type"], fault["input"]
    if isinstance(value, str):
        is_shown = kind != "value_error" and len(value) < SHORTEST_KEY
    else:
        is_shown = isinstance(value, (int, float)) and kind.startswith(_NUMBER_FAULTS)
    return f", not {json.dumps(value)}" if is_shown else ""


def _path(steps: Sequence[int | str]) -> str:
    texts = (
        f"[{step}]" if isinstance(step, int) else f".{_quoted_unless_word(step)}" for step in steps
    )
    return "".join(texts).removeprefix(".")


def _quoted_unless_word(key: str) -> str:
    is_word = re.fullmatch(r"\w{1,60}", key, re.ASCII) and not looks_like_key(key)
    return key if is_word else quote(key)


def not_picklable(kind: type, setting: str = "") -> TypeError:
    """Return the error for pickling an object that holds keys, or a URL with a login."""
    holds = f"a login in {setting}" if setting in {"proxy", "url"} else "API keys"
    return TypeError(
        f"{kind.__name__} holds {holds}, so it cannot be pickled. "
        "Pass the path of the config file to the other process, or set apiKey to a function that "
        "both processes can import."
    )
