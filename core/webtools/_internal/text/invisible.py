"""Remove characters from foreign text that a model reads and a person does not see.

Zero-width characters, direction marks, tags, soft hyphens, fillers and annotations can carry hidden
instructions, or hide the words that would give them away. Joiners and variation selectors stay
where scripts and emoji need them, one at a time, and not so many that they could spell something.
`invisible_table` has the table.
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
from webtools._internal.text.nested_texts import add_warning, with_texts
from webtools.errors import WebToolsError

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

_SUSPECT = re.compile(f"[{INVISIBLE}]")
_NEVER_LONG = re.compile(f"[{NEVER_LONG}]+")
_RARE = f"[{RARE_SELECTORS}]"
_MANY = 8  # such characters in a text may spell a message
_FLOOD = 4096
_STRETCH = 16_384  # characters
ASCII = bytes(range(128))
ADDRESSES = {"url", "citations"}  # fields whose invisible characters are escaped, not removed


@cache
def _characters(kinds: str) -> list[str]:
    """List the characters of a class in the basic plane, and the selectors beyond it."""
    characters = map(chr, [*range(0x10000), *range(0xE0100, 0xE01F0)])
    return re.findall(f"[{kinds}]", "".join(characters))


def beyond_ascii(text: str) -> str:
    """Return the characters beyond ASCII; a pattern takes ten times as long for all."""
    data = text.encode("utf-8", "surrogatepass")
    return data.translate(None, ASCII).decode("utf-8", "surrogatepass")


def may_hide(text: str) -> bool:
    """Return whether a text has characters that a reader may not see."""
    return not text.isascii() and _SUSPECT.search(beyond_ascii(text)) is not None


def without_invisible(text: str) -> str:
    """Remove the invisible characters of a text. A second call changes nothing."""
    if not may_hide(text):
        return text
    text = _without_unneeded(text)
    if not may_hide(text):
        return text
    text = _without(re.compile(SELECTING_NOTHING.replace("{bases}", standard_bases())), text)
    text = _without(re.compile(JOINING_NOTHING), text)
    return _without_messages(text)


def _without_unneeded(text: str) -> str:
    """Remove characters that no text needs, and joiners and selectors if there are very many.

    `replace` per character is ten times as fast as a pattern for millions of them.
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
    """Remove valid characters that are so frequent that they may spell something.

    Text seldom selects glyphs of ideographs and of mathematics, has joiners between few letters of
    a word, and does not alternate between colour and black emoji.
    """
    if _is_frequent(_RARE, text):
        text = re.compile(_RARE + "+").sub("", text)
    joiners = f"[{JOINERS}{MONGOLIAN_SELECTORS}]"
    if _is_frequent(joiners, text):
        letters = beyond_ascii(text)
        if len(letters) < 4 * len(re.compile(joiners).findall(letters)):
            text = re.compile(joiners).sub("", text)
    if min(text.count("\ufe0e"), text.count("\ufe0f")) > _MANY:
        text = text.replace("\ufe0e", "").replace("\ufe0f", "")
    return text


def _is_frequent(pattern: str, text: str) -> bool:
    matches = islice(re.compile(pattern).finditer(text), _MANY + 1)
    return sum(1 for _ in matches) > _MANY


def _without(pattern: re.Pattern[str], text: str) -> str:
    """Remove single characters; a long text in stretches, between which other threads can run."""
    if len(text) <= _STRETCH:
        return pattern.sub("", text)
    starts = (
        match.start()
        for begin in range(0, len(text), _STRETCH)
        for match in pattern.finditer(
            text, begin, begin + _STRETCH + 1
        )  # the pattern looks one character ahead
        if match.start() < begin + _STRETCH
    )
    return with_spans(text, ((start, start + 1) for start in starts), "")


def visible_error(error: WebToolsError) -> WebToolsError:
    """Remove the invisible characters from an error's message."""
    text = without_invisible(str(error))
    return error if text == str(error) else error.with_message(text)


def visible(value: T) -> T:
    """Remove the invisible characters from a value and everything in it."""
    return with_texts(value, _visible)


def visible_model(response: Model) -> Model:
    """Remove the invisible characters from a response, and add a warning with their number.

    In URLs they are escaped: without them it would be another URL.
    """
    removed = 0

    def clean(text: str, name: str) -> str:
        nonlocal removed
        cleaned = _visible(text, name)
        removed += max(0, len(text) - len(cleaned))
        return cleaned

    response = with_texts(response, clean)
    count = "1 invisible character" if removed == 1 else f"{removed} invisible characters"
    return add_warning(response, f"Removed {count} from the text.") if removed else response


def _visible(text: str, name: str) -> str:
    clean = without_invisible(text)
    if clean == text or name not in ADDRESSES:
        return clean
    return _SUSPECT.sub(lambda match: quote(match[0]), text)
