"""The parts of the config: cache, log, research, fetch and budget. All values have defaults."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from webtools._internal.faults import Fault, with_fault
from webtools._internal.text.narrowing import is_object
from webtools._internal.text.quoting import QUOTED, SHORTEST_KEY, hint, listed, quote
from webtools._internal.text.redaction import Redactor
from webtools.choices import Command
from webtools.config.config_messages import explain, fail
from webtools.config.setting_values import checked_path
from webtools.errors import ConfigError
from webtools.providers.operator_domains import OperatorDomains, read_sites

_Part = TypeVar("_Part", bound="Part")

_MIB = 1024 * 1024
_DAY_MS = 24 * 60 * 60 * 1000
_MAX_BUDGET = 1_000_000_000  # USD or calls


class Bounds(NamedTuple):
    """The range of a number, inclusive."""

    minimum: int
    maximum: int


MAX_RESULTS = Bounds(1, 100)
TTL_MS = Bounds(0, 30 * _DAY_MS)
CACHE_BYTES = Bounds(_MIB, 64 * 1024 * _MIB)
LOG_BYTES = Bounds(128 * 1024, 512 * _MIB)
LOG_BACKUPS = Bounds(1, 20)
ROTATE_CHECK_MS = Bounds(1_000, 600_000)

COMMANDS: tuple[Command, ...] = get_args(Command)


class Variable(NamedTuple):
    """The environment variable of a setting: a number within bounds, or a switch without them."""

    name: str
    bounds: Bounds | None = None


def _within(bounds: Bounds) -> Any:
    return Field(ge=bounds.minimum, le=bounds.maximum)


class Part(BaseModel):
    """A part of the config: frozen and strict. Its errors are `ConfigError`s without keys."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    def __init__(self, /, **values: Any) -> None:
        """Check the values; pydantic calls this for a dict, too.

        Raises:
            ConfigError: A value is invalid. The message begins with its path within this part.
        """
        message, fault = "", Fault.NONE
        try:
            super().__init__(**values)
        except ValidationError as error:
            message = explain(error, type(self))
        except ConfigError as error:
            message, fault = str(error), error.fault
        if message:
            message = _without_keys(message, values)
            values.clear()  # a traceback that shows local variables would show the keys
            raise with_fault(ConfigError(message), fault)


def _without_keys(message: str, values: object) -> str:
    """Redact all keys of the values, which may be repeated in place of a name."""
    keys = set(_keys(values, is_key=False))
    # Messages cut long texts.
    return Redactor({*keys, *(key[:QUOTED] for key in keys)}).text(message)


def _keys(value: object, *, is_key: bool) -> Iterator[str]:
    if isinstance(value, BaseModel):
        value = vars(value)
    if isinstance(value, SecretStr):
        value, is_key = value.get_secret_value(), True
    if isinstance(value, str):
        yield from [value] if is_key and len(value) >= SHORTEST_KEY else []
    elif is_object(value):
        for name, child in value.items():
            yield from _keys(child, is_key=str(name).lower().endswith(("key", "proxy", "url")))
    elif isinstance(value, (list, tuple)):
        for child in cast("Sequence[object]", value):
            yield from _keys(child, is_key=is_key)


def has_text_keys(value: object) -> bool:
    """Return whether a value is a dict whose keys are strings."""
    return isinstance(value, dict) and all(
        isinstance(key, str) for key in cast("dict[object, object]", value)
    )


def read_part(path: str, model: type[_Part], value: object) -> _Part:
    """Read the part at a path of the config.

    Raises:
        ConfigError: The value is invalid. The message begins with the path.
    """
    if isinstance(value, model):
        return value
    if not has_text_keys(value):
        raise ConfigError(f"{path} must be an object")
    try:
        return model.model_validate(value)
    except ConfigError as error:
        message, fault = str(error), error.fault
    # A broken plug-in is not a fault of this value.
    raise with_fault(ConfigError(message if fault else f"{path}.{message}"), fault)


class _Optional(Part):
    """A part whose values may be left out or null."""

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nulls(cls, values: Any) -> Any:
        return {name: value for name, value in values.items() if value is not None}


class CacheConfig(_Optional):
    """Settings of the cache.

    Attributes:
        enabled: Cache responses.
        path: Path from which the names of the files of the cache and the budget are made.
        ttl_ms: Time for which a response is cached, in milliseconds.
        max_bytes: Maximum size in bytes. The oldest responses are deleted first.
    """

    enabled: bool = True
    path: Annotated[str, AfterValidator(checked_path)] | None = None
    ttl_ms: Annotated[int, _within(TTL_MS), Variable("WEB_SEARCH_TTL_MS", TTL_MS)] = 1_800_000
    max_bytes: Annotated[int, _within(CACHE_BYTES)] = 256 * _MIB


class LogConfig(_Optional):
    """Settings of the log.

    Attributes:
        enabled: Write a log.
        path: Path of the log file.
        max_bytes: Size in bytes at which a new file is started.
        max_backups: Number of older files to keep.
        rotate_check_ms: Time between checks of the size, in milliseconds.
        queries: Log queries and URLs, and messages that may contain them.
    """

    enabled: bool = True
    path: Annotated[str, AfterValidator(checked_path)] | None = None
    max_bytes: Annotated[
        int, _within(LOG_BYTES), Variable("PI_WEB_SEARCH_LOG_MAX_BYTES", LOG_BYTES)
    ] = 10 * _MIB
    max_backups: Annotated[
        int, _within(LOG_BACKUPS), Variable("PI_WEB_SEARCH_LOG_MAX_BACKUPS", LOG_BACKUPS)
    ] = 5
    rotate_check_ms: Annotated[
        int,
        _within(ROTATE_CHECK_MS),
        Variable("PI_WEB_SEARCH_LOG_ROTATE_CHECK_MS", ROTATE_CHECK_MS),
    ] = 30_000
    queries: Literal["on", "off"] = "on"

    @field_validator("queries", mode="before")
    @classmethod
    def _read_queries(cls, value: Any) -> Any:
        for former, word in (("clear", "on"), ("hashed", "off")):
            if value == former:
                fail(f'must be "on" or "off": use "{word}" instead of "{former}"')
        return value


class ResearchConfig(_Optional):
    """Settings of research.

    Attributes:
        chain: Providers of each research command, in the order in which they are tried.
        synthesis: How `web-deep` writes answers by default. A provider is a name or type.
        merge: Query all providers of a chain at the same time and merge their results.
    """

    chain: dict[Command, tuple[str, ...]] = {}
    synthesis: str | None = None
    merge: bool = False

    @field_validator("chain", mode="before")
    @classmethod
    def _read_chain(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            fail("must be an object")
        chains = cast("dict[object, object]", value)
        return {_command(key): _names(f"chain.{key}", names) for key, names in chains.items()}


def _command(key: object) -> str:
    if key not in COMMANDS:
        near = hint(str(key), COMMANDS)
        fail(f"has the unknown command {quote(str(key))}{near}. Known commands: {listed(COMMANDS)}")
    return str(key)


def _names(path: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise ConfigError(f"{path} must be a list of provider names")
    names = tuple(cast("Sequence[object]", value))
    if not names:
        raise ConfigError(f"{path} is empty. List at least one provider, or remove it")
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise ConfigError(f"{path}[{i}] must be the name of a provider")
        if name in names[:i]:
            raise ConfigError(f"{path}[{i}] repeats {quote(name)}, which must be unique")
    return cast("tuple[str, ...]", names)


class FetchConfig(_Optional):
    """Which pages may be read, by any provider and tool.

    Attributes:
        allow_domains: Only pages of these hosts and their subdomains may be read. Write them as in
            a search filter, or `host:port`.
        deny_domains: Pages of these hosts and their subdomains may not be read, even if
            they are allowed.
        respect: What to do about pages that webtools fetches itself, and that AI models should not
            read according to their site (`ai-input=no`): `ignore` that, `warn` the model, or
            `obey`, so that the page fails and no other provider gets it. `obey` also obeys
            robots.txt. Default: `warn`, or `obey` if robots.txt is obeyed, as in bulk.
    """

    allow_domains: tuple[str, ...] | None = None
    deny_domains: tuple[str, ...] | None = None
    respect: Literal["ignore", "warn", "obey"] | None = None

    @field_validator("allow_domains", "deny_domains", mode="before")
    @classmethod
    def _check_domains(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None:
            return None
        if not isinstance(value, (list, tuple)):
            fail("must be a list of hosts")
        entries = tuple(cast("Sequence[Any]", value))
        if not all(isinstance(entry, str) for entry in entries):
            fail("must be a list of hosts")
        read_sites(entries, is_denied=info.field_name == "deny_domains")
        return entries

    @model_validator(mode="after")
    def _check_both(self) -> Self:
        rules = self.domains
        if both := set(rules.allow) & set(rules.deny):
            host = min(site.host for site in both)
            fail(f'has "{host}" in allowDomains and in denyDomains. Remove it from one list')
        return self

    @property
    def domains(self) -> OperatorDomains:
        """The rules that check a URL."""
        allow, deny = self.allow_domains, self.deny_domains
        return OperatorDomains(
            read_sites(allow) if allow else (), read_sites(deny, is_denied=True) if deny else ()
        )


_Usd = Annotated[float, Field(gt=0, le=_MAX_BUDGET, allow_inf_nan=False)]
_Calls = Annotated[int, Field(ge=1, le=_MAX_BUDGET)]


class BudgetConfig(_Optional):
    """Limits on spending. A call that would exceed a limit is refused. None means no limit.

    Attributes:
        usd_per_day: USD per UTC day, over all processes that share the store.
        calls_per_day: Paid calls per UTC day, over all processes that share the store.
        usd_per_process: USD per process.
        calls_per_process: Paid calls per process.
    """

    usd_per_day: _Usd | None = None
    calls_per_day: _Calls | None = None
    usd_per_process: _Usd | None = None
    calls_per_process: _Calls | None = None
