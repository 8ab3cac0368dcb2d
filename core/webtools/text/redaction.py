"""Takes keys out of texts, in whatever spelling they stand there."""

from __future__ import annotations

import json
import re
import string
import sys
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from html.entities import html5
from typing import Any, TypeVar, cast
from urllib.parse import unquote

from pydantic import BaseModel
from pydantic_core import to_json, to_jsonable_python

from webtools.errors import WebToolsError
from webtools.text.narrowing import is_list, is_object

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)
MARK = "[redacted]"
_SHORTEST_BEGINNING = 12  # characters of a key that was cut, or half of it if that is more
SHORTEST_PASSWORD = 8  # a shorter one is a word like others: texts would be full of holes


class Redactor:
    """Replaces every known key by `[redacted]`, in whatever spelling a server may repeat it.

    Letters and digits are mostly the same in URLs, JSON, HTML and Markdown; everything else in a
    key may stand there in any of their escapes. Where letters are escaped too, they are read first.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        """Take the keys; the longest are replaced first, for one may begin another."""
        parts = {part for secret in secrets if secret for part in _parts(secret)}
        longest_first = sorted(parts, key=len, reverse=True)
        self._secrets = [(_landmark(_beginning(part)), part) for part in longest_first]
        self._landmarks = [*{landmark.encode() for landmark, _ in self._secrets}]

    def text(self, text: str) -> str:
        """Clean a text."""
        clean = self._without_spelled(text)
        return self._without_escaped(clean) if self._secrets and _has_escapes(clean) else clean

    def _without_escaped(self, text: str) -> str:
        """Take out keys whose letters are escaped, which are found in the text without escapes."""
        rough = _roughly_unescaped(text)
        if not any(landmark in rough for landmark, _ in self._secrets):
            return text
        plain, places = _unescaped(text)
        spans = [span for _, secret in self._secrets for span in _found(secret, plain)]
        return _without(
            [(_place(start, places), _place(end, places)) for start, end in spans], text
        )

    def _without_spelled(self, text: str) -> str:
        there = [secret for landmark, secret in self._secrets if landmark in text]
        if not there:
            return text
        for secret in there:
            text = _pattern(secret).sub(MARK, text)
        # Only then the beginnings, all at once: other keys may begin alike.
        return _without([span for secret in there for span in _beginnings(secret, text)], text)

    def may_be_in(self, text: bytes) -> bool:
        """Return whether a text might hold a key; quick, and never wrong about one that does."""
        # `find`: `in` first asks whether the landmark is a number. A list beats a generator.
        if [landmark for landmark in self._landmarks if text.find(landmark) >= 0]:
            return True
        if not self._landmarks or not [sign for sign in _ESCAPING if text.find(sign) >= 0]:
            return False
        return _has_escapes(text.decode("latin-1"))

    def clean(self, value: T) -> T:
        """Clean a value and all that is in it; what holds no key is returned as it is."""
        return cast("T", self._clean(value))

    def clean_given(self, model: Model) -> Model:
        """Clean what was set in a model: all else is a default and holds no key."""
        fields, given = vars(model), model.model_fields_set
        if not self.may_be_in(written([fields[name] for name in given])):
            return model
        return self._with_clean(model, given)

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, BaseModel):
            return self._clean_model(value)
        if is_list(value):
            items = [self._clean(item) for item in value]
            return value if _same(value, items) else items
        if is_object(value):
            pairs = {self._clean(key): self._clean(item) for key, item in value.items()}
            return value if _same(value.items(), pairs.items()) else pairs
        return value

    def _clean_model(self, model: BaseModel) -> BaseModel:
        if not self.may_be_in(written(model)):  # one search in the whole beats one per field
            return model
        return self._with_clean(model, vars(model))

    def _with_clean(self, model: Model, names: Iterable[str]) -> Model:
        fields = vars(model)
        changed = {
            name: cleaned
            for name in names
            if (cleaned := self._clean(fields[name])) is not fields[name]
        }
        return model.model_copy(update=changed) if changed else model

    def error(self, error: WebToolsError) -> WebToolsError:
        """Clean an error; one that holds a key loses its causes and frames, which may too."""
        told = "".join(f"{each!r}{vars(each)!r}" for each in _chain(error))
        if self.text(told) == told:
            return error
        return error.with_message(self.text(str(error)))


def written(value: Any) -> bytes:
    """Write a model, or values of one, in one piece to search it: JSON whose texts are in UTF-8."""
    try:
        return to_json(value)
    except ValueError:  # a lone surrogate has no UTF-8
        plain = to_jsonable_python(value)
        return json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and each not in found:
            found.append(each)
            waiting += [each.__cause__, each.__context__]
    return found


def _parts(secret: str) -> Iterator[str]:
    """Return a secret; of a proxy's URL, its login, what is sent for that, and its password.

    Where there is no password, the user's name is the secret: some sell access by a key alone.
    """
    _, _, rest = secret.partition("://")
    if not rest:
        yield secret
    elif login := rest.rpartition("@")[0]:
        yield secret
        user, _, password = login.partition(":")
        yield b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
        word = password or user
        yield from (each for each in {word, unquote(word)} if len(each) >= SHORTEST_PASSWORD)


def _beginning(secret: str) -> str:
    """Return the part of a key that is enough of it: a text that was cut may end in the midst."""
    if "://" in secret:  # of a proxy's URL, harmless ones may begin alike
        return secret
    return secret[: max(_SHORTEST_BEGINNING, (len(secret) + 1) // 2)]


def _landmark(secret: str) -> str:
    """Find the longest part that every spelling has; looking for it is fast."""
    return max(re.findall("[A-Za-z0-9]+", secret), key=len, default="")


@lru_cache(maxsize=256)
def _pattern(secret: str) -> re.Pattern[str]:
    """Compile the spellings of a secret: some milliseconds, spent only when it may be there."""
    return re.compile("".join(map(_spellings, secret)))


def _beginnings(secret: str, text: str) -> Iterator[tuple[int, int]]:
    """Find where a key begins and is cut, and as far as it goes on."""
    beginning = _beginning(secret)
    if beginning == secret:
        return
    for found in _pattern(beginning).finditer(text):
        end = found.end()
        for char in secret[len(beginning) :]:
            more = _pattern(char).match(text, end)
            if more is None:
                break
            end = more.end()
        yield found.start(), end


def _found(secret: str, text: str) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in _pattern(secret).finditer(text))
    yield from _beginnings(secret, text)


def _has_escapes(text: str) -> bool:
    """Return whether letters or digits are escaped, as who hides them does."""
    return any(sign in text and escape.search(text) for sign, escape in _SIGNS)


def _roughly_unescaped(text: str) -> str:
    """Read the escapes quickly and without their places: a text may be nothing but escapes."""
    for sign, spellings in _rough_spellings().items():
        if sign in text:
            for spelled, plain in spellings:
                text = text.replace(spelled, plain)
    return text


@cache
def _rough_spellings() -> dict[str, list[tuple[str, str]]]:
    """List what is replaced, by the sign without which there is nothing to replace."""
    codes = [(char, f"{ord(char):{case}}") for char in _LETTERS for case in "xX"]
    decimals = [(f"&#{ord(char)}{end}", char) for end in (";", "") for char in reversed(_LETTERS)]
    hexadecimals = [(f"&#x{code}{end}", char) for end in (";", "") for char, code in codes]
    zeros = [("&#0", "&#"), ("&#x0", "&#x")] * 5
    return {
        "%": [("%25", "%")] * 3 + [(f"%{code}", char) for char, code in codes],
        "\\": [("\\\\", "\\")] * 3
        + [(f"\\{form}{code}", char) for form in ("u00", "x") for char, code in codes],
        "#": [("&amp;", "&")] * 2 + [("&#X", "&#x"), *zeros, *hexadecimals, *decimals],
    }


def _unescaped(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Read the escapes of letters and digits.

    Returns:
        The text without them, and where each part of it that has none begins, there and here.
    """
    parts: list[str] = []
    places = [(0, 0)]
    done = length = 0
    for match in _ANY_ESCAPE.finditer(text):
        digits = match[match.lastgroup or 0]
        letter = chr(int(digits, 10 if match.lastgroup == "decimal" else 16))
        parts += [text[done : match.start()], letter]
        length += match.start() - done + 1
        done = match.end()
        places += [(length - 1, match.start()), (length, done)]
    return "".join([*parts, text[done:]]), places


def _place(at: int, places: list[tuple[int, int]]) -> int:
    """Find where a place of the text without escapes is in the one that has them."""
    there, here = places[bisect_right(places, (at, sys.maxsize)) - 1]
    return here + at - there


def _without(spans: list[tuple[int, int]], text: str) -> str:
    """Put a mark in the place of each span, and of those that overlap together."""
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start >= done:
            parts += [text[done:start], MARK]
        done = max(done, end)
    return "".join([*parts, text[done:]]) if parts else text


def _spellings(char: str) -> str:
    """Write a pattern for the ways in which a character may be written, also one in another."""
    if char.isascii() and char.isalnum():
        return char
    code = f"{ord(char):x}"
    numbers = f"{_HASH}0{{0,5}}{ord(char)}|{_HASH}x0{{0,5}}{code}"
    names = [name[:-1] for name, meant in html5.items() if meant == char and name[-1] == ";"]
    ways = [  # the longer ones first: a key that was cut ends wherever one fits
        "".join(_percent(byte) for byte in char.encode("utf-8", "replace")),
        f"{_BACKSLASH}(?:u{code:0>4}|x{code:0>2})",
        f"{_AMPERSAND}(?:amp{_SEMICOLON}){{0,2}}(?:{'|'.join([numbers, *names])}){_SEMICOLON}",
        _BACKSLASH if char == "\\" else re.escape(char),
    ]
    if char == " ":
        ways.append(r"\+")
    return f"(?i:{_BACKSLASH}{{0,8}}(?:{'|'.join(ways)}))"


def _percent(byte: int) -> str:
    return f"%(?:25){{0,2}}{byte:02x}"


_BACKSLASH = rf"(?:\\|{_percent(0x5C)})"
_AMPERSAND = f"(?:&|{_percent(0x26)})"
_SEMICOLON = f"(?:;|{_percent(0x3B)})"
_HASH = f"(?:#|{_percent(0x23)})"
_CODE = "(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA])"  # of a letter or a digit, in hexadecimal digits
_DECIMAL = r"(?:4[89]|5[0-7]|6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2])(?!\d)"
_SPELLED_LETTERS = (
    f"%(?:25){{0,3}}(?P<percent>{_CODE})",
    rf"\\{{1,8}}(?:u00|x)(?P<backslash>{_CODE})",
    rf"&(?:amp;){{0,2}}#(?:[xX]0{{0,5}}(?P<hexadecimal>{_CODE})|0{{0,5}}(?P<decimal>{_DECIMAL}));?",
)
_ANY_ESCAPE = re.compile("|".join(_SPELLED_LETTERS))
_SIGNS = [
    ("%", re.compile(f"%(?:25){{0,3}}{_CODE}")),
    ("\\u00", re.compile(rf"\\u00{_CODE}")),
    ("\\x", re.compile(rf"\\x{_CODE}")),
    ("#", re.compile(rf"(?<=[&;])#(?:[xX]0{{0,5}}{_CODE}|0{{0,5}}{_DECIMAL})")),
]
_ESCAPING = (b"%", b"#", b"\\")  # one of these is in each of the signs
_LETTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase


@lru_cache(maxsize=32)
def redactor_for(secrets: frozenset[str]) -> Redactor:
    """Return the redactor of a set of keys; calls in turn share it."""
    return Redactor(secrets)


def _same(before: Iterable[Any], after: Iterable[Any]) -> bool:
    # Equality would do, but would compare megabytes of page text letter by letter.
    return all(a is b or a == b for a, b in zip(before, after, strict=True))
