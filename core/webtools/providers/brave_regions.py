"""The countries and languages that Brave supports; others are an error.

API: https://api-dashboard.search.brave.com/app/documentation/web-search/codes (read 2026-11-21).
"""

from __future__ import annotations

COUNTRIES = frozenset(
    str.split(
        "AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU"
        " SA SE TR TW US ZA"
    )
)
_LANGUAGES = frozenset(
    str.split(
        "ar bg bn ca cs da de en es et eu fi fr gl gu he hi hr hu is it jp kn ko lt lv ml mr ms nb"
        " nl pa pl pt-pt ro ru sk sl sr sv ta te th tr uk vi zh-hans"
    )
)
_OWN_NAMES = {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}


def language_of(code: str | None) -> str | None:
    """Return Brave's code of a language, or None if it does not support it."""
    language = _OWN_NAMES.get(code or "", code)
    return language if language in _LANGUAGES else None
