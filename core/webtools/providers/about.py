"""The facts of a provider, and the account: the provider as configured by an entry."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NoReturn
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, SecretStr
from pydantic.alias_generators import to_camel

from webtools._internal.http.proxies import NO_PROXIES, Proxies, Proxy
from webtools._internal.io.pacing import Pacer
from webtools._internal.text.nested_texts import secrets_in
from webtools.choices import Capability
from webtools.messages import Request
from webtools.providers.operator_domains import NO_DOMAINS, OperatorDomains

__all__ = [
    "DIRECT",
    "About",
    "Account",
    "Capability",
    "Options",
    "Pacer",
    "PageOptions",
    "SearchOptions",
]

DIRECT = "direct"  # the provider that fetches pages from their own sites, without an entry


class Options(BaseModel):
    """Base class of a provider's `options`, in camel case or in Python's spelling.

    Unknown keys are an error.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=True
    )


class SearchOptions(Options):
    """Options of every provider that searches.

    Attributes:
        default_search_limit: Number of results, if the call sets none.
    """

    default_search_limit: int | None = None


class PageOptions(Options):
    """Options of every provider that can limit the length of pages.

    Attributes:
        default_fetch_text_max_characters: Maximum characters of a page, if the call sets none.
    """

    default_fetch_text_max_characters: int | None = None


@dataclass(frozen=True, slots=True)
class About:
    """The facts of a provider.

    Attributes:
        name: The type in the config file, and the name of a package's entry point.
        title: Name of the provider in messages.
        origin: Origin of the API, without a final slash. Empty if each user has their own.
        docs: URL of the API's documentation.
        docs_date: Day on which the documentation was read, as YYYY-MM-DD.
        key_variables: Environment variables for the key, the preferred one first.
        url_variables: Environment variables for the origin, the preferred one first. Set this if
            users run their own instance; an entry of the config file then needs a `baseUrl`.
        key_url: Page on which users sign up and get a key.
        free_plan: What the provider offers free of charge, such as `5 USD a month`.
        needs_key: Whether the API refuses calls without a key.
        options: Model of the `options` in the config file.
        max_results: Maximum number of results of a search.
        max_urls: Maximum number of pages of a request.
        prices: Prices in USD by name. The functions of the provider use these names.
        price_list: Day or month of the price list, as YYYY-MM-DD or YYYY-MM.
        chooses_passages: Whether the API can choose the passages of a page for a question.
        reads_whole_pages: Whether it can return all of a page, not only its main part, and
            chosen pages of a PDF file.
        research: Position in the default research chain: `first`, `last` (used if no other
            provider can search) or `never` (refused even if the settings name it).
        last_resort_for: Capabilities that are used only if a call names the provider, or if no
            other provider has them.
        recommended_for: Capabilities for which the message about a missing key recommends the
            provider.
        keyless: Capabilities that work without a key and an entry, if the settings allow it.
    """

    _: KW_ONLY
    name: str
    title: str
    origin: str
    docs: str = ""
    docs_date: str = ""
    key_variables: tuple[str, ...] = ()
    url_variables: tuple[str, ...] = ()
    key_url: str = ""
    free_plan: str = ""
    needs_key: bool = True
    options: type[Options] = Options
    max_results: int = 10
    max_urls: int = 1
    prices: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    price_list: str = ""
    chooses_passages: bool = False
    reads_whole_pages: bool = False
    research: Literal["first", "last", "never"] = "first"
    last_resort_for: tuple[Capability, ...] = ()
    recommended_for: tuple[Capability, ...] = ()
    keyless: tuple[Capability, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables that configure the provider, the preferred one first."""
        return self.key_variables or self.url_variables


@dataclass(frozen=True, slots=True)
class Account:
    """A configured provider.

    Attributes:
        name: Name of the entry in the settings. Errors and results contain it.
        type: The provider's type.
        base_url: Origin of the API, without a final slash.
        api_key: The key, or None.
        options: Options of the provider, an instance of `About.options`.
        timeout: Time-out of a whole call in seconds, or None for the default of the capability.
        pacer: Limits the rate of requests, or None.
        proxy: URL of the proxy, or None.
        proxies: The proxies of the environment, used if `proxy` is None.
        fetch_fallback: Name of the provider that fetches the pages this one could not fetch.
        domains: The hosts that the settings allow and forbid.
        key: The key in plain text, for a header of the request, or "" without a key.
        secrets: Strings to redact in all texts.
        identity: Hash of the entry, keyed by its API key and the logins of its proxies. Accounts
            with the same hash share cache entries: what one key has paid for, no other one reads.
    """

    name: str
    type: str
    base_url: str
    api_key: SecretStr | None
    options: Any
    timeout: float | None = None
    pacer: Pacer | None = None
    proxy: SecretStr | None = field(default=None, repr=False)
    fetch_fallback: str | None = None
    proxies: Proxies = field(default=NO_PROXIES, repr=False)
    domains: OperatorDomains = NO_DOMAINS
    key: str = field(init=False, repr=False, compare=False)
    secrets: frozenset[str] = field(init=False, repr=False, compare=False)
    identity: str = field(init=False, repr=False, compare=False)

    def proxy_for(self, url: str) -> Proxy | None:
        """Return the proxy for a URL: the account's own, else the environment's.

        Raises:
            ConfigError: The environment's proxy is not valid.
        """
        if self.proxy is not None:
            return Proxy(self.proxy.get_secret_value())
        return self.proxies.choose(url) if self.proxies.by_scheme else None

    @property
    def bearer(self) -> dict[str, str]:
        """The header `Authorization: Bearer KEY`; empty without a key."""
        return {"authorization": f"Bearer {self.key}"} if self.key else {}

    def get(
        self, path: str, params: Mapping[str, Any], headers: dict[str, str] | None = None
    ) -> Request:
        """Build a GET request to the API.

        Args:
            path: Path below `base_url`, without a slash at the start.
            params: The query parameters. One with the value None is omitted. A list repeats the
                name.
            headers: The headers. Default: `bearer`.
        """
        query = urlencode({k: v for k, v in params.items() if v is not None}, doseq=True)
        headers = self.bearer if headers is None else headers
        return Request("GET", f"{self.base_url}/{path}?{query}".rstrip("?"), headers=headers)

    def post(
        self, path: str, body: dict[str, Any], headers: dict[str, str] | None = None
    ) -> Request:
        """Build a POST request with a JSON body.

        Args:
            path: Path below `base_url`, without a slash at the start.
            body: The body.
            headers: The headers. Default: `bearer`.
        """
        headers = self.bearer if headers is None else headers
        return Request("POST", f"{self.base_url}/{path}", headers=headers, json=body)

    def __post_init__(self) -> None:
        """Compute the key, the secrets and the identity once."""
        values = [self.api_key, self.proxy, self.options]
        secrets = [secret.get_secret_value() for secret in secrets_in(values)]
        key = self.api_key.get_secret_value() if self.api_key else ""
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "secrets", frozenset(secrets) | self.proxies.secrets)
        # Pages that were read under other rules must not come from the cache.
        rules = (repr(self.domains),) if self.domains else ()
        names = (self.type, self.name, self.base_url, self.options.model_dump_json(), *rules)
        secret = "\0".join(sorted(self.secrets)).encode("utf-8", "replace")
        identity = hmac.new(secret, " ".join(names).encode("utf-8", "replace"), "sha256")
        object.__setattr__(self, "identity", identity.hexdigest())

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: the key would be in the pickle."""
        message = f'account "{self.name}" holds a key and cannot be pickled'
        raise TypeError(message)
