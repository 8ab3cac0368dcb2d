"""Takes out of foreign text what a reader does not see and a model does.

Zero-width characters, marks that turn the direction, tags, soft hyphens, fillers and annotations
carry hidden instructions, or hide the words that would give them away. Joiners and variation
selectors stay where scripts and emoji need them, at most one in a place.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, TypeVar, cast
from urllib.parse import quote

from pydantic import BaseModel

from webtools._narrowing import is_list, is_object
from webtools.errors import WebToolsError

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

# What nothing needs; U+200B also stands for the marks of direction that reading took out.
_NEVER = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_SELECTORS = r"\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINERS = r"\u200c\u200d"

_IDEOGRAPHS = r"\u3001-\u303f\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_SYMBOLS = r"\u2200-\u22ff\u2a00-\u2aff\u1000-\u109f"  # mathematics, and Myanmar letters
_PICTURES = (
    r"\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf"
    r"\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# Scripts that join letters: from Arabic to the Indic ones, Myanmar, Khmer and Mongolian.
_JOINING = (
    r"\u0620-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1807-\u1809\u1820-\u18aa"
    r"\ufb50-\ufdff\ufe70-\ufefc"
)

_SUSPECT = f"[{_NEVER}{_SELECTORS}{_JOINERS}]"
_UNSEEN = (
    f"[{_NEVER}]"
    rf"|(?<![\u1820-\u18aa])[\u180b-\u180d\u180f]"
    rf"|(?<![{_IDEOGRAPHS}{_SYMBOLS}])[\ufe00-\ufe0d]"
    rf"|(?<![{_IDEOGRAPHS}{_PICTURES}#*0-9])[\ufe0e\ufe0f]"
    r"|(?<=[#*0-9])[\ufe0e\ufe0f](?!\u20e3)"  # a key such as 1 in a box, and nothing else
    rf"|(?<![{_IDEOGRAPHS}])[\U000e0100-\U000e01ef]"
)
_JOINING_NOTHING = (
    rf"(?<![{_JOINING}{_PICTURES}\ufe0f])[{_JOINERS}]"
    rf"|(?<=[{_PICTURES}\ufe0f])(?:\u200c|\u200d(?![{_PICTURES}]))"
)
_STRETCH = 16_384  # characters
_ASCII = bytes(range(128))
_ADDRESSES = {"url", "citations"}  # fields whose texts are kept to the letter, spelled in ASCII


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when it is first needed: all of them take longer than other modules."""
    return re.compile(pattern)


def characters(text: str) -> frozenset[str]:
    """Give the characters beyond ASCII that a text is made of."""
    if text.isascii():
        return frozenset()
    return frozenset(_beyond_ascii(text.encode("utf-8", "surrogatepass")))


def _beyond_ascii(data: bytes) -> str:
    """Leave the ASCII out of a text in UTF-8: what little is left is quickly looked at."""
    return data.translate(None, _ASCII).decode("utf-8", "surrogatepass")


def may_hide(data: bytes) -> bool:
    """Tell whether a text in UTF-8 has characters that a reader may not see."""
    return not data.isascii() and _compiled(_SUSPECT).search(_beyond_ascii(data)) is not None


def _is_suspect(text: str) -> bool:
    return not text.isascii() and may_hide(text.encode("utf-8", "surrogatepass"))


def without_hidden(text: str) -> str:
    """Remove the hidden characters of a text; what is left is not changed again."""
    if not _is_suspect(text):
        return text
    return _without(_compiled(_JOINING_NOTHING), _without(_compiled(_UNSEEN), text))


def _without(pattern: re.Pattern[str], text: str) -> str:
    """Remove single characters; of a long text in stretches, between which other threads go on."""
    if len(text) <= _STRETCH:
        return pattern.sub("", text)
    parts: list[str] = []
    done = 0
    for begin in range(0, len(text), _STRETCH):
        end = begin + _STRETCH
        for match in pattern.finditer(text, begin, end + 1):  # it looks at one character beyond
            if match.start() < end:
                parts.append(text[done : match.start()])
                done = match.end()
    return "".join([*parts, text[done:]])


def visible_error(error: WebToolsError) -> WebToolsError:
    """Take the hidden characters out of an error's text."""
    text = without_hidden(str(error))
    return error if text == str(error) else error.with_message(text)


def visible(value: T) -> T:
    """Take the hidden characters out of a value and all that is in it."""
    return cast("T", _Cleaner().clean(value))


def visible_model(response: Model) -> Model:
    """Take the hidden characters out of a response, and say in a warning how many they were.

    In URLs they are escaped, not removed: another URL would be an invented one.
    """
    cleaner = _Cleaner()
    clean: Model = cleaner.clean(response)
    return _warned(clean, cleaner.removed) if cleaner.removed else clean


def _warned(response: Model, removed: int) -> Model:
    what = "1 hidden character" if removed == 1 else f"{removed} hidden characters"
    warning = f"Removed {what} from the text."
    from webtools.results import ResearchEnvelope  # noqa: PLC0415 - tools are named without it

    if isinstance(response, ResearchEnvelope):
        meta = response.meta
        meta = meta.model_copy(update={"warnings": [*meta.warnings, warning]})
        return response.model_copy(update={"meta": meta})
    if "warnings" not in type(response).model_fields:  # a plan, in which nothing is the web's
        return response
    told: list[str] = getattr(response, "warnings", [])
    return response.model_copy(update={"warnings": [*told, warning]})


class _Cleaner:
    """Cleans values and counts what it removes."""

    def __init__(self) -> None:
        self.removed = 0

    def clean(self, value: Any, name: str = "") -> Any:
        """Clean a value and all that is in it; what needs no change is returned as it is."""
        if isinstance(value, str):
            return _escaped(value) if name in _ADDRESSES else self._text(value)
        if isinstance(value, BaseModel):
            return self._model(value)
        if is_list(value):
            return [self.clean(item, name) for item in value]
        if is_object(value):
            return {key: self.clean(item, key) for key, item in value.items()}
        return value

    def _text(self, text: str) -> str:
        clean = without_hidden(text)
        self.removed += len(text) - len(clean)
        return clean

    def _model(self, model: BaseModel) -> BaseModel:
        cleaned = ((name, self.clean(value, name), value) for name, value in vars(model).items())
        changed = {name: new for name, new, old in cleaned if new is not old and new != old}
        return model.model_copy(update=changed) if changed else model


def _escaped(url: str) -> str:
    clean = without_hidden(url)
    if clean == url:
        return url
    return _compiled(_SUSPECT).sub(lambda match: quote(match[0]), url)
