"""Patterns that few texts need are compiled when the first one does: a start has a hundred."""

from __future__ import annotations

import re
from functools import cache


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern once; `re` itself forgets some where a program compiles many."""
    return re.compile(pattern)
