"""Reads hits by a table of field names; an odd value costs its field, at worst its hit.

What could not be read is counted, and told in one warning of each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import ConfigDict, TypeAdapter

from webtools._internal.text.cleaning import is_web_url, one_line, without_controls
from webtools._internal.text.dates import read_age, read_day, read_moment
from webtools._internal.text.narrowing import is_list, is_object
from webtools.providers.about import Account
from webtools.providers.faults import fault_of
from webtools.providers.parsing import estimate, number
from webtools.providers.protocols import Cost, DocsQuery, Hits, SearchQuery
from webtools.results import Page, Passage, SearchResult

T = TypeVar("T")
UNREADABLE = "that cannot be read, left out here"
CONTENT_CHARACTERS = 10_000  # of the text of a page that comes with a hit
# All of an answer at once: one by one would take twice as long.
_RESULTS = TypeAdapter(list[SearchResult], config=ConfigDict(defer_build=True))


@dataclass(slots=True, eq=False)
class Oddities:
    """Counts what of an answer could not be read.

    Attributes:
        sender: The configured name of the provider that answered.
        noun: What it sends.
        nouns: The same for several; without, the noun and an "s".
        lost: Items that were left out as a whole.
        nulls: Lists that were null.
        fields: How many values of each field were left out.
    """

    sender: str
    noun: str = "result"
    nouns: str = ""
    lost: int = 0
    nulls: int = 0
    fields: dict[str, int] = field(default_factory=cast("Callable[[], dict[str, int]]", dict))

    def add(self, name: str, count: int = 1) -> None:
        """Count a field whose value was left out, so many times."""
        self.fields[name] = self.fields.get(name, 0) + count

    def warnings(self) -> list[str]:
        """Return one sentence for each kind of oddity."""
        told: list[str] = []
        if not (self.nulls or self.lost or self.fields):  # as nearly always
            return told
        sender, nouns = self.sender, self.nouns or f"{self.noun}s"
        if self.nulls:
            told.append(f'"{sender}" sent null in place of a list of {nouns}; it counts as empty.')
        if self.lost:
            which = f"1 {self.noun}" if self.lost == 1 else f"{self.lost} {nouns}"
            told.append(f'"{sender}" sent {which} {UNREADABLE}.')
        if self.fields:
            names = ", ".join(f"{name} ({n})" for name, n in sorted(self.fields.items()))
            told.append(f'"{sender}" sent values {UNREADABLE}: {names}.')
        return told


@dataclass(slots=True, eq=False)
class Item:
    """A JSON object of an answer; where a value is not of the kind asked for, it counts as absent.

    Methods that take several names return the first value that is there.

    Attributes:
        values: The object.
        odd: Counts what cannot be read of it.
    """

    values: dict[str, Any]
    odd: Oddities

    def text(self, *names: str) -> str:
        """Return a text as it was sent; empty where there is none."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str):
                if value:
                    return value
            elif value is not None:
                self.odd.add(name)
        return ""

    def line(self, *names: str) -> str | None:
        """Return clean text on one line, or None."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str):
                if found := one_line(value):
                    return found
            elif value is not None:
                self.odd.add(name)
        return None

    def moment(self, *names: str) -> datetime | None:
        """Return an aware date and time, or None."""
        for name in names:
            value = self.values.get(name)
            found = read_moment(value) if isinstance(value, str) else None
            if found is not None:
                return found
            if value is not None and not (isinstance(value, str) and not value.strip()):
                self.odd.add(name)
        return None

    def number(self, name: str, low: float, high: float) -> float | None:
        """Return a number within bounds, or None."""
        value = self.values.get(name)
        if value is None or value == "":
            return None
        found = value if type(value) is float else number(value)
        if found is not None and low <= found <= high:
            return found
        self.odd.add(name)
        return None

    def texts(self, name: str) -> list[str]:
        """Return the texts of a list."""
        value = self.values.get(name)
        if value is None:
            return []
        every: list[Any] = value if is_list(value) else [None]
        found = [each for each in every if isinstance(each, str)]
        if len(found) < len(every):
            self.odd.add(name, len(every) - len(found))
        return found

    def child(self, name: str) -> Item:
        """Return the object in a field; an empty one where there is none."""
        value = self.values.get(name)
        if is_object(value):
            return Item(value, self.odd)
        if value is not None:
            self.odd.add(name)
        return Item({}, self.odd)

    def children(self, name: str) -> list[Item]:
        """Return the objects of a list."""
        value = self.values.get(name)
        if value is None:
            return []
        every: list[Any] = value if is_list(value) else [None]
        found = [Item(each, self.odd) for each in every if is_object(each)]
        if len(found) < len(every):
            self.odd.add(name, len(every) - len(found))
        return found

    def call(self, name: str, function: Callable[[Item], T]) -> T | None:
        """Read a field with a function; an error or a date without a time zone costs the field."""
        try:
            value = function(self)
        except Exception as error:  # noqa: BLE001  # an author's function may raise anything
            self.odd.add(f"{name}, {fault_of(error, getattr(function, '__module__', ''))}")
            return None
        if isinstance(value, datetime) and value.utcoffset() is None:
            self.odd.add(f"{name}, a date without a time zone")
            return None
        return value


Field: TypeAlias = "str | Callable[[Item], T]"


@dataclass(frozen=True, slots=True)
class HitFields:
    """Where the hits of an API have their fields: by name, or by a function of the whole hit.

    Attributes:
        url: A hit without a web address here is left out, unless there is a `home`.
        title: Where it is missing, the hit is called by its host.
        snippet: Texts on one line; a function may keep lines.
        published_at: Dates in ISO 8601.
        author: A name.
        score: Numbers from 0 to 1.
        home: The address of hits that have none of their own.
        text: The text of the page itself, where an answer has it.
        passages: Passages of the page that the provider chose.
    """

    url: Field[str] = "url"
    title: Field[str | None] = "title"
    snippet: Field[str | None] = "snippet"
    published_at: Field[datetime | None] = ""
    author: Field[str | None] = ""
    score: str = ""
    home: str = ""
    text: str = ""
    passages: Callable[[Item], list[str]] | None = None


def read_items(value: Any, odd: Oddities) -> list[Item]:
    """Read a list of objects; null counts as empty, items of another kind are left out.

    Raises:
        TypeError: It is no list, or holds other things alone: the API has another shape.
    """
    if value is None:
        odd.nulls += 1
        return []
    if not is_list(value):
        message = f"expected a list, not {type(value).__name__}"
        raise TypeError(message)
    found = [Item(each, odd) for each in value if is_object(each)]
    odd.lost += len(value) - len(found)
    if value and not found:
        message = "expected objects in the list"
        raise TypeError(message)
    return found


def read_hits(
    items: Any,
    fields: HitFields,
    query: SearchQuery | DocsQuery,
    account: Account,
    usd: float | Cost | None = None,
) -> Hits:
    """Read a list of hits in the provider's order, best first; `usd` is what the search cost.

    A number is what the price list says.

    Raises:
        TypeError: `items` is no list of objects.
        ValueError: There are several, and not one has a web address.
    """
    odd = Oddities(account.name)
    found = read_items(items, odd)
    usable = [(item, url) for item in found if (url := _url(item, fields))]
    odd.lost += len(found) - len(usable)
    if len(found) > 1 and not usable:
        message = "no hit has a web address"
        raise ValueError(message)
    has_content = bool(fields.text or fields.passages)
    rows = [
        {
            "title": _value(item, "title", fields.title, Item.line) or _host(url),
            "url": url,
            "snippet": _value(item, "snippet", fields.snippet, Item.line) or "",
            "published_at": _value(item, "published_at", fields.published_at, Item.moment),
            "author": _value(item, "author", fields.author, Item.line),
            "score": item.number(fields.score, 0, 1) if fields.score else None,
            "source_provider": account.name,
            "query": query.query,
            "content": _content(item, url, fields, account) if has_content else None,
        }
        for item, url in usable
    ]
    results = _RESULTS.validate_python(rows)
    faults = [account.domains.fault_of(result.url) for result in results] if has_content else ()
    said = [*odd.warnings(), *dict.fromkeys(fault for fault in faults if fault)]
    return Hits(results, estimate(usd) if isinstance(usd, (int, float)) else usd, said)


def _value(
    item: Item, name: str, field: Field[T | None], read: Callable[[Item, str], T | None]
) -> T | None:
    return read(item, field) if isinstance(field, str) else item.call(name, field)


def _url(item: Item, fields: HitFields) -> str:
    field = fields.url
    url = item.values.get(field) if isinstance(field, str) else item.call("url", field)
    return url if isinstance(url, str) and is_web_url(url) else fields.home


def _content(item: Item, url: str, fields: HitFields, account: Account) -> Page | None:
    """Return what came of the page of a hit; None where nothing did, or nobody may read it."""
    if account.domains.fault_of(url):
        return None
    text = without_controls(item.text(fields.text))[:CONTENT_CHARACTERS] if fields.text else None
    chosen = (item.call("passages", fields.passages) if fields.passages else None) or []
    if not (text or chosen):
        return None
    return Page(
        url=url,
        text=text,
        passages=[Passage(text=each, url=url) for each in chosen] or None,
        passages_by=account.name if chosen else None,
        source_provider=account.name,
    )


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def age_in(name: str) -> Callable[[Item], datetime | None]:
    """Return what reads a field with a date, or with an age that counts from now.

    Other words stay unread, as they are for people.
    """
    now = datetime.now(UTC)

    def read(item: Item) -> datetime | None:
        words = item.text(name)
        return (read_moment(words) or read_age(words, now) or read_day(words)) if words else None

    return read


def joined_lists(holder: Mapping[str, Any], *names: str) -> list[Any]:
    """Join the lists of an object; one that is missing or null is empty.

    Raises:
        TypeError: One of them is no list.
    """
    found = list[Any]()
    for name in names:
        rows = holder.get(name)
        if not (rows is None or is_list(rows)):
            message = f"expected a list, not {type(rows).__name__}"
            raise TypeError(message)
        found += rows or []
    return found


def joined(texts: Sequence[str]) -> str:
    """Join extracts of a page to one line."""
    return one_line(" … ".join(filter(None, texts))) if texts else ""
