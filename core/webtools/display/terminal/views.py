"""How the result of each tool is shown: a headline, and what follows it when expanded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from webtools.display.terminal.block import Line, line, url_text
from webtools.display.terminal.reading import Shown, as_list, as_mapping, as_number, count
from webtools.display.terminal.recognition import READ
from webtools.display.terminal.styles import BAD, GOOD, MUTED, TITLE, WARN
from webtools.display.text import day, grouped
from webtools.text.dates import read_moment
from webtools.text.fencing import unfenced
from webtools.text.visible import display_lines, display_text

MOST_RESULTS = 10
MOST_LINES = 20
LONGEST_SENTENCE = 1000
_LONGEST_SNIPPET = 500
_LONGEST_NAME = 64
_MOST_PAGES = 100
_MOST_QUERIES = 20
_MOST_PASSAGES = 3
_LINES_OF_PASSAGE = 6
_MOST_WARNINGS = 10
_NOTICE = "\n\n[Output truncated: "
_CONFIDENCE = {"high": GOOD, "medium": WARN, "low": BAD}


def warnings(shown: Shown) -> list[Line]:
    """Show the warnings."""
    items = shown.items("warnings")
    lines = [_warning(item) for item in items[:_MOST_WARNINGS]]
    return lines + _more(len(items) - _MOST_WARNINGS)


def _warning(text: Any) -> Line:
    return Line(Text(display_text(text, LONGEST_SENTENCE), WARN), Text("! ", WARN))


def _search_head(shown: Shown) -> Text:
    head = _result_count(shown)
    if failed := len(shown.items("errors")):
        head.append(f", {count(failed, 'query', 'queries')} failed", BAD)
    return head


def _result_count(shown: Shown) -> Text:
    number = as_number(shown.details.get("result_count", len(shown.items("results"))))
    return Text(count(number, "result", "results") if number else "No results found")


def _search_body(shown: Shown) -> list[Line]:
    hits = _hits_by_query(shown) if len(shown.items("queries")) > 1 else _hits(shown)
    return hits + [_failed_query(item) for item in shown.items("errors")[:MOST_RESULTS]]


def _hits(shown: Shown) -> list[Line]:
    items = shown.items("results")
    first = items[:MOST_RESULTS]
    lines = [part for number, item in enumerate(first, 1) for part in _hit(number, item)]
    return lines + _more(len(items) - len(first))


def _hits_by_query(shown: Shown) -> list[Line]:
    """Show the first results, those of each query numbered from 1 and under its name."""
    items = shown.items("results")
    first = items[:MOST_RESULTS]
    # Where some are left out, nobody knows here which query has none.
    queries = _answered(shown) if len(first) == len(items) else ()
    lines: list[Line] = []
    for query, hits in grouped(first, _query, queries).items():
        lines.append(line(f'"{query}"', MUTED))
        lines += [part for number, item in enumerate(hits, 1) for part in _hit(number, item)]
        if not hits:
            lines.append(line("No results found", "", "    "))
    return lines + _more(len(items) - len(first))


def _answered(shown: Shown) -> list[str]:
    """List the queries that did not fail, as they are shown."""
    failed = {_query(item) for item in shown.items("errors")[:_MOST_QUERIES]}
    queries = map(display_text, shown.items("queries")[:_MOST_QUERIES])
    return [query for query in queries if query not in failed]


def _query(item: Any) -> str:
    return display_text(as_mapping(item).get("query"))


def _hit(number: int, item: Any) -> Iterable[Line]:
    facts = as_mapping(item)
    url = url_text(facts.get("url"))
    title = display_text(facts.get("title"))
    yield Line(Text(title, TITLE) if title else url, Text(f"{number:>2}. "))
    if title:
        yield Line(url, Text("    "))
    if snippet := display_text(facts.get("snippet"), _LONGEST_SNIPPET):
        yield line(snippet, "", "    ")
    known = (
        day(read_moment(display_text(facts.get("published_at")))),
        display_text(facts.get("author")),
    )
    if told := " · ".join(filter(None, known)):
        yield line(told, MUTED, "    ")


def _failed_query(item: Any) -> Line:
    facts = as_mapping(item)
    query, reason = display_text(facts.get("query")), display_text(facts.get("message"))
    return Line(Text(f'"{query}": {reason}', BAD), Text(" ✗  ", BAD))


def _pages_head(shown: Shown) -> Text:
    head = Text(f"{shown.number('fetched_count')} fetched")
    if failed := shown.number("failed_count"):
        head.append(f", {failed} failed", BAD)
    return head


def _pages_body(shown: Shown) -> list[Line]:
    items = shown.items("results")
    first = items[:_MOST_PAGES]
    return [part for item in first for part in _page(item)] + _more(len(items) - len(first))


def _page(item: Any) -> Iterable[Line]:
    facts = as_mapping(item)
    url = url_text(facts.get("url"))
    if facts.get("error"):
        yield Line(url, Text("✗ ", BAD))
        yield line(display_text(facts["error"], LONGEST_SENTENCE), BAD, "  ")
        return
    yield Line(url, Text("✓ ", GOOD))
    if title := display_text(facts.get("title")):
        yield line(title, TITLE, "  ")
    yield from _passages(facts.get("passages"))


def _passages(items: Any) -> Iterable[Line]:
    """Show the first passages of a page that was asked a question, a few lines of each."""
    for item in as_list(items)[:_MOST_PASSAGES]:
        facts = as_mapping(item)
        if heading := display_text(facts.get("heading")):
            yield line(heading, MUTED, "  ")
        lines, more = display_lines(facts.get("text"), _LINES_OF_PASSAGE)
        yield from (line(text, "", "    ") for text in lines)
        yield from _more(more, "line")


def _summary_head(shown: Shown) -> Text:
    if not _own_text(shown).strip() and not shown.details.get("tokens"):
        return Text("No summary available")
    engine, kind = (display_text(shown.details.get(key)) for key in ("engine", "summary_type"))
    tokens = count(shown.number("tokens"), "token", "tokens")
    return Text(" · ".join(fact for fact in (engine, kind, tokens) if fact))


def _text_body(shown: Shown) -> list[Line]:
    lines, more = display_lines(_own_text(shown), MOST_LINES)
    more += _lines_cut_off(shown)
    return [line(text) for text in lines] + _more(more, "line")


def _own_text(shown: Shown) -> str:
    """Give the text without what was put below it for the model: the body shows that itself."""
    whole = unfenced(shown.text)
    text, _, below = whole.rpartition(_NOTICE)
    if below and shown.details.get("truncation"):
        return text
    warnings = [item for item in shown.items("warnings") if isinstance(item, str)]
    start = whole.rfind("\n\nWarning: ") if warnings else -1
    return whole if start < 0 else whole[:start]


def _lines_cut_off(shown: Shown) -> int:
    cut = shown.part("truncation")
    return max(as_number(cut.get("total_lines")) - as_number(cut.get("output_lines")), 0)


def _research_head(shown: Shown) -> Text:
    meta, synthesis = shown.part("meta"), shown.part("synthesis")
    confidence = display_text(meta.get("confidence"))
    degraded = ", ".join(
        display_text(name, _LONGEST_NAME) for name in as_list(meta.get("degraded"))[:MOST_RESULTS]
    )
    citations = len(as_list(synthesis.get("citations")))
    facts = [
        _result_count(shown),
        Text(display_text(meta.get("provider_used"), _LONGEST_NAME)),
        Text(f"{confidence} confidence" if confidence else "", _CONFIDENCE.get(confidence, "")),
        Text("cached" if meta.get("cache_hit") else ""),
        Text(f"degraded: {degraded}" if degraded else "", WARN),
        Text(count(citations, "citation", "citations") if citations else ""),
    ]
    return Text(" · ").join(fact for fact in facts if fact)


def _research_body(shown: Shown) -> list[Line]:
    meta, synthesis = shown.part("meta"), shown.part("synthesis")
    lines: list[Line] = []
    if doubt := display_text(meta.get("uncertainty"), LONGEST_SENTENCE):
        lines.append(line(f"Uncertainty: {doubt}", WARN))
    summary, more = display_lines(synthesis.get("summary"), MOST_LINES)
    lines += [line(text) for text in summary] + _more(more, "line")
    lines += _citations(as_list(synthesis.get("citations")))
    hits = _hits(shown)
    return [*lines, line("Sources:", MUTED), *hits] if hits else lines


def _citations(urls: Sequence[Any]) -> list[Line]:
    first = urls[:_MOST_PAGES]
    width = len(str(len(first)))
    lines = [
        Line(url_text(url), Text(f"{f'[{n}]':>{width + 2}} ")) for n, url in enumerate(first, 1)
    ]
    return lines + _more(len(urls) - len(first))


def _part_head(shown: Shown) -> Text:
    count = shown.number("characters")
    total = shown.number("total_characters")
    return Text(f"{count:,} of {total:,} {'character' if total == 1 else 'characters'}")


def _plain_head(shown: Shown) -> Text:
    lines, _ = display_lines(unfenced(shown.text), 1)
    return Text(lines[0] if lines else "Done")


def _plain_rest(shown: Shown) -> Text:
    _, more = display_lines(unfenced(shown.text), 1)
    return Text(f" ... and {count(more, 'more line', 'more lines')}" if more else "", MUTED)


def _plain_body(shown: Shown) -> list[Line]:
    lines, more = display_lines(unfenced(shown.text), MOST_LINES + 1)
    return [line(text) for text in lines[1:]] + _more(more, "line")


def _no_rest(_: Shown) -> Text:
    return Text()


@dataclass(frozen=True, slots=True)
class View:
    """How the result of one tool is shown."""

    head: Callable[[Shown], Text]
    body: Callable[[Shown], list[Line]]
    mark: str  # the detail without which the result is not that of the tool
    rest: Callable[[Shown], Text] = _no_rest  # what the head adds where no body follows


VIEWS = {
    "web_search": View(_search_head, _search_body, "results"),
    "web_fetch": View(_pages_head, _pages_body, "fetched_count"),
    "summarize": View(_summary_head, _text_body, "tokens"),
    "web_research": View(_research_head, _research_body, "meta"),
    READ: View(_part_head, _text_body, "total_characters"),
}
_PLAIN = View(_plain_head, _plain_body, "", _plain_rest)


def view_of(tool: str, details: Mapping[Any, Any]) -> View:
    """Return the view of a tool's result."""
    view = VIEWS.get(tool, _PLAIN)
    return view if view.mark in details else _PLAIN


def _more(number: int, what: str = "") -> list[Line]:
    if number <= 0:
        return []
    words = count(number, f"more {what}", f"more {what}s") if what else f"{number} more"
    return [line(f"... and {words}", MUTED)]
