"""The model of the config, and checks across its parts."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Self, TypeAlias, TypedDict, cast

import httpx
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from webtools._internal.text.quoting import listed, quote
from webtools._internal.text.web_urls import store_place
from webtools.choices import Fence
from webtools.config.config_messages import fail, not_picklable
from webtools.config.parts import (
    MAX_RESULTS,
    BudgetConfig,
    CacheConfig,
    FetchConfig,
    LogConfig,
    Part,
    ResearchConfig,
    Variable,
    read_part,
)
from webtools.config.setting_values import (
    NO_PROXY,
    KeySource,
    as_key,
    checked_base_url,
    checked_key,
    checked_name,
    checked_proxy,
    checked_storage_url,
    checked_type,
    read_options,
)
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, Capability
from webtools.providers.about import DIRECT


def capabilities(kind: str) -> tuple[Capability, ...]:
    """Return the capabilities of a provider type."""
    return PROVIDERS[kind].capabilities()


def synthesis_names() -> tuple[str, ...]:
    """Return the values of `synthesis`, apart from a synthesizer of the caller's."""
    return ("extractive", *(kind for kind in PROVIDERS if PROVIDERS[kind].synthesize), "none")


class _KeyHolder(BaseModel):
    """A model that may hold keys."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the names of functions that return keys, and URLs without a login, but no keys."""
        fields: dict[str, Any] = vars(self)
        values = {name: fields[name] for name in fields if name in self.model_fields_set}
        holders: list[dict[str, Any]] = [values, vars(values.get("options", self))]
        for holder in holders:
            if name := next(filter(lambda n: _is_secret(n, holder[n]), holder), ""):
                raise not_picklable(type(self), name)
        return _rebuild, (type(self), values)


def _is_secret(name: str, value: Any) -> bool:
    if not isinstance(value, SecretStr) or isinstance(value, KeySource):
        return False
    return name not in {"proxy", "url"} or "@" in value.get_secret_value()


def _rebuild(model: type[_KeyHolder], values: dict[str, Any]) -> _KeyHolder:
    return model(**values)


class ProviderConfig(_KeyHolder, Part):
    """An entry of `providers`.

    Attributes:
        name (str): Name in calls, results and errors.
        type (str): Which API the entry uses.
        api_key (SecretStr | None): The key. In code, also a `KeySource` or a function that returns
            the key.
        base_url (str | None): URL of the API. Default: that of the type.
        timeout_ms (int | None): Time limit of a call, in milliseconds.
        max_requests_per_second (float | None): Maximum number of requests per second. They are
            spaced evenly.
        proxy (SecretStr | None): URL of an HTTP proxy. `none` means no proxy, not even one of the
            environment.
        options: Options of the type.
        fetch_fallback: Name of the provider that fetches the pages this one could not fetch.
    """

    name: Annotated[str, AfterValidator(checked_name)]
    type: Annotated[str, AfterValidator(checked_type)]
    api_key: Annotated[SecretStr, BeforeValidator(as_key), AfterValidator(checked_key)] | None = (
        None
    )
    base_url: Annotated[str, AfterValidator(checked_base_url)] | None = None
    timeout_ms: Annotated[int, Field(ge=1, le=600_000)] | None = None
    max_requests_per_second: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    proxy: Annotated[SecretStr, AfterValidator(checked_proxy)] | None = None
    options: Any = Field(default=None, validate_default=True)
    fetch_fallback: str | None = None

    @property
    def goes_direct(self) -> bool:
        """Whether to use no proxy, not even the environment's."""
        return self.proxy is not None and self.proxy.get_secret_value() == NO_PROXY

    @field_validator("options", mode="plain")
    @classmethod
    def _read_options(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("type")
        # A missing type is reported by its own field.
        return value if kind is None else read_options(kind, value)

    @model_validator(mode="after")
    def _require_key_and_url(self) -> Self:
        about = PROVIDERS[self.type].about
        if about.needs_key and self.api_key is None:
            place = f". Get one at {about.key_url}" if about.key_url else ""
            raise ConfigError(
                f"apiKey is missing: type {self.type} needs your {about.title} key{place}"
            )
        if about.url_variables and self.base_url is None:
            raise ConfigError(
                f"baseUrl is missing: type {self.type} needs the address of your {about.title}"
            )
        return self


class StorageConfig(_KeyHolder, Part):
    """The store of the cache, the budget, the rate limits and the circuit breakers.

    Attributes:
        url: Redis server that all processes share, such as `redis://:PASSWORD@HOST:6379/0`.
            Default: the file `cache.path`.
    """

    url: Annotated[SecretStr, AfterValidator(checked_storage_url)] | None = None

    @property
    def full_url(self) -> str:
        """The URL with its password, for connecting; "" without a URL."""
        return self.url.get_secret_value() if self.url else ""

    @property
    def url_without_login(self) -> str:
        """The URL without its login, for messages; "" without a URL."""
        return store_place(self.full_url) if self.url else ""

    @property
    def key(self) -> str:
        """A hash of the URL, which does not show it."""
        return hashlib.sha256(self.full_url.encode()).hexdigest()


PARTS: dict[str, type[Part]] = {
    "cache": CacheConfig,
    "log": LogConfig,
    "research": ResearchConfig,
    "budget": BudgetConfig,
    "fetch": FetchConfig,
    "storage": StorageConfig,
}


_MaxResults = Annotated[int, Field(ge=MAX_RESULTS.minimum, le=MAX_RESULTS.maximum)]
KEYLESS_VARIABLE = "WEB_SEARCH_KEYLESS"


class TopLevel(_KeyHolder, Part, defer_build=True):
    """The top-level settings, all optional; see `Config`."""

    providers: Sequence[ProviderConfig] = ()
    default_provider: str | None = None
    max_results: Annotated[_MaxResults | None, Variable("WEB_SEARCH_MAX_RESULTS", MAX_RESULTS)] = (
        None
    )
    timeout_ms: Annotated[int, Field(ge=1, le=600_000)] | None = None
    failover: bool = True
    keyless: Annotated[bool, Variable(KEYLESS_VARIABLE)] = False
    cache: CacheConfig = Field(default_factory=CacheConfig)
    log: LogConfig = Field(default_factory=LogConfig)
    research: ResearchConfig = Field(default_factory=ResearchConfig)
    budget: BudgetConfig = Field(default_factory=BudgetConfig)
    fetch: FetchConfig = Field(default_factory=FetchConfig)
    storage: StorageConfig = Field(default_factory=StorageConfig)
    fence: Fence = "pages"

    @field_validator("fence", "failover", "keyless", mode="before")
    @classmethod
    def _read_null(cls, value: Any, info: ValidationInfo) -> Any:
        return cls.model_fields[str(info.field_name)].default if value is None else value

    @field_validator("providers", mode="before")
    @classmethod
    def _read_entries(cls, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            fail("must be a list")
        if not value:
            fail("is empty: list at least one provider")
        entries = cast("Sequence[object]", value)
        return tuple(
            read_part(f"providers[{i}]", ProviderConfig, entry) for i, entry in enumerate(entries)
        )

    @field_validator(*PARTS, mode="before")
    @classmethod
    def _read_part(cls, value: Any, info: ValidationInfo) -> Any:
        name = str(info.field_name)
        return read_part(name, PARTS[name], {} if value is None else value)


class Config(TopLevel, defer_build=False):
    """The whole config.

    Attributes:
        providers: The providers, in the order in which they are tried.
        default_provider: Name of the provider that is tried first. Default: the first one that can
            serve the call.
        max_results (int | None): Default and maximum number of results per query.
        timeout_ms (int | None): Time limit of a whole call, in milliseconds, however many providers
            and retries it takes.
        failover: Try the next provider if one fails.
        cache: Settings of the cache.
        log: Settings of the log.
        research: Settings of research.
        budget: Limits on spending.
        fetch: Which pages may be read.
        storage: Where cache, budget, rate limits and circuit breakers are stored.
        keyless: Search without a key if no configured provider can search.
        fence: Which web content is wrapped in a fence before a model reads it.
    """

    providers: Sequence[ProviderConfig]  # pyright: ignore[reportGeneralTypeIssues]

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        names = [entry.name for entry in self.providers]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ConfigError(
                    f"providers[{i}].name repeats {quote(name)}, which must be unique"
                )
        if (default := self.default_provider) is not None and default not in names:
            fault = f"defaultProvider {quote(default)} is unknown. Known providers: {listed(names)}"
            raise ConfigError(fault)
        return self

    @model_validator(mode="after")
    def _check_fallbacks(self) -> Self:
        fetchers = [entry.name for entry in self.providers if "fetch" in capabilities(entry.type)]
        if all(entry.name != DIRECT for entry in self.providers):
            fetchers.append(DIRECT)
        for i, entry in enumerate(self.providers):
            name = entry.fetch_fallback
            if name is not None and name not in fetchers:
                fault = f"fetchFallback {quote(name)} is not a configured provider that can fetch"
                raise ConfigError(f"providers[{i}].{fault}. Use one of: {listed(fetchers)}")
        return self

    @model_validator(mode="after")
    def _check_research(self) -> Self:
        fault = _chain_fault(self.research, self.providers)
        fault = fault or _synthesis_fault(self.research.synthesis, self.providers)
        if fault:
            raise ConfigError(f"research.{fault}")
        return self


Key: TypeAlias = str | SecretStr | Callable[[], str]
"""An API key, or a function that returns it."""


class KeywordSettings(TypedDict, total=False):
    """The top-level settings as keyword arguments of `WebTools`, which describes them."""

    providers: Sequence[ProviderConfig | Mapping[str, Any]] | None
    default_provider: str | None
    max_results: int | None
    timeout_ms: int | None
    failover: bool | None
    keyless: bool | None
    fence: Fence | None
    cache: bool | CacheConfig | Mapping[str, Any] | None
    log: bool | LogConfig | Mapping[str, Any] | None
    research: ResearchConfig | Mapping[str, Any] | None
    budget: BudgetConfig | Mapping[str, Any] | None
    fetch: FetchConfig | Mapping[str, Any] | None
    storage: StorageConfig | Mapping[str, Any] | None


class ClientArguments(KeywordSettings, total=False):
    """All keyword arguments of `WebTools`, for code that passes them on."""

    config: Config | Mapping[str, Any] | str | os.PathLike[str] | None
    api_keys: Mapping[str, Key] | None
    transport: httpx.BaseTransport | None
    async_transport: httpx.AsyncBaseTransport | None


def without_providers(**parts: Any) -> Config:
    """Return a config without providers, which a user's config must have."""
    return Config.model_construct(providers=(), **parts)


def _chain_fault(research: ResearchConfig, providers: Sequence[ProviderConfig]) -> str:
    types = {entry.name: entry.type for entry in providers}
    for command, names in research.chain.items():
        for i, name in enumerate(names):
            if fault := _link_fault(types.get(name)):
                usable = listed(name for name, kind in types.items() if not _link_fault(kind))
                all_types = listed(kind for kind in PROVIDERS if not _link_fault(kind))
                remedy = f"Use one of: {usable}" if usable else f"Add one of type {all_types}"
                return f"chain.{command}[{i}] {quote(name)} {fault}. {remedy}"
    return ""


def _link_fault(kind: str | None) -> str:
    """Explain why a provider type cannot be in a chain, or return ""."""
    if kind is None:
        return "is not a configured provider"
    if PROVIDERS[kind].about.research == "never":
        return f"has type {kind}, which research uses only for synthesis"
    if not {"search", "docs"} & {*capabilities(kind)}:
        return f"has type {kind}, which cannot search or look up docs"
    return ""


def _synthesis_fault(synthesis: str | None, providers: Sequence[ProviderConfig]) -> str:
    """Explain why no provider can write answers as the settings say, or return ""."""
    if synthesis in (None, "extractive", "none"):
        return ""
    synthesizers = [entry for entry in providers if _can_synthesize(entry.type)]
    if any(synthesis in (entry.type, entry.name) for entry in synthesizers):
        return ""
    types = list(filter(_can_synthesize, PROVIDERS))
    if synthesis in types:
        return f"synthesis needs a provider of type {quote(synthesis)}. Add one to providers"
    names = ", ".join(f"'{name}'" for name in ("extractive", *types))
    return f"synthesis must be {names} or 'none', or the name of a provider that can synthesize"


def _can_synthesize(kind: str) -> bool:
    return "synthesize" in capabilities(kind)


# The models accept these too, but the file is shared with pi, which accepts only camel case.
_MODELS: list[type[Part]] = [Config, ProviderConfig, *PARTS.values()]
PYTHON_SPELLINGS = {name for model in _MODELS for name in model.model_fields if "_" in name}
