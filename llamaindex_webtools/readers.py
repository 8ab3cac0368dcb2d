"""A reader of web pages."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.readers.base import BasePydanticReader
from llama_index.core.schema import Document

from llamaindex_webtools._component import HoldsWeb, log_warnings, logger, url_fault
from llamaindex_webtools._nodes import document, page_id
from webtools import (
    AuthenticationError,
    FetchResponse,
    Page,
    ProviderError,
    QuotaError,
    RequestError,
    WebToolsError,
)

if TYPE_CHECKING:
    from webtools import WebTools

__all__ = ["WebPageReader"]

_AT_ONCE = 10  # pages that are read ahead of a lazy caller
_MOST = 100  # URLs of one call
_HOPELESS = (AuthenticationError, QuotaError)  # the next pages would fail likewise


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
    text_max_characters: int | None = None
    provider: str | None = None
    continue_on_failure: bool = True

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        text_max_characters: int | None = None,
        provider: str | None = None,
        continue_on_failure: bool = True,
        is_remote: bool = True,
    ) -> None:
        super().__init__(
            web,
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
        losses = _Losses(raised=not self.continue_on_failure)
        for batch in _batches(urls, _MOST, losses):
            try:
                response = await self.web.afetch(batch, **self._settings())
            except (RequestError, ProviderError) as error:
                losses.add(batch, error)
            else:
                documents += _documents(response, losses)
        losses.end(found=bool(documents))
        return documents

    async def alazy_load_data(self, urls: str | Sequence[str]) -> Iterable[Document]:
        """Read pages as `aload_data` does: what LlamaIndex awaits here is no async iterator."""
        return await self.aload_data(urls)

    def _read(self, urls: str | Sequence[str], size: int) -> Iterator[Document]:
        found = False
        losses = _Losses(raised=not self.continue_on_failure)
        for batch in _batches(urls, size, losses):
            try:
                response = self.web.fetch(batch, **self._settings())
            except (RequestError, ProviderError) as error:
                losses.add(batch, error)
            else:
                documents = _documents(response, losses)
                found = found or bool(documents)
                yield from documents
        losses.end(found=found)

    def _settings(self) -> dict[str, Any]:
        return {
            "text": True,
            "text_max_characters": self.text_max_characters,
            "provider": self.provider,
        }


class _Losses:
    """The pages that one pass leaves out."""

    def __init__(self, *, raised: bool) -> None:
        """Begin without any; `raised` has the first one raised and not logged."""
        self._raised = raised
        self._first: WebToolsError | None = None

    def add(self, urls: list[str], error: WebToolsError, reason: str = "") -> None:
        """Log that pages are missing, or raise; what would fail every page is always raised."""
        if isinstance(error, _HOPELESS) or self._raised:
            raise error
        logger.warning("Left out %s: %s", ", ".join(urls), reason or error)
        self._first = self._first or error

    def end(self, *, found: bool) -> None:
        """Raise the first failure where no page was found."""
        if self._first is not None and not found:
            raise self._first


def _batches(urls: str | Sequence[str], size: int, losses: _Losses) -> list[list[str]]:
    """Part the URLs; of those that lead to one page, the first stands for all."""
    first_of: dict[str, str] = {}
    for url in [urls] if isinstance(urls, str) else urls:
        if fault := url_fault(url):
            losses.add([url], fault)
        else:
            first_of.setdefault(page_id(url), url)
    pages = [*first_of.values()]
    return [pages[start : start + size] for start in range(0, len(pages), size)]


def _documents(response: FetchResponse, losses: _Losses) -> list[Document]:
    log_warnings(response)
    return [document(page) for page in response.pages if _is_readable(page, response, losses)]


def _is_readable(page: Page, response: FetchResponse, losses: _Losses) -> bool:
    reason = page.error or (None if page.text else "it has no text")
    if reason is None:
        return True
    message = (
        f"{page.url} could not be read: {reason}. Correct the URL; "
        "continue_on_failure=True leaves such pages out where others can be read."
    )
    losses.add([page.url], ProviderError(message, provider=response.provider), reason)
    return False
