# ruff: noqa: E501, RUF001  signs of other scripts are what this reads
"""The kinds of answer that a question asks for, and texts that look like one."""

from __future__ import annotations

import re
from functools import lru_cache

_QUESTION_PATTERNS = {
    "person": r"\bwho\b|\bwhose\b|\bwhom\b|\bwer\b|\bqui\b|\bquién|\bquien\b|\bquem\b|誰|だれ",
    "time": r"\bwhen\b|\bwhat (?:year|date|day|time)\b|\bwhich (?:year|date)\b|\bwann\b|\bquand\b|^quando\b"
    r"|\bcuándo\b|^¿?cuando\b|いつ|何年|何時",
    "place": r"\bwhere\b|\bwhat (?:city|country|state)\b|\bwhich (?:city|country|state)\b|\bwo\b"
    r"|\bwoher\b|\bwohin\b|\boù\b|\bdónde\b|\bonde\b|どこ",
    "number": r"\bhow (?:many|much|long|old|tall|far|big|large|deep|high|often|fast|wide)\b|\brange\b"
    r"|\bmaximum (?:number|length|size)\b|\bwhat (?:is the )?(?:number|size|percentage|population"
    r"|numeric|port)\b|\bon which port\b|\bwie (?:viele?|hoch|tief|lange?|oft|groß|alt|weit)\b"
    r"|\bcombien\b|\bquant[oa]s?\b|\bquel(?:le)? (?:pression|température|prix)|\bcuánt[oa]s?\b|\bqué temperatura\b"
    r"|いくつ|いくら|何(?:冊|人|年|時|回|メートル|円)",
    "way": r"\bhow (?:do|can|to|does|should|would|could|may|are|is)\b|\bwie\b|\bcomment\b|\bcómo\b"
    r"|どう",
    "named": r"\b(?:which|what) (?:\S+ ){0,3}?(?:function|method|class|command|option|flag|directive"
    r"|module|decorator|operator|clause|keyword|setting|parameter|attribute|field|hook|macro|type"
    r"|constant|variable|format|script|file|mode|statement|object|program|action|aggregate|lock"
    r"|built-in|switch|argument|property|exception|error|pragma|trait|string)\b"
    r"|\bquelle (?:directive|option|commande|fonction)|\bwelche[rsn]? (?:direktive|option|befehl)"
    r"|\bqué (?:directiva|opción|función|comando)|ディレクティブ|コマンド|関数",
    "default": r"\bdefaults?\b|\bstandardm|\bpar défaut\b|\bpor defecto\b|\binitial value\b",
    "reason": r"\bwhy\b|\bwarum\b|\bweshalb\b|\bwieso\b|\bpourquoi\b|\bpor qué\b|なぜ|どうして",
    "meaning": r"^(?:what|who) (?:is|are|was|were)\b|\bmeaning of\b|\bwhat does .{1,60} mean\b"
    r"|\bwhat kind of\b|^was (?:ist|sind)\b|\bqu'est-ce\b|^¿?qué (?:es|son)\b|とは",
}
_ANSWER_PATTERNS = {
    "person": r"(?<![.!?] )(?<!^)\b[A-ZÀ-Þ][a-zß-ÿ'’-]+ (?:[A-Z]\. )?[A-ZÀ-Þ][a-zß-ÿ'’-]+",
    "time": r"\b1\d{3}\b|\b20\d\d\b|\b(?:january|february|march|april|june|july|august|september"
    r"|october|november|december|jän?uar|februar|märz|mai|juni|juli|oktober|dezember|century|days?"
    r"|months?|years?|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre"
    r"|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre"
    r"|diciembre|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro"
    r"|jahrhundert|jahre?n?|tage?n?|siècle|jours?|ans|siglo|días?|años?|século|dias?|anos?)\b"
    r"|[年月日時]",
    "place": r"(?:\b(?:in|at|near|on|from|of|through|between)\b (?:the )?[A-Z]\w+)|\blocated\b"
    r"|/[a-z]+/|\b(?:north|south|east|west)",
    "number": r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty"
    r"|hundred|thousand|million|billion|zwei|drei|vier|fünf|sechs|zehn|deux|trois|quatre|cinq|dix"
    r"|dos|tres|cuatro|cinco|veinti\w+|diez)\b|[一二三四五六七八九十百千万]",
    "way": r"```|\b(?:use|using|by|you can|call|specify|set|with the|allows?|to)\b|\w\(|\s--?[a-z]"
    r"|>>> |\b(?:permet|utilis|mit|durch|usar|mediante)",
    "named": r"`[^`]+`|\w_\w|\w\(|\s--?[a-z]|^#{2,6} |\b[a-z]+[A-Z]\w+|\b[A-Z]{3,}\b",
    "default": r"\bdefaults?\b|\bby default\b|\bstandard|\bdéfaut\b|\bdefecto\b|既定|デフォルト",
    "reason": r"\bbecause\b|\bsince\b|\bdue to\b|\bso that\b|\breason|\bin order\b|\bcaus|\bweil\b"
    r"|\bdenn\b|\bparce\b|\bcar\b|\bporque\b|ため|ので",
    "meaning": r"^[^.]{0,120}?\b(?:is|are|was|were|refers? to|means?|denotes?|ist|sind|est|sont|es"
    r"|son) (?:a|an|the|one|any|ein|eine|un|une|una|el|la|le)\b|とは",
}
QUESTIONS = {
    kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _QUESTION_PATTERNS.items()
}
ANSWERS = {
    kind: re.compile(
        pattern, re.MULTILINE | (re.IGNORECASE if kind not in {"person", "place", "named"} else 0)
    )
    for kind, pattern in _ANSWER_PATTERNS.items()
}


@lru_cache(maxsize=256)
def kinds_of(question: str) -> frozenset[str]:
    """Return the kinds of answer that a question asks for, perhaps none."""
    kinds = {kind for kind, pattern in QUESTIONS.items() if pattern.search(question)}
    if kinds & {"number", "time"}:
        kinds.discard("way")
    return frozenset(kinds)
