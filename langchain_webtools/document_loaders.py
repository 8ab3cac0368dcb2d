"""Web pages as documents, for indexing."""

import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from langchain_webtools._documents import page_document
from langchain_webtools._web import given_or_new
from webtools.errors import (
    AuthenticationError,
    ConfigError,
    InputError,
    ProviderError,
    QuotaError,
    WebToolsError,
)
from webtools.results import FetchResponse, Page
from webtools.tools import FetchInput, read_input

if TYPE_CHECKING:
    from webtools import WebTools

BATCH = 10  # pages fetched at a time: few enough that the first ones come soon

_logger = logging.getLogger(__name__)
_HOPELESS = (ConfigError, AuthenticationError, QuotaError)  # the next pages would fail likewise


class WebPageLoader(BaseLoader):
    """Load web pages as documents, one per URL, in the order of the URLs.

    Setup:
        Install the package. Pages are read from their own sites when no provider is configured:

        ```bash
        pip install 'agent-webtools[fetch,langchain]'
        ```

    Instantiation:
        ```python
        from langchain_webtools import WebPageLoader

        loader = WebPageLoader(["https://peps.python.org/pep-0634/"])
        ```

    Lazy load:
        ```python
        for document in loader.lazy_load():  # ten pages are fetched at a time
            print(document.metadata["title"], len(document.page_content))
        ```

    Async:
        ```python
        documents = [document async for document in loader.alazy_load()]
        ```

    The metadata are `source` and `url` (both the URL) and, where known, `title`, `published_at`
    (ISO 8601) and `author`. The `id` follows from the URL, so that a store updates the document.

    Args:
        urls: One absolute http(s) URL or several, any number of them.
        web: What carries out the calls; one of its own by default.
        summary: Load a summary of each page, not its text.
        highlights: Load the most relevant extracts of each page, not its text.
        text_max_characters: Most characters of text per page.
        provider: Configured name of the provider to use.
        continue_on_failure: Log and leave out a page that fails; False raises at the first one.
            What would fail for every page is raised in any case: bad settings, a key that is not
            accepted, credit that is used up. And where no page came at all, the end of loading
            raises the first failure: nothing loaded never looks like nothing to load.
    """

    def __init__(
        self,
        urls: str | Iterable[str],
        *,
        web: "WebTools | None" = None,
        summary: bool = False,
        highlights: bool = False,
        text_max_characters: int | None = None,
        provider: str | None = None,
        continue_on_failure: bool = True,
    ) -> None:
        """Remember what to load; nothing is fetched.

        Raises:
            ValueError: `web` is no `WebTools`.
            InputError: `text_max_characters` is out of range.
        """
        self.web = given_or_new(web)
        self.urls = [urls] if isinstance(urls, str) else list(dict.fromkeys(urls))
        self.continue_on_failure = continue_on_failure
        self._wanted: dict[str, Any] = {
            "summary": summary,
            "highlights": highlights,
            "text_max_characters": text_max_characters,
            "provider": provider,
        }
        # Later, an argument that is refused must be a URL.
        read_input(FetchInput, {**self._wanted, "urls": ["https://example.com/"]})

    def lazy_load(self) -> Iterator[Document]:
        """Load page by page.

        Yields:
            The documents.

        Raises:
            InputError: An argument makes no sense.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No answer came, and failures are raised or no page came.
            ProviderError: A page failed, and failures are raised or no page came; or the provider
                does not accept the key or has no credit left.
        """
        loading = _Loading(self.urls, continue_on_failure=self.continue_on_failure)
        for batch in loading.batches():
            try:
                response = self.web.fetch(batch, **self._wanted)
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                yield from loading.documents(response)
        loading.end()

    async def alazy_load(self) -> AsyncIterator[Document]:
        """Load as `lazy_load` does, awaited; cancelling the task ends the requests.

        Yields:
            The documents.
        """
        loading = _Loading(self.urls, continue_on_failure=self.continue_on_failure)
        for batch in loading.batches():
            try:
                response = await self.web.afetch(batch, **self._wanted)
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                for document in loading.documents(response):
                    yield document
        loading.end()


class _Loading:
    """One pass over the URLs: what is left to fetch, and what has come of it so far."""

    def __init__(self, urls: list[str], *, continue_on_failure: bool) -> None:
        starts = range(0, len(urls), BATCH)
        self._left = deque(urls[start : start + BATCH] for start in starts)
        self._goes_on = continue_on_failure
        self._first: WebToolsError | None = None  # that failed
        self._came = False

    def batches(self) -> Iterator[list[str]]:
        """Yield what to fetch next, as long as there is something."""
        while self._left:
            yield self._left.popleft()

    def fail(self, batch: list[str], error: WebToolsError) -> None:
        """Take a batch that failed.

        One URL that is none lets a batch be refused before anything is sent; halving finds it.
        """
        if not self._goes_on or isinstance(error, _HOPELESS):
            raise error
        if isinstance(error, InputError) and len(batch) > 1:
            middle = len(batch) // 2
            self._left.extendleft([batch[middle:], batch[:middle]])
        else:
            self._leave_out(str(error), error)

    def documents(self, response: FetchResponse) -> Iterator[Document]:
        """Yield the documents of the pages that did not fail."""
        for warning in response.warnings:
            _logger.warning("%s", warning)
        for page in response.pages:
            if not page.error:
                self._came = True
                yield page_document(page)
            elif self._goes_on:
                self._leave_out(f"{page.url}: {page.error}", _failure(page, response.provider))
            else:
                raise _failure(page, response.provider)

    def end(self) -> None:
        """Raise the first failure where no page came."""
        if self._first is not None and not self._came:
            raise self._first

    def _leave_out(self, what: str, error: WebToolsError) -> None:
        _logger.warning("Left out of what was loaded: %s", what)
        self._first = self._first or error


def _failure(page: Page, provider: str) -> ProviderError:
    message = (
        f"The page could not be fetched: {page.url}: {page.error}. "
        "Check the URL; continue_on_failure=True leaves such pages out where others come."
    )
    return ProviderError(message, provider=provider)
