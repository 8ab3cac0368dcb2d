"""Which addresses pages may be fetched from. Pure: names are looked up and connected to elsewhere.

A URL is taken apart here once, and what is sent is put together from the parts, so that no second
parser can see another host in it. Whoever fetches must check the URL and all addresses of its
host at every hop, and connect to the addresses that were checked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote, urljoin, urlsplit

from webtools.errors import InputError
from webtools.text.cleaning import is_web_url

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

PORTS = {"http": 80, "https": 443}
_FIRST_FREE_PORT = 1024
# Ports from 1024 up that browsers refuse as well (https://fetch.spec.whatwg.org/#port-blocking):
# what listens there might take an HTTP request for commands of its own protocol.
_BAD_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6679, 6697, 10080}
    | set(range(6665, 6670))
)
_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LONGEST_NAME = 253
_LONGEST_PATH = 16  # of a URL of the site's choice that is shown
_DOTS = "\u3002\uff0e\uff61"  # IDNA reads these as full stops
_LOCAL_SUFFIXES = (
    *(".localhost", ".local", ".localdomain", ".internal", ".intranet", ".private", ".corp"),
    *(".home", ".lan", ".home.arpa", ".svc", ".consul", ".nomad", ".cluster", ".kube", ".mesh"),
)
# Names that clouds' own name servers give their metadata services; where a proxy looks up, the name
# is all that can be checked.
_METADATA_NAMES = (
    *("metadata.goog", "metadata.google.internal", "metadata.azure.internal", "metadata"),
    *("metadata.tencentyun.com", "metadata.platformequinix.com", "metadata.packet.net"),
    *("instance-data", "instance-data.ec2.internal"),
)
_URL_CHARACTERS = "".join(c for c in map(chr, range(0x21, 0x7F)) if c not in '<>"\\')

# https://www.iana.org/assignments/iana-ipv4-special-registry (read 2026-11-21). Ours, as the one in
# `ipaddress` differs between Python's releases.
_BENCHMARK = IPv4Network("198.18.0.0/15")
_PRIVATE: dict[Network, str] = {
    IPv4Network("127.0.0.0/8"): "a loopback address",
    IPv4Network("10.0.0.0/8"): "a private address",
    IPv4Network("172.16.0.0/12"): "a private address",
    IPv4Network("192.168.0.0/16"): "a private address",
    IPv4Network("100.64.0.0/10"): "a shared address of a carrier's or cloud's network",
    _BENCHMARK: "an address for benchmarks, which proxies also give out as fake addresses",
    IPv6Network("::1/128"): "a loopback address",
    IPv6Network("fc00::/7"): "a private address",
}
_NEVER: dict[Network, str] = {
    IPv4Network("0.0.0.0/8"): "an unspecified address",
    IPv4Network("169.254.0.0/16"): "a link-local address",
    IPv4Network("192.0.0.0/24"): "a reserved address",
    IPv4Network("192.0.2.0/24"): "an address for documentation",
    IPv4Network("192.88.99.0/24"): "a reserved address",
    IPv4Network("198.51.100.0/24"): "an address for documentation",
    IPv4Network("203.0.113.0/24"): "an address for documentation",
    IPv4Network("224.0.0.0/4"): "a multicast address",
    IPv4Network("255.255.255.255/32"): "the broadcast address",
    IPv4Network("240.0.0.0/4"): "a reserved address",
    IPv6Network("::/128"): "an unspecified address",
    IPv6Network("::ffff:0:0/96"): "an IPv4 address in IPv6 disguise",
    IPv6Network("::/96"): "an IPv4 address in IPv6 disguise",
    IPv6Network("64:ff9b:1::/48"): "an address of a local NAT64",
    IPv6Network("fe80::/10"): "a link-local address",
    IPv6Network("fec0::/10"): "a site-local address",
    IPv6Network("ff00::/8"): "a multicast address",
    IPv6Network("2001::/23"): "a reserved address",
    IPv6Network("2002::/16"): "an IPv4 address in IPv6 disguise",
    IPv6Network("2001:db8::/32"): "an address for documentation",
    IPv6Network("3fff::/20"): "an address for documentation",
}
_METADATA = frozenset(
    map(
        ip_address,
        [
            *("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200"),
            *("168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"),
        ],
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")  # all that has been given out so far
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Target:
    """A URL in its parts.

    Attributes:
        scheme: `http` or `https`.
        host: Name in lower-case ASCII, or an IP address; without brackets.
        port: Port, also where the URL has none.
        path: Path and query, percent-encoded.
        address: The IP address where the host is one.
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


@dataclass(frozen=True, slots=True)
class Policy:
    """What an operator has opened up.

    Attributes:
        private_hosts: Sites that may be private, each `host:port`.
        fake_ips: Whether 198.18.0.0/15 counts as public: a proxy gives out fake addresses there.
    """

    private_hosts: frozenset[str] = frozenset()
    fake_ips: bool = False

    def opens(self, target: Target) -> bool:
        """Return whether the operator has named this site."""
        return target.site in self.private_hosts

    def after(self, target: Target) -> Policy:
        """Return the policy for where `target` redirects to: only a named site leads to others."""
        return self if self.opens(target) else replace(self, private_hosts=frozenset())


def sites(entry: str) -> frozenset[str]:
    """Read an entry of `allowPrivateHosts`; one without a port is for 80 and 443.

    Raises:
        InputError: It is no `host` or `host:port`.
    """
    try:
        target = parse(f"http://{entry}/")
    except InputError:
        target = None
    if target is None or target.path != "/" or re.search(r"[/?#@]", entry):
        raise InputError("must list hosts as host or host:port, without scheme, path or pattern")
    has_port = entry.rstrip("0123456789").endswith(":") and not entry.endswith("]")
    ports = [target.port] if has_port else PORTS.values()
    return frozenset(replace(target, port=port).site for port in ports)


# --- URLs --------------------------------------------------------------------------------------


def parse(url: str) -> Target:
    """Take a URL apart.

    Raises:
        InputError: It is none that may be fetched, whoever the host is.
    """
    if not is_web_url(url):
        raise _refusal(f"{_shown(url)} is not an http(s) URL")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        address: Address | None = IPv6Address(host) if "[" in parts.netloc else None
    except ValueError:
        raise _refusal(f"{_shown(url)} is not a proper URL") from None
    if "@" in parts.netloc or "%" in host:
        raise _refusal("the URL holds a user name, a password, a zone or an encoded host")
    name, address = (str(address), address) if address else _name_or_ipv4(host)
    if port == 0:
        raise _refusal("port 0 does not exist")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, name, port or PORTS[parts.scheme], _encoded(path), address)


def follow(target: Target, location: str) -> Target:
    """Take apart where a redirect leads to.

    Raises:
        InputError: It is none that may be followed.
    """
    try:
        url = urljoin(target.url, _encoded(location.strip()))
    except ValueError:
        url = ""
    if not is_web_url(url):  # not shown: it may be any sentence of the site's
        raise _refusal("the site redirects to what is not an http(s) URL")
    found = parse(url)
    if (target.scheme, found.scheme) == ("https", "http"):
        raise _refusal(f"the site redirects from https to plain http, {_shown(_brief(found))}")
    return found


def _brief(target: Target) -> str:
    """Return a URL without a path that has room for a sentence."""
    is_short = len(target.path) <= _LONGEST_PATH
    return target.url if is_short else replace(target, path="/...").url


def _encoded(text: str) -> str:
    return quote(text, safe=_URL_CHARACTERS, errors="replace")


def _name_or_ipv4(host: str) -> tuple[str, Address | None]:
    name = host if host.isascii() else _ascii(host)
    if len(name) > _LONGEST_NAME or not _HOST_NAME.fullmatch(name):
        raise _refusal(f"{_shown(host)} is not a plain host name")
    if not _NUMBER.fullmatch(name.rpartition(".")[2]):
        return name, None
    try:
        return name, IPv4Address(name)
    except ValueError:
        raise _refusal(f"{_shown(host)} is an unusual spelling of an IP address") from None


def _ascii(host: str) -> str:
    """Encode an international name; one that only looks like another is refused."""
    import idna  # noqa: PLC0415 - 10 ms for tables that few URLs need

    if any(dot in host for dot in _DOTS) or unicodedata.normalize("NFKC", host) != host:
        raise _refusal(f"{_shown(host)} is an unusual spelling of a host name")
    try:
        return idna.encode(host).decode().lower()
    except UnicodeError:
        raise _refusal(f"{_shown(host)} is not a host name") from None


# --- the policy --------------------------------------------------------------------------------


def check(target: Target, policy: Policy) -> None:
    """Refuse a URL for its port, its name, or the address it names.

    Raises:
        InputError: It may not be fetched.
    """
    if _is_metadata_name(target.host):
        raise _refusal(f"{_shown(target.host)} is the name of a cloud's metadata service")
    if not policy.opens(target):
        if not _is_usual(target.port):
            raise _refusal(f"port {target.port} is not one for web pages")
        if target.address is None and _is_local(target.host):
            name = _shown(target.host)
            raise _refusal(f"{name} is a name of the local network", _opening(target))
    if target.address is not None:
        check_addresses(target, [target.host], policy)


def _is_usual(port: int) -> bool:
    if port < _FIRST_FREE_PORT:
        return port in PORTS.values()
    return port not in _BAD_PORTS


def _is_metadata_name(host: str) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in _METADATA_NAMES)


def _is_local(name: str) -> bool:
    return "." not in name or name.endswith(_LOCAL_SUFFIXES)


def check_addresses(target: Target, found: Iterable[str], policy: Policy) -> tuple[str, ...]:
    """Check every address of a host; one that is refused refuses the host.

    Returns:
        The addresses to connect to, in the order given.

    Raises:
        InputError: The host may not be fetched from.
    """
    addresses = [_read(text) for text in found]
    for address in addresses:
        fault = fault_of(address, opened=policy.opens(target), fake_ips=policy.fake_ips)
        if fault is not None:
            subject = f"{_shown(target.host)} has the address {address}, which"
            if target.address is not None:
                subject = _shown(target.host)
            raise _refusal(f"{subject} is {fault}", _remedy(target, address))
    return tuple(str(address) for address in addresses)


def _read(text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError:
        raise _refusal(f"{_shown(text)} is not an IP address") from None


def fault_of(address: Address, *, opened: bool = False, fake_ips: bool = False) -> str | None:
    """Explain why an address is refused; None when it is not.

    Args:
        address: The address.
        opened: Whether the operator has named the site: private networks then pass.
        fake_ips: Whether 198.18.0.0/15 passes.
    """
    if _is_metadata(address):
        return "the address of a cloud's metadata service"
    if (fault := _listed(address, _NEVER)) is not None:
        return fault
    inner = _embedded(address)
    if inner is not None and (fault := fault_of(inner)) is not None:
        return f"an IPv6 address that leads to {inner}, {fault}"
    if (fault := _listed(address, _PRIVATE)) is not None:
        return None if opened or (fake_ips and address in _BENCHMARK) else fault
    public = address.version == 4 or address in _GLOBAL_UNICAST or address in _NAT64  # noqa: PLR2004
    return None if public else "a reserved address"


def _is_metadata(address: Address) -> bool:
    """Look an address up without its zone, which makes it differ from the one in the list."""
    return (address if address.version == 4 else IPv6Address(int(address))) in _METADATA  # noqa: PLR2004


def _listed(address: Address, table: dict[Network, str]) -> str | None:
    return next((fault for network, fault in table.items() if address in network), None)


def _embedded(address: Address) -> IPv4Address | None:
    """Return the IPv4 address that a translator or a tunnel would take out of an IPv6 address."""
    number = int(address)
    if address.version == 6 and (address in _NAT64 or _is_isatap(number)):  # noqa: PLR2004
        return IPv4Address(number & 0xFFFFFFFF)
    return None


def _is_isatap(number: int) -> bool:
    return (number >> 32) & 0xFFFFFFFF in {0x00005EFE, 0x02005EFE}


def _remedy(target: Target, address: Address) -> str:
    if _is_metadata(address) or _listed(address, _PRIVATE) is None:
        return ""
    if address in _BENCHMARK:
        return "; if a proxy gives out fake addresses here, an operator can set allowFakeIps"
    return _opening(target)


def _opening(target: Target) -> str:
    return f'; an operator can open it up with allowPrivateHosts: ["{target.site}"]'


def _refusal(reason: str, remedy: str = "") -> InputError:
    return InputError(f"refused by this package's policy, not by the site: {reason}{remedy}")


def _shown(text: str) -> str:
    plain = text.encode("ascii", "backslashreplace").decode()
    return '"' + (plain if len(plain) <= 100 else plain[:97] + "...") + '"'  # noqa: PLR2004
