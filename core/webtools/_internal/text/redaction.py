"""Redact keys in texts, in any spelling."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from html.entities import html5
from typing import TypeVar
from urllib.parse import unquote

from webtools._internal.text.cleaning import with_spans
from webtools._internal.text.nested_texts import texts_in, with_texts
from webtools._internal.text.quoting import SHORTEST_KEY
from webtools.errors import WebToolsError

T = TypeVar("T")
MARK = "[redacted]"
_SHORTEST_BEGINNING = 12  # characters of a key that was cut, or half of it if that is more
SHORTEST_LOGIN = 4  # characters of a proxy's user name or password that are redacted


class Redactor:
    """Replaces every known key by `[redacted]`, in any spelling in which a server may repeat it.

    URLs, JSON, HTML and Markdown usually keep letters and digits, and may escape other characters.
    Texts with escaped letters are decoded first. The case of letters does not matter in secrets
    from `SHORTEST_KEY` characters on: host names lose it. Shorter ones may be words.
    """

    def __init__(self, secrets: Iterable[str], shortest_login: int = SHORTEST_LOGIN) -> None:
        """Build a redactor for keys and proxy URLs.

        Args:
            secrets: API keys, and URLs of proxies with their logins.
            shortest_login: Characters that a user name or password needs to be redacted.
        """
        parts = {part for secret in secrets if secret for part in _parts(secret, shortest_login)}
        self._short = _by_landmark(part for part in parts if len(part) < SHORTEST_KEY)
        self._long = _by_landmark(_lower(part) for part in parts if len(part) >= SHORTEST_KEY)

    def is_in(self, text: str) -> bool:
        """Return whether a text might hold a key; never False if it does."""
        if not self._long and not self._short:
            return False
        if not text.isascii():
            text = text.encode("ascii", "ignore").decode()
        if self._has_landmark(text):
            return True
        decoded = _decoded(text)
        return decoded is not text and self._has_landmark(decoded)

    def text(self, text: str) -> str:
        """Redact a text."""
        if not self.is_in(text):
            return text
        spans = self._spans(text)
        if decoded_spans := self._spans(_any_escape().sub(_letter, text)):
            places = _places(text)
            spans += [(_start(start, places), _end(end, places)) for start, end in decoded_spans]
        return with_spans(text, sorted(spans), MARK)

    def _has_landmark(self, text: str) -> bool:
        return any(map(text.__contains__, self._short)) or any(
            map(_lower(text).__contains__, self._long)
        )

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Return where keys are in a text whose letters are not escaped."""
        return [
            span
            for by_landmark, spelled in ((self._short, text), (self._long, _lower(text)))
            for landmark, secrets in by_landmark.items()
            if landmark in spelled
            for secret in secrets
            for span in _matches(secret, spelled)
        ]

    def clean(self, value: T) -> T:
        """Redact a value and everything in it; a value without a key is returned unchanged."""
        if not self.is_in(_BORDER.join(texts_in(value))):
            return value
        return with_texts(value, lambda text, _: self.text(text))

    def error(self, error: WebToolsError) -> WebToolsError:
        """Redact an error; if it holds a key, drop its causes and frames, which may hold it too."""
        text = "".join(f"{cause!r}{vars(cause)!r}" for cause in _chain(error))
        if self.text(text) == text:
            return error
        return error.with_message(self.text(str(error)))


def _chain(error: BaseException) -> list[BaseException]:
    errors: list[BaseException] = []
    queue: list[BaseException | None] = [error]
    while queue:
        cause = queue.pop()
        if cause is not None and cause not in errors:
            errors.append(cause)
            queue += [cause.__cause__, cause.__context__]
    return errors


def _parts(secret: str, shortest_login: int) -> Iterator[str]:
    """Return a secret in plain and in base64; of a proxy's URL, also its user name and password.

    The user name alone may be the secret: some services are paid for through it.
    """
    _, _, rest = secret.partition("://")
    if not rest:
        yield secret
        if len(secret) >= SHORTEST_KEY:
            yield from _in_base64(secret)
    elif login := rest.rpartition("@")[0]:
        yield secret
        user, _, password = login.partition(":")
        yield b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
        words = {login, unquote(login), user, unquote(user), password, unquote(password)}
        yield from (word for word in words if len(word) >= shortest_login)


def _in_base64(secret: str) -> Iterator[str]:
    """Return what a secret becomes in the base64 of a longer text, such as `Bearer KEY`.

    Base64 encodes three bytes at a time, so this depends on how many bytes precede the secret. The
    characters at both ends that also depend on its neighbors are left out.
    """
    for before, dependent in enumerate((0, 2, 3)):
        data = bytes(before) + secret.encode("utf-8", "replace")
        whole = len(data) * 8 // 6  # characters that the secret fills
        text = b64encode(data).decode()[dependent:whole]
        yield text
        yield text.translate(_URL_SAFE)


def _beginning(secret: str) -> str:
    """Return the shortest prefix of a key that must be redacted, for cut texts."""
    if "://" in secret:  # other URLs can begin like that of a proxy
        return secret
    return secret[: max(_SHORTEST_BEGINNING, (len(secret) + 1) // 2)]


def _lower(text: str) -> str:
    """Return a text of the same length with the letters of ASCII in lower case."""
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _by_landmark(secrets: Iterable[str]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for secret in sorted({*secrets}):
        grouped.setdefault(_landmark(_beginning(secret)), []).append(secret)
    return grouped


def _landmark(secret: str) -> str:
    """Find the longest part that every spelling has; looking for it is fast."""
    return max(re.findall("[A-Za-z0-9]+", secret), key=len, default="")


@lru_cache(maxsize=256)
def _pattern(secret: str) -> re.Pattern[str]:
    """Compile the spellings of a secret, which takes some milliseconds."""
    return re.compile("".join(map(_spellings, secret)))


@lru_cache(maxsize=256)
def _next_pattern(char: str) -> re.Pattern[str]:
    """Compile the spellings of the next character, perhaps behind something that splits a key."""
    return re.compile(_GAP + _spellings(char))


def _matches(secret: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a key is, complete or cut."""
    beginning = _beginning(secret)
    for match in _pattern(beginning).finditer(text):
        end = match.end()
        if len(secret) < SHORTEST_KEY and not _is_word(text, match.start(), end):
            continue
        for char in secret[len(beginning) :]:
            next_match = _next_pattern(char).match(text, end)
            if next_match is None:
                break
            end = next_match.end()
        yield match.start(), end


def _is_word(text: str, start: int, end: int) -> bool:
    """Return whether no letter or digit is next to a part of a text, other than an escape's."""
    is_start = _WORD_START.match(text, start) is not None
    return is_start and not text[end : end + 1].isalnum()


def _decoded(text: str) -> str:
    """Return an ASCII text without markup and escaped gaps, its letters and digits unescaped."""
    if "<" in text:
        text = _TAG.sub("", text)
    text = text.replace("*", "").replace("`", "")
    for sign in _ESCAPED_GAPS:
        if sign in text and (sign != "\\" or "\\u" in text or "\\x" in text):
            text = _escaped_gaps(sign).sub("", text)
    if any(sign in text and escape.search(text) for sign, escape in _SIGNS.items()):
        text = _ESCAPED_LETTER.sub(_letter, text)
    return text


def _letter(escape: re.Match[str]) -> str:
    if escape.lastgroup is None:  # what may split a key
        return ""
    digits = escape[escape.lastgroup]
    return chr(int(digits, 10 if escape.lastgroup == "decimal" else 16))


def _places(text: str) -> list[tuple[int, int]]:
    """List the borders of escapes, as offsets in the decoded and the original text."""
    places = [(0, 0)]
    done = length = 0
    for match in _any_escape().finditer(text):
        length += match.start() - done
        done = match.end()
        places.append((length, match.start()))
        length += match.lastgroup is not None
        places.append((length, done))
    return places


def _start(at: int, places: list[tuple[int, int]]) -> int:
    """Map the start of a part of the decoded text to the original text, behind markup."""
    decoded, original = places[bisect_right(places, (at, sys.maxsize)) - 1]
    return original + at - decoded


def _end(at: int, places: list[tuple[int, int]]) -> int:
    """Map the end of a part of the decoded text to the original text, before markup."""
    place = bisect_left(places, (at, -1))
    if place == len(places) or places[place][0] > at:
        place -= 1
    decoded, original = places[place]
    return original + at - decoded


@cache
def _any_escape() -> re.Pattern[str]:
    """Compile what is decoded or dropped, which takes some milliseconds."""
    return re.compile("|".join([_ESCAPED_LETTERS, *_ESCAPED_GAPS.values(), _MARKUP]))


@cache
def _escaped_gaps(sign: str) -> re.Pattern[str]:
    return re.compile(_ESCAPED_GAPS[sign])


def _spellings(char: str) -> str:
    """Build a pattern for the spellings of a character, including nested escapes."""
    if char.isascii() and char.isalnum():
        return char

    code = f"{ord(char):x}"
    numbers = f"{_HASH}0{{0,5}}{ord(char)}|{_HASH}x0{{0,5}}{code}"
    names = [name[:-1] for name, meant in html5.items() if meant == char and name[-1] == ";"]
    spellings = [  # the longer ones first: a cut key ends at the first that matches
        f"{_AMPERSAND}(?:amp{_SEMICOLON}){{0,2}}(?:{'|'.join([numbers, *names])}){_SEMICOLON}",
        "".join(_percent(byte) for byte in char.encode("utf-8", "replace")),
        f"{_BACKSLASH}(?:u{code:0>4}|x{code:0>2})",
        _BACKSLASH if char == "\\" else re.escape(char),
    ]
    if char == " ":
        spellings.append(r"\+")
    return f"(?i:{_BACKSLASH}{{0,8}}(?:{'|'.join(spellings)}))"


def _percent(byte: int) -> str:
    return f"%(?:25){{0,2}}{byte:02x}"


# --- patterns -------------------------------------------------------------------------------------
# Each alternative begins with a fixed character, which `re` searches for quickly, and repetitions
# are bounded, so that hostile text takes linear time.

_BACKSLASH = rf"(?:\\|{_percent(0x5C)})"
_AMPERSAND = f"(?:&|{_percent(0x26)})"
_SEMICOLON = f"(?:;|{_percent(0x3B)})"
_HASH = f"(?:#|{_percent(0x23)})"

_PERCENT = "%(?:25){0,3}"
_REFERENCE = "&(?:amp;){0,2}"

# The code of a letter or a digit, in hexadecimal and in decimal digits.
_HEX_CODE = "(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA])"
_DECIMAL_CODE = r"(?:4[89]|5[0-7]|6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2])(?!\d)"
# A letter in a URL, in JSON or JavaScript, and in HTML; the escape itself can be escaped again.
_ESCAPED_LETTERS = (
    f"{_PERCENT}(?:(?P<percent>{_HEX_CODE})|5[cC](?:u00|x)(?P<both>{_HEX_CODE}))"
    rf"|\\\\{{0,7}}(?:u00|x)(?P<backslash>{_HEX_CODE})"
    rf"|{_REFERENCE}#(?:[xX]0{{0,5}}(?P<hexadecimal>{_HEX_CODE})"
    rf"|0{{0,5}}(?P<decimal>{_DECIMAL_CODE}));?"
)
_ESCAPED_LETTER = re.compile(_ESCAPED_LETTERS)

# What can split a key, escaped. The code of a control character, or of one beyond ASCII: a byte in
# a URL, a code point in HTML, and in JSON or JavaScript.
_HEX = "[0-9a-fA-F]"
_BYTE = f"(?:[01]{_HEX}|7[fF]|[89a-fA-F]{_HEX})"
_UNIT = rf"(?:u(?!00[2-7]){_HEX}{{4}}|u007[fF]|x{_BYTE})"
_POINT = (
    r"(?:0{0,5}(?:[12]?\d|3[01]|12[789]|1[3-9]\d|[2-9]\d\d|[1-9]\d{3,6})(?!\d)"
    rf"|[xX]0{{0,5}}(?:1?{_HEX}|{_BYTE}|[1-9a-fA-F]{_HEX}{{2,5}})(?!{_HEX}))"
)
_NAME = (
    "(?:af|ApplyFunction|i[ct]|Invisible(?:Comma|Times)|lrm|rlm|shy|zwn?j|NoBreak|Tab|NewLine"
    "|(?:em|en|num|punc|hair|thin|nb)sp|emsp1[34]|(?:(?:Negative)?(?:Medium|Thick|Thin|VeryThin)"
    "|NonBreaking|ZeroWidth)Space)"
)


def _escaped(codes: str) -> str:
    """Build a pattern for escaped characters with codes of some hexadecimal digits."""
    return rf"{_PERCENT}{codes}|\\{{1,8}}(?:u00|x){codes}"


# A whole sequence of a terminal, such as `%1B%5B31m`, whose letters are no part of a key either.
_PARAMETERS = (
    f"(?:[0-?]|{_escaped(f'3{_HEX}')}){{0,32}}"
    rf"(?:[@-\[\]-~]|{_escaped(f'[4-7]{_HEX}')})"
)
_SEQUENCE = (
    rf"(?:(?:\[|{_escaped('5[bB]')}|{_REFERENCE}(?:#91|#[xX]5[bB]|lsqb|lbrack);){_PARAMETERS}"
    rf"|(?:\]|{_escaped('5[dD]')})[^%\\\x00\x07\x1b\n]{{0,100}}(?:\x07|{_escaped('07')}))"
)
_ESCAPED_GAPS = {  # by their first character, which `in` finds faster than a pattern
    "%": rf"{_PERCENT}(?:1[bB]{_SEQUENCE}|[cC]2{_PERCENT}9[bB]{_PARAMETERS})"
    f"|(?:{_PERCENT}{_BYTE}){{1,64}}|{_PERCENT}5[cC]{_UNIT}"
    f"|{_PERCENT}3[cC](?:/|%2[fF])?[a-zA-Z!]"
    f"(?:[^<>%\\0]|%(?!(?:25){{0,3}}3[cCeE])){{0,300}}{_PERCENT}3[eE]",
    "\\": rf"\\{{1,8}}(?:(?:u00|x)(?:1[bB]{_SEQUENCE}|9[bB]{_PARAMETERS})|{_UNIT})",
    "&": f"{_REFERENCE}(?:#(?:27|[xX]1[bB]);{_SEQUENCE}|#{_POINT};?|{_NAME};"
    rf"|lt;/?[a-zA-Z!][^<>&\0]{{0,300}}{_REFERENCE}gt;)",
}

_BORDER = "\0"  # between texts that are searched together; no text of a result holds it
_TAGS = r"</?[a-zA-Z][^<>\0]{0,300}>|<!--[^<>\0]{0,300}>"
_MARKUP = rf"{_TAGS}|\*[*`]{{0,8}}|`[*`]{{0,8}}|[^\x00-\x7f]{{1,64}}"
_TAG = re.compile(_TAGS)
# What can split a key, in a text or in its JSON: markup, control and invisible characters.
_GAP = rf"(?:{_TAGS}|[*`]|\\u[0-9a-fA-F]{{4}}|\\[bfnrt]|[^ -~]){{0,64}}"

_WORD_START = re.compile(
    r"(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\[a-z])"
)
_URL_SAFE = str.maketrans("+/", "-_")
# A text without these signs has no escaped letters. To look for a sign is faster than a pattern.
_SIGNS = {
    "%": re.compile(f"{_PERCENT}(?:{_HEX_CODE}|5[cC](?:u00|x){_HEX_CODE})"),
    "\\u00": re.compile(rf"\\u00{_HEX_CODE}"),
    "\\x": re.compile(rf"\\x{_HEX_CODE}"),
    "#": re.compile(rf"(?<=[&;])#(?:[xX]0{{0,5}}{_HEX_CODE}|0{{0,5}}{_DECIMAL_CODE})"),
}


@lru_cache(maxsize=32)
def redactor_for(secrets: frozenset[str], shortest_login: int = SHORTEST_LOGIN) -> Redactor:
    """Return the redactor for a set of keys, which calls share."""
    return Redactor(secrets, shortest_login)
