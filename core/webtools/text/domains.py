"""What the site of a URL is called wherever sources are told apart, counted or shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

_LIST = Path(__file__).with_name("public_suffixes.txt")


def registrable_domain(url: str) -> str:
    """Return the domain that somebody registered: `example.co.uk` for `docs.example.co.uk`.

    By the public suffix list (https://publicsuffix.org), with its private part: users of
    `github.io` are told apart. An address is its own domain, and whatever this machine is called,
    it is `localhost`.
    """
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:  # brackets that hold no address
        return url
    try:
        return "localhost" if ip_address(host).is_loopback else host
    except ValueError:
        labels = host.split(".")
    if labels[-1] == "localhost":
        return "localhost"
    return ".".join(labels[_registrable_at(labels) :]) or url


@cache
def read_suffixes() -> frozenset[str]:
    """Return the rules of the public suffix list, read from its file once in a process."""
    return frozenset(_LIST.read_text(encoding="utf-8").splitlines())


def suffixes_at_once() -> None:
    """Do nothing where the list was read.

    Raises:
        BlockingIOError: It has to be read yet.
    """
    if not read_suffixes.cache_info().currsize:
        raise BlockingIOError


def _registrable_at(labels: Sequence[str]) -> int:
    """Return at which label the registrable domain begins: one before the longest public suffix.

    A rule `*.ck` makes every name under `ck` a suffix, but for those excepted, as `!www.ck`.
    """
    rules = read_suffixes()
    plain = [_ascii(label) for label in labels]
    for start in range(len(plain)):
        name, parent = ".".join(plain[start:]), ".".join(plain[start + 1 :])
        if f"!{name}" in rules:
            return start
        if name in rules or f"*.{parent}" in rules:
            return max(start - 1, 0)
    return max(len(plain) - 2, 0)


def _ascii(label: str) -> str:
    try:
        return label if label.isascii() else label.encode("idna").decode()
    except UnicodeError:  # no name that can be registered
        return label
