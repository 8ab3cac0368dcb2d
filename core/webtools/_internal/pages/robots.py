"""Check pages against a site's robots.txt (RFC 9309, https://www.rfc-editor.org/rfc/rfc9309).

A missing file (4xx) allows everything. A file that cannot be fetched (no response, 429, 5xx) allows
nothing while that result is cached. Rules for `agent-webtools` override those for `*`, the longest
match decides, and `*` and `$` are supported.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from webtools.errors import ConfigError, Fault, ProviderError, RequestError, UnavailableError

if TYPE_CHECKING:
    from protego import Protego

PRODUCT = "agent-webtools"  # our name in robots.txt and in requests
MAX_BYTES = 500 * 1024  # the minimum of the RFC; the rest is not read
_INSTALL = "pip install 'agent-webtools[bulk]'"
_PARSED = 256  # files whose parsed rules are cached


class RobotsFile(BaseModel):
    """The result of fetching a robots.txt.

    Attributes:
        text: Its text; empty if there is no file, which allows everything.
        fault: Why it could not be fetched, which allows nothing; else empty.
        is_advised: Whether `fault` says when to try again.
    """

    model_config = ConfigDict(frozen=True)

    text: str = ""
    fault: str = ""
    is_advised: bool = False


# Returns a site's robots.txt by its URL, from the cache or by the function that fetches it.
CachedRobots: TypeAlias = Callable[
    [str, Callable[[], Awaitable[RobotsFile]]], Awaitable[RobotsFile]
]


def address_of(url: str) -> str:
    """Return the URL of the robots.txt for a page."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"


def file_of(body: bytes) -> RobotsFile:
    """Read the body of a response."""
    return RobotsFile(text=body[:MAX_BYTES].decode("utf-8", "replace"))


def file_for(error: RequestError | ProviderError) -> RobotsFile:
    """Return the file for a failed request: it allows everything, or nothing."""
    status = error.status
    is_refusal = status is not None and status < HTTPStatus.INTERNAL_SERVER_ERROR
    is_absent = isinstance(error, ProviderError) and (
        status is None or (is_refusal and status != HTTPStatus.TOO_MANY_REQUESTS)
    )
    if is_absent:
        return RobotsFile()
    return RobotsFile(fault=str(error).rstrip("."), is_advised=Fault.ADVISED in error.fault)


def check(url: str, file: RobotsFile) -> None:
    """Check that robots.txt allows a page.

    Raises:
        ProviderError: The file disallows it.
        UnavailableError: The file could not be fetched.
        ConfigError: protego is not installed.
    """
    if file.fault:
        host = urlsplit(url).hostname
        raise UnavailableError(
            f"robots.txt of {host} could not be read, so the page was not fetched: {file.fault}",
            fault=Fault.ADVISED if file.is_advised else Fault.NONE,
        )
    if file.text and not _rules(file.text).can_fetch(url, PRODUCT):
        message = f"robots.txt disallows this page for {PRODUCT}; use another source"
        raise ProviderError(message, fault=Fault.DISALLOWED)


@lru_cache(maxsize=_PARSED)
def _rules(text: str) -> Protego:
    try:
        from protego import Protego  # noqa: PLC0415  optional
    except ImportError:
        message = f"Reading robots.txt needs protego: {_INSTALL}. Or pass robots=False."
        raise ConfigError(message) from None
    return Protego.parse(text)
