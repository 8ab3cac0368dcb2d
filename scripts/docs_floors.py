"""Draw the layers of the code, which `import-linter` checks.

The layers come from `pyproject.toml`, their descriptions from the first sentences of docstrings.
"""

from __future__ import annotations

import ast
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (ROOT / "core", ROOT / "sandbox", ROOT)
_WIDTH, _HEIGHT, _GAP, _MARGIN = 940, 44, 6, 34
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2933}.name{font-weight:600}"
    "rect{fill:#eef2ff;stroke:#8496d8}.arrow{stroke:#6b7280;fill:none;stroke-width:1.5}"
)


def floors() -> list[list[str]]:
    """List the layers from the top, each a list of modules side by side."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers: list[str] = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [layer.split(" | ") for layer in layers]


def picture() -> str:
    """Draw the layers as SVG, with an arrow for the direction of imports."""
    rows = floors()
    height = len(rows) * (_HEIGHT + _GAP) + _GAP
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
            'aria-label="Layers of the code; imports point down">'
        ),
        f"<style>{_STYLE}</style>",
        (
            '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="4" refY="4" '
            'orient="auto"><path d="M0 0 8 4 0 8z" fill="#6b7280"/></marker></defs>'
        ),
        f'<path class="arrow" d="M14 {_GAP + 8}V{height - 14}" marker-end="url(#tip)"/>',
    ]
    for number, row in enumerate(rows):
        parts += _row(row, _GAP + number * (_HEIGHT + _GAP))
    return "\n".join([*parts, "</svg>", ""])


def _row(names: list[str], top: int) -> list[str]:
    room = _WIDTH - _MARGIN - _GAP
    width = (room - _GAP * (len(names) - 1)) / len(names)
    return [
        _box(name, _MARGIN + place * (width + _GAP), top, width) for place, name in enumerate(names)
    ]


def _box(name: str, left: float, top: int, width: float) -> str:
    short = name.removeprefix("webtools.")
    text = purpose(name) if width > _WIDTH / 2 else ""
    return (
        f'<rect x="{left:.0f}" y="{top}" width="{width:.0f}" height="{_HEIGHT}" rx="6"/>'
        f'<text class="name" x="{left + 12:.0f}" y="{top + 27}">{escape(short)}</text>'
        f'<text x="{left + 170:.0f}" y="{top + 27}">{escape(text)}</text>'
    )


def purpose(name: str) -> str:
    """Return the first sentence of a module's docstring."""
    path = name.replace(".", "/")
    files = (root / tail for root in FOLDERS for tail in (f"{path}.py", f"{path}/__init__.py"))
    text = next(file.read_text(encoding="utf-8") for file in files if file.is_file())
    docstring = ast.get_docstring(ast.parse(text)) or ""
    return " ".join(docstring.partition("\n\n")[0].replace("`", "").split())


if __name__ == "__main__":
    print(picture())
