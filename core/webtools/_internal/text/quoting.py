"""Quote foreign text in messages, and suggest the nearest known word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from difflib import get_close_matches

from webtools._internal.text.invisible_table import TURNING

SHORTEST_KEY = 8  # characters; a shorter key would be redacted in ordinary text
_ONE_PIECE = re.compile(r"[!-.0-\[\]-~]{16,}")  # without slashes, which paths have
_CONTROLS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{TURNING}\ud800-\udfff]")
QUOTED = 57  # characters of a longer text that are shown


def quote(text: str) -> str:
    """Quote foreign text for a message: ASCII, no control character, at most 60 characters.

    A text that looks like a key is redacted: people paste keys where a name belongs.
    """
    if looks_like_key(text):
        return '"[redacted]"'
    excerpt = text if len(text) <= QUOTED + 3 else text[:QUOTED] + "..."
    ascii_text = excerpt.encode("ascii", "backslashreplace").decode()
    return '"' + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in ascii_text) + '"'


def escape_controls(text: str) -> str:
    r"""Escape control characters and marks that change the direction, such as `\x1b`.

    Tabs and line feeds are kept.
    """
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def escape_json_controls(document: str) -> str:
    r"""Escape the control characters of a JSON document, such as `\u009b`."""
    return _CONTROLS.sub(lambda match: json.dumps(match[0])[1:-1], document)


def looks_like_key(text: str) -> bool:
    """Return whether a text looks generated: long, in one piece, with letters and digits mixed."""
    if not _ONE_PIECE.fullmatch(text):
        return False
    runs = [run for run in re.findall("[A-Za-z0-9]+", text) if len(run) >= SHORTEST_KEY]
    return any(not run.isalpha() and not run.isdigit() for run in runs)


def listed(texts: Iterable[str]) -> str:
    """Quote and join texts for a message."""
    return ", ".join(quote(text) for text in texts)


def hint(wrong: str, known: Iterable[str]) -> str:
    """Suggest the nearest known word, or return ""."""
    word = nearest(wrong, known)
    return f" (did you mean {quote(word)}?)" if word else ""


def nearest(wrong: str, known: Iterable[str]) -> str:
    """Return the known word nearest to a wrong one, ignoring case and underscores, or ""."""
    by_letters = {_letters(word): word for word in known}
    matches = get_close_matches(_letters(wrong), by_letters, n=1)
    return by_letters[matches[0]] if matches else ""


def _letters(word: str) -> str:
    return word.replace("_", "").lower()
