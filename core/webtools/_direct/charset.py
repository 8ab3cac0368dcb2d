"""Turns a page's bytes into text: what the bytes show wins over what a server says."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), *_WIDE_MARKS)
_DECLARED = re.compile(
    rb"""(?:charset|encoding)\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{2,40})""", re.IGNORECASE
)
_DECLARED_WITHIN = 4096  # bytes
_SAMPLE = 32 * 1024  # bytes that a guess is made from

# Python has codecs that are no charsets, or slow ones (`idna`, `unicode_escape`): only these are
# taken. As browsers do, the smaller charset of a pair is read as the larger one.
_CHARSETS = {
    **{name: name for name in ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "gb18030")},
    **{name: name for name in ("euc_jp", "iso2022_jp", "koi8-r", "koi8-u", "cp866", "mac-roman")},
    **{f"iso8859-{n}": f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"cp{n}": f"cp{n}" for n in (874, 932, 949, 950, *range(1250, 1259))},
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "tis-620": "cp874",
}
_ALIASES = {  # labels in use that Python does not know
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "windows-874": "cp874",
    "x-mac-roman": "mac-roman",
    "iso-8859-8-i": "iso8859-8",
}
_MANY_BYTES = frozenset(  # a character; text of another charset is seldom valid in these
    {"utf-16", "utf-16-le", "utf-16-be", "gb18030", "cp932", "cp949", "cp950", "big5hkscs"}
    | {"euc_jp", "iso2022_jp"}
)
_UTF_16 = frozenset({"utf-16", "utf-16-le", "utf-16-be"})
STRAY_ZEROS = 0.01  # share of the bytes; a text may have some
MANY_ZEROS = 0.2  # only UTF-16 has so many
# Valid characters for a wrong byte. Words in other charsets have three at most, in Thai.
_NEARLY_ALL = 5


def decode(body: bytes, content_type: str, *, markup: bool = False) -> str:
    """Decode a body; what no charset fits is decoded with replacement characters.

    Args:
        body: The bytes.
        content_type: The header's value, which may name a charset.
        markup: Whether the bytes may declare a charset themselves, as HTML and XML do.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    declared = _declared(body, content_type, markup=markup)
    if (text := _strictly(body, _likely(body, declared))) is not None:
        return text
    if _is_nearly_utf8(body, declared):
        return body.decode("utf-8", "replace")
    if (text := _strictly(body, declared)) is not None:
        return text
    return body.decode(declared[0] if declared else _guess(body) or "cp1252", "replace")


def is_wide(head: bytes, content_type: str) -> bool:
    """Tell whether a page's start is UTF-16 or UTF-32, as it says; zeros are part of those."""
    declared = [name for name in _declared(head, content_type, markup=False) if name in _UTF_16]
    names = [name for mark, name in _WIDE_MARKS if head.startswith(mark)]
    names = names or (declared and _wide(head, declared))
    if not names:
        return False
    # A binary file that begins with such a mark soon gives zeros and halves of surrogate pairs.
    text = codecs.getincrementaldecoder(names[0])("replace").decode(head)
    return text.count("\0") + text.count("\ufffd") <= STRAY_ZEROS * len(text)


def _strictly(body: bytes, names: Iterable[str]) -> str | None:
    for name in names:
        try:
            return body.decode(name)
        except UnicodeDecodeError:
            continue
    return None


def _declared(body: bytes, content_type: str, *, markup: bool) -> list[str]:
    header = _DECLARED.search(content_type.encode("ascii", "ignore"))
    own = _DECLARED.search(body, 0, _DECLARED_WITHIN) if markup else None
    found = [charset(each[1].decode("ascii", "ignore")) for each in (header, own) if each]
    if own and found[-1] in _UTF_16:
        found.pop()  # or it could not have been read
    return [name for name in found if name]


def charset(label: str) -> str | None:
    """Give the codec for a charset's label; None for one that is not known."""
    label = _ALIASES.get(label.lower(), label)
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):  # ValueError: a NUL in the label
        return None
    return _CHARSETS.get(name)


def _likely(body: bytes, declared: list[str]) -> list[str]:
    # Servers often say ISO-8859-1 and send UTF-8; text of another charset is hardly ever valid
    # UTF-8 by chance, but for the two kinds that come first here.
    first = [name for name in declared if name == "iso2022_jp"]
    many = [_ordered(name, body) for name in declared if name in _MANY_BYTES]
    return [*first, *_wide(body[:1000], declared), "utf-8", *many]


def _wide(sample: bytes, declared: list[str]) -> list[str]:
    """Tell UTF-16 without a byte order mark by the zeros beside ASCII characters."""
    named = [name for name in declared if name in _UTF_16]
    if sample.count(0) <= (STRAY_ZEROS if named else MANY_ZEROS) * len(sample):
        return []
    return [_ordered(name, sample) for name in named or ["utf-16"]]


def _ordered(name: str, sample: bytes) -> str:
    if name != "utf-16":
        return name
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    return "utf-16-be" if even > odd else "utf-16-le"


def _is_nearly_utf8(body: bytes, declared: list[str]) -> bool:
    """Tell UTF-8 with stray bytes or a cut end: where any byte is valid, none of it is readable."""
    text = body.decode("utf-8", "replace")
    replaced = text.count("\ufffd")
    valid = len(text) - replaced - len(text.encode("ascii", "ignore"))
    if valid >= _NEARLY_ALL * (replaced - body.count(b"\xef\xbf\xbd")):
        return valid > 0
    # A short word in Thai or KOI8-R can look so; who declares one of those is believed.
    return valid > 0 and not set(declared) - {"cp1252", "utf-8"} and _is_cut(body)


def _is_cut(body: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return True


def _guess(body: bytes) -> str | None:
    from charset_normalizer import from_bytes  # noqa: PLC0415 - 15 ms, and of the extra `fetch`

    best = from_bytes(body[:_SAMPLE]).best()
    return charset(best.encoding) if best else None
