"""Tests that every provider must pass. To run them for your provider, write a subclass.

    class TestPlover(ProviderConformance):
        @pytest.fixture
        def provider(self):
            return plover

        @pytest.fixture
        def samples(self):
            return {"search": {"results": [{"url": "https://a.example/", "title": "A"}]}}

The tests send no requests. Each call gets a response of the test.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
from webtools.providers import PROVIDERS, Account, Capability, fetched, hits
from webtools.providers.fetched import PageFields
from webtools.providers.hits import UNREADABLE, Item
from webtools.providers.protocols import FILTERS, Hits, SearchQuery
from webtools.results import FetchResponse, Page, SearchResponse, SearchResult
from webtools.testing.provider_calls import (
    CALLS,
    URLS,
    answer,
    outcome,
    outcome_and_requests,
    read_sample,
    registered,
)

KEY = "test-key-conformance-5d1c9f"
INSTANCE = "https://instance.example"  # for types whose instances users run themselves

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
    "HTML": b"<!DOCTYPE html><title>Sign in to the network</title>",
    "cut off": b'{"results": [{"url": "https://a.exa',
    "zeros": b"\x00" * 1000,
}
JUNK: dict[str, bytes] = {
    **_UNREADABLE,
    "list of null": b"[null]",
    "object": b"{}",
    "not UTF-8": b'{"results": [{"title": "\xff\xfe"}], "data": [{"title": "\xff"}]}',
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
_OTHER_STATUSES = (419, 432, 440, 460, 498, 499, 509, 520, 525, 530, 598, 599)
_ERROR_STATUSES = sorted({*filter(HTTPStatus.BAD_REQUEST.__le__, _DEFINED), *_OTHER_STATUSES})
_RETRY_AFTER: dict[str, float | None] = {
    "7": 7.0,
    " 0 ": 0.0,
    "1.5": 1.5,
    "1e9": 86_400.0,
    "5s": 5.0,
    "1m30s": 90.0,
    "500ms": 0.5,
    "-5": None,
    "nan": None,
    "soon": None,
    "": None,
    "Thu, 01 Jan 1970 00:00:00 GMT": 0.0,
    "Fri, 31 Dec 9999 23:59:59 GMT": 86_400.0,
    "Fri, 32 Dec 2027 00:00:00 GMT": None,
}
_PLAIN = SearchQuery("q", 5)
_FILTERED = replace(
    _PLAIN,
    include_domains=("a.example",),
    start_published_date=date(2026, 1, 1),
    end_published_date=date(2026, 2, 1),
    category="news",
    country="DE",
    language="de",
    page=2,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


# --- sound results -----------------------------------------------------------------------------


def assert_sound(result: Any) -> None:
    """Check a result or an error for control characters, URLs, scores and dates."""
    if isinstance(result, WebToolsError):
        assert isinstance(result, ProviderError), repr(result)
        assert result.provider
        _assert_clean(str(result), one_line=True)
        return
    for warning in result.warnings:
        _assert_clean(warning, one_line=True)
    if isinstance(result, (SearchResponse, Hits)):
        for hit in result.results:
            _assert_hit_is_sound(hit)
            # Documentation keeps the lines of its code.
            _assert_clean(hit.snippet, one_line=isinstance(result, SearchResponse))
    elif isinstance(result, FetchResponse):
        assert tuple(page.url for page in result.pages) == URLS
        for page in result.pages:
            _assert_aware(page.published_at)
            _assert_clean(page.title or "", one_line=True)
    else:
        assert result.text.strip()
        _assert_clean(result.text)


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
    """Tests that every provider with an API must pass.

    In a subclass, override the fixtures `provider` and `samples`, and `sample_urls` and `options`
    if necessary. Each test covers all capabilities of the provider.
    """

    @pytest.fixture
    def provider(self) -> Any:
        """Return the provider under test: a module or an object."""
        raise NotImplementedError("override the fixture `provider`")

    @pytest.fixture
    def samples(self) -> Mapping[Capability, Any]:
        """Return a successful response of the API for each capability.

        A response is decoded JSON or a `Response`, and contains results or pages. Copy it from the
        real API, because documentation is often incomplete. For a call with several requests,
        return a tuple of responses.
        """
        raise NotImplementedError('override the fixture `samples`, such as {"search": {...}}')

    @pytest.fixture
    def sample_urls(self) -> Sequence[str]:
        """Return the URLs of the pages in the sample of `fetch`."""
        return URLS

    @pytest.fixture
    def missing_fields(self) -> set[str]:
        """Return the names of fields that the samples lack, because the API often omits them."""
        return set()

    @pytest.fixture
    def options(self) -> dict[str, Any]:
        """Return the `options` of the provider's entry in the config file."""
        return {}

    @pytest.fixture
    def account(self, provider: Any, options: dict[str, Any]) -> Iterator[Account]:
        """Yield an account of the provider with a key, while the provider is registered."""
        kind = provider.ABOUT.name
        entry = {"name": f"my-{kind}", "type": kind, "apiKey": KEY, "options": options}
        if provider.ABOUT.url_variables:
            entry["baseUrl"] = INSTANCE
        with registered(provider):
            yield build(ProviderConfig.model_validate(entry), None, "a test")

    @pytest.fixture
    def capabilities(self, account: Account) -> tuple[Capability, ...]:
        """Return the capabilities of the provider."""
        return PROVIDERS[account.type].capabilities()

    def test_it_says_what_it_is(self, provider: Any) -> None:
        """The name, the origin, the URLs and the dates of `ABOUT` are valid."""
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
        capabilities: tuple[Capability, ...],
        samples: Mapping[Capability, Any],
        sample_urls: Sequence[str],
    ) -> None:
        """The sample becomes a result, and every value in it can be read."""
        for capability in capabilities:
            assert capability in samples, f"the fixture `samples` has no response for {capability}"
            result = read_sample(account, capability, samples[capability], sample_urls)
            if isinstance(result, WebToolsError):
                raise result
            assert [warning for warning in result.warnings if UNREADABLE in warning] == []
            if isinstance(result, FetchResponse):
                assert [page.error for page in result.pages] == [None] * len(sample_urls)
                empty = [page.url for page in result.pages if not (page.text or page.passages)]
                assert empty == [], f"the sample of {capability} has pages without text: {empty}"
            elif isinstance(result, (SearchResponse, Hits)):
                assert result.results, f"the sample of {capability} has no results"
            if not isinstance(result, FetchResponse):
                assert_sound(result)

    def test_each_field_of_a_result_is_in_the_sample(
        self,
        account: Account,
        capabilities: tuple[Capability, ...],
        samples: Mapping[Capability, Any],
        sample_urls: Sequence[str],
        missing_fields: set[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A field that no result of a sample has is misspelt, or the sample lacks it."""
        found: dict[str, bool] = {}
        read_row, read_page = hits._read_row, fetched._read_page  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

        def record(name: str, field: Any, value: Any) -> None:
            if field and name not in missing_fields:
                label = f"{name} ({field if isinstance(field, str) else field.__qualname__})"
                found[label] = found.get(label, False) or value not in {None, ""}

        def recorded_row(item: Item, readers: Sequence[Any]) -> dict[str, Any]:
            row = read_row(item, readers)
            for name, field, _ in readers:
                record(name, field, row[name])
            return row

        def recorded_page(url: str, item: Item, fields: PageFields, *rest: Any) -> Page:
            page = read_page(url, item, fields, *rest)
            for name in ("title", "summary", "published_at", "author"):
                if (field := getattr(fields, name)) != getattr(PageFields(), name):
                    record(name, field, getattr(page, name))
            return page

        monkeypatch.setattr(hits, "_read_row", recorded_row)
        monkeypatch.setattr(fetched, "_read_page", recorded_page)
        for capability in capabilities:
            read_sample(account, capability, samples[capability], sample_urls)
        missing = [label for label, is_found in found.items() if not is_found]
        assert missing == [], f"no result of the samples has {missing}"

    def test_its_native_filters_exist(
        self, account: Account, capabilities: tuple[Capability, ...]
    ) -> None:
        """`native_filters` returns names of filters."""
        if "search" in capabilities:
            search = PROVIDERS[account.type].search
            assert search is not None
            names = set(search.native_filters(_FILTERED, account))
            assert names <= set(FILTERS), f"unknown filters: {sorted(names - set(FILTERS))}"

    def test_each_native_filter_changes_the_request(
        self, account: Account, capabilities: tuple[Capability, ...]
    ) -> None:
        """A filter that the API applies is sent to it."""
        if "search" not in capabilities:
            return
        search = PROVIDERS[account.type].search
        assert search is not None
        plain_request = search.search_request(_PLAIN, account)
        for name in FILTERS:
            query = replace(_PLAIN, **{name: getattr(_FILTERED, name)})
            if query != _PLAIN and name in search.native_filters(query, account):
                request = search.search_request(query, account)
                assert request != plain_request, f"the filter {name} does not change the request"

    def test_the_key_is_sent_in_a_header_to_its_own_origin_alone(
        self, account: Account, capabilities: tuple[Capability, ...]
    ) -> None:
        """The key is not in the URL, the body or any repr."""
        for capability in capabilities:
            _, requests = outcome_and_requests(account, capability, answer({}))
            assert all(request.url.startswith(account.base_url + "/") for request in requests)
            request = requests[0]
            assert KEY in str(request.headers) or not PROVIDERS[account.type].about.needs_key
            assert KEY not in f"{request!r} {account!r} {request.url} {request.json}"

    def test_it_has_a_price_for_what_it_can_do(
        self, account: Account, capabilities: tuple[Capability, ...]
    ) -> None:
        """The budget reserves this price before the call."""
        for capability in capabilities:
            assert PROVIDERS[account.type].worst_cost(CALLS[capability][0], account) >= 0

    @pytest.mark.parametrize("junk", JUNK)
    def test_junk_is_an_error_or_a_sound_success(
        self, account: Account, capabilities: tuple[Capability, ...], junk: str
    ) -> None:
        """For an unusable response, a call raises only `ProviderError`."""
        for capability, status in product(capabilities, [200, 400, 500]):
            assert_sound(outcome(account, capability, answer(body=JUNK[junk], status=status)))

    @pytest.mark.parametrize("junk", _UNREADABLE)
    def test_a_success_that_is_no_json_object_is_a_format_error(
        self, account: Account, capabilities: tuple[Capability, ...], junk: str
    ) -> None:
        """The message names the API and does not quote the response."""
        title = PROVIDERS[account.type].about.title
        for capability in capabilities:
            result = outcome(account, capability, answer(body=JUNK[junk]))
            assert type(result) is ResponseFormatError
            assert str(result).startswith(f"Failed to parse {title} API response for ")
            assert result.__cause__ is result.__context__ is None

    @pytest.mark.parametrize("body", _ERROR_BODIES)
    def test_every_error_status_has_its_class(
        self, account: Account, capabilities: tuple[Capability, ...], body: str
    ) -> None:
        """The error class follows from the HTTP status, even without a body.

        HTML with HTTP 403 is from a gateway in front of the API, unless the API sends HTML itself.
        """
        title = PROVIDERS[account.type].about.title
        for capability, status in product(capabilities, _ERROR_STATUSES):
            result = outcome(account, capability, answer(body=body.encode(), status=status))
            kind = _KINDS.get(status, UnavailableError if status >= 500 else BadRequestError)  # noqa: PLR2004
            if status == HTTPStatus.FORBIDDEN and body == "<html>":
                kind = type(result)
                assert kind in {AuthenticationError, UnavailableError}
            is_own = status not in _DEFINED and kind is BadRequestError
            assert type(result) in {kind, QuotaError if is_own else kind}, status
            assert (result.status, result.provider) == (status, account.name)
            assert result.retryable == (kind in {RateLimitError, UnavailableError})
            assert result.retry_after is None
            assert str(result).startswith(f"{title} API returned HTTP {status}")

    def test_no_other_status_is_a_success(
        self, account: Account, capabilities: tuple[Capability, ...]
    ) -> None:
        """Redirects are errors, because they would send the key to another host."""
        for capability, status in product(capabilities, [100, 201, 204, 301, 302, 307, 399]):
            result = outcome(account, capability, answer({"results": []}, status))
            assert (type(result), result.status) == (ResponseFormatError, status)

    @pytest.mark.parametrize("status", [429, 503])
    def test_retry_after_is_read_in_every_form(
        self, account: Account, capabilities: tuple[Capability, ...], status: int
    ) -> None:
        """`Retry-After` has seconds, a duration, a date or a Unix time; else it is ignored."""
        moment = format_datetime(datetime.now(UTC) + timedelta(seconds=300), usegmt=True)
        for capability in capabilities:
            result = {
                value: outcome(
                    account, capability, answer(None, status, retry_after=value)
                ).retry_after
                for value in _RETRY_AFTER
            }
            assert result == _RETRY_AFTER
            unix_time = round(time.time() + 300)
            for value in (moment, str(unix_time), str(unix_time * 1000)):
                later = outcome(account, capability, answer(None, status, retry_after=value))
                assert later.retry_after == pytest.approx(300, abs=3)
            wrong = outcome(account, capability, answer(None, 400, retry_after="7"))
            assert wrong.retry_after is None  # the same request would fail again

    def test_its_words_are_cleaned_and_bounded(
        self, account: Account, capabilities: tuple[Capability, ...]
    ) -> None:
        """An error message has no control characters and no key, and its length is limited."""
        words = f"\x1b]0;t\x07\x9b31mno\r\n\x00 {KEY}" + "way " * 1000
        bodies = ({"error": words}, {"errors": [{"message": words}]}, {"error": [{"msg": words}]})
        for capability, body in product(capabilities, bodies):
            result = outcome(account, capability, answer(body, 400))
            assert_sound(result)
            assert KEY not in str(result)
            assert len(str(result)) < 1000  # noqa: PLR2004
