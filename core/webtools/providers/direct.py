"""Direct: pages fetched from their own sites, without an API or a key.

What may be fetched is decided by `_direct.guard`; how it goes is in `_direct.fetching`.
"""

from __future__ import annotations

from http import HTTPStatus
from importlib.util import find_spec

from pydantic import Field, field_validator

from webtools.errors import ConfigError, InputError, ProviderError
from webtools.flows.drivers import Flow
from webtools.http.messages import Response
from webtools.pages.ssrf import sites
from webtools.providers.about import About, Capability, Options
from webtools.providers.errors import kind_of, retry_after
from webtools.providers.protocols import (
    Account,
    Done,
    PageQuery,
    Pages,
    untold,
)

INSTALL = "pip install 'agent-webtools[fetch]'"
_LIBRARIES = ("trafilatura", "pypdf")
_INSTALLED: set[str] = set()  # those of them that were found
_REMEDIES = {
    401: "the page needs a log-in; use another source",
    402: "the page is for paying readers; use another source",
    403: "the site refuses this program; use another source",
    404: "there is no such page; check the URL or search for it",
    410: "the page is gone; search for another one",
    429: "the site gets too many requests; try again later",
    451: "the page is withheld for legal reasons; use another source",
}


class DirectOptions(Options):
    """Options of a direct entry.

    Attributes:
        default_fetch_text_max_characters: Bound on a page's text where the call sets none.
        allow_private_hosts: Sites that may have private addresses, each exactly `host` (for the
            ports 80 and 443) or `host:port`; everything private is refused otherwise.
        allow_fake_ips: Take 198.18.0.0/15 for public: some proxies give out fake addresses there.
    """

    default_fetch_text_max_characters: int | None = None
    allow_private_hosts: list[str] = Field(default_factory=list[str])
    allow_fake_ips: bool = False

    @field_validator("allow_private_hosts")
    @classmethod
    def _check_sites(cls, entries: list[str]) -> list[str]:
        for entry in entries:
            try:
                sites(entry)
            except InputError as error:
                raise ValueError(str(error)) from None
        return entries


ABOUT = About(
    name="direct",
    title="Direct",
    origin="",  # there is no API: every page has its own
    needs_key=False,
    options=DirectOptions,
)
IMPLICIT = Account(
    ABOUT.name, ABOUT.name, ABOUT.origin, None, DirectOptions()
)  # serves where no other can fetch


def missing_libraries() -> ConfigError | None:
    """Make the error for the extra that is not installed; None when it is."""
    missing = [name for name in _LIBRARIES if not _is_installed(name)]
    if not missing:
        return None
    return ConfigError(f"Reading pages needs {' and '.join(missing)}: {INSTALL}")


def _is_installed(name: str) -> bool:
    """Tell whether a library is there; looking for it takes as long as a cached answer."""
    if name not in _INSTALLED and find_spec(name) is not None:
        _INSTALLED.add(name)
    return name in _INSTALLED


def pages(query: PageQuery, account: Account, deadline: float, done: Done = untold) -> Flow[Pages]:
    """Fetch the pages of a query, one request each and some at the same time."""
    from webtools.pages.fetching import fetch_pages  # noqa: PLC0415 - it needs the table of providers

    return (yield from fetch_pages(query, account, deadline, done))


def fetch_price(_query: PageQuery, _account: Account) -> float:
    """Price pages: their own sites ask for nothing."""
    return 0.0


def read_error(
    response: Response, account: Account, _capability: Capability
) -> ProviderError | None:
    """Tell what a site's status means and what to do."""
    status = response.status
    if status < HTTPStatus.BAD_REQUEST:
        return None
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    remedy = "check the URL or use another source"
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        remedy = "the site is in trouble; try again later or use another source"
    return kind_of(status)(
        f"HTTP {status}{phrase}: {_REMEDIES.get(status, remedy)}",
        provider=account.name,
        status=status,
        retry_after=retry_after(response),
    )
