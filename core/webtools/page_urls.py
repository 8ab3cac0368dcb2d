"""Compare the URLs of pages."""

from __future__ import annotations

from urllib.parse import urlsplit

from webtools._internal.text.urls import PORTS

__all__ = ["other_host", "page_key"]


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
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    host = (parts.hostname or "").rstrip(".")
    if port and port != PORTS.get(parts.scheme):
        host = f"{host}:{port}"
    fields = [each for each in parts.query.split("&") if not each.lower().startswith("utm_")]
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}?{'&'.join(filter(None, fields))}"
