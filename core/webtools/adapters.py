"""What adapters to agent frameworks have in common.

An adapter needs `webtools.tools` for the tools and `WebTools.call_tool` to call one. This module
checks the arguments of an adapter's constructors, and loads pages for the document loaders of
frameworks. The page "Write an adapter" shows a whole adapter.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from logging import Logger
from typing import Any

from webtools._internal.late_imports import resolve
from webtools._internal.pipeline.tool_call import CallOptions
from webtools._internal.text.quoting import hint
from webtools.choices import CacheMode
from webtools.client import Session, WebTools
from webtools.errors import (
    AuthenticationError,
    ConfigError,
    InputError,
    ProviderError,
    QuotaError,
    RequestError,
    WebToolsError,
)
from webtools.inputs.tool_inputs import FetchInput, read_input
from webtools.native import NativeTool, NotNative, Route, native_search
from webtools.results import FetchResponse, Page

__all__ = [
    "Loading",
    "check_arguments",
    "check_options",
    "check_web",
    "merge_states",
    "native_or_own",
    "output_reader",
    "plain_text",
    "shared_tape",
    "url_error",
    "web_of",
]

_STATE = "_internal.session.state"
_OPTIONS = "_internal.session.options:SessionOptions"
_FINAL_ERRORS = (AuthenticationError, QuotaError)  # the next pages would fail, too


def check_web(web: WebTools | None, **settings: Any) -> WebTools:
    """Return `web`; for None, make a `WebTools` from the settings.

    Args:
        web: The value of the adapter's argument `web`.
        settings: Arguments of `WebTools`, such as `api_keys`, which the adapter takes instead.

    Raises:
        InputError: `web` is not a `WebTools`, or comes with settings.
        ConfigError: A setting is not valid.
    """
    if web is None:
        return WebTools(**settings)
    if not isinstance(web, WebTools):  # pyright: ignore[reportUnnecessaryIsInstance]
        kind = type(web).__name__
        message = f'web must be a WebTools, such as WebTools("CONFIG_FILE"), not {kind}.'
        raise InputError(message)
    if names := [name for name, value in settings.items() if value is not None]:
        arguments, options = ", ".join(names), ", ".join(f"{name}=..." for name in names)
        raise InputError(
            f"Pass web or {arguments}, not both. To combine them, pass web=WebTools({options})."
        )
    return web


def shared_tape(
    record: str | os.PathLike[str] | None, replay: str | os.PathLike[str] | None
) -> dict[str, Any]:
    """Return arguments of `WebTools.session` for sessions that share one tape.

    Args:
        record: As for `WebTools.session`. Calls of all sessions are recorded in their order.
        replay: As for `WebTools.session`. Each call is replayed once, in whichever session. But
            users read only their own stored outputs, and see only their own calls.

    Raises:
        InputError: A file cannot be used.
    """
    tape = resolve(_OPTIONS)(record=record, replay=replay).tape()
    return {} if tape is None else {"record": tape}


def web_of(
    web: WebTools | Callable[[Any], WebTools] | None, **settings: Any
) -> Callable[[Any], WebTools]:
    """Return a function that returns the `WebTools` for a context of a framework.

    Args:
        web: A `WebTools`, such as a session; a function of the context that returns one, so that
            one agent serves many sessions; or None, to make one from the settings.
        settings: Arguments of `WebTools`.

    Raises:
        InputError: `web` is neither, or comes with settings.
        ConfigError: A setting is not valid.
    """
    if web is None or isinstance(web, WebTools) or not callable(web):
        fixed = check_web(web, **settings)
        fixed.warn_if_unconfigured()
        return lambda _: fixed
    if settings:
        raise InputError("Pass web or settings, not both. The function can use the settings.")
    return lambda context: _web_of_context(web(context))


def _web_of_context(web: Any) -> WebTools:
    if isinstance(web, WebTools):
        return web
    raise InputError(
        f"The function passed as web must return a WebTools, not {type(web).__name__}. Pass the "
        "session to the run, where the function looks for it."
    )


def native_or_own(
    web: WebTools,
    route: Route,
    filters: Mapping[str, Any] | None = None,
    *,
    max_searches: int | None = None,
    overshoot: bool = False,
) -> NativeTool | NotNative:
    """Decide whether a model searches on the vendor's side or with `web_search`.

    The vendor's tool is returned if it serves all filters and fits the gate and what is left of the
    limits of a session. A vendor cannot hold `usd_per_day` or a budget of the settings, which other
    processes share, nor `fetch.allowDomains` and `fetch.denyDomains`, so with one `web_search` is
    used.

    What the vendor may spend is reserved in the limits of a session, until the tool is passed to
    `Session.record_native`. The store may be used: on an event loop, call both in a thread.

    Args:
        web: The `WebTools` or session that would search.
        route: The vendor's route and model.
        filters: Arguments of `web_search` that the developer has fixed.
        max_searches: Maximum number of searches in a response, where the vendor has such a limit.
        overshoot: Use a vendor although it may spend more money than what is left, as long as some
            is left. It needs a session, which counts what the vendor spends.
    """
    usd_left, calls_left, fetch = None, None, "any"
    try:
        config = web._settings.latest().config  # noqa: SLF001 - of our own class
        budget = config.budget.model_dump(exclude_none=True)
        if config.fetch.allow_domains or config.fetch.deny_domains:
            return NotNative(
                "the settings restrict the hosts of pages (fetch), and a vendor does not"
            )
        if isinstance(web, Session):
            options = web._core.options  # noqa: SLF001 - of our own class
            left, fetch = web.remaining(), options.fetch
            usd_left, calls_left = left.usd, left.calls
            if left.seconds == 0:
                return NotNative(f"the session has ended after its {options.seconds:g} s (seconds)")
            if options.usd_per_day is not None:
                budget["usd_per_day"] = options.usd_per_day
    except ConfigError as error:
        return NotNative(f"the limits cannot be checked: {error}")
    is_counted = overshoot and isinstance(web, Session)
    forbidden = [name for name in budget if not (is_counted and name.startswith("usd"))]
    if forbidden:
        return NotNative(f"there is {', '.join(forbidden)}, which a vendor cannot hold")
    choice = native_search(
        route,
        filters,
        max_searches=max_searches,
        usd_left=usd_left,
        calls_left=calls_left,
        fetch=fetch,
        overshoot=overshoot,
    )
    is_limited = usd_left is not None or calls_left is not None
    return _with_reservation(web, choice) if is_limited and isinstance(web, Session) else choice


def _with_reservation(session: Session, choice: NativeTool | NotNative) -> NativeTool | NotNative:
    """Reserve the searches of a choice in the limits; none where the vendor has no maximum."""
    if isinstance(choice, NotNative) or not choice.max_searches:
        return choice
    facts, searches = choice.facts, choice.max_searches
    try:
        release = session._core.reserve_searches(  # noqa: SLF001 - of our own class
            facts.vendor, searches, searches * facts.usd_per_search
        )
    except QuotaError as error:
        return NotNative(str(error).removesuffix("."))
    except ConfigError as error:
        return NotNative(f"the limits cannot be checked: {error}")
    return replace(choice, release=release)


def output_reader(web: WebTools) -> str:
    """Return who may read a stored output that `web` has saved: the user of a session, or it.

    It is empty without a session: then any `WebTools` may. Pass it to `webtools.outputs`. The store
    may be read: on an event loop, call this in a thread.

    Raises:
        ConfigError: The settings or the store cannot be read.
    """
    return web._core.output_reader() if isinstance(web, Session) else ""  # noqa: SLF001


def check_arguments(owner: str, arguments: Iterable[str], known: Iterable[str]) -> None:
    """Check the names of keyword arguments.

    Args:
        owner: What they are passed to, for the message.
        arguments: The names.
        known: The names that it takes.

    Raises:
        InputError: A name is unknown.
    """
    known = sorted(known)
    for name in sorted({*arguments} - {*known}):
        near = hint(name, known)
        raise InputError(f"{owner} has no argument {name}{near}; it takes {', '.join(known)}.")


def check_options(cache: CacheMode, timeout: float | None) -> None:
    """Check the options of `WebTools.call_tool` before the first call.

    Raises:
        InputError: `cache` is unknown, or `timeout` is not a number of seconds above 0.
    """
    CallOptions(cache, timeout=timeout)


def merge_states(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state of what two states of one session have, for the state of a graph.

    Merging a state twice changes nothing. Of states of two sessions, the newer one is returned.

    Args:
        old: What `Session.state` has returned, or an empty mapping.
        new: What it has returned later, or in another process.
    """
    merged: dict[str, Any] = resolve(f"{_STATE}:merge_states")(old, new)
    return merged


def plain_text(page: Page) -> str:
    """Return the summary, extracts, passages and text of a page as one text."""
    passages = [passage.text for passage in page.passages or ()]
    parts = [page.summary, *page.highlights, *passages, page.text]
    return "\n\n".join(part for part in parts if part)


class Loading:
    """Loads any number of pages in batches, and decides which errors end the loading.

    A page that cannot be read is skipped and logged; without `continue_on_failure`, its error is
    raised. An error that every page would have is always raised.

        loading = Loading(urls, logger, continue_on_failure=True)
        for batch in loading.batches(10):
            try:
                response = web.fetch(batch)
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                yield from loading.pages(response, may_be_empty=False)
        loading.end()

    Args:
        urls: The URLs.
        logger: Where to log skipped pages and warnings.
        continue_on_failure: Whether to skip pages that cannot be read.
    """

    def __init__(self, urls: Sequence[str], logger: Logger, *, continue_on_failure: bool) -> None:
        self._urls = urls
        self._logger = logger
        self._continues = continue_on_failure
        self._first_error: WebToolsError | None = None
        self._has_pages = False

    def batches(self, size: int) -> Iterator[Sequence[str]]:
        """Yield batches of URLs. An invalid URL is skipped: it would fail its whole batch."""
        urls = [url for url in self._urls if not self._is_refused(url)]
        for start in range(0, len(urls), size):
            yield urls[start : start + size]

    def fail(self, urls: Sequence[str], error: WebToolsError, reason: str = "") -> None:
        """Skip pages, or raise their error.

        Raises:
            WebToolsError: All pages would have the error, or pages must not be skipped.
        """
        is_external = isinstance(error, (RequestError, ProviderError))
        if not self._continues or not is_external or isinstance(error, _FINAL_ERRORS):
            raise error
        self._skip(urls, error, reason)

    def pages(self, response: FetchResponse, *, may_be_empty: bool) -> Iterator[Page]:
        """Yield the pages that could be read, and log the warnings."""
        for warning in response.warnings:
            self._logger.warning("%s", warning)
        for page in response.pages:
            has_text = may_be_empty or page.text
            if reason := page.error or ("" if has_text else "the page has no text"):
                self.fail([page.url], _unreadable(page, reason, response.provider), reason)
            else:
                self._has_pages = True
                yield page

    def end(self) -> None:
        """Raise the first error if no page was loaded.

        Raises:
            WebToolsError: No page was loaded.
        """
        if self._first_error is not None and not self._has_pages:
            raise self._first_error

    def _is_refused(self, url: str) -> bool:
        error = url_error(url)
        if error is None:
            return False
        if not self._continues:
            raise error
        self._skip([url], error)
        return True

    def _skip(self, urls: Sequence[str], error: WebToolsError, reason: str = "") -> None:
        self._logger.warning("Skipped %s: %s", ", ".join(urls), reason or error)
        self._first_error = self._first_error or error


def url_error(url: str) -> InputError | None:
    """Return the error of a URL that cannot be fetched, or None."""
    try:
        read_input(FetchInput, {"urls": [url]})
    except InputError as error:
        return error
    return None


def _unreadable(page: Page, reason: str, provider: str) -> ProviderError:
    message = (
        f"{page.url} could not be read: {reason}. Check the URL, or pass "
        "continue_on_failure=True to skip pages that cannot be read."
    )
    return ProviderError(message, provider=provider)
