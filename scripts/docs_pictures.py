"""Draws the pictures of the documentation, or tells which of them are stale.

    python scripts/docs_pictures.py            write them into docs/images
    python scripts/docs_pictures.py --check    change nothing; exit code 1 if any is stale

They show what the command and a notebook print over the sandbox as it is installed. So that they
are the same on every machine, the time of a call and how long it took are set. They need rich, lxml
and matplotlib in the versions of `constraints.txt`, and Python 3.11, whose documentation the
sandbox serves.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from datetime import date
from html import escape
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
from lxml import etree, html
from matplotlib import pyplot as plt
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI, TerminalTheme
from rich.text import Text

from webtools import SearchResponse, WebTools
from webtools_sandbox import SandboxServer

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs/images"
QUESTION = "How do I read a zip file in Python?"
_COLUMNS = 100
_THEMES = {"light": DEFAULT_TERMINAL_THEME, "dark": MONOKAI}
_CHANGING = {
    re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"): "2026-11-20 09:30 UTC",
    re.compile(r"(?:< )?\d+\.\d s\b"): "0.2 s",
    re.compile(r"\bwebtools-[0-9a-f]{8}\b"): "webtools",  # anchors, made from all of a response
}
_PAPERS = {  # what the themes of JupyterLab name
    "light": {
        "layout-color0": "#ffffff",
        "ui-font-color0": "#1f1f1f",
        "ui-font-color2": "#616161",
        "border-color2": "#e0e0e0",
    },
    "dark": {
        "layout-color0": "#111111",
        "ui-font-color0": "#ffffff",
        "ui-font-color2": "#9e9e9e",
        "border-color2": "#424242",
        "content-link-color": "#64b5f6",
    },
}
_CELL = {"width": 760, "height": 720}


def is_reproducible() -> bool:
    """Return whether Python is 3.11 and the libraries that draw are those of `constraints.txt`."""
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    is_pinned = all(f"{name}=={version(name)}" in pinned for name in ("rich", "matplotlib"))
    return is_pinned and sys.version_info[:2] == (3, 11)


def pictures() -> dict[str, str]:
    """Return every picture by the name of its file."""
    with (
        SandboxServer(
            docs_url="https://docs.python.org/3",
            news_url="https://news.example",
            today=date(2026, 11, 20),
        ) as sandbox,
        TemporaryDirectory() as folder,
    ):
        log = {"enabled": True, "path": str(Path(folder, "log.ndjson"))}
        path = Path(folder, "web-search.json")
        path.write_text(
            json.dumps({**sandbox.config(), "log": log, "cache": {"enabled": False}}),
            encoding="utf-8",
        )
        path.chmod(0o600)
        with WebTools(path) as web:
            found = {**_charts(web), **_notebook(web)}
        return {**dict(_terminal(path)), **found}


def _without_changes(text: str) -> str:
    for pattern, instead in _CHANGING.items():
        text = pattern.sub(instead, text)
    return text


# --- the terminal ------------------------------------------------------------------------------


def _terminal(config: Path) -> Iterator[tuple[str, str]]:
    printed = _without_changes(_printed(config))
    for name, theme in _THEMES.items():
        yield f"terminal-{_COLUMNS}-{name}.svg", _screen(printed, theme)


def _printed(config: Path) -> str:
    """Return what the command prints on a terminal of its own."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, _COLUMNS, 0, 0))
    command = [sys.executable, "-m", "webtools", "web-deep", QUESTION, "--config", str(config)]
    dropped = {"NO_COLOR", "COLUMNS"}
    environment = {key: value for key, value in os.environ.items() if key not in dropped}
    with subprocess.Popen(  # noqa: S603  our own command
        command,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**environment, "TERM": "xterm-256color"},
    ):
        os.close(theirs)
        written = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return written.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux tells the end
        return b""


def _screen(printed: str, theme: TerminalTheme) -> str:
    console = Console(record=True, width=_COLUMNS, file=StringIO(), force_terminal=True)
    command_line = Text(f'$ webtools web-deep "{QUESTION}"\n', style="bold")
    console.print(command_line, highlight=False)
    console.print(Text.from_ansi(printed.rstrip()), highlight=False)
    console.print()  # the SVG clips the last line
    drawn = console.export_svg(title="", theme=theme, unique_id="webtools")
    local = re.sub(r"@font-face \{.*?\}\n", "", drawn, flags=re.DOTALL)  # no font from elsewhere
    return "\n".join(line.rstrip() for line in local.splitlines() if line.strip()) + "\n"


# --- the notebook ------------------------------------------------------------------------------


def _notebook(web: WebTools) -> dict[str, str]:
    answer = web.research(QUESTION, command="web-deep")
    fragment = html.fromstring(_without_changes(answer._repr_html_()))
    output = etree.tostring(fragment, encoding="unicode", method="xml")
    return {f"notebook-{name}.svg": _cell(output, paper) for name, paper in _PAPERS.items()}


def _cell(output: str, paper: dict[str, str]) -> str:
    colors = "".join(f"--jp-{name}:{color};" for name, color in paper.items())
    width, height = _CELL["width"], _CELL["height"]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="A cell of a notebook">\n'
        f'<foreignObject width="{width}" height="{height}">\n'
        f'<div xmlns="http://www.w3.org/1999/xhtml" style="{colors}'
        f"background:{paper['layout-color0']};color:{paper['ui-font-color0']};"
        f'font:14px system-ui,sans-serif;padding:12px;height:{height - 24}px;overflow:hidden">\n'
        f'<pre style="border:1px solid {paper["border-color2"]};padding:6px 8px;margin:0 0 10px;'
        f'font-size:13px">%web_deep {escape(QUESTION)}</pre>\n'
        f"{output}\n</div>\n</foreignObject>\n</svg>\n"
    )


# --- charts ------------------------------------------------------------------------------------


def _charts(web: WebTools) -> dict[str, str]:
    mpl.use("Agg")
    found = web.search(["read a json file", "zip file", "python"], limit=8)
    web.search("python", provider="brave")
    styles = {"light": "default", "dark": "dark_background"}  # of matplotlib
    return {f"charts-{tone}.svg": _drawn(web, found, name) for tone, name in styles.items()}


def _drawn(web: WebTools, found: SearchResponse, style: str) -> str:
    with plt.style.context([style, {"svg.hashsalt": "webtools", "svg.fonttype": "none"}]):
        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 2.4), layout="constrained")
        found.plot("domains", ax=left)
        found.plot("dates", ax=middle)
        web.plot("cost", ax=right)
        drawn = StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)
    return "\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n"


# --- files -------------------------------------------------------------------------------------


def stale() -> dict[str, str]:
    """Return the pictures whose files are not as they should be."""
    return {
        name: text
        for name, text in pictures().items()
        if not (IMAGES / name).exists() or (IMAGES / name).read_text(encoding="utf-8") != text
    }


def main(arguments: list[str]) -> int:
    """Write or check, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, only report")
    only_report = parser.parse_args(arguments).check
    IMAGES.mkdir(exist_ok=True)
    for name, text in (found := stale()).items():
        if not only_report:
            (IMAGES / name).write_text(text, encoding="utf-8")
        print(f"{'stale' if only_report else 'written'}: docs/images/{name}")
    return int(bool(found) and only_report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
