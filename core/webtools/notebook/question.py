"""Allow a question mark at the end of a magic's line.

Otherwise IPython reads `%web_deep what did Python 3.10 add?` as `add?`, and shows help on `add`.
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
    """Handles a line of ours before the transformer for `object?`. `%web?` still shows help."""

    priority = HelpEnd.priority - 1

    def transform(self, lines: list[str]) -> list[str]:
        """Replace the line by the call of the magic.

        Raises:
            SyntaxError: The line is not ours. IPython then tries the next transformer.
        """
        token: Any = self  # untyped in IPython
        start, end = int(token.start_line), int(token.q_line)
        match = _LINE.fullmatch(lines[start])
        if match is None or start != end:
            raise SyntaxError
        call = f"get_ipython().run_line_magic({match['name']!r}, {match['text']!r})\n"
        return [*lines[:start], match["before"] + call, *lines[start + 1 :]]
