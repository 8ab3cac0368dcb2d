"""Compare the URLs of pages."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from webtools._internal.text.urls import PORTS

__all__ = ["other_host", "page_key"]

_PARTS = re.compile(
    r"""(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*)://
    (?:[^/?#]*@)?                                  # user
    (?P<host>\[[^]/?#@]*\]|[^]:/?#@[]*)
    (?::(?P<port>[0-9]{0,5}))?
    (?P<path>(?:/[^?#]*)?)
    (?:\?(?P<query>[^#]*))?
    (?:\#.*)?""",
    re.VERBOSE | re.DOTALL,
).fullmatch


def other_host(url: str, final: str | None) -> str:
    """Return the host of a final URL, if it differs from the requested one by more than `www.`."""
    if not final:
        return ""
    try:
        hosts = [(urlsplit(each).hostname or "").removeprefix("www.") for each in (url, final)]
    except ValueError:
        return ""
    return hosts[1] if hosts[1] != hosts[0] else ""


def page_key(url: str) -> str:
    """Return a key that is equal for URLs of one page.

    They may differ by `utm_` parameters, a final slash, the fragment, the default port and the case
    of the host.
    """
    parts = _PARTS(url)
    if parts is None:
        return url
    scheme, host, path = parts["scheme"].lower(), parts["host"].lower().rstrip("."), parts["path"]
    port, query = int(parts["port"] or 0), parts["query"] or ""
    if port and port != PORTS.get(scheme):
        host = f"{host}:{port}"
    if "&" in query or "utm_" in query.lower():
        fields = [field for field in query.split("&") if not field.lower().startswith("utm_")]
        query = "&".join(filter(None, fields))
    return f"{scheme}://{host}{path.rstrip('/')}?{query}"
