"""Any number of pages, a batch at a time, as the frameworks' loaders give them.

A page that cannot be read is left out and logged, or raised where its loss must not go unseen. What
would fail for every page is raised in any case, and so is the first failure where no page came:
nothing loaded never looks like nothing to load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from logging import Logger

from webtools.errors import (
    AuthenticationError,
    InputError,
    ProviderError,
    QuotaError,
    RequestError,
    WebToolsError,
)
from webtools.inputs.tool_inputs import FetchInput, read_input
from webtools.results import FetchResponse, Page

__all__ = ["Loading", "failed_pages", "plain_text", "url_fault"]

_HOPELESS = (AuthenticationError, QuotaError)  # the next pages would fail likewise


def plain_text(page: Page) -> str:
    """Return all that came of a page, as one text: summary, extracts, passages, text."""
    passages = [passage.text for passage in page.passages or ()]
    parts = [page.summary, *page.highlights, *passages, page.text]
    return "\n\n".join(part for part in parts if part)


def failed_pages(urls: Sequence[str], error: WebToolsError) -> FetchResponse:
    """Return a response in which each page has the error of the whole call."""
    pages = [Page(url=url, error=str(error)) for url in urls]
    return FetchResponse(provider=error.provider or "", pages=pages)


class Loading:
    """One pass over URLs."""

    def __init__(self, urls: Sequence[str], logger: Logger, *, continue_on_failure: bool) -> None:
        """Begin; nothing has come, and nothing has failed."""
        self._urls = urls
        self._logger = logger
        self._goes_on = continue_on_failure
        self._first: WebToolsError | None = None  # that failed
        self._has_come = False

    def batches(self, size: int) -> Iterator[Sequence[str]]:
        """Yield what to fetch next; one URL that is none would have its whole batch refused."""
        urls = [url for url in self._urls if not self._is_refused(url)]
        for start in range(0, len(urls), size):
            yield urls[start : start + size]

    def fail(self, urls: Sequence[str], error: WebToolsError, reason: str = "") -> None:
        """Leave pages out, or raise what failed."""
        is_theirs = isinstance(error, (RequestError, ProviderError))
        if not self._goes_on or not is_theirs or isinstance(error, _HOPELESS):
            raise error
        self._leave_out(urls, error, reason)

    def pages(self, response: FetchResponse, *, may_be_empty: bool) -> Iterator[Page]:
        """Yield the pages that could be read, and log what the call has to warn of."""
        for warning in response.warnings:
            self._logger.warning("%s", warning)
        for page in response.pages:
            has_text = may_be_empty or page.text
            if reason := page.error or ("" if has_text else "it has no text"):
                self.fail([page.url], _unreadable(page, reason, response.provider), reason)
            else:
                self._has_come = True
                yield page

    def end(self) -> None:
        """Raise the first failure where no page came."""
        if self._first is not None and not self._has_come:
            raise self._first

    def _is_refused(self, url: str) -> bool:
        fault = url_fault(url)
        if fault is None:
            return False
        if not self._goes_on:
            raise fault
        self._leave_out([url], fault)
        return True

    def _leave_out(self, urls: Sequence[str], error: WebToolsError, reason: str = "") -> None:
        self._logger.warning("Left out %s: %s", ", ".join(urls), reason or error)
        self._first = self._first or error


def url_fault(url: str) -> InputError | None:
    """Explain why a URL cannot be fetched, if so."""
    try:
        read_input(FetchInput, {"urls": [url]})
    except InputError as error:
        return error
    return None


def _unreadable(page: Page, reason: str, provider: str) -> ProviderError:
    message = (
        f"{page.url} could not be read: {reason}. Correct the URL; "
        "continue_on_failure=True leaves such pages out where others can be read."
    )
    return ProviderError(message, provider=provider)
