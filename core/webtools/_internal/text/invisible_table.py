"""The table of characters that a reader does not see, as ranges for character classes.

It has characters that no text needs, variation selectors, joiners, and the characters beside which
selectors and joiners have a meaning.
"""

from __future__ import annotations

import unicodedata
from functools import cache

# Marks that change the direction of text: they reorder what a reader sees.
TURNING = r"\u202a-\u202e\u2066-\u2069"
# Zero-width characters, fillers, formats, tags, and the selectors that no registered sequence has.
NEVER_SHORT = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2060-\u206f"
    rf"{TURNING}\u3164\ufe03-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
)
NEVER_LONG = (
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e00ff\U000e0110-\U000e0fff"
)
NEVER = NEVER_SHORT + NEVER_LONG

MONGOLIAN_SELECTORS = r"\u180b-\u180d\u180f"
STANDARD_SELECTORS = r"\ufe00-\ufe02"
PICTURE_SELECTORS = r"\ufe0e\ufe0f"
# Of 240 selectors of ideographs, the first 16: with all of them a byte hides behind each one.
IDEOGRAPH_SELECTORS = r"\U000e0100-\U000e010f"
RARE_SELECTORS = STANDARD_SELECTORS + IDEOGRAPH_SELECTORS
SELECTORS = MONGOLIAN_SELECTORS + PICTURE_SELECTORS + RARE_SELECTORS
JOINERS = r"\u200c\u200d"
INVISIBLE = NEVER + SELECTORS + JOINERS

IDEOGRAPHS = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
MONGOLIAN = r"\u1820-\u18aa"
# https://www.unicode.org/Public/emoji/latest/emoji-variation-sequences.txt, with
# whole blocks where nearly all of them are pictures.
PICTURES = (
    r"\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf"
    r"\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf"
    r"\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    r"\U0001f000-\U0001faff"
)
# Scripts that join letters: from Arabic to the Indic ones, Myanmar, Khmer and Mongolian.
JOINING = (
    r"\u0620-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1807-\u1809\u1820-\u18aa"
    r"\ufb50-\ufdff\ufe70-\ufefc"
)
VIRAMAS = r"\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u1039\u17d2"

# The first class finds what to look at, and quickly; the rest looks at the character before it.
SELECTING_NOTHING = (
    rf"(?s)[{SELECTORS}](?:"
    rf"(?<=[{MONGOLIAN_SELECTORS}])(?<![{MONGOLIAN}].)"
    rf"|(?<=[{STANDARD_SELECTORS}])(?<![{{bases}}].)"
    rf"|(?<=[{PICTURE_SELECTORS}])(?:(?<![{PICTURES}#*0-9].)|(?<=[#*0-9].)(?!\u20e3))"
    rf"|(?<=[{IDEOGRAPH_SELECTORS}])(?<![{IDEOGRAPHS}].))"
)
JOINING_NOTHING = (
    rf"(?s)[{JOINERS}](?:"
    rf"(?<![{JOINING}{PICTURES}\ufe0f].)"
    rf"|(?<=[{PICTURES}\ufe0f].)(?:(?<=\u200c)|(?![{PICTURES}]))"
    rf"|(?<=[{JOINING}].)(?<![{VIRAMAS}].)(?![{JOINING}]))"
)

# https://www.unicode.org/Public/UCD/latest/ucd/StandardizedVariants.txt: digits, mathematics,
# Myanmar, Phags-pa, and the punctuation of ideographs.
_STANDARD = (
    r"0\u2205\u2229\u222a\u2268\u2269\u2272\u2273\u228a\u228b\u2293-\u2295\u2297\u229c\u22da\u22db"
    r"\u2a3c\u2a3d\u2a9d\u2a9e\u2aac\u2aad\u2acb\u2acc\u1000-\u1080\uaa60-\uaa7a\ua856-\ua868"
    r"\u2018\u2019\u201c\u201d\u3001\u3002\uff01\uff0c\uff0e\uff10\uff1a\uff1b\uff1f"
)
_COMPATIBILITY = (range(0xF900, 0xFB00), range(0x2F800, 0x2FA20))


@cache
def standard_bases() -> str:
    """Return what a standard selector may follow: the table, and ideographs with a second form."""
    forms = (unicodedata.decomposition(chr(code)) for span in _COMPATIBILITY for code in span)
    return _STANDARD + "".join(chr(int(form, 16)) for form in forms if form and " " not in form)
