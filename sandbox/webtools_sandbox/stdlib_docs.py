"""The documentation of the running Python, as Markdown pages.

Each page describes a module of the standard library: its docstring, the sandbox's own guide
(`data/guides`), and the signatures and docstrings of its members. The language reference comes from
`pydoc_data.topics`, which is part of CPython.
"""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from webtools_sandbox import data_files
from webtools_sandbox.docstrings import to_markdown

# Modules that this Python does not have are skipped.
MODULES = data_files.text("modules.txt").split()
# The versions in Python, whose signatures can be read.
_SOURCES = {"datetime": "_pydatetime", "decimal": "_pydecimal"}

# At the end of each page that is partly written by hand.
MADE = "> Parts of this page were written for testing. They are not part of Python's documentation."

_MAX_PAGE_CHARS = 60_000
_MAX_TITLE_CHARS = 90
_SENTENCE_END = re.compile(r"(?<!\.[a-z])\. ")  # no end is the last dot of "a.k.a."
_SELF = re.compile(r"^\((?:self|cls|type)(?:, /)?(?:, )?")
_SIGNATURE = re.compile(r"^#{2,3} `(?:class )?([\w.]+)", re.MULTILINE)
# Parts of signatures that depend on the process.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_WEAK_REFERENCES = re.compile(r"<weakref[^\]]*")


class Page(NamedTuple):
    """A page. `path` is relative, and `text` is Markdown without the title."""

    path: str
    title: str
    author: str | None
    text: str


def read_pages() -> Iterator[Page]:
    """Read all pages of this Python, always in the same order."""
    for name in MODULES:
        page = read_page(name)
        if page is not None:
            yield page
    yield from _topic_pages()


def read_page(name: str) -> Page | None:
    """Read the page of a module, or return None if this Python does not have it."""
    module = _import(_SOURCES.get(name, name)) or _import(name)
    if module is None:
        return None
    intro = inspect.getdoc(module) or ""
    title = f"{name} — {_headline(intro)}" if intro else name
    author = vars(module).get("__author__")
    author_name = author.split("<")[0].strip(" ,") if isinstance(author, str) else None
    guide = data_files.guide(name)
    described = set(_SIGNATURE.findall(guide))
    sections = (
        section for section in _sections(module, name) if _name_of(section) not in described
    )
    text = _join([to_markdown(intro), guide, *sections])
    return Page(f"library/{name}.html", title, author_name, f"{text}\n\n{MADE}" if guide else text)


def _import(name: str) -> ModuleType | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return importlib.import_module(name)
        except ImportError:
            return None


def _join(parts: list[str]) -> str:
    """Join the parts of a page, up to the maximum length."""
    room = _MAX_PAGE_CHARS
    chosen_parts: list[str] = []
    for part in filter(None, parts):
        room -= len(part) + 2
        if chosen_parts and room < 0:
            break
        chosen_parts.append(part)
    return "\n\n".join(chosen_parts)


def _sections(module: ModuleType, name: str) -> Iterator[str]:
    for member, value in _members(module, name):
        if isinstance(value, type):
            yield from _class_sections(f"{name}.{member}", value)
        else:
            yield _section(2, f"{name}.{member}{_signature(value)}", value)


def _members(module: ModuleType, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the public members of a module, except those that another page describes."""
    offered = vars(module)
    for member in _names(offered, f"_{name}"):
        value = getattr(module, member, None)  # some are imported when they are first used
        home = getattr(value, "__module__", None)
        elsewhere = home in MODULES and home not in {name, module.__name__}
        foreign = "__all__" not in offered and home != module.__name__
        private = member.startswith("_") or not callable(value)
        if not (private or elsewhere or foreign):
            yield member, value


def _names(offered: dict[str, Any], twin: str) -> Iterator[str]:
    """Yield the names in a module's `__all__`, and those imported from its version in C."""
    listed = offered.get("__all__") or list(offered)
    yield from listed
    for name, value in offered.items():
        if name not in listed and getattr(value, "__module__", None) == twin:
            yield name


def _class_sections(name: str, value: type) -> Iterator[str]:
    yield _section(2, f"class {name}{_signature(value)}", value)
    for method, member_value in vars(value).items():
        unwrapped = getattr(member_value, "__func__", member_value)
        if method.startswith("_") or not getattr(unwrapped, "__doc__", None):
            continue
        short = f"{value.__name__}.{method}"
        if isinstance(member_value, property):
            yield _section(3, short, member_value)
        elif inspect.isroutine(unwrapped):
            yield _section(3, f"{short}{_SELF.sub('(', _signature(unwrapped))}", unwrapped)


def _signature(value: Any) -> str:
    try:
        signature = _ADDRESS.sub("", str(inspect.signature(value)))
        return _WEAK_REFERENCES.sub("...", signature)
    except (ValueError, TypeError):  # some functions in C
        return "" if isinstance(value, type) else "(...)"


def _section(level: int, signature: str, value: Any) -> str:
    doc = value.__doc__ if isinstance(value.__doc__, str) else ""
    heading = f"{'#' * level} `{signature}`"
    return f"{heading}\n\n{to_markdown(inspect.cleandoc(doc))}".rstrip()


def _name_of(section: str) -> str:
    match = _SIGNATURE.match(section)
    return match[1] if match else ""


def _headline(intro: str) -> str:
    lines = intro.split("\n\n", maxsplit=1)[0].splitlines()
    paragraph = " ".join(line.strip() for line in lines if line.strip("~=-* "))
    sentence = _SENTENCE_END.split(paragraph, maxsplit=1)[0].rstrip(".:")
    if len(sentence) <= _MAX_TITLE_CHARS:
        return sentence
    return sentence[:_MAX_TITLE_CHARS].rsplit(maxsplit=1)[0]


def _topic_pages() -> Iterator[Page]:
    module = _import("pydoc_data.topics")  # missing in some distributions
    topics: dict[str, str] = vars(module)["topics"] if module else {}
    for name, text in sorted(topics.items()):
        heading, _, rest = text.strip().partition("\n")
        body = to_markdown(rest.strip("*=-\n "))
        yield Page(f"reference/{name}.html", heading.strip(), None, body)
