"""No tool and no provider reads a page that the operator forbids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from offline import Stub, accounts, answer, detached, entry, run

from webtools import WebTools
from webtools._internal.operations.fetch import fetch_pages
from webtools.config import Config
from webtools.errors import ConfigError, InputError, WebToolsError
from webtools.messages import Request, Response
from webtools.providers.operator_domains import OperatorDomains, read_sites
from webtools.providers.protocols import PageQuery
from webtools_sandbox import SandboxServer


def rules(allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> OperatorDomains:
    return OperatorDomains(read_sites(allow) if allow else (), read_sites(deny) if deny else ())


# --- matching ----------------------------------------------------------------------------------

SAME = [
    "http://example.com/",
    "https://EXAMPLE.com/a?b#c",
    "http://example.com./",
    "http://www.example.com/",
    "http://a.b.example.com:8080/",
    "http://ex%61mple.com/",
    "http://\uff45xampl\uff45.com/",
    "http://example\u3002com/",
]
OTHERS = [
    "http://notexample.com/",
    "http://example.com.evil.test/",
    "http://example.org/",
    "http://evil.test/example.com",
    "http://evil.test/?u=example.com",
    "http://evil.test/#example.com",
    "http://192.0.2.7/",
]
UNCLEAR = [
    "http://example.com@evil.test/",
    "http://evil.test@example.com/",
    "http://user:secret-word@example.com/",
    "http://example.com\\@evil.test/",
    "http://evil.test\\.example.com/",
    "http://example.com%2f@evil.test/",
    "http://example.com%00.evil.test/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://example..com/",
    "http://[fe80::1%25eth0]/",
]


@pytest.mark.parametrize(
    "entry",
    ["example.com", "*.example.com", ".example.com", "EXAMPLE.com.", " https://example.com/ "],
)
@pytest.mark.parametrize("url", SAME)
def test_a_host_covers_its_subdomains_in_any_spelling(entry: str, url: str) -> None:
    assert rules(allow=(entry,)).refusal(url) == ""
    assert "fetch.denyDomains" in rules(deny=(entry,)).refusal(url)


@pytest.mark.parametrize("url", OTHERS)
def test_other_hosts_are_not_covered(url: str) -> None:
    assert "fetch.allowDomains" in rules(allow=("example.com",)).refusal(url)
    assert rules(deny=("example.com",)).refusal(url) == ""


@pytest.mark.parametrize("url", UNCLEAR)
def test_a_host_that_two_parsers_might_see_differently_is_refused(url: str) -> None:
    for item in (rules(allow=("example.com",)), rules(deny=("other.test",))):
        fault = item.refusal(url)
        assert fault
        assert "secret-word" not in fault


def test_without_a_rule_nothing_is_refused() -> None:
    assert [url for url in [*SAME, *OTHERS, *UNCLEAR] if rules().refusal(url)] == []


@pytest.mark.parametrize(
    ("entry", "url", "is_same"),
    [
        ("example.com:8080", "http://example.com:8080/", True),
        ("example.com:8080", "http://example.com/", False),
        ("example.com:443", "https://www.example.com/", True),
        ("example.com:80", "https://example.com/", False),
        ("bücher.example", "http://xn--bcher-kva.example/", True),
        ("xn--bcher-kva.example", "http://BÜCHER.example/", True),
        ("192.0.2.1", "http://192.0.2.1/", True),
        ("192.0.2.1", "http://[::ffff:192.0.2.1]/", True),
        ("2001:db8::1", "http://[2001:DB8:0::1]/", True),
        ("[2001:db8::1]:8080", "http://[2001:db8::1]:8080/", True),
        ("com", "http://example.com/", True),
    ],
)
def test_ports_foreign_scripts_and_addresses_are_compared_in_one_spelling(
    entry: str, url: str, is_same: bool
) -> None:
    assert bool(rules(deny=(entry,)).refusal(url)) == is_same


def test_a_denied_host_overrides_an_allowed_one() -> None:
    both = rules(allow=("example.com",), deny=("private.example.com",))
    assert both.refusal("http://www.example.com/") == ""
    assert both.refusal("http://a.private.example.com/")


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "null",
        "*",
        "any",
        "docs",
        "*host",
        "host.*",
        "example.com/path",
        "a b",
        "a@b",
        "a:99999",
        "0x7f.1",
    ],
)
def test_an_entry_that_is_no_host_is_refused(entry: str) -> None:
    config = {"providers": [{"name": "d", "type": "direct"}], "fetch": {"denyDomains": [entry]}}
    with pytest.raises(ConfigError, match=r"fetch\.denyDomains"):
        Config.model_validate(config)


def test_a_host_in_both_lists_is_refused() -> None:
    fetch = {"allowDomains": ["MÜNCHEN.example", "a.example"], "denyDomains": ["b.example"]}
    config = {"providers": [{"name": "d", "type": "direct"}], "fetch": fetch}
    Config.model_validate(config)
    fetch["denyDomains"] += ["*.xn--mnchen-3ya.example."]
    with pytest.raises(ConfigError, match=r"fetch.*xn--mnchen-3ya\.example"):
        Config.model_validate(config)


def test_any_host_may_be_allowed_and_words_for_no_value_are_left_out() -> None:
    assert rules(allow=("*",)).refusal("https://example.com/") == ""
    listed = rules(allow=("null", " ", "example.com"))
    assert listed.refusal("https://example.com/") == ""
    assert listed.refusal("https://example.org/")


@pytest.mark.parametrize("value", [[], [""], ["null"], "example.com", [1], {}])
def test_an_empty_list_is_refused(value: Any) -> None:
    config = {"providers": [{"name": "d", "type": "direct"}], "fetch": {"allowDomains": value}}
    with pytest.raises(ConfigError, match=r"fetch\.allowDomains "):
        Config.model_validate(config)


# --- every tool and provider -------------------------------------------------------------------


def forbidding(server: SandboxServer, **more: Any) -> dict[str, Any]:
    return {**server.config(), "fetch": {"denyDomains": ["127.0.0.1"]}, **more}


def test_no_tool_sends_a_request_for_a_page_that_is_forbidden(
    webtools_sandbox: SandboxServer,
) -> None:
    page = f"{webtools_sandbox.docs_url}/library/json.html"
    with WebTools(forbidding(webtools_sandbox)) as web:
        for call in (
            lambda: web.fetch(page),
            lambda: web.fetch(page, provider="exa"),
            lambda: web.fetch(page, provider="direct"),
            lambda: web.summarize(page),
            lambda: web.summarize(page, provider="kagi"),
        ):
            with pytest.raises(InputError, match='"127.0.0.1"'):
                call()
        result = web.call_tool("web_fetch", {"url": page})
        assert result.is_error
        assert result.details["error"]["type"] == "InputError"
    assert webtools_sandbox.stats()["requests"] == {}


def test_the_pages_that_are_allowed_are_read_beside_one_that_is_not(
    webtools_sandbox: SandboxServer,
) -> None:
    page = f"{webtools_sandbox.docs_url}/library/json.html"
    config = {**webtools_sandbox.config(), "fetch": {"allowDomains": ["127.0.0.1"]}}
    with WebTools(config) as web:
        result = web.fetch(["https://evil.test/a", page])
    assert [item.url for item in result.pages] == ["https://evil.test/a", page]
    assert "fetch.allowDomains" in str(result.pages[0].error)
    assert result.pages[1].text
    [sent] = [item for item in webtools_sandbox.stats()["last"] if item["path"] == "/exa/contents"]
    assert "evil.test" not in str(sent["body"])


def test_a_cached_page_is_not_returned_once_it_is_forbidden(
    webtools_sandbox: SandboxServer, tmp_path: Path
) -> None:
    cache = {"path": str(tmp_path / "cache.sqlite3")}
    page = f"{webtools_sandbox.docs_url}/library/json.html"
    with WebTools({**webtools_sandbox.config(), "cache": cache}) as web:
        assert web.fetch(page).pages[0].text
        assert web.summarize(page).text
    with WebTools(forbidding(webtools_sandbox, cache=cache)) as web:
        for read in (web.fetch, web.summarize):
            with pytest.raises(InputError, match="settings forbid"):
                read(page)


def test_research_reads_no_forbidden_page_and_warns(
    webtools_sandbox: SandboxServer,
) -> None:
    with WebTools(forbidding(webtools_sandbox)) as web:
        result = web.research("how does a heap queue work", command="web-deep")
    assert result.results
    assert result.meta.degraded == []
    assert any('"127.0.0.1"' in warning for warning in result.meta.warnings)
    paths = webtools_sandbox.stats()["requests"]
    assert [item for item in paths if item.startswith("/docs") or "contents" in item] == []


# --- redirects ---------------------------------------------------------------------------------


class Redirecting(Stub):
    """Every host has an address, and one page leads elsewhere."""

    def __init__(self, location: str) -> None:
        super().__init__(Response(302, {"location": location}, b""), answer("a page"))

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        return ("93.184.216.34",)


def hosts(stub: Stub) -> list[str]:
    return [request.url.split("/")[2] for request in stub.requests]


@pytest.mark.parametrize(
    "location",
    [
        "https://secret.example/",
        "//secret.example/x",
        "https://www.SECRET.example:8443/",
        "https://good.example@secret.example/",
        "https://s%65cret.example/",
        "https://secret.example./",
    ],
)
def test_no_redirect_leads_direct_to_a_forbidden_host_nor_a_stand_in(location: str) -> None:
    exa = entry("exa")
    own = {"name": "own", "type": "direct", "fetchFallback": "my-exa"}
    owned = accounts(own, exa, fetch={"denyDomains": ["secret.example"]}, defaultProvider="own")
    stub = Redirecting(location)
    with pytest.raises(WebToolsError) as caught:
        run(
            fetch_pages(owned.chain("fetch"), PageQuery(("https://good.example/a",)), detached()),
            stub,
        )
    assert hosts(stub) == ["good.example"]
    assert "secret" in str(caught.value) or "blocked by webtools" in str(caught.value)


def test_a_redirect_to_an_allowed_host_is_followed() -> None:
    own = {"name": "own", "type": "direct"}
    owned = accounts(own, fetch={"allowDomains": ["good.example"]})
    stub = Redirecting("https://www.good.example/b")
    stub._answers = (stub._answers[0], Response(200, {"content-type": "text/plain"}, b"a page"))
    result = run(
        fetch_pages(owned.chain("fetch"), PageQuery(("https://good.example/a",)), detached()),
        stub,
    )
    assert result.response.pages[0].text == "a page"
    assert hosts(stub) == ["good.example", "www.good.example"]


def test_a_page_from_a_forbidden_host_is_not_returned() -> None:
    own = {"name": "own", "type": "direct"}
    owned = accounts(entry("exa"), own, fetch={"denyDomains": ["secret.example"]})
    query = "https://good.example/a"

    def moved(_: Request) -> Response:
        page = {"id": query, "url": "https://secret.example/b", "text": "hush"}
        return answer({"results": [page], "statuses": [], "costDollars": {"total": 0.001}})

    stub = Stub(moved)
    with pytest.raises(WebToolsError, match=r"secret\.example.*fetch\.denyDomains"):
        run(fetch_pages(owned.chain("fetch"), PageQuery((query,)), detached()), stub)
    assert hosts(stub) == ["api.exa.ai"]
