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
from webtools.choices import FetchGate
from webtools.errors import InputError
from webtools.results import FetchResponse, Page, failed_page
from webtools.tools import Tool

CODE = "url_not_seen"
T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Admitted:
    """The URLs of a call that may be opened.

    Attributes:
        urls: What to open for each URL of the call, in order; None for one that is refused.
        as_seen: What may leave for a URL with a fragment of the caller.
    """

    urls: list[str | None]
    as_seen: dict[str, str] = field(default_factory=dict[str, str])

    def restore(self, response: T) -> T:
        """Return the response with one page per URL of the call, in order."""
        if not isinstance(response, FetchResponse):
            return response
        pages = {page.url: page for page in response.pages}
        page_list: list[Page] = [
            failed_page("", str(error := refusal()), error) if url is None else pages[url]
            for url in self.urls
        ]
        return response.model_copy(update={"pages": page_list})


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
        admitted = self._admit(urls, keeps_sections=tool.name == "web_fetch")
        self._history.refused += [
            url for url, seen in zip(urls, admitted.urls, strict=True) if seen is None
        ]
        open_urls = list(dict.fromkeys(filter(None, admitted.urls)))
        if not open_urls or (len(open_urls) < len(urls) and tool.name != "web_fetch"):
            raise refusal(len(urls))
        changed = open_urls[0] if isinstance(value, str) else open_urls
        return arguments.model_copy(update={name: changed}), admitted

    def _admit(self, urls: Sequence[str], *, keeps_sections: bool) -> Admitted:
        admitted = Admitted([])
        for url in urls:
            seen = self.find(url)
            fragment = urldefrag(url).fragment if seen and keeps_sections else ""
            if seen and fragment and fragment != urldefrag(seen).fragment:
                local = f"{urldefrag(seen).url}#{fragment}"
                admitted.as_seen[local] = seen
                seen = local
            admitted.urls.append(seen)
        return admitted


def refusal(count: int = 1) -> InputError:
    """Return the error for URLs that were not seen. It quotes none of them."""
    subject = "The URL was" if count == 1 else "A URL was"
    return InputError(
        f"{subject} refused: this session opens only URLs that it has seen in results, on pages or "
        "in the user's text, exactly as they were written there. Search for the page, or ask the "
        "user for the link.",
        code=CODE,
    )
