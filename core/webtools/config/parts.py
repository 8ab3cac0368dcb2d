"""The parts at the top of the config: cache, log, research and budget.

Each has a default for everything, so that a config without the part is one with its defaults.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from webtools._internal.text.choices import Command
from webtools._internal.text.narrowing import is_object
from webtools._internal.text.quoting import QUOTED, SHORTEST_KEY, hint, listed, quote
from webtools._internal.text.redaction import Redactor
from webtools.config.config_messages import explain, fail
from webtools.config.setting_values import checked_path
from webtools.errors import ConfigError
from webtools.providers.operator_domains import OperatorDomains, read_site

_Read = TypeVar("_Read", bound="Part")

_MIB = 1024 * 1024
_DAY_MS = 24 * 60 * 60 * 1000
_MOST = 1_000_000_000  # USD or calls: beyond any budget, and small enough to reckon with


class Bounds(NamedTuple):
    """The least and the most that a number may be."""

    least: int
    most: int


MAX_RESULTS = Bounds(1, 100)
TTL_MS = Bounds(0, 30 * _DAY_MS)
CACHE_BYTES = Bounds(_MIB, 64 * 1024 * _MIB)
LOG_BYTES = Bounds(128 * 1024, 512 * _MIB)
LOG_BACKUPS = Bounds(1, 20)
ROTATE_CHECK_MS = Bounds(1_000, 600_000)

COMMANDS: tuple[Command, ...] = get_args(Command)


def _within(bounds: Bounds) -> Any:
    return Field(ge=bounds.least, le=bounds.most)


class Part(BaseModel):
    """A part of the config: frozen, strict, and its errors are ours and hold no input."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    def __init__(self, /, **values: Any) -> None:
        """Check the values; pydantic also comes here for a dict.

        Raises:
            ConfigError: A value is wrong; the text begins with its path within this part.
        """
        fault = ""
        try:
            super().__init__(**values)
        except ValidationError as error:
            fault = explain(error, type(self))
        except ConfigError as error:
            fault = str(error)
        if fault:
            fault = _without_keys(fault, values)
            values.clear()  # a traceback that shows local variables would show the keys
            raise ConfigError(fault)


def _without_keys(fault: str, values: object) -> str:
    """Redact the keys that are set somewhere, and again where a name belongs."""
    keys = set(_keys(values, is_key=False))
    # A long one is shown cut.
    return Redactor({*keys, *(key[:QUOTED] for key in keys)}).text(fault)


def _keys(value: object, *, is_key: bool) -> Iterator[str]:
    if isinstance(value, BaseModel):
        value = vars(value)
    if isinstance(value, SecretStr):
        value, is_key = value.get_secret_value(), True
    if isinstance(value, str):
        yield from [value] if is_key and len(value) >= SHORTEST_KEY else []
    elif is_object(value):
        for name, each in value.items():
            yield from _keys(each, is_key=str(name).lower().endswith(("key", "proxy", "url")))
    elif isinstance(value, (list, tuple)):
        for each in cast("Sequence[object]", value):
            yield from _keys(each, is_key=is_key)


def has_text_keys(value: object) -> bool:
    """Return whether a value is what a JSON object gives."""
    return isinstance(value, dict) and all(
        isinstance(key, str) for key in cast("dict[object, object]", value)
    )


def read_part(path: str, model: type[_Read], value: object) -> _Read:
    """Read a part from what stands at a path of the config.

    Raises:
        ConfigError: It is wrong; the text begins with the path.
    """
    if isinstance(value, model):
        return value
    if not has_text_keys(value):
        raise ConfigError(f"{path} must be an object")
    try:
        return model.model_validate(value)
    except ConfigError as error:
        fault = str(error)
    raise ConfigError(f"{path}.{fault}")


class _Optional(Part):
    """A part that may be left out, as may each of its values; null counts as left out."""

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nulls(cls, values: Any) -> Any:
        return {name: value for name, value in values.items() if value is not None}


class CacheConfig(_Optional):
    """Which answers are cached, and for how long.

    Attributes:
        enabled: Whether answers are cached at all.
        path: The file; None for the user's cache folder.
        ttl_ms: How long an answer stays in the cache, in milliseconds; 0 keeps nothing.
        max_bytes: Bound on the cache; the oldest answer goes first.
    """

    enabled: bool = True
    path: Annotated[str, AfterValidator(checked_path)] | None = None
    ttl_ms: Annotated[int, _within(TTL_MS)] = 1_800_000
    max_bytes: Annotated[int, _within(CACHE_BYTES)] = 256 * _MIB


class LogConfig(_Optional):
    """What is written down of the calls.

    Attributes:
        enabled: Whether a log is written.
        path: The file; None for the user's log folder.
        max_bytes: Size at which a new file is begun.
        max_backups: How many full files are kept.
        rotate_check_ms: Milliseconds between two looks at the size.
        queries: Whether queries and URLs are written, and the messages that may quote them.
    """

    enabled: bool = True
    path: Annotated[str, AfterValidator(checked_path)] | None = None
    max_bytes: Annotated[int, _within(LOG_BYTES)] = 10 * _MIB
    max_backups: Annotated[int, _within(LOG_BACKUPS)] = 5
    rotate_check_ms: Annotated[int, _within(ROTATE_CHECK_MS)] = 30_000
    queries: Literal["on", "off"] = "on"

    @field_validator("queries", mode="before")
    @classmethod
    def _read_queries(cls, value: Any) -> Any:
        for former, word in (("clear", "on"), ("hashed", "off")):
            if value == former:
                fail(f'must be "on" or "off": use "{word}" instead of "{former}"')
        return value


class ResearchConfig(_Optional):
    """How research is done.

    Attributes:
        chain: For a command, the names of the providers in the order in which they are tried.
        synthesis: Who writes the answer where the call does not say: `extractive`, `none`, or the
            type or name of a provider that can; None where nothing is set.
        merge: Ask all providers of a chain at once and fuse their ranks, in place of one after the
            other until one finds something.
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
        fail(f"names the unknown command {quote(str(key))}{near}; known are: {listed(COMMANDS)}")
    return str(key)


def _names(path: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise ConfigError(f"{path} must be a list of provider names")
    names = tuple(cast("Sequence[object]", value))
    if not names:
        raise ConfigError(f"{path} is empty: name at least one provider, or leave it out")
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise ConfigError(f"{path}[{i}] must be the name of a provider")
        if name in names[:i]:
            raise ConfigError(f"{path}[{i}] repeats {quote(name)}, which must be unique")
    return cast("tuple[str, ...]", names)


class FetchConfig(_Optional):
    """What pages may be read, whatever a model asks, by any provider and tool.

    Attributes:
        allow_domains: The only hosts, with their sub-domains, that pages are read from; null for
            all. An entry may have a port, and is then for that port alone.
        deny_domains: Hosts, with their sub-domains, that no page is read from, also where
            `allowDomains` names them.
    """

    allow_domains: tuple[str, ...] | None = None
    deny_domains: tuple[str, ...] | None = None

    @field_validator("allow_domains", "deny_domains", mode="before")
    @classmethod
    def _read_domains(cls, value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, (list, tuple)):
            fail("must be a list of hosts")
        entries = tuple(cast("Sequence[object]", value))
        if not entries:
            fail("is empty: name at least one host, or leave it out")
        if not all(isinstance(entry, str) for entry in entries):
            fail("must be a list of hosts")
        for entry in cast("Sequence[str]", entries):
            read_site(entry)
        return entries

    @property
    def domains(self) -> OperatorDomains:
        """The same, ready to be asked."""
        lists = (self.allow_domains or (), self.deny_domains or ())
        return OperatorDomains(*(tuple(map(read_site, each)) for each in lists))


_Usd = Annotated[float, Field(gt=0, le=_MOST, allow_inf_nan=False)]
_Calls = Annotated[int, Field(ge=1, le=_MOST)]


class BudgetConfig(_Optional):
    """What may be spent; a call that would pass a limit is refused. None where there is no limit.

    Attributes:
        usd_per_day: USD in a day of UTC, over all processes that share the store.
        calls_per_day: Calls in such a day; those whose price is 0 do not count.
        usd_per_process: USD in the life of a process.
        calls_per_process: Calls in the life of a process; those whose price is 0 do not count.
    """

    usd_per_day: _Usd | None = None
    calls_per_day: _Calls | None = None
    usd_per_process: _Usd | None = None
    calls_per_process: _Calls | None = None
