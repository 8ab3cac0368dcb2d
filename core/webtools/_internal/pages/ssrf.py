"""Check which addresses pages may be fetched from, without any I/O.

At every hop, check the URL and all addresses of its host, and connect to the checked addresses.
`webtools._internal.text.urls` parses URLs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from webtools._internal.text.urls import (
    PORTS,
    Address,
    Target,
    brief_host,
    parse,
    quoted_url,
    refusal,
)
from webtools.errors import InputError

Network = IPv4Network | IPv6Network

_NOT_IN_HOSTS = re.compile(r"[/?#@]")
_PORT_AT_END = re.compile(r":\d*$")  # an IPv6 address is in brackets
_FIRST_FREE_PORT = 1024
# Ports from 1024 up that browsers refuse as well (https://fetch.spec.whatwg.org/#port-blocking):
# a server there might read an HTTP request as commands of its own protocol.
_BAD_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6679, 6697, 10080}
    | set(range(6665, 6670))
)
_LOCAL_SUFFIXES = (
    *(".localhost", ".local", ".localdomain", ".internal", ".intranet", ".private", ".corp"),
    *(".home", ".lan", ".home.arpa", ".svc", ".consul", ".nomad", ".cluster", ".kube", ".mesh"),
)
# Names of metadata services on clouds' own name servers. If a proxy looks up names, only the name
# can be checked.
_METADATA_NAMES = (
    *(".metadata.goog", ".metadata.google.internal", ".metadata.azure.internal", ".metadata"),
    *(".metadata.tencentyun.com", ".metadata.platformequinix.com", ".metadata.packet.net"),
    *(".instance-data", ".instance-data.ec2.internal"),
)

# https://www.iana.org/assignments/iana-ipv4-special-registry (read 2026-11-21). The table of
# `ipaddress` differs between releases of Python.
_BENCHMARK = IPv4Network("198.18.0.0/15")
_PRIVATE: dict[Network, str] = {
    IPv4Network("127.0.0.0/8"): "a loopback address",
    IPv4Network("10.0.0.0/8"): "a private address",
    IPv4Network("172.16.0.0/12"): "a private address",
    IPv4Network("192.168.0.0/16"): "a private address",
    IPv4Network("100.64.0.0/10"): "a shared address of a carrier's or cloud's network",
    _BENCHMARK: "an address for benchmarks, which some proxies use as fake addresses",
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
    IPv6Network("::ffff:0:0/96"): "an IPv4 address inside an IPv6 address",
    IPv6Network("::/96"): "an IPv4 address inside an IPv6 address",
    IPv6Network("64:ff9b:1::/48"): "an address of a local NAT64",
    IPv6Network("fe80::/10"): "a link-local address",
    IPv6Network("fec0::/10"): "a site-local address",
    IPv6Network("ff00::/8"): "a multicast address",
    IPv6Network("2001::/23"): "a reserved address",
    IPv6Network("2002::/16"): "an IPv4 address inside an IPv6 address",
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
_GLOBAL_UNICAST = IPv6Network("2000::/3")  # all addresses allocated so far
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = {0x00005EFE, 0x02005EFE}  # RFC 5214: before the last 32 bits of an address


@dataclass(frozen=True, slots=True)
class Policy:
    """Exceptions that an operator allows.

    Attributes:
        private_hosts: Sites that may have private addresses, each `host:port`.
        fake_ips: Whether 198.18.0.0/15 counts as public, since a proxy uses it for fake addresses.
    """

    private_hosts: frozenset[str] = frozenset()
    fake_ips: bool = False

    def allows(self, target: Target) -> bool:
        """Return whether the operator allows this site."""
        return target.site in self.private_hosts

    def after(self, target: Target) -> Policy:
        """Return the policy after a redirect: only an allowed site may redirect to private ones."""
        return self if self.allows(target) else replace(self, private_hosts=frozenset())


def sites(entry: str) -> frozenset[str]:
    """Read an entry of `allowPrivateHosts`; without a port it means 80 and 443.

    Raises:
        InputError: It is not `host` or `host:port`.
    """
    try:
        if _NOT_IN_HOSTS.search(entry):
            raise refusal(f"{quoted_url(entry)} is not a host")
        target = parse(f"http://{entry}/")
    except InputError:
        message = "must list hosts as host or host:port, without scheme, path or pattern"
    else:
        ports = [target.port] if _PORT_AT_END.search(entry) else PORTS.values()
        return frozenset(target._replace(port=port).site for port in ports)
    raise InputError(message)


def check(target: Target, policy: Policy) -> None:
    """Refuse a URL for its port, its name, or the address it names.

    Raises:
        InputError: The URL must not be fetched.
    """
    name = quoted_url(target.host)
    if f".{target.host}".endswith(_METADATA_NAMES):
        raise refusal(f"{name} is the name of a cloud's metadata service")
    if not policy.allows(target):
        if not _is_web_port(target.port):
            raise refusal(f"port {target.port} is not for web pages")
        is_local = "." not in target.host or target.host.endswith(_LOCAL_SUFFIXES)
        if target.address is None and is_local:
            raise refusal(f"{name} is a name of a local network", _allow_hint(target))
    if target.address is not None:
        check_addresses(target, [target.host], policy)


def _is_web_port(port: int) -> bool:
    return port in PORTS.values() or (port >= _FIRST_FREE_PORT and port not in _BAD_PORTS)


def check_addresses(target: Target, texts: Iterable[str], policy: Policy) -> tuple[str, ...]:
    """Check every address of a host; one refused address refuses the host.

    Returns:
        The addresses, in the same order.

    Raises:
        InputError: The host must not be fetched from.
    """
    addresses = [_read_address(text) for text in texts]
    for address in addresses:
        fault = fault_of(address, is_allowed=policy.allows(target), fake_ips=policy.fake_ips)
        if fault is None:
            continue
        if target.address is None:
            host = quoted_url(brief_host(target.host))
            reason = f"{host} has the address {address}, which is {fault}"
        else:
            reason = f"{quoted_url(target.host)} is {fault}"
        raise refusal(reason, _remedy(target, address))
    return tuple(str(address) for address in addresses)


def _read_address(text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError:
        raise refusal(f"{quoted_url(text)} is not an IP address") from None


def fault_of(address: Address, *, is_allowed: bool = False, fake_ips: bool = False) -> str | None:
    """Return why an address is refused, or None.

    Args:
        address: The address.
        is_allowed: Whether the operator allows private addresses for the site.
        fake_ips: Whether 198.18.0.0/15 is allowed.
    """
    if _is_metadata(address):
        return "the address of a cloud's metadata service"
    if (never_public := _description_in(_NEVER, address)) is not None:
        return never_public
    inner = _embedded_address(address)
    if inner is not None and (inner_fault := fault_of(inner)) is not None:
        return f"an IPv6 address that leads to {inner}, {inner_fault}"
    if (private := _description_in(_PRIVATE, address)) is not None:
        return None if is_allowed or (fake_ips and address in _BENCHMARK) else private
    return None if _is_allocated(address) else "a reserved address"


def _is_metadata(address: Address) -> bool:
    """Look an address up without its zone, which the listed addresses do not have."""
    if isinstance(address, IPv6Address):
        return IPv6Address(int(address)) in _METADATA
    return address in _METADATA


def _description_in(table: dict[Network, str], address: Address) -> str | None:
    """Return the description of the network of an address, or None if the table has none."""
    return next((text for network, text in table.items() if address in network), None)


def _embedded_address(address: Address) -> IPv4Address | None:
    """Return the IPv4 address that a translator or tunnel derives from an IPv6 address."""
    if isinstance(address, IPv4Address):
        return None
    upper, lower = divmod(int(address), 2**32)
    if address in _NAT64 or upper % 2**32 in _ISATAP:
        return IPv4Address(lower)
    return None


def _is_allocated(address: Address) -> bool:
    is_ipv4 = isinstance(address, IPv4Address)
    return is_ipv4 or address in _GLOBAL_UNICAST or address in _NAT64


def _remedy(target: Target, address: Address) -> str:
    if _is_metadata(address) or _description_in(_PRIVATE, address) is None:
        return ""
    if address in _BENCHMARK:
        return "; if your proxy uses fake addresses, an operator can set allowFakeIps"
    return _allow_hint(target)


def _allow_hint(target: Target) -> str:
    return f'; an operator can allow it with allowPrivateHosts: ["{target.site}"]'
