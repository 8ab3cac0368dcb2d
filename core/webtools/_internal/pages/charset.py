"""Decode the bytes of a page; evidence in the bytes overrides the server's header."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

from webtools._internal.pages.tree import Element, metas_of
from webtools._internal.text.cleaning import without_controls

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is a prefix
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LABEL = rb"""\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{2,40})"""
_CHARSET = re.compile(rb"charset" + _LABEL, re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s{0,99}<\?xml\s[^>]{0,200}?\sencoding" + _LABEL, re.IGNORECASE)
_DECLARED_WITHIN = 4096  # bytes; browsers read 1024, but some pages declare it later
_SAMPLE = 32 * 1024  # bytes to guess from

# Only these codecs are charsets of pages; some others are slow (`idna`, `unicode_escape`). As in
# browsers, a charset that is part of a larger one is read as the larger one.
_UTF_16 = frozenset({"utf-16", "utf-16-le", "utf-16-be"})
_MULTIBYTE = _UTF_16 | {  # per character; text in another charset is seldom valid in these
    *("gb18030", "cp932", "cp949", "cp950", "big5hkscs", "euc_jp", "iso2022_jp")
}
_CODECS = _MULTIBYTE | {
    *("utf-8", "koi8-r", "koi8-u", "cp866", "cp874", "mac-roman", "mac-cyrillic"),
    *(f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    *(f"cp{n}" for n in range(1250, 1259)),
}
_SUPERSETS = {
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    **dict.fromkeys(("iso8859-11", "tis-620"), "cp874"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_ALIASES = {  # labels in use that Python lacks
    label: codec
    for codec, labels in {
        "big5": "cn-big5 x-x-big5",
        "cp874": "windows-874 dos-874",
        "cp932": "x-sjis windows-31j",
        "cp949": "windows-949 ksc_5601 ks_c_5601-1989 cseuckr",
        "euc_jp": "x-euc-jp cseucpkdfmtjapanese",
        "gb18030": "gb_2312 gb_2312-80 csgb2312 x-gbk",
        "iso8859-6": "iso-8859-6-i iso-8859-6-e",
        "iso8859-7": "sun_eu_greek",
        "iso8859-8": "iso-8859-8-i iso-8859-8-e logical visual",
        "koi8-r": "koi koi8",
        "koi8-u": "koi8-ru",
        "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
        "mac-roman": "x-mac-roman macintosh mac csmacintosh",
        "utf-8": "unicode-1-1-utf-8 unicode11utf8 x-unicode20utf8",
        "utf-16-be": "unicodefffe",
        "utf-16-le": "unicode ucs-2 iso-10646-ucs-2 unicodefeff",
    }.items()
    for label in labels.split()
}
_SPELLING = re.compile(r"^x-(?=cp125\d$)|^(?:cs)?iso8859(?=\d{1,2}$)")
_MAX_STRAY_ZEROS = 0.01  # share of the bytes; a text may have some
_KANA = re.compile("[\u3041-\u30fe]")
_MIN_KANA = 0.2  # share of the characters that are not ASCII
_MAX_DAMAGE = 0.1  # share of characters that may be wrong in a declared charset
_MAX_NOISE = 0.03  # share of controls in a text
_MIN_UTF16_ZEROS = 0.2  # only UTF-16 has so many
# Valid characters per wrong byte. Words in other charsets have three at most, in Thai.
_MIN_VALID_RATIO = 5


def decode(body: bytes, content_type: str, *, markup: bool = False) -> str:
    """Decode a body; if no charset fits, with replacement characters.

    Args:
        body: The bytes.
        content_type: The header's value, which may name a charset.
        markup: Whether the bytes may declare a charset themselves, as HTML and XML do.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    declared = _declared(body, content_type, markup=markup)
    if (text := _decode_strictly(body, _candidates(body, declared))) is not None:
        return text
    if _is_nearly_utf8(body, declared):
        return body.decode("utf-8", "replace")
    if (text := _decode_strictly(body, declared)) is not None:
        return text
    names = [*declared[:1], _guess(body) or "cp1252"]
    if declared and _damage(body[:_SAMPLE], declared[0]) <= _MAX_DAMAGE:
        names = declared
    return body.decode(min(names, key=lambda name: _damage(body[:_SAMPLE], name)), "replace")


def is_text(head: bytes, content_type: str) -> bool:
    """Return whether a page starts with text: outside UTF-16, zeros are a sign of a binary file.

    A binary file that begins with a byte order mark decodes to zeros and half surrogate pairs.
    """
    if head.count(0) <= _MAX_STRAY_ZEROS * len(head):
        return True
    text = decode(head, content_type)
    return text.count("\0") + text.count("\ufffd") <= _MAX_STRAY_ZEROS * len(text)


def is_noise(head: bytes, content_type: str) -> bool:
    """Return whether a body decodes to many controls, as compressed data does."""
    text = decode(head, content_type)
    strange = len(text) - len(without_controls(text)) + text.count("\ufffd")
    return strange > _MAX_NOISE * len(text)


def _decode_strictly(body: bytes, names: Iterable[str]) -> str | None:
    for name in names:
        try:
            return body.decode(name)
        except UnicodeDecodeError:
            continue
    return None


def _declared(body: bytes, content_type: str, *, markup: bool) -> list[str]:
    header = _CHARSET.search(content_type.encode("ascii", "ignore"))
    names = [charset(header[1].decode("ascii", "ignore"))] if header else []
    if markup:
        names.append(_declared_in_page(body[:_DECLARED_WITHIN]))
    return [name for name in names if name]


def _declared_in_page(head: bytes) -> str | None:
    """Return the codec from the XML declaration or a meta element at the start of a page."""
    if match := _XML_ENCODING.match(head):
        labels = [match[1].decode("ascii", "ignore")]
    else:
        labels = [_meta_label(each) for each in metas_of(head)]
    name = next((name for name in map(charset, labels) if name), None)
    return "utf-8" if name in _UTF_16 else name  # or it could not have been read


def _meta_label(meta: Element) -> str:
    if "charset" in meta.attrib or meta.get("http-equiv", "").strip().lower() != "content-type":
        return str(meta.get("charset", "")).strip()
    label = _CHARSET.search(meta.get("content", "").encode("ascii", "ignore"))
    return label[1].decode("ascii", "ignore") if label else ""


def charset(label: str) -> str | None:
    """Return the codec for a charset's label; None if it is unknown."""
    label = _SPELLING.sub(lambda match: "iso8859-" if "iso" in match[0] else "", label.lower())
    label = _ALIASES.get(label, label)
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):  # ValueError: a NUL in the label
        return None
    name = _SUPERSETS.get(name, name)
    return name if name in _CODECS else None


def _candidates(body: bytes, declared: list[str]) -> list[str]:
    # Servers often declare ISO-8859-1 and send UTF-8. Text in another charset is hardly ever valid
    # UTF-8, except for the two kinds that come first here.
    japanese = [name for name in declared if name == "iso2022_jp"]
    multibyte = [_with_byte_order(name, body) for name in declared if name in _MULTIBYTE]
    return [*japanese, *_utf16_without_mark(body[:1000], declared), "utf-8", *multibyte]


def _utf16_without_mark(sample: bytes, declared: list[str]) -> list[str]:
    """Recognise UTF-16 without a byte order mark by the zeros beside ASCII characters."""
    named = [name for name in declared if name in _UTF_16]
    if sample.count(0) <= (_MAX_STRAY_ZEROS if named else _MIN_UTF16_ZEROS) * len(sample):
        return []
    return [_with_byte_order(name, sample) for name in named or ["utf-16"]]


def _with_byte_order(name: str, sample: bytes) -> str:
    if name != "utf-16":
        return name
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    return "utf-16-be" if even > odd else "utf-16-le"


def _is_nearly_utf8(body: bytes, declared: list[str]) -> bool:
    """Recognise UTF-8 with stray bytes or a cut end."""
    text = body.decode("utf-8", "replace")
    replaced = text.count("\ufffd")
    valid = len(text) - replaced - len(text.encode("ascii", "ignore"))
    if valid >= _MIN_VALID_RATIO * (replaced - body.count(b"\xef\xbf\xbd")):
        return valid > 0
    # A short word in Thai or KOI8-R can look like UTF-8; a declaration of those is trusted.
    if not valid or set(declared) - {"cp1252", "utf-8"}:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return True  # only the end is cut


def _damage(sample: bytes, name: str) -> float:
    """Return the share of characters that are wrong in a charset, of those that are not ASCII."""
    text = sample.decode(name, "replace")
    return text.count("\ufffd") / (1 + len(text) - len(text.encode("ascii", "ignore")))


def _guess(body: bytes) -> str | None:
    sample = body[:_SAMPLE]
    for name in ("euc_jp", "cp932"):  # no other charset has so many syllables of Japanese
        text = codecs.getincrementaldecoder(name)("replace").decode(sample)
        foreign = len(text) - len(text.encode("ascii", "ignore"))
        if len(_KANA.findall(text)) > _MIN_KANA * foreign and "\ufffd" not in text:
            return name
    from charset_normalizer import from_bytes  # noqa: PLC0415 - 15 ms, and of the extra `fetch`

    best = from_bytes(sample).best()
    names = [best.encoding, *best.could_be_from_charset] if best else []
    likely = next(filter(None, map(charset, names)), None)
    return "cp1251" if likely == "mac-cyrillic" else likely  # most letters are the same
