"""How long a page may be cached, and how it is revalidated (RFC 9110, 9111 and 5861).

A site's `max-age` and `Expires` can only shorten the time for which the settings cache a page.
Without them the settings decide alone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Self

from pydantic import BaseModel, ConfigDict

MAX_KEPT = 7 * 24 * 3600.0  # seconds for which an expired page is kept to be revalidated
_KEPT_HEADERS = ("etag", "last-modified", "cache-control", "expires", "date", "age", "vary")
_LONGEST = 500  # characters of a header
_SENDABLE = re.compile(r"[!-~][ -~]*")
_DIRECTIVE = re.compile(r'([\w-]{1,40})(?:\s{0,9}=\s{0,9}(?:"([^"]{0,200})"|([^\s,;"]{0,200})))?')


class Validators(BaseModel):
    """What a response says about caching it.

    Attributes:
        url: The URL of the response.
        headers: The headers that say so, as received.
    """

    model_config = ConfigDict(frozen=True)

    url: str
    headers: dict[str, str] = {}

    @classmethod
    def of_headers(cls, headers: Mapping[str, str], url: str) -> Self:
        """Read the headers of a response."""
        kept = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
        return cls(
            url=url, headers={k: v for k, v in kept.items() if len(v) <= _LONGEST or k == "vary"}
        )

    def updated(self, later: Validators) -> Validators:
        """Return the validators of a page that a later response says is unchanged."""
        kept = {name: value for name, value in self.headers.items() if name != "age"}
        return Validators(url=self.url, headers=kept | later.headers)

    def combined(self, other: Validators) -> Validators:
        """Return the validators of a page made from two responses, which cannot be revalidated."""
        both = {
            name: ", ".join(filter(None, (self.headers.get(name), other.headers.get(name))))
            for name in ("cache-control", "vary")
        }
        return Validators(url=self.url, headers=both)

    def conditions(self, url: str) -> dict[str, str]:
        """Return the headers of a conditional request; none for another URL."""
        names = {"if-none-match": "etag", "if-modified-since": "last-modified"}
        values = {name: self.headers.get(source, "") for name, source in names.items()}
        if url != self.url:
            return {}
        return {name: value for name, value in values.items() if _SENDABLE.fullmatch(value)}

    def may_be_kept(self, *, is_shared: bool) -> bool:
        """Return whether the page may be cached, perhaps in a store that users share."""
        directives = self._directives()
        if "no-store" in directives or (is_shared and "private" in directives):
            return False
        return "*" not in self.headers.get("vary", "")

    def lifetime(self, *, is_shared: bool) -> float | None:
        """Return the seconds for which the page is fresh; None if the site sets no limit."""
        directives = self._directives()
        if "no-cache" in directives:
            return 0.0
        limits = [directives.get("max-age")]
        if is_shared:
            limits.insert(0, directives.get("s-maxage"))
        limit = next((_seconds(text) for text in limits if text is not None), None)
        if limit is None and "expires" in self.headers:
            limit = self._seconds_until_expiry()
        return None if limit is None else max(0.0, limit - _seconds(self.headers.get("age", "0")))

    def kept_seconds(self) -> float:
        """Return the seconds for which the page is worth keeping after it has expired."""
        if self.conditions(self.url):
            return MAX_KEPT
        return min(MAX_KEPT, self.stale_if_error(is_shared=False))

    def stale_if_error(self, *, is_shared: bool) -> float:
        """Return the seconds for which an expired page may replace an error of the site."""
        directives = self._directives()
        forbidding = {"must-revalidate", "no-cache"}
        if is_shared:
            forbidding |= {"proxy-revalidate", "s-maxage"}
        return 0.0 if forbidding & directives.keys() else _seconds(directives.get("stale-if-error"))

    def _directives(self) -> dict[str, str]:
        directives: dict[str, str] = {}
        for match in _DIRECTIVE.finditer(self.headers.get("cache-control", "")):
            directives.setdefault(match[1].lower(), match[2] or match[3] or "")
        return directives

    def _seconds_until_expiry(self) -> float:
        """Return `Expires` minus `Date`, or 0 if it is not a date, as the RFC says."""
        with suppress(ValueError, TypeError, OverflowError):
            expiry = parsedate_to_datetime(self.headers["expires"]).timestamp()
            date = self.headers.get("date")
            return expiry - (parsedate_to_datetime(date).timestamp() if date else time.time())
        return 0.0


def _seconds(text: str | None) -> float:
    """Read a number of seconds. Anything else counts as 0."""
    return float(text[:12]) if text and text.isascii() and text.isdecimal() else 0.0
