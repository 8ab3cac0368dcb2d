# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Words: which carry meaning, which turn it round, and which count as the same."""

from __future__ import annotations

import re
from functools import lru_cache

# Words of grammar: they say nothing by themselves.
STOP = frozenset(
    str.split("""
    a about above after again against ain all also although am an and any are aren as at be because
    been before being below between both but by ca can could couldn d did didn do does doesn doing
    don down during each either else ever every few for from further had hadn has hasn have haven
    having he hence her here hers herself him himself his how however i if in into is isn it its
    itself just least less ll m ma many may me might mightn mine more most much must mustn my myself
    need neither never no none nor not now o of off on once only onto or other others otherwise
    ought our ours ourselves out over own per quite rather re s same shall shan she should shouldn
    since so some such t than that the their theirs them themselves then there thereby therefore
    these they this those though through thus to too toward towards under unless until up upon us ve
    very via was wasn we were weren what whatever when whenever where whereas whether which while
    who whom whose why will with within without wo won would wouldn yet you your yours yourself
""")
)
# Words that writers put in freely; an answer that has them says no more than one without.
HOLLOW = frozenset(
    str.split("""
    according actually additionally allow allowed allows already another available based basically
    become becomes called come comes consequently correspond corresponding currently describe
    described describes different e enable enables especially etc example explicitly fact finally
    following furthermore g generally get gets give given gives go got help helps i.e important
    indeed just keep keeps known let lets like make makes making mention mentioned mentions moreover
    notably particular particularly provide provided provides put refer refers regarding
    respectively say says said see show shown shows simply specifically still take taken takes thing
    things typically use used uses using usually various way ways well
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    thousand million billion trillion
""")
)
# Ordinary words that begin sentences; one of them there is no name.
ORDINARY = frozenset(
    str.split("""
    access adding additional anyone applications authors building calling changes children code
    companies critics customers data default despite developers early engineers errors everyone
    everything experts files finally findings functions governments half handling here historians
    it'll later lines long managers members methods modern modules new newer nobody nothing numbers
    objects observers officials older operators organizers organisers originally output owners
    parents passing people performance plans programs programmers proponents readers recent recently
    reporters research researchers results reviewers running sales scientists setting several
    similarly software someone something sources staff starting students supporters teachers teams
    tests today together total traditional unlike values version versions visitors volunteers voters
    workers writers yesterday
    add applies ask avoid begin build call check choose clear close compare connect consider convert
    copy count create define delete disable divide download drop edit enter ensure exclude expect
    export fetch fill find format ignore import increase insert install join list load look merge
    move open parse pass pick prefer press print raise read receive reduce remove rename replace
    reset restart return returns run save search select send serialize set sort specify split start
    stop store switch test try update upload verify wait wrap write
""")
)
# Sides of an opposition: a claim with a word of one side is not borne out by one of another.
OPPOSITES = tuple(
    tuple(frozenset(side.split()) for side in group.split("|"))
    for group in (
        "increase rise rose grow grew climb gain raise soar|decrease fall fell drop decline shrink",
        "increase rise rose grow grew climb gain raise soar|shrank reduce reduced plunge sank sink",
        "before earlier prior precede preceding|after later following follow afterwards",
        "more over above exceed greater higher larger bigger|less fewer under below smaller lower",
        "longer|shorter",
        "most|least|fewest",
        "maximum max highest largest upper biggest|minimum min lowest smallest lower",
        "longest|shortest",
        "true|false",
        "yes|no",
        "first|second|third|fourth|fifth|sixth|last final",
        "enable enabled activate on|disable disabled deactivate off",
        "allow permit accept accepted|forbid forbidden prohibit deny denied refuse reject block",
        "include included|exclude excluded",
        "start begin began open opened launch|stop end close closed finish",
        "add added|remove removed delete deleted subtract drop",
        "always|never|sometimes often usually occasionally|rarely seldom",
        "all every each always|some several|no none|most|few",
        "may might could can possibly perhaps|must shall|will",
        "once|twice|thrice",
        "half|third|quarter|fifth|tenth|two-thirds",
        "single|double|triple",
        "fast faster fastest quick quicker|slow slower slowest",
        "strong stronger|weak weaker",
        "cheap cheaper|expensive dearer",
        "better best improve improved|worse worst worsen",
        "easy easier|hard harder difficult",
        "high|low",
        "large big great huge|small little tiny",
        "long|short",
        "old older oldest|new newer newest young younger youngest",
        "early earliest|late latest",
        "hot warm|cold cool",
        "left|right",
        "up|down",
        "north|south|east|west",
        "inside inner internal within|outside outer external",
        "input|output",
        "read|write wrote written",
        "encode|decode",
        "encrypt|decrypt",
        "push|pull",
        "import|export",
        "send sent|receive received",
        "buy bought|sell sold",
        "win won|lose lost",
        "succeed succeeded success|fail failed failure",
        "pass passed|fail failed",
        "positive|negative",
        "public|private",
        "ascending|descending",
        "horizontal|vertical",
        "mutable|immutable",
        "optional|mandatory required compulsory",
        "synchronous|asynchronous",
        "local|remote global",
        "dead died|alive survived born",
        "man men male|woman women female",
        "monday|tuesday|wednesday|thursday|friday|saturday|sunday",
        "second|minute|hour|day|week|month|year|decade|century",
        "daily|weekly|monthly|yearly annually annual|hourly",
        "spring|summer|autumn fall|winter",
        "morning|afternoon|evening|night|noon|midnight",
        "red|green|blue|yellow|black|white|orange|purple|brown",
        "ge|le|gt|lt|ne",
        "with|without",
        "like|unlike",
        "legal|illegal",
        "present|absent",
        "support supported|oppose opposed unsupported",
        "agree agreed|disagree disagreed",
        "approve approved|reject rejected disapprove",
        "confirm confirmed|deny denied",
        "cause caused|prevent prevented",
        "majority|minority",
        "guilty|innocent",
    )
)
# Prefixes that turn a word round: `safe` and `unsafe` do not bear each other out.
REVERSING = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis", "anti")
NEGATIONS = frozenset(
    str.split("""
    not no never none nothing nobody nowhere neither nor without unable impossible lack lacks lacked
    lacking fail fails failed hardly barely rarely seldom nicht kein keine keinen keiner nie niemals
    ohne pas jamais sans nunca niet geen zonder não nem sem ikke inte не нет без никогда
""")
)
# After these a `not` or a `no` denies nothing: "not only", "no doubt", "no. 5".
UNDENIED = frozenset({"only", "doubt", "matter", "just", "merely", "wonder"})

_CJK = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W_]+")
_NOT = re.compile(r"n['’]t\b")
# The sides of a comparison, which would otherwise be lost between words.
_SIGNS = (
    (re.compile(r"[<＜]=|≤"), " le "),
    (re.compile(r"[>＞]=|≥"), " ge "),
    (re.compile(r"!=|≠"), " ne "),
    (re.compile(r"(?<=[\s\d])<(?=[\s\d])"), " lt "),
    (re.compile(r"(?<=[\s\d])>(?=[\s\d])"), " gt "),
)
_SUFFIXES = (
    ("izations", 4), ("isations", 4), ("ization", 4), ("isation", 4), ("izing", 4), ("ising", 4),
    ("izers", 4), ("izer", 4), ("ized", 4), ("ised", 4), ("izes", 4), ("ises", 4), ("ize", 4),
    ("ise", 4), ("ations", 5), ("ation", 5), ("ments", 4), ("ment", 4), ("ness", 4), ("ions", 4),
    ("ion", 4), ("ings", 3), ("ing", 3), ("edly", 4), ("ers", 3), ("ors", 4), ("er", 3), ("or", 4),
    ("ed", 3), ("ly", 4), ("es", 3), ("s", 3), ("e", 3),
)  # fmt: skip
_KEEPS_S = ("ss", "us", "is")
_SHORT = 3


def spelled_out(text: str) -> str:
    """Write `n't` and signs of comparison as words; shifts characters."""
    if "t" in text and ("'" in text or "’" in text):
        text = _NOT.sub(" not", text)
    text = text.replace("cannot", "can not")
    for pattern, word in _SIGNS:
        text = pattern.sub(word, text)
    return text


def word_spans(text: str) -> list[tuple[int, int, str]]:
    """Give the words of a text in lower case with their places; CJK is cut into pairs."""
    found = [(match.start(), match.end(), match[0].lower()) for match in _WORD.finditer(text)]
    if text.isascii():
        return found
    return [part for span in found for part in _parted(span)]


def words(text: str) -> list[str]:
    """Give the words of a text in lower case."""
    if text.isascii():
        return _WORD.findall(text.lower())
    return [word for _, _, word in word_spans(text)]


def is_cjk(text: str) -> bool:
    """Tell whether a text has letters of a script that sets no blanks between words."""
    return not text.isascii() and _CJK.search(text) is not None


def _parted(span: tuple[int, int, str]) -> list[tuple[int, int, str]]:
    start, end, word = span
    if not is_cjk(word) or len(word) < _SHORT or len(word) != end - start:
        return [span]
    return [(start + at, start + at + 2, word[at : at + 2]) for at in range(len(word) - 1)]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Take the ending off an English word, roughly; others stay as they are."""
    if len(word) <= _SHORT or not word.isascii() or len(word) > 40:  # noqa: PLR2004  no word
        return word
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004  not "ties"
        return word[:-3] + "y"
    for suffix, shortest in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= shortest:
            if suffix == "s" and word.endswith(_KEEPS_S):
                return word
            return stem(_rounded(word[: -len(suffix)]))
    return word


def _rounded(stump: str) -> str:
    """Undouble the last letter and drop a silent `e`: as in `running`, and as in `parse`."""
    if len(stump) > _SHORT and stump[-1] == stump[-2] and stump[-1] not in "aeiousl":
        return stump[:-1]
    if stump.endswith("e") and len(stump) > _SHORT:
        return stump[:-1]
    return stump[:-1] + "y" if stump.endswith("i") and len(stump) > _SHORT else stump


def stems(text: str) -> list[str]:
    """Give the stems of all words of a text, in order."""
    return [stem(word) for word in words(text)]


# Negations whose stems no other words have, unlike `hardly` and `barely`.
_UNLIKE_OTHERS = {each for each in NEGATIONS if not each.endswith("ly")}
_EMPTY = frozenset(map(stem, STOP)) | STOP
_LIGHT = _EMPTY.union(*((each, stem(each)) for each in (*HOLLOW, *_UNLIKE_OTHERS)))
_SIDES: dict[str, list[tuple[int, int]]] = {}
for _group, _all_sides in enumerate(OPPOSITES):
    for _side, _members in enumerate(_all_sides):
        for _member in _members:
            _SIDES.setdefault(stem(_member), []).append((_group, _side))


def sides(stemmed: str) -> list[tuple[int, int]]:
    """Give the sides of oppositions that a stem is on, as numbers of group and side."""
    return _SIDES.get(stemmed, [])


def is_grammar(stemmed: str) -> bool:
    """Tell whether a stem is of a word of grammar."""
    return stemmed in _EMPTY


def carries_meaning(stemmed: str) -> bool:
    """Tell whether a stem says something by itself; a number does not, it is checked apart."""
    if stemmed in _LIGHT or stemmed.isdecimal():
        return False
    return len(stemmed) > 1 or not stemmed.isascii()
