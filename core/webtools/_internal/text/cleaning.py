"""Turn provider text into plain text: no markup, no entities, no control characters."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from webtools._internal.text.invisible_table import TURNING

# Excerpts are joined by `...`. What is removed ends before it: a model, which chooses the excerpts,
# could join their ends.
_NO_OMISSION = r"(?!\.\.\.|…)"
# Only tags that providers put round matches or between lines: `List<String>` is text.
# Repetitions are bounded, so that hostile text takes linear time.
_TAGS = re.compile(
    r"(?i)</?(b|strong|em|i|u|mark|span|br|p)"
    rf"(?:\s{{1,9}}[a-z-]{{1,30}}=(?:{_NO_OMISSION}[^<>]){{0,500}}|\s{{0,9}}/?)>"
)
_HUGE_REFERENCE = re.compile(r"&#(?:\d{8}|[xX][0-9a-fA-F]{7})[0-9a-fA-F]*;?")  # beyond Unicode
# Whole terminal sequences: OSC and other strings that end on their line or with the text, which may
# have been cut; CSI; two-byte escapes.
# None has `<>` in it, which is between texts that are searched together for keys.
TERMINAL_SEQUENCES = re.compile(
    rf"\x1b[\]PX^_](?:{_NO_OMISSION}[^\x07\x1b\x9c\n<]|<(?!>))*(?:\x07|\x1b\\|\x9c|\Z)"
    rf"|(?:\x1b\[|\x9b)(?:(?!<>)[0-?])*(?:{_NO_OMISSION}[ -/])*[@-~]?"
    rf"|\x1b(?:{_NO_OMISSION}[ -/])*(?:(?!<>)[0-~])?"
)
# Controls, marks that change the direction of text, and lone surrogates.
_CONTROLS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{TURNING}\ud800-\udfff]")


def one_line(text: str) -> str:
    """Clean a title or a snippet and replace runs of white space by single spaces."""
    if "<" in text:
        text = _TAGS.sub(_replace_tag, text)
    if "&" in text:
        text = unescaped(text)
    if text.isprintable() and "  " not in text:  # its only white space is single spaces
        return text.strip()
    return " ".join(without_controls(text).split())


def unescaped(text: str) -> str:
    """Replace the references of HTML in a text; numbers beyond Unicode are dropped."""
    return html.unescape(_HUGE_REFERENCE.sub("", text))


def words_in_line(text: str) -> str:
    """Return a text on one line with all its words, also those of what looks like markup."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def _replace_tag(match: re.Match[str]) -> str:
    return " " if match[1].lower() in {"br", "p"} else ""


def without_controls(text: str) -> str:
    """Drop terminal sequences and control characters; keep tabs and line feeds.

    Other line ends become line feeds, and a lone surrogate becomes the replacement character:
    it can neither be written nor sent. A mark that changes the direction of text becomes U+200B,
    which `invisible` counts and removes before results leave the package.
    """
    if text.isprintable():
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():  # line and paragraph separators, at which some readers break
        text = text.replace("\u2028", "\n").replace("\u2029", "\n\n")
    if "\x1b" in text or not text.isascii():
        text = TERMINAL_SEQUENCES.sub("", text)
    return _CONTROLS.sub(_replacement, text)


def _replacement(match: re.Match[str]) -> str:
    if match[0] >= "\ud800":
        return "\ufffd"
    return "\u200b" if match[0] >= "\u2000" else ""


def with_spans(text: str, spans: Iterable[tuple[int, int]], mark: str) -> str:
    """Replace each span by a mark; overlapping spans by one. The spans are in order."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        if start >= position:
            parts += [text[position:start], mark]
        position = max(position, end)
    return "".join([*parts, text[position:]]) if parts else text
