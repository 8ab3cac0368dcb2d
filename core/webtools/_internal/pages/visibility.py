"""Drop text that a page hides from its readers by its markup, but not what only a script shows.

Style sheets are not read: text that only they hide counts as visible, and white text counts as
hidden only if the markup sets its background too, or the page has no style sheet. A reader can open
a closed `details` or another tab of the page, so that text stays. So does text that pages show
with a script: parts that React streams, panels of tabs, and large parts that fade in.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from webtools._internal.pages.styles import (
    are_same,
    background,
    color_of,
    is_faded,
    is_hiding,
    text_color,
)
from webtools._internal.pages.tree import (
    Element,
    LeftOut,
    classes_in,
    drop,
    drop_all,
    length_of,
    tokens,
)

_NEVER_SHOWN = frozenset(
    {"template", "datalist", "object", "iframe", "canvas", "audio", "video", "noframes", "noembed"}
    | {"meter", "progress"}
    | {"mphantom", "rt", "rp", "rtc"}
)
_ROOTS = frozenset({"html", "body", "head"})  # some sites hide them until a script has run
_HIDDEN_CLASSES = frozenset(
    {"sr-only", "visually-hidden", "visuallyhidden", "is-visually-hidden", "u-visually-hidden"}
    | {"screen-reader-text", "screen-reader-only", "screenreader-only", "screenreader"}
    | {"offscreen", "off-screen", "element-invisible", "hidden-visually", "assistive-text"}
    | {"visually-hidden-focusable", "sr-only-focusable", "show-for-sr", "a11y-only", "a11y-hidden"}
)
# Without these two, nothing else is kept or unwanted in the sets, and readability F1 is 0.6 better
# without revealed text. They keep pages whose text a script fades in or labels.
_LONGEST_LABEL = 400  # characters of text for screen readers; more is content
_FADED_SHARE = 0.2  # of a page's text: a smaller part that is transparent stays hidden
_MAX_SUBSTITUTE = 200  # siblings that React's substitute for a streamed part may have
_STREAM_END = "/$"
_NO_PANELS = frozenset(
    {"dialog", "alertdialog", "menu", "menubar", "listbox", "navigation", "tooltip"}
)
_WHITE = (255, 255, 255)


def drop_invisible(root: Element, left_out: LeftOut) -> None:
    """Drop invisible elements from the tree, after revealing what a script would show."""
    _reveal_streams(root, left_out)
    for element in root.findall("body//title"):  # shown in the tab of the browser at best
        left_out.drop(element, "hidden")
    _reveal_noscript(root, left_out)
    links = root.iter("link")
    has_style_sheet = any("stylesheet" in each.get("rel", "").lower() for each in links)
    is_white = not has_style_sheet and next(root.iter("style"), None) is None
    drop_all(root.iter("style"))
    faded_elements: list[Element] = []
    panels = _panel_ids(root)
    for element in list(root.iter("*")):
        attributes = dict(element.items())
        _reveal_script(element, attributes, left_out)
        if attributes and _is_camouflaged(element, is_white):
            left_out.drop(element, "hidden")
        elif not is_hidden(element.tag, attributes):
            continue
        elif _is_panel(element, panels) or _is_long_label(element):
            left_out.count(element, "revealed")
        elif is_faded(element.get("style", "")) and not is_hiding(element.get("style", "")):
            faded_elements.append(element)
        else:
            left_out.drop(element, "hidden")
    _drop_faded(root, faded_elements, left_out)


def _drop_faded(root: Element, faded_elements: list[Element], left_out: LeftOut) -> None:
    """Drop what is transparent, unless it is a large part of the page."""
    if not faded_elements:
        return
    all_faded = set(faded_elements)
    faded = sum(length_of(e) for e in faded_elements if all_faded.isdisjoint(e.iterancestors()))
    reason = "revealed" if faded > _FADED_SHARE * length_of(root) else "hidden"
    for element in faded_elements:
        left_out.count(element, reason)
        if reason == "hidden":
            drop(element)


def is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether an element's own markup hides it, except by colour."""
    if tag in _NEVER_SHOWN and "shadowrootmode" not in attributes:
        return True
    if tag == "dialog" and "open" not in attributes:
        return True
    if not attributes or tag in _ROOTS:
        return False
    if attributes.get("hidden", "until-found").lower() != "until-found" or "popover" in attributes:
        return True
    if not _HIDDEN_CLASSES.isdisjoint(classes_in(attributes.get("class", ""))):
        return True
    style = attributes.get("style")
    return style is not None and (is_faded(style) or is_hiding(style))


def _is_camouflaged(element: Element, white_page: bool) -> bool:
    """Return whether a text has the colour of its background."""
    if element.tag == "font":
        color = color_of(element.get("color", "")) if element.get("color") else None
    elif (style := element.get("style")) and ("olor" in style.lower() or "\\" in style):
        color = text_color(element.attrib)
    else:
        return False
    if color is None:
        return False
    for ancestor in (element, *element.iterancestors()):
        behind = background(ancestor.attrib)
        if behind is not None:
            return are_same(color, behind)
    return white_page and are_same(color, _WHITE)


# --- what a script would show --------------------------------------------------------------------


def _reveal_streams(root: Element, left_out: LeftOut) -> None:
    """Move the parts that React streamed to their places, as its script does.

    A part is `<div hidden id="S:1">`. Its place is `<template id="P:1">`, or `<template id="B:1">`
    with a substitute behind it, which ends at the comment `/$`.
    """
    places = {each.get("id", ""): each for each in root.iter("template")}
    for part in [each for each in root.iter("div") if each.get("id", "")[:2] == "S:"]:
        name = part.get("id")[2:]
        place = places.get(f"B:{name}", places.get(f"P:{name}"))
        if place is None or "hidden" not in part.attrib or part in place.iterancestors():
            continue
        del part.attrib["hidden"]
        left_out.count(part, "revealed")
        siblings = place.itersiblings() if place.get("id", "").startswith("B:") else ()
        substitute = list(islice(siblings, _MAX_SUBSTITUTE))
        ends = [n for n, each in enumerate(substitute) if _is_comment(each, _STREAM_END)]
        if ends:
            place.tail = None
            for each in substitute[: ends[0]]:
                each.clear()
                each.tail = None
        if part.tail:
            part.addprevious(part.makeelement("wbr"))
            part.getprevious().tail, part.tail = part.tail, None
        place.addprevious(part)


def _reveal_script(element: Element, attributes: Mapping[str, str], left_out: LeftOut) -> None:
    """Count a shadow root or a formula, which a script or the browser shows."""
    is_root = "shadowrootmode" in attributes
    if is_root:
        element.tag = "div"
    if is_root or attributes.get("type", "").strip().lower().startswith("math/tex"):
        left_out.count(element, "revealed")


def _is_comment(node: Element, text: str) -> bool:
    return not isinstance(node.tag, str) and (node.text or "").strip() == text


def _reveal_noscript(root: Element, left_out: LeftOut) -> None:
    """Unwrap `noscript` elements that have more text than the rest. Without: gold kept -0.4."""
    body = root.find("body")
    elements = [] if body is None else list(body.iter("noscript"))
    # Some parsers, and pages that escape twice, have markup as text.
    texts = [text for each in elements for text in each.itertext() if "<" not in text]
    length = sum(len(text.strip()) for text in texts)
    if not length or length <= length_of(body) - sum(map(length_of, elements)):
        for each in elements:
            left_out.drop(each, "hidden")
        drop_all(root.iter("noscript"))
        return
    for each in elements:
        left_out.count(each, "revealed")
        each.tag = "div"


def _panel_ids(root: Element) -> set[str]:
    """Return the ids of elements that a button or a tab shows."""
    return {name for value in root.xpath("//@aria-controls") for name in value[:500].split()}


def _is_panel(element: Element, panel_ids: set[str]) -> bool:
    """Return whether an element is hidden only until a reader chooses its tab or button."""
    role = element.get("role", "").lower()
    is_named = role == "tabpanel" or element.get("id") in panel_ids
    if not is_named or role in _NO_PANELS or element.tag in {"nav", "dialog", "menu", "template"}:
        return False
    if any(each.tag == "nav" or each.get("role") in _NO_PANELS for each in element.iterancestors()):
        return False
    style = element.get("style", "")
    is_hidden_otherwise = is_faded(style) or is_hiding(style, ignored="display")
    return not is_hidden_otherwise and not tokens(element) & _HIDDEN_CLASSES


def _is_long_label(element: Element) -> bool:
    """Return whether a text for screen readers is too long for a label."""
    bare = {name: value for name, value in element.attrib.items() if name != "class"}
    is_label = bool(tokens(element) & _HIDDEN_CLASSES) and not is_hidden(element.tag, bare)
    return is_label and length_of(element) > _LONGEST_LABEL
