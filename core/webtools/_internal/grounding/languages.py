# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Recognize that two texts are in different languages: by their script, or by function words."""

from __future__ import annotations

import re
from collections import Counter

_SAMPLE = 20_000  # characters of a text
_MIN_WORDS = 2  # function words that show a language
_SCRIPTS = {
    "Latin": "A-Za-z\u00c0-\u024f",
    "Greek": "\u0370-\u03ff",
    "Cyrillic": "\u0400-\u052f",
    "Hebrew": "\u0590-\u05ff",
    "Arabic": "\u0600-\u06ff\u0750-\u077f",
    "Devanagari": "\u0900-\u097f",
    "Bengali": "\u0980-\u09ff",
    "Tamil": "\u0b80-\u0bff",
    "Thai": "\u0e00-\u0e7f",
    "Georgian": "\u10a0-\u10ff",
    "Hangul": "\u1100-\u11ff\uac00-\ud7af",
    "Chinese": "\u3400-\u9fff",
}
_LETTERS = {name: re.compile(f"[{letters}]") for name, letters in _SCRIPTS.items()}
_KANA = re.compile("[\u3040-\u30ff]")  # shows Japanese, which has Chinese characters, too
_WORD = re.compile(r"[^\W\d_]+")
# Function words that no other of these languages has.
_FUNCTION_WORDS = {
    "English": "the and of is are was were with for this that by from have has be it they which",
    "German": "der die das und ist sind war wurde mit für auf ein eine einen nicht von zu dem den",
    "French": "le les des et est sont dans une du pour avec qui au sur pas ce cette ont il elle",
    "Spanish": "el los las y es son una con por del para que se fue al como su lo más está",
    "Portuguese": "os um uma e é são não com do da dos das em no na foi ao pelo pela mais",
    "Italian": "il gli di è sono della del nel che per con una alla dei delle non si più",
    "Dutch": "het een en van is zijn niet met voor op aan dat wordt door bij ook naar uit",
    "Polish": "się jest nie w na z do i oraz przez został dla że od po są który",
    "Swedish": "och att det som är på av för med en ett inte har den till var",
    "Turkish": "ve bir bu için ile olarak olan daha çok de da olduğu kadar",
    "Russian": "и в не на что с по из для это был как от его",
    "Ukrainian": "і в не на що з та у до це був як від його є",
}
_LANGUAGES = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}


def differ(first: str, second: str) -> bool:
    """Return whether two texts are in different languages. False if that is not known."""
    scripts = _script(first), _script(second)
    if not all(scripts) or scripts[0] != scripts[1]:
        return all(scripts)
    languages = _language(first), _language(second)
    return all(languages) and languages[0] != languages[1]


def _script(text: str) -> str:
    """Return the script of most letters of a text; empty if it has none."""
    sample = text[:_SAMPLE]
    counts = {name: len(letters.findall(sample)) for name, letters in _LETTERS.items()}
    if kana := len(_KANA.findall(sample)):
        counts["Japanese"] = kana + counts.pop("Chinese")
    name = max(counts, key=counts.__getitem__)
    return name if counts[name] else ""


def _language(text: str) -> str:
    """Return the language with the most function words in a text; empty if that is not clear."""
    words = Counter(_WORD.findall(text[:_SAMPLE].lower()))
    counts = {
        language: sum(words[word] for word in function_words)
        for language, function_words in _LANGUAGES.items()
    }
    best, second = sorted(counts, key=counts.__getitem__, reverse=True)[:2]
    is_clear = counts[best] >= _MIN_WORDS and counts[best] > counts[second]
    return best if is_clear else ""
