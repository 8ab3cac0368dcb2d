"""Responses in a real browser: nothing runs, nothing is fetched, and it can be read everywhere."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import notebook_samples as samples
import pytest
from markdown_it import MarkdownIt

SNAPSHOTS = Path(__file__).parent / "snapshots"
CHROMIUM = next(
    filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), ""
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs chromium: apt-get install chromium")

WIDTHS = [360, 1280]
DARK = "--blink-settings=preferredColorScheme=0"
LIGHT = "--blink-settings=preferredColorScheme=1"
# What JupyterLab's dark theme names, and what it says about tables and links in outputs.
LAB = """
:root { --jp-layout-color0: #111111; --jp-ui-font-color0: rgba(255, 255, 255, 1);
  --jp-ui-font-color2: rgba(255, 255, 255, 0.54); --jp-border-color2: #424242;
  --jp-content-link-color: #64b5f6; }
.out table { table-layout: fixed; margin: 0 auto; border: none; font-size: 13px; }
.out td, .out th, .out tr { text-align: right; vertical-align: middle; border: none; }
.out tbody tr:nth-child(odd) { background: #2196f3; }
.out a:link { text-decoration: none; }
"""
PROBE = """
<script>
function act() {
  const run = [...document.querySelectorAll('.out *')];
  for (const kind of ['mouseover', 'mouseenter', 'focus', 'error', 'load'])
    run.forEach(one => one.dispatchEvent(new Event(kind, {bubbles: true})));
  run.filter(one => one.tagName != 'A').forEach(one => one.click());
  document.querySelectorAll('details').forEach(one => { one.open = true; });
  setTimeout(() => { document.body.dataset.probed = JSON.stringify({
    handlers: run.flatMap(one => one.getAttributeNames()).filter(one => one.startsWith('on')),
    schemes: [...new Set([...document.links].map(one => one.protocol))].sort(),
    loaded: performance.getEntriesByType('resource').map(one => one.name),
  }); }, 1000);
}
act();
</script>
"""
MEASURE = """
<script>
onload = () => {
  const report = {};
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument, root = page.querySelector('.webtools-shown');
    const style = one => frame.contentWindow.getComputedStyle(one);
    const texts = [...root.querySelectorAll('*')].filter(
      one => one.tagName != 'STYLE' && [...one.childNodes].some(part => part.nodeType == 3));
    report[frame.name] = {
      text: root.innerText,
      wide: page.documentElement.scrollWidth - page.documentElement.clientWidth,
      back: style(root).backgroundColor,
      colors: [...new Set(texts.map(one => style(one).color))],
      rows: [...new Set([...root.querySelectorAll('tbody tr')].map(
        one => style(one).display + ' ' + style(one).backgroundColor))],
      aligned: [...new Set([...root.querySelectorAll('td:nth-child(2)')].map(
        one => style(one).textAlign))],
    };
  }
  document.body.textContent = JSON.stringify(report);
};
</script>
"""


@dataclass
class Site:
    """Serves pages and remembers every request."""

    pages: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    origin: str = ""

    def reset(self) -> None:
        self.pages.clear()
        self.requests.clear()


@pytest.fixture(scope="module")
def _site() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(self.path)
            body = site.pages.get(self.path, "").encode("utf-8", "replace")
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.origin = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def site(_site: Site) -> Site:
    _site.reset()
    return _site


def page(content: str, more: str = "", style: str = "") -> str:
    return (
        "<!doctype html><html><head><meta charset=utf-8><title>safe</title>"
        '<meta name=viewport content="width=device-width"><link rel=icon href="data:,">'
        f"<style>body {{ margin: 0 }} {style}</style></head>"
        f"<body><div class=out>{content}</div>{more}</body></html>"
    )


def browse(url: str, folder: Path, *flags: str) -> str:
    """Load a page, let three seconds pass in it, and return its document."""
    command = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *(f"--user-data-dir={folder}", "--window-size=1400,900", "--virtual-time-budget=3000"),
        *(*flags, "--dump-dom", url),
    ]
    ran = subprocess.run(command, capture_output=True, timeout=180, check=True)
    return ran.stdout.decode()


def probe(dom: str) -> dict[str, Any]:
    match = re.search(r'data-probed="([^"]*)"', dom)
    assert match, dom[-2000:]
    report: dict[str, Any] = json.loads(html.unescape(match[1]))
    return report


def title(dom: str) -> str:
    match = re.search(r"<title>(.*?)</title>", dom)
    return match[1] if match else ""


def test_nothing_hostile_runs_and_nothing_is_fetched(site: Site, tmp_path: Path) -> None:
    responses = samples.hostile(site.origin).values()
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    content = "".join(one._repr_html_() for one in responses)
    content += "".join(markdown.render(one._repr_markdown_()) for one in responses)
    site.pages["/"] = page(content, PROBE)
    dom = browse(f"{site.origin}/", tmp_path)
    report = probe(dom)
    assert title(dom) == "safe"
    assert site.requests == ["/"]
    assert report["handlers"] == []
    assert report["loaded"] == []
    assert set(report["schemes"]) <= {"http:", "https:"}


def test_the_same_texts_do_harm_without_escaping(site: Site, tmp_path: Path) -> None:
    site.pages["/"] = page("".join(samples.hostile_texts(site.origin)[:2]), PROBE)
    dom = browse(f"{site.origin}/", tmp_path)
    assert title(dom) == "pwned"
    assert {"/pwned", "/pwned.png"} <= set(site.requests)


def scenes(origin: str, style: str) -> Iterator[tuple[str, str]]:
    every = samples.NORMAL | {f"hostile-{k}": one for k, one in samples.hostile(origin).items()}
    for name, response in every.items():
        yield name, page(response._repr_html_(), style=style)


def measure(site: Site, folder: Path, *flags: str, style: str = "") -> dict[str, Any]:
    frames = ""
    for name, content in scenes(site.origin, style):
        site.pages[f"/{name}"] = content
        for width in WIDTHS:
            frames += (
                f'<iframe name="{name}-{width}" src="/{name}" '
                f'style="width:{width}px;height:900px;border:0"></iframe>'
            )
    site.pages["/"] = page(frames, MEASURE)
    dom = browse(f"{site.origin}/", folder, *flags)
    report: dict[str, Any] = json.loads(
        html.unescape(dom.partition("<body>")[2].partition("</body>")[0])
    )
    return report


def channels(color: str) -> list[float]:
    return [float(part) for part in re.findall(r"[\d.]+", color)]


def luminance(rgb: list[float]) -> float:
    linear = [
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in rgb
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(color: str, back: str) -> float:
    """The contrast ratio of WCAG for a colour, which may be translucent."""
    below, front = channels(back), channels(color)
    opacity = front[3] if len(front) > 3 else 1.0
    mixed = [a * opacity + b * (1 - opacity) for a, b in zip(front, below, strict=False)]
    bright, dark = sorted([luminance(mixed[:3]), luminance(below[:3])], reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("flag", "style", "is_dark"),
    [(LIGHT, "", False), (DARK, "", True), (LIGHT, LAB, True)],
    ids=["light", "dark", "jupyter-dark"],
)
def test_results_are_readable_in_every_theme_and_width(
    site: Site, tmp_path: Path, flag: str, style: str, is_dark: bool
) -> None:
    report = measure(site, tmp_path, flag, style=style)
    if (flag, style) == (LIGHT, ""):
        assert_reads_as_before(report)
    assert len(report) == len(WIDTHS) * len(list(scenes("", "")))
    for name, seen in report.items():
        assert seen["wide"] == 0, name
        assert (luminance(channels(seen["back"])) < 0.1) is is_dark, name
        for color in seen["colors"]:
            assert contrast(color, seen["back"]) >= 4.5, (name, color)
        shape = "block" if name.endswith("-360") else "table-row"
        assert set(seen["rows"]) <= {f"{shape} rgba(0, 0, 0, 0)"}, name
        assert set(seen["aligned"]) <= {"start"}, name


def assert_reads_as_before(report: dict[str, Any]) -> None:
    for name in samples.NORMAL:
        for width in WIDTHS:
            path = SNAPSHOTS / f"{name}-{width}.txt"
            lines = report[f"{name}-{width}"]["text"].split("\n")
            text = "\n".join(line.rstrip() for line in lines) + "\n"
            if os.environ.get("WEBTOOLS_UPDATE_SNAPSHOTS"):
                path.write_text(text, encoding="utf-8", newline="\n")
            assert text == path.read_text(encoding="utf-8")
