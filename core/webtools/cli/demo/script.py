"""The agents' model, played from a script: it knows the question and what it is shown.

It has no URL of its own: those it fetches and cites it reads from the results, as a model does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from webtools.providers import Capability
from webtools.text.fencing import unfenced

TOOLS: dict[str, Capability] = {"web_fetch": "fetch", "summarize": "summarize"}
NOTHING_FOUND = "Nothing was found, so there is nothing to answer from and nothing to cite."

_MAX_ANSWER = 200
_MAX_LINK = 75
_RESULT = re.compile(r"^\d+\. (?P<title>.+)\n +(?P<url>https?://\S+)$", re.MULTILINE)
_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "a about an and are at be by can do does for from has have how i in is it its me my of on "
        "or should that the their there this to use was what when where which who why will with "
        "you",
    )
)


@dataclass(frozen=True)
class Call:
    """What the model wants done: a tool and its arguments."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Script:
    """What the model does, turn by turn.

    Attributes:
        question: The question to answer.
        tools: Names of the tools to use, in this order; the first one searches.
    """

    question: str
    tools: tuple[str, ...] = ("web_search", *TOOLS)

    def turn(self, seen: Sequence[str]) -> Call | str:
        """Decide what comes next.

        Args:
            seen: The texts that the tools answered so far.

        Returns:
            The next call, or the answer.
        """
        if not seen:
            return Call("web_search", {"queries": self._queries(), "limit": 3})
        result = _RESULT.search(unfenced(seen[0]))
        if result is None:
            return NOTHING_FOUND
        if len(seen) < len(self.tools):
            if (tool := self.tools[len(seen)]) == "web_fetch":
                return Call(tool, {"urls": [result["url"]], "question": self.question})
            return Call(tool, {"url": result["url"]})
        texts = dict(zip(self.tools, seen, strict=False))
        read = texts.get("web_fetch", "").partition(f"\n{result['url']}\n")[2]
        return _answer(result["title"], result["url"], unfenced(read or seen[-1]))

    def _queries(self) -> list[str]:
        words = re.findall(r"\w[\w.+#'-]*", self.question)
        keywords = [word.rstrip(".") for word in words if word.lower() not in _FILLERS]
        return list(dict.fromkeys([" ".join(keywords) or self.question, self.question]))


def _answer(title: str, url: str, text: str) -> str:
    room = max(_MAX_LINK - len(f"- []({url})"), 20)
    name = title if len(title) <= room else title[: room - 1].rstrip() + "…"
    return f"{_beginning(text)}\n\nSources:\n- [{name}]({url})"


def _beginning(text: str) -> str:
    """Take whole sentences of the first paragraph, as many as fit; without any, cut."""
    blocks = re.split(r"\n{2,}", text.strip())
    prose = (each for each in blocks if not each.startswith(("#", "```")))
    flat = " ".join(next(prose, text).split())
    sentences = re.match(rf".{{1,{_MAX_ANSWER}}}(?<=[.!?])(?= |$)", flat)
    return sentences[0] if sentences else flat[:_MAX_ANSWER]
