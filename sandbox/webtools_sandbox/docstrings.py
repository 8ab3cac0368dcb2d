"""Docstrings as Markdown: code in fences, parameters as lists."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_UNDERLINE = re.compile(r"[=\-~*^\"]{3,}")
_ROLE = re.compile(r":(?:py:)?[a-z]+:`~?([^`]+)`")
# Parameters in the formats of Argument Clinic and Google: a name, with its text below or beside it.
_PARAMETER = re.compile(r"^(?P<name>\*{0,2}\w+)(?::[ \t]+|\n[ \t]+)(?P<text>\S.*(?:\n[ \t]+.*)*)")
# An author's note to do something, up to the end of its paragraph.
_NOTE = re.compile(r"(?:^|\(|  )[ \t]*(?:XXX|TODO|FIXME)\b.*\n?(?:[ \t]*\S.*\n?)*", re.MULTILINE)
_LISTS = frozenset({"args:", "arguments:", "parameters:", "attributes:", "keyword arguments:"})


def to_markdown(docstring: str) -> str:
    """Return a dedented docstring as Markdown, without the author's to-do notes."""
    return "\n\n".join(_fenced(list(_blocks(_NOTE.sub("", docstring)))))


def _blocks(docstring: str) -> Iterator[str]:
    """Yield the blocks between blank lines. Text that introduces code is a block of its own."""
    for block in _BLANK_LINES.split(docstring.strip("\n")):
        lines = block.splitlines()
        cut = next((n for n in range(1, len(lines)) if _begins_code(lines, n)), None)
        if cut is None or _is_doctest(lines[0]):
            yield block
        else:
            yield "\n".join(lines[:cut])
            yield "\n".join(lines[cut:])


def _begins_code(lines: list[str], at: int) -> bool:
    if _is_doctest(lines[at]):
        return True
    introduced = lines[at - 1].rstrip().endswith(":") and not lines[at - 1][:1].isspace()
    return introduced and all(line[:1].isspace() for line in lines[at:])


def _is_doctest(line: str) -> bool:
    return line.lstrip().startswith(">>>")


def _fenced(blocks: list[str]) -> Iterator[str]:
    """Yield the blocks as Markdown. Adjacent blocks of code share a fence."""
    code: list[str] = []
    before = ""
    for block in blocks:
        if _is_code(block, before, inside=bool(code)):
            code.append(block)
            continue
        if code:
            yield _fence(code)
            code = []
        yield from _prose(block)
        before = block
    if code:
        yield _fence(code)


def _is_code(block: str, before: str, *, inside: bool) -> bool:
    if _is_doctest(block):
        return True
    indented = all(line[:1].isspace() for line in block.splitlines())
    if not indented or block.lstrip().startswith(("- ", "* ")):
        return False
    return inside or (before.rstrip().endswith(":") and before.strip().lower() not in _LISTS)


def _fence(code: list[str]) -> str:
    text = textwrap.dedent("\n\n".join(code))
    return f"```python\n{text}\n```"


def _prose(block: str) -> Iterator[str]:
    lines = block.splitlines()
    if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1].strip()):
        yield f"## {lines[0].strip()}"
        lines = lines[2:]
    text = textwrap.dedent("\n".join(lines)).replace("``", "`")
    if not text:
        return
    if parameters := list(_parameters(text, indented=block[:1].isspace())):
        yield "\n".join(parameters)
    else:
        yield _ROLE.sub(r"`\1`", re.sub(r":{2}$", ":", text))


def _parameters(text: str, *, indented: bool) -> Iterator[str]:
    """Yield the items of a list of parameters, or nothing if a part is not a parameter.

    In text without indentation, `name: text` is an ordinary sentence.
    """
    items: list[str] = []
    for part in re.split(r"\n(?=\S)", text):
        match = _PARAMETER.match(part)
        if match is None or not (indented or part[match.end("name")] == "\n"):
            return
        items.append(f"- `{match['name']}`: {' '.join(match['text'].split())}")
    yield from items
