"""Drop text that a page hides from its readers, by its markup alone.

Style sheets are not read: text that only they hide counts as visible, and white text counts as
hidden only if the markup sets its background too, or the page has no style sheet. A reader can open
a closed `details` or another tab of the page, so that text stays, unless it is marked `hidden`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from webtools._internal.pages.tree import Element, drop, drop_all, length_of

_NEVER_SHOWN = ("template", "datalist", "object", "iframe", "canvas", "audio", "video")
_ROOTS = frozenset({"html", "body", "head"})  # some sites hide them until a script has run
_HIDDEN_CLASSES = frozenset(
    {"sr-only", "visually-hidden", "visuallyhidden", "is-visually-hidden", "u-visually-hidden"}
    | {"screen-reader-text", "screen-reader-only", "screenreader-only", "screenreader"}
    | {"offscreen", "off-screen", "element-invisible", "hidden-visually", "assistive-text"}
    | {"visually-hidden-focusable", "sr-only-focusable", "show-for-sr", "a11y-only", "a11y-hidden"}
)
_LONGEST_STYLE = 2000  # characters of a style attribute
_BLANKS = re.compile(r"/\*.{0,200}?\*/|\s+", re.DOTALL)
_NUMBER = r"[+]?(?:0++(?:\.0*+)?|\.0++)"
_SIZE = r"(?:px|pt|r?em|ex|ch|%|vw|vh)?"
_END = r"(?:!important)?(?:;|$)"
_HIDDEN_STYLE = re.compile(
    rf"(?:^|;)(?:display:none{_END}|visibility:(?:hidden|collapse){_END}"
    rf"|opacity:(?:{_NUMBER}|0?\.0\d*)%?{_END}|font-size:(?:{_NUMBER}{_SIZE}|(?:1|0?\.\d+)p[xt]){_END}"
    rf"|color:(?:transparent|rgba\(\d+,\d+,\d+,{_NUMBER}\)|#[0-9a-f]{{6}}00|#[0-9a-f]{{3}}0){_END}"
    rf"|text-indent:-\d{{3,}}|clip:rect\((?:[01](?:px)?,?){{4}}\)"
    rf"|clip-path:inset\((?:50|100)%|transform:scale[xy]?\(0[,)]"
    rf"|content-visibility:hidden{_END})"
)
_OFF_SCREEN = re.compile(
    r"(?:^|;)(?:left|right|top|bottom|margin-left|margin-top):-(?:\d{4}|999|\d{3,}r?em|100v[wh])"
    r"|transform:translate[xy]?\(-(?:\d{4,}px|\d{3,}%,)"
)
_POSITIONED = re.compile(r"(?:^|;)(?:position:(?:absolute|fixed)|margin|transform)")
_FLAT = re.compile(r"(?:^|;)(?:max-)?(?:height|width):[01](?:px)?;")
_COLOR = re.compile(r"(?:^|;)color:([^;!]{1,40})")
_BACKGROUND = re.compile(r"(?:^|;)background(?:-color)?:([^;!]{1,40})")
_WHITE = frozenset(
    {"white", "#fff", "#ffffff", "rgb(255,255,255)", "rgba(255,255,255,1)", "snow", "#fefefe"}
)


def drop_invisible(root: Element) -> int:
    """Drop invisible elements from the tree; return the length of their text."""
    links = root.iter("link")
    has_style_sheet = any("stylesheet" in each.get("rel", "").lower() for each in links)
    is_white = not has_style_sheet and next(root.iter("style"), None) is None
    drop_all(root.iter("style"))
    length = 0
    for element in list(root.iter("*")):
        if is_hidden(element.tag, element.attrib) or _is_camouflaged(element, is_white):
            length += length_of(element)
            drop(element)
    return length


def is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether an element's own markup hides it, except by colour."""
    if tag in _NEVER_SHOWN or (tag == "dialog" and "open" not in attributes):
        return True
    if not attributes or tag in _ROOTS:
        return False
    if attributes.get("hidden", "until-found").lower() != "until-found":
        return True
    if _HIDDEN_CLASSES.intersection(attributes.get("class", "")[:500].lower().split()):
        return True
    return "style" in attributes and _hides(_style(attributes))


def _hides(style: str) -> bool:
    if _HIDDEN_STYLE.search(style) or (_OFF_SCREEN.search(style) and _POSITIONED.search(style)):
        return True
    return "overflow:hidden" in style and _FLAT.search(f"{style};") is not None


def _is_camouflaged(element: Element, white_page: bool) -> bool:
    """Return whether a text has the colour of its background."""
    if element.tag == "font" and white_page and _color(element.get("color", "")) == "white":
        return True
    if "olor" not in element.get("style", ""):
        return False
    color = _COLOR.search(_style(element.attrib))
    return color is not None and _color(color[1]) == _background(element, white_page)


def _background(element: Element, white_page: bool) -> str:
    for ancestor in (element, *element.iterancestors()):
        style = _BACKGROUND.search(_style(ancestor.attrib)) if ancestor.get("style") else None
        if background := style[1] if style else ancestor.get("bgcolor"):
            return _color(background)
    return "white" if white_page else ""


def _color(text: str) -> str:
    text = _BLANKS.sub("", text.lower())
    return "white" if text in _WHITE else "black" if text in {"#000", "#000000"} else text


def _style(attributes: Mapping[str, str]) -> str:
    return _BLANKS.sub("", attributes.get("style", "")[:_LONGEST_STYLE].lower())
