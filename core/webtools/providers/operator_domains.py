"""The hosts that the operator's settings allow for pages.

A URL whose host is ambiguous is refused: two parsers might read two hosts from it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from webtools._internal.faults import Fault, with_fault
from webtools._internal.text.domains import ANY_HOST, NO_VALUES, Site, read_site, site_of_url
from webtools.errors import InputError

_LOGIN = re.compile(r"//[^/?#]*@")


class OperatorDomains(NamedTuple):
    """The hosts that the settings allow and forbid.

    Attributes:
        allow: The hosts that are allowed; empty for all.
        deny: The hosts that are not allowed, even if `allow` names them.
    """

    allow: tuple[Site, ...] = ()
    deny: tuple[Site, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there are rules."""
        return bool(self.allow or self.deny)

    def check(self, url: str) -> None:
        """Check that the operator's settings allow a URL.

        Raises:
            InputError: They do not. The message names the host and the setting.
        """
        if refusal := self.refusal(url):
            raise with_fault(InputError(refusal), Fault.FORBIDDEN)

    def refusal(self, url: str) -> str:
        """Explain why the operator's settings forbid a URL; "" if they allow it."""
        if not self:
            return ""
        site = site_of_url(url)
        if site is None:
            return _refusal(_LOGIN.sub("//", url)[:100], "its host is ambiguous")
        if any(rule.covers(site) for rule in self.deny):
            return _refusal(site.host, "fetch.denyDomains names it")
        if self.allow and not any(rule.covers(site) for rule in self.allow):
            return _refusal(site.host, "fetch.allowDomains does not name it")
        return ""


NO_DOMAINS = OperatorDomains()


def read_sites(entries: Sequence[str], *, is_denied: bool = False) -> tuple[Site, ...]:
    """Read a list of the settings. Words for "no value" are left out.

    Args:
        entries: Domains as in a search filter, with or without a port.
        is_denied: Whether the list forbids hosts. `*` is refused there: it would forbid nothing.

    Raises:
        ValueError: An entry is something else, or the list has no values.
    """
    words = {entry.strip().casefold() for entry in entries}
    if is_denied and words & ANY_HOST:
        raise ValueError('cannot list "*" or "any". To allow few hosts, list them in allowDomains')
    hosts = [entry for entry in entries if entry.strip().casefold() not in NO_VALUES]
    if not hosts and not words & ANY_HOST:
        raise ValueError("is empty. List at least one host, or remove it")
    return tuple(map(_read_entry, hosts))


def _read_entry(entry: str) -> Site:
    try:
        return read_site(entry)
    except ValueError:
        shown = ascii(entry)[1:-1][:60]
    raise ValueError(
        f'must list hosts, such as example.com, *.example.com, .gov or wiki:80, not "{shown}"'
    )


def _refusal(host: str, reason: str) -> str:
    return (
        f'The operator\'s settings forbid reading pages from "{ascii(host)[1:-1]}": {reason}. '
        "Use another source."
    )
