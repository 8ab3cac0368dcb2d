"""Check pages against a site's robots.txt (RFC 9309, https://www.rfc-editor.org/rfc/rfc9309).

A missing file (4xx) allows everything. A file that cannot be fetched (no response, 429, 5xx) allows
nothing while that result is cached. Rules for `agent-webtools` override those for `*`, the longest
match decides, and `*` and `$` are supported. The rules are read in a page process, as pages are,
because a file can take any time and memory.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from webtools._internal.faults import Fault, with_fault
from webtools._internal.pages import usage
from webtools._internal.pages.content import Content, Source
from webtools.errors import ConfigError, ProviderError, RequestError, UnavailableError

if TYPE_CHECKING:
    from protego import Protego

DISALLOWED = "robots_disallowed"  # code of the error
PRODUCT = "agent-webtools"  # our name in robots.txt and in requests
MAX_BYTES = 500 * 1024  # the minimum of the RFC; the rest is not read
_INSTALL = "pip install 'agent-webtools[bulk]'"
_PARSED = 4  # files whose rules a page process keeps
_USER_AGENT = re.compile(
    r"\s*user[- ]?agent\b\s*:?\s*(\*(?=\s*$)|[\w-]*)", re.IGNORECASE | re.ASCII
)
# The first ones as protego reads them.
_RULE = re.compile(
    r"\s*(?:allow|d[is]+al+[oa]w|diasllow|content-signal|content-usage)\b", re.IGNORECASE
)


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
    """Check that robots.txt could be fetched.

    Raises:
        UnavailableError: It could not.
    """
    if file.fault:
        raise with_fault(
            UnavailableError(
                f"{_name(url)} could not be read, so the page was not fetched: {file.fault}",
            ),
            Fault.ADVISED if file.is_advised else Fault.NONE,
        )


def source_of(url: str, file: RobotsFile, seconds: float) -> Source:
    """Return the file as a page process reads it, to check a page."""
    return Source(file.text.encode(), url=url, seconds=seconds, is_robots=True)


def unreadable(url: str, error: ProviderError) -> ProviderError:
    """Return the error for rules that could not be read in time."""
    return ProviderError(f"{_name(url)} could not be read, so the page was not fetched: {error}")


def _name(url: str) -> str:
    return f"robots.txt of {urlsplit(url).hostname}"


# --- in a page process ---------------------------------------------------------------------------


def read(source: Source) -> Content:
    """Return no text if robots.txt allows the page, and what it says about the use of the page.

    Raises:
        ProviderError: It disallows the page.
        ConfigError: protego is not installed.
    """
    text = source.body.decode()
    rules, group = _rules(text)
    if rules.can_fetch(source.url, PRODUCT):
        return Content("", usage=usage.of_robots(group, text, source.url))
    message = f"robots.txt disallows this page for {PRODUCT}; use another source"
    raise with_fault(ProviderError(message), Fault.DISALLOWED)


@lru_cache(maxsize=_PARSED)
def _rules(text: str) -> tuple[Protego, list[str]]:
    """Return the rules of a file, and the lines that they are from."""
    try:
        from protego import Protego  # noqa: PLC0415  optional
    except ModuleNotFoundError as error:
        if error.name != "protego":
            raise
        message = (
            f"Reading robots.txt needs protego: {_INSTALL}. Or pass robots=False, "
            "and leave fetch.respect at warn."
        )
        raise ConfigError(message) from None
    group = own_rules(text)
    return Protego.parse("\n".join(["User-agent: *", *group])), group


def own_rules(text: str) -> list[str]:
    """Return the lines of the groups for this program, else of those for all.

    protego gives each user agent of a group its own copy of the rules, takes a part of our name for
    ours, and ends the list of user agents at any other line.
    """
    rules: dict[str, list[str]] = {}
    agents: set[str] = set()
    is_list = False  # of user agents, to which the next one belongs
    for line in text.removeprefix("\ufeff").splitlines():
        code = line.partition("#")[0]
        if agent := _USER_AGENT.match(code):
            agents = agents if is_list else set()
            is_list = True
            if (name := agent[1].lower()) in {PRODUCT, "*"}:
                agents.add(name)
                rules.setdefault(name, [])
        elif _RULE.match(code):
            is_list = False
            for name in agents:
                rules[name].append(code)
    return rules.get(PRODUCT, rules.get("*", []))
