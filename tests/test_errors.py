from __future__ import annotations

import copy
import json
import pickle

import pytest

from webtools import errors
from webtools.errors import Fault, WebToolsError

TREE = {
    "WebToolsError": "Exception",
    "ConfigError": "WebToolsError",
    "InputError": "WebToolsError",
    "RequestError": "WebToolsError",
    "RequestTimeoutError": "RequestError",
    "ProviderError": "WebToolsError",
    "AuthenticationError": "ProviderError",
    "QuotaError": "ProviderError",
    "RateLimitError": "ProviderError",
    "BadRequestError": "ProviderError",
    "UnavailableError": "ProviderError",
    "ResponseFormatError": "ProviderError",
}
RETRYABLE = {"RequestError", "RequestTimeoutError", "RateLimitError", "UnavailableError"}
KINDS: list[type[WebToolsError]] = [getattr(errors, name) for name in TREE]


def test_the_tree_is_the_documented_one() -> None:
    assert {kind.__name__: kind.__bases__[0].__name__ for kind in KINDS} == TREE
    assert all(len(kind.__bases__) == 1 for kind in KINDS)


def test_every_error_is_exported_and_drawn() -> None:
    assert set(errors.__all__) == set(TREE)
    assert all(name in (errors.__doc__ or "") for name in TREE)


@pytest.mark.parametrize("kind", KINDS)
def test_no_error_is_a_runtime_error(kind: type[WebToolsError]) -> None:
    assert not issubclass(kind, (RuntimeError, ValueError, OSError))


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_has_a_default_for_retryable(kind: type[WebToolsError]) -> None:
    assert kind("no").retryable is (kind.__name__ in RETRYABLE)
    assert kind("no", retryable=True).retryable
    assert not kind("no", retryable=False).retryable


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_copies_and_pickles_keep_everything(kind: type[WebToolsError], clone: object) -> None:
    error = kind(
        "it broke",
        provider="exa",
        status=429,
        retryable=True,
        retry_after=7.5,
        cost_usd=0.1,
        fault=Fault.GONE | Fault.ADVISED,
        unknown_host="the host",
    )
    twin = clone(error)  # type: ignore[operator]
    assert type(twin) is kind
    assert vars(twin) == vars(error)
    assert (str(twin), twin.args) == ("it broke", ("it broke",))


def test_the_message_is_the_text() -> None:
    error = WebToolsError("it broke")
    assert (error.message, str(error)) == ("it broke", "it broke")
    assert (error.provider, error.status, error.retry_after) == (None, None, None)


def test_another_message_changes_nothing_else() -> None:
    error = errors.RateLimitError("slow", status=429, fault=Fault.ADVISED, unknown_host="x")
    other = error.with_message("slower")
    assert type(other) is errors.RateLimitError
    assert (str(other), vars(other)) == ("slower", vars(error))


def test_details_are_plain_json() -> None:
    error = errors.RateLimitError("slow", provider="exa", status=429, retry_after=3.0)
    error.fault = Fault.GONE  # for our own code alone
    assert json.loads(json.dumps(error.to_details())) == {
        "type": "RateLimitError",
        "message": "slow",
        "provider": "exa",
        "status": 429,
        "retryable": True,
        "retry_after": 3.0,
    }
