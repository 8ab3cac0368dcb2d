"""Check an answer against its sources. A model of the caller can judge.

URLs that the caller passes as sources are fetched. URLs in the answer, which a model can have
written, are fetched only if the caller asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from webtools._internal.grounding.citation_marks import address
from webtools._internal.grounding.citations import cited_urls
from webtools._internal.grounding.evidence import facts_of, keys_of, plain
from webtools._internal.grounding.verification import Judged, Review
from webtools._internal.io.runtime import IO
from webtools._internal.text.cleaning import one_line
from webtools._internal.text.quoting import quote
from webtools._internal.text.urls import without_text_fragment
from webtools._internal.text.web_urls import has_login, is_web_url, without_login
from webtools.errors import InputError, ProviderError, RequestError
from webtools.inputs.argument_values import url_like
from webtools.providers.protocols import Source
from webtools.results import FetchResponse, Verified
from webtools.verifiers import SourceLike, Verdict, Verifier

MAX_URLS = 20  # of those that an answer cites
JUDGING_SECONDS = 120.0  # for a model to judge
_MIN_WORDS = 3  # content words of a quotation
# A quotation begins and ends with whole words and numbers; some scripts have no spaces.
_PART_BEFORE, _PART_AFTER = re.compile(r"[A-Za-z\d]$|\d[.,]$"), re.compile(r"[A-Za-z\d]|[.,]\d")


Read: TypeAlias = Callable[[list[str]], Awaitable[FetchResponse]]


async def verify(
    answer: str,
    sources: Sequence[SourceLike],
    verifier: Verifier | None,
    read: Read,
    clean: Callable[[str], str],
    io: IO,
    deadline: float,
    *,
    fetch: bool,
) -> Verified:
    """Check an answer.

    Args:
        answer: The answer.
        sources: Its sources.
        verifier: Judges the claims that are not quotations.
        read: Fetches the URLs among the sources.
        clean: Redacts keys in the sources.
        io: The I/O of the call.
        deadline: When the verifier must have judged.
        fetch: Whether to fetch the URLs that only the answer cites. They follow the sources.

    Raises:
        InputError: There is no answer, or no source and no URL in the answer.
        WebToolsError: No source could be read.
    """
    if not (verifier is None or hasattr(verifier, "judge")):
        expected = "verifier must be ChatModelVerifier(model), LLMVerifier(llm) or another Verifier"
        raise InputError(f"{expected}, not {type(verifier).__name__}.")
    source_list = [without_text_fragment(e) if isinstance(e, str) else e for e in sources]
    if not answer.strip():
        raise InputError("The answer is empty. Pass the text to check.")
    unread_urls = await io.call_blocking(partial(_other_urls, answer, source_list))
    if fetch:
        readable = (url for url in unread_urls if is_web_url(url) and not has_login(url))
        urls_to_read = [*dict.fromkeys(map(without_text_fragment, readable))][:MAX_URLS]
        source_list += urls_to_read
        unread_urls = [url for url in unread_urls if without_text_fragment(url) not in urls_to_read]
    if not (source_list or unread_urls):
        raise InputError("There are no sources. Pass URLs or pages, or an answer that cites URLs.")
    urls = [source for source in source_list if isinstance(source, str)]
    if invalid := next((source for source in urls if not is_web_url(source)), ""):
        fault = f"Invalid source {quote(one_line(invalid)[:80])}"
        raise InputError(
            f"{fault}: expected an http(s) URL, such as {url_like(invalid)}. To check against a "
            "text, pass a page with `url` and `text`."
        )
    if private := next(filter(has_login, urls), ""):
        raise InputError(
            f"Invalid source {quote(without_login(private))}: it has a user name or password. "
            "Leave it out."
        )
    warnings: list[str] = []
    fetched: FetchResponse | None = None
    distinct_urls = list(dict.fromkeys(urls))
    try:
        fetched = await read(distinct_urls) if urls else None
    except (RequestError, ProviderError, InputError) as error:
        if len(urls) == len(source_list):
            raise
        warnings.append(str(error))
    numbered_sources: list[Source] = await io.call_blocking(
        partial(_sources, source_list, distinct_urls, fetched, clean), alone=True
    )
    review: Review = await io.call_blocking(
        partial(Review.of_text, answer, numbered_sources), alone=True
    )
    warnings += [*_unread_warnings(fetched), *_cited_warnings(unread_urls, fetch=fetch)]
    if verifier is not None:
        warnings += await _judge(review, numbered_sources, verifier, io, deadline)
    verified = review.verified()
    cost = fetched.cost_usd if fetched else 0.0
    return verified.model_copy(update={"warnings": warnings, "cost_usd": cost})


def _other_urls(answer: str, sources: Sequence[SourceLike]) -> list[str]:
    """Return the URLs that an answer cites and that are not among the sources."""
    urls = (each if isinstance(each, str) else getattr(each, "url", "") for each in sources)
    known = {address(url) for url in urls}
    return [url for url in cited_urls(answer) if address(url) not in known]


def _sources(
    source_list: Sequence[SourceLike],
    urls: Sequence[str],
    fetched: FetchResponse | None,
    clean: Callable[[str], str],
) -> list[Source]:
    """Number the sources. A page that could not be read is a source without a text."""
    pages = dict(zip(urls, fetched.pages, strict=True)) if fetched else {}
    return [
        Source(
            number,
            *map(
                clean, _describe(pages.get(source) if isinstance(source, str) else source, source)
            ),
        )
        for number, source in enumerate(source_list, 1)
    ]


def _describe(page: Any, source: Any) -> tuple[str, str, str]:
    if page is None:
        return "", source, ""
    title = getattr(page, "title", None) or getattr(page, "heading", None) or ""
    return title, source if isinstance(source, str) else page.url, page.text or ""


def _unread_warnings(fetched: FetchResponse | None) -> list[str]:
    if fetched is None:
        return []
    failed = (page for page in fetched.pages if page.error)
    return [
        *fetched.warnings,
        *(
            f"{page.url} could not be read: {str(page.error).rstrip('.')}. "
            "Claims that cite only this page are unsupported."
            for page in failed
        ),
    ]


def _cited_warnings(urls: Sequence[str], *, fetch: bool) -> list[str]:
    """Report the cited URLs that were not requested."""
    if not urls:
        return []
    one = len(urls) == 1
    count = "1 cited URL is" if one else f"{len(urls)} cited URLs are"
    remedy = f"At most {MAX_URLS} are read." if fetch else "To read them, pass `fetch=True`."
    outcome = "it was not read" if one else "they were not read"
    return [f"{count} not among the sources, so {outcome}. {remedy}"]


# --- a model's verdicts ------------------------------------------------------------------------


async def _judge(
    review: Review, sources: Sequence[Source], verifier: Verifier, io: IO, deadline: float
) -> list[str]:
    """Ask a verifier about the claims that are not quotations, and return warnings."""
    open_claims = [judged for judged in review.judged if judged.is_open]
    if not open_claims:
        return []
    end = min(io.now() + JUDGING_SECONDS, deadline)
    cited = sorted({place for judged in open_claims for place in judged.statement.cites})
    texts = [judged.statement.text for judged in open_claims]
    try:
        cited_sources = [sources[place] for place in cited]
        verdicts = await verifier.judge(texts, cited_sources, end, io)
    except (RequestError, ProviderError) as error:
        return [f"The verifier failed, so the claims were checked without it: {error}"]
    await io.call_blocking(partial(_settle_all, open_claims, verdicts, sources), alone=True)
    return []


def _settle_all(
    open_claims: Sequence[Judged], verdicts: Sequence[Verdict], sources: Sequence[Source]
) -> None:
    """Apply the first verdict on each claim."""
    texts = [Text(source.text) for source in sources]
    first_verdicts = {verdict.claim: verdict for verdict in reversed(verdicts)}
    for number, judged in enumerate(open_claims, 1):
        if number in first_verdicts:
            _settle(judged, first_verdicts[number], texts)


def _settle(judged: Judged, verdict: Verdict, texts: Sequence[Text]) -> None:
    """Make a claim `supported` if a source that it cites has a quotation with its facts."""
    if not verdict.supported:
        judged.reasons = ["the verifier judged that the sources do not support it"]
    elif len(keys_of(verdict.quotation)) < _MIN_WORDS:
        judged.reasons = ["the verifier returned no quotation"]
    else:
        places = [(place, texts[place].find(verdict.quotation)) for place in judged.statement.cites]
        citations = [(place, quotation) for place, quotation in places if quotation]
        missing = _missing_fact(judged.statement.text, verdict.quotation)
        if citations and not missing:
            judged.status, judged.citations = "supported", citations
            judged.reasons, judged.nearest = [], None
            return
        absent = "the verifier's quotation is not in the cited sources"
        judged.reasons = [f"the verifier's quotation lacks the {missing}" if citations else absent]


def _missing_fact(claim: str, quotation: str) -> str:
    """Return the first number or name of a claim that a quotation lacks; empty if it has all."""
    keys = keys_of(plain(quotation))
    facts = (fact for fact in facts_of(claim) if not fact.is_in(keys))
    return next((f"{fact.kind} {fact.text}" for fact in facts), "")


class Text:
    """A text to search for quotations. White space and the URLs of links are ignored."""

    def __init__(self, text: str) -> None:
        """Fold the white space of a text."""
        self._folded = " ".join(plain(text).split())

    def find(self, quotation: str) -> str:
        """Return a quotation as the text has it; empty if it does not have it."""
        folded = " ".join(plain(quotation).split())
        start = self._folded.find(folded)
        if start < 0 or _PART_BEFORE.search(self._folded[max(0, start - 2) : start]):
            return ""
        return "" if _PART_AFTER.match(self._folded, start + len(folded)) else folded
