"""Lets a question on a magic's line end in a question mark, which IPython takes as a cry for help.

IPython reads `%web_deep what did Python 3.10 add?` as `add?`, and shows the help on `add`.
"""

from __future__ import annotations

import re
from typing import Any

from IPython.core.inputtransformer2 import HelpEnd

from webtools.notebook.table import MAGICS

_LINE = re.compile(
    rf"(?P<before>[^%]*=[ \t]*|[ \t]*)%(?P<name>{'|'.join(MAGICS)})[ \t]+(?P<text>.*\w.*)\n?"
)


class Question(HelpEnd):
    """Takes a line of ours before the transformer for `object?` gets it; `%web?` stays help."""

    priority = HelpEnd.priority - 1

    def transform(self, lines: list[str]) -> list[str]:
        """Turn the line into the call that it would be without the question mark.

        Raises:
            SyntaxError: The line is not ours; the next transformer may have it.
        """
        found: Any = self  # untyped there
        start, end = int(found.start_line), int(found.q_line)
        match = _LINE.fullmatch(lines[start])
        if match is None or start != end:
            raise SyntaxError
        call = f"get_ipython().run_line_magic({match['name']!r}, {match['text']!r})\n"
        return [*lines[:start], match["before"] + call, *lines[start + 1 :]]
