"""Loads any number of pages in batches, for the loaders of the frameworks.

A page that cannot be read is skipped and logged, or its error is raised if the loader says so. An
error that every page would have is always raised. If no page was loaded, the first error is raised.
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

__all__ = ["Loading", "plain_text", "url_fault"]

_FINAL_ERRORS = (AuthenticationError, QuotaError)  # the next pages would fail, too


def plain_text(page: Page) -> str:
    """Return the summary, extracts, passages and text of a page as one text."""
    passages = [passage.text for passage in page.passages or ()]
    parts = [page.summary, *page.highlights, *passages, page.text]
    return "\n\n".join(part for part in parts if part)


class Loading:
    """One pass over URLs."""

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
        """Skip pages, or raise their error."""
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
        """Raise the first error if no page was loaded."""
        if self._first_error is not None and not self._has_pages:
            raise self._first_error

    def _is_refused(self, url: str) -> bool:
        fault = url_fault(url)
        if fault is None:
            return False
        if not self._continues:
            raise fault
        self._skip([url], fault)
        return True

    def _skip(self, urls: Sequence[str], error: WebToolsError, reason: str = "") -> None:
        self._logger.warning("Skipped %s: %s", ", ".join(urls), reason or error)
        self._first_error = self._first_error or error


def url_fault(url: str) -> InputError | None:
    """Return the error of an invalid URL."""
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
