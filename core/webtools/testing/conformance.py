"""Tests that every provider must pass; a provider's author runs them by subclassing.

    class TestPlover(ProviderConformance):
        @pytest.fixture
        def provider(self):
            return plover

        @pytest.fixture
        def samples(self):
            return {"search": {"results": [{"url": "https://a.example/", "title": "A"}]}}

Nothing is sent: the calls run over a transport that gives the responses of the test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from http import HTTPStatus
from itertools import product
from typing import Any

import pytest

from webtools.config.accounts import build
from webtools.config.config_models import ProviderConfig
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    RateLimitError,
    ResponseFormatError,
    UnavailableError,
    WebToolsError,
)
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.hits import UNREADABLE
from webtools.providers.protocols import FILTERS, Hits, SearchQuery
from webtools.results import FetchResponse, SearchResponse, SearchResult
from webtools.testing.provider_calls import (
    CALLS,
    URLS,
    answer,
    outcome,
    read_sample,
    registered,
    sent,
)

KEY = "test-key-conformance-5d1c9f"
INSTANCE = "https://instance.example"  # of what everyone runs their own of

_UNREADABLE: dict[str, bytes] = {  # no JSON object
    "nothing": b"",
    "blank": b" \n",
    "null": b"null",
    "true": b"true",
    "number": b"0",
    "text": b'"results"',
    "list": b"[]",
    "list of lists": b"[[]]",
    "two objects": b"{}{}",
    "an array too deep": b"[" * 100_000,
    "objects too deep": b'{"data":' * 100_000,
    "NaN": b'{"results": [{"url": "https://a.example", "score": NaN}], "data": NaN}',
    "not UTF-8": b'{"results": [{"title": "\xff\xfe"}]}',
    "HTML": b"<!DOCTYPE html><title>Sign in to the network</title>",
    "cut off": b'{"results": [{"url": "https://a.exa',
    "zeros": b"\x00" * 1000,
}
JUNK: dict[str, bytes] = {
    **_UNREADABLE,
    "list of null": b"[null]",
    "object": b"{}",
    "empty result": b'{"results": [{}], "data": [{}]}',
    "null results": b'{"results": null, "data": null}',
    "results that are texts": b'{"results": ["x"], "data": ["x"]}',
    "results that are an object": b'{"results": {"a": 1}, "data": {"search": {"a": 1}}}',
    "data of another kind": b'{"results": 1, "data": 1, "output": 1}',
    "kinds of another kind": b'{"data": {"search": "x", "news": 5, "output": [1]}}',
    "results too deep": b'{"results": ' + b"[" * 100_000,
    "Infinity": b'{"results": [{"url": "https://a.example", "score": -Infinity}]}',
    "number too large": b'{"results": [{"url": "https://a.example", "score": 1e999}]}',
    "integer too long": b'{"results": [{"score": ' + b"9" * 10_000 + b"}]}",
    "lone surrogates": b'{"results": [{"url": "https://a.example", "title": "\\ud800"}]}',
    "lone surrogates in data": b'{"data": {"output": "\\udfff", "search": [{"title": "\\ud800"}]}}',
    "UTF-16": '{"results": []}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"results": []}',
}
_ERROR_BODIES = ["", "<html>", "{}", '{"error": "No.", "tag": "ODD"}', '{"error": {}, "tag": {}}']

_KINDS: dict[int, type[ProviderError]] = {
    **dict.fromkeys([401, 403], AuthenticationError),
    **dict.fromkeys([408, 425], UnavailableError),
    402: QuotaError,
    429: RateLimitError,
}
_DEFINED = frozenset(HTTPStatus)  # others may mean a plan that is used up
_RETRY_AFTER: dict[str, float | None] = {
    "7": 7.0,
    " 0 ": 0.0,
    "1.5": 1.5,
    "1e9": 86_400.0,
    "-5": None,
    "nan": None,
    "soon": None,
    "": None,
    "Thu, 01 Jan 1970 00:00:00 GMT": 0.0,
    "Fri, 31 Dec 9999 23:59:59 GMT": 86_400.0,
    "Fri, 32 Dec 2027 00:00:00 GMT": None,
}
_FILTERED = SearchQuery(
    "q",
    5,
    include_domains=("a.example",),
    start_published_date=date(2026, 1, 1),
    end_published_date=date(2026, 2, 1),
    category="news",
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


# --- what comes out ----------------------------------------------------------------------------


def assert_sound(found: Any) -> None:
    """Refuse text with controls, odd addresses, scores and dates."""
    if isinstance(found, WebToolsError):
        assert isinstance(found, ProviderError), repr(found)
        assert found.provider
        _assert_clean(str(found), one_line=True)
        return
    for warning in found.warnings:
        _assert_clean(warning, one_line=True)
    if isinstance(found, (SearchResponse, Hits)):
        for result in found.results:
            _assert_hit_is_sound(result)
            # Documentation keeps the lines of its code.
            _assert_clean(result.snippet, one_line=isinstance(found, SearchResponse))
    elif isinstance(found, FetchResponse):
        assert tuple(page.url for page in found.pages) == URLS
        for page in found.pages:
            _assert_aware(page.published_at)
            _assert_clean(page.title or "", one_line=True)
    else:
        assert found.text.strip()
        _assert_clean(found.text)


def _assert_hit_is_sound(result: SearchResult) -> None:
    assert result.url.lower().startswith(("http://", "https://"))
    assert result.score is None or 0 <= result.score <= 1
    assert result.title
    _assert_aware(result.published_at)
    for text in (result.title, result.url, result.author or ""):
        _assert_clean(text, one_line=True)


def _assert_clean(text: str, *, one_line: bool = False) -> None:
    assert not _CONTROL.search(text)
    assert not (one_line and set("\n\t") & set(text))


def _assert_aware(moment: datetime | None) -> None:
    assert moment is None or moment.utcoffset() == timedelta(0)


class ProviderConformance:
    """What every provider with an API must hold to.

    Override the fixtures `provider` and `samples`, and `sample_urls` and `options` if need be. Each
    test goes through all that the provider can do.
    """

    @pytest.fixture
    def provider(self) -> Any:
        """Return the provider under test, a module or an object."""
        raise NotImplementedError("override the fixture `provider`")

    @pytest.fixture
    def samples(self) -> Mapping[Capability, Any]:
        """Return a successful response of the API for each thing that the provider can do.

        A response is decoded JSON or a `Response`, with results or pages in it. Copy a real one: a
        reader that was written by the documentation alone may fail on it. For a call of several
        requests return a tuple of responses.
        """
        raise NotImplementedError('override the fixture `samples`, such as {"search": {...}}')

    @pytest.fixture
    def sample_urls(self) -> Sequence[str]:
        """Return the URLs of the pages in the sample of `fetch`."""
        return URLS

    @pytest.fixture
    def options(self) -> dict[str, Any]:
        """Return the `options` of its entry in the config file."""
        return {}

    @pytest.fixture
    def account(self, provider: Any, options: dict[str, Any]) -> Iterator[Account]:
        """Yield an account of it with a key, while it is registered."""
        kind = provider.ABOUT.name
        entry = {"name": f"my-{kind}", "type": kind, "apiKey": KEY, "options": options}
        if provider.ABOUT.url_variables:
            entry["baseUrl"] = INSTANCE
        with registered(provider):
            yield build(ProviderConfig.model_validate(entry), None, "a test")

    @pytest.fixture
    def able(self, account: Account) -> tuple[Capability, ...]:
        """Return what it can do."""
        return PROVIDERS[account.type].capabilities()

    def test_it_says_what_it_is(self, provider: Any) -> None:
        """Its name can stand in a config file, its origin is one, and its facts are dated."""
        about = provider.ABOUT
        assert re.fullmatch(r"[a-z][a-z0-9_-]*", about.name)
        assert about.title.strip()
        assert about.origin.startswith("https://") != bool(about.url_variables)
        assert not about.origin.endswith("/")
        assert about.key_variables or not about.needs_key
        assert min(about.max_results, about.max_urls) >= 1
        assert about.docs.startswith("https://")
        assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", about.docs_date)
        assert all(price >= 0 for price in about.prices.values())
        assert about.price_list.startswith("20") or not about.prices

    def test_it_reads_a_sample_response(
        self,
        account: Account,
        able: tuple[Capability, ...],
        samples: Mapping[Capability, Any],
        sample_urls: Sequence[str],
    ) -> None:
        """A response of the API becomes a result, and every value in it can be read."""
        for each in able:
            assert each in samples, f"the fixture `samples` has no response for {each}"
            found = read_sample(account, each, samples[each], sample_urls)
            if isinstance(found, WebToolsError):
                raise found
            assert [warning for warning in found.warnings if UNREADABLE in warning] == []
            if isinstance(found, FetchResponse):
                assert [page.error for page in found.pages] == [None] * len(sample_urls)
                empty = [page.url for page in found.pages if not (page.text or page.passages)]
                assert empty == [], f"the sample of {each} has pages without text: {empty}"
            elif isinstance(found, (SearchResponse, Hits)):
                assert found.results, f"the sample of {each} has no results"
            if not isinstance(found, FetchResponse):
                assert_sound(found)

    def test_its_native_filters_exist(self, account: Account, able: tuple[Capability, ...]) -> None:
        """`native_filters` returns names of filters."""
        if "search" in able:
            search = PROVIDERS[account.type].search
            assert search is not None
            names = set(search.native_filters(_FILTERED, account))
            assert names <= set(FILTERS), f"unknown filters: {sorted(names - set(FILTERS))}"

    def test_the_key_is_sent_in_a_header_to_its_own_origin_alone(
        self, account: Account, able: tuple[Capability, ...]
    ) -> None:
        """No repr shows it, and neither URL nor body has it."""
        for each in able:
            _, requests = sent(account, each, answer({}))
            assert all(request.url.startswith(account.base_url + "/") for request in requests)
            request = requests[0]
            assert KEY in str(request.headers) or not PROVIDERS[account.type].about.needs_key
            assert KEY not in f"{request!r} {account!r} {request.url} {request.json}"

    def test_it_has_a_price_for_what_it_can_do(
        self, account: Account, able: tuple[Capability, ...]
    ) -> None:
        """The budget reserves it before the call."""
        for each in able:
            assert PROVIDERS[account.type].worst_cost(CALLS[each][0], account) >= 0

    @pytest.mark.parametrize("status", [200, 400, 500])
    @pytest.mark.parametrize("junk", JUNK)
    def test_junk_is_an_error_or_a_sound_success(
        self, account: Account, able: tuple[Capability, ...], junk: str, status: int
    ) -> None:
        """Whatever comes, nothing but a `ProviderError` is raised."""
        for each in able:
            assert_sound(outcome(account, each, answer(body=JUNK[junk], status=status)))

    @pytest.mark.parametrize("junk", _UNREADABLE)
    def test_a_success_that_is_no_json_object_is_a_format_error(
        self, account: Account, able: tuple[Capability, ...], junk: str
    ) -> None:
        """The message names the API, and drags nothing of the answer along."""
        title = PROVIDERS[account.type].about.title
        for each in able:
            found = outcome(account, each, answer(body=JUNK[junk]))
            assert type(found) is ResponseFormatError
            assert str(found).startswith(f"Failed to parse {title} API response for ")
            assert found.__cause__ is found.__context__ is None

    @pytest.mark.parametrize("body", _ERROR_BODIES)
    def test_every_error_status_has_its_class(
        self, account: Account, able: tuple[Capability, ...], body: str
    ) -> None:
        """Also where the body says nothing."""
        title = PROVIDERS[account.type].about.title
        for each, status in product(able, range(400, 600)):
            found = outcome(account, each, answer(body=body.encode(), status=status))
            kind = _KINDS.get(status, UnavailableError if status >= 500 else BadRequestError)  # noqa: PLR2004
            is_own = status not in _DEFINED and kind is BadRequestError
            assert type(found) in {kind, QuotaError if is_own else kind}, status
            assert (found.status, found.provider) == (status, account.name)
            assert found.retryable == (kind in {RateLimitError, UnavailableError})
            assert found.retry_after is None
            assert str(found).startswith(f"{title} API returned HTTP {status}")

    @pytest.mark.parametrize("status", [100, 201, 204, 301, 302, 307, 399])
    def test_no_other_status_is_a_success(
        self, account: Account, able: tuple[Capability, ...], status: int
    ) -> None:
        """A redirect is refused: the key would travel along."""
        for each in able:
            found = outcome(account, each, answer({"results": []}, status))
            assert (type(found), found.status) == (ResponseFormatError, status)

    @pytest.mark.parametrize("status", [429, 503])
    def test_retry_after_is_read_in_every_form(
        self, account: Account, able: tuple[Capability, ...], status: int
    ) -> None:
        """Seconds or a moment; what is neither counts as absent."""
        moment = format_datetime(datetime.now(UTC) + timedelta(seconds=300), usegmt=True)
        for each in able:
            found = {
                value: outcome(account, each, answer(None, status, retry_after=value)).retry_after
                for value in _RETRY_AFTER
            }
            assert found == _RETRY_AFTER
            later = outcome(account, each, answer(None, status, retry_after=moment))
            assert later.retry_after == pytest.approx(300, abs=3)
            wrong = outcome(account, each, answer(None, 400, retry_after="7"))
            assert wrong.retry_after is None  # the same request would fail again

    def test_its_words_are_cleaned_and_bounded(
        self, account: Account, able: tuple[Capability, ...]
    ) -> None:
        """An error shows no control characters, no key and no endless text."""
        words = f"\x1b]0;t\x07\x9b31mno\r\n\x00 {KEY}" + "way " * 1000
        bodies = ({"error": words}, {"errors": [{"message": words}]}, {"error": [{"msg": words}]})
        for each, body in product(able, bodies):
            found = outcome(account, each, answer(body, 400))
            assert_sound(found)
            assert KEY not in str(found)
            assert len(str(found)) < 1000  # noqa: PLR2004
