"""Pages that lead to another page after a short time: `<meta http-equiv=refresh>` and `Refresh`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urldefrag, urljoin

from webtools._internal.pages.tree import Element

_REFRESH = re.compile(
    r"\s*(?P<delay>\d{1,5})(?:\.\d*)?\s*[;,\s]\s*(?:url\s*=\s*)?+"
    r"(?:(?P<quote>['\"])(?P<quoted>[^'\"]*).*|(?P<plain>[^\s'\"].*))",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_REFRESH = 2100  # characters
_MAX_DELAY = 10  # seconds; longer ones are for readers
MAX_REFRESHED = 400  # characters of a page that is only a way to another one


def refresh_target(refreshes: Iterable[str], url: str) -> str:
    """Return the target of the first refresh of a page that leads to another one, or ""."""
    return next(filter(None, (_refresh_of(refresh, url) for refresh in refreshes)), "")


def declared_refreshes(root: Element | None) -> list[str]:
    """Return the values of the refreshes that the markup of a page declares."""
    if root is None:
        return []
    return [
        meta.get("content", "")
        for meta in root.iter("meta")
        if meta.get("http-equiv", "").strip().lower() == "refresh"
        and next(meta.iterancestors("noscript"), None) is None
    ]


def _refresh_of(value: str, url: str) -> str:
    """Return the target of a refresh to another page after a short time, or ""."""
    match = _REFRESH.fullmatch(value[:_LONGEST_REFRESH])
    if match is None or int(match["delay"]) > _MAX_DELAY:
        return ""
    target = str(match["quoted"] or match["plain"] or "")
    with suppress(ValueError):
        return "" if urldefrag(urljoin(url, target))[0] == urldefrag(url)[0] else target
    return target
