"""What a page loader leaves out, what it raises, and that nothing loaded is no success."""

from __future__ import annotations

import logging

import pytest

from webtools._internal.operations.loading import Loading, url_fault
from webtools.errors import (
    AuthenticationError,
    ConfigError,
    InputError,
    ProviderError,
    QuotaError,
    RequestError,
    WebToolsError,
)
from webtools.results import FetchResponse, Page

A, B, NONE = "https://a.example/", "https://b.example/", "mailto:x"
LOGGER = logging.getLogger("tests.loading")


def loading(*urls: str, continues: bool = True) -> Loading:
    return Loading(urls, LOGGER, continue_on_failure=continues)


def response(*pages: Page) -> FetchResponse:
    return FetchResponse(provider="exa", pages=list(pages), warnings=["Mind the gap."])


def test_urls_are_loaded_in_batches_without_invalid_ones(caplog: pytest.LogCaptureFixture) -> None:
    assert [*loading(A, NONE, B, A).batches(2)] == [[A, B], [A]]
    assert caplog.text.count("Left out mailto:x: ") == 1
    with pytest.raises(InputError, match=NONE):
        next(loading(A, NONE, continues=False).batches(2))
    assert url_fault(A) is None


@pytest.mark.parametrize("kind", [ConfigError, InputError, AuthenticationError, QuotaError])
def test_an_error_of_every_page_is_always_raised(kind: type[WebToolsError]) -> None:
    with pytest.raises(kind):
        loading(A).fail([A], kind("no"))


def test_where_no_page_came_the_end_raises_the_first_failure() -> None:
    one = loading(A, B)
    first = RequestError("no answer")
    one.fail([A], first)
    one.fail([B], ProviderError("gone"))
    with pytest.raises(RequestError) as caught:
        one.end()
    assert caught.value is first
    assert [*one.pages(response(Page(url=B, text="x")), may_be_empty=False)] != []
    one.end()


def test_a_page_without_text_is_kept_on_request(caplog: pytest.LogCaptureFixture) -> None:
    empty, gone = Page(url=A, text=""), Page(url=B, error="404")
    assert [*loading().pages(response(empty, gone), may_be_empty=True)] == [empty]
    assert [*loading().pages(response(empty, gone), may_be_empty=False)] == []
    assert [message for message in caplog.messages if message == "Mind the gap."] == (
        ["Mind the gap."] * 2
    )
    urls = [url for message in caplog.messages for url in (A, B) if url in message]
    assert urls == [B, A, B]
    with pytest.raises(ProviderError, match=f"{B}.*404"):
        next(loading(continues=False).pages(response(gone), may_be_empty=True))
