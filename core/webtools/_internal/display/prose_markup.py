"""Parse the Markdown of pages and answers into inert tokens; needs markdown-it, as rich does.

HTML, images, entities, link definitions and underscores (`__init__`) are text. A link is dropped
if its text names another address.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, emphasis
from markdown_it.token import Token

from webtools._internal.text.visible import LONGEST_URL, display_text, link_target

_BLOCKS = ["fence", "code", "list", "heading"]
_PAGE_BLOCKS = ["blockquote", "hr", "table"]
_LANGUAGE = re.compile(r"[\w+#-]{1,20}")
_ADDRESS = re.compile(r"(?:https?:)?//|www\.|\w\.\w+/", re.IGNORECASE)
# What people take for a host; few identifiers, such as `json.load`, have such an ending.
_HOST = re.compile(
    r"(?<![\w.@/-])(?:[\w-]{1,63}\.){1,5}(?:com|org|net|edu|gov|mil|info|biz|io|ai|app|dev|co|me|eu"
    r"|us|uk|de|fr|es|it|nl|ch|at|be|pl|ru|cn|jp|kr|in|br|au|ca|example)(?![\w-]|\.\w)",
    re.IGNORECASE,
)


def tokens(text: str, *, is_page: bool = False) -> list[Token]:
    """Parse a text that is already clean.

    Args:
        text: Markdown.
        is_page: Whether it is a page, in which asterisks, quotes and tables are markup; in a claim
            they are characters.
    """
    return [_safe(token) for token in _parser(is_page).parse(text)]


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802
        return _target(url) is not None


@cache
def _parser(is_page: bool) -> MarkdownIt:
    parser = _Parser("zero").enable([*_BLOCKS, "backticks", "link", "newline"])
    parser.block.ruler.before("code", "doctest", _doctest, {"alt": ["paragraph"]})
    if is_page:
        parser.enable([*_PAGE_BLOCKS, "escape", "emphasis", "balance_pairs", "fragments_join"])
        parser.inline.ruler.at("emphasis", _asterisks)
    return parser


def _doctest(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read an interactive session as code; `>>>` would be three nested quotations."""
    if not state.src.startswith(">>> ", state.bMarks[start] + state.tShift[start]):
        return False
    if not silent:
        stop = next((n for n in range(start, end) if state.isEmpty(n)), end)
        token = state.push("fence", "code", 0)
        token.info, token.content = "pycon", state.getLines(start, stop, state.blkIndent, False)
        state.line = stop
    return True


def _asterisks(state: StateInline, silent: bool) -> bool:
    return state.src[state.pos] != "_" and emphasis.tokenize(state, silent)


def _target(url: str) -> str | None:
    return link_target(url, display_text(url, LONGEST_URL))


def _safe(token: Token) -> Token:
    language = _LANGUAGE.match(token.info)
    token.info = language[0] if language else ""
    if token.children:
        token.children = _drop_misleading_links(token.children)
    return token


def _drop_misleading_links(children: Sequence[Token]) -> list[Token]:
    """Drop links whose text could be taken for another address."""
    tokens: list[Token] = []
    start = 0
    for token in children:
        tokens.append(token)
        if token.type == "link_open":
            start = len(tokens)
            token.attrs = {"href": _target(str(token.attrs.get("href", ""))) or ""}
        elif token.type == "link_close":
            text = "".join(part.content for part in tokens[start:])
            href = str(tokens[start - 1].attrs["href"])
            if not href or _misleads(unicodedata.normalize("NFKC", text), href):
                tokens[start - 1 :] = tokens[start:-1]
    return tokens


def _misleads(text: str, href: str) -> bool:
    """Return whether the text of a link could be taken for another address."""
    if _ADDRESS.search(text):
        return text.strip() != href
    host = f".{urlsplit(href).hostname or ''}"
    return any(not host.endswith(f".{named.lower()}") for named in _HOST.findall(text))
