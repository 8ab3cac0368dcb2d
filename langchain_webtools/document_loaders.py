"""Web pages as documents, for indexing."""

import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from langchain_webtools._documents import page_document
from langchain_webtools._web import given_or_new
from webtools._internal.operations.loading import Loading
from webtools.errors import InputError, WebToolsError
from webtools.tools import FetchInput, read_input

if TYPE_CHECKING:
    from webtools import WebTools
    from webtools.config.overrides import Key

BATCH = 10  # pages fetched at a time: few enough that the first ones come soon

_logger = logging.getLogger(__name__)


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
        api_keys: API keys by provider type, such as `{"exa": "..."}`, in place of `web`.
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
        api_keys: "Mapping[str, Key] | None" = None,
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
        self.web = given_or_new(web, api_keys=api_keys)
        self.urls = [urls] if isinstance(urls, str) else list(dict.fromkeys(urls))
        self.continue_on_failure = continue_on_failure
        self._wanted: dict[str, Any] = {
            "summary": summary,
            "highlights": highlights,
            "text_max_characters": text_max_characters,
            "provider": provider,
        }
        if text_max_characters == 0:  # a model may leave an argument out so
            raise InputError('text_max_characters "0" is not possible; use 1 or more.')
        # Later, a refusal would be raised amid the pages.
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
        loading = Loading(self.urls, _logger, continue_on_failure=self.continue_on_failure)
        for batch in loading.batches(BATCH):
            try:
                response = self.web.fetch(batch, **self._wanted)
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                yield from map(page_document, loading.pages(response, may_be_empty=True))
        loading.end()

    async def alazy_load(self) -> AsyncIterator[Document]:
        """Load as `lazy_load` does, awaited; cancelling the task ends the requests.

        Yields:
            The documents.
        """
        loading = Loading(self.urls, _logger, continue_on_failure=self.continue_on_failure)
        for batch in loading.batches(BATCH):
            try:
                response = await self.web.afetch(batch, **self._wanted)
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                for page in loading.pages(response, may_be_empty=True):
                    yield page_document(page)
        loading.end()
