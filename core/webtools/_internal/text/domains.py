"""What the site of a URL is called wherever sources are told apart, counted or shown."""

from __future__ import annotations

from functools import cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList


def registrable_domain(url: str) -> str:
    """Return the domain that somebody registered: `example.co.uk` for `docs.example.co.uk`.

    Uses the public suffix list (https://publicsuffix.org) with its private part: users of
    `github.io` are told apart. An address and a bare suffix are their own domain. Every name of
    this machine is `localhost`.
    """
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:  # brackets that hold no address
        return url
    try:
        return "localhost" if ip_address(host).is_loopback else host
    except ValueError:
        pass
    if host.rpartition(".")[2] == "localhost":
        return "localhost"
    return read_suffixes().privatesuffix(host) or host or url


@cache
def read_suffixes() -> PublicSuffixList:
    """Return the public suffix list. The first call reads it from a file."""
    return PublicSuffixList()


def suffixes_at_once() -> None:
    """Do nothing if the list was read.

    Raises:
        BlockingIOError: It has to be read yet.
    """
    if not read_suffixes.cache_info().currsize:
        raise BlockingIOError
