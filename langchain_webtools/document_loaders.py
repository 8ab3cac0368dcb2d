"""Web pages as documents, for indexing."""

import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from langchain_webtools._documents import page_document
from langchain_webtools._fields import check_web
from webtools.adapters import Loading
from webtools.errors import InputError, WebToolsError
from webtools.tools import FetchInput, read_input

if TYPE_CHECKING:
    from webtools import WebTools
    from webtools.config.config_models import Key

BATCH_SIZE = 10  # few enough that the first pages come soon

_logger = logging.getLogger(__name__)


class WebPageLoader(BaseLoader):
    """Load web pages as documents, one per URL, in the order of the URLs.

    Setup:
        Install the package. Without a configured provider, webtools fetches the pages itself.

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

    The metadata are `source` and `url` (both the URL) and, if known, `title`, `published_at`
    (ISO 8601) and `author`. The `id` depends only on the URL, so a store updates the document.

    Args:
        urls: One absolute http(s) URL or any number of them.
        web: The `WebTools` to use. Default: a new one.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        keyless: With True, use providers without a key if none is configured, instead of `web`.
        summary: Load a summary of each page instead of its text.
        highlights: Load the most relevant extracts of each page instead of its text.
        text_max_characters: Maximum length of the text per page, in characters.
        provider: Configured name of the provider to use.
        continue_on_failure: Log and omit a page that fails. With False, the first failure is
            raised. An error that all pages would have, such as an invalid key or no credit, is
            always raised. If all pages fail, the first failure is raised at the end. Use False
            with `index(..., cleanup="full")`, which deletes the documents of omitted pages.
    """

    def __init__(
        self,
        urls: str | Iterable[str],
        *,
        web: "WebTools | None" = None,
        api_keys: "Mapping[str, Key] | None" = None,
        keyless: bool | None = None,
        summary: bool = False,
        highlights: bool = False,
        text_max_characters: int | None = None,
        provider: str | None = None,
        continue_on_failure: bool = True,
    ) -> None:
        """Create a loader. Pages are fetched when you load them.

        Raises:
            ValueError: `web` is not a `WebTools`.
            InputError: `text_max_characters` is out of range.
        """
        self.web = check_web(web, api_keys=api_keys, keyless=keyless)
        self.urls = [urls] if isinstance(urls, str) else list(dict.fromkeys(urls))
        self.continue_on_failure = continue_on_failure
        self._options: dict[str, Any] = {
            "summary": summary,
            "highlights": highlights,
            "text_max_characters": text_max_characters,
            "provider": provider,
        }
        if text_max_characters == 0:  # from a model, 0 means the default
            raise InputError('text_max_characters "0" is invalid; use 1 or more.')
        # Check the options now: `lazy_load` would raise only after the first page is requested.
        read_input(FetchInput, {**self._options, "urls": ["https://example.com/"]})

    def lazy_load(self) -> Iterator[Document]:
        """Load pages one by one. Ten pages are fetched at a time.

        Yields:
            The documents, in the order of the URLs.

        Raises:
            InputError: An argument is not valid.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No response came. Only without `continue_on_failure`, or if all pages
                fail.
            ProviderError: A page failed. Only without `continue_on_failure`, if all pages fail,
                or if the key is invalid or has no credit.
        """
        loading = Loading(self.urls, _logger, continue_on_failure=self.continue_on_failure)
        for batch in loading.batches(BATCH_SIZE):
            try:
                response = self.web.fetch(batch, **self._options)
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                yield from map(page_document, loading.pages(response, may_be_empty=True))
        loading.end()

    async def alazy_load(self) -> AsyncIterator[Document]:
        """Load pages as `lazy_load` does. If you cancel the task, its requests end.

        Yields:
            The documents, in the order of the URLs.
        """
        loading = Loading(self.urls, _logger, continue_on_failure=self.continue_on_failure)
        for batch in loading.batches(BATCH_SIZE):
            try:
                response = await self.web.afetch(batch, **self._options)
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                for page in loading.pages(response, may_be_empty=True):
                    yield page_document(page)
        loading.end()
