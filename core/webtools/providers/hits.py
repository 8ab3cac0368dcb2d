"""Read search results from JSON by a table of fields.

A value that cannot be read is skipped. If it is the URL, the whole result is skipped.
`SkippedValues` counts skipped values and returns warnings about them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from webtools._internal.text.cleaning import one_line, without_controls
from webtools._internal.text.dates import read_written_moment
from webtools._internal.text.narrowing import is_list, is_object
from webtools._internal.text.urls import without_text_fragment
from webtools._internal.text.web_urls import is_web_url
from webtools.providers.about import Account
from webtools.providers.faults import describe_failure
from webtools.providers.parsing import estimate, number
from webtools.providers.protocols import Cost, DocsQuery, Hits, SearchQuery
from webtools.results import Page, Passage, SearchResult

T = TypeVar("T")
UNREADABLE = "that cannot be read (left out)"
_RESULTS = TypeAdapter(list[SearchResult])


@dataclass(slots=True, eq=False)
class SkippedValues:
    """Counts the values of a response that could not be read.

    Attributes:
        sender: Configured name of the provider.
        noun: Word for an item of the response, such as "result".
        nouns: Plural of the word. Default: the word with an "s".
        items: Number of skipped items.
        nulls: Number of lists that were null.
        fields: Number of skipped values by field.
        cut: Lengths of the page texts that the API has cut, by URL.
    """

    sender: str
    noun: str = "result"
    nouns: str = ""
    items: int = 0
    nulls: int = 0
    fields: dict[str, int] = field(default_factory=dict[str, int])
    cut: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, name: str, count: int = 1) -> None:
        """Count skipped values of a field."""
        self.fields[name] = self.fields.get(name, 0) + count

    def warnings(self) -> list[str]:
        """Return a sentence for each kind of skipped value."""
        warnings: list[str] = []
        sender, nouns = self.sender, self.nouns or f"{self.noun}s"
        if self.nulls:
            warnings.append(
                f'"{sender}" sent null instead of a list of {nouns}. It counts as an empty list.'
            )
        if self.items:
            items = f"1 {self.noun}" if self.items == 1 else f"{self.items} {nouns}"
            warnings.append(f'"{sender}" sent {items} {UNREADABLE}.')
        if self.fields:
            names = ", ".join(f"{name} ({n})" for name, n in sorted(self.fields.items()))
            warnings.append(f'"{sender}" sent values {UNREADABLE}: {names}.')
        warnings += [
            f"{url}: the text was cut to {length:,} characters. To read all of it, fetch the page."
            for url, length in self.cut.items()
        ]
        return warnings


@dataclass(slots=True, eq=False)
class Item:
    """A JSON object of a response, with methods that read its fields.

    A value of the wrong type is treated as missing and counted in `skipped`. Methods that take
    several names return the first value that is present.

    Attributes:
        values: The JSON object.
        skipped: Counts the values that could not be read.
    """

    values: dict[str, Any]
    skipped: SkippedValues

    def text(self, *names: str) -> str:
        """Return a string unchanged, or ""."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str):
                if value:
                    return value
            elif value is not None:
                self.skipped.add(name)
        return ""

    def line(self, *names: str) -> str | None:
        """Return a string as clean text on one line, or None."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str):
                if line := one_line(value):
                    return line
            elif value is not None:
                self.skipped.add(name)
        return None

    def moment(self, *names: str) -> datetime | None:
        """Return a date or date-time in ISO 8601 or in words, with a time zone, or None."""
        for name in names:
            value = self.values.get(name)
            moment = None
            if isinstance(value, str):
                moment = read_written_moment(value, datetime.now(UTC))
            if moment is not None:
                return moment
            if value is not None and not (isinstance(value, str) and not value.strip()):
                self.skipped.add(name)
        return None

    def number(self, name: str, minimum: float, maximum: float) -> float | None:
        """Return a number within the bounds, or None."""
        value = self.values.get(name)
        if value is None or value == "":
            return None
        result = number(value)
        if result is not None and minimum <= result <= maximum:
            return result
        self.skipped.add(name)
        return None

    def texts(self, name: str) -> list[str]:
        """Return the strings of a list, or []."""
        if self.values.get(name) is None:
            return []
        values = self._list(name)
        texts = [value for value in values if isinstance(value, str)]
        self._count_skipped(name, len(values) - len(texts))
        return texts

    def child(self, name: str) -> Item:
        """Return the object in a field, or an empty one."""
        value = self.values.get(name)
        if is_object(value):
            return Item(value, self.skipped)
        if value is not None:
            self.skipped.add(name)
        return Item({}, self.skipped)

    def children(self, name: str) -> list[Item]:
        """Return the objects of a list, or []."""
        values = self._list(name)
        items = [Item(value, self.skipped) for value in values if is_object(value)]
        self._count_skipped(name, len(values) - len(items))
        return items

    def _list(self, name: str) -> list[Any]:
        value = self.values.get(name)
        if value is None:
            return []
        return value if is_list(value) else [None]

    def _count_skipped(self, name: str, count: int) -> None:
        if count:
            self.skipped.add(name, count)

    def call(self, name: str, function: Callable[[Item], T]) -> T | None:
        """Read a field with a function.

        If the function raises or returns a date without a time zone, the field is skipped.
        """
        try:
            value = function(self)
        except Exception as error:  # noqa: BLE001  # an author's function may raise anything
            cause = describe_failure(error, getattr(function, "__module__", ""))
            self.skipped.add(f"{name}, {cause}")
            return None
        if isinstance(value, datetime) and value.utcoffset() is None:
            self.skipped.add(f"{name}, a date without a time zone")
            return None
        return value


Field: TypeAlias = "str | Callable[[Item], T]"
# The name of a field of a result, where it is in an item, and how to read it from a named field.
_Reader: TypeAlias = "tuple[str, Field[Any], Callable[[Item, str], Any]]"


@dataclass(frozen=True, slots=True)
class HitFields:
    """Where each field of a search result is in an item: a name, or a function of the item.

    Attributes:
        url: URL of the page. Items without one are skipped, unless `home` is set.
        title: Title, on one line. If it is missing, the host of the URL is used.
        snippet: Snippet. The value of a named field is put on one line. A function may return
            several lines.
        published_at: A date in ISO 8601, or a `datetime` with a time zone.
        author: Author, on one line.
        score: Name of a field with a number from 0 to 1.
        home: URL for items without one.
        text: Name of the field with the text of the page, if the API sends it.
        max_text: Length to which the API cuts that text, or 0.
        passages: Function that returns the passages of the page that the API chose.
    """

    url: Field[str] = "url"
    title: Field[str | None] = "title"
    snippet: Field[str | None] = "snippet"
    published_at: Field[datetime | None] = ""
    author: Field[str | None] = ""
    score: str = ""
    home: str = ""
    text: str = ""
    max_text: int = 0
    passages: Callable[[Item], list[str]] | None = None


def read_items(value: Any, skipped: SkippedValues) -> list[Item]:
    """Read a list of JSON objects. null gives an empty list. Items of other types are skipped.

    Raises:
        TypeError: The value is not a list, or no item is an object.
    """
    if value is None:
        skipped.nulls += 1
        return []
    if not is_list(value):
        message = f"expected a list, not {type(value).__name__}"
        raise TypeError(message)
    items = [Item(item, skipped) for item in value if is_object(item)]
    skipped.items += len(value) - len(items)
    if value and not items:
        message = "expected objects in the list"
        raise TypeError(message)
    return items


def read_hits(
    items: Any,
    fields: HitFields,
    query: SearchQuery | DocsQuery,
    account: Account,
    usd: float | Cost | None = None,
) -> Hits:
    """Read the results of a search, in the provider's order.

    Args:
        items: The list of results, as decoded JSON.
        fields: Where an item has its fields.
        query: The query of the search.
        account: The provider's account.
        usd: Cost of the search: USD from the price list, a `Cost`, or None if unknown.

    Raises:
        TypeError: `items` is not a list of objects.
        ValueError: There are several items, and none has a URL.
    """
    skipped = SkippedValues(account.name)
    all_items = read_items(items, skipped)
    readers, has_content = _readers(fields), bool(fields.text or fields.passages)
    rows = list[dict[str, Any]]()
    for item in all_items:
        url = _url(item, fields)
        if not url:
            skipped.items += 1
            continue
        row = _read_row(item, readers)
        row["title"] = row.get("title") or _host(url)
        row["snippet"] = row.get("snippet") or ""
        row["url"], row["source_provider"], row["query"] = url, account.name, query.query
        if has_content:
            row["content"] = _content(item, url, fields, account)
        rows.append(row)
    if len(all_items) > 1 and not rows:
        message = "no result has a URL"
        raise ValueError(message)
    results = _RESULTS.validate_python(rows)
    refusals = [account.domains.refusal(result.url) for result in results] if has_content else ()
    warnings = [*skipped.warnings(), *dict.fromkeys(filter(None, refusals))]
    return Hits(results, estimate(usd) if isinstance(usd, (int, float)) else usd, warnings)


def _readers(fields: HitFields) -> list[_Reader]:
    readers: list[_Reader] = [
        ("title", fields.title, Item.line),
        ("snippet", fields.snippet, Item.line),
        ("published_at", fields.published_at, Item.moment),
        ("author", fields.author, Item.line),
        ("score", fields.score, _read_score),
    ]
    return [reader for reader in readers if reader[1]]


def _read_score(item: Item, name: str) -> float | None:
    return item.number(name, 0, 1)


def _read_row(item: Item, readers: Sequence[_Reader]) -> dict[str, Any]:
    return {
        name: read(item, field) if isinstance(field, str) else item.call(name, field)
        for name, field, read in readers
    }


def _url(item: Item, fields: HitFields) -> str:
    field = fields.url
    url = item.values.get(field) if isinstance(field, str) else item.call("url", field)
    if not isinstance(url, str) or not is_web_url(url):
        return fields.home
    url = without_text_fragment(url)
    if "@" not in url:
        return url
    parts = urlsplit(url)
    # A user name poses as the host, and no page is requested with it.
    host = parts.netloc.rpartition("@")[2]
    return url if host == parts.netloc else parts._replace(netloc=host).geturl()


def _content(item: Item, url: str, fields: HitFields, account: Account) -> Page | None:
    """Return the page text and passages of a result, unless the operator's settings forbid it."""
    if account.domains.refusal(url):
        return None
    text = without_controls(item.text(fields.text)) if fields.text else None
    if text and fields.max_text and len(item.text(fields.text)) >= fields.max_text:
        item.skipped.cut[url] = fields.max_text
    passages = (item.call("passages", fields.passages) if fields.passages else None) or []
    if not (text or passages):
        return None
    return Page(
        url=url,
        text=text,
        passages=[Passage(text=passage, url=url) for passage in passages] or None,
        passages_by=account.name if passages else None,
        source_provider=account.name,
    )


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def date_or_age(name: str) -> Callable[[Item], datetime | None]:
    """Return a function that reads a date, or an age such as "3 days ago", from a field.

    Other text gives None without a warning: it is meant for people.
    """
    now = datetime.now(UTC)

    def read_date(item: Item) -> datetime | None:
        text = item.text(name)
        return read_written_moment(text, now) if text else None

    return read_date


def join_lists(holder: Mapping[str, Any], *names: str) -> list[Any]:
    """Join several lists of an object. A list that is missing or null is empty.

    Raises:
        TypeError: A field is not a list.
    """
    rows = list[Any]()
    for name in names:
        part = holder.get(name)
        if not (part is None or is_list(part)):
            message = f"expected a list, not {type(part).__name__}"
            raise TypeError(message)
        rows += part or []
    return rows


def join_extracts(texts: Sequence[str]) -> str:
    """Join extracts of a page to one line, separated by ` … `."""
    return one_line(" … ".join(filter(None, texts))) if texts else ""
