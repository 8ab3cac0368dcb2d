# ruff: noqa: E501  lists
"""Words that turn a statement round, bound it, or put it in another's mouth; words of numbers."""

from __future__ import annotations

# `one` is left out: it is rather a pronoun.
NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        str.split("""
        two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty
"""),
        start=2,
    )
}
MONTHS = frozenset(
    str.split("""
    January February March April May June July August September October November December
""")
)
# A number that is made of several words is compared by these words alone.
COMPOUND = frozenset(
    str.split("thirty forty fifty sixty seventy eighty ninety hundred thousand million billion")
)
# Words of grammar that do not stand for each other: another preposition, tense or connection.
CONTRASTING = {
    word: words.partition(" ")[0]
    for words in str.split(
        "and;or;to;from;by;for;in;on;at;of;with;into;can;must;is are;was were;has have;had;do does;did",
        ";",
    )
    for word in words.split()
}
# After these stands what a sentence states.
AUXILIARIES = frozenset(
    str.split("is are was were be been being will would can could must has have had does did to")
)
# Words of grammar that make a difference by themselves.
TELLING = frozenset(
    str.split("""
    before after against without over under above below until off out up down more most less least
    all some every each both few many same other own during through between any once again one outside inside within beyond
""")
)
# Each line is one thing that a sentence may say of what it states; a claim has to say the same.
_TURNING = """
negation: not no never none nobody nothing neither nor without cannot can't don't doesn't didn't isn't aren't wasn't weren't won't wouldn't hasn't haven't hadn't couldn't shouldn't nicht kein keine keinen keiner keineswegs keinesfalls nie niemals non ohne ne pas jamais sans aucun nunca sin ningún
failure: fail fails failed failing refuse refuses refused unable lack lacks lacked deny denies denied denying reject rejects rejected dispute disputes disputed disputing retracted false falsely untrue wrong wrongly incorrect myth hoax mistaken debunked
doubt: may might could perhaps possibly probably likely unlikely allegedly alleged reportedly supposedly apparently rumoured rumored would seems seemed appears appeared suspected believed expected potential potentially unclear claims claimed claim alleges argues argued should
condition: if unless whether until provided except excluding otherwise
bound: only almost nearly hardly barely about approximately roughly around
future: will shall
asking: asked ask whether why
choice: or either
duty: must required mandatory obligatory compulsory
leaning: same following previous next former latter subsequent subsequently likewise
"""
# What a sentence or heading has that calls the one beside it into question.
DENYING = frozenset(
    str.split("""
    false untrue wrong incorrect myth myths hoax hoaxes misconception misconceptions mistaken lie lies
    fake debunked retracted disproved refuted denied denies deny disputed disputes rumour rumours
    rumor rumors fiction nonsense parody satire satirical joke invented fabricated inaccurate
    erroneous misleading falsch irrtum gerücht faux fausse mito mitos falso falsa
""")
)
# The same in a sentence of its own, short enough to be about the one beside it.
DISMISSING = DENYING | frozenset(
    str.split("""
    opposite contrary contradict contradicts contradicted discredited unfounded groundless baseless
    unproven unverified unconfirmed unsubstantiated misunderstanding exaggerated exaggeration untruth
    bogus rubbish legend legends fable withdrawn recanted overturned outdated apologised apologized
    doctored kidding disagree disagrees disagreed conspiracy propaganda lüge gelogen unwahr quatsch
    mensonge mentira bulo invention inventions yeah nope prank spoof lying dubious erroneous gossip
    mistake erronée erroné challenged
""")
)
# What makes what is said somebody's word or thought.
REPORTING = frozenset(
    str.split("""
    say says said tell tells told believe believes believed think thinks thought teach taught promise
    promises promised insist insists insisted swear swore wrote writes maintain maintains hoped doubt
    doubts according quote theory theories version official story tale plan truth anyway corrected
    critics opponents supporters sceptics skeptics error sagen sagt sagte schreibt behauptet glauben
    meinen laut selon croit disent dit según dicen dice creen críticos critiques kritiker
    prétend prétendent angeblich assert asserts explains
""")
)
# What makes what is said after it a thing that never was.
IMAGINING = frozenset(
    str.split("""
    imagine suppose assume pretend novel film play fiction fairy dream dreamt dreamed wish rumour legend
    brochure advertisement leaflet letter letters textbooks
""")
)
# Abbreviations, beyond those of the cutter, after which no quotation may end amid a paragraph.
ABBREVIATIONS = frozenset(
    str.split("""
    acad admin adv amer app apr approx apt arch art assoc asst atty ave bldg blvd bros cal capt cath
    cent chap cir cmdr co col comm comp conf cong conn corp ct ctr dec del dept det dev dir dist div
    dr ed educ elec eng eq est ex exec ext fed fig fla fn fr ft fwd gal gen gov govt hist hon hosp hwy
    ill inc ind inst intl jan jct jr jul jun kan km ky lab lb lt ltd mag maj mar mass max med messrs
    mfg mgr mich min minn misc mo mr mrs ms mt mtn mus natl nat neb nev nov nr oct op ore org oz pa
    para pkwy pl pp pres prof prov pt pub rd ref reg rep rev sec sen sept ser sess sgt soc sq sr st sta
    stat subst supp supt tech tel temp tenn tex tr treas univ va vet vol vs vt wash wis
""")
)
TURNING = dict.fromkeys(DENYING, "failure") | {
    word: name
    for name, _, words in (line.partition(": ") for line in _TURNING.strip().splitlines())
    for word in words.split()
}
