# ruff: noqa: ISC004  long claims
"""Pages as they are found on the web, and drafts about them that are true."""

from __future__ import annotations

from webtools.providers.protocols import Source
from webtools_sandbox.stdlib_docs import read_page

POOL = """\
# Harbour town opens its tidal pool

[Home](https://news.example/) | [News](https://news.example/news) | [Contact](/contact)

Vellmouth opened its sea-water pool on Saturday morning, 14 February 2026. Four hundred people
queued in the rain. The council had first voted for the pool in 2015.

The basin fills twice a day with the tide and needs no pumps. Engineers of the firm Norrvik expect
running costs of 40,000 euros a year, a third of what a heated pool costs.

The swimming club will run lessons for children from April. Mayor Ines Kolbe did not attend the
opening.

We use cookies to improve your pool experience. Accept all cookies to read on about the pool.
"""
PARSER = """\
## Sluice 2.1 released

The team behind Sluice released version 2.1 of its streaming JSON parser on 4 March 2026. It yields
values before the document is complete and uses at most 64 KiB of memory.[3]

On an export of 2 GB the parser was slower than the standard json module by 25 percent. It started
to deliver after three milliseconds.

- Comments are disabled by default; `allow_comments=True` enables them.
- Duplicate keys raise a `DuplicateKeyError`.

Maintainer Jon Sable says that error messages name the line and column of a fault. Asha Rao reviewed
the release. Sluice never holds the whole document in memory.
"""
TRAIN = """\
After nine years the night train is back. It leaves Orsk Bay at 21:40 and reaches Lindau Point
before breakfast.

Tickets with a bed start at $59. The operator ordered twelve sleeping cars, of which seven have been
delivered. Passenger numbers rose by 12% in 2025.

Passenger groups welcome the line but ask for more space for bicycles.
"""


def _json_page() -> str:
    page = read_page("json")
    assert page is not None
    return page.text


SOURCES = (
    Source(1, "Harbour town of Vellmouth opens its tidal pool", "https://news.example/pool", POOL),
    Source(2, "Sluice: a streaming parser", "https://sluice.example/blog?id=7", PARSER),
    Source(3, "Night train returns", "https://rail.example/night-train/", TRAIN),
    Source(4, "json - JSON encoder", "https://docs.example/library/json.html", _json_page()),
)
# In the words of the one source that each cites.
TRUE = (
    "Vellmouth opened its sea-water pool on Saturday morning, 14 February 2026. [1]",
    "Four hundred people queued in the rain. [1]",
    "The council had first voted for the pool in 2015. [1]",
    "The basin fills twice a day with the tide and needs no pumps. [1]",
    "Engineers of the firm Norrvik expect running costs of 40,000 euros a year, "
    "a third of what a heated pool costs. [1]",
    "Mayor Ines Kolbe did not attend the opening. [1]",
    "The team behind Sluice released version 2.1 of its streaming JSON parser on 4 March 2026. [2]",
    "It yields values before the document is complete and uses at most 64 KiB of memory. [2]",
    "On an export of 2 GB the parser was slower than the standard json module by 25 percent. [2]",
    "Comments are disabled by default; `allow_comments=True` enables them. [2]",
    "Duplicate keys raise a `DuplicateKeyError`. [2]",
    "Maintainer Jon Sable says that error messages name the line and column of a fault. [2]",
    "Sluice never holds the whole document in memory. [2]",
    "It leaves Orsk Bay at 21:40 and reaches Lindau Point before breakfast. [3]",
    "Tickets with a bed start at $59. [3]",
    "The operator ordered twelve sleeping cars, of which seven have been delivered. [3]",
    "Passenger numbers rose by 12% in 2025. [3]",
    "If `skipkeys` is true then `dict` keys that are not basic types (`str`, `int`, "
    "`float`, `bool`, `None`) will be skipped instead of raising a `TypeError`. [4]",
    "An indent level of 0 will only insert newlines. [4]",
)
