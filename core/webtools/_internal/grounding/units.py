# ruff: noqa: RUF001  signs of other scripts are what this reads
"""The quotable units of a passage: sentences, definitions, rows, and code with its introduction.

Headings, lead-ins of lists and truncated sentences are not quotable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from webtools._internal.grounding.blocks import (
    REFERENCES,
    Block,
    heading_text,
    is_worded,
    sentences_of,
)
from webtools._internal.grounding.segmentation import Span
from webtools._internal.grounding.sentences import is_whole

_LONGEST = 700  # characters of a sentence or definition
_LONGEST_CODE = 900
_SHORTEST = 20
_SHORTEST_CJK = 6
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_MIN_WORDS = 0.4  # share of a sentence; lists of names, links and signatures have less
_RULE = re.compile(r"[|\s:-]*$")
# Beginnings of sentences that depend on the sentence before.
LEANING = re.compile(
    r"[\s:#*>-]{0,9}(?:it|its|this|that|these|those|they|he|she|his|her|however|but"
    r"|and|also|such|then|therefore|thus|otherwise|instead|for example)\b",
    re.IGNORECASE,
)
_LEAD_IN = (":", "：", "::")
_SIGNATURE = re.compile(r"`[^`\n]+`[^\n]*|[\w.]+ ?\([^\n]*\)[^\n]*")  # on its own line
_LONGEST_SIGNATURE = 160
_LONGEST_JOINED = 400  # characters of sentences to quote together
_BARE_URL = re.compile(r"(?<!\]\()(?<!\w)https?://\S")
# Calls to action, which say nothing about a subject. The second group does only with `!`.
_CALL = re.compile(
    r"\W*(?:check (?:it |this |them )?out|(?:click|tap) (?:here|below)"
    r"|subscribe (?:now|today|to our)"
    r"|sign up (?:now|today|for)|register now|follow us|join (?:us|now|our)|don['’]t miss"
    r"|stay tuned"
    r"|read more|learn more|find out more|discover more|see more|contact us|get in touch|share this"
    r"|(?:buy|shop|order|book|call|act|try it|download) now|visit our"
    r"|melden sie sich|klicken sie hier"
    r"|erfahren sie mehr|folgen sie uns|cliquez ici|abonnez-vous|inscrivez-vous|suivez-nous"
    r"|en savoir plus|haz clic aquí|haga clic aquí|suscr[ií]b[ea]te|síguenos|clique aqui"
    r"|inscreva-se|siga-nos|saiba mais)\b"
    r"|\W*(?:get|try|play|win|start|discover|explore|enjoy|download|visit|watch|join|enter|see|find"
    r"|vote|share|book|order|shop|buy|save|grab|hurry|look|come|meet|click|subscribe|sign|jetzt)\b"
    r".{0,300}![\"'”’)\]*_]*$",
    re.IGNORECASE | re.DOTALL,
)
_LOWER_CASE = re.compile(r"[^\W\d_A-Z]+(?=[\s,])")


def units_of(text: str, passage: Span) -> Iterator[Span]:
    """Yield the quotable units of a passage, in order, each with the headings and terms above."""
    path, blocks = passage.path, passage.blocks
    terms: list[Block] = []  # right above the block
    for above, block, below in zip((None, *blocks), blocks, (*blocks[1:], None), strict=False):
        if block.kind == "heading":
            path = (*path, heading_text(text, block))
        elif block.kind == "term":
            terms.append(block)
        else:
            if terms:
                path = (*path, heading_text(text, terms[-1]))
            own_path = path
            if above is not None and block.kind == "prose" and _is_signature(text, above):
                own_path = (*path, heading_text(text, above))
            if not any(map(REFERENCES.fullmatch, own_path)):
                yield from _block_units(text, block, below, own_path, terms)
            terms = []


def _is_signature(text: str, block: Block) -> bool:
    """Return whether a paragraph is the signature of what the next one describes."""
    paragraph = text[block.start : block.end]
    return (
        block.kind == "prose"
        and len(paragraph) <= _LONGEST_SIGNATURE
        and not paragraph.endswith((".", *_LEAD_IN))
        and _SIGNATURE.fullmatch(paragraph) is not None
    )


def _block_units(
    text: str, block: Block, below: Block | None, path: tuple[str, ...], terms: Sequence[Block]
) -> Iterator[Span]:
    if block.kind == "row":
        start, end = _row(text, block)
        if start < end:
            yield Span(start, end, path, start)
    elif block.kind != "code":
        spans = sentences_of(text, block)
        if below is not None and below.kind == "code" and spans:
            start = spans[-1][0]
            if below.end - start <= _LONGEST_CODE:
                yield Span(start, below.end, path, start, is_code=True)
        for number, (start, end) in enumerate(_join(text, spans, terms)):
            if terms and not number and end - terms[0].start <= _LONGEST:
                yield Span(terms[0].start, end, path[:-1], terms[-1].end)
            elif is_sentence(text[start:end]):
                yield Span(start, end, path, start)


def _row(text: str, block: Block) -> tuple[int, int]:
    """Return a row without its outer bars; an empty slice for a rule or a header."""
    row = text[block.start : block.end]
    below = text[block.end : block.end + 200].lstrip("\n").partition("\n")[0]
    is_header = "-" in below and _RULE.match(below)
    if is_header or _RULE.match(row) or not _SHORTEST <= len(row) <= _LONGEST:
        return block.start, block.start
    return block.end - len(row.lstrip("| ")), block.start + len(row.rstrip("| "))


def _join(
    text: str, spans: Sequence[tuple[int, int]], terms: Sequence[Block]
) -> list[tuple[int, int]]:
    """Join sentences that depend on the one before, and those that describe a term."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        previous = joined[-1] if joined else None
        if (
            previous
            and (terms or LEANING.match(text, start, end))
            and end - previous[0] <= _LONGEST_JOINED
            and is_sentence(text[slice(*previous)])
            and is_sentence(text[start:end])
        ):
            joined[-1] = previous[0], end
        else:
            joined.append((start, end))
    return joined


def is_sentence(text: str) -> bool:
    """Return whether a text is one whole sentence in words."""
    is_cjk = _CJK.search(text) is not None
    shortest = _SHORTEST_CJK if is_cjk else _SHORTEST
    if not shortest <= len(text) <= _LONGEST or text.endswith(_LEAD_IN):
        return False
    first = _LOWER_CASE.match(text)
    if (first and first[0].islower()) or _BARE_URL.search(text) or _CALL.match(text):
        return False
    return is_whole(text) and (is_cjk or is_worded(text, _MIN_WORDS))
