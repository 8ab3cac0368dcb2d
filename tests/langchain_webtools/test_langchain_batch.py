"""Batches: how many calls are under way at the same time. Counted, not timed."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from langchain_webtools import WebSearchTool
from webtools import ToolResult, WebTools


class Counting(WebTools):
    """Holds calls until `meeting` of them are there, and counts those under way."""

    def __init__(self, meeting: int = 1) -> None:
        super().__init__()
        self._barrier = threading.Barrier(meeting, timeout=60)
        self._lock = threading.Lock()
        self.now = self.most = 0

    def call_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self._barrier.wait()
        with self._lock:
            self.now -= 1
        if arguments["queries"] == "bad":
            return ToolResult("bad", {}, is_error=True)
        return ToolResult(arguments["queries"])


@pytest.fixture(autouse=True)
def one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the default number of threads is smallest: five."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    monkeypatch.setattr("os.process_cpu_count", lambda: 1, raising=False)


WORDS = [str(number) for number in range(8)]


def test_all_calls_of_a_batch_run_at_the_same_time() -> None:
    assert WebSearchTool(web=Counting(8)).batch(WORDS) == WORDS


def test_all_calls_run_at_the_same_time_with_a_config_for_each() -> None:
    configs = [{"tags": [word]} for word in WORDS]
    assert WebSearchTool(web=Counting(8)).batch(WORDS, configs) == WORDS  # type: ignore[arg-type]


@pytest.mark.parametrize("return_exceptions", [True, False])
def test_results_can_be_had_as_they_come(return_exceptions: bool) -> None:
    tool = WebSearchTool(web=Counting(8))
    results = tool.batch_as_completed(WORDS, return_exceptions=return_exceptions)  # type: ignore[call-overload]
    assert sorted(results) == list(enumerate(WORDS))


def test_a_batch_has_a_bound() -> None:
    web = Counting(32)
    assert len(WebSearchTool(web=web).batch(WORDS * 8)) == 64
    assert web.most == 32


def test_the_users_limit_holds() -> None:
    web = Counting()
    assert WebSearchTool(web=web).batch(WORDS, {"max_concurrency": 1}) == WORDS
    assert web.most == 1


def test_one_failure_leaves_the_other_results() -> None:
    tool = WebSearchTool(web=Counting(3), handle_tool_error=False)
    first, failed, last = tool.batch(["a", "bad", "c"], return_exceptions=True)
    assert (first, str(failed), last) == ("a", "bad", "c")
