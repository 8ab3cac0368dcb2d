"""The site of a URL, by which sources are compared, counted and shown."""

from __future__ import annotations

from functools import cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList


def registrable_domain(url: str) -> str:
    """Return the registered domain: `example.co.uk` for `docs.example.co.uk`.

    Uses the public suffix list (https://publicsuffix.org) with its private part:
    users of `github.io` are different sites. An IP address or a bare suffix is its own domain. All
    names of this machine are `localhost`.
    """
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:  # brackets without an IPv6 address
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
    """Raise if reading the public suffix list would block.

    Raises:
        BlockingIOError: The list was not read yet.
    """
    if not read_suffixes.cache_info().currsize:
        raise BlockingIOError
