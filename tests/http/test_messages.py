from __future__ import annotations

import pytest
from pydantic import SecretStr

from webtools.messages import Request, Response


def test_the_repr_of_a_request_shows_no_header_and_no_proxy() -> None:
    request = Request(
        "GET",
        "https://a.example",
        {"x-api-key": "secret"},
        proxy=SecretStr("http://u:secret@p.example"),
    )
    assert repr(request) == (
        "Request(method='GET', url='https://a.example', json=None, max_bytes=16777216)"
    )


def test_the_repr_of_a_response_shows_no_body() -> None:
    assert "secret" not in repr(Response(200, {}, b"secret"))


@pytest.mark.parametrize(
    "body", [b"", b"{", b"<html>", b"\xff\xfe\x00", b"NaN", b'{"a": Infinity}', b"-Infinity"]
)
def test_invalid_json_is_a_value_error_or_none(body: bytes) -> None:
    response = Response(200, {}, body)
    with pytest.raises(ValueError):  # noqa: PT011  each decoder has its own words
        response.json()
    assert response.json_or_none() is None


def test_json_nested_too_deep_is_none_where_it_may_be() -> None:
    response = Response(200, {}, b"[" * 200_000)
    with pytest.raises(RecursionError):
        response.json()
    assert response.json_or_none() is None


@pytest.mark.parametrize(
    "body", ['{"a": "é"}'.encode(), '\ufeff{"a": "é"}'.encode(), '{"a": "é"}'.encode("utf-16")]
)
def test_json_is_decoded_from_any_unicode_encoding(body: bytes) -> None:
    assert Response(200, {}, body).json() == {"a": "é"}


def test_a_body_nested_too_deep_is_refused_long_before_python_s_own_limit() -> None:
    with pytest.raises(RecursionError, match="recursion limit"):
        Response(200, {}, b"[" * 300 + b"]" * 300).json()
