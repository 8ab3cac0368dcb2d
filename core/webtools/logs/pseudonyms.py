"""Hides queries and URLs in what the log says, however a message spells them."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeAlias
from urllib.parse import quote, quote_plus, urlsplit

from webtools.errors import InputError
from webtools.text.cleaning import without_controls
from webtools.text.narrowing import is_array, is_mapping
from webtools.text.urls import parse

PRIVATE_FACTS = frozenset(
    {
        *("exclude_domains", "include_domains", "queries", "query", "question", "subject"),
        *("url", "urls"),
    }
)

# Names from a fixed choice or from the settings: `exa` stays `exa` when somebody searches for it.
_NAMES = frozenset(
    {
        "capability",
        "command",
        "confidence",
        "error",
        "kind",
        "provider",
        "provider_used",
        "rule",
        "synthesizer",
        "tool",
        "until",
    }
)
_HEAD = 20  # characters by which a text that was cut short is known
_BRIEF = 256  # characters
_SHORT = 4  # characters below which a text counts only where it stands alone
_URL = re.compile(r"https?://[^\s\"'<>()]+", re.IGNORECASE)
_QUOTED_HOST = re.compile(r'"([\w.-]*[.:][\w.:-]*|\[[0-9a-f:.]+\](?::\d+)?)"', re.IGNORECASE)
_URL_REST = re.compile(r"(?::\d+)?[^\s\"'<>()\[\]]*")

Span: TypeAlias = tuple[int, int, str]  # from, to, what stands there instead


@lru_cache(maxsize=128)
def hashed(text: str) -> str:
    """Return the short hash of a text; case and white space make no difference."""
    normal = " ".join(text.lower().split())
    return "sha256:" + hashlib.sha256(normal.encode("utf-8", "replace")).hexdigest()[:12]


def without_private(facts: Mapping[str, Any], private: Sequence[str]) -> dict[str, Any]:
    """Return the facts of an event with every private text replaced by its hash.

    Args:
        facts: The facts; those named in `PRIVATE_FACTS` are private as a whole.
        private: Further private texts, looked for in all other facts as well.
    """
    found: dict[str, Any] = {}
    known: tuple[str, ...] | None = None
    for name, value in facts.items():
        if name in PRIVATE_FACTS:
            found[name] = _hash_all(value)
        elif not value or name in _NAMES or isinstance(value, (int, float)):
            found[name] = value
        else:  # free text: rare enough to look for the private texts only here
            known = _known(facts, private) if known is None else known
            found[name] = _without(value, known)
    return found


def _known(facts: Mapping[str, Any], private: Sequence[str]) -> tuple[str, ...]:
    known = [private] if isinstance(private, str) else [*private]
    for name in PRIVATE_FACTS.intersection(facts):
        known += [text for text in _items(facts[name]) if isinstance(text, str)]
    return tuple(text for text in dict.fromkeys(known) if text.strip())


def _items(value: Any) -> Sequence[Any]:
    return value if is_array(value) else [value]


def _hash_all(value: Any) -> Any:
    if isinstance(value, str):
        return hashed(value)
    return [_hash_all(item) for item in value] if is_array(value) else value


def _without(value: Any, known: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return _without_text(value, known)
    if is_mapping(value):
        return {name: _without(item, known) for name, item in value.items()}
    if is_array(value):
        return [_without(item, known) for item in value]
    return value


def _without_text(text: str, known: tuple[str, ...]) -> str:
    # The short ones, such as the rule of a confidence, are few and come again and again.
    return (_known_text if len(text) <= _BRIEF else _replaced)(text, known)


def _replaced(text: str, known: tuple[str, ...]) -> str:
    lowered = _lower(text)
    spans = [span for secret in known for span in _spans(secret, lowered)]
    if not spans:
        return text
    parts: list[str] = []
    done = 0
    for start, end, mark in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= done:
            parts += [text[done:start], mark]
        done = max(done, end)
    return "".join([*parts, text[done:]])


_known_text = lru_cache(maxsize=64)(_replaced)


def _lower(text: str) -> str:
    """Return the text in lower case, every character in its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _spans(secret: str, lowered: str) -> Iterator[Span]:
    """Find where a private text stands in another, whole or from its beginning on."""
    for host in _hosts(secret):
        for start in _places(host, lowered):
            rest = _URL_REST.match(lowered, start + len(host))
            yield start, rest.end() if rest else start + len(host), hashed(secret)
    for form in _forms(secret):
        for start in _places(form[:_HEAD], lowered):
            end = start + _common_length(form, lowered[start : start + len(form)])
            if len(form) >= _SHORT or _stands_alone(lowered, start, end):
                yield start, end, hashed(secret)


def _common_length(one: str, other: str) -> int:
    """Count the characters in which two texts agree from their beginning on."""
    pairs = enumerate(zip(one, other, strict=False))
    shorter = min(len(one), len(other))
    return shorter if one == other else next((i for i, (a, b) in pairs if a != b), shorter)


def _places(part: str, text: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + len(part))


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = re.search(r"%[0-9a-f]{2}$|[a-z0-9]$", text[max(0, start - 3) : start])
    return (before is None or len(before[0]) > 1) and not re.match("[a-z0-9]", text[end : end + 1])


@lru_cache(maxsize=64)
def _hosts(secret: str) -> tuple[str, ...]:
    """Return the host of a URL: a message may name only that, or more in another spelling."""
    if not secret.lower().startswith(("http://", "https://")):
        return ()
    hosts: set[str] = set()
    with suppress(ValueError):
        hosts.add((urlsplit(secret).hostname or "").rstrip("."))
    with suppress(InputError):  # as it is asked for: in ASCII, an address in its shortest form
        hosts.add(parse(secret).host)
    return tuple(sorted(hosts - {""}, key=len, reverse=True))


def addresses_in(text: str) -> tuple[str, ...]:
    """Find the URLs in a text, and the hosts in quotes: where a page led to, its reason tells."""
    hosts = (f"http://{host}" for host in _QUOTED_HOST.findall(text))
    return (*_URL.findall(text), *hosts)


@lru_cache(maxsize=64)
def _forms(secret: str) -> tuple[str, ...]:
    """Return the spellings of a text that occur in messages, all in lower case."""
    plain = without_controls(secret)
    texts = (secret, " ".join(secret.split()), plain.replace("\n", " "), " ".join(plain.split()))
    forms = [
        spelled
        for text in dict.fromkeys(text for text in texts if text)
        for spelled in (
            text,
            repr(text)[1:-1],
            json.dumps(text)[1:-1],
            json.dumps(text, ensure_ascii=False)[1:-1],
            text.encode("ascii", "backslashreplace").decode(),
            quote(text, errors="replace"),
            quote(text, safe="", errors="replace"),
            quote(text, safe="!'()*", errors="replace"),  # as JavaScript does
            quote(quote(text, safe="", errors="replace")),
            quote_plus(text, errors="replace"),
            quote_plus(text, safe="/", errors="replace"),
            html.escape(text),
        )
    ]
    return tuple(dict.fromkeys(_lower(form) for form in forms))
