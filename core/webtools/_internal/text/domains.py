"""Domains as people and models write them, and the sites of URLs, in one canonical spelling."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import idna
from publicsuffixlist import PublicSuffixList

from webtools._internal.text.urls import parse
from webtools._internal.text.web_urls import is_web_url
from webtools.errors import InputError

ANY_HOST = frozenset({"*", "any"})
# What models send for "no value", in lower case.
NO_VALUES = frozenset({"", "null", "none"}) | ANY_HOST
# Suffixes that may be written without a dot. Newer ones, such as `docs` and `news`, are also words
# that a model may send by mistake.
_BARE_SUFFIXES = frozenset(
    str.split("aero arpa asia biz com coop edu gov info int mil mobi museum net org")
)
_COUNTRY_LETTERS = 2
_SCHEME = re.compile(r"(?i)^https?://")
_PORT = re.compile(r":\d+$")
_NOT_IN_ENTRIES = re.compile(r"[\s%\\/?#@]")
_HYPHEN_AT_END = re.compile(r"(?:^|\.)-|-(?:\.|$)")
_NOT_IN_HOSTS = re.compile(r"[/?#@]")
_LAST_DOT = re.compile(r"\.(?=(?::\d+)?$)")


class Site(NamedTuple):
    """A host, and a port; None for all ports.

    Attributes:
        host: Lower-case ASCII name without a final dot, or an IP address without brackets.
        port: The port.
    """

    host: str
    port: int | None = None

    def covers(self, site: Site) -> bool:
        """Return whether a site is this one or a subdomain of it."""
        if self.port is not None and self.port != site.port:
            return False
        return site.host == self.host or site.host.endswith(f".{self.host}")


def read_site(entry: str) -> Site:
    """Read a host, `*.host`, `.host` or public suffix, possibly with a scheme, a port and a slash.

    All of them cover the host and its subdomains.

    Raises:
        ValueError: It is something else.
    """
    name = _SCHEME.sub("", entry.strip()).removesuffix("/")
    host = name.removeprefix("*").removeprefix(".") if name.startswith(("*.", ".")) else name
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    site = None if _NOT_IN_ENTRIES.search(host) else _site("http", host)
    if site is None or _HYPHEN_AT_END.search(site.host):
        raise ValueError(entry)
    has_port, has_dot = bool(_PORT.search(host)), host != name
    if _is_address(site.host):
        if has_dot and not host.startswith("["):
            raise ValueError(entry)
    elif "." not in site.host and not (has_port or _is_single_label(site.host, has_dot=has_dot)):
        raise ValueError(entry)
    return site if has_port else site._replace(port=None)


def _is_single_label(label: str, *, has_dot: bool) -> bool:
    """Return whether a name without dots is a domain: `localhost`, or a public suffix."""
    is_plain = len(label) == _COUNTRY_LETTERS or label in _BARE_SUFFIXES
    is_international = label.startswith("xn--")
    return label == "localhost" or (
        (has_dot or is_plain or is_international) and is_public_suffix(label)
    )


def read_domain(entry: str) -> str:
    """Read a domain of a search filter; return "" for a word that means "no value".

    Raises:
        ValueError: It is something else, or has a port.
    """
    if entry.strip().casefold() in NO_VALUES:
        return ""
    site = read_site(entry)
    if site.port is not None:
        raise ValueError(entry)
    return site.host


def site_of_url(url: str) -> Site | None:
    """Return the site of a URL, or None if two parsers might read two hosts from it."""
    if "\\" in url or not is_web_url(url):
        return None
    parts = urlsplit(url)
    return _site(parts.scheme, parts.netloc)


def covered(sites: Iterable[Site], rules: Iterable[Site]) -> Site | None:
    """Return the first of some sites that a rule covers, or None."""
    rules = list(rules)
    return next((site for site in sites if any(rule.covers(site) for rule in rules)), None)


def _site(scheme: str, host: str) -> Site | None:
    """Return a host and its port in canonical spelling: no escapes, no final dot."""
    plain = unicodedata.normalize("NFKC", unquote(host)).replace("\u3002", ".")
    if _NOT_IN_HOSTS.search(plain):
        return None
    with suppress(UnicodeError):
        plain = plain if plain.isascii() else _ascii(plain)
    try:
        target = parse(f"{scheme}://{_LAST_DOT.sub('', plain)}/")
    except InputError:
        return None
    address = target.address
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return Site(str(mapped or target.host), target.port)


def _ascii(host: str) -> str:
    """Encode an international name, as browsers do: they accept symbols, which IDNA does not."""
    labels = idna.uts46_remap(host, std3_rules=False).split(".")
    return ".".join(map(_ascii_label, labels))


def _ascii_label(label: str) -> str:
    return label if label.isascii() else f"xn--{label.encode('punycode').decode()}"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_public_suffix(host: str) -> bool:
    """Return whether a host is a public suffix of the registries, such as `gov` or `co.uk`."""
    suffix: str | None = read_registry_suffixes().publicsuffix(host, accept_unknown=False)
    return suffix == host


@cache
def read_registry_suffixes() -> PublicSuffixList:
    """Return the list without its private part: `github.io` is a site like others."""
    return PublicSuffixList(only_icann=True)


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
