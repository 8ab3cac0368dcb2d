"""The state of a session as plain JSON data: what was seen, the numbers and the spending."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webtools._internal.session.history import LINK, History, SeenSource
from webtools._internal.session.spending import Spending
from webtools._internal.storage.budget import Sum
from webtools._internal.text.redaction import MARK, Redactor
from webtools._internal.text.web_urls import has_login, is_web_url
from webtools.choices import Origin
from webtools.errors import OTHER_USER, InputError
from webtools.inputs.argument_values import shown
from webtools.page_urls import page_key

_VERSION = 1
_MAX_SOURCES = _MAX_SEEN = 500
_MAX_LEFT_OUT = 2 * (_MAX_SOURCES + _MAX_SEEN)  # all URLs of a state that is read
_LONGEST_TITLE = 200
_MAX = 2**52
# Origins of sources that do not say what may be opened.
_SEEN_ELSEWHERE = {"argument", "native", "page"}
_RANKS = {LINK: 0, "user": 2, "developer": 2}  # of origins; what is kept longest last
T = TypeVar("T")


class _Source(NamedTuple):
    number: int
    url: str
    title: str
    how: Origin
    is_read: bool
    is_cited: bool = False


class _Seen(NamedTuple):
    url: str
    origin: Origin | Literal["link"]


class _Used(NamedTuple):
    calls: int
    micro_usd: int


class State(BaseModel):
    """A state that was read.

    Attributes:
        user: The hash of the user; empty without one.
        seen: URLs that may be opened, beside the sources that were.
        next_number: The number of the next source.
        use: The calls and micro-USD of each process.
        left_out: The length of each URL with a key that older states may have, and the URL with
            its key redacted.
    """

    model_config = ConfigDict(strict=False, frozen=True)

    version: Literal[1]
    id: str = Field(min_length=1, max_length=500)
    user: str = Field(default="", max_length=100)
    next_number: int = Field(default=1, ge=1, le=_MAX)
    sources: list[_Source] = Field(default=[], max_length=2 * _MAX_SOURCES)
    seen: list[_Seen] = Field(default=[], max_length=2 * _MAX_SEEN)
    use: dict[str, _Used] = Field(default={}, max_length=100_000)
    left_out: list[str] = Field(default=[], max_length=_MAX_LEFT_OUT)

    def check(self, session_ids: Collection[str], user: str) -> None:
        """Refuse a state of another user, or of a session with another ID than these.

        Raises:
            InputError: It is one.
        """
        if self.id not in session_ids:
            raise InputError("The state belongs to another session. Pass its `id`, or none.")
        if self.user == user:
            return
        stores = [name.partition("-")[0] for name in (self.user, user)]
        if all(stores) and stores[0] != stores[1]:
            raise InputError(
                "The state was made with another store, so its user cannot be checked. Set "
                "storage.url to share a store among machines.",
                code=OTHER_USER,
            )
        raise InputError(
            "The state belongs to another user. Pass the user that it was made for.",
            code=OTHER_USER,
        )

    def load(self, history: History, spending: Spending) -> None:
        """Put the state into a session."""
        for url, origin in self.seen:
            history.see(url, origin)
        history.left_out |= dict.fromkeys(self.left_out)
        history.loaded.update(each.url for each in self.sources)
        history.loaded.update(each.url for each in self.seen)
        highest = max((source.number for source in self.sources), default=0)
        history.next_number = max(history.next_number, self.next_number, highest + 1)
        for number, url, title, how, is_read, is_cited in self.sources:
            history.restore(SeenSource(url, title, how, number, is_read, is_cited))
            if how not in _SEEN_ELSEWHERE:
                history.see(url, how)
        spending.merge({name: Sum(used.micro_usd, used.calls) for name, used in self.use.items()})


def read_state(value: Mapping[str, Any]) -> State:
    """Check a state.

    Raises:
        InputError: It is not what `Session.state` returns.
    """
    try:
        state = State.model_validate(value)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
    else:
        urls = [*(each.url for each in state.sources), *(each.url for each in state.seen)]
        numbers = [each for used in state.use.values() for each in used]
        numbers += [source.number for source in state.sources]
        if all(is_web_url(url) and not has_login(url) for url in urls) and all(
            0 <= number <= _MAX for number in numbers
        ):
            return state
        place = "a URL or a number"
    remedy = "Pass the dict that Session.state() returned, or leave it out."
    if place == "version" and "version" in value:
        version = shown(value["version"])
        raise InputError(f"Invalid `state`: version {version} instead of {_VERSION}. {remedy}")
    fault = place or f"a value of type {type(value).__name__}"
    raise InputError(f"Invalid `state`: {fault} is not what Session.state() returns. {remedy}")


def to_state(
    session_id: str, user: str, history: History, spending: Spending, redactor: Redactor
) -> dict[str, Any]:
    """Return the state of a session. The newest sources and URLs are kept.

    What is a key now may not have been one when a URL was seen. A URL with a key is left out.
    """
    rows, urls = [*history.sources.values()], [*history.seen.values()]
    known = {*history.loaded, *(each.url for each in rows), *(each.url for each in urls)}
    with_key = {url for url in known if redactor.text(url) != url}
    history.left_out |= {f"{len(url)} {url}": None for url in sorted(with_key)}
    rows = [each for each in rows if each.url not in with_key]
    sources = _sorted(rows, lambda source: source.how)[-_MAX_SOURCES:]
    listed = {each.url for each in sources if each.how not in _SEEN_ELSEWHERE}
    others = [each for each in urls if each.url not in listed | with_key]
    seen = _sorted(others, lambda url: url.origin)[-_MAX_SEEN:]
    return {
        "version": _VERSION,
        "id": id_in_state(session_id, redactor),
        "user": user,
        "next_number": history.next_number,
        "sources": [
            [
                *(each.number, each.url, redactor.text(each.title)[:_LONGEST_TITLE], each.how),
                *(each.is_read, each.is_cited),
            ]
            for each in sources
        ],
        "seen": [[each.url, each.origin] for each in seen],
        "use": {
            name: [min(spent.calls, _MAX), min(spent.micro_usd, _MAX)]
            for name, spent in spending.by_process().items()
        },
        "left_out": _most_redacted(map(redactor.text, [*history.left_out])),
    }


def id_in_state(session_id: str, redactor: Redactor) -> str:
    """Return the ID of a session, or a hash of it if it has a key."""
    if redactor.text(session_id) == session_id:
        return session_id
    return hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()[:32]


def merge_states(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state of what two states of one session have; the newer one of two sessions.

    Raises:
        InputError: One of them is not a state, or they belong to different users.
    """
    read_state(new)
    if not old or read_state(old).id != new["id"]:
        return dict(new)
    if old["user"] != new["user"]:
        raise InputError(
            "The states of two users cannot be merged. Give each user a session with its own `id`."
        )
    use = dict(old["use"])
    for process, spent in new["use"].items():
        use[process] = [*map(max, spent, use.get(process, spent))]
    next_number = max(old["next_number"], new["next_number"])
    left_out = _most_redacted([*old.get("left_out", ()), *new.get("left_out", ())])
    sources, next_number = _renumber(old["sources"], new["sources"], next_number)
    older, spellings = _without_pages_of(sources, old["sources"])
    rows = _joined(older, sources, left_out, url=1, origin=3)
    seen = _joined([*spellings, *old["seen"]], new["seen"], left_out, url=0, origin=1)
    return {
        **new,
        "next_number": next_number,
        "sources": rows[-_MAX_SOURCES:],
        "seen": seen[-_MAX_SEEN:],
        "use": use,
        "left_out": left_out,
    }


def _most_redacted(urls: Iterable[str]) -> list[str]:
    """Return the last of these URLs, without those that another one may be, too.

    What is a key now may not have been one when an older state was made.
    """
    kept: dict[str, list[str]] = {}  # by their lengths
    for entry in dict.fromkeys(urls):
        size, _, url = entry.partition(" ")
        same = kept.setdefault(size, [])
        if not any(_may_be(url, other) for other in same):
            same[:] = [*(other for other in same if not _may_be(other, url)), url]
    return [f"{size} {url}" for size, same in kept.items() for url in same][-_MAX_LEFT_OUT:]


def _renumber(old: Sequence[Any], new: Sequence[Any], next_number: int) -> tuple[list[Any], int]:
    """Return new sources with numbers that no old one has, and the next number."""
    numbers = {page_key(url): number for number, url, *_ in old if number}
    pages = {number: page for page, number in numbers.items()}
    sources: list[Any] = []
    for new_number, url, *facts in new:
        page = page_key(url)
        number = numbers.get(page, new_number)
        if number and pages.setdefault(number, page) != page:  # of parallel sessions
            number, next_number = next_number, next_number + 1
        sources.append([number, url, *facts])
    return sources, next_number


def _without_pages_of(new: Sequence[Any], old: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return old sources that no new one spells in another way, and the URLs of others that open.

    A session has one source per page.
    """
    pages = {page_key(url): url for _, url, *_ in new}
    kept: list[Any] = []
    spellings: list[Any] = []
    for row in old:
        _, url, _, how, *_ = row
        if pages.get(page_key(url), url) == url:
            kept.append(row)
        elif how not in _SEEN_ELSEWHERE:
            spellings.append([url, how])
    return kept, spellings


def _joined(
    old: Sequence[Any], new: Sequence[Any], left_out: Collection[str], *, url: int, origin: int
) -> list[Any]:
    """Return the rows of both but those that must be left out, as `_sorted`."""
    rows = {row[url]: row for row in [*old, *new]}
    redacted: dict[str, list[str]] = {}
    for entry in left_out:
        size, _, text = entry.partition(" ")
        redacted.setdefault(size, []).append(text)
    for key in [*rows] if redacted else ():
        if any(_may_be(key, text) for text in redacted.get(str(len(key)), ())):
            del rows[key]
    return _sorted(rows.values(), lambda row: row[origin])


def _may_be(url: str, redacted: str) -> bool:
    """Return whether a URL of the same length may be one of which a key was redacted."""
    start, mark, rest = redacted.partition(MARK)
    end = rest.rpartition(MARK)[2]
    return url == redacted or bool(mark and url.startswith(start) and url.endswith(end))


def _sorted(rows: Iterable[T], origin_of: Callable[[T], str]) -> list[T]:
    """Sort rows: the newest last, and those of the user and the developer behind all others."""
    return sorted(rows, key=lambda row: _RANKS.get(origin_of(row), 1))
