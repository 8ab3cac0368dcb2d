"""Lets a session open only URLs that were seen, and sends them as they were seen.

Nothing of the URL that a model wrote is requested, looked up or passed to a provider. Its fragment
is applied to the page here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urldefrag

from pydantic import BaseModel

from webtools._internal.session.history import LINK, History
from webtools._internal.session.spelled_urls import is_spelled, words_of
from webtools.choices import FetchGate
from webtools.errors import URL_NOT_SEEN, InputError
from webtools.results import FetchResponse, Page, failed_page
from webtools.tools import FETCH, Tool

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Admitted:
    """The URLs of a call that may be opened.

    Attributes:
        urls: The URLs of the call, each with what to open; None for one that is refused.
        as_seen: What may leave for a URL with a fragment of the caller.
    """

    urls: dict[str, str | None]
    as_seen: dict[str, str] = field(default_factory=dict[str, str])

    def restore(self, response: T) -> T:
        """Return the response with one page per URL of the call, in order."""
        if not isinstance(response, FetchResponse):
            return response
        # By their place: a URL of a page is redacted if it has a word of a login.
        opened_urls = dict.fromkeys(filter(None, self.urls.values()))
        pages = dict(zip(opened_urls, response.pages, strict=False))
        restored = [
            _refused_page(url) if opened is None else pages[opened].model_copy(update={"url": url})
            for url, opened in self.urls.items()
        ]
        return response.model_copy(update={"pages": restored})


def _refused_page(url: str) -> Page:
    error = refusal()
    return failed_page(url, str(error), error)


class Gate:
    """Decides which URLs may be opened.

    Args:
        history: The URLs that were seen.
        mode: `any`, `seen` or `strict`.
    """

    def __init__(self, history: History, mode: FetchGate) -> None:
        self._history = history
        self.mode = mode

    def find(self, url: str) -> str | None:
        """Return a URL as it was seen, or None if it was not, or only on a page under `strict`."""
        seen = self._history.find(url)
        if seen is None or (self.mode == "strict" and seen.origin == LINK):
            return None
        return seen.url

    def as_seen(self, url: str, question: str) -> str | None:
        """Return what research may read for a result; None if only the question has its URL."""
        if self.mode == "any" or not is_spelled(url, words_of([question])):
            return url
        return self.find(url)

    def admit(self, tool: Tool, arguments: BaseModel) -> tuple[BaseModel, Admitted | None]:
        """Check the URLs of a call.

        Returns:
            The arguments with the URLs as they were seen, without those that are refused, and which
            URLs these are; None if the call has no URLs or all may be opened.

        Raises:
            InputError: All URLs are refused.
        """
        name = tool.url_argument
        if self.mode == "any" or not name or not getattr(arguments, tool.url_switch or name):
            return arguments, None
        value: str | Sequence[str] = getattr(arguments, name)
        urls = [value] if isinstance(value, str) else list(value)
        is_fetch = tool.response == FETCH.response
        admitted = self._admit(urls, keeps_sections=is_fetch)
        refused = [url for url, opened in admitted.urls.items() if opened is None]
        self._history.refused += refused
        open_urls = list(dict.fromkeys(filter(None, admitted.urls.values())))
        if not open_urls or (refused and not is_fetch):
            raise refusal()
        changed = open_urls[0] if isinstance(value, str) else open_urls
        return arguments.model_copy(update={name: changed}), admitted

    def _admit(self, urls: Sequence[str], *, keeps_sections: bool) -> Admitted:
        admitted = Admitted({})
        for url in urls:
            seen = self.find(url)
            fragment = urldefrag(url).fragment if seen and keeps_sections else ""
            if seen and fragment and fragment != urldefrag(seen).fragment:
                local = f"{urldefrag(seen).url}#{fragment}"
                admitted.as_seen[local] = seen
                seen = local
            admitted.urls[url] = seen
        return admitted


def refusal() -> InputError:
    """Return the error for a URL that was not seen. It does not quote the URL."""
    return InputError(
        "The URL was refused: this session opens only URLs that it has seen in results, on pages "
        "or in the user's text, exactly as they were written there. Search for the page, without "
        "its URL in the query, or ask the user for the link.",
        code=URL_NOT_SEEN,
    )
