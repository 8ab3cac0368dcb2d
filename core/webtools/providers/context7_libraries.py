"""Context7's libraries: how a question, an answer or a message names one, and its version."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from webtools.providers.hits import Item
from webtools.providers.parsing import text
from webtools.providers.protocols import DocsQuery

_ID = r"(?a:/[\w.@+-]+/[\w.+-]*\w(?:[/@][\w.+-]*\w)?)"
_ID_IN_TEXT = re.compile(rf"(?a)(?<!\S){_ID}(?![\w/])")
_VERSION = r"[vV]?\d+(?:\.\d\w*)*(?:-\w+(?:\.\w+)*)?"
_END = r"(?![\w@]|\.\w)"
_PIN_IN_TEXT = re.compile(rf"(?a)(?<!\S)(@?[\w.-]+(?:/[\w.-]+)?)@({_VERSION}){_END}")
_VERSION_AFTER_NAME = re.compile(rf"(?a)(?<![\w.-])([\w.-]{{1,100}}) ({_VERSION}){_END}")


@dataclass(frozen=True, slots=True)
class Library:
    """The library to ask.

    Attributes:
        path: Its ID without a version, `/owner/name`.
        version: The tag to ask for, or None for the library's default.
    """

    path: str
    version: str | None = None

    @property
    def id(self) -> str:
        """The ID as the API takes it."""
        return f"{self.path}@{self.version}" if self.version else self.path

    @classmethod
    def of(cls, identifier: str) -> Library:
        """Part the version, behind a slash or an @, from an ID."""
        owner, name = identifier.split("/", 2)[1:]
        name, _, version = re.sub(r"[/@]", " ", name).partition(" ")
        return cls(f"/{owner}/{name}", version or None)

    @classmethod
    def named(cls, query: DocsQuery) -> Library | None:
        """Take an ID that the caller or the question names."""
        if query.library:
            found = re.compile(_ID).fullmatch(query.library)
        else:
            found = _ID_IN_TEXT.search(query.query)
        return cls.of(found[0]) if found else None

    def lacks(self, version: str, known: list[str]) -> str:
        """Return the warning that it has no such version."""
        there = f" (there are {', '.join(known[:5])})" if known else ""
        return (
            f"Context7 has no version {version} of {self.path}{there}, so the snippets are of "
            "its default version."
        )


def name_of(query: DocsQuery) -> str:
    """Return the library's name as far as it is known."""
    words = query.library or query.query
    pin = _PIN_IN_TEXT.search(words)
    return pin[1] if pin else words


def id_of(item: Item) -> str:
    """Return the ID of a library that a search found; empty where there is none."""
    found = re.compile(_ID).fullmatch(item.text("id"))
    return found[0] if found else ""


def moved_to(answer: dict[str, Any]) -> str:
    """Find where a library has moved to; the message names it when the field is missing."""
    given = text(answer.get("redirectUrl"))
    found = re.compile(_ID).fullmatch(given)
    if found is None and not given:
        told = text(answer.get("message")).rstrip(". ")
        *_, found = [None, *_ID_IN_TEXT.finditer(told)]
    return found[0] if found else ""


def _version_said(item: Item, query: DocsQuery) -> str | None:
    """Find a version that is written `name@version`, or stands right behind the library's name."""
    if pin := _PIN_IN_TEXT.search(query.library or query.query):
        return pin[2]
    names = set(re.findall(r"[\w.-]+", f"{item.text('title')} {id_of(item)}".lower()))
    for said in _VERSION_AFTER_NAME.finditer(f"{query.library or ''} {query.query}"):
        if said[1].lower() in names:
            return said[2]
    return None


def pinned(item: Item, query: DocsQuery, warnings: list[str]) -> Library:
    """Return a library that a search found, at the version that is wanted where there is one."""
    library, wanted = Library(id_of(item)), _version_said(item, query)
    if wanted is None:
        return library
    known = [tag for tag in item.texts("versions") if re.compile(_ID).fullmatch(f"/x/x@{tag}")]
    bare = wanted.lower().removeprefix("v")
    tag = next((tag for tag in known if tag.lower().removeprefix("v") == bare), None)
    if tag is None:
        warnings.append(library.lacks(wanted, known))
    return replace(library, version=tag)
