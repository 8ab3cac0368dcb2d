# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Cut prose into sentences in linear time. Abbreviations and decimals do not end a sentence."""

from __future__ import annotations

import re

# A footnote mark, perhaps with a link: `[1]`, `[[1]](https://a.example/#cite-1)`.
_TARGET = r"\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?\)"
_MARK = r"(?:\d{1,4}|[a-z]|[\^†]\w{1,9})"
LINKED_FOOTNOTE = rf"\[\\?\[{_MARK}\\?\]\]{_TARGET}"
FOOTNOTE = rf"(?:{LINKED_FOOTNOTE}|\[{_MARK}\](?:{_TARGET})?)"
# Inline code; or a sign that may end a sentence, with closing brackets and quotation marks.
_CODE = r"`[^`\n]{1,500}`"
_END = re.compile(
    rf"(?P<code>{_CODE})"
    rf"|(?:[.!?…]{{1,9}}[\"'”’»)\]*_`]{{0,5}}(?=(?P<marks>(?:[ ]?{FOOTNOTE}){{0,9}})(?:\s|$))"
    r"|[。！？｡]{1,9}[」』）”’\"]{0,5})"
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«]{1,24}$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]$")
_CONTRACTED = frozenset("dmst")  # `would`, `am`, `is` and `not` after an apostrophe: "It isn't."
_NUMBERED = re.compile(r"\d{1,3}$")
_MONTHS = frozenset(
    str.split("""
    januar jänner februar märz april mai juni juli august september oktober november dezember
    jahrhundert jh
""")
)

# Abbreviations before a name or number, or within a sentence: their dot never ends a sentence.
_OPENING = frozenset(
    str.split("""
    e.g i.e eg ie vs cf ca approx dr mr mrs ms mx prof st no nos fig figs eq eqs ch pp vol ed eds
    sen rep gov gen col sgt capt cpt lt maj cmdr adm rev hon messrs mt ft pres supt det insp amb
    atty resp incl excl avg ver viz al art par para sect sec secs mme mlle mm mgr sr sra srta dña
    z.b d.h u.a bzw bspw nr str hr fr abs vgl sog ggf evtl p.ex p.ej núm pág págs vols av bd chap
    tab def thm ex op cit nb op.cit ibid viz p
""")
)
# Abbreviations that may end a sentence: they do if the next word begins one.
_CLOSING = frozenset(
    str.split(
        """
    etc inc ltd co corp jr sr bros llc plc u.s u.k u.n e.u u.s.a d.c a.m p.m b.c a.d b.c.e c.e ph.d
    m.d m.sc b.sc b.a m.a dept univ assn est usw ff max min ave blvd rd jan feb mar apr jun jul aug
    sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun a.k.a n.b d.o.b esq r.i.p
    s.a s.l gmbh cie acad admin adv amer app approx apt arch assoc asst attn bldg cal cath cent
    chap cir cmdr comp conf cong conn ct ctr det dev dist div educ elec eng est exec ext fla fwd gal
    govt hist hosp hwy ill ind inst intl jct kan ky lab maj mag mass med messrs mfg mgr mich minn
    misc mo mtn mus natl neb nev nw oct ont ore org pa penn pkwy prov pt pub rd ref reg sched sci
    ser sess sgt soc sq stat subst supp supt tech tel temp tenn terr tex tpk treas twp va vet vt wis
    ariz calif dipl ofc prop que sask wash abb geb gest ing inkl kap mio mrd tsd zzgl env aprox cap
    exmo pag ud uds
"""
    )
)
_VOWEL = re.compile(r"[aeiouyäöüáéíóúàèìòùâêîôû]|[^\x00-\x7f]|\d")
BEGINNING = frozenset(
    str.split("""
    the a an it he she they we you i this that these those there his her their its in on at as for
    but and so if when while after before however by with from since although many most some all
    no not one two another each both what who where why how during under then also to since
    der die das ein eine es er sie wir ihr ich dies diese le la les un une il elle ils elles nous
    vous ce cette ces on el los las una uno ella ellos en se lo
""")
)
_ASKING = frozenset(
    str.split("""
    who what which when where why how whose is are was were do does did can could will would should
    has have had may must wer wie wo wann warum qui quand où quién qué cuándo dónde cómo
""")
)


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Return start and end of each sentence of a paragraph, without white space."""
    end = len(text) if end is None else end
    spans: list[tuple[int, int]] = []
    position = start
    for match in _END.finditer(text, start, end):
        if match["code"]:
            continue
        after = match.end() + len(match["marks"] or "")
        if _is_sentence_end(text, match, after, position, end):
            spans.append((position, match.end()))
            position = after
    spans.append((position, end))
    parts = ((end, text[start:end].lstrip()) for start, end in spans)
    return [(end - len(part), end - len(part) + len(part.rstrip())) for end, part in parts if part]


def _is_sentence_end(text: str, match: re.Match[str], position: int, start: int, end: int) -> bool:
    """Return whether a sign ends the sentence from `start`; the next text is at `position`."""
    if match[0][0] in "。！？｡":
        return True
    after = text[position : min(end, position + 40)].lstrip()
    next_text = after.lstrip("\"'“‘«([*_¿¡")
    if not next_text:
        return True
    if after[0].islower() or (after[0] in '("“‘«' and next_text[0].islower()):
        return False
    if match[0][0] in "!?":
        return not _may_be_title(text, match.start(), start, next_text)
    if match[0][0] != "." or match[0].startswith(".."):
        return True
    return _is_full_stop(text, match.start(), start, next_text)


def _may_be_title(text: str, sign: int, start: int, next_text: str) -> bool:
    """Return whether `!` or `?` may belong to a title, as in `Airplane!`."""
    last = _LAST_WORD.search(text, max(start, sign - 24), sign)
    if last is None or not last[0][0].isupper():
        return False
    if text[start:sign].split(maxsplit=1)[0].lower() in _ASKING:
        return False
    return _first_word(next_text) not in BEGINNING


def _is_full_stop(text: str, dot: int, start: int, next_text: str) -> bool:
    """Decide by the words before and after a dot whether it ends a sentence."""
    last = _LAST_WORD.search(text, max(start, dot - 24), dot)
    if (
        last is None
        or last[0][-1] == "`"
        or (last[0] in _CONTRACTED and text[dot - 2 : dot - 1] in {"'", "’"})
    ):
        return True
    word = last[0].lower().strip("*_`'’")
    next_word = _first_word(next_text)
    begins_sentence = next_word in BEGINNING
    if word in _OPENING:
        return False
    if word in _CLOSING or not _VOWEL.search(word):
        return begins_sentence
    if _INITIALS.match(word):  # an initial, or letters with dots: J. R. R., U.S.S.R.
        return begins_sentence and (len(word) > 1 or last[0] == "I")
    if _NUMBERED.match(word):  # the number of an item, or of a day in German
        return last.start() > start and next_word not in _MONTHS
    return True


def _first_word(text: str) -> str:
    return re.split(r"[\s,.:;]", text, maxsplit=1)[0].lower()


def is_whole(text: str) -> bool:
    """Return whether a text begins and ends like a sentence."""
    stripped = text.rstrip("\"'”’»)]*_`」』）")
    if not stripped or stripped[-1] not in ".!。！" or stripped.endswith(("..", "…")):
        return False
    first = text.lstrip("\"'“‘«([*_`¿¡「『（-")[:1]
    begins = bool(first) and (first.isalnum() or first in "-\\/.:$@#<")
    return begins and _last_word(stripped) not in _OPENING


def ends_with_abbreviation(text: str) -> bool:
    """Return whether the final dot of a text may be that of an abbreviation."""
    word = _last_word(text.rstrip("\"'”’»)]*_`"))
    has_letter = any(map(str.isalnum, word))  # `f()` in code has none
    return word in _CLOSING or bool(
        has_letter and (_INITIALS.match(word) or not _VOWEL.search(word))
    )


def _last_word(text: str) -> str:
    """Return the word before the last sign of a text."""
    last = _LAST_WORD.search(text[:-1], max(0, len(text) - 25))
    return last[0].lower().strip("*_`") if last else ""
