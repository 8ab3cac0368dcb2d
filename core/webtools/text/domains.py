"""What the site of a URL is called wherever sources are told apart, counted or shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

# Second-level labels under which domains are registered, as in `example.co.uk`.
_SHARED_LABELS = frozenset(("ac", "co", "com", "edu", "gov", "net", "or", "org", "ne", "go"))
_COUNTRY_CODE_LENGTH = 2


def registrable_domain(url: str) -> str:
    """Return the domain that somebody registered: `example.co.uk` for `docs.example.co.uk`.

    By the public suffix list (https://publicsuffix.org), which comes with the extra `fetch`;
    without it, by what the labels look like, and then all users of `github.io` are one. An address
    is its own domain, and whatever this machine is called, it is `localhost`.
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
    return _listed(host) or _registered_by_look(labels) or url


@cache
def read_suffixes() -> Any:
    """Read the public suffix list from its file, once in a process; None where it is not there."""
    try:
        import tld  # noqa: PLC0415 - few calls weigh domains
    except ImportError:
        return None
    found: Any = tld  # its types are not complete
    found.get_fld("https://example.com/")
    return found


def suffixes_at_once() -> None:
    """Do nothing where the list was read.

    Raises:
        BlockingIOError: It has to be read yet.
    """
    if not read_suffixes.cache_info().currsize:
        raise BlockingIOError


def _listed(host: str) -> str | None:
    suffixes = read_suffixes()
    if suffixes is None:
        return None
    found: str | None = suffixes.get_fld(
        f"https://{host}/", fail_silently=True, search_private=True
    )
    return found


def _registered_by_look(labels: Sequence[str]) -> str:
    is_country = len(labels[-1]) == _COUNTRY_CODE_LENGTH
    is_shared = is_country and labels[-2:-1] != [] and labels[-2] in _SHARED_LABELS
    return ".".join(labels[-3:] if is_shared else labels[-2:])
