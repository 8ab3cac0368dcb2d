"""Build HTML in which every text is escaped unless this module made it."""

from __future__ import annotations

import html
from collections.abc import Iterable

from webtools._internal.display.outline import Address


class Html(str):
    """Markup made by this module; any other string is text and is escaped."""

    __slots__ = ()


def escape(text: str) -> Html:
    return text if isinstance(text, Html) else Html(html.escape(text, quote=True))


def join(parts: Iterable[str], between: str = "") -> Html:
    """Join texts and markup, without empty parts."""
    return Html(escape(between).join(escape(part) for part in parts if part))


def tag(name: str, *children: str, **attributes: str) -> Html:
    """Build an element.

    Args:
        name: Name of the element.
        *children: Texts, which are escaped, and markup.
        **attributes: `class_` stands for `class`. Empty ones are omitted.
    """
    markup = "".join(
        f' {key.rstrip("_")}="{html.escape(value, quote=True)}"'
        for key, value in attributes.items()
        if value
    )
    return Html(f"<{name}{markup}>{join(children)}</{name}>")


def div(kind: str, *children: str, **attributes: str) -> Html:
    """Build a `div` of one of our classes, or nothing if it would be empty."""
    if not any(children):
        return Html()
    return tag("div", *children, class_=f"wt-{kind}", **attributes)


def span(kind: str, *children: str) -> Html:
    """Build a `span` of one of our classes, or nothing if it would be empty."""
    return tag("span", *children, class_=f"wt-{kind}") if any(children) else Html()


def fold(summary: str, *children: str) -> Html:
    """Build a collapsed block, or nothing if it would be empty."""
    if not any(children):
        return Html()
    return tag("details", tag("summary", summary), tag("div", *children))


def link(text: str, address: Address) -> Html:
    """Build a link that opens a new tab and sends no referrer."""
    label = tag("bdi", text)
    if address.link is None:
        return label
    rel = "noopener noreferrer nofollow"
    return tag("a", label, href=address.link, target="_blank", rel=rel)


def address_line(address: Address) -> Html:
    """Show a URL, as a link where that is safe."""
    return div("url", link(address.shown, address), dir="ltr")


def table(kind: str, heads: Iterable[str], rows: Iterable[Html]) -> Html:
    """Build a table from rows that are already markup."""
    titles = tag("tr", *(tag("th", title, scope="col") for title in heads))
    body = tag("tbody", *rows)
    return tag("table", tag("thead", titles), body, class_=f"wt-{kind}")
