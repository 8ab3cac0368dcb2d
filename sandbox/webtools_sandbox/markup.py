"""Markdown to HTML, with signatures in the markup of documentation generators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

_FENCE = re.compile(r"^```(\w*)\n(.*?)\n?```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"(#{1,6}) (.+)")
_SIGNATURE = re.compile(r"`(?P<text>(?:class )?(?P<name>[\w.]+).*)`")
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[([^\]\n]+)\]\((https?://[^)\s]+)\)")


def to_html(markdown: str) -> str:
    """Return a page as HTML. A heading that is code becomes a term, and its text the details."""
    parts: list[str] = []
    open_terms: list[int] = []
    for block in _blocks(markdown):
        heading = _HEADING.fullmatch(block)
        if heading is None:
            parts.append(_block(block))
            continue
        level = len(heading[1])
        while open_terms and open_terms[-1] >= level:
            parts.append("</dd></dl>")
            open_terms.pop()
        signature = _SIGNATURE.fullmatch(heading[2])
        if signature:
            parts.append(_term(signature["name"], signature["text"]))
            open_terms.append(level)
        else:
            parts.append(_heading(level, heading[2]))
    return "\n".join([*parts, *("</dd></dl>" for _ in open_terms)])


def contents_of(markdown: str) -> list[tuple[str, str]]:
    """Return the anchor and the text of each heading of the second level."""
    found: list[tuple[str, str]] = []
    for line in re.findall(r"^## (.+)$", _FENCE.sub("", markdown), re.MULTILINE):
        signature = _SIGNATURE.fullmatch(line)
        name: str = signature["name"] if signature else line
        found.append((name if signature else _anchor(line), name))
    return found


def _blocks(markdown: str) -> Iterator[str]:
    """Yield the blocks. Blocks of code are not split."""
    end = 0
    for fence in _FENCE.finditer(markdown):
        yield from _split_blocks(markdown[end : fence.start()])
        yield fence[0]
        end = fence.end()
    yield from _split_blocks(markdown[end:])


def _split_blocks(text: str) -> Iterator[str]:
    return (block.strip("\n") for block in re.split(r"\n{2,}", text) if block.strip())


def _term(name: str, text: str) -> str:
    link = f'<a class="headerlink" href="#{name}" title="Link to this definition">¶</a>'
    return f'<dl class="py"><dt class="sig" id="{name}"><code>{escape(text)}</code>{link}</dt><dd>'


def _heading(level: int, text: str) -> str:
    return f'<h{level} id="{_anchor(text)}">{_inline(text)}</h{level}>'


def _anchor(text: str) -> str:
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def _block(block: str) -> str:
    fence = _FENCE.fullmatch(block)
    if fence:
        language = f' class="language-{fence[1]}"' if fence[1] else ""
        return f'<div class="highlight"><pre><code{language}>{escape(fence[2])}</code></pre></div>'
    if block.startswith("> "):
        return f"<blockquote><p>{_inline(block[2:])}</p></blockquote>"
    if _ITEM.match(block):
        items = re.split(r"\n(?=(?:[-*]|\d+\.) )", block)
        inside = "".join(f"<li>{_inline(_ITEM.sub('', item, count=1))}</li>" for item in items)
        kind = "ol" if block[0].isdigit() else "ul"
        return f"<{kind}>{inside}</{kind}>"
    return f"<p>{_inline(block)}</p>"


def _inline(text: str) -> str:
    html = _CODE.sub(lambda found: f"<code>{found[1]}</code>", escape(text, quote=False))
    return _LINK.sub(r'<a href="\2">\1</a>', html)
