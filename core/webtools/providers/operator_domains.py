"""Which hosts an operator lets pages be read from, whatever a model asks. Pure.

A URL is refused where its host cannot be told for certain: two parsers might see two hosts in it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import unquote, urlsplit

from webtools.errors import InputError
from webtools.text.cleaning import is_web_url

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LOGIN = re.compile(r"//[^/?#]*@")
_LONGEST_NAME = 253
FORBIDDEN = "The operator's settings forbid reading pages from"


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
            raise InputError(fault)

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
    host, port = _split(entry.strip().removeprefix("*."))
    name = _canonical(host)
    if name is None:
        message = f'must list hosts as host, *.host or host:port, not "{ascii(entry)[1:-1][:60]}"'
        raise ValueError(message)
    return Site(name, port)


def _split(entry: str) -> tuple[str, int | None]:
    """Part the port from a host; what is no port stays, and makes the host a wrong one."""
    if entry.startswith("[") or entry.count(":") == 1:
        host, _, port = entry.rpartition(":")
        if host and port.isascii() and port.isdigit() and 0 < int(port) <= 65535:  # noqa: PLR2004
            return host, int(port)
    return entry, None


def _site_of(url: str) -> Site | None:
    if "\\" in url or not is_web_url(url):
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if "@" in parts.netloc:
        return None
    name = _canonical(f"[{host}]" if ":" in host else host)
    return None if name is None else Site(name, port or _PORTS[parts.scheme.lower()])


def _canonical(host: str) -> str | None:
    """Spell a host in the one way: escapes undone, lower-case ASCII, without a dot at the end."""
    name = unquote(host)
    if name.startswith("[") and name.endswith("]") and "%" not in name:
        return _address(name[1:-1])
    if ":" in name:
        return _address(name)
    name = unicodedata.normalize("NFKC", name) if not name.isascii() else name
    name = name.lower().replace("\u3002", ".").removesuffix(".")
    ascii_name = name if name.isascii() else _punycode(name)
    if ascii_name is None or len(ascii_name) > _LONGEST_NAME or not _HOST.fullmatch(ascii_name):
        return None
    if _NUMBER.fullmatch(ascii_name.rpartition(".")[2]):
        return _address(ascii_name)
    return ascii_name


def _address(text: str) -> str | None:
    """Spell an IP address in the one way; odd spellings of one are none."""
    try:
        found: IPv4Address | IPv6Address = ip_address(text)
    except ValueError:
        return None
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found
    return str(found)


def _punycode(name: str) -> str | None:
    import idna  # noqa: PLC0415 - 10 ms for tables that few URLs need

    try:
        return idna.encode(name, uts46=True).decode().lower()
    except (UnicodeError, idna.IDNAError):
        return None


def _refusal(host: str, why: str) -> str:
    shown = ascii(host)[1:-1]
    return f'{FORBIDDEN} "{shown}": {why}. Use another source.'
