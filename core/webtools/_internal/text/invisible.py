"""Takes out of foreign text what a reader does not see and a model does.

Zero-width characters, marks that turn the direction, tags, soft hyphens, fillers and annotations
carry hidden instructions, or hide the words that would give them away. Joiners and variation
selectors stay where scripts and emoji need them, at most one in a place, and not so many that they
could spell something: what they choose is a glyph, and no reader misses it. `invisible_table` has
the table.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from webtools._internal.text.cleaning import with_spans
from webtools._internal.text.invisible_table import (
    INVISIBLE,
    JOINERS,
    JOINING_NOTHING,
    MONGOLIAN_SELECTORS,
    NEVER_LONG,
    NEVER_SHORT,
    RARE_SELECTORS,
    SELECTING_NOTHING,
    SELECTORS,
    standard_bases,
)
from webtools._internal.text.nested_texts import with_texts
from webtools.errors import WebToolsError

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

_SUSPECT = re.compile(f"[{INVISIBLE}]")
_NEVER_LONG = re.compile(f"[{NEVER_LONG}]+")
_RARE = f"[{RARE_SELECTORS}]"
_MANY = 8  # such characters in a text that may as well write a message
_FLOOD = 4096
_STRETCH = 16_384  # characters
_ASCII = bytes(range(128))
ADDRESSES = {"url", "citations"}  # fields whose texts are kept to the letter, spelled in ASCII


@cache
def _characters(kinds: str) -> list[str]:
    """List the characters of a class, as far as they are short or selectors."""
    every = map(chr, [*range(0x10000), *range(0xE0100, 0xE01F0)])
    return re.findall(f"[{kinds}]", "".join(every))


def beyond_ascii(data: bytes) -> str:
    """Leave the ASCII out of a text in UTF-8: what little is left is quickly looked at."""
    return data.translate(None, _ASCII).decode("utf-8", "surrogatepass")


def may_hide(data: bytes) -> bool:
    """Return whether a text in UTF-8 has characters that a reader may not see."""
    return not data.isascii() and _SUSPECT.search(beyond_ascii(data)) is not None


def _is_suspect(text: str) -> bool:
    return not text.isascii() and may_hide(text.encode("utf-8", "surrogatepass"))


def without_invisible(text: str) -> str:
    """Remove the invisible characters of a text; what is left is not changed again."""
    if not _is_suspect(text):
        return text
    text = _without_needless(text)
    if not _is_suspect(text):
        return text
    text = _without(re.compile(SELECTING_NOTHING.replace("{bases}", standard_bases())), text)
    text = _without(re.compile(JOINING_NOTHING), text)
    return _without_messages(text)


def _without_needless(text: str) -> str:
    """Remove what no text needs, and where all else is a flood, that too.

    One character after the other: that is ten times as quick as a pattern for millions of them.
    """
    for character in _characters(NEVER_SHORT):
        text = text.replace(character, "")
    text = _NEVER_LONG.sub("", text)
    if len(text) > _FLOOD and sum(map(text.count, _characters(SELECTORS + JOINERS))) > max(
        _FLOOD, len(text) // 8
    ):
        for character in _characters(SELECTORS + JOINERS):
            text = text.replace(character, "")
    return text


def _without_messages(text: str) -> str:
    """Remove what stands in its place, but so often that it may spell something.

    Glyphs of ideographs and of mathematics are chosen here and there; joiners stand between few
    letters of a word; and nobody alternates pictures in colour and in black.
    """
    if _is_often(_RARE, text):
        text = re.compile(_RARE + "+").sub("", text)
    joiners = f"[{JOINERS}{MONGOLIAN_SELECTORS}]"
    if _is_often(joiners, text):
        letters = beyond_ascii(text.encode("utf-8", "surrogatepass"))
        if len(letters) < 4 * len(re.compile(joiners).findall(letters)):
            text = re.compile(joiners).sub("", text)
    if min(text.count("\ufe0e"), text.count("\ufe0f")) > _MANY:
        text = text.replace("\ufe0e", "").replace("\ufe0f", "")
    return text


def _is_often(pattern: str, text: str) -> bool:
    found = islice(re.compile(pattern).finditer(text), _MANY + 1)
    return sum(1 for _ in found) > _MANY


def _without(pattern: re.Pattern[str], text: str) -> str:
    """Remove single characters; of a long text in stretches, between which other threads go on."""
    if len(text) <= _STRETCH:
        return pattern.sub("", text)
    starts = (
        match.start()
        for begin in range(0, len(text), _STRETCH)
        for match in pattern.finditer(text, begin, begin + _STRETCH + 1)  # it looks one beyond
        if match.start() < begin + _STRETCH
    )
    return with_spans(text, ((start, start + 1) for start in starts), "")


def visible_error(error: WebToolsError) -> WebToolsError:
    """Take the invisible characters out of an error's text."""
    text = without_invisible(str(error))
    return error if text == str(error) else error.with_message(text)


def visible(value: T) -> T:
    """Take the invisible characters out of a value and all that is in it."""
    return with_texts(value, _visible)


def visible_model(response: Model) -> Model:
    """Take the invisible characters out of a response, and say in a warning how many they were.

    In URLs they are escaped, not removed: another URL would be an invented one.
    """
    removed = 0

    def clean(text: str, name: str) -> str:
        nonlocal removed
        shown = _visible(text, name)
        removed += max(0, len(text) - len(shown))
        return shown

    response = with_texts(response, clean)
    return _warned(response, removed) if removed else response


def _visible(text: str, name: str) -> str:
    clean = without_invisible(text)
    if clean == text or name not in ADDRESSES:
        return clean
    return _SUSPECT.sub(lambda match: quote(match[0]), text)


def _warned(response: Model, removed: int) -> Model:
    what = "1 invisible character" if removed == 1 else f"{removed} invisible characters"
    warning = f"Removed {what} from the text."
    meta = getattr(response, "meta", None)  # where an envelope has its warnings
    if isinstance(meta, BaseModel):
        meta = meta.model_copy(update={"warnings": [*getattr(meta, "warnings", ()), warning]})
        return response.model_copy(update={"meta": meta})
    if "warnings" not in type(response).model_fields:  # a plan, in which nothing is the web's
        return response
    told: list[str] = getattr(response, "warnings", [])
    return response.model_copy(update={"warnings": [*told, warning]})
