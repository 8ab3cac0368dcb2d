# ruff: noqa: RUF001  signs of other scripts
"""However an answer cites, its claims are the sentences alone, and none is lost."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from webtools import Page, Verified, WebTools
from webtools.cli import main
from webtools.synthesis import Source, verify

URL = "https://news.example/harbour/kiosk_(old)"
SPELLINGS = [
    URL.replace("https", "http"),
    URL.replace("//", "//www."),
    URL.replace("(", "%28").replace(")", "%29"),
    f"{URL}?srsltid=Af3",
]
TITLE = "Kiosk reopens at the harbour"
PAGE = """\
# Kiosk reopens

The kiosk at the old harbour reopened on Monday. A cup of tea costs 2 euros there. Orders go
through `kiosk.order()`. Members of the rowing club do not pay.

- Open from 9 a.m. to 5 p.m.
- Dogs must stay outside.

The mayor of Tarn Quay paid for the roof. Its builder came from abroad!
"""
SENTENCES = [
    "The kiosk at the old harbour reopened on Monday.",
    "A cup of tea costs 2 euros there.",
    "Orders go through `kiosk.order()`.",
    "Members of the rowing club do not pay.",
    "Dogs must stay outside.",
    "The mayor of Tarn Quay paid for the roof.",
    "Its builder came from abroad!",
]
SOURCES = [
    Source(1, TITLE, URL, PAGE),
    Source(2, "Ferry timetable", "https://boats.example/t?id=4", "Ferries leave on the hour."),
]

# A citation after the end of a sentence.
BEHIND = [
    *(
        "[1]",
        "[^1]",
        "[[1]]",
        "【1】",
        "【1†source】",
        "【1†L3-L5】",
        "［1］",
        "[1, 1]",
        "[#1]",
        "[ 1 ]",
    ),
    *(
        "[Source 1]",
        "[source: 1]",
        "[cite: 1]",
        "[web:1]",
        "[ref 1]",
        "[doc1]",
        "([1])",
        "(see [1])",
    ),
    *("**[1]**", "*[1]*", "`[1]`", "<sup>[1]</sup>", "– [1]", "Source: [1]", "(Source: [1])"),
    *("[^1^]", "\\[1\\]", "\\[1]", "〔1〕", "<sup>1</sup>", "<ref>1</ref>", "¹", "(Source 1)"),
    *("^1^", "^[1]^", "^1, 1^"),
    *("(Sources: 1, 1)", "(see source 1)", "[src_1]", "[doc-1]", "[S1]", "[@1]", "[snippet 1]"),
    *("[Search result 1]", "[来源1]", "[Fuente 1]", "[1, 1, and 1]", "[1, p. 3]", "[1, lines 4-6]"),
    *("[1: news.example]", f"[1. {TITLE}]", f"[Source 1: {TITLE}]", "[1](#ref-1)", "[1](1)"),
    *("{1}", "{1, 1}", "①", "❶", "[n1]", "(see 1)", "(see: 1)", "(source 1)", "(cf. 1)", "(src 1)"),
    *("→ [1]", "🔗 [1]", "(→ [1])", "^[1]", "(according to [1])", "(as reported by [1])"),
    *("(fuente: [1])", "（来源：[1]）", "(source: news.example)", "[Source: news.example]"),
    *(
        "(via news.example)",
        f"(Source: {TITLE})",
        f"({TITLE}, news.example)",
        "(news.example, 2026)",
    ),
    *(f"[{URL}]", f"[[{URL}]]", f"[({URL})]", f"[Kiosk news] ({URL})", f"→ {URL}"),
    *(f"[Kiosk news]({url})" for url in SPELLINGS),
    *(f"[1]({URL})", f"[[1]]({URL})", f"[[1]({URL})]", f"([1]({URL}))", f"[\\[1\\]]({URL})"),
    f"[Kiosk news]({URL})",
    f'[Kiosk news]({URL} "The news (today)")',
    f"[Kiosk news](<{URL}>)",
    f"[Kiosk [news] today]({URL})",
    f"[news.example]({URL})",
    f"[**Kiosk news**]({URL})",
    f"([Kiosk news]({URL}))",
    f"([news.example]({URL}?utm_source=openai))",
    f"([news.example]({URL}?utm_source=openai), [again]({URL}#top))",
    f"(see [Kiosk news]({URL}))",
    f"(Source: [Kiosk news]({URL}))",
    f"({TITLE}, [link]({URL}))",
    f"[[Kiosk news]({URL})]",
    f"**[Kiosk news]({URL})**",
    f"*([Kiosk news]({URL}))*",
    f"_Source: [Kiosk news]({URL})_",
    f"— [Kiosk news]({URL})",
    f"Source: [Kiosk news]({URL})",
    f"**Source:** [Kiosk news]({URL})",
    f"[Kiosk news]({URL}) [More]({URL})",
    f"[Kiosk news]({URL}), [More]({URL})",
    f"[Kiosk news]({URL}); [1]",
    f"[Kiosk news]({URL}) | [More]({URL})",
    f"[Kiosk news]({URL}) and [More]({URL})",
    f"([Kiosk news]({URL})) ([More]({URL}))",
    f"[Kiosk news]({URL}).",
    f'<a href="{URL}">Kiosk news</a>',
    f'(<a class="c" href="{URL}" target="_blank">Kiosk news</a>)',
    *(f"<{URL}>", f"({URL})", f"(Source: {URL})", f"{URL}", f"Source: {URL}", f"[{URL}]({URL})"),
    *(f"[{TITLE}]", f"({TITLE})", "(news.example)", f"({URL}, accessed 3 May 2026)"),
]
# A citation before the full stop.
WITHIN = [
    *("[1]", "[^1]", "【1】", "([1])", "<sup>[1]</sup>", f"[1]({URL})", f"({URL})", f"({TITLE})"),
    *(
        f"([Kiosk news]({URL}))",
        f"[news.example]({URL})",
        f"[Kiosk news]({URL})",
        f"[{TITLE}]({URL})",
    ),
    f"(see [Kiosk news]({URL}))",
    f"([Kiosk news]({URL}), [More]({URL}))",
    f'([Kiosk news]({URL} "News"))',
]
# A list of sources at the end; the sentences have no citation, or the mark with its number.
HEADINGS = ["Sources:", "## Sources", "**Sources**", "References", "### Sources used", "*Source:*"]
LISTS = [
    f"- [Kiosk news]({URL})",
    f"* {URL}",
    f"1. [Kiosk news]({URL}) – the local news",
    f"1. Kiosk news\n   {URL}",
    f"[1] Kiosk news. {URL}",
    f"[1]: {URL}",
    f"[1]: <{URL}> 'Kiosk news'",
    f"[Kiosk news]({URL}) (accessed 3 May 2026)",
    f"Kiosk news\n{URL}",
    f"[^1]: [Kiosk news]({URL}), read on Monday.",
    f"- Kiosk news: {URL}\n- Ferry: https://boats.example/t?id=4",
]
AROUND = ["{}", "**{}**", "*{}*", "> {}", "- {}", "1. {}", "- **Kiosk**: {}", "“{}”", "| {} |"]


def checked(answer: str) -> Verified:
    report = verify(answer, SOURCES)
    assert "\ue000" not in report.model_dump_json()
    return report


def assert_quoted(answer: str, sentences: list[str]) -> None:
    report = checked(answer)
    found = [(claim.text, claim.status) for claim in report.claims]
    assert found == [(sentence, "quoted") for sentence in sentences], answer
    assert {each.url for claim in report.claims for each in claim.citations} == {URL}, answer
    rest = report.summary
    for sentence in sentences:
        assert sentence in rest, answer
        rest = rest.replace(sentence, "", 1)
    assert not rest.replace("[1]", "").strip(" \n->*1."), answer


@pytest.mark.parametrize("mark", BEHIND)
def test_a_citation_behind_a_sentence_leaves_nothing(mark: str) -> None:
    cases = [(*pair, " ") for pair in product(SENTENCES, SENTENCES[:2])]
    cases += [(*SENTENCES[:2], gap) for gap in ("", "\n")]
    for first, second, gap in cases:
        if gap == "" and mark[0] not in "[【［(":
            continue
        assert_quoted(f"{first}{gap}{mark} {second}{gap}{mark}", [first, second])
        assert_quoted(f"{first}{gap}{mark}\n\n{second}{gap}{mark}", [first, second])


@pytest.mark.parametrize("mark", WITHIN)
def test_a_citation_before_the_full_stop_leaves_nothing(mark: str) -> None:
    for first, second in product(SENTENCES, SENTENCES[:2]):
        answer = f"{first[:-1]} {mark}{first[-1]} {second[:-1]} {mark}{second[-1]}"
        assert_quoted(answer, [first, second])


@pytest.mark.parametrize("around", AROUND)
def test_items_emphasis_and_quotation_marks_leave_nothing(around: str) -> None:
    for sentence, mark in product(SENTENCES, ["[1]", f"([Kiosk news]({URL}))", f"[News]({URL})"]):
        assert_quoted(around.format(f"{sentence} {mark}"), [sentence])
        if around != "| {} |":
            assert_quoted(f"{around.format(sentence)} {mark}", [sentence])


@pytest.mark.parametrize(
    "mark", ["[1]", "[^1]", "【1】", f"[News]({URL})", f"([Kiosk news]({URL}))", URL]
)
def test_a_row_of_a_table_is_a_claim_with_the_citation_in_its_last_cell(mark: str) -> None:
    for first, second in product(SENTENCES, SENTENCES[:2]):
        rows = "\n".join(f"| {sentence} | {mark} |" for sentence in (first, second))
        for header in ("", "| What | Source |\n|---|---|\n"):
            assert_quoted(f"{header}{rows}", [first, second])


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_raised_number_before_the_full_stop_cites(sentence: str) -> None:
    for mark in ("¹", "^1^", "^[1]^"):
        assert_quoted(f"{sentence[:-1]}{mark}{sentence[-1]}", [sentence])


@pytest.mark.parametrize(("heading", "entries"), [*product(HEADINGS, LISTS)])
def test_a_list_of_sources_cites_for_every_sentence(heading: str, entries: str) -> None:
    sentences = SENTENCES[:4]
    for body in (" ".join(sentences), "\n".join(f"- {each}" for each in sentences)):
        assert_quoted(f"{body}\n\n{heading}\n{entries}\n", sentences)


NUMBERED = ["[7]", "[^7]", "(7)", "⁷", "[Kiosk news][7]"]
NAMED = ["[Kiosk news][k]", "[k]"]
ENTRIES = ["[{}]: {}", "[^{}]: Kiosk news, {}", "{}. {}", "[{}] Kiosk news {}"]


@pytest.mark.parametrize(
    ("mark", "entry"), [*product(NUMBERED, ENTRIES), *product(NAMED, ENTRIES[:1])]
)
def test_the_references_of_an_answer_define_its_marks(mark: str, entry: str) -> None:
    key = "k" if mark in NAMED else "7"
    for first, second in product(SENTENCES, SENTENCES[:2]):
        body = f"{first} {mark} {second} {mark}"
        assert_quoted(f"{body}\n\n## References\n\n{entry.format(key, URL)}", [first, second])


def test_a_link_may_be_words_of_a_sentence() -> None:
    for sentence in SENTENCES:
        words = sentence.split(" ")
        for start, end in product(range(len(words)), range(1, len(words) + 1)):
            part = " ".join(words[start:end])
            if part and "`" not in part:
                linked = sentence.replace(part, f"[{part}]({URL})", 1)
                assert_quoted(f"{linked} {SENTENCES[1]} [1]", [sentence, SENTENCES[1]])


@pytest.mark.parametrize(
    "origin",
    ["Source: news.example", f"— {TITLE}", "*Source: news.example*", f"_Source: {TITLE}._"],
)
def test_a_source_named_at_the_end_of_a_line_leaves_nothing(origin: str) -> None:
    for first, second in product(SENTENCES, SENTENCES[:2]):
        assert_quoted(f"{first} {origin}\n\n{second} {origin}", [first, second])
        assert_quoted(f"{first}\n{origin}\n\n{second}\n{origin}", [first, second])


@pytest.mark.parametrize(
    "form",
    ["<{0} index='0-1'>{1}</{0}> [1]", "<co>{1}</co: 0> [1]", "{1} turn0search3 [1]"],
)
def test_marks_of_a_service_around_a_sentence_leave_nothing(form: str) -> None:
    for sentence in SENTENCES:
        assert_quoted(form.format("cite", sentence), [sentence])


@pytest.mark.parametrize("sign", ["!", "?", "."])
@pytest.mark.parametrize(
    "mark", ["[1]", "[^1]", "【1】", "([1])", f"([Kiosk news]({URL}))", f"<{URL}>"]
)
def test_a_citation_ends_a_sentence_also_behind_a_name(sign: str, mark: str) -> None:
    for first in ("The ferry stops in Oslo", "Many love Tarn Quay", "They saw Ada Byron"):
        for gap in (" ", "") if mark[0] in "[【(" else (" ",):
            claims = checked(f"{first}{sign}{gap}{mark} Kiosks open daily there.").claims
            assert [claim.text for claim in claims] == [
                f"{first}{sign}",
                "Kiosks open daily there.",
            ]


def test_a_title_with_an_exclamation_mark_goes_on_behind_a_citation() -> None:
    [claim] = checked("The film Airplane! [1] is shown daily there.").claims
    assert claim.text == "The film Airplane! is shown daily there."


NO_SOURCES = [
    *("turn0search0", "citeturn0search1", "turn0search0turn1news3", "turn0search0, turn0news1"),
    *(
        "【turn0search3】",
        "[turn0search0†L1-L4]",
        "(turn0search0)",
        "【4:0†source】",
        "[cite_start]",
    ),
    *("【4:0†source】【4:1†source】", "[oaicite:3]", ":contentReference[oaicite:0]{index=0}"),
    "\ue200cite\ue202turn0search1\ue201",
]


@pytest.mark.parametrize("mark", NO_SOURCES)
def test_a_mark_that_names_no_source_leaves_nothing_and_cites_nothing(mark: str) -> None:
    for first in SENTENCES:
        report = checked(f"{first} {mark} {SENTENCES[1]} [1]\n\n{first[:-1]} {mark}{first[-1]}")
        found = [(claim.text, claim.status) for claim in report.claims]
        assert found[0] == found[2] == (first, "unsupported")
        assert found[1] == (SENTENCES[1], "quoted")
        assert all(claim.reasons for claim in report.claims if claim.status == "unsupported")


@pytest.mark.parametrize(
    "text",
    [
        *("x^2^", "10^3^", "a^1^ b", "1 km²."),
        *("f{1}", "a {1} b", "{10}", "room ①", "[n7]", "(see 9)", "(source 9)", "(12)", "(b 1)"),
        *(
            "[Table 2]",
            "[page 9]",
            "[1, which was denied]",
            "(from Monday)",
            "5 m²",
            "10<sup>2</sup>",
        ),
        *("[note: see below]", "(as per the mayor)", "— as they said", "[1](https://no.example/1)"),
    ],
)
def test_what_only_looks_like_a_citation_cites_nothing(text: str) -> None:
    claims = checked(f"It cost {text} then, and more. {SENTENCES[0]} [1]").claims
    assert [claim.status for claim in claims] == ["unsupported", "quoted"]


def test_paraphrases_keep_their_words_and_lose_their_citations() -> None:
    claim = "On Monday the kiosk in the harbour opened again."
    for mark in BEHIND:
        assert [each.text for each in checked(f"{claim} {mark} {claim} {mark}").claims] == [
            claim
        ] * 2
    for mark in WITHIN:
        assert [each.text for each in checked(f"{claim[:-1]} {mark}.").claims] == [claim]


def test_code_is_one_claim_whatever_cites_it() -> None:
    source = Source(1, TITLE, URL, "Order so:\n\n```\nkiosk.order(1)\nkiosk.pay()\n```\n")
    code = "```python\nkiosk.order(1)\nkiosk.pay()\n```"
    for below in ("[1]", f"[Kiosk news]({URL})", f"Source: {URL}", f"\nSources:\n- {URL}"):
        [claim] = verify(f"{code}\n{below}", [source]).claims
        assert (claim.text, claim.status) == (code, "quoted"), below


@pytest.mark.parametrize(
    "answer",
    [
        f"**False**: {SENTENCES[0]} [1]",
        f"**Myth:** {SENTENCES[0]} [1]",
        f"~~{SENTENCES[0]}~~ [1]",
        f"{SENTENCES[0][:-1]} (or so they say) [1].",
        f"It is not true that {SENTENCES[0]} [1]",
        f"{SENTENCES[3].replace('not ', '')} [1]",
    ],
)
def test_an_answer_that_denies_or_changes_a_sentence_does_not_quote_it(answer: str) -> None:
    assert "quoted" not in {claim.status for claim in checked(answer).claims}


def test_a_url_that_is_no_source_does_not_lose_a_sentence_that_also_cites_one() -> None:
    report = checked(
        f"{SENTENCES[0]} [a]({URL}) [b](https://other.example/) {SENTENCES[1]} [b](https://other.example/)"
    )
    assert [claim.status for claim in report.claims] == ["quoted", "unsupported"]
    assert "other.example" not in report.summary


async def test_python_both_runtimes_and_the_command_read_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(url=URL, title=TITLE, text=PAGE)
    body = f"{SENTENCES[0]} ([news.example]({URL}?utm_source=openai)) {SENTENCES[1]}"
    answer = f"{body}\n\nSources:\n- {URL}"
    with WebTools() as web:
        reports = [web.verify(answer, [page]), await web.averify(answer, [page])]
        monkeypatch.setattr(
            "webtools.WebTools.verify", lambda _, text, sources, fetch: verify(text, [SOURCES[0]])
        )
        file = tmp_path / "answer.md"
        file.write_text(answer)
        assert main(["verify", str(file), "--json"]) == 0
    reports.append(Verified.model_validate(json.loads(capsys.readouterr().out)))
    for report in reports:
        assert [(each.text, each.status) for each in report.claims] == [
            (SENTENCES[0], "quoted"),
            (SENTENCES[1], "quoted"),
        ]
