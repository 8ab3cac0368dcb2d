from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from webtools_sandbox import EXA_KEY, Fault
from webtools_sandbox.delivery import deliver
from webtools_sandbox.wire import Reply

if TYPE_CHECKING:
    from sandbox_caller import Caller


def search(caller: Caller) -> httpx.Response:
    return caller.exa("/search", query="json")


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 418, 429, 500, 502, 503, 504])
def test_a_status_comes_with_the_error_body_of_the_api(caller: Caller, status: int) -> None:
    caller.server.fault(status=status, times=3)
    exa, v1, v0 = search(caller), caller.v1("/search", query="x"), caller.v0("/search", q="x")
    assert [answer.status_code for answer in (exa, v1, v0)] == [status] * 3
    assert exa.json()["tag"]
    assert isinstance(v1.json()["errors"][0]["code"], str)
    assert isinstance(v0.json()["error"][0]["code"], int)


def test_a_fault_is_used_up_after_its_times(caller: Caller) -> None:
    caller.server.fault(status=503, times=2)
    assert [search(caller).status_code for _ in range(3)] == [503, 503, 200]


def test_a_fault_without_times_lasts_until_cleared(caller: Caller) -> None:
    caller.server.fault(status=500, times=None)
    assert {search(caller).status_code for _ in range(4)} == {500}
    caller.server.clear_faults()
    assert search(caller).status_code == 200


def test_a_fault_hits_only_its_provider_path_and_text(caller: Caller) -> None:
    caller.server.fault(provider="kagi", status=500, times=None)
    caller.server.fault(provider="exa", path="/contents", status=500, times=None)
    caller.server.fault(containing="unlucky", status=500, times=None)
    assert search(caller).status_code == 200
    assert caller.exa("/contents", urls=["http://a.example"]).status_code == 500
    assert caller.v0("/search", q="x").status_code == 500
    assert caller.exa("/search", query="unlucky").status_code == 500


def test_faults_apply_in_the_order_in_which_they_were_added(caller: Caller) -> None:
    caller.server.fault(status=502)
    caller.server.fault(status=429)
    assert [search(caller).status_code for _ in range(3)] == [502, 429, 200]


@pytest.mark.parametrize(("given", "sent"), [(7, "7"), (0.5, "0.5"), ("soon", "soon")])
def test_retry_after_is_sent_as_given(caller: Caller, given: Any, sent: str) -> None:
    caller.server.fault(status=429, retry_after=given)
    assert search(caller).headers["retry-after"] == sent


def test_retry_after_can_be_an_http_date(caller: Caller) -> None:
    caller.server.fault(status=503, retry_after=60, retry_after_as_date=True)
    when = parsedate_to_datetime(search(caller).headers["retry-after"])
    assert 55 < when.timestamp() - time.time() <= 60


def test_a_delay_holds_one_answer_and_no_other(caller: Caller) -> None:
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
    assert time.monotonic() - started < 30  # the delay is twice that


def test_html_comes_instead_of_json(caller: Caller) -> None:
    caller.server.fault(body="html", status=502)
    answer = search(caller)
    assert (answer.status_code, answer.headers["content-type"][:9]) == (502, "text/html")


def test_an_empty_body_has_no_bytes(caller: Caller) -> None:
    caller.server.fault(body="empty")
    assert (search(caller).status_code, search(caller).content[:1]) == (200, b"{")


def test_a_literal_body_is_sent_as_it_is(caller: Caller) -> None:
    caller.server.fault(body=b"null")
    caller.server.fault(body={"error": "slow down"}, status=429)
    caller.server.fault(body=[1])
    assert search(caller).content == b"null"
    assert search(caller).json() == {"error": "slow down"}
    assert search(caller).json() == [1]


def test_headers_are_added(caller: Caller) -> None:
    caller.server.fault(status=302, headers={"Location": "https://elsewhere.example/"})
    answer = search(caller)
    assert answer.headers["location"] == "https://elsewhere.example/"


def test_a_cut_body_is_shorter_than_promised(caller: Caller) -> None:
    caller.server.fault(body="cut")
    with pytest.raises(httpx.RemoteProtocolError, match=r"incomplete|without sending complete"):
        search(caller)


def test_a_cut_body_can_end_in_a_reset(caller: Caller) -> None:
    caller.server.fault(body="cut", reset=True)
    with pytest.raises(httpx.ReadError):
        search(caller)


def test_a_reset_reaches_the_client_as_one(caller: Caller) -> None:
    caller.server.fault(reset=True)
    with pytest.raises(httpx.ReadError, match="reset"):
        search(caller)
    assert search(caller).status_code == 200


def test_a_hangup_sends_nothing(caller: Caller) -> None:
    caller.server.fault(body="hangup")
    with pytest.raises(httpx.RemoteProtocolError):
        search(caller)


def test_a_huge_body_has_the_size_asked_for(caller: Caller) -> None:
    caller.server.fault(body="huge", mib=2)
    assert 1.9 < len(search(caller).content) / 1024**2 < 2.1


def test_a_bomb_is_small_until_it_is_opened(caller: Caller) -> None:
    caller.server.fault(body="bomb", mib=3)
    answer = search(caller)
    assert answer.num_bytes_downloaded < 10_000
    assert len(json.loads(answer.content)) > 10
    assert len(answer.content) > 2_900_000


def test_a_usual_answer_can_be_compressed(caller: Caller) -> None:
    plain = search(caller)
    caller.server.fault(body="gzip")
    packed = search(caller)
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content


def test_an_echo_repeats_the_key(caller: Caller) -> None:
    caller.server.fault(body="echo", times=3)
    exa = caller.exa("/search", key="secret-exa")
    assert (exa.status_code, "secret-exa" in exa.json()["error"]) == (401, True)
    assert "secret-v1" in caller.v1("/search", key="secret-v1").json()["errors"][0]["message"]
    assert "secret-v0" in caller.v0("/search", key="secret-v0").json()["error"][0]["msg"]


def test_a_body_can_drip(caller: Caller) -> None:
    caller.server.fault(body=b'{"results": []}', drip=0.005)
    started = time.monotonic()
    assert search(caller).json() == {"results": []}
    assert time.monotonic() - started > 0.06


def test_headers_can_drip(caller: Caller) -> None:
    caller.server.fault(body=b"[]", drip_headers=0.0004)
    started = time.monotonic()
    assert search(caller).json() == []
    assert time.monotonic() - started > 0.04


@pytest.mark.parametrize("how", [{"reset": True}, {"body": "hangup"}])
async def test_a_client_that_has_left_is_no_trouble(how: dict[str, Any]) -> None:
    gone: Any = SimpleNamespace(transport=None)
    await deliver(gone, Reply(200, b""), Fault(**how))
    await deliver(gone, Reply(200, b""), Fault(drip_headers=1e-9))


def test_pages_can_be_at_fault_too(caller: Caller) -> None:
    caller.server.fault(provider="pages", path="/json.html", status=503)
    url = f"{caller.server.docs_url}/library/json.html"
    assert [caller.http.get(url).status_code for _ in range(2)] == [503, 200]
    caller.server.fault(body="echo")
    assert "The key me was" in caller.http.get(url, headers={"Authorization": "me"}).text


def test_an_unknown_body_kind_is_an_error() -> None:
    with pytest.raises(ValueError, match="'htlm'"):
        Fault(body="htlm")  # type: ignore[arg-type]


def test_faults_can_be_set_over_http(caller: Caller) -> None:
    control = f"{caller.server.url}/_sandbox/faults"
    rule = {"provider": "exa", "path": "/search", "status": 429, "retry_after": 3, "times": None}
    assert caller.http.post(control, json=rule).json() == {"ok": True}
    assert search(caller).headers["retry-after"] == "3"
    assert caller.http.delete(control).status_code == 200
    assert search(caller).status_code == 200
    caller.http.post(control, json={"body_text": "<oops>"})
    assert search(caller).text == "<oops>"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b'{"staus": 500}', "staus"),
        (b'{"staus": 500}', "retry_after"),
        (b"{", "JSON object"),
        (b"[1]", "JSON object"),
        (b'{"body": "x"}', "'x'"),
    ],
)
def test_a_malformed_rule_is_refused_with_its_reason(
    caller: Caller, body: bytes, named: str
) -> None:
    answer = caller.http.post(f"{caller.server.url}/_sandbox/faults", content=body)
    assert answer.status_code == 400
    assert named in answer.json()["error"]
