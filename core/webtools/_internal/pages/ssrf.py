"""Which addresses pages may be fetched from. Pure: names are looked up and connected to elsewhere.

Whoever fetches must check the URL and all addresses of its host at every hop, and connect to the
addresses that were checked. `webtools._internal.text.urls` takes URLs apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from webtools._internal.text.urls import PORTS, Address, Target, parse, quoted_url, refusal
from webtools.errors import InputError

Network = IPv4Network | IPv6Network

_FIRST_FREE_PORT = 1024
# Ports from 1024 up that browsers refuse as well (https://fetch.spec.whatwg.org/#port-blocking):
# what listens there might take an HTTP request for commands of its own protocol.
_BAD_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6679, 6697, 10080}
    | set(range(6665, 6670))
)
_LOCAL_SUFFIXES = (
    *(".localhost", ".local", ".localdomain", ".internal", ".intranet", ".private", ".corp"),
    *(".home", ".lan", ".home.arpa", ".svc", ".consul", ".nomad", ".cluster", ".kube", ".mesh"),
)
# Names that clouds' own name servers give their metadata services; where a proxy looks up, the name
# is all that can be checked.
_METADATA_NAMES = (
    *(".metadata.goog", ".metadata.google.internal", ".metadata.azure.internal", ".metadata"),
    *(".metadata.tencentyun.com", ".metadata.platformequinix.com", ".metadata.packet.net"),
    *(".instance-data", ".instance-data.ec2.internal"),
)

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


def check(target: Target, policy: Policy) -> None:
    """Refuse a URL for its port, its name, or the address it names.

    Raises:
        InputError: It may not be fetched.
    """
    name = quoted_url(target.host)
    if f".{target.host}".endswith(_METADATA_NAMES):
        raise refusal(f"{name} is the name of a cloud's metadata service")
    if not policy.opens(target):
        is_free = target.port >= _FIRST_FREE_PORT and target.port not in _BAD_PORTS
        if not is_free and target.port not in PORTS.values():
            raise refusal(f"port {target.port} is not one for web pages")
        is_local = "." not in target.host or target.host.endswith(_LOCAL_SUFFIXES)
        if target.address is None and is_local:
            raise refusal(f"{name} is a name of the local network", _opening(target))
    if target.address is not None:
        check_addresses(target, [target.host], policy)


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
            subject = f"{quoted_url(target.host)} has the address {address}, which"
            if target.address is not None:
                subject = quoted_url(target.host)
            raise refusal(f"{subject} is {fault}", _remedy(target, address))
    return tuple(str(address) for address in addresses)


def _read(text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError:
        raise refusal(f"{quoted_url(text)} is not an IP address") from None


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
    is_isatap = (number >> 32) & 0xFFFFFFFF in {0x00005EFE, 0x02005EFE}
    if address.version == 6 and (address in _NAT64 or is_isatap):  # noqa: PLR2004
        return IPv4Address(number & 0xFFFFFFFF)
    return None


def _remedy(target: Target, address: Address) -> str:
    if _is_metadata(address) or _listed(address, _PRIVATE) is None:
        return ""
    if address in _BENCHMARK:
        return "; if a proxy gives out fake addresses here, an operator can set allowFakeIps"
    return _opening(target)


def _opening(target: Target) -> str:
    return f'; an operator can open it up with allowPrivateHosts: ["{target.site}"]'
