"""The words of messages about settings: foreign text, the nearest known word, pydantic's faults."""

from __future__ import annotations

import difflib
import json
import re
from typing import TYPE_CHECKING, NoReturn

from pydantic.alias_generators import to_camel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

SHORTEST_KEY = 8  # characters; a shorter one would be found, and cut out, in any text
_ONE_PIECE = re.compile(r"[!-.0-\[\]-~]{16,}")  # without slashes, which paths have
QUOTED = 57  # characters of a longer text that are shown
_OF_NUMBERS = ("int", "float", "bool", "greater", "less")  # beginnings of kinds of faults


def quote(text: str) -> str:
    """Quote foreign text for a message: ASCII, no control character, at most 60 characters.

    What looks like a key is not shown: people paste keys where a name belongs.
    """
    if looks_like_key(text):
        return '"[redacted]"'
    shown = text if len(text) <= QUOTED + 3 else text[:QUOTED] + "..."
    plain = shown.encode("ascii", "backslashreplace").decode()
    return '"' + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in plain) + '"'


def looks_like_key(text: str) -> bool:
    """Return whether no human made a text up: long, in one piece, with letters and digits mixed."""
    if not _ONE_PIECE.fullmatch(text):
        return False
    runs = [run for run in re.findall("[A-Za-z0-9]+", text) if len(run) >= SHORTEST_KEY]
    return any(not run.isalpha() and not run.isdigit() for run in runs)


def listed(texts: Iterable[str]) -> str:
    """Quote and join for a message."""
    return ", ".join(quote(text) for text in texts)


def hint(wrong: str, known: Iterable[str]) -> str:
    """Name the known word that a wrong one is nearest to, or nothing."""
    near = nearest(wrong, known)
    return f" (did you mean {quote(near)}?)" if near else ""


def nearest(wrong: str, known: Iterable[str]) -> str:
    """Return the known word that a wrong one is nearest to, however it is spelled; "" for none."""
    by_lower = {to_camel(word).lower(): word for word in known}
    near = difflib.get_close_matches(to_camel(wrong).lower(), by_lower, n=1)
    return by_lower[near[0]] if near else ""


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
        known = [str(info.alias) for info in model.model_fields.values()]
        return _unknown_key(path, str(fault["loc"][-1]), known)
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
