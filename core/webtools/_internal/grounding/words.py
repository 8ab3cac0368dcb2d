# ruff: noqa: E501  lists
"""Word lists of the ranker: function words, words of questions, and endings."""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    str.split("""
    a an the this that these those it its it's he she they them their his her hers i me my we us our
    you your one ones is are was were be been being am do does did done doing has have had having
    will would shall should can could may might must of in on at to from by with without for as into
    onto out off over under about between through during before after and or but nor not no if then
    than so too very just only also there here when where who whose what which why how s t re ve
    ll d m don doesn didn isn aren wasn weren won wouldn can't cannot whether while
    any some all each every both such own same other another more most much many few lot way ways get
    der die das den dem des ein eine einen einem einer eines und oder aber nicht ist sind war waren
    wird werden wurde wurden kann können muss müssen soll sollen darf dürfen hat haben hatte im in am an
    auf aus bei mit nach von vom zu zum zur für über unter vor durch gegen ohne um als auch noch nur
    so wie was wer wo wann warum welche welcher welches welchen welchem man ich du er sie es wir ihr
    mich mein meine sich dass wenn dann denn da hier sein ins ans zwischen viel viele mehr bleibt
    le la les un une des du de d l et ou mais ne pas est sont était été être a ont avait avoir au aux
    en dans par pour sur sous avec sans ce cet cette ces se sa son ses leur leurs je tu il elle nous
    vous ils elles on que qui quoi dont où quand comment pourquoi combien quel quelle quels quelles
    à y n s c j m qu est-ce faut faire fait peut doit doivent
    el los las una unos unas del al y o pero no es son era fue ser está están ha han había haber lo
    su sus mi tu me te nos se con sin por para en entre sobre que quien quién qué cuál cuáles cómo
    cuándo dónde cuánto cuánta cuántos cuántas si más muy ya hay hace hacer puede debe deben falta
    o os um uma uns umas do dos das da na nas nos ao aos com não é são foi foram ser está estão tem
    pelo pela seu sua seus suas ele ela eles elas isso esse essa este esta mas ou também
""")
) | {"whom"}  # plain-words: data
# Words in the form of a question; they say what kind of answer is expected, not its subject.
ASKING_WORDS = frozenset(
    str.split("""
    answer explain tell describe find mean meaning means difference best happen happens want need
    called known name used use using work works possible make makes let lets give gives thing things
    example examples please show me type kind
    woher wohin wieso weshalb wozu womit wofür wieviel wieviele kommt kommen gibt geben heißt heißen
    nennt genannt bedeutet bedeuten lautet steht liegt macht machen mache funktioniert
    où d'où lequel laquelle lesquels lesquelles sert servent signifie appelle appelle-t-on existe
    trouve trouver veut dire donner
    adónde cual cuales quien quienes como cuando donde cuanto cuanta cuantos cuantas porqué significa
    llama llaman sirve sirven existe tiene tienen quiere decir
    quem qual quais quanto quanta quantos quantas onde aonde quando porquê chama chamam serve fica
    existe tem têm pode posso fazer faz quer dizer
""")
)
ENDINGS = frozenset(
    str.split("""
    s es e ed d ing ings er ers or ors ion ions al ally ly able ible ment ments ness y ies ied ier
    iest ity ities ive ives ively ation ations ational ator ators ance ence ant ent ants ents ity ic ical
    ise ize ised ized ises izes ising izing t te ten test en em n es st ung ungen lich liche lichen
    isch ische ischen keit heit bar ern ens nde nden r rs x ent aient ait ant ante ants er ez ons ée és
    ées eur eurs euse ement o os a as ar ado ada ados adas ando iendo an aban ción ciones ones es ía ían
    mente i ó é ist isten ns ned ning xes xed xing
""")
) | {""}
# Endings to strip from words, the longest first.
STRIPPED = tuple(
    sorted(
        str.split("""
        ations ation ization ating ated ates ators ator ions ion ings ing ers er ors or ies ied ed es
        e s y ly ment ments able ible ance ence al ally ive ization
        ungen ung lichen liche lich ischen ische isch ern en em n
        eurs eur euse ement ées ée és é er ez ent x
        ciones ción mente ados adas ado ada ar ir os as a o
"""),
        key=len,
        reverse=True,
    )
)
