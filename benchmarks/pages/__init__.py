"""What survives reading a page, beside other readers and an older version of ours.

    pip install --group benchmarks --constraint constraints.txt
    git worktree add ../base c56e9e8c   # with a `.venv` of its own, or its requirements in ours
    python -m benchmarks pages --base ../base --docs DIR --gold DIR --readability DIR \\
        --defuddle DIR --articles DIR [--every N]

Each reader runs in a process of its own; those that are not installed are named. Intervals (95 %)
are a bootstrap over pages. `--every N` takes every Nth page of each set. The sets are not part of
the project:

- `--gold`: `tests` of adbar/trafilatura, with `evaldata.json`, `cache` and `eval`.
- `--readability`: `test/test-pages` of mozilla/readability.
- `--defuddle`: `tests` of kepano/defuddle, with `fixtures` and `expected`.
- `--articles`: scrapinghub/article-extraction-benchmark, as `ground-truth.json` (`{id:
  {articleBody, url}}`) and `html/ID.html.gz`.
- `--docs`: Debian's packages, unpacked with `dpkg -x`: those that `benchmarks/answers/
  documentation.py` names, with python-flask-doc, python-requests-doc, python-tornado-doc,
  python-werkzeug-doc, python-bottle-doc and ghc-doc.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.pages import articles, documentation
from benchmarks.pages.answers import answers
from benchmarks.pages.readers import Reader, Reading, running
from benchmarks.pages.scores import Counts, Figure, Sample, figure
from benchmarks.report import QUICK, Row

Pages = dict[str, dict[str, list[tuple[float, float]]]]  # by measure and reader
CPU = "CPU ms per 100 KB"
_MINIMUM = {"readability, F1": 0.94, "scrapinghub, F1": 0.9}
_MORE_THAN_BASE = {"gold snippets kept"}
_UNJUDGED = {"gold, unwanted", "defuddle, precision", "defuddle, words kept", "headed sections"}
_OWN_PAGE = (
    "<!doctype html><title>Ferries</title><main><h1>Ferries</h1>"
    + "<p>The ferry of the northern route charges for <a href='/t'>seven minutes</a> a day.</p>"
    "<dl><dt><code>speed()</code></dt><dd>Return knots.<pre>def speed():\n\n    return 12\n</pre>"
    "</dd></dl>" * 40
)


def rows(folders: dict[str, Path | None], base: Path | None, every: int) -> Iterator[Row]:
    """Measure the pages in the given folders; without one, a page of our own."""
    with running(base) as (readers, absent):
        for name, reason in absent.items():
            yield Row(f"not compared: {name} ({reason})", "", "", 0, "\u2013", None)
        docs = folders.get("docs")
        if docs:
            found: Pages = defaultdict(lambda: defaultdict(list))
            for counts in answers(docs, readers, every):
                _add(found, counts)
            yield from _rows("", found)
        for name, samples in _sets(folders):
            yield from _rows(name, _measured(islice(samples, 0, _limit(), every), readers))


def _limit() -> int | None:
    return 3 if QUICK else None


def _sets(folders: dict[str, Path | None]) -> Iterator[tuple[str, Iterable[Sample]]]:
    sets = {
        "docs": (documentation.pages, documentation.sections),
        "gold": (articles.gold,),
        "readability": (articles.readability,),
        "articles": (articles.articles,),
        "defuddle": (articles.defuddle,),
    }
    for name, functions in sets.items():
        if folder := folders.get(name):
            for function in functions:
                yield name, function(folder)
    if not any(folders.values()):
        yield "a page of our own", [Sample(_OWN_PAGE.encode(), "https://docs.example/", _length)]


def _length(reading: Reading) -> Counts:
    return {"text of the HTML": (len(reading.text), len(_OWN_PAGE))}


def _measured(samples: Iterable[Sample], readers: Sequence[Reader]) -> Pages:
    found: Pages = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        for reader in readers:
            reading = reader.read(sample.body, sample.url)
            counts = sample.measure(reading)
            counts[CPU] = (reading.seconds * 1e3, len(sample.body) / 1e5)
            _add(found, {reader.name: counts})
    return found


def _add(found: Pages, counts: dict[str, Counts]) -> None:
    for reader, measures in counts.items():
        for measure, count in measures.items():
            found[measure][reader].append(count)


def _rows(name: str, found: Pages) -> Iterator[Row]:
    for measure, pages in found.items():
        figures = {reader: figure(counts) for reader, counts in pages.items()}
        what = f"{measure}, {name}" if measure == CPU else measure
        ours, base = figures.pop("today"), figures.pop("base", None)
        yield _judged(f"{what} ({len(pages['today'])})", measure, ours, base)
        for reader, each in figures.items():
            yield Row(f"    {reader}", "", f"{each}", each.value, "\u2013", None)


def _judged(what: str, measure: str, ours: Figure, base: Figure | None) -> Row:
    target, reached = "\u2013", None
    if limit := _MINIMUM.get(measure):
        target, reached = f"≥ {limit}", ours.value >= limit
    elif base and measure == CPU:
        target, reached = "≤ base", ours.value <= base.value
    elif base and measure in _MORE_THAN_BASE:
        target, reached = "≥ base, and more", ours.value > base.value
    elif base and measure not in _UNJUDGED:
        target, reached = "≥ base", ours.value >= base.value
    return Row(what, f"{ours}  ", f"{base or ''}", ours.value, target, reached)
