"""Find the main part of a page: its article or its documentation, without navigation and footers.

For articles trafilatura chooses: it was the best library on article data sets. Its own text is not
used, since it loses code, links and tables. Instead each text node in a copy of the tree gets a
mark of three Braille patterns, which trafilatura keeps; the marks in its output identify the text
nodes that it chose.

Documentation marks its main part itself (`<main>`, `role=main`, the containers of the generators),
and trafilatura drops half of a reference. So the whole container is used there, and wherever
trafilatura keeps far less than the page shows.
"""

from __future__ import annotations

import re
from copy import deepcopy

from webtools._internal.pages.tree import (
    Element,
    drop,
    drop_all,
    length_of,
    names,
    settable,
    tokens,
)

_Place = tuple[Element, str]  # of a text node: the element, and `text` or `tail`

_MARK = re.compile("[\u2800-\u28ff]{3}")
_BRAILLE = re.compile("[\u2800-\u28ff]")
_LONGEST_ATTRIBUTE = 300  # characters of one that trafilatura gets
_MIN_SHARE = 0.15  # of the text of a page: less means that trafilatura found too little
_INLINE = frozenset(
    {"a", "b", "br", "code", "em", "i", "img", "kbd", "span", "strong", "sub", "sup"}
)
_ITEMS = ("li", "dd", "dt")
_MAX_NESTED = 200
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
_LARGE_SHARE = 0.5  # of a container's text: a part that large is content, whatever its name


def main_part(body: Element) -> Element:
    """Return the main part of a tree, and prune the tree to it."""
    if _is_technical(body):
        container = _container(body)
        _prune(container)
        return container
    chosen = _choose(body)
    size = sum(len(text.strip()) for text in chosen.values())
    if size < _MIN_SHARE * length_of(body):
        container = _container(deepcopy(body))
        drop_all([each for each in container.iter("*") if "comment" in names(each)])
        _prune(container)
        if size < _MIN_SHARE * length_of(container):
            return container
    _keep(body, frozenset(chosen))
    return body


# --- documentation -----------------------------------------------------------------------------


def _is_technical(body: Element) -> bool:
    """Return whether a page has code or was made by a documentation generator."""
    metas = body.getroottree().getroot().iter("meta")
    generators = (
        each.get("content", "") for each in metas if each.get("name", "").lower() == "generator"
    )
    by_generator = _GENERATORS.search(next(generators, "")[:200].lower()) is not None
    return by_generator or next(body.iter("pre"), None) is not None


def _container(body: Element) -> Element:
    """Return the element that a page marks as its main one, if it has most of the code."""
    codes = sum(1 for _ in body.iter("pre"))
    for path in _CONTAINERS:
        elements = body.findall(path)
        candidates = [each for each in elements if 2 * sum(1 for _ in each.iter("pre")) >= codes]
        if len(elements) == len(candidates) == 1 and length_of(elements[0]):
            return elements[0]
    return body


def _prune(container: Element) -> None:
    """Drop navigation, footers, forms and sidebars."""
    drop_all(container.iter(*_TAGS))
    size = length_of(container)
    for element in list(container.iter("*")):
        is_aside = element is not container and _is_aside(element)
        if is_aside and length_of(element) <= _LARGE_SHARE * size:
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
    """Return the text nodes that trafilatura chose, with their text."""
    from trafilatura import bare_extraction  # noqa: PLC0415 - of the extra `fetch`

    copy = deepcopy(body.getroottree().getroot())
    marked = _mark(body, copy.find("body"))
    _flatten(copy)
    document = bare_extraction(copy, include_comments=False, with_metadata=False)
    text = "" if document is None or isinstance(document, dict) else document.text or ""
    return {marked[mark][0]: marked[mark][1] for mark in _MARK.findall(text) if mark in marked}


def _flatten(copy: Element) -> None:
    """Flatten very many nested lists, which take trafilatura quadratic time."""
    nested = [each for each in copy.iter("ul", "ol", "dl") if each.getparent().tag in _ITEMS]
    if len(nested) > _MAX_NESTED:
        for each in nested:
            each.tag = "span"
            for item in each.iterchildren(*_ITEMS):
                item.tag = "span"


def _mark(body: Element, copy: Element) -> dict[str, tuple[_Place, str]]:
    """Put a mark before each text node in a copy; return the nodes by their marks."""
    marked: dict[str, tuple[_Place, str]] = {}
    for ours, theirs in zip(body.iter("*"), copy.iter("*"), strict=True):
        for name in _SPANS & set(theirs.attrib):
            del theirs.attrib[name]  # trafilatura adds a cell for each, without limit
        for name, value in theirs.attrib.items():
            if len(value) > _LONGEST_ATTRIBUTE:
                theirs.set(name, value[:_LONGEST_ATTRIBUTE])
        for side in ("text", "tail"):
            text = getattr(ours, side)
            if text and not text.isspace():
                number = len(marked)
                mark = "".join(chr(0x2800 + (number >> shift & 255)) for shift in (16, 8, 0))
                marked[mark] = ((ours, side), text)
                text = _BRAILLE.sub("", settable(text))
                bare = text.lstrip()
                setattr(theirs, side, f"{text[: len(text) - len(bare)]}{mark}{bare}")
    return marked


def _keep(body: Element, chosen: frozenset[_Place]) -> None:
    """Drop what was not chosen, except code and pictures among it and signs within a sentence."""
    sentences = {each.getparent() if side == "tail" else each for each, side in chosen}
    ancestors = set[Element]()  # elements with a chosen text at any depth
    for each in sentences:
        while each is not None and each not in ancestors:
            ancestors.add(each)
            each = each.getparent()  # noqa: PLW2901
    remaining, kept_elements = len(chosen), set[Element]()
    for element in list(body.iter("*")):
        remaining -= ((element, "text") in chosen) + ((element, "tail") in chosen)
        parent = element.getparent()
        if element in ancestors:
            if element not in sentences:
                element.text = None
        elif parent in kept_elements:
            kept_elements.add(element)
            continue
        elif _is_kept(element, parent in sentences, among=0 < remaining < len(chosen)):
            kept_elements.add(element)
        else:
            drop(element)
        if parent is not None and parent not in sentences:
            element.tail = None


def _is_kept(element: Element, in_sentence: bool, *, among: bool) -> bool:
    if in_sentence and element.tag in _INLINE:
        return True
    if not among or element.tag in _FILLED:
        return among
    # A frame with nothing but a picture.
    is_frame = element.tag in _FRAMES and len(element) <= 1
    return is_frame and next(element.iter("img"), None) is not None and not length_of(element)
