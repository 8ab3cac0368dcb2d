from __future__ import annotations

import copy
import json
import pickle

import pytest

from webtools import errors
from webtools._internal.faults import Fault, with_fault
from webtools.errors import WebToolsError

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
KINDS: list[type[WebToolsError]] = [getattr(errors, name) for name in TREE]


def test_the_tree_is_the_documented_one() -> None:
    assert {kind.__name__: kind.__bases__[0].__name__ for kind in KINDS} == TREE
    assert all(len(kind.__bases__) == 1 for kind in KINDS)


def test_every_error_is_exported_and_drawn() -> None:
    assert set(errors.__all__) == set(TREE)
    assert all(name in (errors.__doc__ or "") for name in TREE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_copies_and_pickles_keep_everything(kind: type[WebToolsError], clone: object) -> None:
    error = with_fault(
        kind(
            "it broke",
            provider="exa",
            status=429,
            retryable=True,
            retry_after=7.5,
            cost_usd=0.1,
            code="payment_required",
            payment=errors.Payment("0.01", "USD", "pay-per-crawl"),
        ),
        Fault.GONE | Fault.ADVISED,
    )
    error.unknown_host = "the host"
    twin = clone(error)  # type: ignore[operator]
    assert type(twin) is kind
    assert vars(twin) == vars(error)
    assert (str(twin), twin.args) == ("it broke", ("it broke",))


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
        "code": None,
    }


class OwnError(errors.UnavailableError):
    def __init__(self, seconds: int) -> None:
        super().__init__(f"skipped for {seconds} s", provider="exa")
        self.seconds = seconds


def test_a_copy_with_another_message_keeps_the_rest_and_drops_the_causes() -> None:
    error = OwnError(5)
    error.__cause__ = ValueError("why")
    copied = error.with_message("not called")
    assert (type(copied), vars(copied)) == (OwnError, vars(error))
    assert (str(copied), copied.args) == ("not called", ("not called",))
    assert (copied.__cause__, copied.__context__, copied.__traceback__) == (None, None, None)
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)
