"""Turn provider text into plain text: no markup, no entities, no control characters."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from webtools._internal.text.invisible_table import TURNING

# Only tags that providers put round matches or between lines: `List<String>` is text.
# Repetitions are bounded, so that hostile text takes linear time.
_TAGS = re.compile(
    r"(?i)</?(b|strong|em|i|u|mark|span|br|p)(?:\s{1,9}[a-z-]{1,30}=[^<>]{0,500}|\s{0,9}/?)>"
)
_HUGE_REFERENCE = re.compile(r"&#(?:\d{8}|[xX][0-9a-fA-F]{7})[0-9a-fA-F]*;?")  # beyond Unicode
# Whole terminal sequences: OSC and other strings that end on their line, CSI, two-byte escapes.
_ESCAPES = re.compile(
    r"\x1b[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# Controls, marks that change the direction of text, and lone surrogates.
_CONTROLS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{TURNING}\ud800-\udfff]")
_HIGHEST_PORT = 65_535
_LONGEST_CACHED = 512  # characters of a URL that is cached
_WEB_URL = re.compile(
    r"""https?://
    (?:[^\s<>"\\/?#@]*@)?                         # user
    (?:\[[0-9a-f:.]+\]|[^\s<>"\\/?#@:\[\]]+)      # host
    (?::(\d{0,5}))?                              # port
    (?:[/?#][^\s<>"\\]*)?""",
    re.IGNORECASE | re.VERBOSE,
).fullmatch


def one_line(text: str) -> str:
    """Clean a title or a snippet and replace runs of white space by single spaces."""
    if "<" in text:
        text = _TAGS.sub(_replace_tag, text)
    if "&" in text:
        text = html.unescape(_HUGE_REFERENCE.sub("", text))
    if text.isprintable() and "  " not in text:  # its only white space is single spaces
        return text.strip()
    return " ".join(without_controls(text).split())


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
        text = _ESCAPES.sub("", text)
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


def is_web_url(url: str) -> bool:
    """Return whether a text is an absolute http(s) URL with a host and no stray characters."""
    return _is_web_url(url) if len(url) <= _LONGEST_CACHED else _check_web_url(url)


def _check_web_url(url: str) -> bool:
    match = _WEB_URL(url) if url.isprintable() else None
    if match is None or (match[1] and int(match[1]) > _HIGHEST_PORT):
        return False
    return (url.isascii() and "[" not in url and "]" not in url) or _can_be_split(url)


_is_web_url = lru_cache(maxsize=2048)(_check_web_url)  # the same URLs recur


def _can_be_split(url: str) -> bool:
    """Return whether Python can split a URL: it raises for odd addresses and look-alike dots."""
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


def has_login(url: str) -> bool:
    """Return whether a web URL has a user name or a password, which others must not get."""
    return "@" in urlsplit(url).netloc


def without_login(url: str) -> str:
    """Return the scheme, host and port of a URL, without user name and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def store_place(url: str) -> str:
    """Return the URL of a store without user name and password."""
    return without_login(url) + urlsplit(url).path
