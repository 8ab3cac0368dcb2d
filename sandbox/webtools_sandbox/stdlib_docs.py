"""The running interpreter's own documentation, as Markdown pages.

Docstrings are read from the standard library's source with `ast`, so nothing is imported for them;
the few modules written in C are imported, which is harmless for these. The language reference
comes from `pydoc_data.topics`, which ships with CPython.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sysconfig
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Modules whose source holds docstrings worth reading; one that a Python version lacks is skipped.
SOURCE_MODULES = str.split("""
abc argparse ast asyncio.events asyncio.locks asyncio.queues asyncio.runners asyncio.streams
asyncio.tasks base64 bisect calendar cmd collections colorsys configparser contextlib copy csv
dataclasses datetime decimal difflib dis doctest email email.message email.policy enum filecmp
fileinput fnmatch fractions ftplib functools getpass gettext glob graphlib gzip hashlib heapq hmac
html html.parser http.client http.cookies http.server imaplib importlib.metadata inspect io
ipaddress json json.decoder json.encoder keyword linecache locale logging logging.config
logging.handlers lzma mimetypes multiprocessing.pool numbers operator os pathlib pdb pickle
platform pprint profile queue random re sched secrets selectors shelve shlex shutil site smtplib
socket socketserver sqlite3 ssl statistics string subprocess tarfile tempfile textwrap threading
timeit tokenize trace traceback types typing unittest.case unittest.mock urllib.parse
urllib.request urllib.robotparser uuid venv warnings wave weakref webbrowser wsgiref.simple_server
xml.etree.ElementTree xmlrpc.client zipapp zipfile
""")
C_MODULES = ("array", "builtins", "gc", "itertools", "math", "struct", "sys", "time", "zlib")

# Where a module's docstrings are, when its own file is but a door to another one.
_SOURCES = {
    "datetime": ("_pydatetime", "datetime"),
    "decimal": ("_pydecimal",),
    "pathlib": ("pathlib._local", "pathlib"),
}

_MAX_PAGE_CHARS = 60_000
_MAX_TITLE_CHARS = 90
_SENTENCE_END = re.compile(r"(?<!\.[a-z])\. ")  # no end is the last dot of "a.k.a."


class Page(NamedTuple):
    """One page before it has a URL: `path` is relative, `text` is Markdown without the title."""

    path: str
    title: str
    author: str | None
    text: str


def read_pages() -> Iterator[Page]:
    """Read every page that this interpreter can offer, always in the same order."""
    stdlib = Path(sysconfig.get_paths()["stdlib"])
    for name in SOURCE_MODULES:
        page = page_from_source(name, stdlib)
        if page is not None:
            yield page
    yield from map(_page_from_import, C_MODULES)
    yield from _topic_pages()


def page_from_source(name: str, stdlib: Path) -> Page | None:
    """Read the page of one module, or return None where it has no source below `stdlib`."""
    found = (_source_file(stdlib, source) for source in _SOURCES.get(name, (name,)))
    file = next(filter(None, found), None)
    if file is None:
        return None
    with tokenize.open(file) as lines:
        tree = ast.parse(lines.read())
    sections = list(_sections(tree.body, name))
    intro = ast.get_docstring(tree) or ""
    return _page(name, intro, sections, author=_author(tree))


def _source_file(stdlib: Path, name: str) -> Path | None:
    stem = stdlib.joinpath(*name.split("."))
    candidates = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


def _sections(body: list[ast.stmt], prefix: str, *, level: int = 2) -> Iterator[str]:
    for node in body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        doc = ast.get_docstring(node)
        if doc and not node.name.startswith("_"):
            yield f"{'#' * level} {_signature(node, prefix)}\n\n{doc}"
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _sections(node.body, node.name, level=level + 1)


def _signature(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {prefix}.{node.name}"
    return f"{prefix}.{node.name}({ast.unparse(node.args)})"


def _author(tree: ast.Module) -> str | None:
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id="__author__")], value=ast.Constant(value=str(author))
            ):
                return author.split("<")[0].strip(" ,")
            case _:
                continue
    return None


def _page_from_import(name: str) -> Page:
    module = importlib.import_module(name)
    members = sorted(vars(module).items())
    sections = [
        f"## {name}.{member}\n\n{doc}"
        for member, value in members
        if not member.startswith("_") and callable(value) and (doc := inspect.getdoc(value))
    ]
    return _page(name, inspect.getdoc(module) or "", sections, author=None)


def _page(name: str, intro: str, sections: list[str], *, author: str | None) -> Page:
    text = "\n\n".join([intro, *sections]).strip()
    title = f"{name} — {_headline(intro)}" if intro else name
    return Page(f"library/{name}.html", title, author, _clip(text, _MAX_PAGE_CHARS))


def _headline(intro: str) -> str:
    lines = intro.split("\n\n", maxsplit=1)[0].splitlines()
    paragraph = " ".join(line.strip() for line in lines if line.strip("~=-* "))
    sentence = _SENTENCE_END.split(paragraph, maxsplit=1)[0].rstrip(".:")
    return _clip(sentence, _MAX_TITLE_CHARS)


def _clip(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    return text[:max_chars].rsplit(maxsplit=1)[0]


def _topic_pages() -> Iterator[Page]:
    try:
        topics: dict[str, str] = importlib.import_module("pydoc_data.topics").topics
    except ImportError:  # some distributions leave it out
        return
    for name, text in sorted(topics.items()):
        heading, _, rest = text.strip().partition("\n")
        yield Page(f"reference/{name}.html", heading.strip(), None, rest.strip("*=-\n "))
