"""`webtools verify`: its output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from webtools import Claim, InputError, Quotation, Verified
from webtools.cli import main

URL = "https://a.example/pool"


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """Stand in for the check: each line of the answer is a claim, its first word the status."""
    requests: list[tuple[str, list[str]]] = []

    def verify(_: object, answer: str, sources: list[str], *, fetch: bool) -> Verified:
        requests.append((answer, sources))
        if not answer:
            raise InputError("there is no answer to check; give its text.")
        where = Quotation(url=URL, title="Pool", quotation="The pool is open.")
        lines = (line.partition(" ") for line in answer.splitlines())
        claims = [Claim(text=text, status=status, citations=[where]) for status, _, text in lines]  # type: ignore[arg-type]
        dropped = sum(claim.status == "unsupported" for claim in claims)
        return Verified(summary="", claims=claims, dropped=dropped)

    monkeypatch.setattr("webtools.WebTools.verify", verify)
    return requests


@pytest.mark.parametrize(
    ("answer", "options", "code"),
    [
        ("quoted It is open.", (), 0),
        ("supported It is open.", ("--strict",), 0),
        ("uncertain It is open.", (), 0),
        ("uncertain It is open.", ("--strict",), 1),
        ("unsupported It is open.", (), 1),
        ("", (), 2),
    ],
)
def test_the_exit_code_is_that_of_the_worst_claim(
    report: list[tuple[str, list[str]]],
    tmp_path: Path,
    answer: str,
    options: tuple[str, ...],
    code: int,
) -> None:
    file = tmp_path / "answer.md"
    file.write_text(answer)
    assert main(["verify", str(file), *options]) == code


def test_it_shows_claim_status_quotation_and_source(
    report: list[tuple[str, list[str]]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "answer.md"
    file.write_text("quoted It is open.")
    assert main(["verify", str(file), "--source", URL, "--source", "https://b.example"]) == 0
    assert report[-1] == ("quoted It is open.", [URL, "https://b.example"])
    output = capsys.readouterr().out
    for part in ("quoted: It is open.", "The pool is open.", URL):
        assert part in output
    assert main(["verify", str(file), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["claims"][0]["citations"][0]["quotation"] == "The pool is open."


def test_a_dash_is_stdin_and_a_missing_file_is_wrong_usage(
    report: list[tuple[str, list[str]]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin.read", lambda _: "quoted It is open.", raising=False)
    assert main(["verify", "-"]) == 0
    assert main(["verify", "/no/such/file"]) == 2
    assert "/no/such/file" in capsys.readouterr().err


def test_a_huge_file_is_read_in_part(report: list[tuple[str, list[str]]], tmp_path: Path) -> None:
    file = tmp_path / "answer.md"
    file.write_text("quoted " + "x" * 2_000_000)
    assert main(["verify", str(file)]) == 0
    assert len(report[0][0]) == 1_000_000


@pytest.mark.parametrize("passages", [[], ["--passages"]])
def test_what_research_printed_is_an_answer_with_its_sources(
    tmp_path: Path, config: str, capsys: pytest.CaptureFixture[str], passages: list[str]
) -> None:
    """`[n]` is the n-th of its sources, whatever URLs its passages have."""
    file = str(tmp_path / "answer.md")
    assert main(["web-deep", "zip bombs", "--config", config, "-o", file, *passages]) == 0
    capsys.readouterr()
    assert main(["verify", file, "--config", config]) == 1  # its pages are not read
    result = capsys.readouterr()
    assert "--fetch" in result.err
    assert main(["verify", file, "--fetch", "--strict", "--config", config]) == 0
    result = capsys.readouterr()
    assert result.out.startswith("quoted: A zip bomb is a small archive")
    assert result.out.count("quoted:") == 1
    assert bool(result.err) == bool(passages)


def test_sources_may_have_dates(report: list[tuple[str, list[str]]], tmp_path: Path) -> None:
    listed = f"1. Pool\n   {URL}\n   2026-11-20\n2. Bath\n   https://b.example/\n"
    file = tmp_path / "answer.md"
    file.write_text(f"quoted It is open. [1]\n\nSources:\n{listed}\nConfidence: low.\n")
    assert main(["verify", str(file), "--fetch"]) == 0
    assert report == [("quoted It is open. [1]", [URL, "https://b.example/"])]


def test_code_is_shown_in_its_own_lines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "```python\nwith pool:\n    swim()\n```"
    where = Quotation(url=URL, title="Pool", quotation=code)
    claim = Claim(text=code, status="quoted", citations=[where])
    monkeypatch.setattr(
        "webtools.WebTools.verify", lambda *_, **__: Verified(summary="", claims=[claim])
    )
    file = tmp_path / "answer.md"
    file.write_text(f"{code}\n[1]")
    assert main(["verify", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("   ```python")
    assert lines[start : start + 4] == ["   ```python", "   with pool:", "       swim()", "   ```"]
    assert sum("swim()" in line for line in lines) == 1


def test_urls_of_the_answer_are_passed_on_only_with_fetch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: list[tuple[list[object], bool]] = []

    def verify(_: object, answer: str, sources: list[object], *, fetch: bool) -> Verified:
        calls.append((sources, fetch))
        return Verified(summary="", claims=[])

    monkeypatch.setattr("webtools.WebTools.verify", verify)
    file = tmp_path / "answer.md"
    file.write_text(f"It is open. [1]\n\nSources:\n1. Pool\n   {URL}\n\nConfidence: low.\n")
    assert main(["verify", str(file)]) == 0
    assert main(["verify", str(file), "--fetch"]) == 0
    [(unread, is_fetching), fetched] = calls
    assert not is_fetching
    assert not any(isinstance(source, str) for source in unread)
    assert fetched == ([URL], True)
