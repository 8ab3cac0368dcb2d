"""URLs in texts, and the comparison of a URL with those that were seen."""

from __future__ import annotations

import re
from collections.abc import Iterator

from webtools._internal.text.urls import parse, without_text_fragment
from webtools._internal.text.web_urls import is_web_url
from webtools.errors import InputError

_OTHERS = r"\s<>\"\\`|^{}\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f"  # characters beside URLs
_NOT_IN_URL = re.compile(f"[{_OTHERS}]")
_URL = re.compile(f"https?://[^{_OTHERS}]+", re.IGNORECASE)
_SITE = re.compile(  # a domain that a person writes without `https://`
    r"(?<![\w@.:/-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,5}[a-z]{2,24}(?![\w@-])"
    r"(?::\d{1,5}(?!\d))?(?:[/?#][^\s<>\"\\`|^{}]*)?",
    re.IGNORECASE,
)
_LONGEST = 8192  # characters of a URL
_PAIRS = {")": "(", "]": "[", "}": "{"}
_CLOSING = (")", "]")
_BRACKETS = (("(", ")"), ("[", "]"))
_TRAILING = ".,;:!?'*_~…·"
_AT_END = ' \t\r\n`*|">'  # what may follow the end of a text that was cut
_OMISSION = re.compile(r"""[_*~'",;:!?.|`]{0,4}?\s{0,4}[_*~'"|`]{0,4}[\[(]?(?:\.\.\.|…)""")
_OMISSIONS_IN_URL = ("…", "[...", "(...")
_LONGEST_OMISSION = 16  # characters


def key_of(url: str) -> str | None:
    """Return a key that is equal for spellings of one URL; None if it cannot be requested.

    Spellings differ in the case of the scheme and the host, an international host, the default
    port, what has to be escaped, and the fragment. Another path, query or host is another URL.
    """
    try:
        return parse(url).url
    except InputError:
        return None


def urls_in(text: str, *, from_person: bool = False, may_be_cut: bool = False) -> Iterator[str]:
    """Yield the URLs in a text, without the marks and the punctuation around them.

    Args:
        text: Plain text or Markdown.
        from_person: Whether to find domains without `https://`, too.
        may_be_cut: Whether the end of the text may be missing, or what `...` stands for. A URL
            there is left out: a caller could choose where it ends.
    """
    end = len(text.rstrip(_AT_END)) if may_be_cut else 0
    for match, url in _found(text):
        if may_be_cut and (
            match.end() >= end or _is_omission(text, match, url) or _has_broken_link(url)
        ):
            continue
        if is_web_url(url) and key_of(url):
            yield without_text_fragment(url)
    if from_person:
        for match in _SITE.finditer(_URL.sub(" ", text)):
            url = f"https://{_cut(match[0])}"
            if is_web_url(url) and key_of(url):
                yield url


def _found(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield what may be URLs, without what follows them; an empty one if it is too long."""
    place = 0
    while match := _URL.search(text, place):
        url = _cut(match[0]) if len(match[0]) <= _LONGEST else ""
        yield match, url
        # The target of a link around a picture follows the URL of the picture.
        is_closed = url and match[0][len(url) :].startswith(_CLOSING) and not _has_broken_link(url)
        place = match.start() + len(url) if is_closed else match.end()


def _is_omission(text: str, match: re.Match[str], url: str) -> bool:
    """Return whether a text says in a URL, or behind it, that something was left out."""
    behind = text[match.start() + len(url) : match.end() + _LONGEST_OMISSION]
    return bool(_OMISSION.match(behind)) or any(mark in match[0] for mark in _OMISSIONS_IN_URL)


def _has_broken_link(url: str) -> bool:
    """Return whether a URL has an open bracket or the middle of a link in Markdown.

    The end of a text that was cut has them behind a URL.
    """
    return "](" in url or any(
        url.count(opening) > url.count(closing) for opening, closing in _BRACKETS
    )


def without_cut_url(text: str) -> str:
    """Return a text that may have been cut without a URL at its end, unless a bracket closes it."""
    end = text.rstrip(_AT_END)
    *_, last = _NOT_IN_URL.split(end)
    match, url = next(reversed([*_found(last)]), (None, ""))
    if match is None or match.end() < len(last) or url != match[0].rstrip(_TRAILING):
        return text
    return end[: -len(match[0])]


def _cut(text: str) -> str:
    """End a URL before a bracket that it does not open, and before final punctuation."""
    opened: list[str] = []
    for place, character in enumerate(text):
        if character in "([{":
            opened.append(character)
        elif character in _PAIRS and (not opened or opened.pop() != _PAIRS[character]):
            text = text[:place]
            break
    return text.rstrip(_TRAILING)
