# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Check the context of a sentence: whether the source itself asserts it.

A page may strike through, label or retract a sentence, or attribute it to somebody else. Only the
headings above, the text right before and the text right after are read. Irony, a story with a frame
several paragraphs earlier, and a page that is wrong as a whole are not recognized.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from webtools._internal.grounding.evidence import Evidence, Unit, plain

_LONGEST_REMARK = 14  # maximum words of a sentence about the one beside it
_COMMENT_WORDS = 3  # words of a sentence that is a comment by its length
_LABEL_WORDS = 5  # words of a label such as `Rating: false`
_QUOTATION_SPAN = 400  # characters after a sentence to search for a closing single quotation mark
_MARK_SPAN = 60  # characters after a sentence to search for a mark


def _either(*groups: str) -> str:
    """Return a pattern for any of the words; they are separated by spaces, `_` stands for one."""
    words = " ".join(groups).split()
    return "(?:" + "|".join(words).replace("_", " ") + ")"


_FALSE = _either(
    "false(?:ly|hoods?)? untrue wrong incorrect inaccurate erroneous dubious fake bogus forged",
    "myths? hoax(?:es)? lie[sd]? lying liars? legends? rumou?r(?:s|ed)? gossip nonsense propaganda",
    "fabricat\\w+ invent(?:ed|ing|ions?) made_(?:\\w+_)?up hallucinat\\w+ fiction fantasy",
    "dream\\w* fairy_tale satir(?:e|ical) parody spoof prank jok(?:e|es|ing) kidding conspiracy",
    "alleged(?:ly)?",
    "debunked retracted withdrawn recanted disproved disproven refuted rebutted discredited",
    "overturned contradict\\w* unfounded baseless groundless unproven unverified unconfirmed",
    "unsubstantiated speculation outdated misunderstanding misconception mistakes? mistaken",
    "den(?:y|ied|ies) disput(?:e|ed|es) reject(?:s|ed)? doubt(?:s|ed|ful)? challenged disagree\\w*",
    "apologi[sz]ed disregard ignore fraud\\w*",
    "falsch gelogen lüge unwahr angeblich faux mensonge erronée? falso mentira",
)
_SAYS = _either(
    "says? said told claim(?:s|ed)? argue[sd]? allege[sd]? assert(?:s|ed)?",  # plain-words: data
    "insist(?:s|ed)?",
    "believe[sd]? thinks? thought convinced promise[sd]? boast(?:s|ed)? testified wrote writes",
    "taught teaches predicted reported stated heard according critics?",  # plain-words: data
    "opponents theor(?:y|ies)",
    "novel advert\\w* brochure leaflets? imagine suppose pretend wish(?:es|ed)? what_if never",
    "nobody no[_-]one don['’]t not_true had_agreed sagen sagt sagte",  # plain-words: data
    "selon prétend según dicen dice",
)
_STATEMENT = _either(
    "claim statement report story view idea belief theory rumou?r account allegation assertion",
    "paper study article sentence paragraph figure source document quotation version entry",
)
_RETRACTED = re.compile(
    r"\b(?:retract(?:ed|ion|s)?|withdrawn|superseded|fact[- ]?check(?:ed|s|ing)?|satir(?:e|ical)"
    r"|parod(?:y|ies)|myths?|misconceptions?|hoax(?:es)?|debunk(?:ed|ing|s)?|falsehoods?|rumou?rs?"
    r"|fake news|urban legends?|conspiracy theor(?:y|ies)|mythen|irrtümer|idées reçues|mitos)\b"
    rf"|\bfalse {_STATEMENT}s?\b|^\W*(?:false|fake|untrue|fiction|lies|wrong)\W*$",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"\W*(?:claim|rating|verdict|rumou?r|myth|fiction|hypothesis|satire|parody|hoax|false|fake|wrong"
    r"|sponsored|falsch|faux|falso)(?: \d+| content| post)?\W*(?::.*|\s*)$",
    re.IGNORECASE,
)
_MARKED = re.compile(
    r"\W{0,3}[❌✗✘🚫🤥👎]|/s\b"
    r"|\[\W*(?:citation|source|dubious|disputed|needs?|unreliable"
    r"|according to whom)[^\]]{0,40}\]",  # plain-words: data
    re.IGNORECASE,
)
_BEFORE, _AFTER = r"(?<![^\s(\[—–-])", r"(?=[\s.,;:!?)\]—–-]|$)"
_QUOTATION_MARKS = (
    re.compile(
        rf"(?P<opening>{_BEFORE}(?:[\"“„«»](?=\S)|«|>>|<<(?=\S))|[「『])"
        rf"|(?:[\"”“»«]|>>|<<){_AFTER}|[」』]"
    ),
    re.compile(rf"(?P<opening>{_BEFORE}[‘‚'](?=\S))|[’‘']{_AFTER}"),
)
_STRUCK = (("<!--", "-->"), ("<del", "</del"), ("<s>", "</s>"))
_CONTINUED = re.compile(r"(?:\.\.\.|…)\s*[^\W\d_A-Z]")
_LEADS_IN = re.compile(rf"\b(?:{_FALSE}|{_SAYS})\b", re.IGNORECASE)
_FOLLOWING = re.compile(
    r"\b(?:follow(?:ing|s)|below|here (?:is|are)|went like this"
    rf"|next {_STATEMENT}|this {_STATEMENT})\b|\bthis\W*$",
    re.IGNORECASE,
)
_IMAGINED = re.compile(
    r"\W*(?:in|under) [^.!?]{0,40}\b(?:novel|film|movie|story|game|dream|simulation|scenario"
    r"|thought experiment|hypothesis)\b|\W*(?:imagine|suppose|pretend)\b",
    re.IGNORECASE,
)
_IS_FALSE = re.compile(rf"\b{_FALSE}\b|間違|誤り|嘘|デマ", re.IGNORECASE)
_IS_NOT_SO = re.compile(
    r"(?:\b(?:not?|never|nobody|no one|none|nothing|neither|few|cannot"  # plain-words: data
    r"|far from|only fools|nicht"
    r"|pas|jamais|nunca|nada)\b|n['’]t\b).{0,40}"
    r"\b(?:true|truth|so|(?:the|der) case|fall|correct|right|happen\w*|took place|confirm\w*"
    r"|prove[dn]|evidence|records?|accurate|believes?d?|trust|reality|sort|verify|stimmt|vrai|cierto|verdad"
    r"|ocurrió)\b|\b(?:stimmt|dem ist) (?:so )?nicht\b",
    re.IGNORECASE,
)
# About the sentence before: `this` or `it` as the subject or last word, or `the claim`.
_REFERS = re.compile(
    r"^\W*(?:[\w ]{1,20}, )?(?:in (?:fact|reality) )?(?:but |yet |only )?"
    r"(?:this|that|these|those|it|so|such|both|neither|none|nothing|not a word|they|there)\b"
    rf"|\b(?:this|that|it|so)\W*$|\b(?:the|this|that|his|her|their|its) (?:\w+ )?{_STATEMENT}s?\b"
    rf"|\b{_SAYS[:-1]}|call(?:s|ed)?|confirm|trust|dismiss\w*) (?:this|that|it)\b|\bit up\b"
    r"|^\W*(?:das|dem|c['’]est|ce n|cette|rien|eso|esto|no es|nada|これ|それ)",
    re.IGNORECASE,
)
# About the sentence before without such a word.
_TAKES_BACK = re.compile(
    r"\bthe (?:opposite|reverse|contrary)\b|\bother way (?:a?round|about)\b"
    r"|\b(?:thinks?|says?|shows?|found) otherwise\b"
    rf"|\b(?:previous|above) {_STATEMENT}\b|\b{_STATEMENT} above\b"
    r"|^\W*(?:or |and |at least )?(?:so|such|as|that|this),? (?:at least,? )?"
    r"(?:is |was |had been )?(?:ran|goes|went|says?|said|claims|claimed|thought|people|they"
    r"|(?:the )?(?:legend|story|rumou?r|gossip|plan|theory|hope|official \w+)"
    r"|it (?:is|was) rumou?red|what (?:he|she|they|\w+ing))\b"
    r"|^\W*said (?:no|nobody|the|he|she|they)\b",  # plain-words: data
    re.IGNORECASE,
)
_EXCLAIMED = re.compile(
    r"[\"'“‘(*_\s]*(?:(?:or )?(?:perhaps )?not|no|nope|hardly|wrong|false|allegedly|really"
    r"|or did|yeah|as if|far from|pure|april|if only|at least in|just kidding)\b"
    r"|\W*(?:it|this|that) \w+(?:n['’]t| not)\W*$",
    re.IGNORECASE,
)


def objection(unit: Unit, evidence: Evidence) -> str:
    """Return why a source may not assert a unit, or "" if nothing speaks against it."""
    reasons = (reason for reason, applies in RULES.values() if applies(unit, evidence))
    return next(reasons, "")


def is_denial(label: str) -> bool:
    """Return whether a label before a sentence denies or doubts it."""
    patterns = (_LEADS_IN, _IS_FALSE, _IS_NOT_SO, _LABELLED, _RETRACTED)
    return any(pattern.search(f"{label}:") for pattern in patterns)


# --- the unit itself ---------------------------------------------------------------------------


def _is_struck(unit: Unit, evidence: Evidence) -> bool:
    """Return whether a unit has marks of deleted text or is between them."""
    unit_text = _words(evidence.text[unit.start : unit.end])
    before = _words(evidence.text[unit.first.block : unit.start])
    is_struck = "~~" in unit_text or before.count("~~") % 2 == 1
    is_struck |= any(a in unit_text or before.count(a) > before.count(b) for a, b in _STRUCK)
    return is_struck and not _is_code(unit)


def _is_in_quotation_marks(unit: Unit, evidence: Evidence) -> bool:
    """Return whether a unit is in quotation marks, or has one of a pair."""
    if _is_code(unit):
        return False
    unit_text = evidence.text[unit.start : unit.end]
    if unit_text[0] in '"“«„「' and unit_text[-1] in '"”»“」':
        return True
    before = evidence.text[unit.first.block : unit.start]
    after = evidence.text[unit.end : unit.last.end + _QUOTATION_SPAN]
    double, single = _QUOTATION_MARKS
    if _is_open(double, before) or _is_open(double, unit_text):
        return True
    return _is_open(single, before) and single.search(after) is not None


def _is_open(marks: re.Pattern[str], text: str) -> bool:
    """Return whether the last quotation mark of a text opens."""
    matches = [*marks.finditer(text)]
    return bool(matches) and matches[-1]["opening"] is not None


def _is_continued(unit: Unit, evidence: Evidence) -> bool:
    """Return whether the next piece continues the sentence, as in `… said no one ever`."""
    return _CONTINUED.match(evidence.text_of(unit.last.number + 1)) is not None


def _is_code(unit: Unit) -> bool:
    return unit.first.kind == "code"


# --- above and before --------------------------------------------------------------------------


def _is_retracted(unit: Unit, evidence: Evidence) -> bool:
    return any(map(_RETRACTED.search, (evidence.title, *unit.first.path)))


def _is_labelled(unit: Unit, evidence: Evidence) -> bool:
    """Return whether the piece before or after is a label such as `Rating: false`."""
    beside = (evidence.text_of(unit.first.number - 1), evidence.text_of(unit.last.number + 1))
    return any(len(each.split()) <= _LABEL_WORDS and _LABELLED.match(each) for each in beside)


def _is_introduced(unit: Unit, evidence: Evidence) -> bool:
    """Return whether the sentence or list is introduced as reported, doubted or imagined."""
    return any(map(_introduces, _introductions(unit, evidence)))


def _introductions(unit: Unit, evidence: Evidence) -> Iterator[str]:
    """Yield the piece before a unit, and the one before its list."""
    number = unit.first.number - 1
    yield _words(evidence.text_of(number))
    if unit.first.kind == "item":
        while number >= 0 and evidence.pieces[number].kind == "item":
            number -= 1
        text = _words(evidence.text_of(number))
        is_open = number >= 0 and evidence.pieces[number].kind == "prose" and text[-1:].isalnum()
        yield f"{text}:" if is_open else text  # it introduces the list without a colon


def _introduces(text: str) -> bool:
    text_end = text.rstrip("*_ ")
    if text_end.endswith((":", "：")) and not text_end.endswith("::"):  # `::` ends a term
        return _LEADS_IN.search(text) is not None
    if len(text.split()) > _LONGEST_REMARK:
        return False
    is_introduction = _FOLLOWING.search(text) and _IS_FALSE.search(text)
    return bool(is_introduction or _IMAGINED.match(text))


# --- after -------------------------------------------------------------------------------------


def _is_marked(unit: Unit, evidence: Evidence) -> bool:
    """Return whether a mark such as ❌ or [citation needed] follows a unit on its line."""
    after = evidence.text[unit.end : unit.end + _MARK_SPAN].partition("\n")[0]
    return not _is_code(unit) and _MARKED.match(after.lstrip()) is not None


def _is_remarked(unit: Unit, evidence: Evidence) -> bool:
    """Return whether the next sentence retracts the unit or attributes it to somebody else."""
    after = evidence.pieces[unit.last.number + 1 : unit.last.number + 2]
    if not after or after[0].kind not in {"prose", "item"}:
        return False
    text = _words(evidence.text_of(after[0].number))
    count = len(text.split())
    if count > _LONGEST_REMARK or text.endswith("::"):
        return False
    if _TAKES_BACK.search(text) or (count <= _LABEL_WORDS and _EXCLAIMED.match(text)):
        return True
    is_about_it = count <= _COMMENT_WORDS or _REFERS.search(text)
    return bool(is_about_it and (_IS_FALSE.search(text) or _IS_NOT_SO.search(text)))


def _words(text: str) -> str:
    return re.sub(r"`[^`]*`", "", plain(text))


RULES: dict[str, tuple[str, Callable[[Unit, Evidence], bool]]] = {
    "struck": ("the source strikes this through", _is_struck),
    "quotation marks": ("the source quotes someone else here", _is_in_quotation_marks),
    "continued": ("the sentence after it continues it", _is_continued),
    "heading": ("a heading or the title retracts it", _is_retracted),
    "label": ("a label beside it calls it a claim or false", _is_labelled),
    "lead-in": ("the text before it reports, doubts or imagines it", _is_introduced),
    "mark": ("a mark beside it doubts it", _is_marked),
    "remark": ("the sentence after it may deny it", _is_remarked),
}
