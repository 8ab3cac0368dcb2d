"""Any answer is checked: against pages, passages or URLs, and by a model that has to quote."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from webtools import InputError, Page, Passage, Verified, WebTools, WebToolsError
from webtools._internal.operations.answer_verification import Text
from webtools.synthesis import ModelVerifier, Source
from webtools_sandbox import SandboxServer

URL = "https://a.example/pool"
TEXT = (
    "Vellmouth opened its sea-water pool on Saturday morning. The council had voted for it in 2015."
    "\n\nThe basin needs no pumps."
)
PAGE = Page(url=URL, title="Pool", text=TEXT)
QUOTED = "The basin needs no pumps. [1]"
LOOSE = "It was Saturday when the people of Vellmouth could use their new pool. [1]"
SENTENCE = "Vellmouth opened its sea-water pool on Saturday morning."


def statuses(report: Verified) -> list[str]:
    return [claim.status for claim in report.claims]


@pytest.mark.parametrize(
    "source",
    [
        PAGE,
        Passage(text=TEXT, heading="Pool", url=URL),
        Source(1, "Pool", URL, TEXT),
    ],
)
async def test_pages_passages_and_sources_need_no_settings(source: Any) -> None:
    with WebTools() as web:
        for report in (
            web.verify(QUOTED, [source]),
            web.verify(QUOTED, source),
            await web.averify(QUOTED, [source]),
        ):
            assert statuses(report) == ["quoted"]
            [where] = report.claims[0].citations
            assert (where.url, where.title) == (URL, "Pool")
            assert where.quotation in TEXT
            assert (report.cost_usd, report.warnings) == (0.0, [])


@pytest.mark.parametrize(
    ("answer", "sources", "named"),
    [
        (" ", [PAGE], "answer"),
        ("It rains. [1]", [], "sources"),
        ("It rains. [1]", ["file:///etc/passwd"], "file:///etc/passwd"),
        ("It rains. [1]", ["python.org"], "https://python.org"),
    ],
)
def test_an_uncheckable_answer_is_an_input_error(
    answer: str, sources: list[Any], named: str
) -> None:
    with WebTools() as web, pytest.raises(InputError, match=named):
        web.verify(answer, sources)


def test_urls_are_read_and_an_unreadable_one_is_reported() -> None:
    with SandboxServer() as server:
        page = next(item for item in _pages(server) if "tidal-pool" in item)
        config = server.config()
        gone = page.replace("tidal", "no-such")
        with WebTools(config=config) as web:
            text = "The swimming club will run lessons for children from April. [1] It rains. [2]"
            report = web.verify(text, [page, gone])
            assert statuses(report) == ["quoted", "unsupported"]
            assert any(gone in warning for warning in report.warnings)
            cited = web.verify(f"{text.partition(' [')[0]} ({page})", fetch=True)
            assert statuses(cited) == ["quoted"]


async def test_a_url_of_the_answer_is_requested_only_if_the_caller_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever form the answer cites in, not even the name is looked up."""
    names: list[str] = []

    def getaddrinfo(host: str, *_: Any, **__: Any) -> Any:
        names.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr("socket.getaddrinfo", getaddrinfo)
    cited = "https://other.example/x?d=secret"
    forms = (f"[a]({cited})", f"({cited})", f"[1]\n\n[1]: {cited}", f"\n\nSources:\n- {cited}")
    config = {"providers": [{"name": "direct", "type": "direct"}], "cache": {"enabled": False}}
    with WebTools(config=config) as web:
        for form in forms:
            answer = f"{SENTENCE} {form}"
            for sources in ([], [Page(url=URL, title="Pool", text="It rains.")]):
                for report in (web.verify(answer, sources), await web.averify(answer, sources)):
                    assert statuses(report) == ["unsupported"]
                    assert report.warnings
            assert names == []
            report = web.verify(answer, PAGE, fetch=True)
            assert report.warnings
            assert set(names) == {"other.example"}
            names.clear()
            with pytest.raises(WebToolsError):
                await web.averify(answer, fetch=True)
            assert set(names) == {"other.example"}
            names.clear()


@pytest.mark.parametrize(
    "url", ["https://[2606:zz]/six", "https://", "https://a.example:99999/", "https://[::1%25x]/"]
)
def test_a_url_of_the_answer_that_is_none_is_not_read(url: str) -> None:
    with WebTools({"providers": [{"name": "direct", "type": "direct"}]}) as web:
        for answer in (f"{SENTENCE} [a]({url})", f"{SENTENCE} ({url})"):
            assert url not in web.verify(answer, PAGE, fetch=True).citations


def _pages(server: SandboxServer) -> list[str]:
    with WebTools(config=server.config()) as web:
        return [item.url for item in web.search("Vellmouth tidal pool opens").results]


# --- a model -----------------------------------------------------------------------------------


def model(*verdicts: dict[str, Any] | str) -> tuple[ModelVerifier, list[str]]:
    prompts: list[str] = []
    text = "\n".join(item if isinstance(item, str) else json.dumps(item) for item in verdicts)

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return text

    async def aask(prompt: str) -> str:
        return ask(prompt)

    return ModelVerifier(ask, aask), prompts


def verify_with_model(answer: str, *verdicts: dict[str, Any] | str) -> Verified:
    with WebTools() as web:
        return web.verify(answer, [PAGE], verifier=model(*verdicts)[0])


def verdict(quotation: str, *, supported: bool = True) -> dict[str, Any]:
    return {"claim": 1, "supported": supported, "quotation": quotation}


def test_a_claim_is_supported_by_a_model_whose_quotation_is_in_the_source() -> None:
    report = verify_with_model(
        LOOSE, "Sure:", verdict(SENTENCE.replace(" its ", "\n its ")), "{no json}"
    )
    [claim] = report.claims
    assert (claim.status, claim.nearest, claim.reasons) == ("supported", None, [])
    assert claim.citations[0].quotation == SENTENCE
    assert report.summary == LOOSE


@pytest.mark.parametrize(
    ("claim", "quotation"),
    [
        ("Not a single pump is wanted by the basin. [1]", "The basin needs no pumps."),
        ("Swimmers rejoiced. [1]", SENTENCE),
        ("On Saturday morning the pool was opened by Vellmouth. [1]", SENTENCE),
    ],
)
def test_a_model_judges_negation_synonyms_and_tense(claim: str, quotation: str) -> None:
    assert statuses(verify_with_model(claim, verdict(quotation))) == ["supported"]


@pytest.mark.parametrize(
    ("answer", "said", "status"),
    [
        (LOOSE, verdict("Vellmouth opened its famous pool on Saturday."), "uncertain"),
        (LOOSE, verdict("on Saturday"), "uncertain"),
        (LOOSE, verdict("The basin needs no pumps."), "uncertain"),
        (LOOSE, verdict("", supported=False), "uncertain"),
        ("Bakers eat bread. [1]", verdict("", supported=False), "unsupported"),
        (
            "Vellmouth and Tolland opened a pool on Saturday morning. [1]",
            verdict(SENTENCE),
            "uncertain",
        ),
        ("The pool of Vellmouth opened in 2015. [1]", verdict(SENTENCE), "uncertain"),
        (LOOSE, "I cannot tell.", "uncertain"),
        (LOOSE, {"claim": 9, "supported": True, "quotation": SENTENCE}, "uncertain"),
        (LOOSE, {"claim": "1", "supported": "yes"}, "uncertain"),
        ("Vellmouth opened 17 pools on that Saturday. [1]", verdict(SENTENCE), "uncertain"),
        (LOOSE.replace("[1]", ""), verdict(SENTENCE), "unsupported"),
        (QUOTED, verdict("", supported=False), "quoted"),
    ],
)
def test_a_verdict_needs_a_quotation_of_the_source(answer: str, said: Any, status: str) -> None:
    assert statuses(verify_with_model(answer, said)) == [status]


async def test_a_model_judges_only_claims_that_are_not_quoted_in_one_request() -> None:
    verifier, prompts = model(verdict(SENTENCE))
    with WebTools() as web:
        report = await web.averify(f"{QUOTED} {LOOSE} {QUOTED}", [PAGE], verifier=verifier)
        assert statuses(report) == ["quoted", "supported", "quoted"]
        web.verify(QUOTED, [PAGE], verifier=verifier)
    [prompt] = prompts
    fences = [row for row in prompt.splitlines() if row.startswith("----- ")]
    assert len(fences) == 2
    assert "1. It was Saturday" in prompt
    assert "\n    The basin needs no pumps." in prompt


def test_a_failing_model_does_not_change_claims() -> None:
    def broken(_: str) -> str:
        raise ValueError("no such model")

    async def abroken(prompt: str) -> str:
        return broken(prompt)

    with WebTools() as web:
        report = web.verify(LOOSE, [PAGE], verifier=ModelVerifier(broken, abroken))
    assert statuses(report) == ["uncertain"]
    assert "no such model" in report.warnings[0]


# --- hostile -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "sources"),
    [
        (None, [PAGE]),
        (b"It rains. [1]", [PAGE]),
        ("It rains. [1]", None),
        ("It rains. [1]", 5),
        ("It rains. [1]", [None]),
        ("It rains. [1]", [object()]),
        ("It rains. [1]", ["http://[bad"]),
        ("It rains. [1]", ["https://"]),
    ],
)
def test_invalid_input_is_an_input_error(answer: Any, sources: Any) -> None:
    with WebTools() as web, pytest.raises(InputError):
        web.verify(answer, sources)


def test_a_verifier_sees_no_key() -> None:
    key = "test-key-0123456789"
    config = {"providers": [{"name": "exa", "type": "exa", "apiKey": key}]}
    page = Page(url=f"https://a.example/{key}", title=key, text=f"The key of the pool is {key}.")
    verifier, prompts = model()
    with WebTools(config=config) as web:
        message = f"It is {key} today in the pool, says the key of the pool. [1]"
        report = web.verify(
            f"The key of the pool is {key}. [1] {message}", [page], verifier=verifier
        )
        assert key not in report.model_dump_json()
        assert prompts
        assert key not in "".join(prompts)
        with pytest.raises(InputError) as raised:
            web.verify("It rains. [1]", [f"ftp://{key}"])
        assert key not in str(raised.value)


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"claim": ' + "[" * 100_000 + "]" * 100_000])
def test_a_deeply_nested_verdict_is_ignored(nested: str) -> None:
    assert statuses(verify_with_model(LOOSE, nested + "}")) == ["uncertain"]


@pytest.mark.parametrize(
    ("text", "quotation"),
    [
        ("The town is unable to open the pool.", "able to open the pool"),
        ("It cost 1,200 pounds a year.", "200 pounds a year"),
        ("It was open for 12.5 days.", "open for 12"),
    ],
)
def test_a_quotation_ends_at_no_part_of_a_word_or_number(text: str, quotation: str) -> None:
    assert Text(text).find(quotation) == ""


def test_a_quotation_is_found_to_the_letter_but_for_white_space_and_link_addresses() -> None:
    text = Text("It rained.\tThe [pool](https://a.example)\n\n opened its  doors on Friday.")
    assert text.find("pool opened\nits doors on") == "pool opened its doors on"
    assert text.find("pool opened his doors on") == ""
    words = "ab cd ef " * 30_000  # a pattern would be tried at each of them
    assert Text(f"{words} {words}").find(f"{words} gh") == ""
