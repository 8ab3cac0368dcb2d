"""plan."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_calls import Cli

from webtools import WebTools
from webtools.cli.tool_commands import RESEARCH
from webtools.display.plan_text import plan_text
from webtools.results import BudgetState, PlanStep, ResearchPlan

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
EXA = PlanStep(provider="exa", type="exa", task="search", worst_cost_usd=0.007)
BRAVE = PlanStep(provider="my-brave", type="brave", task="search", worst_cost_usd=0.005)
FREE = PlanStep(provider="direct", type="direct", task="fetch", worst_cost_usd=0)


def made(**changes: Any) -> ResearchPlan:
    facts: dict[str, Any] = {
        "query": "zip bombs",
        "command": "web-deep",
        "limit": 5,
        "time_sensitive": False,
        "recency_days": None,
        "chain": [EXA, BRAVE],
        "reading": FREE,
        "synthesizer": "extractive",
        "worst_cost_usd": 0.012,
        "most_output_bytes": 51200,
    }
    return ResearchPlan(**{**facts, **changes})


def told(**changes: Any) -> str:
    return plan_text(made(**changes), NOW)


def budget(**changes: Any) -> BudgetState:
    return BudgetState(**{"usd_process": 0.0, "calls_process": 0, **changes})


def test_a_plan_is_told_in_lines() -> None:
    assert told() == (
        "Plan for web-deep: zip bombs\n"
        "\n"
        "Asked in turn until one finds something, at most 5 sources:\n"
        "  1. exa       search  at most 0.007 USD\n"
        "  2. my-brave  search  at most 0.005 USD\n"
        "\n"
        "Reads the pages:    direct, free\n"
        "Writes the answer:  extractive, here, at no cost\n"
        "In the cache:       no\n"
        "Costs at most:      0.012 USD\n"
        "Prints at most:     50.0 KB"
    )


def test_who_is_skipped_is_told_with_the_reason() -> None:
    skipped = EXA.model_copy(
        update={"parked_until": NOW + timedelta(minutes=8), "reason": "its quota is used up"}
    )
    expected = (
        "USD\n     skipped until 2026-11-22 12:08 UTC, because its quota is used up\n  2. my-"
    )
    assert expected in told(chain=[skipped, BRAVE])


def test_who_is_skipped_beside_the_chain_is_told_with_the_reason() -> None:
    state = {"parked_until": NOW + timedelta(minutes=8), "reason": "it does not accept the key"}
    expected = ", skipped until 2026-11-22 12:08 UTC, because it does not accept the key\n"
    reading = FREE.model_copy(update=state)
    assert f"Reads the pages:    direct, free{expected}" in told(reading=reading)
    synthesis = EXA.model_copy(update=state)
    text = told(synthesizer="perplexity", synthesis=synthesis)
    assert f"Writes the answer:  exa, at most 0.007 USD{expected}" in text


def test_without_reading_and_synthesis_neither_is_promised() -> None:
    text = told(command="web", reading=None, synthesizer=None)
    assert "Reads the pages" not in text
    assert "Writes the answer:  nobody, there is none\n" in text


def test_pages_that_nobody_can_read_are_told() -> None:
    assert (
        "Reads the pages:    nobody can, so snippets stand in; install agent-webtools[fetch] or add"
        " a provider that fetches\nWrites the answer:  extractive"
    ) in told(reading=None)
    assert "Reads the pages" not in told(reading=None, synthesizer=None)
    assert "Reads the pages" not in told(reading=None, command="web")


def test_a_plan_in_a_notebook_tells_it_too() -> None:
    for drawn in (made(reading=None)._repr_html_(), made(reading=None)._repr_markdown_()):
        assert "nobody can, so snippets stand in" in drawn
    assert "snippets" not in made()._repr_html_()


def test_a_synthesizer_that_asks_a_provider_is_told_with_its_price() -> None:
    step = PlanStep(provider="pplx", type="perplexity", task="synthesize", worst_cost_usd=0.5)
    text = told(synthesizer="perplexity", synthesis=step)
    assert "Writes the answer:  pplx, at most 0.5 USD\n" in text


def test_how_old_a_source_may_be_is_told_where_it_matters() -> None:
    assert "Counts as recent:   what is at most 7 days old\n" in told(recency_days=7)


def test_what_is_kept_is_told_with_its_age() -> None:
    text = told(kept_since=NOW - timedelta(minutes=3), worst_cost_usd=0)
    assert "In the cache:       yes, since 2026-11-22 11:57 UTC (180 s); nothing would" not in text
    assert "In the cache:       yes, since 2026-11-22 11:57 UTC (3 min); nothing would" in text
    assert "Costs at most:      0 USD\n" in text


@pytest.mark.parametrize(
    ("state", "left", "refusal"),
    [
        (budget(usd_per_day=5, usd_today=1.5), "3.5 of 5 USD today", ""),
        (budget(calls_per_day=9, calls_today=2), "7 of 9 calls today", ""),
        (
            budget(usd_per_process=1, calls_per_process=3),
            "1 of 1 USD per process, 3 of 3 calls per process",
            "",
        ),
        (
            budget(usd_per_day=1, usd_today=1, calls_per_day=1, calls_today=0),
            "0 of 1 USD today, 1 of 1 call today",
            "would refuse the call",
        ),
        (
            budget(calls_per_day=5, calls_today=7),
            "0 of 5 calls today",
            "would refuse the call",
        ),
        (
            budget(usd_per_day=1, usd_today=0.994),
            "0.006 of 1 USD today",
            "might refuse a part of the call",
        ),
        (
            budget(calls_per_process=2),
            "2 of 2 calls per process",
            "might refuse a part of the call",
        ),
    ],
)
def test_what_the_budget_leaves_is_told_and_whether_it_would_do(
    state: BudgetState, left: str, refusal: str
) -> None:
    text = told(budget=state)
    assert f"\nBudget left:        {left}" in text
    assert ("Budget:  " in text) == bool(refusal)
    assert text.endswith(refusal or left)


def test_a_kept_answer_takes_nothing_from_the_budget() -> None:
    state = budget(calls_per_day=5, calls_today=5)
    assert "refuse" not in told(budget=state, kept_since=NOW)


def test_a_skipped_provider_takes_nothing_from_the_budget() -> None:
    skipped = BRAVE.model_copy(update={"parked_until": NOW, "reason": "it is in trouble"})
    state = budget(usd_per_day=1, usd_today=0.994)
    assert told(chain=[EXA, skipped], budget=state).endswith("would refuse the call")


# --- the command -------------------------------------------------------------------------------


def test_nothing_is_sent(cli: Cli, trial: str, webtools_sandbox: SandboxServer) -> None:
    before = webtools_sandbox.stats()["requests"]
    done = cli("plan", "zip", "bombs", "--command", "web-deep", "--config", trial)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Plan for web-deep: zip bombs\n\nAsked in turn")
    assert webtools_sandbox.stats()["requests"] == before


def test_json_prints_the_plan(cli: Cli, trial: str) -> None:
    words = "plan heap queue --command web-news --limit 2 --recency-days 3 --synthesis extractive"
    done = cli(*words.split(), "--json", "--config", trial)
    with WebTools(config=trial) as web:
        expected = web.plan(
            "heap queue", command="web-news", limit=2, recency_days=3, synthesis="extractive"
        )
    assert (done.code, done.err) == (0, "")
    assert done.json == expected.model_dump(mode="json")


def test_without_a_command_it_is_web(cli: Cli, trial: str) -> None:
    assert cli("plan", "x", "--config", trial).out.startswith("Plan for web: x\n")


def test_an_answer_that_is_kept_is_told(cli: Cli, trial: str) -> None:
    cli("web", "heap queue", "--config", trial)
    assert "In the cache:       yes, " in cli("plan", "heap queue", "--config", trial).out


@pytest.mark.parametrize("name", ["deep", "web-depe"])
def test_another_command_is_refused_with_the_four_names(cli: Cli, name: str) -> None:
    done = cli("plan", "x", "--command", name)
    assert (done.code, done.out) == (2, "")
    assert f'command "{name}" is not possible; use ' in done.err
    assert all(f"'{known}'" in done.err for known in RESEARCH)


def test_a_plan_that_cannot_be_made_is_exit_2(cli: Cli, trial: str) -> None:
    done = cli("plan", "x", "--limit", "99", "--config", trial)
    assert (done.code, done.out) == (2, "")
    assert done.err == 'webtools: limit "99" is not possible; use 1 to 10.\n'


def test_with_json_an_error_is_one_document_too(cli: Cli) -> None:
    done = cli("plan", "x", "--json")
    assert (done.code, done.json["error"]["type"]) == (2, "ConfigError")


def test_a_budget_that_is_spent_is_told(cli: Cli, trial: str) -> None:
    path = Path(trial)
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "budget": {"callsPerDay": 1}}))
    assert cli("web", "heap", "--config", trial).code == 0
    assert "would refuse the call\n" in cli("plan", "other", "--config", trial).out
    assert cli("web", "other", "--config", trial).code == 1
