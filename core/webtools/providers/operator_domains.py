"""Which hosts an operator lets pages be read from, whatever a model asks. Pure.

A URL is refused where its host cannot be told for certain: two parsers might see two hosts in it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from urllib.parse import unquote, urlsplit

from webtools._internal.text.cleaning import is_web_url
from webtools._internal.text.urls import parse
from webtools.errors import Fault, InputError

_LOGIN = re.compile(r"//[^/?#]*@")
_NO_HOST = re.compile(r"[/?#@]")
_LAST_DOT = re.compile(r"\.(?=(?::\d+)?$)")


@dataclass(frozen=True, slots=True)
class Site:
    """A host in its one spelling, and a port; without one it stands for all ports."""

    host: str
    port: int | None = None

    def covers(self, other: Site) -> bool:
        """Return whether another site is this one, or below it."""
        if self.port is not None and self.port != other.port:
            return False
        return other.host == self.host or other.host.endswith(f".{self.host}")


@dataclass(frozen=True, slots=True)
class OperatorDomains:
    """What the operator's settings say of hosts.

    Attributes:
        allow: The only ones that pages are read from; empty for all.
        deny: Those that none is read from, also where `allow` names them.
    """

    allow: tuple[Site, ...] = ()
    deny: tuple[Site, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is a rule."""
        return bool(self.allow or self.deny)

    def check(self, url: str) -> None:
        """Refuse a URL whose host the operator does not let pages be read from.

        Raises:
            InputError: It is refused; the message names the host and the setting.
        """
        if fault := self.fault_of(url):
            raise InputError(fault, fault=Fault.FORBIDDEN)

    def fault_of(self, url: str) -> str:
        """Explain why a URL is refused; empty when it is not."""
        if not self:
            return ""
        site = _site_of(url)
        if site is None:
            return _refusal(_LOGIN.sub("//", url)[:100], "its host cannot be told for certain")
        if any(each.covers(site) for each in self.deny):
            return _refusal(site.host, "fetch.denyDomains names it")
        if self.allow and not any(each.covers(site) for each in self.allow):
            return _refusal(site.host, "fetch.allowDomains does not name it")
        return ""


NO_DOMAINS = OperatorDomains()


def read_site(entry: str) -> Site:
    """Read an entry of the settings: `host`, `*.host`, either with a port, or an IP address.

    Raises:
        ValueError: It is none of these.
    """
    host = entry.strip().removeprefix("*.")
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    site = _site("http", host)
    if site is None:
        message = f'must list hosts as host, *.host or host:port, not "{ascii(entry)[1:-1][:60]}"'
        raise ValueError(message)
    return site if re.search(r":\d+$", host) else replace(site, port=None)


def _site_of(url: str) -> Site | None:
    if "\\" in url or not is_web_url(url):
        return None
    parts = urlsplit(url)
    return _site(parts.scheme, parts.netloc)


def _site(scheme: str, host: str) -> Site | None:
    """Spell a host and its port in the one way: escapes undone, no dot at the end."""
    plain = unicodedata.normalize("NFKC", unquote(host)).replace("\u3002", ".")
    if _NO_HOST.search(plain):
        return None
    try:
        target = parse(f"{scheme}://{_LAST_DOT.sub('', plain)}/")
    except InputError:
        return None
    address = target.address
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return Site(str(mapped or target.host), target.port)


def _refusal(host: str, why: str) -> str:
    shown = ascii(host)[1:-1]
    return (
        f'The operator\'s settings forbid reading pages from "{shown}": {why}. Use another source.'
    )
