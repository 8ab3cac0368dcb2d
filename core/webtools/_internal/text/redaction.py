"""Redact keys in texts, in any spelling."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from html.entities import html5
from itertools import chain
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from webtools._internal.text.cleaning import TERMINAL_SEQUENCES, with_spans
from webtools._internal.text.invisible_table import INVISIBLE
from webtools._internal.text.nested_texts import NAME, texts_in, with_texts
from webtools._internal.text.quoting import SHORTEST_KEY
from webtools.errors import WebToolsError

T = TypeVar("T")
MARK = "[redacted]"
SHORTEST_LOGIN = 4  # characters of a proxy's user name or password that are redacted
_SHORTEST_PART = 12  # characters of a key that was cut, or half of it if that is more
_PART = 24  # characters of a part of a long key
_STEP = 8  # characters from one such part to the next
_BLOCK = 8  # letters of a block, which are the bytes of a number
_LONGEST_HEADER = 40  # characters at the start of a JSON Web Token, which are the same in most
# Of a URL with one of these, only the login is a secret, and what looks like a key.
_SCHEMES = {"http", "https", "socks4", "socks4a", "socks5", "socks5h", "redis", "rediss"}
_LIKE_KEY = re.compile(r"(?=.*\d).{8}")  # what a user name of a login may be
_LIKE_LONG_KEY = re.compile(r"(?=.*\d).{16}")
_LONGEST_WORDS = 20  # letters of a key that may be words of a text, with spaces
_SURE = 4  # letters that continue a key behind other text, as in a line or a cell
_ROUNDS = 5  # how often a text may be escaped
# Fields whose texts are words of ours, as are names of fields.
_OURS = {NAME, "id", "how", "tool", "fetch", "operation", "status", "type", "code"}
_BORDER = "<>"  # between texts that are searched together; no tag goes beyond it


class Redactor:
    """Replaces every known key by `[redacted]`, in any spelling in which a server may repeat it.

    Of keys and of texts, only letters and digits are compared, in any letter case: of a text as it
    is, with its escapes decoded, and both once more without markup. So nothing that escapes or
    splits a key hides it. What may be words is compared as it is written: logins, keys with fewer
    than `SHORTEST_KEY` letters and digits, and parts of a key without a digit.
    """

    def __init__(self, secrets: Iterable[str], shortest_login: int = SHORTEST_LOGIN) -> None:
        """Build a redactor for keys and proxy URLs.

        Args:
            secrets: API keys, and URLs of proxies with their logins.
            shortest_login: Characters that a user name or password needs to be redacted.
        """
        self._keys: dict[bytes, list[_Key]] = {}
        self._words: dict[str, list[re.Pattern[str]]] = {}
        # A longer landmark has a whole block of the text, wherever it is. With six keys, looking up
        # blocks is four times as fast as searching for each landmark.
        self._blocks: set[int] = set()
        self._short: set[bytes] = set()
        for secret in sorted({*filter(None, secrets)}):
            self._add(secret, shortest_login)

    def _add(self, secret: str, shortest_login: int) -> None:
        """Add a key, or of a URL its login, whose user name can be a key, and keys in its path."""
        scheme, _, rest = secret.partition("://")
        if scheme.lower() not in _SCHEMES:
            self._add_key(secret)
            return
        for part in filter(_LIKE_LONG_KEY.search, re.split("[/?&=]", rest)[1:]):
            self._add_key(part)
        if login := rest.rpartition("@")[0]:
            for spelling in {secret, _decode(secret)[0]}:
                self._add_part(spelling, spelling)  # other URLs can begin like this one
            user, _, password = login.partition(":")
            encoded = b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
            self._add_part(encoded, *_ends(encoded), is_code=True)
            parts = [password]
            if not password or _LIKE_KEY.search(user):  # not a word, such as `user` or `default`
                parts.append(user)
            for part in filter(_is_long, map(unquote, parts)):
                self._add_key(part)
            for word in {login, unquote(login), *parts, *map(unquote, parts)}:
                if len(word) >= shortest_login:
                    self._add_word(word)

    def _add_key(self, key: str) -> None:
        for spelling in {key, _decode(key)[0]}:  # a key can look like an escape
            if not _is_key(spelling):
                self._add_word(spelling)
            else:
                self._add_part(spelling, *_ends(spelling), *_parts(spelling))
                for end in _ends_of_signs(spelling):
                    self._add_word(end)
        if len(key) >= SHORTEST_KEY:
            for encoded in _encoded(key):
                self._add_part(encoded, *_ends(encoded), is_code=True)
            if len(rest := _without_header(key)) > _PART:  # a shorter one has no parts
                for encoded in _encoded(rest):
                    self._add_part(encoded, *_parts(encoded), is_code=True)

    def _add_part(self, text: str, *parts: str, is_code: bool = False) -> None:
        """Add what is looked for by parts of it, or if it is short, as a word.

        Args:
            text: A key, or if `is_code`, an encoded one, which cannot be words.
            parts: The parts.
            is_code: See `text`.
        """
        letters = _letters(text)
        if len(letters) < SHORTEST_KEY:
            self._add_word(text)
            return
        for part in parts:
            key = _Key(text, letters, part if _is_key(part) else text, is_code)
            landmark = _letters(key.part)
            self._keys.setdefault(landmark, []).append(key)
            if len(landmark) < 2 * _BLOCK - 1:
                self._short.add(landmark)
            else:
                self._blocks.update(*(_blocks(landmark[at:]) for at in range(_BLOCK)))

    def _add_word(self, word: str) -> None:
        """Add what is redacted only as it is written; if it is short, as a word of its own."""
        for spelling in {word, word.encode("utf-8", "replace").decode("latin-1")}:
            unseen = "" if _UNSEEN.search(spelling) else f"{_UNSEEN.pattern}*+"
            pattern = unseen.join(map(re.escape, spelling))
            if len(word) < SHORTEST_KEY:
                pattern = rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])"
            else:
                pattern = f"(?ai:{pattern})"
            self._words.setdefault(_lower(spelling), []).append(re.compile(pattern))

    def is_in(self, text: str) -> bool:
        """Return whether a text might hold a key; never False if it does."""
        return any(self._may_hold(view) for view, _ in self._views(text))

    def text(self, text: str, *, words: bool = True) -> str:
        """Redact a text; without `words`, leave logins that are words."""
        spans: list[tuple[int, int]] = []
        for view, steps in self._views(text):
            if self._may_hold(view) and (found := [*self._spans(view, words=words)]):
                spans += _original_spans(found, text, steps)
        return with_spans(text, sorted(spans), MARK) if spans else text

    def _views(self, text: str) -> Iterator[tuple[str, list[_Step]]]:
        """Yield a text in the forms in which keys are looked for, each with what was changed."""
        if not self._keys and not self._words:
            return
        decoded, steps = _decode(text)
        for view, done in [(text, []), (decoded, steps)] if steps else [(text, [])]:
            yield view, done
            yield from _without_tags(view, done)
            bare, dropped = _apply(_TERMINAL, view)
            if dropped:
                yield bare, done + dropped
                yield from _without_tags(bare, done + dropped)
            plain, dropped = _apply(_MARKUP, view)
            if dropped:
                yield plain, done + dropped
                rest, more = _decode(plain)  # markup can split an escape
                if more:
                    yield rest, [*done, *dropped, *more]

    def _may_hold(self, view: str) -> bool:
        letters = _letters(view)
        landmarks = self._short if self._blocks.isdisjoint(_blocks(letters)) else self._keys
        if any(map(letters.__contains__, landmarks)):
            return True
        return bool(self._words) and any(map(_written(view).__contains__, self._words))

    def _spans(self, view: str, *, words: bool) -> Iterator[tuple[int, int]]:
        """Yield where keys are in a text whose letters are not escaped."""
        logins = (each for word, each in self._words.items() if words or not word.isalpha())
        for pattern in chain.from_iterable(logins):
            for match in pattern.finditer(view):
                yield match.span()
        letters = _letters(view)
        found = {landmark: keys for landmark, keys in self._keys.items() if landmark in letters}
        if not found:
            return
        places = [place for place, char in enumerate(view) if char in _LETTERS]
        for landmark, keys in found.items():
            at = letters.find(landmark)
            while at >= 0:
                spans = (key.span(view, letters, places, at, landmark) for key in keys)
                yield from filter(None, spans)
                at = letters.find(landmark, at + 1)

    def clean(self, value: T) -> T:
        """Redact a value and everything in it; a value without a key is returned unchanged.

        Where our own words stand, such as names of fields, the word of a login is left alone.
        """
        if not self.is_in(_BORDER.join(texts_in(value))):
            return value
        return with_texts(value, lambda text, name: self.text(text, words=not _is_ours(text, name)))

    def error(self, error: WebToolsError) -> WebToolsError:
        """Redact an error; if it holds a key, drop its causes and frames, which may hold it too."""
        text = "".join(f"{cause}\n{cause!r}{vars(cause)!r}" for cause in _chain(error))
        if self.text(text) == text:
            return error
        clean = error.with_message(self.text(str(error)))
        clean.payment = self.clean(clean.payment)
        return clean


def _is_ours(text: str, name: str) -> bool:
    """Return whether a text of a field is a word of ours, as no URL is that names a field."""
    return name in _OURS and (name != NAME or text.isidentifier())


def _chain(error: BaseException) -> list[BaseException]:
    errors: list[BaseException] = []
    queue: list[BaseException | None] = [error]
    while queue:
        cause = queue.pop()
        if cause is not None and cause not in errors:
            errors.append(cause)
            queue += [cause.__cause__, cause.__context__]
    return errors


def _encoded(secret: str) -> Iterator[str]:
    """Return a secret in hexadecimal, and in the base64 of a longer text, such as `Bearer KEY`.

    Base64 encodes three bytes at a time, so this depends on how many bytes precede the secret. The
    characters at both ends that also depend on its neighbors are left out.
    """
    yield secret.encode("utf-8", "replace").hex()
    for before, dependent in enumerate((0, 2, 3)):
        data = bytes(before) + secret.encode("utf-8", "replace")
        whole = len(data) * 8 // 6  # characters that the secret fills
        yield b64encode(data).decode()[dependent:whole]


def _is_long(word: str) -> bool:
    return len(_letters(word)) >= _SHORTEST_PART


def _blocks(letters: bytes) -> memoryview[int]:
    """Return letters in blocks, each as a number; what is left at the end is in none."""
    return memoryview(letters[: len(letters) // _BLOCK * _BLOCK]).cast("Q")


def _ends(secret: str) -> tuple[str, str]:
    """Return the shortest beginning and end of a secret that must be redacted, for cut texts."""
    sizes = range(max(_SHORTEST_PART, (len(secret) + 1) // 2), len(secret))
    start = next((secret[:size] for size in sizes if _is_key(secret[:size])), secret)
    end = next((secret[-size:] for size in sizes if _is_key(secret[-size:])), secret)
    return start, end


def _ends_of_signs(secret: str) -> list[str]:
    """Return its beginning and its end that must be redacted, if they have too few letters."""
    size = max(_SHORTEST_PART, (len(secret) + 1) // 2)
    ends = [secret[:size], secret[-size:]] if size < len(secret) else []
    return [end for end in ends if not _is_key(end)]


def _is_key(text: str) -> bool:
    """Return whether a text has enough letters and digits to be compared by them alone."""
    return len(_letters(text)) >= SHORTEST_KEY


def _parts(key: str) -> Iterator[str]:
    """Yield parts of a long key; each longer piece of it, such as a line, has one of them."""
    first = len(key) - len(_without_header(key))
    end = len(key) - _PART + 1 if len(key) > 2 * _PART else 0
    return (key[at : at + _PART] for at in range(first, end, _STEP))


def _without_header(key: str) -> str:
    return key[_LONGEST_HEADER:] if key.startswith("eyJ") else key


class _Key(NamedTuple):
    """A key, its letters and digits, and a part of it that is looked for.

    Letters alone may be words. Then a part of a key counts only as it is written, and a whole key
    without spaces, unless it is long.
    """

    text: str
    letters: bytes
    part: str
    is_code: bool

    def span(
        self, view: str, letters: bytes, places: Sequence[int], at: int, landmark: bytes
    ) -> tuple[int, int] | None:
        """Return where a key is, complete or cut, from where its part was found; None if not.

        Args:
            view: The text.
            letters: Letters and digits of the text.
            places: Where they are in the text.
            at: Where the landmark is in the letters.
            landmark: Letters and digits of the part.
        """
        size = len(self.letters)
        first = self.letters.find(landmark)
        last = first + len(landmark)
        end = at + len(landmark)
        if at >= first and letters[at - first : at - first + size] == self.letters:
            begin, stop = places[at - first], places[at - first + size - 1] + 1
            is_no_words = self.is_code or size >= _LONGEST_WORDS or not self.letters.isalpha()
            lines = view[begin:stop].splitlines()
            if is_no_words or not any(" " in line.strip(" \t") for line in lines):
                return self._with_signs(view, begin, stop, 0, size)
        start, stop = self._run(letters, (at, end), (first, last))
        stops = (p for p in range(end, stop) if self._ends_before(stop - p, view, places, p))
        starts = (p for p in range(at, start, -1) if self._ends_before(p - start, view, places, p))
        start, stop = next(starts, start), next(stops, stop)
        if letters[start:stop].isalpha() and not self._is_written(view, places[at]):
            return None  # it may be words
        first, last = first - (at - start), last + (stop - end)
        return self._with_signs(view, places[start], places[stop - 1] + 1, first, last)

    def _run(
        self, letters: bytes, part: tuple[int, int], part_of_key: tuple[int, int]
    ) -> tuple[int, int]:
        """Return where the key begins and ends in the letters of a text, around a part of it."""
        (at, end), (first, last) = part, part_of_key
        while last < len(self.letters) and letters[end : end + 1] == self.letters[last : last + 1]:
            last, end = last + 1, end + 1
        while first and at and letters[at - 1] == self.letters[first - 1]:
            first, at = first - 1, at - 1
        return at, end

    def _ends_before(self, rest: int, view: str, places: Sequence[int], place: int) -> bool:
        """Return whether the key ends before a letter: other text can begin like the rest of it."""
        return rest < _SURE and self._has_other_text(view[places[place - 1] : places[place]])

    def _is_written(self, view: str, at: int) -> bool:
        """Return whether the part is in a text as it is written, with its first letter there."""
        before = next(place for place, char in enumerate(self.part) if char in _LETTERS)
        start = at - before
        return start >= 0 and _lower(view[start : start + len(self.part)]) == _lower(self.part)

    def _has_other_text(self, gap: str) -> bool:
        """Return whether what is behind a gap is no part of a cut key."""
        return not _OTHER_TEXT.isdisjoint(gap) and _OTHER_TEXT.intersection(gap).isdisjoint(
            self.text
        )

    def _with_signs(
        self, view: str, start: int, end: int, first: int, last: int
    ) -> tuple[int, int]:
        """Widen a part of a text by the signs that are beside these letters of the key."""
        letters = (place for place, char in enumerate(self.text) if char in _LETTERS)
        places = [-1, *letters, len(self.text)]
        before = self.text[places[first] + 1 : places[first + 1]]
        after = self.text[places[last] + 1 : places[last + 1]]
        while before and start and view[start - 1] == before[-1]:
            before, start = before[:-1], start - 1
        while after and view[end : end + 1] == after[0]:
            after, end = after[1:], end + 1
        return start, end


# --- what of a text is compared -------------------------------------------------------------------

_OTHER_TEXT = frozenset(" \"'<>()[]{},;")  # signs before another text
_LETTERS = frozenset(ascii_letters + digits)
_TO_LOWER = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
# What a text may lose before someone reads it: controls, characters for private use, marks.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\uf8ff\U000f0000-\U0010ffff"
    rf"{INVISIBLE}]"
)
_OTHERS = bytes(code for code in range(256) if chr(code) not in _LETTERS)


def _letters(text: str) -> bytes:
    """Return the letters and digits of ASCII in lower case."""
    return text.encode("ascii", "ignore").translate(_TO_LOWER, _OTHERS)


def _written(text: str) -> str:
    """Return a text in lower case, and if a reader may not see all of it, also what is seen."""
    text = _lower(text)
    if text.isascii() and text.isprintable():
        return text
    return f"{text}\n{_UNSEEN.sub('', text)}"


def _lower(text: str) -> str:
    """Return a text of the same length with the letters of ASCII in lower case."""
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


# --- escapes and markup ---------------------------------------------------------------------------
# Each pattern begins with a fixed character, which `re` searches for quickly, and repetitions are
# bounded or end at the character they begin with, so that hostile text takes linear time.


class _Step(NamedTuple):
    """What is replaced in a text, and by what; `sign` is in each text that has it."""

    sign: str
    pattern: re.Pattern[str]
    replacement: Callable[[re.Match[str]], str]


def _char(code: int) -> str:
    return chr(code) if code <= sys.maxunicode else ""


def _decode_hex(match: re.Match[str]) -> str:
    return _char(int(match[match.lastindex or 0], 16))


def _decode_backslash(match: re.Match[str]) -> str:
    if octal := match["octal"]:
        return _char(int(octal, 8))
    return _decode_hex(match) if match.lastindex else _ESCAPED.get(match[0][-1], match[0][-1])


def _decode_reference(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name:
        if match[0][-1] == ";" and (text := html5.get(f"{name};")):
            return text
        for end in range(min(len(name), _LONGEST_UNCLOSED), 1, -1):
            if text := html5.get(name[:end]):
                return text + match[0][end + 1 :]
        return match[0]
    return _char(int(decimal) if decimal else int(hexadecimal, 16))


def _drop(match: re.Match[str]) -> str:
    del match
    return ""


_HEX = "[0-9a-fA-F]"
_DIGIT = r"[#uUxX{0-9a-fA-F]"  # of an escape, or a sign before its digits
_LONGEST_UNCLOSED = 6  # letters of a name that may lack its semicolon
_ESCAPED = dict(zip("0abefnrtvLNP", "\0\a\b\x1b\f\n\r\t\v\u2028\x85\u2029", strict=True))
_ESCAPES = [
    _Step("\\", re.compile(r"\\\r?\n[ \t]{0,20}"), _drop),  # a line that is continued
    *(  # an escape with a line break in it
        _Step(
            sign,
            re.compile(
                rf"{re.escape(sign)}(?={_DIGIT}{{0,9}}+\r?\n)"
                rf"(?:{_DIGIT}|\r?\n[ \t]{{0,20}}){{1,20}}+"
            ),
            lambda match: "".join(match[0].split()),
        )
        for sign in "%\\&"
    ),
    _Step("%", re.compile(f"%(?:u({_HEX}{{4}})|({_HEX}{{2}}))"), _decode_hex),
    _Step(
        "\\",
        re.compile(
            rf"\\\\{{0,31}}(?:u({_HEX}{{4}})|U({_HEX}{{8}})|[ux]\{{({_HEX}{{1,6}})\}}|x({_HEX}{{2}})"
            rf"|(?P<octal>[0-3][0-7]{{2}})|[0abefnrtvLNP]|(?!&#?\w|%{_HEX})[!-/:-@\[-`{{-~])"
        ),
        _decode_backslash,
    ),
    _Step(
        "&",
        re.compile(rf"&(?:#(\d{{1,20}})|#[xX]({_HEX}{{1,20}})|([A-Za-z][A-Za-z\d]{{0,31}}));?"),
        _decode_reference,
    ),
]
_QUOTED = r"""(?:[^<>"']|"(?:[^"<]|<(?!>)){0,500}"|'(?:[^'<]|<(?!>)){0,500}')"""  # in a tag
_COMMENT = "<!--(?:[^<-]|-(?!->)|<(?!>|!--))*+-->"
_TITLE = r"""(?:\s{1,9}(?:"[^"\n<]{0,500}"|'[^'\n<]{0,500}'|\([^()\n<]{0,500}\)))?"""
_TARGET = (  # of a link or picture in Markdown
    rf"\](?:\(\s{{0,9}}(?:[^()\s<>]|\([^()\s<>]{{0,500}}\))*+{_TITLE}\s{{0,9}}\)|\[[^\[\]\n<>]{{0,200}}\])"
)
_TERMINAL = [_Step("\x1b", TERMINAL_SEQUENCES, _drop), _Step("\x9b", TERMINAL_SEQUENCES, _drop)]
_INNERMOST = [  # tags and comments that have no others in them
    _Step(
        "<",
        re.compile(
            r"<!--(?:[^<-]|-(?!->))*+-->|<!\[CDATA\[|<[/?!]?[a-zA-Z]"
            r"""(?:(?:[^<>"']|"[^"<]{0,500}"|'[^'<]{0,500}')*+>|[^<>]*>)"""
        ),
        _drop,
    )
]
_MARKUP = [
    _Step(
        "<",
        re.compile(rf"{_COMMENT}|<(?:(?:[/?!]?[a-zA-Z]|!--)(?:{_QUOTED}*+>|[^<>]*>)|!\[CDATA\[)"),
        _drop,
    ),
    *_TERMINAL,
    _Step("![", re.compile(rf"!\[[^\]\n<>]{{0,500}}{_TARGET}"), _drop),
    _Step("]", re.compile(_TARGET), _drop),
]


def _decode(text: str) -> tuple[str, list[_Step]]:
    """Decode the escapes of a text, and those that they hold. Also return what was done."""
    done: list[_Step] = []
    for _ in range(_ROUNDS):
        text, steps = _apply(_ESCAPES, text)
        done += steps
        if not steps:
            break
    return text, done


def _without_tags(text: str, done: list[_Step]) -> Iterator[tuple[str, list[_Step]]]:
    """Yield a text without tags, and without those around them: a key may be in an attribute."""
    for _ in range(_ROUNDS):
        text, dropped = _apply(_INNERMOST, text)
        if not dropped:
            return
        done = done + dropped
        yield text, done


def _apply(steps: Iterable[_Step], text: str) -> tuple[str, list[_Step]]:
    """Return a text after some steps, and those of them that changed it."""
    done: list[_Step] = []
    for step in steps:
        if step.sign in text:
            changed = step.pattern.sub(step.replacement, text)
            if changed != text:
                text = changed
                done.append(step)
    return text, done


def _original_spans(
    spans: Iterable[tuple[int, int]], text: str, steps: Iterable[_Step]
) -> list[tuple[int, int]]:
    """Return where parts of a changed text are in the text itself."""
    changes: list[list[tuple[int, int]]] = []
    for step in steps:
        changes.append(_borders(text, step))
        text = step.pattern.sub(step.replacement, text)
    found: list[tuple[int, int]] = []
    for span in spans:
        start, end = span
        for borders in reversed(changes):
            start, end = _start(start, borders), _end(end, borders)
        found.append((start, end))
    return found


def _borders(text: str, step: _Step) -> list[tuple[int, int]]:
    """List the borders of what is replaced, as offsets in the changed text and in the text."""
    borders = [(0, 0)]
    length = done = 0
    for match in step.pattern.finditer(text):
        length += match.start() - done
        done = match.end()
        borders.append((length, match.start()))
        length += len(step.replacement(match))
        borders.append((length, done))
    return borders


def _start(at: int, borders: Sequence[tuple[int, int]]) -> int:
    """Map the start of a part of a changed text to the text, behind what was dropped."""
    changed, original = borders[bisect_right(borders, (at, sys.maxsize)) - 1]
    return original + at - changed


def _end(at: int, borders: Sequence[tuple[int, int]]) -> int:
    """Map the end of a part of a changed text to the text, before what was dropped."""
    place = bisect_left(borders, (at, -1))
    if place == len(borders) or borders[place][0] > at:
        place -= 1
    changed, original = borders[place]
    return original + at - changed


@lru_cache(maxsize=32)
def redactor_for(secrets: frozenset[str], shortest_login: int = SHORTEST_LOGIN) -> Redactor:
    """Return the redactor for a set of keys, which calls share."""
    return Redactor(secrets, shortest_login)
