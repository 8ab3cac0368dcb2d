"""A reader of web pages."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.readers.base import BasePydanticReader
from llama_index.core.schema import Document

from llamaindex_webtools._component import WebComponent, logger
from llamaindex_webtools._nodes import first_urls, page_document
from webtools import WebToolsError
from webtools.adapters import Loading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webtools import WebTools
    from webtools.config.config_models import Key

__all__ = ["WebPageReader"]

_LAZY_BATCH_SIZE = 10
_BATCH_SIZE = 100


class WebPageReader(WebComponent, BasePydanticReader):
    """Read web pages as documents.

        documents = WebPageReader().load_data(["https://docs.python.org/3/library/json.html"])

    The metadata are `title`, `url` and, if known, `published_at` and `author`. The id depends only
    on the URL. An `IngestionPipeline` with a docstore embeds a page again only if the page has
    changed. Several URLs of one page, such as those that differ in the fragment, become one
    document. Its `url` has no fragment and a lower-case host.

    Args:
        web: The `WebTools` to use. Default: a new one.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.

    Attributes:
        text_max_characters: Maximum length of the text per page in characters, or None.
        provider: Configured name of the provider to use, or None.
        continue_on_failure: Log and omit a page that fails. With False, the first failure is
            raised. Use False with docstore strategies that delete missing documents. An error that
            all pages would have, such as an invalid key or no credit, is always raised. If all
            pages fail, the first failure is raised at the end.
        is_remote: Always True.
    """

    is_remote: bool = True
    text_max_characters: int | None = Field(default=None, ge=1)
    provider: str | None = None
    continue_on_failure: bool = True

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        api_keys: "Mapping[str, Key] | None" = None,
        text_max_characters: int | None = None,
        provider: str | None = None,
        continue_on_failure: bool = True,
        is_remote: bool = True,
    ) -> None:
        super().__init__(
            web,
            api_keys=api_keys,
            text_max_characters=text_max_characters,
            provider=provider,
            continue_on_failure=continue_on_failure,
            is_remote=is_remote,
        )

    @classmethod
    def class_name(cls) -> str:
        """Return the name in serialized readers."""
        return "WebPageReader"

    def load_data(self, urls: str | Sequence[str]) -> list[Document]:
        """Read pages.

        Args:
            urls: One absolute http(s) URL or any number of them.

        Returns:
            One document per page, in the order of the URLs.

        Raises:
            InputError: An argument is not valid.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No response came. Only without `continue_on_failure`, or if all pages
                fail.
            ProviderError: A page failed. Only without `continue_on_failure`, if all pages fail, or
                if the key is invalid or has no credit.
        """
        return [*self._read(urls, _BATCH_SIZE)]

    def lazy_load_data(self, urls: str | Sequence[str]) -> Iterable[Document]:
        """Read pages as `load_data` does, ten at a time while you iterate."""
        return self._read(urls, _LAZY_BATCH_SIZE)

    async def aload_data(self, urls: str | Sequence[str]) -> list[Document]:
        """Read pages as `load_data` does. If you cancel the task, its requests end."""
        documents: list[Document] = []
        loading = self._loading(urls)
        for batch in loading.batches(_BATCH_SIZE):
            try:
                response = await self.web.afetch(batch, **self._settings())
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                documents += map(page_document, loading.pages(response, may_be_empty=False))
        loading.end()
        return documents

    async def alazy_load_data(self, urls: str | Sequence[str]) -> Iterable[Document]:
        """Read pages as `aload_data` does. LlamaIndex expects a list, not an async iterator."""
        return await self.aload_data(urls)

    def _read(self, urls: str | Sequence[str], size: int) -> Iterator[Document]:
        loading = self._loading(urls)
        for batch in loading.batches(size):
            try:
                response = self.web.fetch(batch, **self._settings())
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                yield from map(page_document, loading.pages(response, may_be_empty=False))
        loading.end()

    def _loading(self, urls: str | Sequence[str]) -> Loading:
        urls = first_urls([urls] if isinstance(urls, str) else urls)
        return Loading(urls, logger, continue_on_failure=self.continue_on_failure)

    def _settings(self) -> dict[str, Any]:
        return {
            "text": True,
            "text_max_characters": self.text_max_characters,
            "provider": self.provider,
        }
