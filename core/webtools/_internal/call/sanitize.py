"""Cleans every result and error before it leaves the package.

Responses and cached values are not trusted. Control and invisible characters are removed
first, because they may be inside a key, and then the keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar
from urllib.parse import quote

from pydantic import BaseModel
from pydantic_core import to_json

from webtools._internal.io.runtime import IO
from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.invisible import ADDRESSES, may_hide, visible_error, visible_model
from webtools._internal.text.nested_texts import texts_in, with_texts
from webtools._internal.text.redaction import Redactor
from webtools.errors import WebToolsError

Model = TypeVar("Model", bound=BaseModel)
_MAX_SIZE_ON_LOOP = 128 * 1024  # characters of JSON; a larger result is cleaned in a thread
# In JSON. The other escapes are of quotation marks, backslashes, tabs and line feeds.
_CONTROLS = re.compile(r"\\u00[01]|\\[bfr]|[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ONE_LINE = {"title", "author", "heading"}
_WITH_MORE_TEXTS = {"meta", "claims"}  # fields of the responses of research and verify
_LINE_BREAKS = re.compile(rf'"(?:{"|".join(_ONE_LINE)})":"[^"]*\\')


async def sanitize(function: Callable[[], Awaitable[Model]], redactor: Redactor, io: IO) -> Model:
    """Await a function, and sanitize its result or error.

    If invisible characters were removed, a warning of the result states their number.
    """
    try:
        result = await function()
    except WebToolsError as error:
        failed = redactor.error(visible_error(_plain_error(error)))
        if failed is error:
            raise
    else:
        text = _to_json(result)
        if len(text) <= _MAX_SIZE_ON_LOOP:
            return _clean(result, text, redactor)
        # Cleaning megabytes would block an event loop.
        clean: Model = await io.call_blocking(partial(_clean, result, text, redactor), alone=True)
        return clean
    raise failed


def _clean(result: Model, text: str, redactor: Redactor) -> Model:
    """Clean the fields of a result if its JSON text shows that one of them needs it.

    Keys are looked for in the fields themselves, because the JSON escapes some characters.
    """
    if _has_controls(text):
        result = with_texts(result, _plain)
        text = _to_json(result)
    if may_hide(text):
        result = visible_model(result)
    return redactor.clean(result)


def _has_controls(text: str) -> bool:
    """Return whether a field may have control characters, or line breaks where none should be."""
    if "\\" not in text:
        return not text.isprintable() and _CONTROLS.search(text) is not None
    escapes = text.replace(r"\\", "")  # an escaped backslash escapes nothing
    return bool(_CONTROLS.search(escapes) or _LINE_BREAKS.search(escapes))


def _to_json(model: BaseModel) -> str:
    """Return the JSON of a model, and the texts that the JSON of research leaves out."""
    has_more = not _WITH_MORE_TEXTS.isdisjoint(type(model).model_fields)
    more = texts_in(model) if has_more else None
    try:
        return to_json([model, more]).decode()
    except ValueError:  # a lone surrogate has no UTF-8
        return json.dumps([model.model_dump(mode="json"), more], ensure_ascii=False)


def _plain(text: str, name: str) -> str:
    """Remove control characters. In a URL they are escaped, because removing them changes it."""
    if name in ADDRESSES:
        return text if text.isprintable() else "".join(map(_escaped, text))
    clean = without_controls(text)
    return " ".join(clean.split()) if name in _ONE_LINE else clean


def _escaped(character: str) -> str:
    return character if character.isprintable() else quote(character, errors="replace")


def _plain_error(error: WebToolsError) -> WebToolsError:
    text = without_controls(str(error))
    return error if text == str(error) else error.with_message(text)
