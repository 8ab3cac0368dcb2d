"""The config as a whole: its providers, and how its parts fit together."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Self, cast

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

from webtools._internal.text.choices import Fence
from webtools._internal.text.cleaning import store_place
from webtools._internal.text.quoting import listed, quote
from webtools.config.config_messages import fail, not_picklable
from webtools.config.parts import (
    MAX_RESULTS,
    BudgetConfig,
    CacheConfig,
    FetchConfig,
    LogConfig,
    Part,
    ResearchConfig,
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
    """Name what a type of provider can do."""
    return PROVIDERS[kind].capabilities()


def synthesis_names() -> tuple[str, ...]:
    """Name the ways to write an answer; a model of the caller's is one more."""
    return ("extractive", *(kind for kind in PROVIDERS if PROVIDERS[kind].synthesize), "none")


class _Secretive(BaseModel):
    """What may hold keys."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the names of functions that give keys; refuse keys, which would be in clear."""
        fields: dict[str, Any] = vars(self)
        values = {name: fields[name] for name in fields if name in self.model_fields_set}
        holders: list[dict[str, Any]] = [values, vars(values.get("options", self))]
        every: list[Any] = [each for holder in holders for each in holder.values()]
        if any(isinstance(each, SecretStr) and not isinstance(each, KeySource) for each in every):
            raise not_picklable(type(self))
        return _made, (type(self), values)


def _made(kind: type[_Secretive], values: dict[str, Any]) -> _Secretive:
    return kind(**values)


class ProviderConfig(_Secretive, Part):
    """One entry of `providers`.

    Attributes:
        name: What calls, results and errors name it by.
        type: The provider's type, such as "exa".
        api_key: The key itself; may be left out for a type that needs none. In code also a
            `KeySource`, or a function without arguments, that gives it: called once per process at
            the first use. Such a config can be pickled if the function can be imported by name.
        base_url: Replaces the origin of the API; may have a path. Required for a type that everyone
            runs their own of.
        timeout_ms: Bound on a whole call, in milliseconds.
        max_requests_per_second: Calls are spaced to keep below it.
        proxy: URL of an HTTP proxy, which may hold a password; `none` for none at all, whatever
            the environment names.
        options: The type's own options, a mapping with the file's spelling.
        fetch_fallback: Name of the provider that tries the pages which this one could not fetch;
            `direct` needs no entry of its own.
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
        """Whether no proxy is to be used, the environment's neither."""
        return self.proxy is not None and self.proxy.get_secret_value() == NO_PROXY

    @field_validator("options", mode="plain")
    @classmethod
    def _read_options(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("type")
        # Without a type, that is the fault to tell.
        return value if kind is None else read_options(kind, value)

    @model_validator(mode="after")
    def _require_key_and_url(self) -> Self:
        about = PROVIDERS[self.type].about
        if about.needs_key and self.api_key is None:
            raise ConfigError(f"apiKey is missing: type {self.type} needs your {about.title} key")
        if about.url_variables and self.base_url is None:
            raise ConfigError(
                f"baseUrl is missing: type {self.type} needs the address of your {about.title}"
            )
        return self


class StorageConfig(_Secretive, Part):
    """Where cache, budget, rate limits and the providers' health stand.

    Attributes:
        url: A Redis server that all processes share which name it, such as
            `redis://:PASSWORD@HOST:6379/0`, over TLS with `rediss://`; None for the file
            `cache.path` on this machine.
    """

    url: Annotated[SecretStr, AfterValidator(checked_storage_url)] | None = None

    @property
    def clear(self) -> str:
        """The URL with its password, for the connection alone; empty without one."""
        return self.url.get_secret_value() if self.url else ""

    @property
    def place(self) -> str:
        """The URL without its login, for messages."""
        return store_place(self.clear) if self.url else ""

    @property
    def key(self) -> str:
        """What tells the URL from others without showing it."""
        return hashlib.sha256(self.clear.encode()).hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a URL without a login; refuse one with a password, which would be in clear."""
        return super().__reduce__() if "@" in self.clear else (_made, (StorageConfig, dict(self)))


PARTS: dict[str, type[Part]] = {
    "cache": CacheConfig,
    "log": LogConfig,
    "research": ResearchConfig,
    "budget": BudgetConfig,
    "fetch": FetchConfig,
    "storage": StorageConfig,
}


class TopLevel(_Secretive, Part):
    """The top-level settings, each of which may be left out; `Config` describes them."""

    providers: Sequence[ProviderConfig] = ()
    default_provider: str | None = None
    max_results: Annotated[int, Field(ge=MAX_RESULTS.least, le=MAX_RESULTS.most)] | None = None
    failover: bool = True
    keyless: bool = False
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
            read_part(f"providers[{i}]", ProviderConfig, each) for i, each in enumerate(entries)
        )

    @field_validator(*PARTS, mode="before")
    @classmethod
    def _read_part(cls, value: Any, info: ValidationInfo) -> Any:
        name = str(info.field_name)
        return read_part(name, PARTS[name], {} if value is None else value)


class Config(TopLevel):
    """The whole config.

    Attributes:
        providers: The providers, at least one; without a default the first that can serves.
        default_provider: Name of the provider that serves a call which names none.
        max_results: Number of search results where neither call nor provider says.
        failover: Whether a call goes on to the next provider that can serve it, where one has no
            credit, no valid key or no time, or is down; never where the call names one.
        cache: Which answers are cached, and for how long.
        log: What is written down of the calls.
        research: How research is done.
        budget: What may be spent.
        fetch: What pages may be read.
        storage: Where cache, budget and what is known of providers stand.
        keyless: Whether searches go to those who need no key where no configured provider can
            search: the questions are sent to these third parties.
        fence: What of the web a model reads inside a fence: what pages say, search results and
            errors too, or nothing.
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
            known = listed(names)
            raise ConfigError(f"defaultProvider {quote(default)} is unknown; known are: {known}")
        return self

    @model_validator(mode="after")
    def _check_fallbacks(self) -> Self:
        able = [each.name for each in self.providers if "fetch" in capabilities(each.type)]
        if all(each.name != DIRECT for each in self.providers):
            able.append(DIRECT)
        for i, entry in enumerate(self.providers):
            name = entry.fetch_fallback
            if name is not None and name not in able:
                fault = f"fetchFallback {quote(name)} cannot fetch; these can: {listed(able)}"
                raise ConfigError(f"providers[{i}].{fault}")
        return self

    @model_validator(mode="after")
    def _check_research(self) -> Self:
        fault = _chain_fault(self.research, self.providers)
        fault = fault or _synthesis_fault(self.research.synthesis, self.providers)
        if fault:
            raise ConfigError(f"research.{fault}")
        return self


def without_providers(**parts: Any) -> Config:
    """Return what is set where there is no provider, which a config of a user's must have."""
    return Config.model_construct(providers=(), **parts)


def _chain_fault(research: ResearchConfig, providers: Sequence[ProviderConfig]) -> str:
    types = {entry.name: entry.type for entry in providers}
    for command, names in research.chain.items():
        for i, name in enumerate(names):
            if fault := _link_fault(types.get(name)):
                able = listed(name for name, kind in types.items() if not _link_fault(kind))
                types_able = listed(kind for kind in PROVIDERS if not _link_fault(kind))
                remedy = f"these can serve: {able}" if able else f"add one of type {types_able}"
                return f"chain.{command}[{i}] {quote(name)} {fault}; {remedy}"
    return ""


def _link_fault(kind: str | None) -> str:
    """Explain why a type of provider cannot be in a chain; empty when it can."""
    if kind is None:
        return "is no configured provider"
    if PROVIDERS[kind].about.research == "never":
        return f"is of type {kind}, which serves research only for synthesis"
    if not {"search", "docs"} & {*capabilities(kind)}:
        return f"is of type {kind}, which cannot search or look up docs"
    return ""


def _synthesis_fault(wanted: str | None, providers: Sequence[ProviderConfig]) -> str:
    """Return why nobody can write answers as the settings want; empty when somebody can."""
    if wanted in (None, "extractive", "none"):
        return ""
    able = [each for each in providers if _synthesizes(each.type)]
    if any(wanted in (each.type, each.name) for each in able):
        return ""
    types = list(filter(_synthesizes, PROVIDERS))
    if wanted in types:
        return f"synthesis needs a provider of type {quote(wanted)}: add one to providers"
    names = ", ".join(f"'{each}'" for each in ("extractive", *types))
    return f"synthesis must be {names} or 'none', or the name of a provider that can synthesize"


def _synthesizes(kind: str) -> bool:
    return "synthesize" in capabilities(kind)


# The models also take these, but the file is shared with pi, which has one spelling.
_MODELS: list[type[Part]] = [Config, ProviderConfig, *PARTS.values()]
PYTHON_SPELLINGS = {name for model in _MODELS for name in model.model_fields if "_" in name}
