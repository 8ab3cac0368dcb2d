"""Runs write one row per item, resume with the same call, and stop where no call can succeed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from stub_web import CONFIG, StubWeb

from webtools import (
    AuthenticationError,
    BadRequestError,
    ConfigError,
    InputError,
    QuotaError,
    RateLimitError,
    ResearchEnvelope,
    SearchResponse,
    UnavailableError,
    WebTools,
    bulk,
)
from webtools._internal.faults import Fault, with_fault
from webtools.bulk import Options, Outcome
from webtools_sandbox import SandboxServer

QUERIES = ["heap", "json", "zip"]


def rows_of(path: Path) -> list[Outcome]:
    return sorted(bulk.read(path), key=lambda row: row.index)


def raising(*errors: Exception) -> Any:
    remaining = [*errors]

    def answer(_: str) -> None:
        if remaining:
            raise remaining.pop(0)

    return answer


# --- rows --------------------------------------------------------------------------------------


def test_every_item_has_a_typed_row_with_price_provider_and_time(
    tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    web = WebTools(config=webtools_sandbox.config())
    out = tmp_path / "rows.jsonl"
    items: list[Any] = ["heap queue", {"query": "json", "limit": 1}, {"query": ""}]
    webtools_sandbox.fault(provider="exa", status=400, times=1)
    options = Options(workers=1, arguments={"provider": "exa"})  # no other one serves it
    summary = bulk.run("search", items, out, web=web, options=options)
    refused, result, wrong = rows_of(out)
    assert (summary.done, summary.total, summary.ok, summary.failed) == (3, 3, 1, 2)
    assert (result.status, result.provider, result.cost_usd, result.attempts) == (
        "ok",
        "exa",
        0.007,
        1,
    )
    assert isinstance(result.response, SearchResponse)
    assert (len(result.results), result.page) == (1, None)
    assert result.ms > 0
    assert refused.error is not None
    assert (refused.error.type, refused.error.retryable) == ("BadRequestError", False)
    assert wrong.error is not None
    assert (wrong.error.type, wrong.attempts, wrong.response) == ("InputError", 0, None)


def test_research_and_pages_have_rows_too(tmp_path: Path, webtools_sandbox: SandboxServer) -> None:
    web = WebTools(config=webtools_sandbox.config())
    bulk.run("research", ["heap queue"], tmp_path / "research.jsonl", web=web)
    [row] = rows_of(tmp_path / "research.jsonl")
    assert isinstance(row.response, ResearchEnvelope)
    assert (row.status, row.provider) == ("ok", "exa")
    url = f"{webtools_sandbox.docs_url}/library/heapq.html"
    bulk.run("fetch", [url], tmp_path / "pages.jsonl", web=web, options=Options(interval=0.001))
    [row] = rows_of(tmp_path / "pages.jsonl")
    assert (row.status, row.page and row.page.url, row.results) == ("ok", url, [])


def test_no_key_is_in_a_row(tmp_path: Path) -> None:
    key = CONFIG["providers"][0]["apiKey"]  # type: ignore[index]
    out = tmp_path / "rows.jsonl"
    bulk.run("search", [f"what is {key}"], out, web=StubWeb())
    assert key not in out.read_text()


# --- going on ----------------------------------------------------------------------------------


def test_the_same_call_again_requests_only_missing_rows(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    bulk.run("search", QUERIES, out, web=StubWeb())
    web = StubWeb()
    summary = bulk.run("search", [*QUERIES, "one more"], out, web=web)
    assert web.asked == ["one more"]
    assert (summary.done, summary.resumed, summary.cost_usd) == (4, 3, 0.028)
    assert len(rows_of(out)) == 4


def test_a_cut_row_is_made_again(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    bulk.run("search", QUERIES, out, web=StubWeb(), options=Options(workers=1))
    out.write_bytes(out.read_bytes()[:-30])
    assert len(rows_of(out)) == 2
    web = StubWeb()
    bulk.run("search", QUERIES, out, web=web)
    assert web.asked == ["zip"]
    assert len(rows_of(out)) == 3


@pytest.mark.parametrize("how", ["resend", "skip"])
def test_items_in_flight_are_sent_again_or_skipped(tmp_path: Path, how: Any) -> None:
    out, web = tmp_path / "rows.jsonl", StubWeb()
    bulk.run("search", QUERIES[:1], out, web=web)
    Path(f"{out}.journal").write_text("0\n1\n2")  # a last line without an end was never sent
    summary = bulk.run("search", QUERIES, out, web=web, options=Options(in_flight=how))
    assert web.asked == (QUERIES if how == "resend" else ["heap", "zip"])
    assert summary.skipped == (how == "skip")
    [_, row, _] = rows_of(out)
    assert (row.error is not None) == (how == "skip")


def test_failed_rows_are_retried_on_request(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    web = StubWeb(raising(BadRequestError("no", provider="exa", status=400)))
    assert bulk.run("search", QUERIES, out, web=web, options=Options(workers=1)).failed == 1
    again = StubWeb()
    assert bulk.run("search", QUERIES, out, web=again).failed == 1
    assert not again.asked
    summary = bulk.run("search", QUERIES, out, web=again, options=Options(retry_failed=True))
    assert (summary.ok, summary.failed, again.asked) == (3, 0, ["heap"])


def test_rows_of_other_work_are_kept(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    bulk.run("search", QUERIES, out, web=StubWeb())
    before = out.read_bytes()
    with pytest.raises(InputError, match=r"rows\.jsonl.*item 1"):
        bulk.run("search", ["heap", "yaml"], out, web=StubWeb())
    with pytest.raises(InputError, match=r"rows\.jsonl"):
        bulk.run("search", QUERIES, out, web=StubWeb(), options=Options(arguments={"limit": 3}))
    assert out.read_bytes() == before


HEAD = '{"index":0,"id":"00000000000000aa","status":"ok","cost_usd":0.1,'
FOREIGN = [
    *("my notes\n", "my notes", "{", '{"index":', '{"index":0}', "[]", "\n", "index\n0\n"),
    *(HEAD.replace('"ok"', '"fine"'), HEAD.replace("0.1", "-0.1"), HEAD.replace("0.1", "1-2-3")),
    *(HEAD.replace("0.1", "1" * 5000), HEAD.replace("0.1", "1e999"), HEAD.replace("0.1", "nan")),
    *(HEAD.replace(":0,", f":{'9' * 5000},"), HEAD.replace(":0,", ":-1,"), HEAD[1:]),
]


@pytest.mark.parametrize("end", ["", "\n"], ids=["cut", "whole"])
@pytest.mark.parametrize("content", FOREIGN, ids=lambda text: text[:70])
def test_a_foreign_file_is_kept(tmp_path: Path, content: str, end: str) -> None:
    out = tmp_path / "notes.jsonl"
    out.write_text(content + end)
    with pytest.raises(InputError, match=r"notes\.jsonl"):
        bulk.run("search", QUERIES, out, web=StubWeb())
    assert out.read_text() == content + end
    assert [*tmp_path.iterdir()] == [out]


@pytest.mark.parametrize("content", ["my notes", "1\ntwo\n", "-1\n", "9" * 5000 + "\n", "1 2\n"])
def test_a_foreign_file_in_the_place_of_the_journal_is_kept(tmp_path: Path, content: str) -> None:
    out = tmp_path / "rows.jsonl"
    journal = tmp_path / "rows.jsonl.journal"
    journal.write_text(content)
    with pytest.raises(InputError, match=r"rows\.jsonl\.journal"):
        bulk.run("search", QUERIES, out, web=StubWeb())
    assert journal.read_text() == content


def test_a_tampered_index_takes_no_memory_for_the_items_before_it(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    bulk.run("search", QUERIES, out, web=StubWeb(), options=Options(workers=1))
    row = out.read_text().splitlines()[0].replace('"index":0', '"index":4294967295', 1)
    out.write_text(f"{row}\n")
    tracemalloc.start()
    try:
        assert bulk.run("search", QUERIES, out, web=StubWeb()).resumed == 1
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("name", ["", ".journal", ".new", ".journal.new"])
@pytest.mark.parametrize("exists", [True, False])
def test_no_link_is_followed(tmp_path: Path, name: str, exists: bool) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    target, out = tmp_path / "target", folder / "rows.jsonl"
    if exists:
        target.write_text("1\n")
    failing = StubWeb(raising(BadRequestError("no", provider="exa", status=400)))
    if name:
        bulk.run("search", QUERIES, out, web=failing, options=Options(workers=1))
    Path(f"{out}{name}").symlink_to(target)
    with contextlib.suppress(InputError):
        bulk.run("search", QUERIES, out, web=StubWeb(), options=Options(retry_failed=True))
    assert target.exists() is exists
    assert not exists or target.read_text() == "1\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_the_output_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    out = tmp_path / "rows.jsonl"
    web = StubWeb(raising(BadRequestError("no", provider="exa", status=400)))
    out.touch()
    out.chmod(mode)
    bulk.run("search", QUERIES, out, web=web, options=Options(workers=1))
    modes = [out.stat().st_mode & 0o777]
    summary = bulk.run("search", QUERIES, out, web=web, options=Options(retry_failed=True))
    assert (summary.ok, summary.failed) == (3, 0)
    assert [*modes, out.stat().st_mode & 0o777] == [mode, mode]


def test_two_processes_cannot_write_to_one_file(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"

    def answer(_: str) -> None:
        with pytest.raises(InputError, match=r"rows\.jsonl"):
            bulk.run("search", QUERIES, out, web=StubWeb())

    assert bulk.run("search", ["heap"], out, web=StubWeb(answer)).ok == 1


def test_a_full_disk_ends_the_run_and_leaves_whole_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, write = tmp_path / "rows.jsonl", os.write
    written: list[int] = []

    def full(file: int, data: Any) -> int:
        if len(data) < 50:  # the journal
            return write(file, data)
        written.append(len(data))
        if len(written) == 2:
            return write(file, data[:40])
        if len(written) == 3:
            raise OSError(28, "No space left on device")
        return write(file, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        bulk.run("search", QUERIES, out, web=StubWeb(), options=Options(workers=1))
    monkeypatch.undo()
    assert [row.subject for row in rows_of(out)] == ["heap"]
    assert out.read_bytes().endswith(b"}\n")


# --- failures ----------------------------------------------------------------------------------


def test_temporary_failures_are_retried_and_the_row_counts_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools.bulk.row_calls._FIRST_WAIT", 0.01)
    slow = RateLimitError("too many", status=429, retry_after=0.01, cost_usd=0.001)
    web = StubWeb(raising(slow, UnavailableError("busy", status=503)))
    out = tmp_path / "rows.jsonl"
    bulk.run("search", ["heap"], out, web=web)
    [row] = rows_of(out)
    assert (row.status, row.attempts, row.cost_usd) == ("ok", 3, 0.008)
    web = StubWeb(raising(*[UnavailableError("busy", status=503)] * 9))
    bulk.run("search", ["heap"], tmp_path / "b.jsonl", web=web, options=Options(attempts=2))
    [row] = rows_of(tmp_path / "b.jsonl")
    assert (row.status, row.attempts, len(web.asked)) == ("failed", 2, 2)
    assert row.error is not None
    assert row.error.retryable


def test_a_spent_budget_stops_the_run_and_the_same_call_resumes_it(
    tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    out, config = tmp_path / "rows.jsonl", webtools_sandbox.config()
    config["cache"]["path"] = str(tmp_path / "c.db")
    poor = WebTools(config={**config, "failover": False, "budget": {"callsPerProcess": 2}})
    summary = bulk.run("search", QUERIES, out, web=poor)
    assert "2 of 2 calls" in summary.stopped
    assert [row.status for row in rows_of(out)] == ["ok", "ok"]
    config["cache"]["path"] = str(tmp_path / "other.db")
    summary = bulk.run("search", QUERIES, out, web=WebTools(config=config))
    assert (summary.done, summary.ok, summary.stopped) == (3, 3, "")


def test_unusable_settings_stop_the_run_at_once(tmp_path: Path) -> None:
    web = StubWeb(raising(*[ConfigError("No key is set.")] * 9))
    summary = bulk.run("search", QUERIES, tmp_path / "rows.jsonl", web=web)
    assert (summary.stopped, summary.done) == ("No key is set.", 0)


@pytest.mark.parametrize("error", [AuthenticationError, QuotaError])
def test_a_provider_that_refuses_one_item_after_the_other_stops_the_run(
    tmp_path: Path, error: Any
) -> None:
    queries = [f"q{i}" for i in range(30)]
    web = StubWeb(raising(*[error("no credit", provider="exa", status=402)] * 30))
    out = tmp_path / "rows.jsonl"
    summary = bulk.run("search", queries, out, web=web, options=Options(workers=1))
    assert summary.stopped.startswith("5 ")
    assert summary.stopped.endswith("no credit")
    assert (summary.failed, len(web.asked)) == (4, 5)
    now_and_then = [error("no", status=403), None] * 30
    odd = StubWeb(lambda _: _raise(now_and_then.pop()))
    options = Options(workers=1, retry_failed=True)
    assert not bulk.run("search", queries, out, web=odd, options=options).stopped


def _raise(error: Exception | None) -> None:
    if error is not None:
        raise error


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"operation": "summarize"}, "'summarize'"),
        ({"options": Options(arguments={"colour": 1})}, "colour"),
    ],
)
def test_invalid_options_are_refused_before_anything_is_written(
    tmp_path: Path, given: dict[str, Any], match: str
) -> None:
    operation = given.pop("operation", "search")
    with pytest.raises(InputError, match=match):
        bulk.run(operation, QUERIES, tmp_path / "rows.jsonl", web=StubWeb(), **given)
    assert not (tmp_path / "rows.jsonl").exists()


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.json"])
def test_an_output_of_another_format_is_refused_with_the_formats_there_are(
    tmp_path: Path, name: str
) -> None:
    web = StubWeb()
    with pytest.raises(InputError, match=r"\.jsonl.*\.ndjson"):
        bulk.run("search", QUERIES, tmp_path / name, web=web)
    assert not web.asked
    assert not (tmp_path / name).exists()


# --- at the same time --------------------------------------------------------------------------


def test_pages_of_one_host_come_one_by_one_and_other_hosts_do_not_wait(tmp_path: Path) -> None:
    web = StubWeb(seconds=0.02)
    urls = [f"https://{host}.example/{i}" for host in "abc" for i in range(3)]
    most_of_a_host: list[int] = []

    def answer(_: str) -> None:
        hosts = [url.split("/")[2] for url in web.under_way]
        most_of_a_host.append(max(map(hosts.count, hosts)))

    web.answer = answer
    options = Options(host_interval=0.0, arguments={"provider": "direct"})
    items = ["no address", *urls]
    summary = bulk.run("fetch", items, tmp_path / "rows.jsonl", web=web, options=options)
    assert (max(most_of_a_host), web.most_at_once, summary.failed) == (1, 3, 1)


def test_a_page_that_robots_txt_disallows_is_skipped(tmp_path: Path) -> None:
    for fault, counts in {Fault.DISALLOWED: (1, 0), Fault.NONE: (0, 1)}.items():
        refused = with_fault(BadRequestError("robots.txt disallows this page"), fault)
        out = tmp_path / f"{fault}.jsonl"
        summary = bulk.run("fetch", ["https://a.example/"], out, web=StubWeb(raising(refused)))
        assert (summary.skipped, summary.failed) == counts


async def test_calls_under_way_are_kept_when_the_run_is_cancelled(tmp_path: Path) -> None:
    out, web = tmp_path / "rows.jsonl", StubWeb(seconds=0.1)
    work = bulk.arun("search", QUERIES, out, web=web, options=Options(workers=2))
    task = asyncio.ensure_future(work)
    while len(web.under_way) < 2:  # noqa: ASYNC110  a stub has no event
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [row.subject for row in rows_of(out)] == ["heap", "json"]
    journal = Path(f"{out}.journal").read_text()  # noqa: ASYNC240
    assert journal.split()[-2:] == ["0", "1"]


def test_pages_of_a_site_are_read_directly_and_its_robots_txt_once(
    tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    site = webtools_sandbox.url.removeprefix("http://")
    direct = {"name": "direct", "type": "direct", "options": {"allowPrivateHosts": [site]}}
    cache = {"path": str(tmp_path / "cache.db")}
    web = WebTools(config={"providers": [direct], "cache": cache, "log": {"enabled": False}})
    names = ("heapq", "json", "no-such-page")
    urls = [f"{webtools_sandbox.docs_url}/library/{name}.html" for name in names]
    options = Options(host_interval=0.01, attempts=1)
    summary = bulk.run("fetch", urls, tmp_path / "rows.jsonl", web=web, options=options)
    assert (summary.ok, summary.failed) == (2, 1)
    assert rows_of(tmp_path / "rows.jsonl")[0].provider == "direct"
    assert webtools_sandbox.stats()["requests"]["/robots.txt"] == 1


def test_rows_are_synced_to_the_disk_regularly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr("webtools.bulk.row_files._SYNC_SECONDS", 0.0)
    monkeypatch.setattr("os.fsync", synced.append)
    bulk.run("search", QUERIES, tmp_path / "rows.jsonl", web=StubWeb())
    assert len(synced) == 1 + len(QUERIES) + 1  # the journal, each row, and at the end
