"""Names, IDs and versions of libraries in queries and responses of Context7."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from webtools.providers.hits import Item
from webtools.providers.parsing import text
from webtools.providers.protocols import DocsQuery

_ID = r"(?a:/[\w.@+-]+/[\w.+-]*\w(?:[/@][\w.+-]*\w)?)"
_ID_IN_TEXT = rf"(?a)(?<!\S){_ID}(?![\w/])"
_VERSION = r"[vV]?\d+(?:\.\d\w*)*(?:-\w+(?:\.\w+)*)?"
_END = r"(?![\w@]|\.\w)"
_PIN_IN_TEXT = rf"(?a)(?<!\S)(@?[\w.-]+(?:/[\w.-]+)?)@({_VERSION}){_END}"
_VERSION_AFTER_NAME = rf"(?a)(?<![\w.-])([\w.-]{{1,100}}) ({_VERSION}){_END}"


class Library(NamedTuple):
    """A library.

    Attributes:
        path: The ID without a version, `/owner/name`.
        version: The tag, or None for the default version.
    """

    path: str
    version: str | None = None

    @property
    def id(self) -> str:
        """The ID in the format of the API."""
        return f"{self.path}@{self.version}" if self.version else self.path

    @classmethod
    def parse(cls, identifier: str) -> Library:
        """Split an ID into path and version, which follows a slash or an @."""
        owner, name = identifier.split("/", 2)[1:]
        name, _, version = re.sub(r"[/@]", " ", name).partition(" ")
        return cls(f"/{owner}/{name}", version or None)

    def version_warning(self, version: str, versions: list[str]) -> str:
        """Return the warning that a version is missing."""
        existing = f" (existing: {', '.join(versions[:5])})" if versions else ""
        return (
            f"Context7 has no version {version} of {self.path}{existing}, so the snippets are from "
            "its default version."
        )


def library_in(query: DocsQuery) -> Library | None:
    """Return the library whose ID the caller or the question names."""
    match = (
        re.fullmatch(_ID, query.library) if query.library else re.search(_ID_IN_TEXT, query.query)
    )
    return Library.parse(match[0]) if match else None


def library_name(query: DocsQuery) -> str:
    """Return the words to search for a library."""
    words = query.library or query.query
    pin = re.search(_PIN_IN_TEXT, words)
    return pin[1] if pin else words


def library_id(item: Item) -> str:
    """Return the ID of a search result, or ""."""
    identifier = item.text("id")
    return identifier if re.fullmatch(_ID, identifier) else ""


def redirect_target(answer: dict[str, Any]) -> str:
    """Return the new ID of a library that has moved, from the field or the message, or ""."""
    url = text(answer.get("redirectUrl"))
    if url:
        return url if re.fullmatch(_ID, url) else ""
    message = text(answer.get("message")).rstrip(". ")
    matches = [*re.finditer(_ID_IN_TEXT, message)]
    return matches[-1][0] if matches else ""


def _requested_version(item: Item, query: DocsQuery) -> str | None:
    """Return a version that is written `name@version`, or that follows the library's name."""
    if pin := re.search(_PIN_IN_TEXT, query.library or query.query):
        return pin[2]
    names = set(re.findall(r"[\w.-]+", f"{item.text('title')} {library_id(item)}".lower()))
    for match in re.finditer(_VERSION_AFTER_NAME, f"{query.library or ''} {query.query}"):
        if match[1].lower() in names:
            return match[2]
    return None


def with_version(item: Item, query: DocsQuery, warnings: list[str]) -> Library:
    """Return the library of a search result, with the version that the query names."""
    library, version = Library(library_id(item)), _requested_version(item, query)
    if version is None:
        return library
    tags = [tag for tag in item.texts("versions") if re.fullmatch(_ID, f"/x/x@{tag}")]
    number = version.lower().removeprefix("v")
    tag = next((tag for tag in tags if tag.lower().removeprefix("v") == number), None)
    if tag is None:
        warnings.append(library.version_warning(version, tags))
    return library._replace(version=tag)
