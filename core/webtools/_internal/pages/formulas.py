"""Write MathML in one line."""

from __future__ import annotations

from webtools._internal.pages.tree import Element, text_of

_SIMPLE = 2  # characters of an operand that needs no brackets
_SKIPPED = frozenset({"annotation", "annotation-xml", "mphantom"})


def formula(element: Element) -> str:
    """Return the TeX of a formula between dollar signs, else its MathML in plain signs."""
    for each in element.iter("annotation"):
        if each.get("encoding", "").strip().lower().endswith("tex"):
            return f"${' '.join(text_of(each).split())}$"
    return _written(element)


def _written(element: Element) -> str:
    if element.tag in _SKIPPED:
        return ""
    parts = [_written(child) for child in element if child.tag not in _SKIPPED]
    operands = [_operand(part) for part in parts]
    match element.tag, len(parts):
        case "mfrac", 2:
            text = "/".join(operands)
        case "msup" | "mover", 2:
            text = f"{parts[0]}^{operands[1]}"
        case "msub" | "munder", 2:
            text = f"{parts[0]}_{operands[1]}"
        case "msubsup" | "munderover", 3:
            text = f"{parts[0]}_{operands[1]}^{operands[2]}"
        case "mroot", 2:
            text = f"root({', '.join(parts)})"
        case "msqrt", _:
            text = f"\u221a({''.join(parts)})"
        case "mtable" | "mtr", _:
            text = ("; " if element.tag == "mtable" else ", ").join(parts)
        case _:
            text = "".join([*(element.text or "").split(), *parts])
    return text


def _operand(text: str) -> str:
    return text if len(text) < _SIMPLE or text.isalnum() else f"({text})"
