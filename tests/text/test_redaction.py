from __future__ import annotations

import html
import json
import re
import unicodedata
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from html.entities import html5
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from webtools._internal.pipeline import requests
from webtools._internal.text.cleaning import one_line, without_controls
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.redaction import MARK, Redactor
from webtools._internal.text.visible import display_text
from webtools.errors import BadRequestError, Payment, RateLimitError, WebToolsError
from webtools.messages import Response
from webtools.results import SearchResponse, SearchResult
from webtools.tools import SearchInput

JWT_HEADER = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
KEY = "sk-1_a/b+c&d=e\"f'g<h>i\\j%k~l.m$n"
keys = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=6, max_size=40)


def lower(text: str) -> str:
    return text.replace("%2F", "%2f").replace("%2B", "%2b")


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda key: json.dumps(key)[1:-1],
    "JSON in JSON": lambda key: json.dumps(json.dumps(key))[3:-3],
    "JSON with escaped slashes": lambda key: json.dumps(key)[1:-1].replace("/", "\\/"),
    "JSON safe for HTML": lambda key: (
        json.dumps(key)[1:-1]
        .replace("&", "\\u0026")
        .replace("<", "\\u003C")
        .replace(">", "\\u003e")
    ),
    "percent": lambda key: quote(key, safe=""),
    "percent with slashes": quote,
    "percent in lower case": lambda key: lower(quote(key, safe="")),
    "percent twice": lambda key: quote(quote(key, safe=""), safe=""),
    "form": quote_plus,
    "HTML": lambda key: html.escape(key, quote=False),
    "HTML attribute": html.escape,
    "HTML twice": lambda key: html.escape(html.escape(key)),
    "HTML by number": lambda key: "".join(c if c.isalnum() else f"&#{ord(c)};" for c in key),
    "HTML by name": lambda key: html.escape(key).replace("/", "&sol;").replace("+", "&plus;"),
    "Markdown": lambda key: key.replace("_", "\\_").replace("<", "\\<").replace("-", "\\-"),
    "JSON in a URL": lambda key: quote(json.dumps(key)[1:-1], safe=""),
    "HTML in a URL": lambda key: quote(html.escape(key), safe=""),
    "URL in HTML": lambda key: html.escape(quote(key)),
    "mixed": lambda key: html.escape(quote(key, safe="&<>\"'=")),
}


@given(
    st.from_regex("[A-Za-z0-9_-]{12,40}", fullmatch=True),
    st.characters(min_codepoint=0x80, exclude_categories=["Cs"]),
    st.integers(0, 40),
)
def test_a_key_with_other_characters_in_it_is_found(key: str, other: str, place: int) -> None:
    redactor = Redactor([key])
    for text in (other.join(key), key[:place] + other * 3 + key[place:]):
        clean = redactor.text(f"before {text} after")
        assert key not in clean.encode("ascii", "ignore").decode()


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
def test_a_key_is_found_in_every_spelling(spell: Callable[[str], str]) -> None:
    redactor = Redactor([KEY])
    assert redactor.text(f"<{spell(KEY)}> and {spell(KEY)}") == f"<{MARK}> and {MARK}"


@example("00000&", "HTML in a URL", "", "")
@given(keys, st.sampled_from(list(SPELLINGS)), st.text(), st.text())
def test_any_key_is_found_in_any_spelling(key: str, name: str, before: str, after: str) -> None:
    spelled = SPELLINGS[name](key)
    cleaned = Redactor([key]).text(f"{before} {spelled} {after}")
    assert spelled not in cleaned
    assert MARK in cleaned


@pytest.mark.parametrize("key", ["tZ8<IC\\a[Pc>", "cY/q%f8d`H[7", "6\\0Sunv%13yI"])
@pytest.mark.parametrize("spell", [quote, html.escape, lambda key: json.dumps(key)[1:-1]])
def test_a_short_key_with_signs_that_look_like_escapes_is_redacted(
    key: str, spell: Callable[[str], str]
) -> None:
    assert Redactor([key]).text(f"It is {spell(key)} here") == f"It is {MARK} here"


@pytest.mark.parametrize("shown", [display_text, without_invisible, without_controls, one_line])
def test_no_login_comes_out_of_what_is_removed_later(shown: Callable[[str], str]) -> None:
    redactor = Redactor(["http://svc:hunter2x@127.0.0.1:3128", "http://svc:m\u00fcnch7@a.example"])
    assigned = (chr(code) for code in range(0x30000) if unicodedata.category(chr(code)) != "Cn")
    removed = [char for char in assigned if shown(f"a{char}b") == "ab"]
    assert len(removed) > 50
    for char in removed:
        for login in (f"hunter2{char}x", f"h{char}{char}unter2x", f"m\u00fcn{char}ch7"):
            assert redactor.text(f"a {login} b") == f"a {MARK} b"


@pytest.mark.parametrize("length", [100, 2_000, 50_000])
def test_a_key_goes_that_a_picture_of_any_length_splits(length: int) -> None:
    key = "exaKey-0123456789-abcXYZ"
    picture = f"![9](data:image/png;base64,{'iVB0' * length})"
    assert Redactor([key]).text(f"a {key[:9]}{picture}{key[9:]} b") == f"a {MARK} b"


def test_the_longest_key_goes_first() -> None:
    assert Redactor(["abc", "abcdef"]).text("abcdef abc") == f"{MARK} {MARK}"


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
def test_a_key_that_was_cut_is_found_from_half_of_it_on(spell: Callable[[str], str]) -> None:
    redactor = Redactor([KEY])
    for length in range((len(KEY) + 1) // 2, len(KEY)):
        assert redactor.text(f"<{spell(KEY[:length])}…") == f"<{MARK}…"
        assert redactor.is_in(spell(KEY[:length]))


def test_keys_with_a_common_start_are_redacted_in_full() -> None:
    one, other = "acme-prod-key-AAAAAAAA", "acme-prod-key-ZZZ9"
    redactor = Redactor([one, other])
    assert redactor.text(f"{other} {one} {other[:-1]}") == f"{MARK} {MARK} {MARK}"


@pytest.mark.no_cover
@pytest.mark.parametrize("length", [1000, 4000])
def test_a_very_long_key_is_redacted(length: int) -> None:
    key = "".join(f"{number:x}." for number in range(length))[:length]
    redactor = Redactor([key])
    assert redactor.text(f"{key} {key[:-1]} {key[: length // 2]}") == f"{MARK} {MARK} {MARK}"


def test_a_word_that_a_key_begins_with_stays() -> None:
    redactor = Redactor(["test-key-canary-1", "http://www.example.com:8080"])
    text = "a test-key for http://www.example.org and test-key-c"
    assert redactor.text(text) == text


@pytest.mark.parametrize(
    "url",
    ["https://gate.example/t/{}", "http://x.example/a?k={}&b=2", "https://u:pw12@a.example/{}/"],
)
def test_a_key_can_be_in_a_url(url: str) -> None:
    key = "Zq-Ab3dEf7hIj-kL"
    clean = Redactor([url.format(key)]).text(f"at {url.format(key)} and {quote(url.format(key))}")
    assert key not in clean
    assert clean.count(MARK) >= 2


def test_the_repr_of_a_redactor_shows_no_key() -> None:
    assert KEY not in repr(Redactor([KEY]))


def test_of_a_proxy_the_password_and_the_credentials_are_secrets_too() -> None:
    redactor = Redactor(["http://user:pass%2Fword1@proxy.example:3128"])
    sent = b64encode(b"user:pass/word1").decode()
    text = f"http://user:pass%2Fword1@proxy.example:3128 pass/word1 pass%2fword1 Basic {sent}"
    assert redactor.text(text) == f"{MARK} {MARK} {MARK} Basic {MARK}"


ESCAPED_WHOLE: dict[str, Callable[[str], str]] = {
    "percent": lambda text: "".join(f"%{ord(char):02x}" for char in text),
    "percent in capitals": lambda text: "".join(f"%{ord(char):02X}" for char in text),
    "percent twice": lambda text: "".join(f"%25{ord(char):02x}" for char in text),
    "JSON": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "JSON in JSON": lambda text: "".join(f"\\\\u{ord(char):04X}" for char in text),
    "hexadecimal": lambda text: "".join(f"\\x{ord(char):02x}" for char in text),
    "octal": lambda text: "".join(f"\\{ord(char):03o}" for char in text),
    "JavaScript": lambda text: "".join(f"\\u{{{ord(char):x}}}" for char in text),
    "old JavaScript": lambda text: "".join(f"%u{ord(char):04x}" for char in text),
    "JSON in a URL": lambda text: "".join(f"%5Cu{ord(char):04x}" for char in text),
    "HTML": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "HTML in hexadecimal": lambda text: "".join(f"&amp;#x{ord(char):x};" for char in text),
    "every third": lambda text: "".join(
        f"%{ord(char):02x}" if i % 3 == 0 else char for i, char in enumerate(text)
    ),
}


@pytest.mark.parametrize("escape", ESCAPED_WHOLE.values(), ids=ESCAPED_WHOLE)
@pytest.mark.parametrize("cut", [0, 4])
def test_a_key_of_which_every_letter_is_escaped_goes(
    escape: Callable[[str], str], cut: int
) -> None:
    key = "exaKey-0123456789-abcXYZ"
    redactor = Redactor([key, "other-key-of-somebody"])
    text = f"before %41 {escape(key[: len(key) - cut])} after \\u0042."
    assert redactor.is_in(text)
    assert redactor.text(text) == f"before %41 {MARK} after \\u0042."


def test_escapes_without_a_key_stay_as_they_are() -> None:
    text = "%41%42 \\u0065 &#101; https://a.example/%7Euser%20x"
    assert Redactor(["exaKey-0123456789-abcXYZ"]).text(text) == text


def test_where_a_proxys_login_has_no_password_its_user_is_the_secret() -> None:
    for login in ("test-key-canary-7:", "test-key-canary-7"):
        redactor = Redactor([f"http://{login}@proxy.example:3128"])
        sent = b64encode(b"test-key-canary-7:").decode()
        text = f"{login} Basic {sent} http://{login}@proxy.example:3128 proxy.example"
        assert "canary" not in redactor.text(text)
        assert sent not in redactor.text(text)
        assert redactor.text(text).endswith(" proxy.example")


def test_a_proxy_without_a_login_is_not_redacted() -> None:
    assert Redactor(["http://p.example:3128"]).text("via http://p.example:3128") == (
        "via http://p.example:3128"
    )


def test_a_proxys_password_or_key_is_a_secret_from_4_characters_on() -> None:
    redactor = Redactor(["http://user:pa%2Fs@proxy.example"])
    text = "user, pa/s, %3Auser%3Apa%2Fs%40 and \\npa/s of proxy.example"
    assert redactor.text(text) == f"user, {MARK}, %3A{MARK}%40 and \\n{MARK} of proxy.example"
    assert redactor.text("users, superuser, pa/story") == "users, superuser, pa/story"
    alone = Redactor(["http://user@proxy.example", "http://key-0123:a=b@proxy.example"])
    assert alone.text("user, key-0123, a=b, users") == f"{MARK}, {MARK}, a=b, users"


@pytest.mark.parametrize("password", ["correcthorsebatterystaple", "Tr0ub4dor-3xyzMore"])
@pytest.mark.parametrize("scheme", ["http", "redis"])
def test_a_longer_password_is_redacted_like_a_key(scheme: str, password: str) -> None:
    redactor = Redactor([f"{scheme}://user:{quote(password, safe='')}@proxy.example"])
    for spelled in (password, password[: len(password) * 3 // 4], password.encode().hex()):
        assert redactor.text(f"AUTH {spelled}…") == f"AUTH {MARK}…"


def test_a_proxys_very_short_password_and_its_host_stay_words() -> None:
    redactor = Redactor(["http://me:abc@proxy.example"])
    assert redactor.text("abc of me at proxy.example") == "abc of me at proxy.example"
    assert redactor.text("http://me:abc@proxy.example/ me:abc") == f"{MARK}/ {MARK}"


@pytest.mark.parametrize("around", ["", "Bearer ", "x", "a:", "::::"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_a_key_in_base64_is_redacted_at_any_offset(
    around: str, encode: Callable[[bytes], bytes]
) -> None:
    text = encode(f"{around}{KEY}{around}".encode()).decode()
    redactor = Redactor([KEY])
    assert redactor.is_in(text)
    cleaned = redactor.text(f"Authorization: {text}.")
    assert MARK in cleaned
    assert len(cleaned.replace(MARK, "")) < len(f"Authorization: {text}.") - len(KEY)


@pytest.mark.parametrize(
    "spell",
    [
        lambda key: f"{key[:9]}<em>{key[9:15]}</em>{key[15:]}",
        lambda key: f"{key[:9]}<span class='hit'>{key[9:15]}</span>{key[15:]}",
        lambda key: f"{key[:9]}<!-- x -->{key[9:]}",
        lambda key: f"{key[:9]}**{key[9:15]}**{key[15:]}",
        lambda key: "".join(f"<b>%{ord(char):02x}</b>" for char in key),
        "<i></i>".join,
    ],
)
def test_a_key_split_by_markup_goes(spell: Callable[[str], str]) -> None:
    key = "exaKey-0123456789-abcXYZ"
    redactor = Redactor([key])
    text = f"a <b>bold</b> {spell(key)} and `code`."
    assert redactor.is_in(text)
    cleaned = redactor.text(text)
    assert cleaned.startswith("a <b>bold</b> ")
    assert cleaned.endswith(" and `code`.")
    assert len(cleaned) < len("a <b>bold</b>  and `code`.") + len(MARK) + 12


SPLITTING = [
    *("<em>", "</b><b>", "**", "`", "\u200b", "\\u200b", "\x07", "\n", "\\n", "\x1b"),
    *(
        "~~",
        "__",
        "==",
        "<br>\n    ",
        "\r\n\t",
        "\\\n",
        "=\n",
        "\u2028",
        " | ",
        "\x00",
        "<![CDATA[",
    ),
    *(f"<a title='{'long ' * 99}'>", "&lt;br&gt;", "%3Cbr%3E", "<!-- x -->", "\u2010", ", "),
    *("<?x y?>", "<!x>", "<a title='x>y'>", '<a title="x > y\'s">', "<a title=don't>", "<br/>"),
]


@pytest.mark.parametrize("gap", SPLITTING)
def test_nothing_is_left_of_a_key_that_is_split_anywhere(gap: str) -> None:
    key = "exaKey-0123456789-abcXYZ"
    for at in range(1, len(key)):
        assert Redactor([key]).text(f"a {key[:at]}{gap}{key[at:]} b") == f"a {MARK} b"


@pytest.mark.parametrize("around", ["Bearer {} of a user", "{}", "a:{}"])
@pytest.mark.parametrize("gap", SPLITTING)
def test_nothing_is_left_of_the_base64_of_a_key_in_lines(gap: str, around: str) -> None:
    key = "exaKey-0123456789-abcXYZ-0123456789-defUVW"
    encoded = b64encode(around.format(key).encode()).decode()
    core = encoded[len(around.partition("{")[0]) * 4 // 3 + 4 :][: len(key) * 4 // 3 - 8]
    for at in range(1, len(encoded)):
        clean = Redactor([key]).text(f"a {encoded[:at]}{gap}{encoded[at:]} b")
        assert MARK in clean
        assert core[:8] not in clean
        assert core[-8:] not in clean


def test_a_key_in_hexadecimal_goes() -> None:
    key = "exaKey-0123456789-abcXYZ"
    for spelled in (key.encode().hex(), key.encode().hex(" ").upper(), key.encode().hex(":")):
        assert Redactor([key]).text(f"a {spelled} b") == f"a {MARK} b"


@pytest.mark.parametrize("length", range(12, 24))
def test_the_end_of_a_key_goes_whose_beginning_was_cut(length: int) -> None:
    key = "exaKey-0123456789-abcXYZ"
    assert Redactor([key]).text(f"…{key[-length:]} is") == f"…{MARK} is"


@pytest.mark.parametrize("around", ["", "a:", "Bearer ", "token "])
def test_the_end_of_an_encoded_key_goes_whose_beginning_was_cut(around: str) -> None:
    key = "exaKey-0123456789-abcXYZ"
    text = f"{around}{key}".encode()
    for encoded in (b64encode(text).decode().rstrip("="), text.hex()):
        for at in range(len(encoded) - len(key)):
            clean = Redactor([key]).text(f"…{encoded[at:]} is")
            assert MARK in clean
            assert encoded[-12:] not in clean


@pytest.mark.parametrize("start", ["", f"{JWT_HEADER}."])
@pytest.mark.parametrize("size", [37, 80, 200])
def test_any_longer_piece_of_a_long_key_goes(start: str, size: int) -> None:
    key = start + b64encode(bytes(range(size))).decode().rstrip("=")
    redactor = Redactor([key])
    for at in range(40 if start else 0, len(key) - 30):
        for gap in ("", "\n", "-", " ", "\u200b"):
            piece = f"{key[at : at + 15]}{gap}{key[at + 15 : at + 31]}"
            assert redactor.text(f"\u2026 {piece}!") == f"\u2026 {MARK}!"
    lines = "\n".join(f"{at:04x}: {key[at : at + 64]}" for at in range(0, len(key), 64))
    rest = redactor.text(lines).replace(MARK, "")
    assert len(re.sub("[0-9a-f]{4}: ", "", rest)) < 48


@pytest.mark.parametrize("size", [30, 37, 80])
def test_any_longer_piece_of_an_encoded_key_goes(size: int) -> None:
    key = b64encode(bytes(range(size))).decode().rstrip("=")
    redactor = Redactor([key])
    for before in ("", "a", "ab", "Bearer "):
        text = f"{before}{key}".encode()
        for encoded in (text.hex(), b64encode(text).decode().rstrip("=")):
            for at in range(len(before) * 2 + 2, len(encoded) - 33):
                piece = f"\u2026 {encoded[at : at + 31]}!"
                assert len(redactor.text(piece).replace(MARK, "")) <= 5


@given(
    key=st.from_regex("[A-Za-z]{16}[0-9][A-Za-z0-9]{8,14}", fullmatch=True),
    data=st.data(),
    gap=st.sampled_from(["", "-", "\n", "\n  ", "\u200b"]),
    is_end=st.booleans(),
)
def test_a_cut_key_goes_although_its_beginning_has_no_digit(
    key: str, data: st.DataObject, gap: str, is_end: bool
) -> None:
    half = (len(key) + 1) // 2
    length = data.draw(st.integers(half, len(key) - 1))
    piece = key[-length:] if is_end else key[:length]
    assume(not piece.isalpha())
    at = data.draw(st.integers(1, length - 1))
    clean = Redactor([key]).text(f"A title: {piece[:at]}{gap}{piece[at:]}\u2026")
    assert MARK in clean
    assert not any(piece[place : place + half] in clean for place in range(length - half + 1))


@given(
    key=st.from_regex("[A-Za-z0-9]{16,47}", fullmatch=True),
    data=st.data(),
    gap=st.sampled_from([" ", "\n  ", "-", "</td> <td>", " | ", '",\n  "', "\r\n\t", ") ("]),
    size=st.integers(4, 16),
)
def test_little_is_left_of_a_cut_key_in_pieces(
    key: str, data: st.DataObject, gap: str, size: int
) -> None:
    half = max(12, (len(key) + 1) // 2)
    length = data.draw(st.integers(half, len(key)))
    cut = data.draw(st.sampled_from([key[:length], key[-length:]]))
    rest = length % size if length % size < 4 else 0  # letters that may be another word
    assume(not cut[: length - rest].isalpha())
    pieces = gap.join(cut[at : at + size] for at in range(0, length, size))
    clean = Redactor([key]).text(f"1. {pieces} !")
    assert MARK in clean
    left = "".join(filter(str.isalnum, re.sub("<.*?>", "", clean.replace(MARK, ""))))
    assert len(left) < 1 + 4


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("thequickbrownfox42jumps", "the quick brown fox 4 times"),
        ("correcthorse7battery", "the correct horse 7 times won"),
        ("thequickbrownfox42jumps", "The quick brown (fox 42 years)"),
    ],
)
def test_words_stay_beside_a_number_that_a_key_has_there(key: str, text: str) -> None:
    assert Redactor([key]).text(text) == text


@pytest.mark.parametrize(
    ("password", "text"),
    [("nave", "na\u00efve"), ("prive", "priv\u00e9e"), ("hunter2x", "hunter2\u2014x")],
)
def test_a_word_with_a_letter_that_a_login_lacks_stays(password: str, text: str) -> None:
    assert Redactor([f"http://svc:{password}@127.0.0.1:3128"]).text(f"a {text} b") == f"a {text} b"


@given(
    key=st.from_regex("[A-Za-z]{8,19}", fullmatch=True),
    gap=st.sampled_from(["-", "\n", "\n  ", "\r\n\t", " \n "]),
    place=st.integers(1, 7),
)
def test_a_short_key_of_letters_goes_also_in_two_lines(key: str, gap: str, place: int) -> None:
    assert Redactor([key]).text(f"{key[:place]}{gap}{key[place:]}.") == f"{MARK}."


def test_what_the_keys_of_others_begin_with_stays() -> None:
    redactor = Redactor([f"{JWT_HEADER}.{'Zq3dEf7hIjK9mNoPqRs5Tu' * 8}"])
    token = f"{JWT_HEADER}.eyJzdWIiOiIxMjM0NTY3ODkwIn0"
    for spelled in (token, b64encode(token.encode()).decode(), token.encode().hex()):
        assert redactor.text(f"A token starts with {spelled}") == f"A token starts with {spelled}"


@pytest.mark.parametrize(
    "key", ["----------------sk1-3abcdefghijk9", "a_b_-_-_-_-_-_-_cdefgh12345"]
)
def test_a_key_with_many_signs_goes_that_lacks_a_letter(key: str) -> None:
    for piece in (key[:-1], key[1:]):
        assert MARK in Redactor([key]).text(f"It is {piece} here")


def test_of_the_word_after_a_cut_key_nothing_is_lost() -> None:
    key = "exaKey-0123456789-abcXYZ"
    redactor = Redactor([key])
    for length in range(12, len(key) - 1):
        rest = key[length:].strip("-")
        assert redactor.text(f"{key[:length]} {rest[0]}nd more") == f"{MARK} {rest[0]}nd more"
        assert redactor.text(f"and {rest[0]} {key[-12:]}") == f"and {rest[0]} {MARK}"


@pytest.mark.parametrize(
    "place", ["<a href='/?k={}'>", "<input value={}>", "<!-- {} -->", "<b>{}</b>", "a < {} > b"]
)
@pytest.mark.parametrize("name", [*SPELLINGS])
def test_a_key_goes_in_a_tag_and_in_a_comment(name: str, place: str) -> None:
    for key in (KEY, "exaKey-0123456789-abcXYZ"):
        assert Redactor([key]).text(place.format(SPELLINGS[name](key))) == place.format(MARK)


@given(
    st.from_regex("[A-Za-z0-9_-]{24,48}", fullmatch=True).filter(
        lambda key: sum(map(str.isalnum, key)) > 16
    ),
    st.lists(st.sampled_from(["percent", "JSON", "HTML", "hexadecimal"]), max_size=3),
    st.sampled_from(SPLITTING),
    st.integers(1, 23),
    st.sampled_from(["{}", "<a href='{}'>", "<!-- {} -->"]),
)
def test_nothing_hides_a_key_that_is_escaped_split_and_in_a_tag(
    key: str, ways: list[str], gap: str, at: int, place: str
) -> None:
    spelled = key[:at] + gap + key[at:] if place == "{}" else key
    for way in ways:
        spelled = ESCAPED_WHOLE[way](spelled) if gap.isascii() else spelled
    assert MARK in Redactor([key]).text(place.format(spelled))
    letters = re.sub("[^a-z0-9]", "", key.lower())
    left = html.unescape(Redactor([key]).text(place.format(spelled))).lower()
    assert letters[: len(letters) // 2] not in re.sub("[^a-z0-9]", "", left)


@pytest.mark.parametrize("text", ["data science", "Data; science", "data\nscience"])
def test_a_login_of_words_is_found_only_as_it_is_written(text: str) -> None:
    redactor = Redactor(["http://x:data-science@proxy.example"])
    assert redactor.text(text) == text
    assert redactor.text("for data-science only") == f"for {MARK} only"


# --- what can be inside a key ------------------------------------------------------------------

generated_keys = st.from_regex("[A-Za-z0-9][A-Za-z0-9_-]{14,38}[A-Za-z0-9]", fullmatch=True).filter(
    lambda key: sum(map(str.isalnum, key)) > 8
)
HIDDEN = [chr(code) for code in (0, 7, 10, 13, 31, 127, 0x85, 0xA0, 0xAD, 0x34F, 0x200B, 0x200D)]
HIDDEN += ["\u2060", "\u202e", "\ufe0f", "\ufeff", "\U000e0041", "\U000e01ef"]
CSI = ["\x1b[31m", "\x1b[0m", "\x1b[38;5;200m", "\x1b[2K", "\x9b1m", "\x1b]0;title\x07"]


def in_json(text: str) -> str:
    units = text.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


HIDDEN_SPELLINGS: dict[str, Callable[[str], str]] = {
    "percent": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "percent in capitals": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "percent twice": lambda text: "".join(f"%25{byte:02X}" for byte in text.encode()),
    "JSON": in_json,
    "JSON in JSON": lambda text: in_json(text).replace("\\", "\\\\"),
    "JSON in a URL": lambda text: in_json(text).replace("\\", "%5C"),
}
REFERENCES: dict[str, Callable[[str], str]] = {
    "decimal": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "padded": lambda text: "".join(f"&#0{ord(char)};" for char in text),
    "hexadecimal": lambda text: "".join(f"&#x{ord(char):x};" for char in text),
    "capitals": lambda text: "".join(f"&#X{ord(char):04X};" for char in text),
    "twice": lambda text: "".join(f"&amp;#{ord(char)};" for char in text),
}
NAMED = [f"&{name}" for name, text in html5.items() if name[-1] == ";" and text.isspace()]
NAMED += [f"&{name};" for name in ("shy", "zwj", "zwnj", "lrm", "rlm", "af", "it", "ic", "NoBreak")]
MARKED_UP = [
    "%3Cb%3E",
    "%3C%2Fb%3E",
    "%253Ci%2520class%253Da%253E",
    "&lt;b&gt;",
    "&amp;lt;/b&amp;gt;",
]
NAMED += ["&ZeroWidthSpace;", "&amp;shy;", "&InvisibleTimes;", "&NegativeThinSpace;"]

gaps = st.one_of(
    st.builds(
        lambda spell, text: HIDDEN_SPELLINGS[spell](text),
        st.sampled_from([*HIDDEN_SPELLINGS]),
        st.sampled_from([*HIDDEN, *CSI]),
    ),
    st.builds(
        lambda spell, text: REFERENCES[spell](text),
        st.sampled_from([*REFERENCES]),
        st.sampled_from([*HIDDEN, *CSI[:4]]).filter(lambda text: text != "\x00"),
    ),
    st.sampled_from(["%1B[31m", "%1b%5B0;1m", "\\x1b[1m", "\\x9b2J", "\\xad", *NAMED, *MARKED_UP]),
)


@given(generated_keys, gaps, st.integers(0, 40), st.booleans())
def test_a_key_goes_that_escaped_invisible_characters_split(
    key: str, gap: str, place: int, is_everywhere: bool
) -> None:
    place = 1 + place % (len(key) - 1)
    spelled = gap.join(key) if is_everywhere else key[:place] + gap + key[place:]
    redactor = Redactor([key])
    text = f"https://a.example/{spelled}?k={spelled} after"
    assert redactor.is_in(text)
    assert redactor.text(text) == f"https://a.example/{MARK}?k={MARK} after"
    assert redactor.clean({"a": [spelled]}) == {"a": [MARK]}


SEQUENCES = [
    r"\x1b[\]PX^_][ -~]{0,9}(?:\x07|\x1b\\|\x9c)",
    r"(?:\x1b\[|\x9b)[0-?]{0,9}[ -/]{0,3}[@-~]",
    r"\x1b[ -/]{0,3}[0-OQ-WYZ`-~]",
]


@given(
    generated_keys,
    st.sampled_from(SEQUENCES).flatmap(lambda pattern: st.from_regex(pattern, fullmatch=True)),
    st.sampled_from([str, *HIDDEN_SPELLINGS.values()]),
)
def test_whatever_a_terminal_hides_is_no_part_of_a_key(
    key: str, sequence: str, spell: Callable[[str], str]
) -> None:
    assume("<>" not in sequence)
    assert without_controls(f"a{sequence}b") == "ab"
    assume(spell is str or {*"\\%&"}.isdisjoint(sequence))  # else it is an escape once more
    spelled = f"{key[:8]}{spell(sequence)}{key[8:]}"
    clean = Redactor([key]).text(f"before {spelled} after")
    assert key[:6] not in clean
    assert key[-6:] not in clean


@given(
    generated_keys,
    st.sampled_from(["\\u{:04x}", "\\x{:02x}", "\\u{{{:x}}}", "\\U{:08x}", "\\{:03o}"]),
    st.integers(0, 4),
)
def test_a_key_goes_in_up_to_five_layers_of_escapes(key: str, form: str, more: int) -> None:
    spelled = "".join(form.format(ord(letter)) for letter in key)
    for _ in range(more):
        spelled = json.dumps(spelled)[1:-1]
    assert Redactor([key]).text(f"a {spelled} b") == f"a {MARK} b"


@given(generated_keys, st.data())
def test_a_key_goes_whose_escapes_are_split(key: str, data: st.DataObject) -> None:
    spell = data.draw(st.sampled_from([*HIDDEN_SPELLINGS.values(), REFERENCES["decimal"]]))
    spelled = spell(key)
    tags = ["<b>", "</i>", "<!-- a > b -->"]
    lines = ["\n", "\r\n  ", "\\\n", "\\\r\n  "]
    for place in sorted(data.draw(st.sets(st.integers(1, len(spelled) - 1), max_size=5)))[::-1]:
        # A line break behind a backslash continues the line, and ends no escape.
        gaps = tags if spelled[place - 1] == "\\" else [*tags, *lines]
        spelled = f"{spelled[:place]}{data.draw(st.sampled_from(gaps))}{spelled[place:]}"
    assert Redactor([key]).text(f"a {spelled} b") == f"a {MARK} b"


@given(generated_keys, gaps)
def test_escapes_around_a_key_stay(key: str, gap: str) -> None:
    text = f"{gap}x {key} x{gap}"
    assert Redactor([key]).text(text) == f"{gap}x {MARK} x{gap}"


@pytest.mark.parametrize(
    "around", ["\u5bc6\u94a5", "**", "`", "%E2%80%8B", "&shy;", "</b>", "\u200b"]
)
def test_of_the_text_around_a_key_nothing_is_lost(around: str) -> None:
    key = "exaKey-0123456789-abcXYZ"
    for spelled in (key, key.replace("K", "%4B"), f"{key[:5]}&shy;{key[5:]}"):
        text = f"a{around}{spelled}{around}b"
        assert Redactor([key]).text(text) == f"a{around}{MARK}{around}b"


# --- letter case -------------------------------------------------------------------------------

CASES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "swapped": str.swapcase,
    "title": str.title,
}


@given(
    st.from_regex("[A-Za-z0-9_-]{8,40}", fullmatch=True).filter(
        lambda key: max(map(len, re.findall("[A-Za-z0-9]+", key)), default=0) > 3
    ),
    st.sampled_from([*CASES]),
    st.sampled_from(["plain", "percent", "every third", "HTML", "JSON"]),
    st.sampled_from(["x {} y", "https://{}.example/x", "\u0130\u212a {} \u00e9", "a/{}"]),
)
def test_a_key_is_found_in_any_letter_case(key: str, case: str, spell: str, place: str) -> None:
    spelled = {"plain": str, **ESCAPED_WHOLE}[spell](CASES[case](key))
    text = place.format(spelled)
    assert Redactor([key]).is_in(text)
    assert Redactor([key]).text(text) == place.format(MARK)


def test_a_cut_key_is_found_in_any_letter_case() -> None:
    key = "1f3a9c2e-7b64-4d1a-9e5f-0a1b2c3d4e5f"
    for length in range(len(key) // 2, len(key)):
        assert Redactor([key]).text(f"x {key[:length].upper()}") == f"x {MARK}"


@given(st.from_regex("[A-Za-z0-9]{4,7}", fullmatch=True), st.sampled_from([*CASES]))
def test_a_short_login_is_redacted_only_as_it_is_written(login: str, case: str) -> None:
    redactor = Redactor([f"http://{login}:{login}@p.example"])
    text = f"see {CASES[case](login)} there"
    assert redactor.text(text) == text.replace(login, MARK)


# --- what must stay ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("redis://:@redis:6379", "The dog of Google needs freedom to blog about this project."),
        ("http://u@proxy.example", "You need to go."),
        ("http://x:@proxy.example", "freedom"),
        ("rediss://default:pa55word@redis.example", "the default of https://a.example/default"),
        ("development-key", "the development of a key: development, key"),
        ("test-key-perplexity", "by Perplexity, perplexity: x"),
        ("not-needed", "It is not needed."),
        ("https://gateway.example/v1", "https://gateway.example/v1"),
    ],
)
def test_words_stay_that_a_secret_is_made_of(secret: str, text: str) -> None:
    assert Redactor([secret]).text(text) == text


@pytest.mark.parametrize("secret", ["development-key", "test-key-perplexity", "not-needed"])
def test_a_key_of_words_goes_as_it_is_written(secret: str) -> None:
    redactor = Redactor([secret])
    for spelled in (secret, secret.upper(), quote(secret), f"{secret[:3]}<b></b>{secret[3:]}"):
        assert redactor.text(f"a {spelled} b") == f"a {MARK} b"


@pytest.mark.parametrize("gap", [" ", "\n  ", "\n> ", '" + "', "  \\\n"])
@pytest.mark.parametrize("place", [12, 16, 20, 28])
def test_of_a_key_of_letters_that_is_split_too_little_is_left(gap: str, place: int) -> None:
    key = "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTy"
    rest = Redactor([key]).text(f"It is {key[:place]}{gap}{key[place:]}!").replace(gap, " ")
    assert MARK in rest
    assert len(re.sub(r"\[redacted\]|It is|[ !]", "", rest)) <= 16


def test_a_key_with_a_scheme_goes() -> None:
    assert Redactor(["abc://def0123456789xyz"]).text("k abc://def0123456789xyz") == f"k {MARK}"


@pytest.mark.parametrize("length", [12, 17, 22])
def test_of_what_follows_a_cut_key_in_json_nothing_is_lost(length: int) -> None:
    key = "exaKey-0123456789-abcXYZ"
    text = f'{{"a":"{key[:length]}","{key[length:].strip("-")[0]}rl":1}}'
    assert Redactor([key]).text(text) == text.replace(key[:length].strip("-"), MARK)


@pytest.mark.parametrize(
    "spell",
    [
        lambda a, b, c: f"{a}[{b}](https://x.example/y)[{c}](https://x.example/z)",
        lambda a, b, c: f"{a}![a picture](c.png){b}{c}",
        lambda a, b, c: f"{a}[{b}](https://x.example/y_(z) \"A title\")[{c}](/z 'b')",
        lambda a, b, c: f"{a}[{b}][site][{c}][site]",
        lambda a, b, c: f"{a}[{b}]( https://x.example )[{c}](/z (a title) )",
        lambda a, b, c: f"{a}<!-- a > b - <i>c</i> -->{b}<i title='a<b' alt=\"c>d\">{c}",
        lambda a, b, c: f"{a}\x1b(B{b}\\e[31m{c}",
        lambda a, b, c: f"{a}\\U0000200b{b}\\x{{200b}}{c}",
        lambda a, b, c: f"{a}&nbsp{b}&shy{c}",
        lambda a, b, c: f"![{a}<wbr>{b}</i>{c}](x.png)",
        lambda a, b, c: f"[x](https://x.example/?k={a}<wbr>{b}<br/>{c} 'x')",
        lambda a, b, c: f"<img alt='{a}<wbr>{b}<b class=x>{c}'>",
        lambda a, b, c: f"<!-- {a}<wbr>{b}<br>{c} -->",
        lambda a, b, c: f"{a}\\x&#97;d{b}\\&#117;00AD{c}",
    ],
)
def test_a_key_goes_that_markdown_or_a_terminal_splits(spell: Callable[..., str]) -> None:
    key = "exaKey-0123456789-abcXYZ"
    clean = Redactor([key]).text(f"a {spell(key[:8], key[8:16], key[16:])} b")
    assert "exaKey" not in clean
    assert "abcXYZ" not in clean


@pytest.mark.parametrize("gap", ["<wbr>", "<b class='x>y'>", "<!-- a > b - <i>c</i> -->", "&shy;"])
@pytest.mark.parametrize("other", ["\u200b", "<![CDATA[", "<?x y?>", "<!-- x -->", "**", "</i>"])
@pytest.mark.parametrize(
    "box",
    [
        "![{}](x.png)",
        "[![x](x.png)](https://x.example/{})",
        "[x](https://x.example/?k={})",
        "![x](y.png '{}')",
        "[x][{}]",
        '[x]: https://x.example/{} "x"',
        "<https://x.example/{}>",
        "<img alt='{}'>",
        "<img alt={}>",
        "<!-- {} -->",
        "<?x {}?>",
        '{{"a":"{}"}}',
    ],
)
def test_a_key_goes_that_is_split_within_markup(box: str, gap: str, other: str) -> None:
    key = "exaKey-0123456789-abcXYZ"
    text = box.format(f"{key[:8]}{gap}{key[8:16]}{other}{key[16:]}")
    assert not re.search("exaKey|12345|abcXYZ", Redactor([key]).text(f"a {text} b"))


@pytest.mark.parametrize(
    "text",
    [
        "\x1b]exaKey-0<b>1234567<b>89-abcXYZ",
        "<title>\x1b]0;exaKey-0<wbr>123456789-abcXYZ\x07</title>",
        "exaKey-01234\x1b[567</b>89-abcXYZ",
        "<img alt='exaKey\x1b[1m-01234<i>567</i>89\x1b[0m-abcXYZ'>",
    ],
)
def test_a_key_goes_that_tags_split_beside_a_terminal_sequence(text: str) -> None:
    clean = Redactor(["exaKey-0123456789-abcXYZ"]).text(text)
    assert not re.search("exaKey|1234|abcXYZ", clean)


@pytest.mark.parametrize("key", ["p4$$-w0!!-r7##-x2", "a-b-c-d-1-2-3-4-e", "9/+==/8-7_6!5?4.3,2"])
def test_a_cut_key_of_signs_is_redacted(key: str) -> None:
    half = max(12, (len(key) + 1) // 2)
    redactor = Redactor([key])
    for size in range(half, len(key)):
        for cut in (key[:size], key[-size:]):
            clean = redactor.text(f"see {cut} there").removeprefix("see ").removesuffix(" there")
            assert MARK in clean
            assert len(clean.replace(MARK, "")) <= size - half


@pytest.mark.parametrize("size", [10, 39, 40, 41, 44, 48, 60, 90])
def test_of_a_short_token_no_other_text_is_redacted(size: int) -> None:
    token = (f"{JWT_HEADER}.eyJzdWIiOiIxMjM0NTY3ODkwIn0.5mhBHqs5_DTLdINd9p5m7ZJ6XD0Xc55kIaC")[:size]
    redactor = Redactor([token])
    text = "It is 37 miles, a b c, https://a.example/?q=1#x and n.Q0 or Rk."
    assert redactor.text(text) == text
    assert redactor.text(f"the {token} is") == f"the {MARK} is"
    assert b64encode(token.encode()).decode()[4:-4] not in redactor.text(
        f"x {b64encode(token.encode()).decode()} y"
    )


def test_base64_without_a_digit_is_no_word() -> None:
    encoded = b64encode(b"xwOmCceIi31036").decode()
    text = " ".join(encoded[at : at + 5] for at in range(0, len(encoded), 5))
    assert text == "eHdPb UNjZU lpMzE wMzY="
    assert Redactor(["wOmCceIi31036"]).text(f"a {text} b") == f"a eH{MARK}Y= b"


# --- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["\x1b]0;title", "a <b and so", "100%", "\\", "&", "\x9b3", "!["])
@pytest.mark.parametrize("gap", ["&lt;b&gt;", "\\u001b[31m", "\n", "<b>"])
def test_no_text_hides_a_key_in_the_next_one(first: str, gap: str) -> None:
    key = "exaKey-0123456789-abcXYZ"
    value = [first, f"{key[:8]}{gap}{key[8:]}", "c> d)"]
    assert Redactor([key]).clean(value) == [first, MARK, "c> d)"]


def test_tuples_are_cleaned_too() -> None:
    payment = Payment("1", KEY, None)
    clean = Redactor([KEY]).clean({"a": (KEY, 1), "b": [payment]})
    assert clean == {"a": (MARK, 1), "b": [Payment("1", MARK, None)]}
    assert isinstance(clean["b"][0], Payment)


def test_values_are_cleaned_to_the_bottom() -> None:
    value = {KEY: [{"a": f"x {KEY}"}, 1, None, [KEY]], 1: 2.0}
    assert Redactor([KEY]).clean(value) == {MARK: [{"a": f"x {MARK}"}, 1, None, [MARK]], 1: 2.0}


def test_words_of_ours_stay_where_a_login_is_the_same_word() -> None:
    redactor = Redactor(["http://user:title@h:1", KEY])
    value = {"title": "a title", "id": "title", "tool": KEY, KEY: [{"type": "title"}]}
    clean = {"title": f"a {MARK}", "id": "title", "tool": MARK, MARK: [{"type": "title"}]}
    assert redactor.clean(value) == clean
    assert redactor.clean(["title", ("title", "name")]) == [MARK, (MARK, "name")]


def test_a_login_in_a_url_that_names_a_field_is_redacted() -> None:
    numbers = {"title": 1, "https://a.example/title": 2}
    clean = {"title": 1, f"https://a.example/{MARK}": 2}
    assert Redactor(["http://user:title@h:1"]).clean({"numbers": numbers}) == {"numbers": clean}


def test_names_may_become_equal() -> None:
    assert Redactor([KEY]).clean({MARK: 1, KEY: 1}) == {MARK: 1}


def test_results_are_cleaned_in_every_field() -> None:
    key = quote(KEY)
    result = SearchResult(
        title=key,
        url=f"https://a.example/{key}",
        snippet=key,
        author=key,
        source_provider="exa",
        query=key,
    )
    response = SearchResponse(
        provider="exa", queries=[key], results=[result, result], warnings=[f"Exa: {key}"]
    )
    cleaned = Redactor([KEY]).clean(response)
    assert key not in json.dumps(cleaned.model_dump(mode="json"), ensure_ascii=False)
    assert cleaned.results[0].title == cleaned.queries[0] == MARK
    assert cleaned.warnings == [f"Exa: {MARK}"]
    assert response.results[0].title == key


def test_arguments_are_cleaned_and_harmless_ones_stay() -> None:
    redactor = Redactor([KEY])
    given = SearchInput(queries=[f"what is {KEY}"], category="news")
    assert redactor.clean(given).queries == [f"what is {MARK}"]
    harmless = SearchInput(queries=["json"])
    assert redactor.clean(harmless) is harmless


def test_an_answer_is_cleaned_before_it_is_read() -> None:
    body = json.dumps({"error": f"bad key {KEY}", "é": 1}, ensure_ascii=False).encode()
    cleaned = requests.redact_body(Response(401, {"a": "b"}, body), Redactor([KEY]))
    assert cleaned.json() == {"error": f"bad key {MARK}", "é": 1}
    assert (cleaned.status, cleaned.headers) == (401, {"a": "b"})


def test_the_headers_of_an_answer_are_hidden_from_its_repr() -> None:
    assert KEY not in repr(Response(401, {"x-echo": KEY}, b""))


# --- errors ------------------------------------------------------------------------------------


def chained(message: str, cause: BaseException | None = None) -> RateLimitError:
    try:
        raise RateLimitError(message, provider="exa", status=429, retry_after=2) from cause
    except RateLimitError as error:
        return error


@pytest.mark.parametrize(
    "error",
    [
        chained(f"slow down {KEY}"),
        chained("slow down", ValueError(KEY)),
        chained("slow down", chained("why", OSError(1, KEY))),
    ],
    ids=["text", "cause", "deep cause"],
)
def test_an_error_with_a_key_loses_it_and_keeps_its_facts(error: WebToolsError) -> None:
    cleaned = Redactor([KEY]).error(error)
    assert cleaned is not error
    assert type(cleaned) is RateLimitError
    assert (cleaned.provider, cleaned.status, cleaned.retry_after) == ("exa", 429, 2)
    assert str(cleaned).startswith("slow down")
    assert (cleaned.__cause__, cleaned.__context__, cleaned.__traceback__) == (None, None, None)
    assert KEY not in str(cleaned)


def test_what_a_site_charges_is_cleaned_too() -> None:
    error = BadRequestError(
        "no", status=402, payment=Payment(price="1", currency=KEY, scheme="x402")
    )
    clean = Redactor([KEY]).error(error)
    assert clean.payment == Payment(price="1", currency=MARK, scheme="x402")
    assert KEY not in repr(clean.to_details())


@pytest.mark.parametrize("password", ["a\\nb1xyz9", "a'b\"1xyz9", "ä\\x1b1xyz"])
def test_a_password_with_signs_is_redacted_in_an_error(password: str) -> None:
    error = chained(f"bad password {password} given")
    assert password not in str(Redactor([f"http://user:{password}@h:1"]).error(error))


def test_a_key_in_the_context_or_in_an_attribute_counts_too() -> None:
    error, inner = chained("slow down"), ValueError("why")
    error.__context__ = inner
    assert Redactor([KEY]).error(error) is error
    inner.detail = KEY  # type: ignore[attr-defined]
    assert Redactor([KEY]).error(error) is not error


def test_a_chain_that_bites_its_tail_is_followed_once() -> None:
    error, inner = chained("slow down"), ValueError("why")
    error.__context__, inner.__context__ = inner, error
    assert Redactor([KEY]).error(error) is error


class _Hiding(BaseModel):
    note: str = Field(exclude=True)


def test_a_key_in_a_dict_is_found_also_where_json_has_no_place_for_it() -> None:
    redactor = Redactor([KEY])
    hidden = redactor.clean({"a": [_Hiding(note=KEY)]})
    assert hidden["a"][0].note == MARK
    assert redactor.clean({"a": object, "b": [KEY]})["b"] == [MARK]
    assert redactor.clean({"a": f"\ud800 {KEY}"}) == {"a": f"\ud800 {MARK}"}
    plain = {"queries": ["json"], "limit": 3}
    assert redactor.clean(plain) is plain


@given(st.text(), keys)
def test_a_text_without_the_key_is_unchanged(text: str, key: str) -> None:
    if key not in html.unescape(text):
        assert Redactor([key]).text(text) == text
