"""Cut texts to a number of characters. `webtools.truncation` cuts what a model reads."""

from __future__ import annotations


def shortened(text: str, limit: int) -> str:
    """Return the text, or its first characters and an ellipsis."""
    return text if len(text) <= limit else f"{text[:limit]}…"


def cut_at_space(text: str, limit: int) -> str:
    """Cut a text, at white space if there is some in the last fifth."""
    if len(text) <= limit:
        return text
    start = text[:limit]
    end = max(start.rfind(" "), start.rfind("\n"))
    return start[:end].rstrip() if end > limit * 0.8 else start


def cut_at_sentence(text: str, limit: int) -> str:
    """Cut a text, at the end of a line or a sentence if there is one in the second half."""
    if len(text) <= limit:
        return text
    start = text[:limit]
    end = max(start.rfind("\n"), start.rfind(". ") + 1)
    return start[:end].rstrip() if end > limit // 2 else start


def cut_at_line(text: str, limit: int) -> str:
    """Cut a text at the end of a line, else at white space."""
    start = text[:limit]
    return start.rpartition("\n")[0] or start.rpartition(" ")[0] or start
