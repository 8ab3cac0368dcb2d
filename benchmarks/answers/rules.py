"""The tables of the rules in `README.md`: the lines of each rule, and the measures without it.

    python -m benchmarks.answers.rules --docs DIR --claims FILE --questions FILE

`--docs` is the documentation (`documentation.py`), `--claims` labelled claims (`claims.py`), and
`--questions` JSON lines with `question`, `title`, `sentences`, `answerable` and `answer_sentences`.
Lines are those of a rule's definitions, and those that name them elsewhere.
"""

import argparse
import ast
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks.answers import claims
from benchmarks.answers.documentation import READERS, found_pages
from benchmarks.answers.measuring import text_of
from webtools._internal.grounding import (
    blocks,
    duplicates,
    evidence,
    extractive,
    ranking,
    sentences,
    terms,
    units,
    verification,
)
from webtools._internal.grounding import claim_context as context
from webtools._internal.grounding import question_types as questions
from webtools._internal.grounding.evidence import Evidence, facts_of
from webtools._internal.grounding.ranking import Document, Ranking, fill, rank_documents
from webtools._internal.operations import answer_verification as verifier

PARTS = Path(__file__).with_name("parts.jsonl")
PACKAGE = Path(evidence.__file__).parent
_NEVER = re.compile(r"(?!)")
_READER: Any = blocks._Reader
_HEADINGS = ranking._headings
_WEIGH = terms._weigh
_END = sentences._END
_NARROW = ranking.narrow


class Rule(NamedTuple):
    """A rule.

    Attributes:
        name: What it does.
        module: Where it is defined.
        names: Its functions and constants, separated by spaces.
        replaced: What to replace to leave it out: the place, the name and the value.
    """

    name: str
    module: ModuleType
    names: str
    replaced: Sequence[tuple[Any, str, Any]] = ()


def lines_of(rule: Rule) -> int:
    """Count the lines of a rule's definitions, and those that name them elsewhere."""
    home = Path(str(rule.module.__file__))
    names = set(rule.names.split())
    nodes = [node for node in ast.walk(_tree(home)) if names & _defined(node)]
    lines = {(home, at) for n in nodes for at in range(n.lineno, (n.end_lineno or 0) + 1)}
    word = re.compile(rf"\b(?:{'|'.join(names)})\b")
    private = all(name.startswith("_") for name in names)
    for path in [home] if private else {home, *PACKAGE.glob("*.py")}:
        rows = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        lines |= {(path, at) for at, row in rows if word.search(row)}
    return len(lines)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _defined(node: Any) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets: list[Any] = node.targets if isinstance(node, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def without(rule: Rule) -> ExitStack:
    """Leave out a rule as long as the context lasts."""
    stack = ExitStack()
    for place, name, value in rule.replaced:
        stack.enter_context(patch.object(place, name, value))
    terms.terms_of.cache_clear()
    _HEADINGS.cache_clear()
    return stack


def _nothing(*_: Any) -> Any:
    return {}


def _no(*_: Any) -> bool:
    return False


def _yes(*_: Any) -> bool:
    return True


# --- ranking and quoting -----------------------------------------------------------------------


def _weigh_whole(*arguments: Any) -> tuple[float, int]:
    weight, end = _WEIGH(*arguments)
    return (weight if weight == 1 else 0.0), end


def _narrow(match: Any, span: Any, found: Any) -> Any:
    part = _NARROW(match, span, found)
    part.score = ranking._score(part, part.hits, found.rarity, found.average)
    return part


RANKING = (
    Rule("nothing", extractive, ""),
    Rule(
        "words of headings and title count",
        ranking,
        "heading_hits _headings",
        ((ranking, "heading_hits", _nothing), (ranking, "_headings", _nothing)),
    ),
    Rule(
        "sentences: words of headings count once",
        ranking,
        "in_headings own_hits",
        ((extractive, "narrow", _narrow),),
    ),
    Rule(
        "identifiers whole before their parts",
        terms,
        "identifiers_of _IDENTIFIER stems_of",
        ((terms, "identifiers_of", lambda _: ()),),
    ),
    Rule('"how long" is not the word "long"', terms, "_QUANTITY", ((terms, "_QUANTITY", _NEVER),)),
    Rule("a part of a longer word counts half", terms, "_LONG", ((terms, "_weigh", _weigh_whole),)),
    Rule(
        "near-duplicates are left out",
        duplicates,
        "is_repeated shingles_of Shingles SAME _SHINGLE_WORDS _WORDS _LONG_WORD",
        ((ranking, "is_repeated", _no), (extractive, "is_repeated", _no)),
    ),
    Rule(
        "sentences: the kind of answer",
        questions,
        "_QUESTION_PATTERNS _ANSWER_PATTERNS QUESTIONS ANSWERS KINDS kinds_of",
        ((extractive, "_KIND_WEIGHT", 0.0),),
    ),
    Rule(
        "sentences: the score of the passage",
        extractive,
        "_PASSAGE_WEIGHT",
        ((extractive, "_PASSAGE_WEIGHT", 0.0),),
    ),
    Rule(
        "sentences: the opening of a page",
        extractive,
        "_OPENING_WEIGHT is_first",
        ((extractive, "_OPENING_WEIGHT", 0.0),),
    ),
    Rule(
        "threshold: lower score for longer text",
        extractive,
        "_LENGTH_PENALTY",
        ((extractive, "_LENGTH_PENALTY", 0.0),),
    ),
    Rule(
        "later claims score .65 of the first",
        extractive,
        "_SCORE_SHARE min_score",
        ((extractive, "_SCORE_SHARE", 0.0),),
    ),
    Rule(
        "later claims have some words of the question",
        extractive,
        "_MOST_WORDS _SOME_WORDS _share_of_words min_words is_complete",
        ((extractive, "_SOME_WORDS", 0.0),),
    ),
    Rule(
        "sentences that lean on the one before are joined",
        units,
        "_join _LONGEST_JOINED",
        ((units, "_join", lambda _text, spans, _terms: [*spans]),),
    ),
    Rule(
        "a signature on a line of its own",
        units,
        "_is_signature _SIGNATURE _LONGEST_SIGNATURE",
        ((units, "_is_signature", _no),),
    ),
    Rule(
        "a heading that names what is meant",
        extractive,
        "_heading _adds_subject _GENERIC _SITE _NAME",
        ((extractive, "_heading", lambda _: ""),),
    ),
    Rule("reference lists are not quoted", units, "REFERENCES", ((units, "REFERENCES", _NEVER),)),
    Rule("no fragments in lower case", units, "_LOWER_CASE", ((units, "_LOWER_CASE", _NEVER),)),
    Rule("no raw addresses", units, "_BARE_URL", ((units, "_BARE_URL", _NEVER),)),
)


class Asked(NamedTuple):
    """A question, its pages, and pages that lack the answer; `answer` is None if all lack it."""

    kind: str
    question: str
    answer: re.Pattern[str] | None
    pages: list[Any]
    near: list[Any]


def asked_questions(docs: Path | None, file: Path | None) -> list[Asked]:
    """Read all questions; pages are cut into passages once."""
    asked: list[Asked] = []
    for found in found_pages(docs, READERS["ours"]):
        question = found.question
        answer = re.compile(question.answer) if question.answer else None
        if answer and not any(answer.search(page.text) for page in found.pages):
            continue
        kind = "own" if question.project.startswith("own-") else "docs"
        near = found.near if kind == "docs" and answer else []
        asked.append(Asked(kind, question.question, answer, _cut(found.pages), _cut(near)))
    return [*asked, *(_others(file) if file else ())]


def _cut(pages: Sequence[Any]) -> list[Any]:
    return [
        Document(page.text, number, title=page.title, url=page.url)
        for number, page in enumerate(pages)
    ]


def _others(file: Path) -> Iterator[Asked]:
    """Yield the questions of a file; those with an answer get four pages about something else."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    texts = {row["title"]: " ".join(row["sentences"]) for row in reversed(rows)}
    chooser = random.Random(1)
    for row in rows:
        pages = [(row["title"], " ".join(row["sentences"]))]
        if row["answerable"]:
            titles = chooser.sample(sorted(texts.keys() - {row["title"]}), 4)
            pages += [(title, texts[title]) for title in titles]
            chooser.shuffle(pages)
        answer = "|".join(re.escape(each) for each in row["answer_sentences"])
        documents = [
            Document(text, number, title=title, url=f"u{number}")
            for number, (title, text) in enumerate(pages)
        ]
        pattern = re.compile(answer) if row["answerable"] else None
        yield Asked("file", row["question"], pattern, documents, [])


def measured(asked: Sequence[Asked]) -> Counter[str]:
    """Count right passages, right summaries and summaries that should not be."""
    counts: Counter[str] = Counter()
    for each in asked:
        found = rank_documents(each.question, each.pages)
        answers = extractive.claims_of(found)
        if each.answer is None:
            counts["wrong"] += bool(answers)
            continue
        if each.near:
            near = rank_documents(each.question, each.near)
            counts["wrong"] += bool(extractive.claims_of(near))
        if each.kind == "docs":
            for length in (2000, 8000):
                counts[str(length)] += _holds(each.answer, found, length)
        counts["faults"] += each.kind != "file" and _has_fault(
            [text_of(claim) for claim in answers]
        )
        shown = [f"{claim.heading}\n{text_of(claim)}" for claim in answers]
        if each.kind == "file":
            quoted = [claim.quotation for claim in answers[:1]]
            counts["file"] += any(
                each.answer.search(text) or re.escape(text) in each.answer.pattern
                for text in quoted
            )
        else:
            counts[each.kind] += any(each.answer.search(text) for text in shown)
    return counts


def _has_fault(texts: Sequence[str]) -> bool:
    """Return whether a claim has a raw address, begins in lower case or repeats another."""
    known = [duplicates.shingles_of(text) for text in texts]
    repeated = any(duplicates.is_repeated(own, known[:at]) for at, own in enumerate(known))
    return repeated or any("://" in text or text[:1].islower() for text in texts)


def _holds(answer: re.Pattern[str], found: Ranking, length: int) -> bool:
    chosen = fill(found.ranked, length)
    return any(answer.search(f"{passage.heading}\n{passage.text}") for passage in chosen)


def ranking_table(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield a row for each rule of ranking and quoting."""
    kinds = "Passages (real) | Summary (real) | CLAPNQ (real) | Wrong | Summary (crafted) | Faults"
    yield f"| Left out | Lines | {kinds} |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for rule in RANKING:
        with without(rule):
            n = measured(asked)
        lines = lines_of(rule) if rule.names else ""
        yield (
            f"| {rule.name} | {lines} | {n['2000']}, {n['8000']} | {n['docs']} | {n['file']} "
            f"| {n['wrong']} | {n['own']} | {n['faults']} |"
        )


# --- claims ------------------------------------------------------------------------------------

UNITS = (
    Rule(
        "sentences begin and end as sentences do",
        sentences,
        "is_whole",
        ((evidence, "is_whole", _yes),),
    ),
    Rule(
        "`!` and `?` in titles end no sentence",
        sentences,
        "_may_be_title _ASKING",
        ((sentences, "_may_be_title", _no),),
    ),
    Rule(
        "inline code ends no sentence",
        sentences,
        "_CODE",
        ((sentences, "_END", re.compile(_END.pattern.replace(sentences._CODE, "(?!)"))),),
    ),
    Rule(
        "an abbreviation at the end of a text",
        sentences,
        "ends_with_abbreviation",
        ((evidence, "ends_with_abbreviation", _no),),
    ),
    Rule("after an ellipsis", evidence, "_ELLIPSES", ((evidence, "_ELLIPSES", ()),)),
    Rule(
        "an item continues in a paragraph, or is cut off",
        evidence,
        "_may_continue",
        ((Evidence, "_may_continue", _no),),
    ),
    Rule(
        "a number at the beginning of a wrapped line",
        blocks,
        "_is_wrapped",
        ((_READER, "_is_wrapped", _no),),
    ),
    Rule(
        "entries of reference lists are not statements",
        evidence,
        "REFERENCES",
        ((evidence, "REFERENCES", _NEVER),),
    ),
)
CONTEXTS = {
    "struck": "_is_struck _STRUCK",
    "quotation marks": (
        "_is_in_quotation_marks _QUOTATION_MARKS _BEFORE _AFTER _QUOTATION_SPAN _is_open"
    ),
    "continued": "_is_continued _CONTINUED",
    "heading": "_is_retracted _RETRACTED",
    "label": "_is_labelled _LABELLED _LABEL_WORDS",
    "lead-in": "_is_introduced _introductions _introduces _LEADS_IN _SAYS _FOLLOWING _IMAGINED",
    "mark": "_is_marked _MARKED _MARK_SPAN",
    "remark": (
        "_is_remarked _REFERS _TAKES_BACK _EXCLAIMED _IS_NOT_SO _LONGEST_REMARK _COMMENT_WORDS"
    ),
}
REASONS = {
    "a missing number or name": ("_missing_facts", "source lacks the"),
}


def claims_table(file: Path | None) -> Iterator[str]:
    """Yield a row for each rule of claim checking."""
    pages = claims.real_pages(file)
    yield "| Rule | Lines | Real | Crafted |"
    yield "| --- | --- | --- | --- |"
    alone, total, more, false = claims.effects(pages)
    for name, names in CONTEXTS.items():
        lines = lines_of(Rule(name, context, names))
        yield (
            f"| context: {name} | {lines} | withholds {alone[name]} of {total} sentences "
            f"| {more[name]} of {false} more quoted without it |"
        )
    parts = [json.loads(line) for line in PARTS.read_text(encoding="utf-8").splitlines()]
    whole = _forms(pages)
    quoted = _quoted(parts)
    for rule in UNITS:
        with without(rule):
            gained = sum(len(new - old) for new, old in zip(_forms(pages), whole, strict=True))
            crafted = _quoted(parts) - quoted
        yield (
            f"| unit: {rule.name} | {lines_of(rule)} | {gained} more units without it "
            f"| {crafted} of {len(parts)} parts of sentences quoted without it |"
        )
    real = list(claims.others(file)) if file else []
    own = list(claims.own())
    for name, names, has in (
        ("the quotation has the claim's numbers and names", "_missing_fact", _has_facts),
        ("the quotation has three content words", "_MIN_WORDS", _has_words),
    ):
        lines = lines_of(Rule(name, verifier, names))
        yield f"| verifier: {name} | {lines} | {has(real)} | {has(own)} |"
    for name, (names, words) in REASONS.items():
        lines = lines_of(Rule(name, verification, names))
        yield f"| reason: {name} | {lines} | {_named(real, words)} | {_named(own, words)} |"


def _forms(pages: Sequence[str]) -> list[set[str]]:
    return [
        {form for form, unit in Evidence(page).all_units() if unit.first.kind in {"prose", "item"}}
        for page in pages
    ]


def _quoted(parts: Sequence[dict[str, str]]) -> int:
    return sum(bool(Evidence(each["text"]).units(each["claim"])) for each in parts)


def _has_facts(judged: Sequence[claims.Judged]) -> str:
    """Describe what a model makes supported that always agrees, and quotes the nearest passage."""
    near = [(each, each.claim.nearest.text) for each in judged if each.claim.nearest]
    kept = [each for each, text in near if not verifier._missing_fact(each.claim.text, text)]
    all_ = Counter(each.is_true for each, _ in near)
    left = Counter(each.is_true for each in kept)
    return (
        f"supports {left[False]} instead of {all_[False]} false and {left[True]} instead of "
        f"{all_[True]} true claims, of a model that always agrees and quotes the nearest passage"
    )


def _has_words(judged: Sequence[claims.Judged]) -> str:
    """Count the false claims that one word of the source would support."""
    false = [each for each in judged if not each.is_true]
    bare = sum(not [*facts_of(each.claim.text)] for each in false)
    return f"without it, one quoted word supports {bare} of {len(false)} false claims"


def _named(judged: Sequence[claims.Judged], words: str) -> str:
    named = [each for each in judged if any(words in reason for reason in each.claim.reasons)]
    return f"{sum(not each.is_true for each in named)} of {len(named)} with it are false"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--docs", "--claims", "--questions"):
        parser.add_argument(name, type=Path)
    arguments = parser.parse_args()
    for row in ranking_table(asked_questions(arguments.docs, arguments.questions)):
        print(row, flush=True)
    print()
    for row in claims_table(arguments.claims):
        print(row, flush=True)


if __name__ == "__main__":
    main()
