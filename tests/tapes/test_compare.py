"""What changed between two runs, from tapes, responses and the JSON of the command line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tape_files import page_line, search_line, write_tape

from webtools import InputError, WebTools, compare
from webtools.cli import main
from webtools.comparison import SourceChange
from webtools.results import (
    Claim,
    FetchResponse,
    Page,
    Passage,
    Quotation,
    ResearchEnvelope,
    ResearchMeta,
    ResearchResult,
    ResearchSynthesis,
    SearchResponse,
)

AT = datetime(2026, 11, 1, tzinfo=UTC)
URL = "https://a.example/prices"


def fetched(*texts: str | None, url: str = URL, **facts: Any) -> FetchResponse:
    pages = [
        Page(url=url if not at else f"{url}-{at}", text=text, source_provider="direct", **facts)
        for at, text in enumerate(texts)
    ]
    return FetchResponse(provider="direct", pages=pages, retrieved_at=AT, cost_usd=0.001)


def only(old: Any, new: Any) -> SourceChange:
    [source] = compare(old, new).sources
    return source


# --- sources ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        (fetched("Text."), fetched("Text."), "unchanged"),
        (fetched("Text."), fetched("Other words now."), "changed"),
        (fetched("Text."), fetched(None, error="HTTP 404 Not Found"), "gone"),
        (fetched("Text."), fetched(None, error="CRAWL_NOT_FOUND (HTTP 410)"), "gone"),
        (fetched("Text."), fetched(None, error="HTTP 503: try again"), "error"),
        (fetched(None, error="HTTP 503: try again"), fetched("Text."), "error"),
        (
            fetched("Text.", url_final=URL),
            fetched("Text.", url_final="https://b.example/p"),
            "moved",
        ),
        (fetched("Text."), fetched(None), "not_compared"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_source_has_one_status(old: FetchResponse, new: FetchResponse, status: str) -> None:
    source = only(old, new)
    assert source.status == status
    assert source.url == URL
    assert source.reason or status in {"unchanged", "changed"}


def test_a_key_that_was_set_later_is_redacted_before_texts_are_cut_into_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["Zq-Ab3dEf", "7hIjK9mNo", "PqRs_Tu2W"]
    runs = fetched("One. Two."), fetched("\n\n".join(lines))
    report = compare(*runs).model_dump_json()
    assert all(line in report for line in lines)
    monkeypatch.setenv("OPENAI_API_KEY", "".join(lines))
    report = compare(*runs).model_dump_json()
    assert not any(line in report for line in lines)


def test_a_source_of_one_run_is_new_or_gone_and_the_page_may_exist() -> None:
    old, new = fetched("Text."), fetched("Text.", url="https://b.example/")
    statuses = {source.url: source for source in compare(old, new).sources}
    assert {url: source.status for url, source in statuses.items()} == {
        URL: "gone",
        "https://b.example/": "new",
    }
    missing = only(old, fetched(None, error="HTTP 404: there is no such page"))
    assert missing.status == "gone"
    assert missing.reason != statuses[URL].reason


def test_each_page_of_a_failed_call_has_its_reason(tmp_path: Path) -> None:
    urls = ["https://a.example/404", "https://b.example/"]
    old = page_line(*({"url": url, "text": "Text."} for url in urls))
    message = f"None could be fetched: {urls[0]}: HTTP 503: later; {urls[1]}: HTTP 410 Gone."
    error = {"type": "ProviderError", "message": message}
    new = {**{name: old[name] for name in ("tool", "arguments", "at")}, "error": error}
    paths = [write_tape(tmp_path / name, line) for name, line in (("a", old), ("b", new))]
    statuses = {source.url: source.status for source in compare(*paths).sources}
    assert statuses == dict(zip(urls, ["error", "gone"], strict=True))


def test_texts_of_different_readers_are_not_compared(tmp_path: Path) -> None:
    old = page_line({"text": "Text.", "source_provider": "direct"})
    new = page_line({"text": "Text in other words.", "source_provider": "exa"})
    paths = [write_tape(tmp_path / name, line) for name, line in (("a", old), ("b", new))]
    source = only(*paths)
    assert source.status == "not_compared"
    assert "exa" in source.reason
    other = tmp_path / "c"
    other.write_text(paths[0].read_text().replace('"0.5.0"', '"0.6.0"').replace("Text.", "Else."))
    assert only(paths[0], other).status == "not_compared"


WORDS = st.text("abcdefghij", min_size=3, max_size=8)
PARAGRAPHS = st.lists(
    st.lists(WORDS, min_size=4, max_size=8).map(" ".join), min_size=2, max_size=6, unique=True
)
NOISE = st.sampled_from(
    [
        ("Posted {} minutes ago", "{}"),
        ("{} hours ago by Ann", "{}"),
        ("vor {} Minuten", "{}"),
        ("hace {} días", "{}"),
        ("il y a {} heures", "{}"),
        ("{}分前", "{}"),
        ("{},204 views", "{}"),
        ("Comments: {}", "{}"),
        ("{}k followers", "{}"),
        ("[More](https://u.example/x?utm_source=s{}&id=1)", "{}"),
        ("https://u.example/?fbclid={}", "{}"),
    ]
)


@given(paragraphs=PARAGRAPHS, noise=NOISE, numbers=st.tuples(*[st.integers(2, 59)] * 2))
def test_what_changes_by_itself_is_no_change(
    paragraphs: list[str], noise: tuple[str, str], numbers: tuple[int, int]
) -> None:
    old, new = ("\n\n".join([*paragraphs, noise[0].format(number), ""]) for number in numbers)
    urls = (URL, f"{URL}/?utm_campaign=x#part")
    source = only(fetched(old), fetched(new.replace(" ", "  \t"), url=urls[1]))
    assert source.status == "unchanged"
    assert source.old_hash == source.new_hash


@given(paragraphs=PARAGRAPHS, at=st.integers(0, 5), pair=st.tuples(WORDS, WORDS))
def test_added_and_removed_paragraphs_are_listed(
    paragraphs: list[str], at: int, pair: tuple[str, str]
) -> None:
    removed, added = f"Removed {pair[0]}.", f"Quite another {pair[1]} was inserted."
    at %= len(paragraphs)
    old, new = ([*paragraphs[:at], text, *paragraphs[at:]] for text in (removed, added))
    changes = only(fetched("\n\n".join(old)), fetched("\n\n".join(new))).changes
    assert {(change.old, change.new) for change in changes} == {(removed, None), (None, added)}


def test_changed_numbers_and_dates_come_first() -> None:
    old = "An old remark stays here.\n\nThe plan costs 12.50 EUR since 3 May 2026 for 4 users."
    new = "Something else was written.\n\nThe plan costs 14 EUR since 5 June 2026 for 4 users."
    first, *others = only(fetched(old), fetched(new)).changes
    assert first.numbers == ["12.50 → 14", "3 May 2026 → 5 June 2026"]
    assert len(others) == 2
    assert all(change.numbers == [] for change in others)


def test_a_period_is_not_an_age() -> None:
    old, new = "Return it within 30 days.", "Return it within 14 days."
    assert only(fetched(old), fetched(new)).changes[0].numbers == ["30 → 14"]


def test_a_huge_page_is_compared_in_time() -> None:
    old = "\n".join(
        f"Row {number} has {number * 7} items of kind {number % 9}" for number in range(20_000)
    )
    new = old.replace("kind 3", "kind three").replace("1", "2")
    source = only(fetched(old), fetched(new))
    assert source.status == "changed"
    assert source.more_changes > 0
    hostile = ["[" * 50_000, "1," * 50_000, "a ago " * 9000, "https://" * 9000, "*_" * 50_000]
    compare(fetched(*hostile), fetched(*(text + "x" for text in hostile)))


# --- claims -------------------------------------------------------------------------------------

QUOTE = "The lease lasts 24 hours by default."


def envelope(
    *claims: tuple[str, str, str], passages: dict[str, str], query: str = "leases"
) -> ResearchEnvelope:
    """Return an envelope; a claim has a text, the URL that it cites and a quotation."""
    meta = ResearchMeta(
        query=query,
        command="web-deep",
        provider_chain=["exa"],
        provider_used="exa",
        confidence="medium",
        normalized_query=query,
        retrieved_at=AT,
        cost_usd=0.01,
    )
    made = [
        Claim(
            text=text,
            status="quoted",
            citations=[Quotation(url=url, title="A", quotation=quotation)],
        )
        for text, url, quotation in claims
    ]
    return ResearchEnvelope(
        results=[ResearchResult(title="A", url=url, source_provider="exa") for url in passages],
        meta=meta,
        synthesis=ResearchSynthesis(summary="", citations=[*passages], claims=made),
        passages=[Passage(text=text, url=url) for url, text in passages.items()],
    )


OLD = envelope((QUOTE, URL, QUOTE), passages={URL: QUOTE})


@pytest.mark.parametrize(
    ("passages", "status"),
    [
        ({URL: f"More. \n{QUOTE}"}, "quote_kept"),
        ({URL: "Nothing.", "https://b.example/": QUOTE}, "quote_moved"),
        ({URL: "The lease lasts 48 hours by default."}, "quote_gone"),
        ({"https://b.example/": "Nothing of the kind."}, "source_gone"),
        ({URL: "Only an unrelated part of it."}, "not_compared"),
    ],
)
def test_a_claim_follows_its_quotation(passages: dict[str, str], status: str) -> None:
    [claim] = compare(OLD, envelope(passages=passages)).claims
    assert (claim.text, claim.status) == (QUOTE, status)
    if status == "quote_moved":
        assert claim.new_url == "https://b.example/"
    if status == "quote_gone":
        assert claim.nearest == "The lease lasts 48 hours by default."


def test_a_whole_page_without_the_quotation_has_lost_it(tmp_path: Path) -> None:
    old = write_tape(tmp_path / "a", envelope_line(OLD))
    new = write_tape(tmp_path / "b", page_line({"url": URL, "text": "All of it is new."}))
    gone = write_tape(tmp_path / "c", page_line({"url": URL, "error": "HTTP 404: none"}))
    assert [claim.status for claim in compare(old, new).claims] == ["quote_gone"]
    assert [claim.status for claim in compare(old, gone).claims] == ["source_gone"]


def test_a_new_claim_is_listed() -> None:
    new = envelope((QUOTE, URL, QUOTE), ("More.", URL, "More."), passages={URL: f"{QUOTE} More."})
    assert [claim.status for claim in compare(OLD, new).claims] == ["quote_kept", "new"]


def envelope_line(response: ResearchEnvelope) -> dict[str, Any]:
    return {
        "tool": "web_research",
        "arguments": {"query": response.meta.query, "command": "web-deep"},
        "at": "2026-11-01T00:00:00Z",
        "response": response.model_dump(mode="json"),
    }


def test_a_changed_passage_is_a_change_and_another_one_is_not() -> None:
    changed = only(OLD, envelope(passages={URL: "The lease lasts 48 hours by default."}))
    assert (changed.status, changed.changes[0].numbers) == ("changed", ["24 → 48"])
    passage = f"{QUOTE} The lease lasts 48 hours on phones. Renew it early."
    quotations = [passage[:36], passage[37:73]]
    runs = [envelope((each, URL, each), passages={URL: passage}) for each in quotations]
    assert only(*runs).status == "unchanged"  # each quotes another sentence of it
    other = only(OLD, envelope(passages={URL: "Only an unrelated part of it."}))
    assert other.status == "not_compared"


# --- settings, forms and errors -----------------------------------------------------------------


def test_what_a_response_does_not_have_does_not_differ(tmp_path: Path) -> None:
    tape = write_tape(tmp_path / "a", search_line("zip", limit=3))
    response = SearchResponse.model_validate(search_line("zip")["response"])
    for runs in ((tape, response), (response, tape)):
        assert compare(*runs).settings == []
    other = response.model_copy(update={"queries": ["csv"]})
    assert [change.name for change in compare(tape, other).settings] == ["web_search.queries"]


def test_settings_that_differ_come_first(tmp_path: Path) -> None:
    old = write_tape(tmp_path / "a", search_line("zip", limit=3, country="DE"))
    line = search_line("zip", limit=5)
    line["settings"] = {"providers": ["tavily"], "max_results": 5, "fence": "pages"}
    new = write_tape(tmp_path / "b", line)
    comparison = compare(old, new)
    changes = {change.name: (change.old, change.new) for change in comparison.settings}
    assert changes == {
        "providers": (["exa"], ["tavily"]),
        "web_search.limit": (["3"], ["5"]),
        "web_search.country": (["DE"], []),
    }
    text = str(comparison)
    assert text.index("tavily") < text.index("Sources")
    assert "0.005" in text


@pytest.mark.parametrize("form", ["tape", "response", "data", "details", "json"])
def test_a_run_has_many_forms(
    web: WebTools, tape: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = web.session(record=tape)
    response = session.search(["json", "zip file"])
    result = web.call_tool("web_search", {"queries": ["json", "zip file"]})
    path = tape.with_suffix(".json")
    path.write_text(json.dumps(result.details, indent=2))
    runs: dict[str, Any] = {
        "tape": tape,
        "response": response,
        "data": response.model_dump(mode="json"),
        "details": result,
        "json": str(path),
    }
    comparison = compare(runs[form], response)
    assert {source.status for source in comparison.sources} == {"not_compared"}
    assert len(comparison.sources) == len({result.url for result in response.results})
    assert main(["compare", "--json", str(tape), str(path)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [source["url"] for source in data["sources"]]
    assert main(["report", str(tape)]) == 0
    assert response.results[0].url in capsys.readouterr().out


@pytest.mark.parametrize(
    "run", ["missing.jsonl", {}, {"meta": 1}, {"fetched_count": 1, "results": 7}, Page(url=URL), 7]
)
def test_what_is_no_run_is_refused(run: Any) -> None:
    with pytest.raises(InputError):
        compare(run, fetched("x"))


def test_nothing_of_a_page_acts_in_the_report() -> None:
    text = "](javascript:alert(1)) <script>x</script> **b** | \x1b[31m `c` 1"
    report = str(compare(fetched(text), fetched(text.replace("1`", "2`") + " 2", title=text)))
    for part in ("](javascript", "<script", "**b", "\x1b", "| "):
        assert part not in report


def test_searches_of_a_vendor_are_part_of_a_run(tmp_path: Path) -> None:
    def native(queries: list[str], urls: list[str], usd: float | None) -> dict[str, Any]:
        sources = [[url, "Page"] for url in urls]
        searches = {"vendor": "openai", "queries": queries, "sources": sources, "searches": 1}
        return {"at": AT.isoformat(), "native": searches | {"cost_usd": usd}}

    old = write_tape(
        tmp_path / "a", search_line("x", URL), native(["x"], ["https://b.example/"], 0.01)
    )
    new = write_tape(
        tmp_path / "b", search_line("x", URL), native(["y"], ["https://c.example/"], 0.03)
    )
    comparison = compare(old, new)
    assert [comparison.old_cost_usd, comparison.new_cost_usd] == pytest.approx([0.015, 0.035])
    assert {source.url: source.status for source in comparison.sources} == {
        URL: "not_compared",
        "https://b.example/": "gone",
        "https://c.example/": "new",
    }
    assert [(change.old, change.new) for change in comparison.settings] == [(["x"], ["y"])]
    unknown = write_tape(tmp_path / "c", native([], [], None))
    assert compare(unknown, old).old_cost_usd is None


def test_the_report_of_a_tape_states_only_what_the_tape_has(
    web: WebTools, tape: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with web.session(record=tape, usd=1, fetch="seen", user="ann") as session:
        session.search(["json", "zip"])
    assert main(["report", "--json", str(tape)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["queries"] == session.queries
    assert not {"has_user", "limits", "fetch"} & facts.keys()
    assert facts["notes"]
    assert main(["report", str(tape)]) == 0
    assert "Limits" not in capsys.readouterr().out


def test_the_error_of_a_page_is_not_that_of_a_longer_url(tmp_path: Path) -> None:
    message = f"No page could be read: {URL}y: it is gone; {URL}, {URL}z: it is too large."
    urls = [f"{URL}y", URL, f"{URL}z"]
    error = {"type": "ProviderError", "message": message}
    line = page_line() | {"arguments": {"urls": urls}, "response": None, "error": error}
    comparison = compare(write_tape(tmp_path / "a", line), write_tape(tmp_path / "b", line))
    reasons = {source.url: source.reason for source in comparison.sources}
    assert "gone" in reasons[f"{URL}y"]
    assert "gone" not in reasons[URL]
    assert "too large" in reasons[URL]
    assert "too large" in reasons[f"{URL}z"]
