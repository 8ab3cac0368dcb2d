"""Which part of a page is the page: its article or its documentation, without what stands round it.

Of articles trafilatura chooses: of the libraries that were measured on article sets it is the best
over all. Its own text is not used, since it loses code, links and tables on the way. Instead each
text of a copy of the tree is headed by a mark of three Braille patterns, which pass through
trafilatura as symbols do; the marks in its answer tell which of our texts it chose.

Documentation says itself where it stands (`<main>`, `role=main`, the containers of the generators),
and trafilatura leaves out half of a reference. There the whole container is taken, as it is where
trafilatura finds far less than a page shows.
"""

from __future__ import annotations

import re
from copy import deepcopy
from itertools import count

from webtools._internal.pages.tree import (
    Element,
    drop,
    drop_all,
    length_of,
    names,
    settable,
    tokens,
)

_Place = tuple[Element, str]  # of a text: the element, and whether it is its `text` or `tail`

_MARK = re.compile("[\u2800-\u28ff]{3}")
_BRAILLE = re.compile("[\u2800-\u28ff]")
_LONGEST_ATTRIBUTE = 300  # characters that the library is given of one
_LITTLE = 0.15  # of what a page shows; the library found far too little
_INLINE = frozenset(
    {"a", "b", "br", "code", "em", "i", "img", "kbd", "span", "strong", "sub", "sup"}
)
_ITEMS = ("li", "dd", "dt")
_MOST_NESTED = 200
_SPANS = frozenset({"rowspan", "colspan"})
_FRAMES = frozenset({"p", "figure", "div", "a", "span"})
_FILLED = frozenset({"pre", "img", "picture", "math", "br"})

_GENERATORS = re.compile(
    r"sphinx|docbook|asciidoc|rustdoc|mdbook|mkdocs|docusaurus|javadoc|doxygen|hugo-book|vitepress"
    r"|gitbook|pkgdown|pandoc|docutils|texinfo|makeinfo|yard|typedoc|jsdoc|antora|quarto|jupyter",
)
_CONTAINERS = (
    ".//*[@itemprop='articleBody']",
    ".//*[@role='main']",
    ".//main",
    ".//*[@id='main-content']",
    ".//*[@id='page-content']",
    ".//article",
)
_SIDE = (
    r"nav|navbar|navigation|navheader|navfooter|breadcrumbs?|crumbs|sidebar|side-bar|cookies?|consent"
    r"|toolbar|pagination|pager|skip-?links?|share|sharing|social|related|newsletter|subscribe"
    r"|advert|advertisement|promo|feedback|footer|menu|languages?|toplang|bottomlang|nosearch"
    r"|comments|topbar|masthead|searchbox|disqus"
)
_SIDE_CLASS = re.compile(
    rf"(?:(?:{_SIDE})(?:[-_]{{1,2}}\w{{1,20}})?|(?:\w{{1,20}}[-_]{{1,2}})?(?:{_SIDE}))"
)
_SIDE_ID = re.compile(
    rf"(?:{_SIDE}|comments_section|(?:site|page|main|left|right|top)[-_](?:{_SIDE}))"
)
_SIDE_CLASSES = frozenset(
    {"edit-this-page", "edit-page", "on-this-page", "rst-versions", "prev-next", "out-of-band"}
    | {"ethical-sidebar", "related-posts", "related-pages", "notable-traits", "tooltiptext"}
)
_TAGS = ("nav", "footer", "select", "button", "input", "textarea", "menu", "label")
_ROLES = frozenset(
    {"navigation", "contentinfo", "search", "menu", "menubar", "toolbar", "tablist", "banner"}
    | {"complementary", "dialog", "alertdialog"}
)
_KEPT_ASIDES = frozenset(
    {"note", "warning", "tip", "caution", "important", "danger", "admonition", "callout", "topic"}
    | {"footnote", "footnote-list", "footnotes", "alert", "info", "example", "hint", "quote"}
)
_PRUNED = frozenset(
    {"div", "section", "ul", "ol", "p", "aside", "header", "table", "form", "dl", "span"}
)
_KEPT_TAGS = frozenset({"table", "dl"})  # a table of related modules is content
_LARGE_SHARE = 0.5  # of a container's text; no name makes so much of it a side matter


def main_part(body: Element) -> Element:
    """Return the part of a tree that is the page; the tree is pruned to it."""
    if _is_technical(body):
        container = _container(body)
        _prune(container)
        return container
    chosen = _choose(body)
    size = sum(len(text.strip()) for text in chosen.values())
    if size < _LITTLE * length_of(body):
        container = _container(deepcopy(body))
        drop_all([each for each in container.iter("*") if "comment" in names(each)])
        _prune(container)
        if size < _LITTLE * length_of(container):
            return container
    _keep(body, frozenset(chosen))
    return body


# --- documentation -----------------------------------------------------------------------------


def _is_technical(body: Element) -> bool:
    """Return whether a page holds code, or was made by a generator of documentation."""
    metas = body.getroottree().getroot().iter("meta")
    made = (
        each.get("content", "") for each in metas if each.get("name", "").lower() == "generator"
    )
    by_generator = _GENERATORS.search(next(made, "")[:200].lower()) is not None
    return by_generator or next(body.iter("pre"), None) is not None


def _container(body: Element) -> Element:
    """Return the element that a page names as its main one, if it holds most of the code."""
    codes = sum(1 for _ in body.iter("pre"))
    for path in _CONTAINERS:
        found = body.findall(path)
        inside = [each for each in found if 2 * sum(1 for _ in each.iter("pre")) >= codes]
        if len(found) == len(inside) == 1 and length_of(found[0]):
            return found[0]
    return body


def _prune(container: Element) -> None:
    """Drop what leads elsewhere: navigation, footers, forms, boxes at the side."""
    drop_all(container.iter(*_TAGS))
    whole = length_of(container)
    for element in list(container.iter("*")):
        is_aside = element is not container and _is_aside(element)
        if is_aside and length_of(element) <= _LARGE_SHARE * whole:
            drop(element)


def _is_aside(element: Element) -> bool:
    if element.tag == "aside":
        return not tokens(element) & _KEPT_ASIDES
    if element.get("role", "") in _ROLES:
        return True
    if element.tag not in _PRUNED or not element.attrib:
        return False
    if tokens(element) & _SIDE_CLASSES:
        return True
    return element.tag not in _KEPT_TAGS and (
        _SIDE_ID.fullmatch(element.get("id", "").lower()) is not None
        or any(map(_SIDE_CLASS.fullmatch, tokens(element)))
    )


# --- articles ----------------------------------------------------------------------------------


def _choose(body: Element) -> dict[_Place, str]:
    """Return the texts that trafilatura chose, by their place."""
    from trafilatura import bare_extraction  # noqa: PLC0415 - 300 ms, and of the extra `fetch`

    copy = deepcopy(body.getroottree().getroot())
    marked = _mark(body, copy.find("body"))
    _flatten(copy)
    found = bare_extraction(copy, include_comments=False, with_metadata=False)
    text = "" if found is None or isinstance(found, dict) else found.text or ""
    return {marked[mark][0]: marked[mark][1] for mark in _MARK.findall(text) if mark in marked}


def _flatten(copy: Element) -> None:
    """Make one list of very many lists in lists, which cost the library quadratic time."""
    nested = [each for each in copy.iter("ul", "ol", "dl") if each.getparent().tag in _ITEMS]
    if len(nested) > _MOST_NESTED:
        for each in nested:
            each.tag = "span"
            for item in each.iterchildren(*_ITEMS):
                item.tag = "span"


def _mark(body: Element, copy: Element) -> dict[str, tuple[_Place, str]]:
    marked: dict[str, tuple[_Place, str]] = {}
    numbers = count()
    for ours, theirs in zip(body.iter("*"), copy.iter("*"), strict=True):
        for name in _SPANS & set(theirs.attrib):
            del theirs.attrib[name]  # the library fills in the cells, at any number
        for name, value in theirs.attrib.items():
            if len(value) > _LONGEST_ATTRIBUTE:
                theirs.set(name, value[:_LONGEST_ATTRIBUTE])
        for side in ("text", "tail"):
            text = getattr(ours, side)
            if text and not text.isspace():
                mark = _pattern(next(numbers))
                marked[mark] = ((ours, side), text)
                setattr(theirs, side, _put_before(mark, text))
    return marked


def _pattern(number: int) -> str:
    return "".join(chr(0x2800 + (number >> shift & 255)) for shift in (16, 8, 0))


def _put_before(mark: str, text: str) -> str:
    text = _BRAILLE.sub("", settable(text))
    bare = text.lstrip()
    return f"{text[: len(text) - len(bare)]}{mark}{bare}"


def _keep(body: Element, chosen: frozenset[_Place]) -> None:
    """Drop what was not chosen, but for code and pictures among it and signs within a sentence."""
    sentences = {each.getparent() if side == "tail" else each for each, side in chosen}
    alive = set[Element]()  # what holds something that was chosen, at any depth
    for each in sentences:
        while each is not None and each not in alive:
            alive.add(each)
            each = each.getparent()  # noqa: PLW2901
    left, kept = len(chosen), set[Element]()
    for element in list(body.iter("*")):
        left -= ((element, "text") in chosen) + ((element, "tail") in chosen)
        parent = element.getparent()
        if element in alive:
            if element not in sentences:
                element.text = None
        elif parent in kept:
            kept.add(element)
            continue
        elif _belongs(element, parent in sentences, among=0 < left < len(chosen)):
            kept.add(element)
        else:
            drop(element)
        if parent is not None and parent not in sentences:
            element.tail = None


def _belongs(element: Element, in_sentence: bool, *, among: bool) -> bool:
    if in_sentence and element.tag in _INLINE:
        return True
    return among and (element.tag in _FILLED or _holds_only_a_picture(element))


def _holds_only_a_picture(element: Element) -> bool:
    if element.tag not in _FRAMES or len(element) > 1:
        return False
    return next(element.iter("img"), None) is not None and not length_of(element)
