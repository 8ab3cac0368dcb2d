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
            accepted, credit that is used up.
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
            RequestError: No answer came, and failures are raised.
            ProviderError: A page failed, and failures are raised; or the provider does not
                accept the key or has no credit left.
        """
        batches = self._batches()
        while batches:
            batch = batches.popleft()
            try:
                response = self.web.fetch(batch, **self._wanted)
            except WebToolsError as error:
                batches.extendleft(self._instead(batch, error))
            else:
                yield from self._documents(response)

    async def alazy_load(self) -> AsyncIterator[Document]:
        """Load as `lazy_load` does, awaited; cancelling the task ends the requests.

        Yields:
            The documents.
        """
        batches = self._batches()
        while batches:
            batch = batches.popleft()
            try:
                response = await self.web.afetch(batch, **self._wanted)
            except WebToolsError as error:
                batches.extendleft(self._instead(batch, error))
            else:
                for document in self._documents(response):
                    yield document

    def _batches(self) -> deque[list[str]]:
        starts = range(0, len(self.urls), BATCH)
        return deque(self.urls[start : start + BATCH] for start in starts)

    def _instead(self, batch: list[str], error: WebToolsError) -> list[list[str]]:
        """Give what to fetch instead of a batch that failed, last part first.

        One URL that is none lets a batch be refused before anything is sent; halving finds it.
        """
        if not self.continue_on_failure or isinstance(error, _HOPELESS):
            raise error
        if isinstance(error, InputError) and len(batch) > 1:
            middle = len(batch) // 2
            return [batch[middle:], batch[:middle]]
        _logger.warning("Left out of what was loaded: %s", error)
        return []

    def _documents(self, response: FetchResponse) -> Iterator[Document]:
        for warning in response.warnings:
            _logger.warning("%s", warning)
        for page in response.pages:
            if not page.error:
                yield page_document(page)
            elif self.continue_on_failure:
                _logger.warning("Left out of what was loaded: %s: %s", page.url, page.error)
            else:
                raise _failure(page, response.provider)


def _failure(page: Page, provider: str) -> ProviderError:
    message = (
        f"The page could not be fetched: {page.url}: {page.error}. "
        "Check the URL, or pass continue_on_failure=True to leave it out."
    )
    return ProviderError(message, provider=provider)
