"""What a provider says of itself: its name, its API, its keys, its options, limits and prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Capability: TypeAlias = Literal["search", "fetch", "summarize", "docs", "synthesize"]


class Options(BaseModel):
    """Base of a provider's `options` in the config file; unknown keys are an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False
    )


class SearchOptions(Options):
    """Options of every provider that searches."""

    default_search_limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
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
