"""Read inline styles: their declarations, and whether one of them hides its element.

An attribute is tokenized as CSS does it, with escapes, comments, strings and brackets. A style that
hides in any of its declarations counts as hiding, since a later one may be invalid.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

_LONGEST_VALUE = 2000  # characters
_LONGEST_VARIABLE = 200
_MAX_NESTED = 3  # variables and calculations within each other
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE | re.DOTALL)
_PIECE = re.compile(  # a comment, an address without quotes, strings, marks, other text
    r"/\*.*?(?:\*/|\Z)|url\((?!\s*[\"'])(?:[^)\\]|\\.)*\)?"
    r"|\"(?:[^\"\\\n]|\\.)*[\"\n]?|'(?:[^'\\\n]|\\.)*['\n]?|\\.|[();/u\\]|[^\"'();/u\\]+",
    re.DOTALL | re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.#-])([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?)(%|[a-z]*)")
_FUNCTION = re.compile(r"([a-z0-9-]+)\(([^()]*)\)")
_WORD = re.compile(r"[a-z#][\w#]*")
_VARIABLE = re.compile(r"var\(\s*(--[^\s,()]+)\s*(?:,([^()]*))?\)|calc\(([^()]*)\)")
_COLOR_FUNCTION = re.compile(r"(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\(([^()]*)\)")
_PIXELS = {
    "px": 1.0,
    "": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 37.8,
    "mm": 3.78,
    "q": 0.9,
}
_DEGREES = {"deg": 1.0, "grad": 0.9, "rad": 57.3, "turn": 360.0}
_SIDES = frozenset({"to", "left", "right", "top", "bottom", "deg", "turn", "at", "center"})
_RELATIVE_PIXELS = 10.0  # of an em, a per cent of the window and the like, roughly
_WHITE = (255, 255, 255)
_NAMED_COLORS = {
    "white": _WHITE, "canvas": _WHITE, "snow": (255, 250, 250), "ivory": (255, 255, 240),
    "black": (0, 0, 0),
    "whitesmoke": (245, 245, 245), "ghostwhite": (248, 248, 255), "red": (255, 0, 0),
    "blue": (0, 0, 255), "green": (0, 128, 0), "yellow": (255, 255, 0), "gray": (128, 128, 128),
    "grey": (128, 128, 128), "silver": (192, 192, 192), "navy": (0, 0, 128),
}  # fmt: skip
# All limits together: no difference in the sets, whose pages hide nothing on purpose.
_FAINT = 0.1  # opacity or size of a text that is too faint or small to read
_FAR = 900.0  # pixels to the left of the window or above it
_VERY_FAR = 5000.0  # pixels to its right or below it: long pages are wide, too
_SIZES = frozenset({"height", "width", "line-height", "block-size", "inline-size"})
_OVERFLOWS = frozenset(
    {"overflow"} | {f"overflow-{axis}" for axis in ("x", "y", "block", "inline")}
)
_CALLS = frozenset({"clip-path", "transform", "filter", "mask", "mask-image", "rotate"})
_HALF = 50  # per cent
_SAME = 8  # difference of colours that no eye sees

Color = tuple[int, int, int]


class Declaration(NamedTuple):
    """One property of a style in lower case, with its value."""

    name: str
    value: str


@lru_cache(4096)
def declarations(style: str) -> tuple[Declaration, ...]:
    """Return the declarations of a style attribute, in lower case and without escapes."""
    pairs = [(_unescaped(n).strip().lower(), _unescaped(v).lower()) for n, v in _split(style)]
    variables = {
        name: value.strip()[:_LONGEST_VARIABLE] for name, value in pairs if name.startswith("--")
    }

    def value_of(match: re.Match[str]) -> str:
        return variables.get(match[1]) or (match[2] or match[3] or "").strip() or match[0]

    def simplified(value: str) -> str:
        for _ in range(_MAX_NESTED if "(" in value else 0):
            value = _VARIABLE.sub(value_of, value[:_LONGEST_VALUE])
        return value[:_LONGEST_VALUE].partition("!")[0].strip()

    return tuple(Declaration(name, simplified(value)) for name, value in pairs)


def _split(style: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values, which semicolons outside strings and brackets separate."""
    text, depth = "", 0
    for piece in [*_PIECE.findall(style), ";"]:
        if piece.startswith("/*"):
            text += " "
            continue
        depth += (piece == "(") - (piece == ")" and depth > 0)
        if piece != ";" or depth:
            text += piece
            continue
        name, _, value = text.partition(":")
        if value:
            yield name, value
        text = ""


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = int(match[1], 16) if match[1] else 0
        return match[2] or (chr(code) if 0 < code <= sys.maxunicode else "\ufffd")

    return _ESCAPE.sub(character, text) if "\\" in text else text


def is_faded(style: str) -> bool:
    """Return whether a style hides its element as animations do before they start."""
    return any(
        value in {"hidden", "collapse"}
        if name == "visibility"
        else name == "opacity" and any(number <= 0 for number, _ in _numbers(value))
        for name, value in declarations(style)
    )


def is_hiding(style: str, *, ignored: str = "") -> bool:
    """Return whether a style hides its element, in another way than `is_faded` and a property."""
    parts = [part for part in declarations(style) if part.name != ignored]
    color, behind = _text_color(parts), _background(parts)
    is_same = color is not None and behind is not None and are_same(color, behind)
    return is_same or any(_hides(*part) for part in parts) or _is_flat(parts) or _is_far(parts)


def _hides(name: str, value: str) -> bool:
    name = name.removeprefix("-webkit-")
    if name in _CALLS:
        call = f"{name}({value})" if name == "rotate" else value
        call = _COLOR_FUNCTION.sub(_plain_color, call)
        return any(_leaves_nothing(*match.groups()) for match in _FUNCTION.finditer(call))
    number = _first_number(value)
    return {
        "display": value == "none",
        "content-visibility": value == "hidden",
        "opacity": number is not None and 0 < number < _FAINT,
        "zoom": number is not None and abs(number) < _FAINT,
        "scale": any(abs(size) < _FAINT for size, _ in _numbers(value)),
        "font-size": _is_tiny(value),
        "font-size-adjust": number == 0,
        "font": _is_tiny(value.partition("/")[0]),
        "color": is_transparent(value),
        "text-fill-color": is_transparent(value),
        "text-indent": any(
            _pixels(*size) < -_FAR / 10 or _pixels(*size) >= _FAR for size in _numbers(value)
        ),
        "letter-spacing": any(_pixels(*size) < -_FAR / 100 for size in _numbers(value)),
        "clip": value.startswith("rect(")
        and all(abs(size) <= 1 for size, _ in _numbers(value))
        and number is not None,
    }.get(name, False)


def _leaves_nothing(function: str, arguments: str) -> bool:
    """Return whether a function of `clip-path`, `transform`, `filter` or `mask` leaves nothing."""
    if "gradient" in function:
        return all(word in _SIDES or is_transparent(word) for word in _WORD.findall(arguments))
    sizes = list(_numbers(arguments))
    if not sizes:
        return False
    first, unit = sizes[0]
    is_edgewise = any(
        unit in _DEGREES and abs(abs(size) * _DEGREES[unit] % 180 - 90) < 1 for size, unit in sizes
    )
    return {
        "circle": abs(first) < 1,
        "ellipse": abs(first) < 1,
        "polygon": all(abs(size) <= 1 for size, _ in sizes),
        "rect": all(abs(size) <= 1 for size, _ in sizes),
        "xywh": all(abs(size) <= 1 for size, _ in sizes),
        "inset": any(
            size >= _HALF if unit == "%" else _pixels(size, unit) > _FAR for size, unit in sizes
        ),
        "blur": _pixels(first, unit) >= 10,  # noqa: PLR2004
        "opacity": first * (0.01 if unit == "%" else 1) < _FAINT,
        "scale": any(abs(size) < _FAINT for size, _ in sizes),
        "scalex": abs(first) < _FAINT,
        "scaley": abs(first) < _FAINT,
        "matrix": abs(first) < _FAINT,
        "rotatex": is_edgewise,
        "rotatey": is_edgewise,
        "rotate": is_edgewise
        and (arguments.strip()[:1] in {"x", "y"} or any(size for size, _ in sizes[:-1][:2])),
    }.get(function.removesuffix("3d"), False)


def _is_tiny(value: str) -> bool:
    """Return whether a font size is too small to read."""
    for match in _NUMBER.finditer(value):
        size, unit = float(match[1]), match[2]
        if unit in _PIXELS and (unit or size == 0):
            return abs(size) * _PIXELS[unit] < 2  # noqa: PLR2004
        if unit in {"%", "vw", "vh", "vmin", "vmax"}:
            return abs(size) < (10 if unit == "%" else _FAINT)
        if unit in {"em", "rem", "ex", "ch", "lh", "rlh", "cap", "ic"}:
            return abs(size) < _FAINT
    return False


def _is_flat(parts: Sequence[Declaration]) -> bool:
    """Return whether a style cuts its element to nothing."""
    is_cut = any(
        (name in _OVERFLOWS and not set(value.split()) <= {"visible"})
        or (name == "contain" and value not in {"none", "layout", "style", "size"})
        for name, value in parts
    )
    return is_cut and any(
        abs(_pixels(size, unit)) <= (1 if unit in _PIXELS and name != "line-height" else 0)
        for name, value in parts
        if name.removeprefix("max-") in _SIZES
        for size, unit in _numbers(value)
    )


def _is_far(parts: Sequence[Declaration]) -> bool:
    """Return whether a style places its element outside the window."""
    is_positioned = any(
        name == "position" and value in {"absolute", "fixed", "relative"} for name, value in parts
    )
    for name, value in parts:
        is_edge = name in {"left", "right", "top", "bottom"} or name.startswith("inset")
        is_moved = name.startswith("margin") or name == "translate" or "translate" in value
        if (is_edge and is_positioned) or is_moved:
            places = [_pixels(*size) for size in _numbers(value)]
            if any(place <= -_FAR or place >= _VERY_FAR for place in places):
                return True
    return False


def _numbers(value: str) -> Iterator[tuple[float, str]]:
    for match in _NUMBER.finditer(value):
        yield float(match[1]), match[2]


def _first_number(value: str) -> float | None:
    """Return the first number, as a fraction if it is a per cent."""
    match = _NUMBER.search(value)
    return None if match is None else float(match[1]) * (0.01 if match[2] == "%" else 1)


def _pixels(size: float, unit: str) -> float:
    return size * (
        _PIXELS.get(unit) or (0 if unit in _DEGREES or unit in {"s", "ms"} else _RELATIVE_PIXELS)
    )


# --- colours -------------------------------------------------------------------------------------


def is_transparent(value: str) -> bool:
    """Return whether a colour is too transparent to see."""
    if value == "transparent":
        return True
    if re.fullmatch(r"#(?:[0-9a-f]{4}|[0-9a-f]{8})", value):
        digits = value[4:] * 2 if len(value) == 5 else value[7:]  # noqa: PLR2004
        return int(digits, 16) < 255 * _FAINT
    match = _COLOR_FUNCTION.fullmatch(value)
    if match is None:
        return False
    numbers = match[1].rpartition("/")[2] if "/" in match[1] else match[1].split(",")[3:4]
    alpha = _first_number(numbers if isinstance(numbers, str) else "".join(numbers))
    return alpha is not None and alpha < _FAINT


def _plain_color(match: re.Match[str]) -> str:
    return "transparent" if is_transparent(match[0]) else match[0]


def color_of(value: str) -> Color | str:
    """Return a colour by its parts, or its text if it is not known."""
    text = value.strip().lower()
    if text in _NAMED_COLORS:
        return _NAMED_COLORS[text]
    if re.fullmatch(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", text):
        digits = text[1:] if len(text) == 7 else "".join(digit * 2 for digit in text[1:])  # noqa: PLR2004
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    numbers = [size * 2.55 if unit == "%" else size for size, unit in _numbers(text)]
    if text.startswith("hsl") and len(numbers) >= 3:  # noqa: PLR2004
        return {0.0: (0, 0, 0), 255.0: _WHITE}.get(round(numbers[2], 3), text)
    if text.startswith("rgb") and len(numbers) >= 3:  # noqa: PLR2004
        return int(numbers[0]), int(numbers[1]), int(numbers[2])
    return text


def are_same(first: Color | str, second: Color | str) -> bool:
    """Return whether no eye can tell two colours apart."""
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    return all(abs(a - b) <= _SAME for a, b in zip(first, second, strict=True))


def text_color(attributes: Mapping[str, str]) -> Color | str | None:
    """Return the colour of the text of an element, if its own markup sets it."""
    return _text_color(declarations(attributes.get("style", "")))


def background(attributes: Mapping[str, str]) -> Color | str | None:
    """Return the background of an element, if its own markup sets it to one colour."""
    behind = _background(declarations(attributes.get("style", "")))
    return behind or (color_of(attributes["bgcolor"]) if attributes.get("bgcolor") else None)


def _text_color(parts: Sequence[Declaration]) -> Color | str | None:
    return next((color_of(value) for name, value in reversed(parts) if name == "color"), None)


def _background(parts: Sequence[Declaration]) -> Color | str | None:
    for name, value in reversed(parts):
        if name in {"background", "background-color"}:
            words = re.findall(r"#[0-9a-f]+|(?:rgb|hsl)a?\([^()]*\)|[a-z]+", value)
            colors = [color_of(word) for word in words]
            return next((color for color in colors if not isinstance(color, str)), value)
    return None
