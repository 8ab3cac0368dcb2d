"""URLs split as httpcore wants them, in the way of httpx."""

from __future__ import annotations

import re
from typing import NamedTuple

import httpcore
from pydantic import SecretStr

_OCTET = r"(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_NAME = r"(?:[a-z0-9][a-z0-9-]*\.)*[a-z][a-z0-9-]*"
_SAFE = r"[A-Za-z0-9._~!$&()*+,;=:@/-]|%[0-9A-Fa-f]{2}"
# In such a URL there is nothing to normalize. Those of all APIs are like this; of any other httpx
# knows what it means, whose import takes longer than a request.
_NORMAL = re.compile(
    rf"(?P<scheme>https?)://(?P<host>{_NAME}|{_OCTET}(?:\.{_OCTET}){{3}})(?::(?P<port>[1-9]\d{{0,4}}))?"
    rf"(?P<target>(?:/(?:{_SAFE})*)?(?:\?(?:{_SAFE}|\?)*)?)",
    re.ASCII,
)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_PORT = 65535
_LONGEST = 60_000  # characters; httpx refuses some more


class Target(NamedTuple):
    """A parsed URL, and what of it is needed at every call.

    Attributes:
        core_url: What httpcore sends to.
        origin: Scheme, host and port.
        host: The header of that name.
    """

    core_url: httpcore.URL
    origin: str
    host: bytes

    def needs_tls(self, proxy: SecretStr | None) -> bool:
        """Return whether TLS is spoken, to the host or to its proxy."""
        if self.origin.startswith("https:"):
            return True
        return proxy is not None and proxy.get_secret_value().startswith("https")


def split(url: str) -> Target:
    """Split a URL.

    Raises:
        httpx.InvalidURL: It is none.
        httpx.UnsupportedProtocol: It is none of http or https, or has no host.
    """
    parts = _NORMAL.fullmatch(url) if len(url) < _LONGEST and "/." not in url else None
    port = int(parts["port"] or 0) if parts else 0
    if parts is None or port > _MAX_PORT or port == _DEFAULT_PORTS[parts["scheme"]]:
        return _split_by_httpx(url)
    path = parts["target"] if parts["target"].startswith("/") else f"/{parts['target']}"
    return _target(parts["scheme"], parts["host"], port or None, path.encode())


def _split_by_httpx(url: str) -> Target:
    import httpx  # noqa: PLC0415 - few URLs need it

    parsed = httpx.URL(url)
    if parsed.scheme not in _DEFAULT_PORTS or not parsed.host:
        raise httpx.UnsupportedProtocol("it is no http(s) URL")
    return _target(parsed.scheme, parsed.raw_host.decode(), parsed.port, parsed.raw_path)


def _target(scheme: str, host: str, port: int | None, path: bytes) -> Target:
    url = httpcore.URL(scheme=scheme.encode(), host=host.encode(), port=port, target=path)
    named = f"[{host}]" if ":" in host else host
    netloc = named if port is None else f"{named}:{port}"
    return Target(url, f"{scheme}://{netloc}", netloc.encode())
