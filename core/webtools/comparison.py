"""Compare two runs: what changed in their sources and in the claims of their answers.

    from webtools import compare

    print(compare("monday.jsonl", "friday.jsonl"))

A run is a tape, a response of a method, or the JSON that `webtools ... --json` writes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pydantic import BaseModel
from pydantic_core import from_json

from webtools._internal.display.results_markdown import inert
from webtools._internal.display.short_texts import day, more, price
from webtools._internal.grounding.citation_marks import address
from webtools._internal.late_imports import resolve
from webtools._internal.operations.research.rules import normalize_url
from webtools._internal.pipeline.tape_lines import (
    NativeRecord,
    TapedCall,
    check_values,
    read_file,
    read_tape,
)
from webtools._internal.text.narrowing import is_object
from webtools._internal.text.visible import display_text
from webtools._version import __version__
from webtools.config.settings import Settings
from webtools.errors import InputError
from webtools.results import (
    FetchResponse,
    Page,
    ReadResponse,
    SearchResponse,
    SiteMap,
    SummaryResponse,
)
from webtools.results.base import Model
from webtools.results.research_models import Claim, Quotation, ResearchEnvelope
from webtools.tools import ALL_TOOLS, RESEARCH, SEARCH, ToolResult

__all__ = [
    "ClaimChange",
    "Comparison",
    "Run",
    "SettingChange",
    "SourceChange",
    "TextChange",
    "compare",
]

SourceStatus = Literal["new", "gone", "unchanged", "changed", "moved", "error", "not_compared"]
QuoteStatus = Literal[
    "quote_kept", "quote_moved", "quote_gone", "source_gone", "not_compared", "new"
]
Run: TypeAlias = "str | os.PathLike[str] | BaseModel | Mapping[str, Any]"

_MAX_CHANGES = 50  # of one page
_MAX_PAIRED = 300  # removed and added paragraphs that are compared with each other
_MAX_SHOWN = 300  # characters of a text in Markdown
_SIMILAR = 0.5  # minimum share of common words of two versions of a paragraph


class SettingChange(Model):
    """A setting or an argument that differs between the runs.

    Attributes:
        name: The setting, or the tool and its argument, such as `web_search.limit`.
        old: The values of the old run.
        new: The values of the new run.
    """

    name: str
    old: list[str]
    new: list[str]


class TextChange(Model):
    """A paragraph that was changed, removed (`new` is None) or added (`old` is None).

    Attributes:
        old: The old paragraph.
        new: The new paragraph.
        numbers: The numbers and dates that changed, as `old → new`.
    """

    old: str | None = None
    new: str | None = None
    numbers: list[str] = []  # noqa: RUF012  # pydantic copies it


class SourceChange(Model):
    """What happened to a source.

    Attributes:
        url: Its URL in the old run, or in the new one if it is new.
        title: Its title.
        status: `new`, `gone`, `unchanged`, `changed`, `moved` (it redirects elsewhere now), `error`
            (it could not be read in one of the runs), or `not_compared`.
        reason: Why it has this status. A source is `gone` either because its site says that it does
            not exist, or because the new run did not find it. The latter says nothing about it.
        new_url: Where it moved to.
        old_at: When the old run retrieved it.
        new_at: When the new run retrieved it.
        old_hash: Hash of its text in the old run, without white space and counters.
        new_hash: The same of the new run.
        changes: The changed paragraphs. Those with changed numbers and dates come first.
        more_changes: Number of further ones.
    """

    url: str
    title: str = ""
    status: SourceStatus
    reason: str = ""
    new_url: str | None = None
    old_at: datetime | None = None
    new_at: datetime | None = None
    old_hash: str | None = None
    new_hash: str | None = None
    changes: list[TextChange] = []  # noqa: RUF012
    more_changes: int = 0


class ClaimChange(Model):
    """What happened to the quotation of a claim.

    Attributes:
        text: The claim.
        status: `quote_kept`, `quote_moved` (to another source), `quote_gone`, `source_gone`,
            `not_compared`, or `new` (the claim is only in the new run).
        reason: Why it has this status.
        url: The source of the quotation in the old run.
        new_url: The source that has it now, if it moved.
        quotation: The quotation.
        nearest: The most similar paragraph, if the quotation is gone.
    """

    text: str
    status: QuoteStatus
    reason: str = ""
    url: str | None = None
    new_url: str | None = None
    quotation: str = ""
    nearest: str | None = None


class Comparison(Model):
    """The differences between two runs. As text, it is a report in Markdown.

    Attributes:
        settings: The settings and arguments that differ. They may explain all other differences.
        counts: Number of sources by status.
        sources: The sources, changed ones first.
        claims: The claims.
        old_cost_usd: Cost of the old run in USD; None if it is not known.
        new_cost_usd: Cost of the new run in USD; None if it is not known.
    """

    settings: list[SettingChange]
    counts: dict[str, int]
    sources: list[SourceChange]
    claims: list[ClaimChange]
    old_cost_usd: float | None = None
    new_cost_usd: float | None = None

    def __str__(self) -> str:
        """Return the report in Markdown."""
        return "\n".join(_markdown(self))

    def _repr_markdown_(self) -> str:
        """Return the report for notebooks."""
        return str(self)


def compare(old: Run, new: Run) -> Comparison:
    """Compare two runs.

    Pages are compared by their text, without differences in white space, ages such as "3 minutes
    ago", counters and tracking parameters. The order of results does not matter. Keys of the config
    file and the environment are redacted: a tape can be older than a key.

    Args:
        old: The first run: the path of a tape or of a JSON file that `--json` wrote, a response, or
            its JSON data.
        new: The second run.

    Raises:
        InputError: A run cannot be read.
    """
    first, second = _read(old), _read(new)
    sources = sorted(_sources(first, second), key=lambda source: _ORDER.index(source.status))
    return Comparison(
        settings=[
            each
            for each in _settings(first.facts, second.facts)
            if (each.old and each.new) or first.is_tape == second.is_tape
        ],
        counts=dict(Counter(source.status for source in sources)),
        sources=sources,
        claims=[*_claims(first, second)],
        old_cost_usd=first.cost_usd,
        new_cost_usd=second.cost_usd,
    )


_ORDER = ("changed", "moved", "gone", "new", "error", "not_compared", "unchanged")


# --- what a run has -----------------------------------------------------------------------------


@dataclass
class _RunSource:
    """What a run knows of a source.

    Attributes:
        text: The whole text of the page, if it was read.
        parts: Passages and quotations of it.
        reader: What read the text. Texts of different readers cannot be compared.
    """

    url: str
    title: str = ""
    url_final: str = ""
    text: str | None = None
    parts: list[str] = field(default_factory=list[str])
    reader: str = ""
    error: str = ""
    at: datetime | None = None

    @property
    def place(self) -> str:
        """Where the source is, after redirects."""
        return _key(self.url_final or self.url)

    @cached_property
    def paragraphs(self) -> list[str]:
        texts = self.parts if self.text is None else [self.text]
        return list(dict.fromkeys(line for text in texts for line in _paragraphs(text)))

    @cached_property
    def corpus(self) -> str:
        texts = [self.text or "", *self.parts]
        return "\n".join(_stable(line) for text in texts for line in _paragraphs(text))

    @cached_property
    def hash(self) -> str | None:
        if self.text is None:
            return None
        return hashlib.sha256("\n".join(map(_stable, _paragraphs(self.text))).encode()).hexdigest()


@dataclass(slots=True)
class _Record:
    """What a run has to compare.

    Attributes:
        is_tape: Whether its settings and all arguments are known.
    """

    is_tape: bool = False
    facts: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    sources: dict[str, _RunSource] = field(default_factory=dict[str, _RunSource])
    claims: list[Claim] = field(default_factory=list["Claim"])
    cost_usd: float | None = 0.0

    def source(self, url: str, at: datetime | None, title: str | None = None) -> _RunSource:
        source = self.sources.setdefault(_key(url), _RunSource(url))
        source.title, source.at = source.title or title or "", at or source.at
        return source

    def note(self, name: str, value: Any) -> None:
        for item in value if isinstance(value, list) else [value]:
            if item not in (None, "", {}):
                text = item if isinstance(item, str) else json.dumps(item)
                self.facts.setdefault(name, {})[text] = None

    def add(self, call: TapedCall, version: str) -> None:
        """Add what a call of the run returned."""
        for name, value in call.settings.items():
            self.note(name, value)
        for name, value in call.arguments.items():
            self.note(f"{call.tool}.{name}", value)
        cost: float | None = 0.0
        if call.error is not None:
            cost = call.error.cost_usd or 0.0
            urls = call.arguments.get("urls") or call.arguments.get("url") or []
            for url in map(str, urls if isinstance(urls, list) else [urls]):
                parts, named = call.error.message.split("; "), re.escape(url) + "(?=[,:] )"
                reasons = [part for part in parts if re.search(named, part)]
                self.source(url, call.at).error = (reasons or [call.error.message])[0]
        elif not isinstance(call.response, ReadResponse):
            facts = call.response.meta if call.tool == RESEARCH.name else call.response
            cost = facts.cost_usd
            served = facts.provider_used if call.tool == RESEARCH.name else facts.provider
            self.note(f"{call.tool} was served by", served)
            self._add_response(call.response, facts.retrieved_at, version)
        self._add_cost(cost)

    def _add_cost(self, usd: float | None) -> None:
        self.cost_usd = None if usd is None or self.cost_usd is None else usd + self.cost_usd

    def add_native(self, native: NativeRecord, at: datetime) -> None:
        """Add what the vendor of a model searched. The texts of its sources are not known."""
        self.note(f"queries of {native.vendor}", native.queries)
        for url, title in native.sources:
            self.source(url, at, title)
        if native.searches or native.cost_usd:
            self._add_cost(native.cost_usd)

    def _add_response(self, response: Any, at: datetime | None, version: str) -> None:
        match response:
            case SearchResponse():
                self.note(f"{SEARCH.name}.queries", response.queries)
                for name, state in response.filters.items():
                    self.note(f"filter {name}", state)
                for result in response.results:
                    source = self.source(result.url, at, result.title)
                    if result.content is not None and source.text is None:
                        self._add_page(result.content, at, f"search of {result.source_provider}")
            case FetchResponse():
                for page in response.pages:
                    self._add_page(page, at, f"{page.source_provider} in webtools {version}")
            case SummaryResponse():
                source = self.source(response.url, at)
                source.text = response.text or None
                source.reader = f"summary of {response.provider}"
            case SiteMap():
                for entry in response.entries:
                    self.source(entry.url, at, entry.title)
            case _:
                self._add_research(response, at)

    def _add_page(self, page: Page, at: datetime | None, reader: str) -> None:
        source = self.source(page.url, at, page.title)
        source.error, source.url_final = page.error or "", page.url_final or source.url_final
        source.parts += [*(passage.text for passage in page.passages or ()), *page.highlights]
        if page.text is not None:
            source.text, source.reader = page.text, reader

    def _add_research(self, envelope: ResearchEnvelope, at: datetime | None) -> None:
        for name in ("query", "command", "recency_days", "provider_chain"):
            self.note(f"{RESEARCH.name}.{name}", getattr(envelope.meta, name))
        for result in envelope.results:
            source = self.source(result.url, at, result.title)
            source.url_final = result.url_final or source.url_final
        claims = envelope.synthesis.claims if envelope.synthesis else []
        self.claims += claims
        citations = [citation for claim in claims for citation in claim.citations]
        texts = [(passage.url, passage.text) for passage in envelope.passages]
        for url, text in [*texts, *((each.url, each.quotation) for each in citations)]:
            if url and text:
                self.source(url, at).parts.append(text)


def _read(run: Run) -> _Record:
    """Read a run.

    Raises:
        InputError: It cannot be read.
    """
    record, version, redactor = _Record(), __version__, Settings().redactor()
    if isinstance(run, (str, os.PathLike)):
        path = Path(run)
        data = read_file(path)
        try:
            values = from_json(data, allow_inf_nan=False)
        except ValueError:  # several lines, or no JSON at all
            values = None
        if not is_object(values) or "tape" in values:
            header, calls = read_tape(path)
            version, record.is_tape = redactor.text(header.webtools), True
            record.note("webtools", version)
        else:
            calls = [_call_of(values, str(path))]
    else:
        calls = [_call_of(run, f"the {type(run).__name__}")]
    # Before texts are cut into lines.
    for call in redactor.clean(calls):
        if call.native is None:
            record.add(call, version)
        else:
            record.add_native(call.native, call.at)
    return record


def _call_of(run: Any, name: str) -> TapedCall:
    """Return the call of a response, or of its JSON data."""
    values = run.details if isinstance(run, ToolResult) else run
    for tool in ALL_TOOLS.values():
        kind = resolve(tool.response)
        response = run if isinstance(run, kind) else None
        if is_object(values) and tool.details_key in values:
            items = {"pages": values.get("results"), "entries": values.get("results"), "text": ""}
            try:
                check_values(values)
                response = kind.model_validate({**items, **values})
            except (ValueError, RecursionError) as error:
                message = f"{name} is not a response of {tool.name}: {str(error)[:_MAX_SHOWN]}"
                raise InputError(message) from None
        if response is not None:
            return TapedCall(line=1, tool=tool.name, at=datetime.now(UTC), response=response)
    expected = "a tape, a response, or the JSON that `--json` writes"
    raise InputError(f"{name} cannot be compared: expected {expected}.")


# --- what differs -------------------------------------------------------------------------------


def _settings(
    old: Mapping[str, Mapping[str, None]], new: Mapping[str, Mapping[str, None]]
) -> Iterator[SettingChange]:
    for name in dict.fromkeys([*old, *new]):
        first, second = [*old.get(name, ())], [*new.get(name, ())]
        if {*first} != {*second} or (first != second and name == "providers"):
            yield SettingChange(name=name, old=first, new=second)


def _sources(old: _Record, new: _Record) -> Iterator[SourceChange]:
    new_by_place = {source.place: key for key, source in new.sources.items()}
    matched: set[str] = set()
    for key, source in old.sources.items():
        match = next((each for each in (key, source.place) if each in new.sources), None)
        match = match or new_by_place.get(source.place) or new_by_place.get(key)
        if match is None:
            reason = "The new run did not find it. This says nothing about the page."
            yield _change("gone", source, None, reason)
        else:
            matched.add(match)
            yield _compare_source(source, new.sources[match])
    for key, source in new.sources.items():
        if key not in matched:
            yield _change("new", None, source)


def _change(
    status: SourceStatus,
    old: _RunSource | None,
    new: _RunSource | None,
    reason: str = "",
    changes: Sequence[TextChange] = (),
) -> SourceChange:
    known = old or new
    assert known is not None  # noqa: S101  # a source is in one of the runs
    has_moved = status == "moved" and new is not None
    return SourceChange(
        url=known.url,
        title=known.title,
        status=status,
        reason=reason,
        new_url=(new.url_final or new.url) if has_moved and new else None,
        old_at=old.at if old else None,
        new_at=new.at if new else None,
        old_hash=old.hash if old else None,
        new_hash=new.hash if new else None,
        changes=[*changes[:_MAX_CHANGES]],
        more_changes=max(0, len(changes) - _MAX_CHANGES),
    )


def _compare_source(old: _RunSource, new: _RunSource) -> SourceChange:  # noqa: PLR0911  # one per case
    """Compare a source that both runs have."""
    if new.error:
        is_gone = _NO_PAGE.search(new.error) is not None
        return _change("gone" if is_gone else "error", old, new, new.error)
    if old.error:
        return _change("error", old, new, f"In the old run: {old.error}")
    changes = _text_changes(old.paragraphs, new.paragraphs)
    if old.url_final and new.url_final and old.place != new.place:
        return _change("moved", old, new, "It is at another URL now.", changes)
    if old.text is not None and new.text is not None:
        if old.hash == new.hash:
            return _change("unchanged", old, new)
        if old.reader != new.reader:
            reason = f"It was read by {old.reader}, then by {new.reader}."
            return _change("not_compared", old, new, reason)
        reason = "" if changes else "Its paragraphs are in another order."
        return _change("changed", old, new, reason, changes)
    if not (old.paragraphs and new.paragraphs):
        return _change("not_compared", old, new, "At most one of the runs has read it.")
    # Parts of a page overlap, and what is in one run only may be on the page all the same.
    changes = _text_changes(_parts_beyond(old, new), _parts_beyond(new, old))
    pairs = [change for change in changes if None not in (change.old, change.new)]
    if pairs:
        return _change("changed", old, new, "Only parts of it were compared.", pairs)
    if changes:
        return _change("not_compared", old, new, "The runs have different parts of it.")
    return _change("unchanged", old, new, "Only parts of it were compared.")


def _parts_beyond(source: _RunSource, other: _RunSource) -> list[str]:
    """Return the paragraphs that are not in the texts of the other run."""
    return [text for text in source.paragraphs if _stable(text) not in other.corpus]


_NO_PAGE = re.compile(r"\bHTTP (?:404|410)\b")


def _claims(old: _Record, new: _Record) -> Iterator[ClaimChange]:
    texts = {_stable(claim.text) for claim in new.claims}
    for claim in old.claims:
        changes = [_quote_change(claim, each, new) for each in claim.citations if each.quotation]
        if not changes:
            has_claim = _stable(claim.text) in texts
            reason = "The new answer has it too." if has_claim else "It has no quotation."
            changes = [ClaimChange(text=claim.text, status="not_compared", reason=reason)]
        yield min(changes, key=lambda change: get_args(QuoteStatus).index(change.status))
    known = {_stable(claim.text) for claim in old.claims}
    for claim in new.claims:
        if _stable(claim.text) not in known:
            yield ClaimChange(text=claim.text, status="new")


def _quote_change(claim: Claim, citation: Quotation, new: _Record) -> ClaimChange:
    change = partial(ClaimChange, text=claim.text, url=citation.url, quotation=citation.quotation)
    wanted = [_stable(line) for line in _paragraphs(citation.quotation)]
    source = new.sources.get(_key(citation.url))
    if source is None:
        places = (each for each in new.sources.values() if each.place == _key(citation.url))
        source = next(places, None)
    if source is not None and _has(source, wanted):
        return change(status="quote_kept")
    if other := next((each for each in new.sources.values() if _has(each, wanted)), None):
        return change(status="quote_moved", new_url=other.url, reason="Another source has it.")
    if source is None:
        reason = "The new run did not find its source. This says nothing about the page."
        return change(status="source_gone", reason=reason)
    if source.error:
        status = "source_gone" if _NO_PAGE.search(source.error) else "not_compared"
        return change(status=status, reason=source.error)
    near = _nearest(citation.quotation, {text: _words(text) for text in source.paragraphs})
    if near is None and source.text is None:
        reason = "The new run has only parts of the page, without the quotation."
        return change(status="not_compared", reason=reason)
    return change(status="quote_gone", nearest=near)


def _has(source: _RunSource, wanted: Sequence[str]) -> bool:
    return all(line in source.corpus for line in wanted)


# --- texts --------------------------------------------------------------------------------------


def _paragraphs(text: str) -> list[str]:
    return [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]


_LINK = re.compile(r"\[([^\]\[]*)\]\([^()\s]*\)")
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"']+")
_MARKS = re.compile(r"[*_`#>|]+")
# Ages and counters change without the page being changed.
_AGE = re.compile(
    r"(?i)\b(?:\d+|an?|one) ?(?:s|sec|second|m|min|minute|h|hr|hour|d|day|w|week|mo|month|y|yr"
    r"|year)s? ago\b|\b(?:just now|moments ago)\b"
    r"|\b(?:vor|hace|há|il y a) (?:etwa |unos |cerca de |environ )?(?:\d+|ein\w*|une?|una?) \w+"
    r"|\b\d+ \w+ (?:fa|atrás|geleden|назад)\b"
    r"|\d+ ?(?:秒|分钟?|小时|時間|天|日|周|个月|年|초|시간) ?(?:前|전)"
)
_COUNTER = re.compile(
    r"(?i)\b\d[\d.,]{0,20}[kmb]?\+? (?:views?|likes?|comments?|shares?|repl(?:y|ies)|followers?"
    r"|subscribers?|upvotes?|downloads?|stars?|forks?|reactions?|claps?|(?:watching|reading) now"
    r"|aufrufe?|kommentare?|vues?|commentaires?|visitas?|vistas?|comentarios?)\b"
    r"|\b(?:views|likes|comments|shares|replies|followers|subscribers|upvotes|downloads|stars"
    r"|aufrufe|kommentare|vues|commentaires|visitas|comentarios): ?\d[\d.,]*[kmb]?\b"
)
_TRACKING = re.compile(
    r"(?i)(?<=[?&])(?:utm_\w+|\w*clid|gbraid|wbraid|igshid|mc_[ce]id|ref_src|_ga|spm)=[^&#]*&?"
)
_MONTH = (
    r"(?:jan|febr)(?:uary)?|feb|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_NUMBER = re.compile(
    rf"(?i)\b\d{{1,2}} (?:{_MONTH})\b\.?(?: \d{{4}}\b)?"
    rf"|\b(?:{_MONTH})\.? \d{{1,4}}\b(?:, \d{{4}}\b)?"
    r"|[$€£¥]?\d(?:[\d.,:/-]*\d)?%?"
)


def _key(url: str) -> str:
    """Return a key that is equal for spellings of one URL."""
    return address(normalize_url(_TRACKING.sub("", url)))


def _stable(paragraph: str) -> str:
    """Return a paragraph without what changes by itself."""
    text = _MARKS.sub("", _LINK.sub(r"\1", paragraph))
    text = _ADDRESS.sub(lambda match: _key(match[0]), text)
    return " ".join(_COUNTER.sub("", _AGE.sub("", text)).split())


def _text_changes(old: Sequence[str], new: Sequence[str]) -> list[TextChange]:
    """Pair the paragraphs that were changed; those whose numbers changed come first."""
    old_texts, new_texts = ({text: _stable(text) for text in texts} for texts in (old, new))
    old_values, new_values = {*old_texts.values()}, {*new_texts.values()}
    removed = [text for text in old if old_texts[text] not in new_values]
    added = [text for text in new if new_texts[text] not in old_values]
    candidates = {text: _words(text) for text in added[:_MAX_PAIRED]}
    changes: list[TextChange] = []
    for text in removed:
        near = _nearest(text, candidates) if len(changes) < _MAX_PAIRED else None
        candidates.pop(near or "", None)
        numbers = [] if near is None else _changed_numbers(text, near)
        changes.append(TextChange(old=text, new=near, numbers=numbers))
    paired = {change.new for change in changes}
    changes += [TextChange(new=text) for text in added if text not in paired]
    return sorted(changes, key=lambda each: (not each.numbers, None in (each.old, each.new)))


def _changed_numbers(old: str, new: str) -> list[str]:
    first, second = _NUMBER.findall(old), _NUMBER.findall(new)
    if len(first) == len(second):
        pairs = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
    else:
        gone = [number for number in first if number not in second]
        pairs = [*zip_longest(gone, [each for each in second if each not in first], fillvalue="-")]
    return [f"{one} → {other}" for one, other in pairs]


def _nearest(paragraph: str, candidates: Mapping[str, set[str]]) -> str | None:
    """Return the candidate with the most words in common, if it is similar."""
    words = _words(paragraph)
    share, nearest = max(
        (
            (len(words & others) / max(1, len(words), len(others)), text)
            for text, others in candidates.items()
        ),
        default=(0.0, ""),
    )
    return nearest if share >= _SIMILAR else None


def _words(paragraph: str) -> set[str]:
    return {*_NUMBER.sub("#", _stable(paragraph)).casefold().split()}


# --- report -------------------------------------------------------------------------------------


def _markdown(comparison: Comparison) -> Iterator[str]:
    yield "# Comparison of two runs\n"
    if comparison.settings:
        yield "These settings differ, which may explain other differences:\n"
        for setting in comparison.settings:
            old, new = (", ".join(map(_shown, values)) for values in (setting.old, setting.new))
            yield f"- {_shown(setting.name)}: {old or 'not set'} → {new or 'not set'}"
        yield ""
    counts = [
        f"{number} {status.replace('_', ' ')}" for status, number in comparison.counts.items()
    ]
    costs = [
        "unknown" if usd is None else price(usd)
        for usd in (comparison.old_cost_usd, comparison.new_cost_usd)
    ]
    yield f"Sources: {', '.join(counts) or 'none'}. Cost: {costs[0]}, then {costs[1]}."
    if comparison.sources:
        yield "\n## Sources\n"
    for source in comparison.sources:
        yield from _source_lines(source)
    if comparison.claims:
        yield "\n## Claims\n"
    for claim in comparison.claims:
        yield f"- **{_words_of(claim.status)}**: {_shown(claim.text)}"
        yield from _notes(claim.reason, claim.new_url)
        if claim.nearest:
            yield f"  - now: {_shown(claim.nearest)}"


def _source_lines(source: SourceChange) -> Iterator[str]:
    title = f"{_shown(source.title)}, " if source.title else ""
    days = " → ".join(each for each in (day(source.old_at), day(source.new_at)) if each)
    yield (
        f"- **{_words_of(source.status)}**: {title}{_shown(source.url)}"
        f"{f' ({days})' if days else ''}"
    )
    yield from _notes(source.reason, source.new_url)
    for change in source.changes:
        if change.numbers:
            yield f"  - numbers: {', '.join(map(_shown, change.numbers))}"
        if change.old is not None:
            yield f"  - old: {_shown(change.old)}"
        if change.new is not None:
            yield f"  - new: {_shown(change.new)}"
    if source.more_changes:
        yield f"  - {more(source.more_changes, 'change')}"


def _notes(*texts: str | None) -> Iterator[str]:
    return (f"  - {_shown(text)}" for text in texts if text)


def _words_of(status: str) -> str:
    return status.replace("_", " ")


def _shown(text: str) -> str:
    """Return foreign text on one line, in which nothing acts as Markdown."""
    return inert(display_text(text, _MAX_SHOWN))
