"""Compare the URLs of pages."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from webtools._internal.text.urls import PORTS

__all__ = ["other_host", "page_key"]

_PARTS = re.compile(
    r"""([a-zA-Z][a-zA-Z0-9+.-]*)://          # scheme
    (?:[^/?#]*@)?                           # user
    (\[[^]/?#@]*\]|[^]:/?#@[]*)             # host
    (?::([0-9]{0,5}))?                      # port
    ((?:/[^?#]*)?)                          # path
    (?:\?([^#]*))?                          # query
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
    scheme, host, port, path, query = parts.groups("")
    scheme, host = scheme.lower(), host.lower().rstrip(".")
    if port and int(port) not in {0, PORTS.get(scheme)}:
        host = f"{host}:{int(port)}"
    if query:
        fields = [field for field in query.split("&") if not field.lower().startswith("utm_")]
        query = "&".join(filter(None, fields))
    return f"{scheme}://{host}{path.rstrip('/')}?{query}"
