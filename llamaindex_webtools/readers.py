"""A reader of web pages."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.readers.base import BasePydanticReader
from llama_index.core.schema import Document

from llamaindex_webtools._component import HoldsWeb, logger
from llamaindex_webtools._nodes import document, page_id
from webtools import WebToolsError
from webtools._internal.operations.loading import Loading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webtools import WebTools
    from webtools.config.overrides import Key

__all__ = ["WebPageReader"]

_AT_ONCE = 10  # pages that are read ahead of a lazy caller
_MOST = 100  # URLs of one call


class WebPageReader(HoldsWeb, BasePydanticReader):
    """Reads web pages into documents.

        documents = WebPageReader().load_data(["https://docs.python.org/3/library/json.html"])

    A document's id comes from its URL, and its metadata (`title`, `url`, `published_at`,
    `author`, so far as they are known) hold nothing that changes while the page does not. So an
    `IngestionPipeline` with a docstore embeds a page again only when the page has changed. URLs
    that lead to one page, such as those that differ in their fragment, give one document; its
    `url` has no fragment, and the host in lower case.

    Args:
        web: What does the work; a `WebTools()` of its own when left out.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, in place of `web`.

    Attributes:
        text_max_characters: Most characters of text per page; None sets no bound.
        provider: Configured name of the provider to use, or None.
        continue_on_failure: Log and leave out a page that cannot be read; False raises at the
            first one, which suits docstore strategies that delete what is missing. What would
            fail for every page is raised in any case: bad settings, a key that is not accepted,
            credit that is used up. And where no page can be read at all, the end of reading
            raises the first failure: such a store would else delete all that it has.
        is_remote: True: the data come from the network.
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
        """Return the name that serialized readers bear."""
        return "WebPageReader"

    def load_data(self, urls: str | Sequence[str]) -> list[Document]:
        """Read pages.

        Args:
            urls: One absolute http(s) URL or any number of them.

        Returns:
            A document per page, in the order of the URLs.

        Raises:
            InputError: A setting makes no sense; or a URL, and failures are raised or no page
                could be read.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No answer came, and failures are raised or no page could be read.
            ProviderError: A page could not be read, and failures are raised or none could; or the
                provider does not accept the key or has no credit left.
        """
        return [*self._read(urls, _MOST)]

    def lazy_load_data(self, urls: str | Sequence[str]) -> Iterable[Document]:
        """Read pages as `load_data` does, ten at a time as the documents are asked for."""
        return self._read(urls, _AT_ONCE)

    async def aload_data(self, urls: str | Sequence[str]) -> list[Document]:
        """Read pages as `load_data` does, awaited."""
        documents: list[Document] = []
        loading = self._loading(urls)
        for batch in loading.batches(_MOST):
            try:
                response = await self.web.afetch(batch, **self._settings())
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                documents += map(document, loading.pages(response, may_be_empty=False))
        loading.end()
        return documents

    async def alazy_load_data(self, urls: str | Sequence[str]) -> Iterable[Document]:
        """Read pages as `aload_data` does: what LlamaIndex awaits here is no async iterator."""
        return await self.aload_data(urls)

    def _read(self, urls: str | Sequence[str], size: int) -> Iterator[Document]:
        loading = self._loading(urls)
        for batch in loading.batches(size):
            try:
                response = self.web.fetch(batch, **self._settings())
            except WebToolsError as error:
                loading.fail(batch, error)
            else:
                yield from map(document, loading.pages(response, may_be_empty=False))
        loading.end()

    def _loading(self, urls: str | Sequence[str]) -> Loading:
        return Loading(_one_of_each(urls), logger, continue_on_failure=self.continue_on_failure)

    def _settings(self) -> dict[str, Any]:
        return {
            "text": True,
            "text_max_characters": self.text_max_characters,
            "provider": self.provider,
        }


def _one_of_each(urls: str | Sequence[str]) -> list[str]:
    """Return the URLs; of those that lead to one page, the first stands for all."""
    first_of: dict[str, str] = {}
    for url in [urls] if isinstance(urls, str) else urls:
        first_of.setdefault(page_id(url), url)
    return [*first_of.values()]
