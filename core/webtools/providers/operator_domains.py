"""The hosts that the operator's settings allow for pages.

A URL whose host is ambiguous is refused: two parsers might read two hosts from it.
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
    """A host in canonical spelling, and a port; None for all ports."""

    host: str
    port: int | None = None

    def covers(self, site: Site) -> bool:
        """Return whether a site is this one or a subdomain of it."""
        if self.port is not None and self.port != site.port:
            return False
        return site.host == self.host or site.host.endswith(f".{self.host}")


@dataclass(frozen=True, slots=True)
class OperatorDomains:
    """The hosts that the settings allow and forbid.

    Attributes:
        allow: The hosts that are allowed; empty for all.
        deny: The hosts that are not allowed, even if `allow` names them.
    """

    allow: tuple[Site, ...] = ()
    deny: tuple[Site, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there are rules."""
        return bool(self.allow or self.deny)

    def check(self, url: str) -> None:
        """Check that the operator's settings allow a URL.

        Raises:
            InputError: They do not. The message names the host and the setting.
        """
        if refusal := self.refusal(url):
            raise InputError(refusal, fault=Fault.FORBIDDEN)

    def refusal(self, url: str) -> str:
        """Explain why the operator's settings forbid a URL; "" if they allow it."""
        if not self:
            return ""
        site = _site_of(url)
        if site is None:
            return _refusal(_LOGIN.sub("//", url)[:100], "its host is ambiguous")
        if any(rule.covers(site) for rule in self.deny):
            return _refusal(site.host, "fetch.denyDomains names it")
        if self.allow and not any(rule.covers(site) for rule in self.allow):
            return _refusal(site.host, "fetch.allowDomains does not name it")
        return ""


NO_DOMAINS = OperatorDomains()


def read_site(entry: str) -> Site:
    """Read an entry of the settings: `host`, `*.host` or an IP address, with or without a port.

    Raises:
        ValueError: It is something else.
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
    """Return a host and its port in canonical spelling: no escapes, no final dot."""
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


def _refusal(host: str, reason: str) -> str:
    return (
        f'The operator\'s settings forbid reading pages from "{ascii(host)[1:-1]}": {reason}. '
        "Use another source."
    )
