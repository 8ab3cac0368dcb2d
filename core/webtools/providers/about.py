"""What a provider says of itself, and an entry of the settings that names it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NoReturn, TypeAlias
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, SecretStr
from pydantic.alias_generators import to_camel

from webtools._internal.http.messages import Request
from webtools._internal.http.proxies import NO_PROXIES, Proxies, Proxy
from webtools._internal.io.locks import Lock
from webtools.providers.operator_domains import NO_DOMAINS, OperatorDomains

Capability: TypeAlias = Literal["search", "fetch", "summarize", "docs", "synthesize"]
DIRECT = "direct"  # type and name of who reads pages from their own sites, without an entry


class Options(BaseModel):
    """Base of a provider's `options` in the config file; unknown keys are an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False
    )


class SearchOptions(Options):
    """Options of every provider that searches."""

    default_search_limit: int | None = None


class PageOptions(Options):
    """Options of every provider whose pages can be cut.

    Attributes:
        default_fetch_text_max_characters: Bound on a page's text where the call sets none.
    """

    default_fetch_text_max_characters: int | None = None


@dataclass(frozen=True, slots=True)
class About:
    """The facts of a provider.

    Attributes:
        name: Its type in the config file; in an installed package also its entry point's name.
        title: What messages call it.
        origin: Origin of its API, without a slash at the end; empty where every page has its own,
            or everyone runs their own.
        docs: Address of the API's documentation.
        read: Day on which that was read, as YYYY-MM-DD.
        key_variables: Environment variables that may hold the key, the first one preferred.
        url_variables: Environment variables that may hold its origin, the first one preferred,
            where everyone runs their own: then an entry of the config file needs a `baseUrl`.
        needs_key: Whether it refuses to work without a key.
        options: Model of its `options` in the config file.
        max_results: Most results that one search can give.
        max_urls: Most pages that one request can fetch.
        prices: What calls cost, in USD, by names of its own.
        price_list: Day or month of the price list.
        chooses_passages: Whether it chooses the passages of fetched pages that bear on a question.
        research: Its place in a chain of research that the settings do not name: among the first,
            the last where there is no other, or never, also when it is named.
        last_resort_for: What it does only where it is named, or where no other can.
        recommended_for: What messages recommend it for, where no key is set at all.
        keyless: What it does for anybody, without a key or an entry, where the settings ask for
            that and no configured provider can.
    """

    _: KW_ONLY
    name: str
    title: str
    origin: str
    docs: str = ""
    read: str = ""
    key_variables: tuple[str, ...] = ()
    url_variables: tuple[str, ...] = ()
    needs_key: bool = True
    options: type[Options] = Options
    max_results: int = 10
    max_urls: int = 1
    prices: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    price_list: str = ""
    chooses_passages: bool = False
    research: Literal["first", "last", "never"] = "first"
    last_resort_for: tuple[Capability, ...] = ()
    recommended_for: tuple[Capability, ...] = ()
    keyless: tuple[Capability, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that switch it on, the first one preferred."""
        return self.key_variables or self.url_variables


class Pacer:
    """Spaces the calls of one provider evenly, over all threads and loops.

    Attributes:
        per_second: How many calls a second there may be.
    """

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self._interval = 1.0 / per_second
        self._next = 0.0
        self._lock = Lock()

    def reserve(self, now: float, deadline: float) -> float | None:
        """Take the next free moment; returns the seconds to wait until it.

        None when that is too late: then nothing is taken, or calls that fail would keep those
        after them waiting.
        """
        with self._lock:
            start = max(now, self._next)
            if start >= deadline:
                return None
            self._next = start + self._interval
        return start - now


@dataclass(frozen=True, slots=True)
class Account:
    """One configured provider, ready to be called.

    Attributes:
        name: The name of its entry in the settings; errors and results carry it.
        type: The provider's type, the key of the table.
        base_url: Origin of the API, without a slash at the end.
        api_key: The key, or None for a provider that needs none.
        options: The provider's own options.
        timeout: Seconds for a whole call, or None for the capability's default.
        pacer: Spaces the calls, or None where no rate is set.
        proxy: URL of the proxy, or None.
        proxies: What the environment says of proxies, for an account that has none of its own.
        fetch_fallback: Name of the provider that tries the pages which this one could not fetch.
        domains: What hosts the operator lets pages be read from.
        key: The key in clear, for the request's header alone; empty where there is none.
        secrets: All that may never appear in a text.
        identity: A hash, equal for accounts that give the same answers; holds no key.
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
        """Choose the proxy that a URL is asked through: its own, else the environment's.

        Raises:
            ConfigError: The environment names none that can be used.
        """
        if self.proxy is not None:
            return Proxy(self.proxy.get_secret_value())
        return self.proxies.choose(url) if self.proxies.by_scheme else None

    @property
    def bearer(self) -> dict[str, str]:
        """The header that carries the key where an API has none of its own; none without a key."""
        return {"authorization": f"Bearer {self.key}"} if self.key else {}

    def get(
        self, path: str, params: Mapping[str, Any], headers: dict[str, str] | None = None
    ) -> Request:
        """Build a GET to the API; without other headers the key is sent as `bearer`.

        Args:
            path: Path below `base_url`, without a slash at its start.
            params: The query parameters. One that is None is left out, a list repeats its name.
            headers: Header fields.
        """
        query = urlencode({k: v for k, v in params.items() if v is not None}, doseq=True)
        headers = self.bearer if headers is None else headers
        return Request("GET", f"{self.base_url}/{path}?{query}".rstrip("?"), headers=headers)

    def post(
        self, path: str, body: dict[str, Any], headers: dict[str, str] | None = None
    ) -> Request:
        """Build a POST of JSON to the API; without other headers the key goes as `bearer`."""
        headers = self.bearer if headers is None else headers
        return Request("POST", f"{self.base_url}/{path}", headers=headers, json=body)

    def __post_init__(self) -> None:
        """Collect the secrets once, as every answer is searched for them, and what names it."""
        found = [self.api_key, self.proxy, *(value for _, value in self.options)]
        secrets = [secret.get_secret_value() for secret in found if isinstance(secret, SecretStr)]
        key = self.api_key.get_secret_value() if self.api_key else ""
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "secrets", frozenset(secrets) | self.proxies.secrets)
        # What was read under other rules of the operator's is another answer.
        rules = (repr(self.domains),) if self.domains else ()
        names = (self.type, self.name, self.base_url, self.options.model_dump_json(), *rules)
        identity = hashlib.sha256(" ".join(names).encode("utf-8", "replace")).hexdigest()
        object.__setattr__(self, "identity", identity)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: the key would be in it."""
        message = f'account "{self.name}" holds a key and cannot be pickled'
        raise TypeError(message)
