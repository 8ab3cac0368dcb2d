"""Matches the pages of an answer to the URLs asked for, however the provider spells them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")

_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_DEFAULT_PORTS = (None, 80, 443)


def address_key(url: str) -> str:
    """Return what is equal for the spellings of one page's address.

    These do not count: the scheme, capitals in the host, a default port, capitals in escapes and
    escapes that are not needed, a slash at the end, the fragment.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    host = (parts.hostname or "").rstrip(".")
    if port not in _DEFAULT_PORTS:
        host = f"{host}:{port}"
    path = _ESCAPE.sub(_escape, parts.path).rstrip("/")
    query = _ESCAPE.sub(_escape, parts.query)
    return f"{host}{path}?{query}" if query else f"{host}{path}"


def _escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if _UNRESERVED.fullmatch(character) else match[0].upper()


def match_addresses(
    urls: Sequence[str], items: Iterable[tuple[Iterable[str], T]], failed: Container[str] = ()
) -> dict[str, T]:
    """Find the item of each URL: by the same spelling, else by the same address.

    An item comes with all its names. The only one that is left over belongs to the only URL that
    is and that is not known to have failed: a redirect may have led to any address.
    """
    pairs = [(frozenset(filter(None, names)), item) for names, item in items]
    exact = {name: index for index, (names, _) in enumerate(pairs) for name in names}
    alike = {address_key(name): index for name, index in exact.items()}
    found: dict[str, int] = {}
    for url in urls:
        index = exact.get(url, alike.get(address_key(url)))
        if index is not None:
            found[url] = index
    missing = [url for url in urls if url not in found and url not in failed]
    spare = [index for index in range(len(pairs)) if index not in found.values()]
    if len(missing) == len(spare) == 1:
        found[missing[0]] = spare[0]
    return {url: pairs[index][1] for url, index in found.items()}
