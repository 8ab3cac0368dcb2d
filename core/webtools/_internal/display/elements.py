"""HTML in which every text is escaped unless it was made here."""

from __future__ import annotations

import html
from collections.abc import Iterable

from webtools._internal.display.outline import Address


class Html(str):
    """Markup made by this module; any other string is text and is escaped."""

    __slots__ = ()


def escape(text: str) -> Html:
    """Return the markup of a text."""
    return text if isinstance(text, Html) else Html(html.escape(text, quote=True))


def join(parts: Iterable[str], between: str = "") -> Html:
    """Join texts and markup; empty parts are left out."""
    return Html(escape(between).join(escape(part) for part in parts if part))


def tag(name: str, *children: str, **attributes: str) -> Html:
    """Build an element.

    Args:
        name: Its name.
        *children: Texts, which are escaped, and markup.
        **attributes: Its attributes; `class_` stands for `class`. Empty ones are left out.
    """
    given = {key.rstrip("_"): value for key, value in attributes.items() if value}
    inside = "".join(f' {key}="{html.escape(value, quote=True)}"' for key, value in given.items())
    return Html(f"<{name}{inside}>{join(children)}</{name}>")


def div(kind: str, *children: str, **attributes: str) -> Html:
    """Build a block of one of our classes; nothing when it would be empty."""
    if not any(children):
        return Html()
    return tag("div", *children, class_=f"wt-{kind}", **attributes)


def span(kind: str, *children: str) -> Html:
    """Build a piece of a line of one of our classes; nothing when it would be empty."""
    return tag("span", *children, class_=f"wt-{kind}") if any(children) else Html()


def fold(summary: str, *children: str) -> Html:
    """Build a block that opens when its first line is clicked; nothing when it would be empty."""
    if not any(children):
        return Html()
    return tag("details", tag("summary", summary), tag("div", *children))


def link(text: str, where: Address) -> Html:
    """Build a link that leads to where it says, and tells nobody where it was clicked."""
    words = tag("bdi", text)
    if where.link is None:
        return words
    rel = "noopener noreferrer nofollow"
    return tag("a", words, href=where.link, target="_blank", rel=rel)


def address_line(where: Address) -> Html:
    """Show a URL, as a link if it may be one."""
    return div("url", link(where.shown, where), dir="ltr")


def table(kind: str, heads: Iterable[str], rows: Iterable[Html]) -> Html:
    """Build a table of rows that are ready."""
    titles = tag("tr", *(tag("th", title, scope="col") for title in heads))
    body = tag("tbody", *rows)
    return tag("table", tag("thead", titles), body, class_=f"wt-{kind}")
