"""Foreign text as messages show it, and the known word that a wrong one is nearest to."""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from webtools._internal.text.invisible_table import TURNING

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST_KEY = 8  # characters; a shorter one would be found, and cut out, in any text
_ONE_PIECE = re.compile(r"[!-.0-\[\]-~]{16,}")  # without slashes, which paths have
_CONTROLS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{TURNING}\ud800-\udfff]")
QUOTED = 57  # characters of a longer text that are shown


def quote(text: str) -> str:
    """Quote foreign text for a message: ASCII, no control character, at most 60 characters.

    What looks like a key is not shown: people paste keys where a name belongs.
    """
    if looks_like_key(text):
        return '"[redacted]"'
    shown = text if len(text) <= QUOTED + 3 else text[:QUOTED] + "..."
    plain = shown.encode("ascii", "backslashreplace").decode()
    return '"' + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in plain) + '"'


def escape_controls(text: str) -> str:
    r"""Write control characters and marks that turn the direction as escapes, such as `\x1b`.

    Tabs and line feeds are kept.
    """
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def escape_json_controls(document: str) -> str:
    r"""Write the control characters of a JSON document as JSON escapes, such as `\u009b`."""
    return _CONTROLS.sub(lambda match: json.dumps(match[0])[1:-1], document)


def looks_like_key(text: str) -> bool:
    """Return whether no human made a text up: long, in one piece, with letters and digits mixed."""
    if not _ONE_PIECE.fullmatch(text):
        return False
    runs = [run for run in re.findall("[A-Za-z0-9]+", text) if len(run) >= SHORTEST_KEY]
    return any(not run.isalpha() and not run.isdigit() for run in runs)


def listed(texts: Iterable[str]) -> str:
    """Quote and join for a message."""
    return ", ".join(quote(text) for text in texts)


def hint(wrong: str, known: Iterable[str]) -> str:
    """Name the known word that a wrong one is nearest to, or nothing."""
    near = nearest(wrong, known)
    return f" (did you mean {quote(near)}?)" if near else ""


def nearest(wrong: str, known: Iterable[str]) -> str:
    """Return the known word that a wrong one is nearest to, however it is spelled; "" for none."""
    by_letters = {_letters(word): word for word in known}
    near = get_close_matches(_letters(wrong), by_letters, n=1)
    return by_letters[near[0]] if near else ""


def _letters(word: str) -> str:
    return word.replace("_", "").lower()
