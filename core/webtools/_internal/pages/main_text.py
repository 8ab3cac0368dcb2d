"""Find the main part of a page: its article or its documentation, without navigation and footers.

Each element is measured once. Then parts are dropped from the top down: by landmark, by what they
hold (links, form fields), by repetition and by place. A name (a class or an id) says why a part
without prose is dropped; it never drops prose, nor a section with a heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from webtools._internal.pages.sizes import Size, Sizes, measure
from webtools._internal.pages.tables import is_layout
from webtools._internal.pages.tree import Element, LeftOut, text_of, tokens

_GENERATORS = re.compile(
    r"sphinx|docbook|asciidoc|rustdoc|mdbook|mkdocs|docusaurus|javadoc|doxygen|hugo-book|vitepress"
    r"|gitbook|pkgdown|pandoc|docutils|texinfo|texi2|makeinfo|yard|typedoc|jsdoc|antora|quarto"
    r"|jupyter|latex2html|latexml|publican|ex_?doc",
)
_WHOLE = frozenset({"pre", "figure", "math", "listing", "xmp", "dl"})
_NAMED_TAGS = frozenset(
    {"div", "section", "ul", "ol", "p", "aside", "header", "form", "span", "table", "article"}
)
_ROLES = {
    "navigation": "navigation", "menu": "navigation", "menubar": "navigation",
    "toolbar": "navigation", "search": "forms", "dialog": "forms", "alertdialog": "forms",
    "contentinfo": "footer", "complementary": "sidebar", "banner": "header",
}  # fmt: skip
_LANDMARKS = {
    "nav": "navigation", "menu": "navigation", "footer": "footer", "aside": "sidebar",
    "header": "header", "form": "forms", "search": "forms", "dialog": "forms",
}  # fmt: skip
_CALLOUTS = frozenset(
    {"note", "warning", "tip", "caution", "important", "danger", "admonition", "callout", "topic"}
    | {"footnote", "footnote-list", "footnotes", "alert", "info", "example", "hint", "quote"}
)
_REASONS_BY_NAME = {
    word: reason
    for reason, words in {
        "navigation": "nav navbar navigation navheader navfooter breadcrumb breadcrumbs crumbs menu"
        " toolbar pagination pager skiplink skiplinks skip share sharing shares social languages"
        " toplang bottomlang nosearch prevnext",
        "sidebar": "sidebar sidebars rail",
        "teasers": "related recommended recommendations recirculation promo promos promotion advert"
        " advertisement advertising ad ads sponsored outbrain taboola popular trending",
        "forms": "newsletter subscribe subscription signup cookie cookies consent gdpr login search"
        " searchbox feedback paywall popup modal",
        "header": "masthead topbar",
        "footer": "footer copyright colophon",
    }.items()
    for word in words.split()
}
_CLASSES = {
    "edit-this-page": "navigation", "edit-page": "navigation", "on-this-page": "navigation",
    "rst-versions": "navigation", "prev-next": "navigation", "out-of-band": "navigation",
    "notable-traits": "navigation", "tooltiptext": "navigation", "mw-editsection": "navigation",
    "mw-jump-link": "navigation", "widget": "sidebar", "widgets": "sidebar",
    "widget-area": "sidebar",
}  # fmt: skip
_COMMENTS = frozenset({"comments", "comment", "disqus", "replies", "respond", "commentlist"})
_FIELDS = frozenset({"button", "input", "select", "textarea", "label"})
_COMMENT_TAGS = frozenset({"div", "section", "ol", "ul", "li", "aside", "article", "form", "table"})
_MUCH_PROSE = 1000  # characters; with that much left, readers' comments are dropped
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CONTAINERS = (
    ".//*[@itemprop='articleBody']",
    ".//*[@role='main']",
    ".//main",
    ".//*[@id='main-content']",
    ".//*[@id='page-content']",
    ".//article",
)
# Without the shares, up to 1.0 less of the unwanted text remains; they are for pages whose prose is
# spread over several parts, which would lose all but one.
_MAIN_SHARE = 0.5  # of the prose: a declared container with less is not the main part
_PROSE_SHARE, _TEXT_SHARE = 0.85, 0.7  # of the smallest element that is taken for the article
_LONGEST_TEASER = 400  # characters of prose below a linked heading; without: unwanted +0.2
_SHORT = 60  # characters; with 0: unwanted +1.0
_MIN_ALIKE = 3  # teasers, links of a list; with 1: gold kept -5.5


@dataclass(frozen=True, slots=True)
class _Page:
    """What the rules need to know of a page.

    Attributes:
        sizes: The sizes of all elements; those of dropped parts are subtracted.
        title: The heading that is the page's title, and its ancestors.
        is_technical: Whether it has code or was made by a documentation generator.
        prose: Characters of prose in the whole page.
        left_out: Counts what is dropped.
    """

    sizes: Sizes
    title: frozenset[Element]
    is_technical: bool
    prose: int
    left_out: LeftOut

    def drop(self, element: Element, reason: str) -> Size:
        """Drop an element; return the size that its ancestors lose."""
        self.left_out.drop(element, reason)
        size = self.sizes[element]
        self.sizes[element] = Size()
        return size


def main_part(body: Element, title: str, left_out: LeftOut) -> tuple[Element, float]:
    """Prune a tree to its main part; return that, and the share of the prose that it has."""
    sizes = measure(body)
    heading = _title_heading(body, title)
    above = [] if heading is None else [heading, *heading.iterancestors()]
    page = _Page(sizes, frozenset(above), _is_technical(body), sizes[body].prose, left_out)
    _prune(body, page, in_article=False)
    _drop_comments(body, page)
    container = _container(body, page)
    _drop_outside(container, body, page)
    if not page.is_technical:
        _drop_together(list(_teasers(container, page)), container, page, "teasers")
        _drop_before_title(container, page)
        if page.sizes[container].prose:  # an index without prose is its list
            _drop_lists(container, page)
        if sizes[container].prose >= _MUCH_PROSE:  # without this: gold kept -0.4
            _drop_end(container, page)
    return container, sizes[container].prose / page.prose if page.prose else 1.0


def _is_technical(body: Element) -> bool:
    """Return whether a page has code or was made by a documentation generator."""
    metas = body.getroottree().getroot().iter("meta")
    generators = (
        each.get("content", "") for each in metas if each.get("name", "").lower() == "generator"
    )
    by_generator = _GENERATORS.search(next(generators, "")[:200].lower()) is not None
    return by_generator or next(body.iter("pre"), None) is not None


def _title_heading(body: Element, title: str) -> Element | None:
    """Return the first heading that the title of the page has too, else its first h1."""
    folded = " ".join(title.casefold().split())
    for heading in body.iter("h1", "h2"):
        text = " ".join(text_of(heading).casefold().split()).rstrip("¶#§ ")
        # Without the length: no difference. Short headings occur in any title.
        if len(text) > 3 and text in folded:  # noqa: PLR2004
            return heading
    return next((each for each in body.iter("h1") if text_of(each).strip()), None)


# --- by landmark and by name -----------------------------------------------------------------


def _prune(element: Element, page: _Page, *, in_article: bool) -> None:
    """Drop parts that are not content, from the top down."""
    size = page.sizes[element]
    in_article = in_article or element.tag in {"article", "main"}
    for child in element:
        before = page.sizes[child]
        if reason := _reason(child, before, page, in_article=in_article):
            size.add(page.drop(child, reason), -1)
        elif child.tag not in _WHOLE and (child.tag != "table" or is_layout(child)):
            parts = Size()
            parts.add(before)
            _prune(child, page, in_article=in_article)
            parts.add(page.sizes[child], -1)
            size.add(parts, -1)


def _reason(element: Element, size: Size, page: _Page, *, in_article: bool) -> str:
    """Return why an element is dropped, or ""."""
    if element.tag in _FIELDS:
        return "" if _is_kept_field(element) else "forms"
    if 2 * size.prose > page.prose > 0:  # without this: scrapinghub F1 -6.1
        return ""
    reason = _ROLES.get(element.get("role", "").lower()) or _LANDMARKS.get(element.tag, "")
    if reason and _is_landmark(element, reason, size, page, in_article=in_article):
        return reason
    is_candidate = element.tag in _NAMED_TAGS and element not in page.title
    return _named_reason(element) if is_candidate and _may_be_named(size, page) else ""


def _may_be_named(size: Size, page: _Page) -> bool:
    """Return whether a part may be dropped by its name: it is neither prose nor a section."""
    if size.is_headed_text or size.code:
        return False
    if page.is_technical:
        # Without the links: no difference. It keeps names of code.
        return not size.prose and 2 * size.linked > size.text
    return size.fields > 0 or not size.is_prose


def _is_landmark(
    element: Element, reason: str, size: Size, page: _Page, *, in_article: bool
) -> bool:
    if reason in {"footer", "sidebar"}:
        is_callout = reason == "sidebar" and bool(tokens(element) & _CALLOUTS)
        return not is_callout and not (in_article and size.is_prose and not size.fields)
    if reason == "header":
        return not in_article and element not in page.title
    if reason == "forms" and element.tag == "form":
        # Without the prose: unwanted -0.3. It keeps pages that are inside a form.
        return size.fields > 0 and 2 * size.prose < size.text and not size.code
    return True


def _labels(element: Element) -> list[str]:
    """Return the classes and the id of an element; an id with a dot is a name of code."""
    name = element.get("id", "")[:100]
    return [*element.get("class", "")[:300].split(), *([] if "." in name else [name])]


def _named_reason(element: Element) -> str:
    """Return the reason that the first or last word of a class or of the id gives, or ""."""
    for token in _labels(element):
        if reason := _CLASSES.get(token.lower()):
            return reason
        words = _WORDS.findall(token)
        for word in (words[0], words[-1]) if words else ():
            if reason := _REASONS_BY_NAME.get(word.lower()):
                return reason
    return ""


def _is_kept_field(element: Element) -> bool:
    """Return whether a field or a button is text: a label of a tab, a box of a task."""
    parent = element.getparent()
    match element.tag:
        case "input":
            return element.get("type", "").lower() == "checkbox" and parent.tag in {
                "li",
                "p",
                "label",
            }
        case "textarea":
            return "readonly" in element.attrib
        case "label":
            return next(element.iterancestors("form"), None) is None
        case "button":
            names = {"aria-expanded", "aria-controls"} & set(element.attrib)
            in_text = bool((element.tail or "").strip()) or bool((parent.text or "").strip())
            in_heading = next(element.iterancestors("h1", "h2", "h3", "h4", "h5", "h6"), None)
            is_text = names or in_heading is not None or element.get("role") == "tab" or in_text
            return bool(is_text and text_of(element).strip())  # not an icon
    return False


# --- comments --------------------------------------------------------------------------------


def _drop_comments(body: Element, page: _Page) -> None:
    """Drop readers' comments below an article; a thread stays."""
    _drop_together(list(_comments(body, page)), body, page, "comments")


def _drop_together(parts: list[Element], whole: Element, page: _Page, reason: str) -> None:
    """Drop parts of a kind, if much prose remains or more than they have.

    Without the condition: gold kept +1.0, unwanted +2.0, scrapinghub F1 -2.4.
    """
    size, total = Size(), page.sizes[whole]
    for each in parts:
        size.add(page.sizes[each])
    is_little = size.prose < total.prose - size.prose and size.text < total.text - size.text
    if is_little or total.prose - size.prose >= _MUCH_PROSE:
        for each in parts:
            _drop_in(each, page, reason)


def _comments(element: Element, page: _Page) -> Iterator[Element]:
    for child in element:
        if child.tag in _COMMENT_TAGS and _is_comments(child, page):
            yield child
        elif child.tag not in _WHOLE:
            yield from _comments(child, page)


def _is_comments(element: Element, page: _Page) -> bool:
    size = page.sizes[element]
    for token in _labels(element):
        words = [word.lower() for word in _WORDS.findall(token)]
        if words and _COMMENTS & {words[0], words[-1]}:
            is_section = size.is_headed_text and element.find(".//li") is None
            return not (is_section or (page.is_technical and size.is_headed_text))
    return False


def _drop_in(element: Element, page: _Page, reason: str) -> None:
    ancestors = list(element.iterancestors())
    size = page.drop(element, reason)
    for each in ancestors:
        if each in page.sizes:
            page.sizes[each].add(size, -1)


# --- container -------------------------------------------------------------------------------


def _container(body: Element, page: _Page) -> Element:
    """Return the element that a page marks as its main one, or the smallest with most text."""
    sizes, total = page.sizes, page.sizes[body]
    for path in _CONTAINERS:
        elements = [each for each in body.findall(path) if sizes[each].text]
        if len(elements) == 1:
            size = sizes[elements[0]]
            has_code = 2 * size.code >= total.code
            # Without the code: no difference. It keeps code beside the prose.
            if has_code and size.prose >= _MAIN_SHARE * total.prose:
                return elements[0]
    if page.is_technical or not total.prose:
        return body
    container, unlinked = body, total.text - total.linked
    while True:
        fitting = [
            each
            for each in container
            if sizes[each].prose >= _PROSE_SHARE * total.prose
            and sizes[each].text - sizes[each].linked >= _TEXT_SHARE * unlinked
            and (each in page.title or not page.title)  # without this: gold kept -1.0
        ]
        if (
            len(fitting) != 1
            or fitting[0].tag in _WHOLE
            or fitting[0].tag in {"table", "tbody", "tr", "p"}
        ):
            return container
        container = fitting[0]


def _drop_outside(container: Element, body: Element, page: _Page) -> None:
    """Count what is outside the container."""
    element = container
    while element is not body:
        parent = element.getparent()
        for sibling in parent:
            if sibling is not element:
                page.left_out.count(sibling, "outside")
        element = parent


# --- by place and repetition -----------------------------------------------------------------
# For articles only. On 2,951 snippets of trafilatura's evaluation, teasers and what is after the
# last prose lower the unwanted ones from .291 to .239 and the wanted ones from .977 to .974; they
# raise F1 from .929 to .941 (readability) and from .899 to .908 (scrapinghub).


def _drop_before_title(container: Element, page: _Page) -> None:
    """Drop short parts before the title."""
    element = next(
        (each for each in page.title if each in page.sizes and each.getparent() is container), None
    )
    while element is not None:
        for sibling in list(element.itersiblings(preceding=True)):
            size = page.sizes[sibling]
            if (
                size.text
                and not size.prose
                and sibling.tag not in _WHOLE
                and sibling.tag != "table"
            ):
                _drop_in(sibling, page, "header")
        element = next((each for each in element if each in page.title), None)


def _teasers(element: Element, page: _Page) -> Iterator[Element]:
    """Yield the parts that are series of teasers: linked headings, each with little text."""
    for child in element:
        size = page.sizes[child]
        if (
            size.teasers >= _MIN_ALIKE
            and size.headings - size.teasers <= 1  # without this: readability F1 -0.1
            and size.prose < _LONGEST_TEASER * size.teasers
            and child not in page.title
        ):
            yield child
        elif size.teasers >= _MIN_ALIKE:
            yield from _teasers(child, page)


def _drop_end(container: Element, page: _Page) -> None:
    """Drop short parts and links after the last prose."""
    for child in reversed(list(container)):
        size = page.sizes[child]
        if (
            size.prose
            or size.code
            or size.wholes
            or child.tag in _WHOLE
            or (child.tail or "").strip()
        ):
            if child.tag not in _WHOLE and child.tag not in {"p", "table", "ul", "ol"}:
                _drop_end(child, page)
            return
        is_short = size.text < _SHORT and child.tag not in {"ul", "ol", "table"}
        # Without the rule on links: unwanted +0.7, scrapinghub F1 -0.3.
        if size.text and (is_short or 2 * size.linked > size.text):
            _drop_in(child, page, "footer")


def _drop_lists(container: Element, page: _Page) -> None:
    """Drop teasers and lists of links, unless prose is before and after them."""
    children = list(container)
    sizes = [page.sizes[each] for each in children]
    after = sum(size.prose for size in sizes)
    before = 0
    for child, size in zip(children, sizes, strict=True):
        after -= size.prose
        if child.tag in _WHOLE or (child.tag == "table" and not is_layout(child)):
            pass
        elif _is_links(child, size) and not (before and after):
            _drop_in(child, page, "lists")
        elif len(child):
            _drop_lists(child, page)
        before += size.prose


def _is_links(element: Element, size: Size) -> bool:
    return (
        size.links >= _MIN_ALIKE
        and not size.prose
        and not size.code
        and not size.wholes
        and 2 * size.linked > size.text  # without this: gold kept -1.0
        and element.tag not in {"h1", "h2", "h3", "table"}
    )
