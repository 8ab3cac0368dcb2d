"""Proxies from the environment, read as httpx reads them.

In addition, `NO_PROXY` may list networks (`10.0.0.0/8`), `*.example.com`, and default ports. The
`proxy` of an entry in the settings takes precedence.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx
from pydantic import SecretStr

from webtools._internal.text.web_urls import without_login
from webtools.errors import ConfigError
from webtools.messages import Request

_SCHEMES = ("http", "https", "all")
_NAMES = {scheme: (f"{scheme}_proxy", f"{scheme.upper()}_PROXY") for scheme in (*_SCHEMES, "no")}
# REQUEST_METHOD: in a CGI program HTTP_PROXY is a header of the visitor, so it is ignored.
_VARIABLES = (*(name for names in _NAMES.values() for name in names), "REQUEST_METHOD")
_SYSTEM_HAS_SETTINGS = sys.platform in {"darwin", "win32"}
_PORTS = {"http": 80, "https": 443}
_SOCKS = {"socks5", "socks5h"}
_BYPASS = re.compile(r"(?:(?P<scheme>\w+)://)?(?P<host>\[[^\]]*\]|[^:/]*)(?::(?P<port>\d{1,5}))?/?")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy to go through.

    Attributes:
        url: Its URL. It may contain a password, so the repr hides it.
        source: The variable that names it; empty for the `proxy` of an entry.
    """

    url: str = field(repr=False)
    source: str = ""

    @property
    def place(self) -> str:
        """Scheme, host and port, for messages."""
        return without_login(self.url)


class _Bypass(NamedTuple):
    """One entry of `NO_PROXY`: the URLs that are requested without a proxy."""

    scheme: str
    host: str
    port: int | None
    network: IPv4Network | IPv6Network | None

    def covers(self, scheme: str, host: str, port: int | None) -> bool:
        if self.scheme not in {"", "all", scheme} or self.port not in {None, port}:
            return False
        if self.network is not None:
            return _is_in(host, self.network)
        if self.host.startswith("."):
            return host.endswith(self.host)
        is_exact = bool(self.scheme) or self.host == "localhost"
        return host == self.host or (not is_exact and host.endswith("." + self.host))


class Proxies(NamedTuple):
    """The proxies of the environment.

    Attributes:
        by_scheme: Pairs of a scheme and its proxy. `all` is for the other schemes.
        bypasses: The URLs that are requested without a proxy.
    """

    by_scheme: tuple[tuple[str, Proxy], ...] = ()
    bypasses: tuple[_Bypass, ...] = ()

    @property
    def secrets(self) -> frozenset[str]:
        """The URLs, which may hold logins."""
        return frozenset(proxy.url for _, proxy in self.by_scheme)

    def choose(self, url: str) -> Proxy | None:
        """Choose the proxy for a URL, or None.

        Raises:
            ConfigError: The variable is not a valid proxy URL.
        """
        parts = urlsplit(url)
        proxies = dict(self.by_scheme)
        proxy = proxies.get(parts.scheme) or proxies.get("all")
        if proxy is None or self._bypasses(parts.scheme, parts.hostname or "", parts.port):
            return None
        if fault := _fault(proxy.url):
            raise ConfigError(f"{proxy.source} {fault}")
        return proxy

    def _bypasses(self, scheme: str, host: str, port: int | None) -> bool:
        port = port or _PORTS.get(scheme)
        return any(bypass.covers(scheme, host, port) for bypass in self.bypasses)


NO_PROXIES = Proxies()


def proxy_variables() -> tuple[SecretStr | None, ...]:
    """Return the values of the proxy variables, to detect changes."""
    values = [os.environ.get(name) for name in _VARIABLES]
    return tuple([None if value is None else SecretStr(value) for value in values])


def environment_proxies() -> Proxies:
    """Read the environment, or on macOS and Windows the system's settings."""
    if not (_SYSTEM_HAS_SETTINGS or any(map(_names_a_proxy, os.environ))):
        return NO_PROXIES

    urls = {scheme: url for scheme, url in getproxies().items() if url}
    entries = [entry.strip() for entry in urls.get("no", "").split(",") if entry.strip()]
    if "*" in entries:
        return NO_PROXIES
    by_scheme = tuple(
        (scheme, Proxy(with_scheme(urls[scheme]), _source(scheme)))
        for scheme in _SCHEMES
        if scheme in urls
    )
    return Proxies(by_scheme, tuple(map(_read_bypass, entries)) if by_scheme else ())


def with_proxy(request: Request, proxy: Proxy | None) -> Request:
    """Return a request that goes through a proxy; the request itself without one."""
    if proxy is None:
        return request
    return replace(request, proxy=SecretStr(proxy.url), proxy_source=proxy.source)


def _names_a_proxy(variable: str) -> bool:
    return variable.lower().endswith("_proxy")


def with_scheme(value: str) -> str:
    """Return the URL of a proxy, which may be written without its scheme."""
    return value if "://" in value else f"http://{value}"


def _source(scheme: str) -> str:
    names = _NAMES[scheme]
    return next((name for name in names if os.environ.get(name)), "the system's settings")


def _read_bypass(entry: str) -> _Bypass:
    try:
        return _Bypass("", "", None, ip_network(entry.strip("[]"), strict=False))
    except ValueError:
        pass
    parts = _BYPASS.fullmatch(entry)
    if parts is None:
        return _Bypass("", entry, 0, None)  # port 0 matches no URL
    host = parts["host"].strip("[]").lower()
    port = int(parts["port"]) if parts["port"] else None
    try:
        return _Bypass(parts["scheme"] or "", host, port, ip_network(host))
    except ValueError:
        return _Bypass(parts["scheme"] or "", host.removeprefix("*"), port, None)


def _is_in(host: str, network: IPv4Network | IPv6Network) -> bool:
    try:
        return ip_address(host) in network
    except ValueError:
        return False


@lru_cache(maxsize=16)
def _fault(url: str) -> str:
    """Return why a proxy cannot be used, without its login; empty if it can."""
    try:
        scheme = httpx.Proxy(url).url.scheme
        is_usable = bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except (httpx.InvalidURL, ValueError):
        is_usable, scheme = False, ""
    if not is_usable:
        return "is not the URL of a proxy, such as http://127.0.0.1:3128. Correct it or unset it."
    if scheme in _SOCKS and find_spec("socksio") is None:
        return "is a SOCKS proxy, which needs socksio. Run pip install socksio, or unset it."
    return ""
