"""Parse URLs once, and build them again from their parts.

The URL that is sent is built from the parts that were checked, so that no second parser can see
another host in it.
"""

from __future__ import annotations

import re
import unicodedata
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

import idna

from webtools._internal.faults import Fault, with_fault
from webtools._internal.text.web_urls import is_web_url
from webtools.errors import InputError

Address = IPv4Address | IPv6Address

PORTS = {"http": 80, "https": 443}
_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LONGEST_NAME = 253
_SHOWN_PATH, _SHOWN_HOST = 16, 40  # characters of a redirect's target, in a message
_DOTS = "\u3002\uff0e\uff61"  # IDNA reads these as full stops
_URL_CHARACTERS = "".join(c for c in map(chr, range(0x21, 0x7F)) if c not in '<>"\\')


class Target(NamedTuple):
    """A parsed URL.

    Attributes:
        scheme: `http` or `https`.
        host: Name in lower-case ASCII, or an IP address; without brackets.
        port: Port, the default one if the URL names none.
        path: Path and query, percent-encoded.
        address: The IP address, if the host is one.
    """

    scheme: str
    host: str
    port: int
    path: str
    address: Address | None = None

    @property
    def site(self) -> str:
        """Host and port, as `allowPrivateHosts` lists them."""
        return f"{self._bracketed}:{self.port}"

    @property
    def url(self) -> str:
        """The URL to send, without a fragment."""
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self._bracketed}{port}{self.path}"

    @property
    def _bracketed(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def parse(url: str) -> Target:
    """Parse a URL.

    Raises:
        InputError: The URL must not be fetched, whatever its host.
    """
    if not is_web_url(url):
        raise refusal(f"{quoted_url(url)} is not an http(s) URL")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        address: Address | None = IPv6Address(host) if "[" in parts.netloc else None
    except ValueError:
        raise refusal(f"{quoted_url(url)} is not a valid URL") from None
    if "@" in parts.netloc or "%" in host:
        raise refusal("the URL contains a user name, a password, a zone or an encoded host")
    name, address = (str(address), address) if address else _name_or_ipv4(host)
    if port == 0:
        raise refusal("port 0 does not exist")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, name, port or PORTS[parts.scheme], _encoded(path), address)


def follow(target: Target, location: str) -> Target:
    """Parse the target of a redirect.

    Raises:
        InputError: The target must not be followed.
    """
    try:
        url = urljoin(target.url, _encoded(location.strip()))
    except ValueError:
        url = ""
    if not is_web_url(url):  # not shown: the site may have put any sentence there
        raise refusal("the site redirects to something other than an http(s) URL")
    redirect = parse(url)
    if (target.scheme, redirect.scheme) == ("https", "http"):
        raise refusal(
            f"the site redirects from https to plain http, {quoted_url(_brief(redirect))}"
        )
    return redirect


def _brief(target: Target) -> str:
    """Return a URL without its path, if that has room for a sentence."""
    is_short = len(target.path) <= _SHOWN_PATH
    path = target.path if is_short else "/..."
    return target._replace(host=brief_host(target.host), path=path).url


def brief_host(host: str) -> str:
    """Return the end of a host that is so long that it may be a sentence."""
    return host if len(host) <= _SHOWN_HOST else f"...{host[-_SHOWN_HOST:]}"


def _encoded(text: str) -> str:
    return quote(text, safe=_URL_CHARACTERS, errors="replace")


def _name_or_ipv4(host: str) -> tuple[str, Address | None]:
    name = host if host.isascii() else _ascii(host)
    if len(name) > _LONGEST_NAME or not _HOST_NAME.fullmatch(name):
        raise refusal(f"{quoted_url(host)} is not a plain host name")
    if not _NUMBER.fullmatch(name.rpartition(".")[2]):
        return name, None
    try:
        return name, IPv4Address(name)
    except ValueError:
        raise refusal(f"{quoted_url(host)} is an unusual spelling of an IP address") from None


def _ascii(host: str) -> str:
    """Encode an international name; refuse one that only looks like another."""
    if any(dot in host for dot in _DOTS) or unicodedata.normalize("NFKC", host) != host:
        raise refusal(f"{quoted_url(host)} is an unusual spelling of a host name")
    try:
        return idna.encode(host).decode().lower()
    except UnicodeError:
        raise refusal(f"{quoted_url(host)} is not a host name") from None


def refusal(reason: str, remedy: str = "") -> InputError:
    """Return the error for a URL that must not be fetched; no request was sent."""
    message = f"blocked by webtools, not by the site: {reason}{remedy}"
    return with_fault(InputError(message), Fault.REFUSED)


def quoted_url(text: str) -> str:
    """Quote a URL or a host for a message, in ASCII and shortened."""
    plain = text.encode("ascii", "backslashreplace").decode()
    return '"' + (plain if len(plain) <= 100 else plain[:97] + "...") + '"'  # noqa: PLR2004


def without_text_fragment(url: str) -> str:
    """Return a URL without the words that a browser should scroll to (`#:~:text=`)."""
    if ":~:" not in url:
        return url
    base, _, fragment = url.partition("#")
    section, has_words, _ = fragment.partition(":~:")
    if not has_words:
        return url
    return f"{base}#{section}" if section else base
