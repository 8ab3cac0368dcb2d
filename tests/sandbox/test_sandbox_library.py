from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from webtools_sandbox import stdlib_docs
from webtools_sandbox.keys import KeyRing
from webtools_sandbox.library import Filters, Library, under_domain


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
    "url",
    [
        "https://docs.python.org/3/library/json.html",
        "https://docs.python.org/3.12/library/json.html#json.loads",
        "http://Docs.Python.org/3/library/json.html?highlight=loads",
    ],
)
def test_a_url_of_docs_python_org_finds_the_page_of_that_name(library: Library, url: str) -> None:
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
def test_other_urls_of_docs_python_org_are_unknown(library: Library, url: str) -> None:
    assert library.find(url) is None


@pytest.mark.parametrize("domain", ["docs.python.org", "python.org", "docs.python.org/3/library"])
def test_a_filter_for_docs_python_org_keeps_its_pages(library: Library, domain: str) -> None:
    found = library.search("json", Filters(include_domains=(domain,)))
    urls = [library.url(hit.document) for hit in found]
    assert "https://docs.python.org/3/library/json.html" in urls
    assert all(url.startswith("https://docs.python.org/3/library/") for url in urls)
    assert all(library.find(url) is not None for url in urls)
    left = library.search("json", Filters(exclude_domains=(domain,)))
    assert "library/json.html" not in [hit.document.path for hit in left]


def test_the_sandboxs_domain_is_preferred_to_docs_python_org(library: Library) -> None:
    own = library.bases["docs"]
    found = library.search("json", Filters(include_domains=("docs.python.org", own)))
    assert found
    assert all(library.url(hit.document).startswith(own) for hit in found)


@pytest.mark.parametrize(
    ("key", "key_status"),
    [
        ("test-key-exa", "valid"),
        ("mine", "valid"),
        ("test-key-exa-no-credit", "no_credit"),
        ("anything-no-credit", "no_credit"),
        ("test-key-kagi-v0-no-credit", "unknown"),
        ("test-key-kagi-v0", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_key_is_valid_for_its_own_api_only(key: str, key_status: str) -> None:
    assert KeyRing(["mine"]).check("test-key-exa", key) == key_status


def text_of(name: str) -> str:
    page = stdlib_docs.read_page(name)
    assert page is not None
    return page.text


def test_pages_have_signatures_code_and_parameters() -> None:
    wanted = {
        "csv": ["csv.DictReader(f, fieldnames=None", "`csv.field_size_limit("],
        "hashlib": ["`hashlib.scrypt(password, *, salt", "- `salt`: Random bytes"],
        "secrets": ["`secrets.token_urlsafe(nbytes=None)`", "token = secrets.token_urlsafe(32)"],
        "json": [">>> json.dumps([1,2,3,mydict], separators=(',', ':'))\n'[1,2,3,"],
        "zlib": ["`zlib.compress(data, /, level=-1", "- `data`: Binary data to be compressed."],
        "heapq": ["`heapq.heappush(heap, item, /)`"],
        "zoneinfo": ["class zoneinfo.ZoneInfo"],
        "concurrent.futures": ["class concurrent.futures.ThreadPoolExecutor("],  # a lazy import
        "logging": ["`logging.shutdown(handlerList=[...])`"],  # the handlers of this process
    }
    for name, parts in wanted.items():
        text = text_of(name)
        assert [part for part in parts if part not in text] == [], name
    assert text_of("secrets").count("# `secrets.token_urlsafe(") == 1  # ours goes before theirs


GUIDES = sorted(Path(stdlib_docs.__file__).parent.glob("data/guides/*.md"))


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_the_examples_of_a_guide_run(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    shown = "\n\n".join(block for block in blocks if block.startswith(">>>"))
    for block in blocks:
        if not block.startswith(">>>"):
            compile(block, str(path), "exec")
    test = doctest.DocTestParser().get_doctest(shown, {}, path.stem, str(path), 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
    assert path.stem in stdlib_docs.MODULES
