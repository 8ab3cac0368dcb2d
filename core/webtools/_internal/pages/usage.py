"""What a site allows programs to do with a page: in robots.txt, in headers and in the markup.

These conventions are read: `Content-Signal` (https://contentsignals.org), `Content-Usage` (drafts
of the IETF's AIPREF group), the licences of RSL (https://rslstandard.org), the headers and meta
elements of TDMRep (https://www.w3.org/community/tdmrep), and the tokens `noai` and `noimageai`.
What a site does not say is neither allowed nor refused, and a value that is unknown counts as not
said. `/.well-known/tdmrep.json` is not read, because it would cost another request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias, get_args
from urllib.parse import unquote, urljoin, urlsplit

from webtools._internal.text.web_urls import is_web_url

Usage: TypeAlias = dict[str, str]
"""The preferences by name, and `from`: where they are from."""
Respect: TypeAlias = Literal["ignore", "warn", "obey"]
RESPECTS: tuple[Respect, ...] = get_args(Respect)

FROM = "from"
AI_INPUT = "ai-input"
AI_INPUT_REFUSED = "ai_input_refused"
RSL = "application/rsl+xml"
_CATEGORIES = {
    **{name: name for name in ("search", AI_INPUT, "ai-train")},
    "train-ai": "ai-train",  # its name in `Content-Usage`
}
_YES = frozenset({"yes", "y", "allow", "allowed", "true", "?1", "1"})
_NO = frozenset({"no", "n", "disallow", "disallowed", "false", "?0", "0"})
_EXTENTS = frozenset({"immediate", "reference", "full"})
_NO_AI = ("noai", "noimageai")
_LONGEST = 2000  # characters of a header or a line
_LONGEST_URL = 500
_LINK = re.compile(
    r"<([^<>]{0,2000})>((?:\s{0,9};\s{0,9}[\w*-]{1,40}"
    r"(?:\s{0,9}=\s{0,9}(?:\"[^\"]{0,500}\"|[^\s;,\"]{0,500}))?){0,20})"
)
_PARAMETER = re.compile(r";\s*([\w*-]+)\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"]*))")
_ROBOTS_LINE = re.compile(r"\s*(content-signal|content-usage|license)\s*:(.*)", re.IGNORECASE)


class Link(NamedTuple):
    """A link of a page to another resource.

    Attributes:
        relations: Its relations to the page, in lower case.
        type: Media type in lower case; "" if unknown.
        target: URL, perhaps a relative one.
    """

    relations: frozenset[str]
    type: str
    target: str


def link_of(relations: str, media_type: str, target: str) -> Link:
    """Return the link with these attributes."""
    words = frozenset(relations[:_LONGEST].lower().split())
    return Link(words, media_type.partition(";")[0].strip().lower(), target.strip())


def links_of(header: str) -> Iterator[Link]:
    """Yield the links of a `Link` header."""
    for target, text in _LINK.findall(header[: 4 * _LONGEST]):
        parameters: list[tuple[str, str, str]] = _PARAMETER.findall(text)
        values = {name.lower(): quoted or word for name, quoted, word in parameters}
        yield link_of(values.get("rel", ""), values.get("type", ""), target)


def merge(*usages: Usage) -> Usage:
    """Return what several places say. The stricter one wins."""
    merged: Usage = {}
    for usage in usages:
        for name, value in usage.items():
            if name == FROM:
                sources = dict.fromkeys([*filter(None, merged.get(FROM, "").split(", ")), value])
                merged[FROM] = ", ".join(sources)
            elif value == "no" or name not in merged:
                merged[name] = value
    return merged


def of_headers(headers: Mapping[str, str], url: str) -> Usage:
    """Return what the headers of a response say about the page at `url`."""
    fields = [headers.get(name, "")[:_LONGEST] for name in ("content-signal", "content-usage")]
    usage = merge(*map(_preferences, fields))
    links = links_of(headers.get("link", ""))
    usage |= _declared(headers, headers.get("x-robots-tag", ""), links, url)
    return _with_source(usage, "response header")


def of_markup(meta: Mapping[str, str], links: Iterable[Link], url: str) -> Usage:
    """Return what the meta and link elements of a page say."""
    return _with_source(_declared(meta, meta.get("robots", ""), links, url), "page")


def of_robots(group: Iterable[str], text: str, url: str) -> Usage:
    """Return what a robots.txt says about a page.

    Args:
        group: The lines of the group for this program.
        text: The whole file.
        url: The page.
    """
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    usage: Usage = {}
    rules: dict[int, Usage] = {}  # of `Content-Usage`, by the length of the path
    for name, value in _robots_lines(group):
        if name == "content-signal":
            usage = merge(usage, _preferences(value))
        elif name == "content-usage":
            pattern, _, rest = value.partition(" ") if value.startswith("/") else ("", "", value)
            if _matches(pattern, path):
                rules[len(pattern)] = merge(rules.get(len(pattern), {}), _preferences(rest))
    longest: Usage = {}
    for length in sorted(rules):
        longest |= rules[length]
    usage = merge(usage, longest)
    for name, value in _robots_lines(text.splitlines()):
        if name == "license" and is_web_url(value[:_LONGEST_URL]):
            usage.setdefault("license", value[:_LONGEST_URL])
    return _with_source(usage, "robots.txt")


def warning_of(usage: Usage) -> str:
    """Return a clause for a page that models should not read, or ""."""
    if usage.get(AI_INPUT) != "no":
        return ""
    return f"the site asks that AI models do not use this page as input ({usage[FROM]})"


def _with_source(usage: Usage, source: str) -> Usage:
    return {**usage, FROM: source} if usage else {}


def _preferences(text: str) -> Usage:
    """Read `name=value` pairs. Other names and values are left out."""
    usage: Usage = {}
    for pair in re.split("[,;]", text[:_LONGEST]):
        name, _, value = (part.strip(' \t"').lower() for part in pair.partition("="))
        if category := _CATEGORIES.get(name):
            verdict = "no" if value in _NO else "yes" if value in _YES else ""
            usage = merge(usage, {category: verdict}) if verdict else usage
        elif name == "use" and value in _EXTENTS:
            usage.setdefault("use", value)
    return usage


def _declared(fields: Mapping[str, str], robots: str, links: Iterable[Link], url: str) -> Usage:
    """Read what headers and markup have in common: TDMRep, `noai`, and links to licences."""
    usage: Usage = {}
    if (reservation := fields.get("tdm-reservation", "").strip()) in {"0", "1"}:
        usage["tdm-reservation"] = reservation
        if policy := _absolute(url, fields.get("tdm-policy", "")):
            usage["tdm-policy"] = policy
    tokens = {token.strip().lower() for token in robots[:_LONGEST].split(",")}
    usage |= {name: "yes" for name in _NO_AI if {name, f"agent-webtools: {name}"} & tokens}
    for link in links:
        is_license = "license" in link.relations and link.type == RSL
        if is_license and (target := _absolute(url, link.target)):
            usage.setdefault("license", target)
    return usage


def _absolute(url: str, target: str) -> str:
    try:
        absolute = urljoin(url, target.strip()[:_LONGEST_URL]) if target.strip() else ""
    except ValueError:
        return ""
    return absolute if is_web_url(absolute) and len(absolute) <= _LONGEST_URL else ""


def _robots_lines(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if match := _ROBOTS_LINE.match(line[:_LONGEST].partition("#")[0]):
            yield match[1].lower(), match[2].strip()


def _matches(pattern: str, path: str) -> bool:
    """Return whether a pattern of robots.txt, with `*` and `$`, matches the start of a path."""
    start, *parts = unquote(pattern.removesuffix("$")).split("*")
    path = unquote(path) or "/"
    if not path.startswith(start):
        return False
    position = len(start)
    for part in parts:
        position = path.find(part, position)
        if position < 0:
            return False
        position += len(part)
    if not pattern.endswith("$"):
        return True
    return path.endswith(parts[-1]) if parts else position == len(path)
