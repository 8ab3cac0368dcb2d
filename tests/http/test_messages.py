from __future__ import annotations

from pydantic import SecretStr

from webtools.messages import Request, Response


def test_the_repr_of_a_request_shows_no_header_and_no_proxy() -> None:
    request = Request(
        "GET",
        "https://a.example",
        {"x-api-key": "secret"},
        proxy=SecretStr("http://u:secret@p.example"),
    )
    assert "secret" not in repr(request)


def test_the_repr_of_a_response_shows_no_body() -> None:
    assert "secret" not in repr(Response(200, {}, b"secret"))
