"""Read JSON that vendors wrote, from dicts and from objects of their SDKs, without raising."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from webtools._internal.text.cleaning import one_line, words_in_line
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.narrowing import is_array, is_mapping
from webtools._internal.text.urls import without_text_fragment
from webtools._internal.text.web_urls import is_web_url

_MAX_COUNT = 1_000_000  # of searches in a response, and of USD; more is not a count


class Block:
    """A JSON object. A field of another type than expected is like a missing one.

    Names are in snake case; the REST API of Google has them in camel case.
    """

    def __init__(self, value: Any) -> None:
        self._fields = _fields(value)

    def plain(self) -> dict[Any, Any]:
        """Return the fields as a new dict."""
        return dict(self._fields)

    def __contains__(self, name: str) -> bool:
        """Return whether a field is present and not null."""
        return self.get(name) is not None

    def get(self, name: str) -> Any:
        """Return a field as it is, or None."""
        value = self._fields.get(name)
        if value is None and "_" in name:
            head, *rest = name.split("_")
            value = self._fields.get(head + "".join(map(str.title, rest)))
        return value

    def text(self, *names: str) -> str:
        """Return the first of some strings, unchanged, or ""."""
        values = (self.get(name) for name in names)
        # A string that is an enumeration of an SDK becomes a plain one.
        return next(("".join(value) for value in values if isinstance(value, str) and value), "")

    def line(self, *names: str) -> str:
        """Return the first of some strings, on one line and without invisible characters."""
        return clean_line(self.text(*names))

    def lines(self, name: str) -> list[str]:
        """Return the strings of a list, or a single string, on one line each with all words.

        What looks like markup stays, since a URL in it must be recognized in the results.
        """
        texts = (words_in_line(value) for value in self.values(name) if isinstance(value, str))
        return [*filter(None, map(without_invisible, texts))]

    def url(self, *names: str) -> str:
        """Return the first of some web URLs, without a login, or ""."""
        return next(filter(None, (web_url(self.get(name)) for name in names)), "")

    def count(self, name: str) -> int | None:
        """Return a number that is a plausible count, or None."""
        number = self.number(name)
        return int(number) if number is not None and number.is_integer() else None

    def number(self, name: str, maximum: float = _MAX_COUNT) -> float | None:
        """Return a number from 0 to a maximum, or None."""
        value = self.get(name)
        if isinstance(value, (bool, list, dict)) or value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            return None
        return number if 0 <= number <= maximum else None

    def index(self, name: str) -> int | None:
        """Return a whole number from 0 of any size, or None."""
        value = self.get(name)
        is_index = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return value if is_index else None

    def block(self, name: str) -> Block:
        """Return an object, also one that is JSON text; an empty one for other values."""
        value = self.get(name)
        return Block(parse_json(value) if isinstance(value, str) else value)

    def blocks(self, name: str) -> list[Block]:
        """Return the objects of a list, or a single object."""
        return [block for block in map(Block, self.values(name)) if block.plain()]

    def values(self, name: str) -> list[Any]:
        """Return a list, or a single value as a list."""
        value = self.get(name)
        if value is None:
            return []
        return list(value) if is_array(value) else [value]


def _fields(value: Any) -> Mapping[Any, Any]:
    if is_mapping(value):
        return value
    dump = getattr(value, "model_dump", None)
    if not callable(dump):
        return {}
    for options in ({"warnings": False}, {}):
        try:
            fields = dump(**options)
        except Exception:  # noqa: BLE001, S112  # objects of other libraries may raise anything
            continue
        return fields if is_mapping(fields) else {}
    return {}


def parse_json(text: str) -> Any:
    """Parse JSON, or return None."""
    try:
        return json.loads(text, strict=False)  # vendors write line feeds into strings
    except (ValueError, RecursionError):
        return None


def clean_line(text: str) -> str:
    """Return foreign text on one line, without control and invisible characters."""
    return without_invisible(one_line(text))


def web_url(value: Any) -> str:
    """Return a web URL without a login and the words to scroll to, or "" for another value."""
    if not isinstance(value, str) or not is_web_url(value := value.strip()):
        return ""
    url = without_text_fragment(value)
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return url if host == parts.netloc else parts._replace(netloc=host).geturl()
