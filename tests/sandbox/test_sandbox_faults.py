from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from webtools_sandbox import EXA_KEY, Fault

if TYPE_CHECKING:
    from sandbox_caller import Caller


def search(caller: Caller) -> httpx.Response:
    return caller.exa("/search", query="json")


def test_a_status_comes_with_the_error_body_of_the_api(caller: Caller) -> None:
    caller.server.fault(status=429, times=3)
    exa, v1, v0 = search(caller), caller.v1("/search", query="x"), caller.v0("/search", q="x")
    assert [answer.status_code for answer in (exa, v1, v0)] == [429] * 3
    assert exa.json()["tag"]
    assert isinstance(v1.json()["errors"][0]["code"], str)
    assert isinstance(v0.json()["error"][0]["code"], int)


def test_faults_apply_in_the_order_in_which_they_were_added(caller: Caller) -> None:
    caller.server.fault(status=502, times=2)
    caller.server.fault(status=429)
    assert [search(caller).status_code for _ in range(4)] == [502, 502, 429, 200]


def test_a_fault_without_times_lasts_until_cleared(caller: Caller) -> None:
    caller.server.fault(status=500, times=None)
    assert {search(caller).status_code for _ in range(4)} == {500}
    caller.server.clear_faults()
    assert search(caller).status_code == 200


def test_a_fault_applies_only_to_its_provider_path_and_text(caller: Caller) -> None:
    caller.server.fault(provider="kagi", status=500, times=None)
    caller.server.fault(provider="exa", path="/contents", status=500, times=None)
    caller.server.fault(containing="unlucky", status=500, times=None)
    assert search(caller).status_code == 200
    assert caller.exa("/contents", urls=["http://a.example"]).status_code == 500
    assert caller.v0("/search", q="x").status_code == 500
    assert caller.exa("/search", query="unlucky").status_code == 500


@pytest.mark.parametrize(("retry_after", "header"), [(7, "7"), (0.5, "0.5"), ("soon", "soon")])
def test_retry_after_is_sent_unchanged(caller: Caller, retry_after: Any, header: str) -> None:
    caller.server.fault(status=429, retry_after=retry_after)
    assert search(caller).headers["retry-after"] == header


def test_retry_after_can_be_an_http_date(caller: Caller) -> None:
    caller.server.fault(status=503, retry_after=60, retry_after_as_date=True)
    when = parsedate_to_datetime(search(caller).headers["retry-after"])
    assert 55 < when.timestamp() - time.time() <= 60


def test_a_delay_applies_to_one_response(caller: Caller) -> None:
    caller.server.fault(path="/search", delay=60)
    with pytest.raises(httpx.ReadTimeout):
        caller.http.post(
            caller.server.base_url("exa") + "/search",
            json={"query": "json"},
            headers={"x-api-key": EXA_KEY},
            timeout=0.05,
        )
    started = time.monotonic()
    assert search(caller).status_code == 200
    assert time.monotonic() - started < 30  # half of the delay


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ("html", b"<!DOCTYPE html>"),
        ("empty", b""),
        (b"null", b"null"),
        ({"error": "slow down"}, b'{"error":"slow down"}'),
        ([1], b"[1]"),
    ],
)
def test_a_fault_can_have_any_body(caller: Caller, body: Any, content: bytes) -> None:
    caller.server.fault(body=body, status=502)
    answer = search(caller)
    assert answer.status_code == 502
    assert answer.content[: len(content) or None] == content
    assert ("text/html" in answer.headers["content-type"]) is (body == "html")


def test_headers_are_added(caller: Caller) -> None:
    caller.server.fault(status=302, headers={"Location": "https://elsewhere.example/"})
    assert search(caller).headers["location"] == "https://elsewhere.example/"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"body": "cut"}, r"RemoteProtocolError: .*(incomplete|without sending complete)"),
        ({"body": "cut", "reset": True}, "ReadError"),
        ({"reset": True}, "ReadError: .*reset"),
        ({"body": "hangup"}, "RemoteProtocolError"),
    ],
)
def test_a_connection_can_end_early(caller: Caller, fault: Any, error: str) -> None:
    caller.server.fault(**fault)
    with pytest.raises(httpx.TransportError) as caught:
        search(caller)
    assert caught.match(error.partition(": ")[2])
    assert type(caught.value).__name__ == error.partition(":")[0]
    assert search(caller).status_code == 200


def test_a_huge_body_has_the_requested_size(caller: Caller) -> None:
    caller.server.fault(body="huge", mib=2)
    assert 1.9 < len(search(caller).content) / 1024**2 < 2.1


def test_a_bomb_is_small_until_it_is_decompressed(caller: Caller) -> None:
    caller.server.fault(body="bomb", mib=3)
    answer = search(caller)
    assert answer.num_bytes_downloaded < 10_000
    assert len(json.loads(answer.content)) > 10
    assert len(answer.content) > 2_900_000


def test_the_usual_response_can_be_compressed(caller: Caller) -> None:
    plain = search(caller)
    caller.server.fault(body="gzip")
    compressed = search(caller)
    assert compressed.headers["content-encoding"] == "gzip"
    assert compressed.content == plain.content


def test_an_echo_repeats_the_key(caller: Caller) -> None:
    caller.server.fault(body="echo", times=3)
    exa = caller.exa("/search", key="secret-exa")
    assert (exa.status_code, "secret-exa" in exa.json()["error"]) == (401, True)
    assert "secret-v1" in caller.v1("/search", key="secret-v1").json()["errors"][0]["message"]
    assert "secret-v0" in caller.v0("/search", key="secret-v0").json()["error"][0]["msg"]


@pytest.mark.parametrize(("part", "pause"), [("drip", 0.005), ("drip_headers", 0.0004)])
def test_a_response_can_drip(caller: Caller, part: Any, pause: float) -> None:
    caller.server.fault(**{"body": b'{"results": []}', part: pause})
    started = time.monotonic()
    assert search(caller).json() == {"results": []}
    assert time.monotonic() - started > 0.04


def test_faults_apply_to_pages(caller: Caller) -> None:
    caller.server.fault(provider="pages", path="/json.html", status=503)
    url = f"{caller.server.docs_url}/library/json.html"
    assert [caller.http.get(url).status_code for _ in range(2)] == [503, 200]
    caller.server.fault(body="echo")
    assert "The key me was" in caller.http.get(url, headers={"Authorization": "me"}).text


def test_an_unknown_kind_of_body_is_an_error() -> None:
    with pytest.raises(ValueError, match="'htlm'"):
        Fault(body="htlm")  # type: ignore[arg-type]


def test_faults_can_be_set_over_http(caller: Caller) -> None:
    control = f"{caller.server.url}/_sandbox/faults"
    fault = {"provider": "exa", "path": "/search", "status": 429, "retry_after": 3, "times": None}
    assert caller.http.post(control, json=fault).json() == {"ok": True}
    assert search(caller).headers["retry-after"] == "3"
    assert caller.http.delete(control).status_code == 200
    assert search(caller).status_code == 200
    caller.http.post(control, json={"body_text": "<oops>"})
    assert search(caller).text == "<oops>"


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (b'{"staus": 500}', ["staus", "retry_after"]),
        (b"{", ["JSON object"]),
        (b"[1]", ["JSON object"]),
        (b'{"body": "x"}', ["'x'"]),
    ],
)
def test_an_invalid_fault_is_refused(caller: Caller, body: bytes, parts: list[str]) -> None:
    answer = caller.http.post(f"{caller.server.url}/_sandbox/faults", content=body)
    assert answer.status_code == 400
    assert all(part in answer.json()["error"] for part in parts)
