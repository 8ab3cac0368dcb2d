"""A session: its options, its history, and the dispatcher that keeps to both."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import ValidationError

from webtools._internal.io.runtime import IO
from webtools._internal.late_imports import resolve
from webtools._internal.pipeline.tape_lines import NativeRecord
from webtools._internal.pipeline.tool_call import call_services
from webtools._internal.representation import load_display
from webtools._internal.session.dispatcher import SessionDispatcher
from webtools._internal.session.gate import Gate
from webtools._internal.session.history import History
from webtools._internal.session.options import SessionOptions
from webtools._internal.session.report import facts_of
from webtools._internal.session.services import SessionServices
from webtools._internal.session.spending import spending_of
from webtools._internal.session.state import id_in_state, read_state, to_state
from webtools._internal.storage.budget import Budget, micro_usd_of
from webtools._internal.text.cleaning import without_controls, words_in_line
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.links import urls_in
from webtools._internal.text.nested_texts import with_texts
from webtools.config import Settings
from webtools.errors import ConfigError, InputError, QuotaError
from webtools.inputs.argument_values import shown
from webtools.page_urls import page_key
from webtools.results import AnswerCheck, Remaining, SessionSource
from webtools.verifiers import Verifier

if TYPE_CHECKING:
    from webtools._internal.session.check import AnswerCitations

# The check of an answer is imported at its first use.
_CITATIONS = "_internal.session.check:AnswerCitations"
_LONG_ANSWER = 10_000  # characters
Allowed = Literal["user", "developer"]


def _pair(source: str | Mapping[str, Any]) -> tuple[str, str]:
    """Return the URL and the title of a source."""
    facts: Any = source if isinstance(source, Mapping) else {"url": source}
    url, title = facts.get("url"), facts.get("title")
    if isinstance(url, str):
        return url, title if isinstance(title, str) else ""
    raise InputError(f"A source must be a URL or have one, not {shown(url)}.")


def _plain(text: str, name: str) -> str:
    clean = words_in_line if name == "queries" else without_controls
    return without_invisible(clean(text))


def _as_list(value: Any) -> list[Any]:
    if not isinstance(value, Iterable):
        raise InputError(f"Invalid value {shown(value)}: expected a list of texts or sources.")
    return [value] if isinstance(value, (str, Mapping)) else [*value]


class _Unread:
    """A source that an answer does not cite."""

    url = text = ""


class SessionCore:
    """What `Session` is made of.

    Args:
        settings: The settings of the `WebTools`.
        options: The arguments of `WebTools.session`.
    """

    def __init__(self, settings: Settings, options: SessionOptions) -> None:
        self.options = options
        self.settings = settings.with_keys(options.api_keys) if options.api_keys else settings
        state = None if options.state is None else read_state(options.state)
        self.id = options.id or (state.id if state else "") or secrets.token_hex(16)
        self.history = History(is_gated=options.fetch != "any")
        self.gate = Gate(self.history, options.fetch)
        self.spending = spending_of(options.user, self.id)
        self.services = SessionServices(options, self.id, self.spending)
        self.dispatcher = SessionDispatcher(
            self.settings,
            self.id,
            options=options,
            history=self.history,
            gate=self.gate,
            services=self.services,
            spending=self.spending,
        )
        if state is not None:
            ids = {self.id, id_in_state(self.id, self.dispatcher.redactor())}
            state.check(ids, self._user_hash())
            state.load(self.history, self.spending)

    def allow(self, texts: Iterable[str], origin: Allowed) -> list[str]:
        """See `Session.allow`."""
        if origin not in get_args(Allowed):
            raise InputError(f"Invalid `origin` {shown(origin)}: expected user or developer.")
        texts = tuple(texts)
        for text in texts:
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InputError(f"A text to allow must be a string, not {type(text).__name__}.")
        urls = list(dict.fromkeys(url for text in texts for url in urls_in(text, from_person=True)))
        urls = self.dispatcher.redactor().clean(urls)
        urls = [url for url in urls if self.history.see(url, origin)]
        for url in urls:
            self.history.add(url, origin, cites=False)
        return urls

    def close(self) -> None:
        """See `Session.close`."""
        if self.dispatcher.tape is not None:
            self.dispatcher.tape.close()

    async def aclose(self, io: IO) -> None:
        """See `Session.close`."""
        await io.call_blocking(self.close)  # it may open a file

    def unused_calls(self) -> list[dict[str, Any]]:
        """See `Session.unused_calls`."""
        tape = self.dispatcher.tape_in_use()
        unused = [] if tape is None else tape.unused(self.dispatcher.user_on_tape())
        return self.dispatcher.redactor().clean([call.summary() for call in unused])

    def has_seen(self, url: str) -> bool:
        """See `Session.has_seen`."""
        return self.gate.find(url) is not None

    def record_native(
        self,
        *,
        sources: Iterable[str | Mapping[str, Any]],
        citations: Iterable[str | Mapping[str, Any]],
        release: Callable[[], None],
        **facts: Any,
    ) -> None:
        """See `Session.record_native`."""
        try:
            native = self._native_record(sources, citations, facts)
            if native.is_empty:
                return
            self.history.add_native(native)
            if native.searches or native.cost_usd:
                self._count_native(native)
                release()
                self._note_exceeded_limits(native.vendor)
            redactor, tape = self.dispatcher.redactor(), self.dispatcher.tape_in_use()
            if tape is not None and (reason := tape.write_native(native, redactor)):
                self.history.notes[reason] = None
        finally:
            release()

    def _native_record(
        self,
        sources: Iterable[str | Mapping[str, Any]],
        citations: Iterable[str | Mapping[str, Any]],
        facts: dict[str, Any],
    ) -> NativeRecord:
        redactor = self.dispatcher.redactor()
        cited = [[*_pair(citation)] for citation in _as_list(citations)]
        pairs = [[*_pair(source)] for source in _as_list(sources)]
        values = {**facts, "sources": [*pairs, *cited], "citations": [url for url, _ in cited]}
        for name in ("queries", "unlisted", "refused", "notes"):
            values[name] = _as_list(values[name])
        # A model can make up what it cites.
        found = [url for url, _ in pairs]
        values["unlisted"] += [url for url, _ in cited if url not in found]
        try:
            # Before and after: what is removed may be within a key, and a part of a sequence stays.
            values = with_texts(redactor.clean(values), _plain)
            native = redactor.clean(NativeRecord.model_validate(values))
        except ValidationError as error:
            [fault, *_] = error.errors(include_url=False)
            name = ".".join(map(str, fault["loc"]))
            raise InputError(f"Invalid `{name}` {shown(fault['input'])}: {fault['msg']}.") from None
        native.notes = [note for note in native.notes if note not in self.history.notes]
        return native

    def _count_native(self, native: NativeRecord) -> None:
        """Count searches and their cost in all limits, also beyond what was reserved."""
        usd, notes = native.cost_usd or 0.0, self.history.notes
        is_counted = False
        try:
            budget = self._budget()
            if budget.active and usd:
                is_counted = self.services.counts_usd
                budget.count(usd)
        except ConfigError as error:
            notes[f"What {native.vendor} costs is not counted in all budgets: {error}"] = None
        self.spending.count_usd(0 if is_counted else micro_usd_of(usd), native.searches)

    def _note_exceeded_limits(self, vendor: str) -> None:
        total, options = self.spending.total(), self.options
        for name, limit, used in (
            ("usd", options.usd, total.usd),
            ("calls", options.calls, total.calls),
        ):
            if limit is not None and used > limit:
                note = f"The searches of {vendor} have exceeded `{name}`."
                self.history.notes[note] = None

    def _budget(self) -> Budget:
        """Return the budget of the calls. May read the store.

        Raises:
            ConfigError: The settings or the store cannot be read.
        """
        services = call_services(self.dispatcher.accounts())
        return (self.services.known(services) or self.services.make(services)).budget

    def reserve_searches(self, vendor: str, searches: int, usd: float) -> Callable[[], None]:
        """Count searches that a vendor may make in all limits, and return what takes them back.

        Raises:
            QuotaError: They do not fit, since other calls are in flight.
            ConfigError: The settings or the store cannot be read.
        """
        budget = self._budget()
        reservation = budget.reserve(vendor, usd)
        try:
            self.spending.count_calls(self.options.calls, searches)
        except QuotaError:
            budget.release(reservation)
            raise
        taken_back = threading.Lock()

        def release() -> None:
            if taken_back.acquire(blocking=False):  # once
                self.spending.take_back_calls(searches)
                budget.release(reservation)

        return release

    def remaining(self) -> Remaining:
        """See `Session.remaining`."""
        options, seconds = self.options, self.dispatcher.seconds_left()
        made = self.spending.total().calls
        return Remaining(
            usd=self._budget().usd_left(),
            calls=None if options.calls is None else max(0, int(options.calls) - made),
            seconds=None if seconds == inf else max(0.0, seconds),
        )

    async def check(
        self,
        io: IO,
        answer: str,
        verifier: Verifier | None,
        options: dict[str, Any],
        *,
        verify: bool,
    ) -> AnswerCheck:
        """See `Session.check`."""
        if not isinstance(answer, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"The answer must be a text, not {type(answer).__name__}.")
        answer = self.dispatcher.redactor().text(answer)  # the links are returned
        sources = {source.number: source for source in self.history.listed() if source.number}
        read: Callable[[], AnswerCitations] = partial(resolve(_CITATIONS), answer, sources)
        is_long = len(answer) > _LONG_ANSWER  # reading it would block an event loop
        cited = await io.call_blocking(read, alone=True) if is_long else read()
        by_page = {page_key(source.url): source for source in sources.values()}
        used = [sources[number] for number in cited.numbers if number in sources]
        used += [by_page[key] for link in cited.links if (key := page_key(link)) in by_page]
        verified = None
        if verify:
            # `[n]` cites the n-th source. The others are left unread.
            urls = {source.number: source.url for source in used}
            numbers = range(1, max(sources, default=0) + 1)
            texts = [urls.get(number) or _Unread() for number in numbers]
            verified = await self.dispatcher.verify(
                io, answer, texts, verifier, options, fetch=False
            )
        check = AnswerCheck(
            not_seen=cited.not_seen(self.history, self.gate),
            bad_numbers=[number for number in cited.numbers if number not in sources],
            only_found=[
                *dict.fromkeys(
                    source.url for source in used if not (source.is_read or source.is_cited)
                )
            ],
            verified=verified,
        )
        return self.dispatcher.redactor().clean(check)

    def sources(self) -> list[SessionSource]:
        """See `Session.sources`."""
        return self.dispatcher.redactor().clean(self.history.listed())

    def queries(self) -> list[str]:
        """See `Session.queries`."""
        return self.dispatcher.redactor().clean([*self.history.queries])

    def report(self, form: str) -> Any:
        """See `Session.report`."""
        if form not in {"markdown", "json"}:
            raise InputError(f"Invalid `form` {shown(form)}: expected markdown or json.")
        redactor = self.dispatcher.redactor()
        session_id = id_in_state(self.id, redactor)
        facts = facts_of(self.options, session_id, self.history, self.spending)
        try:
            facts["unused_calls"] = self.unused_calls()
        except InputError as error:  # so does each call
            facts |= {"unused_calls": [], "notes": [*facts["notes"], str(error)]}
        # A call keeps short logins in its arguments, and what is a key now may not have been one.
        facts = redactor.clean(facts)
        return facts if form == "json" else load_display("session_report").draw_markdown(facts)

    def state(self) -> dict[str, Any]:
        """See `Session.state`."""
        user = self._user_hash()
        redactor = self.dispatcher.redactor()
        return to_state(self.id, user, self.history, self.spending, redactor)

    def output_reader(self) -> str:
        """Return who may read the stored outputs of the session. May read the store."""
        self._user_hash()
        return self.services.reader

    def _user_hash(self) -> str:
        if self.options.user and not self.services.user:
            self.services.make(call_services(self.dispatcher.accounts()))
        return self.services.user
