"""The log: what a line holds, what it costs nobody, and how a call is found again."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtools._internal.logs import Log, events_of, new_call_id, shared_log, tail
from webtools._internal.logs import events as logs
from webtools.errors import ConfigError, InputError

ID = "03abcdefghjk"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "web-search.ndjson"


def make_log(path: Path, *, max_bytes: int = 131_072, queries: bool = True) -> Log:
    return Log(path, max_bytes=max_bytes, max_backups=5, rotate_check_ms=30_000, queries=queries)


def written(path: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """Write one event and read its line back, as strictly as JSON can be read."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    make_log(path).write("provider_error", ID, facts)
    line = path.read_bytes().splitlines()[-1]
    assert len(line) < 16_384
    found: dict[str, Any] = json.loads(line, parse_constant=refuse)
    assert (found["event"], found["call"], found["pid"]) == ("provider_error", ID, os.getpid())
    return found


def test_a_line_is_an_object_with_the_time_in_utc_and_milliseconds(path: Path) -> None:
    before = datetime.now(UTC)
    make_log(path).write("cache_hit", ID, {"provider": "exa", "age_s": 1.5})
    (line,) = path.read_text().splitlines()
    event = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["ts"])
    passed = datetime.fromisoformat(event["ts"]) - before
    assert -0.001 < passed.total_seconds() < 5
    assert list(event.items())[1:] == [
        ("event", "cache_hit"),
        ("call", ID),
        ("pid", os.getpid()),
        ("provider", "exa"),
        ("age_s", 1.5),
    ]


def test_the_time_is_written_anew_every_second() -> None:
    at = [1_763_805_600_007_999_999, 1_763_805_600_999_000_000, 1_763_805_601_000_000_000]
    assert [logs._timestamp(each) for each in at] == [
        "2025-11-22T10:00:00.007Z",
        "2025-11-22T10:00:00.999Z",
        "2025-11-22T10:00:01.000Z",
    ]


def test_what_a_provider_sends_reaches_the_file_as_plain_ascii(path: Path) -> None:
    text = "\x1b[31m\r\n\0\x7f\x9b31m\u200b\u202e\u2028\ufeff\ud800 ü 東"
    assert written(path, {"message": text})["message"] == text
    assert re.fullmatch(rb"[\x20-\x7e]+\n", path.read_bytes())


def test_facts_never_take_the_place_of_the_head(path: Path) -> None:
    event = written(path, {"call": "other", "pid": 1, "ts": "never", "event": "x", "kept": 1})
    assert event["ts"] != "never"
    assert event["kept"] == 1


def test_with_queries_off_no_text_is_written_that_may_quote_one(path: Path) -> None:
    facts = {"query": "rust async", "message": "for rust async", "providers": {"exa": "rust"}}
    facts |= {"provider": "exa", "error": "QuotaError", "status": 402, "retryable": False}
    make_log(path, queries=False).write("x", ID, facts)
    event = json.loads(path.read_text())
    assert {name: event[name] for name in event.keys() - {"ts", "event", "call", "pid"}} == {
        "provider": "exa",
        "error": "QuotaError",
        "status": 402,
        "retryable": False,
    }


@pytest.mark.parametrize(
    "facts",
    [
        {"message": "x" * 100_000, "status": 503},
        {"message": "\U0001f600" * 100_000, "status": 503},
        {"queries": [f"query {n} {'x' * 400}" for n in range(100)], "status": 503},
        {"providers": {f"name {n}": "東" * 3000 for n in range(60)}, "status": 503},
        {"reasons": [["x" * 600] * 40] * 40, "status": 503},
    ],
)
def test_what_is_too_long_is_cut_and_says_so(path: Path, facts: dict[str, Any]) -> None:
    event = written(path, facts)
    assert event["shortened"] is True
    assert event["status"] == 503
    assert set(event) == {"ts", "event", "call", "pid", "shortened", *facts}


def test_a_long_text_keeps_its_beginning_and_a_long_list_its_length(path: Path) -> None:
    event = written(path, {"message": "a" * 20_000, "urls": [str(n) for n in range(100)]})
    assert event["message"] == f"{'a' * 512}…"
    assert event["urls"] == [*(str(n) for n in range(32)), "… 68 more"]


@pytest.mark.parametrize(
    "value",
    [math.nan, -math.inf, 10**5000, {("a", 1): 2}, [[[[[[[[["deep"]]]]]]]]] * 9000],
    ids=["nan", "inf", "huge", "odd key", "deep"],
)
def test_what_json_cannot_say_does_not_cost_the_line(path: Path, value: Any) -> None:
    assert written(path, {"odd": value, "status": 503})["status"] == 503


def test_a_value_within_itself_does_not_cost_the_line(path: Path) -> None:
    endless: list[Any] = []
    endless.append(endless)
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    assert written(path, {"odd": endless, "status": 503})["status"] == 503
    assert written(path, {"odd": nested, "status": 503})["status"] == 503
    while nested:  # taken apart by hand: the interpreter would do it recursively
        nested = nested.pop()


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError


def test_objects_are_named_by_their_type_and_never_asked(path: Path) -> None:
    moment = datetime(2026, 11, 22, 10, tzinfo=UTC)
    event = written(path, {"a": Broken(), "b": Path("/x/y"), "c": moment, "d": {1}, "e": (1, 2)})
    assert {name: event[name] for name in "abcde"} == {
        "a": "<Broken>",
        "b": str(Path("/x/y")),
        "c": "2026-11-22T10:00:00Z",
        "d": [1],
        "e": [1, 2],
    }


FACTS = st.dictionaries(
    st.text(max_size=9),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=6,
)


@given(FACTS)
def test_any_facts_make_one_plain_line_that_says_them(facts: dict[str, Any]) -> None:
    log = Log(Path("x"), max_bytes=1, max_backups=1, rotate_check_ms=1)
    line = log.line("cache_hit", ID, facts, at=1_800_000_000_000_000_000)
    assert line.isascii()
    assert line.decode().strip().isprintable()
    assert line.count(b"\n") == 1
    head = {"ts": "2027-01-15T08:00:00.000Z", "event": "cache_hit", "call": ID, "pid": os.getpid()}
    try:
        said = json.loads(json.dumps({**facts, **head}, allow_nan=False))
    except (TypeError, ValueError):  # what JSON does not know
        said = None
    told = json.loads(line)
    assert said is None or told == said
    assert head.items() <= told.items()


def test_a_huge_head_does_not_burst_the_line(path: Path) -> None:
    make_log(path).write("e" * 30_000, "c" * 30_000, {"a": 1})
    line = path.read_bytes()
    assert len(line) <= 16_384
    assert json.loads(line)["shortened"] is True


def test_hundreds_of_facts_do_not_burst_the_line(path: Path) -> None:
    assert written(path, {f"fact {n}": "x" * 1000 for n in range(900)})["shortened"] is True


def test_a_log_that_cannot_be_written_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tmp_path.joinpath("file").write_text("")
    make_log(tmp_path / "file" / "log").write("x", ID, {})
    assert capfd.readouterr() == ("", "")


def test_a_log_closes_and_goes_on(path: Path) -> None:
    log = make_log(path)
    log.write("a", ID, {})
    log.close()
    log.write("b", ID, {})
    assert [event["event"] for event in tail(path, 9)] == ["a", "b"]


def test_one_log_per_path_and_settings() -> None:
    def log(name: str = "a", *, queries: bool = True) -> Log:
        return shared_log(
            Path(name), max_bytes=1, max_backups=1, rotate_check_ms=1000, queries=queries
        )

    assert log() is log()
    assert len({log(), log("b"), log(queries=False)}) == 3


def test_threads_that_ask_at_once_get_the_same_log(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Log] = []

    def ask() -> None:
        barrier.wait()
        found.append(shared_log(Path("t"), max_bytes=1, max_backups=1, rotate_check_ms=1))

    barrier = threading.Barrier(8)
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_call_ids_are_short_plain_and_all_different() -> None:
    ids = [new_call_id() for _ in range(50_000)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[0-9a-hjkmnp-tv-z]{12}", each) for each in ids)


def test_call_ids_sort_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def id_at(moment: str) -> str:
        at = datetime.fromisoformat(f"{moment}+00:00").timestamp()
        monkeypatch.setattr("time.time_ns", lambda: int(at * 1000) * 1_000_000)
        return new_call_id()

    moments = ["2026-01-01T00:00:00.001", "2026-01-01T00:00:00.002", "2026-11-22T10:00:00.000"]
    moments += ["2031-01-01T00:00:00.000", "2054-01-01T00:00:00.000"]
    ids = [id_at(moment) for moment in moments]
    assert ids == sorted(ids)
    assert len({each[:8] for each in ids}) == len(ids)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forked_processes_do_not_make_the_same_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 1_800_000_000_000_000_000)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    children = [
        context.Process(target=lambda: queue.put([new_call_id() for _ in range(3)]))
        for _ in range(4)
    ]
    for child in children:
        child.start()
    ids = [each for _ in children for each in queue.get()]
    for child in children:
        child.join(60)
    assert len(set(ids)) == 12


def fill(path: Path, *calls: str) -> None:
    log = make_log(path)
    for number, call in enumerate(calls):
        log.write("x", call, {"n": number})


def numbers(events: list[dict[str, Any]]) -> list[int]:
    return [event["n"] for event in events]


def test_tail_gives_the_last_events_oldest_first(path: Path) -> None:
    fill(path, *"abcdef")
    assert numbers(tail(path, 3)) == [3, 4, 5]
    assert numbers(tail(path, 99)) == [0, 1, 2, 3, 4, 5]
    assert tail(path, 0) == tail(path, -1) == []


def test_tail_goes_on_in_the_backups(path: Path) -> None:
    log = make_log(path, max_bytes=1)
    for number in range(5):
        log.write("x", ID, {"n": number})
    assert numbers(tail(path, 3)) == [2, 3, 4]
    assert numbers(events_of(path, ID)) == [0, 1, 2, 3, 4]


def test_a_log_that_is_not_there_is_empty(path: Path) -> None:
    assert tail(path, 5) == []


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\0" * 100_000,
        b"{",
        b'{"ts":"2026-11-22T10:00:00.000Z","event":"x","call":"03abc',
        b"[1]",
        b"null",
        b'"x"',
        b'{"event":"x"}',
        b'{"event":1,"call":"03abcdefghjk"}',
        b'{"event":"x","call":null}',
        b"\xff\xfe",
        b"[" * 50_000,
    ],
    ids=range(12),
)
def test_lines_that_are_no_events_are_passed_over(path: Path, junk: bytes) -> None:
    fill(path, ID)
    with path.open("ab") as file:
        file.write(junk + b"\n")
    make_log(path).write("x", ID, {"n": 1})
    assert numbers(tail(path, 9)) == numbers(events_of(path, ID)) == [0, 1]


def test_a_whole_line_right_after_one_that_was_cut_is_found(path: Path) -> None:
    fill(path, ID)
    line = path.read_bytes()
    path.write_bytes(line[:50] + line + line[:20] + line)
    assert numbers(events_of(path, ID)) == [0, 0]


def test_the_beginning_of_an_id_is_enough(path: Path) -> None:
    fill(path, "03abcdefghjk", "03abxxxxxxxx", "03abcdefghjk")
    assert numbers(events_of(path, " 03ABC ")) == [0, 2]


def test_a_whole_id_is_never_ambiguous(path: Path) -> None:
    fill(path, "03ab", "03abc", "03ab")
    assert numbers(events_of(path, "03ab")) == [0, 2]


def test_an_id_in_a_fact_is_not_the_call(path: Path) -> None:
    make_log(path).write("x", "03zz", {"n": 0, "message": ID, "nested": {"call": ID}})
    with pytest.raises(InputError, match=f'"{ID}"'):
        events_of(path, ID)


def test_an_ambiguous_beginning_is_refused_with_the_candidates(path: Path) -> None:
    fill(path, "03a1", "03a2", "03a1")
    with pytest.raises(InputError, match='2 calls .*"03a": 03a1, 03a2'):
        events_of(path, "03a")
    fill(path, *(f"03a{n}" for n in range(8)))
    with pytest.raises(InputError, match="8 calls .*03a7, 03a6, 03a5, 03a4, 03a3, …"):
        events_of(path, "03a")


def test_an_unknown_id_is_refused_with_the_command_that_lists_ids(path: Path) -> None:
    with pytest.raises(InputError, match='"nope".*`webtools log tail`') as caught:
        events_of(path, "nope")
    assert str(path) in str(caught.value)


def test_an_empty_id_is_refused(path: Path) -> None:
    with pytest.raises(InputError, match="empty.*`webtools log tail`"):
        events_of(path, "  ")


def test_a_log_that_cannot_be_read_is_named_with_its_path(path: Path) -> None:
    path.mkdir()
    with pytest.raises(ConfigError, match=f"{path}.*Is a directory"):
        tail(path, 1)
    with pytest.raises(ConfigError, match="null"):
        tail(Path("a\0b"), 1)
