from __future__ import annotations

import json
import sys
import sysconfig
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webtools_sandbox import digest, stdlib_docs
from webtools_sandbox.apis import APIS
from webtools_sandbox.corpus import Corpus, Document, query_terms, standard_corpus
from webtools_sandbox.keys import GOOD, NO_CREDIT, UNKNOWN, KeyRing
from webtools_sandbox.library import Filters, Library, moment, under_domain
from webtools_sandbox.wire import Call

if TYPE_CHECKING:
    from collections.abc import Callable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    str.split(
        "query q url urls text pages contents highlights type category numResults limit page"
        " filters extract workflow format includeDomains excludeDomains startPublishedDate"
        " includeText additionalQueries subpages engine summary_type excludeSourceDomain"
    )
)
ROUTES = [
    ("exa", "/search", "Bearer test-key-exa"),
    ("exa", "/contents", "Bearer test-key-exa"),
    ("exa", "/findSimilar", "Bearer test-key-exa"),
    ("kagi", "/api/v1/search", "Bearer test-key-kagi-v1"),
    ("kagi", "/api/v1/extract", "Bearer test-key-kagi-v1"),
    ("kagi", "/api/v0/summarize", "Bot test-key-kagi-v0"),
    ("kagi", "/api/v0/fastgpt", "Bot test-key-kagi-v0"),
]


@pytest.mark.parametrize(("api", "path", "auth"), ROUTES)
@given(body=st.dictionaries(FIELDS, JSON) | JSON)
@settings(max_examples=60, deadline=None)
def test_no_body_makes_an_api_stumble(
    library: Library, api: str, path: str, auth: str, body: object
) -> None:
    headers = {"authorization": auth, "content-type": "application/json"}
    made = APIS[api](library, KeyRing())
    reply = made.answer(Call("POST", path, "", headers, json.dumps(body).encode()))
    assert reply.status in {200, 400}
    assert reply.content_type.startswith(("application/json", "text/markdown"))


def test_the_corpus_is_large_real_and_built_once() -> None:
    corpus = standard_corpus()
    assert corpus is standard_corpus()
    paths = [document.path for document in corpus.documents]
    assert len(paths) == len(set(paths)) > 180
    assert {"library/json.html", "library/itertools.html", "reference/with.html"} <= set(paths)
    assert sum(document.published is not None for document in corpus.documents) >= 20


def test_rare_words_and_titles_weigh_more() -> None:
    common = Document("docs", "a", "Common", "word word rare")
    titled = Document("docs", "b", "Rare", "word word word")
    other = Document("docs", "c", "Other", "word word word")
    hits = Corpus([common, titled, other]).search("the rare word")
    assert [hit.document.path for hit in hits] == ["b", "a", "c"]


def test_equal_scores_keep_the_order_of_the_corpus() -> None:
    twins = [Document("docs", str(number), "", "same text") for number in range(5)]
    assert [hit.document.path for hit in Corpus(twins).search("text")] == list("01234")


def test_stop_words_count_only_when_there_is_nothing_else() -> None:
    assert query_terms("How do I parse the JSON json?") == ["parse", "json"]
    assert query_terms("how is it") == ["how", "is", "it"]


def test_a_repeated_search_comes_from_the_cache(library: Library) -> None:
    first = library.search("asyncio queue", Filters(collection="docs"))
    assert library.search("asyncio queue", Filters(collection="docs")) is first


@pytest.mark.parametrize(
    ("domain", "inside"),
    [
        ("docs.example", True),
        ("example", True),
        ("DOCS.example", True),
        ("*.example", True),
        ("https://docs.example/", True),
        ("docs.example/library", True),
        ("docs.example/library/json", True),
        ("docs.example:8080", True),
        ("cs.example", False),
        ("news.example", False),
        ("docs.example/lib", False),
    ],
)
def test_a_domain_is_a_host_with_its_subdomains_and_a_path(domain: str, inside: bool) -> None:
    assert under_domain("https://docs.example:8080/library/json.html", domain) is inside


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-03-04", "2026-03-04T00:00:00+00:00"),
        ("2026-03-04T10:00:00", "2026-03-04T10:00:00+00:00"),
        ("2026-03-04T10:00:00.000Z", "2026-03-04T10:00:00+00:00"),
        ("2026-03-04T10:00:00.12345+02:00", "2026-03-04T10:00:00+02:00"),
    ],
)
def test_moments_are_read_in_every_form(text: str, iso: str) -> None:
    assert moment(text).isoformat() == iso


def test_the_end_of_a_day_belongs_to_it() -> None:
    end = moment("2026-03-04", end_of_day=True)
    assert end < datetime(2026, 3, 5, tzinfo=UTC) <= end + timedelta(seconds=1)


@pytest.mark.parametrize(
    "url",
    [
        "https://docs.python.org/3/library/json.html",
        "https://docs.python.org/3.12/library/json.html#json.loads",
        "http://Docs.Python.org/3/library/json.html?highlight=loads",
    ],
)
def test_a_page_of_the_python_documentation_is_the_one_of_that_name(
    library: Library, url: str
) -> None:
    found = library.find(url)
    assert found is not None
    assert library.url(found) == f"{library.bases['docs']}/library/json.html"


@pytest.mark.parametrize(
    "url",
    [
        "https://docs.python.org/3/library/nothing.html",
        "https://docs.python.org/2/library/json.html",
        "https://docs.python.org/library/json.html",
        "https://evil.example/https://docs.python.org/3/library/json.html",
    ],
)
def test_other_addresses_of_that_host_are_unknown(library: Library, url: str) -> None:
    assert library.find(url) is None


@pytest.mark.parametrize("domain", ["docs.python.org", "python.org", "docs.python.org/3/library"])
def test_a_domain_of_the_python_documentation_has_its_pages(library: Library, domain: str) -> None:
    found = library.search("json", Filters(include_domains=(domain,)))
    urls = [library.url(hit.document) for hit in found]
    assert "https://docs.python.org/3/library/json.html" in urls
    assert all(url.startswith("https://docs.python.org/3/library/") for url in urls)
    assert all(library.find(url) is not None for url in urls)
    left = library.search("json", Filters(exclude_domains=(domain,)))
    assert "library/json.html" not in [hit.document.path for hit in left]


def test_the_own_domain_goes_before_that_of_the_python_documentation(library: Library) -> None:
    own = library.bases["docs"]
    found = library.search("json", Filters(include_domains=("docs.python.org", own)))
    assert found
    assert all(library.url(hit.document).startswith(own) for hit in found)


def test_an_address_that_cannot_be_parsed_is_unknown(library: Library) -> None:
    assert library.find("http://[") is None


@pytest.mark.parametrize(
    ("key", "standing"),
    [
        ("test-key-exa", GOOD),
        ("mine", GOOD),
        ("test-key-exa-no-credit", NO_CREDIT),
        ("anything-no-credit", NO_CREDIT),
        ("test-key-kagi-v0-no-credit", UNKNOWN),
        ("test-key-kagi-v0", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_a_key_opens_its_own_api_only(key: str, standing: object) -> None:
    assert KeyRing(["mine"]).check("test-key-exa", key) is standing


def test_sentences_leave_out_headings_and_code() -> None:
    text = "# Title\n\nOne thing. Two\nthings!\n\n>>> code()\n\n    indented\n\nThird?"
    assert digest.sentences(text) == ["One thing.", "Two things!", "Third?"]


@pytest.mark.parametrize("short", [digest.summary, digest.takeaways])
def test_a_page_without_prose_still_has_a_summary(short: Callable[[str], str]) -> None:
    assert "# only a heading" in short("# only a heading")


def test_a_title_ends_where_its_sentence_does() -> None:
    titles = {document.path: document.title for document in standard_corpus().documents}
    heapq = "heapq — Heap queue algorithm (a.k.a. priority queue)"
    assert titles["library/heapq.html"] == heapq
    for title in titles.values():
        assert title.count('"') % 2 == 0, title
        assert title.count("(") == title.count(")"), title


def test_clipping_prefers_a_space() -> None:
    assert digest.clip("one two three", 8) == "one two"
    assert digest.clip("abcdefghij", 4) == "abcd"
    assert digest.clip("short", None) == "short"


def test_a_missing_module_or_reference_is_skipped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stdlib_docs, "SOURCE_MODULES", ["none_such"])
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"stdlib": str(tmp_path)})
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    names = [page.path for page in stdlib_docs.read_pages()]
    assert names == [f"library/{name}.html" for name in stdlib_docs.C_MODULES]


def test_a_source_page_has_headings_signatures_and_the_author(tmp_path: Path) -> None:
    source = (
        '"""Do things. More."""\n__author__ = "A. Person <a@b.example>"\n'
        'def run(x, *, y=1):\n    """Run."""\n'
        'class Tool:\n    """A tool."""\n    def use(self):\n        """Use it."""\n'
        "    def _hidden(self): pass\n"
    )
    (tmp_path / "thing.py").write_text(source)
    page = stdlib_docs.page_from_source("thing", tmp_path)
    assert page == stdlib_docs.Page(
        "library/thing.html",
        "thing — Do things",
        "A. Person",
        "Do things. More.\n\n## thing.run(x, *, y=1)\n\nRun.\n\n"
        "## class thing.Tool\n\nA tool.\n\n### Tool.use(self)\n\nUse it.",
    )
