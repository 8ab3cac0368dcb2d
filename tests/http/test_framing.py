"""The end of a response is found in its bytes, however they are divided."""

from __future__ import annotations

from itertools import pairwise

import h11
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtools._internal.http.framing import ResponseEnd

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
PLAIN = {
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n0\r\n\r\nok",
    "no content": b"HTTP/1.1 200 OK\r\nA: b\r\ncontent-length:0\r\n\r\n",
    "status without body": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
    "chunks": CHUNKED + b"5\r\na\r\nbc\r\n0a\r\n0123456789\r\n0\r\n\r\n",
    "interim response": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    "bare line feeds": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
}
UNKNOWN = {
    "no length": b"HTTP/1.1 200 OK\r\n\r\nok",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
    "length and chunks": CHUNKED[:-2] + b"Content-Length: 5\r\n\r\n0\r\n\r\n",
    "trailer": CHUNKED + b"0\r\nA: b\r\n\r\n",
    "chunk extension": CHUNKED + b"2;a=b\r\nok\r\n0\r\n\r\n",
    "older version": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "other protocol": b"\x05\x00\n\n",
    "no number": CHUNKED + b"zz\r\n",
}


def is_end(parts: list[bytes]) -> bool:
    end = ResponseEnd()
    for part in parts:
        end.add(part)
    return end.is_reached


def divided(data: bytes, places: set[int]) -> list[bytes]:
    starts = [0, *sorted(place % len(data) for place in places), len(data)]
    return [data[start:stop] for start, stop in pairwise(starts)]


@given(st.sampled_from(list(PLAIN)), st.sets(st.integers(1, 200)), st.binary(min_size=1))
def test_the_end_is_reached_at_the_last_byte_alone(
    name: str, places: set[int], surplus: bytes
) -> None:
    data = PLAIN[name]
    assert is_end(divided(data, places))
    assert not is_end(divided(data[:-1], places))
    assert not is_end(divided(data + surplus, places))


@pytest.mark.parametrize("data", UNKNOWN.values(), ids=UNKNOWN)
def test_the_end_of_any_other_response_is_not_known(data: bytes) -> None:
    assert not is_end([data])
    assert not is_end([data[i : i + 1] for i in range(len(data))])


@given(st.sampled_from([*PLAIN.values(), *UNKNOWN.values()]), st.data())
def test_a_response_that_is_at_its_end_is_so_for_the_parser_of_the_engine(
    data: bytes, random: st.DataObject
) -> None:
    changed = bytearray(data)
    for _ in range(random.draw(st.integers(0, 3))):
        place = random.draw(st.integers(0, len(changed) - 1))
        new_byte = random.draw(st.sampled_from(b"\r\n 0159af:;,"))
        changed[place : place + random.draw(st.integers(0, 1))] = bytes([new_byte])
    if not is_end([bytes(changed)]):
        return
    parser = h11.Connection(h11.CLIENT)
    parser.send(h11.Request(method="GET", target="/", headers=[("host", "a.example")]))
    parser.send(h11.EndOfMessage())
    parser.receive_data(bytes(changed))
    try:
        while parser.their_state is not h11.DONE:
            event = parser.next_event()
            if event is h11.NEED_DATA or event is h11.PAUSED:
                break  # httpcore waits for more, so the response does not end
    except h11.RemoteProtocolError:
        return  # the response is refused
    assert parser.trailing_data == (b"", False)


@pytest.mark.parametrize("transport", [httpx.HTTPTransport, httpx.AsyncHTTPTransport])
def test_the_transports_of_httpx_send_through_the_attribute_that_ours_set(
    transport: type[httpx.HTTPTransport],
) -> None:
    assert "_pool" in vars(transport())
