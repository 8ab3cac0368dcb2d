"""Kagi's APIs: what its searches, pages and summaries have in common.

API: https://kagi.com/api/docs and https://help.kagi.com/kagi/api/ (read 2026-11-21).
The two generations have their own header scheme and may need a key each: v1 takes
`Authorization: Bearer KEY`, v0 `Authorization: Bot KEY`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SecretStr

from webtools.errors import AuthenticationError, ProviderError, QuotaError
from webtools.http.messages import OK, Request, Response
from webtools.providers.about import About, Account, Capability, SearchOptions
from webtools.providers.errors import ErrorTable, Meaning, read_error_body

MOST_EXTRACTED = 10  # pages of one request

# By code first: Kagi sends 400 for a bad v1 key, and for an empty purse on v0. The codes of v1 are
# names, those of v0 numbers.
_ERRORS = ErrorTable(
    faults=("errors", "error"),
    code="code",
    words=("message", "msg"),
    shown=("code", "location"),
    meanings=(
        Meaning(r"101|billing\..*", QuotaError),
        Meaning(r"2|general\.(invalid_token|unauthorized)", AuthenticationError),
    ),
)


class KagiOptions(SearchOptions):
    """Options of a Kagi entry.

    Attributes:
        search_api: Generation of the search API: `v1`, or `v0` for keys of the old kind.
        default_fetch_text_max_characters: Bound on a page's text where the call sets none.
        v0_api_key: Key for the v0 calls when it differs from `apiKey`.
    """

    search_api: Literal["v1", "v0"] = "v1"
    default_fetch_text_max_characters: int | None = None
    v0_api_key: SecretStr | None = Field(default=None)


ABOUT = About(
    name="kagi",
    title="Kagi",
    origin="https://kagi.com",
    docs="https://kagi.com/api/docs",
    read="2026-11-21",
    key_variables=("KAGI_API_KEY",),
    options=KagiOptions,
    max_results=1024,
    max_urls=MOST_EXTRACTED,
    # By `searchApi`, by page, by token, and for a whole page by the engine with a flat price.
    prices={
        "v1": 0.012,
        "v0": 0.025,
        "extract": 0.004,
        "summary token": 0.030 / 1000,
        "muriel": 1.00,
    },
    price_list="2026-08-10",
    research="last",
    last_resort_for=("fetch",),  # pages are read without a price elsewhere
    recommended_for=("search", "summarize"),
)


def post(path: str, body: dict[str, Any], account: Account) -> Request:
    """Build a POST of either generation, with its key."""
    headers = {"authorization": f"Bearer {account.key}"} if path.startswith("v1") else bot(account)
    return Request("POST", f"{account.base_url}/api/{path}", headers=headers, json=body)


def bot(account: Account) -> dict[str, str]:
    """Return the headers of v0."""
    separate = account.options.v0_api_key
    return {"authorization": f"Bot {separate.get_secret_value() if separate else account.key}"}


def read_error(response: Response, account: Account, able: Capability) -> ProviderError | None:
    """Read either spelling of an error body; `errors` (v1), `error` (v0 and the v1 spec)."""
    said = read_error_body(_ERRORS, response, account)
    if response.status == OK and (able == "fetch" or not said.faults):
        return None  # pages carry their own faults
    if said.kind is AuthenticationError:
        said.remedy = _key_hint(account, able)
    return said.failure(ABOUT, response, account)


_HINTS = {
    "fetch": "pages need a v1 key.",
    "summarize": (
        "the summarizer is a v0 API, so a v1 key needs a v0 key beside it in options.v0ApiKey."
    ),
    "v0": 'if it is a v1 key, set options.searchApi to "v1".',
    "v1": 'if it is a v0 key, set options.searchApi to "v0".',
}


def _key_hint(account: Account, able: Capability) -> str:
    call = able if able in _HINTS else account.options.search_api
    if call in ("summarize", "v0") and account.options.v0_api_key:
        return f'Check options.v0ApiKey of provider "{account.name}": the v0 API refuses it.'
    return f'Check the API key of provider "{account.name}": {_HINTS[call]}'
