"""What the imitated APIs share: a table of routes, request models, and who may ask."""

from __future__ import annotations

import hashlib
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from webtools_sandbox.keys import KeyRing, Standing
from webtools_sandbox.library import moment
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from webtools_sandbox.library import Library

Json = dict[str, Any]
_CACHED_ANSWERS = 512
_MAX_SHOWN = 80


class RefusedError(Exception):
    """The request breaks a documented rule; the API turns this into its own error body."""

    def __init__(self, status: int, message: str, code: str | int = "", **more: Any) -> None:
        """Keep what the error body needs; `more` is what this API alone says."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.more = more


class JsonRequest(BaseModel):
    """The fields of a JSON body: a number in quotation marks is none."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class QueryRequest(BaseModel):
    """The parameters of a query string, where everything is text."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Nothing(QueryRequest):
    """A request of which nothing is read."""


def not_blank(value: object) -> object:
    """Refuse a text without a letter in it."""
    if isinstance(value, str) and not value.strip():
        message = "expected a non-empty string"
        raise ValueError(message)
    return value


NonBlank = Annotated[str, BeforeValidator(not_blank)]
HttpUrl = Annotated[str, Field(pattern=r"^https?://")]


def day_or_moment(*, end_of_day: bool = False) -> BeforeValidator:
    """Return a validator that reads an ISO 8601 date or date-time."""

    def read(value: object) -> datetime | None:
        return None if value is None else moment(str(value), end_of_day=end_of_day)

    return BeforeValidator(read)


@dataclass(frozen=True)
class Route:
    """One row of an API's table.

    Attributes:
        request: What is read of the query string or of the JSON body.
        handle: Called with the request as read; returns a reply, or what is sent as JSON.
        cached: Answer the same request from memory: nothing in the answer changes within a day.
    """

    request: type[BaseModel]
    handle: Callable[[Any], object]
    cached: bool = False


class Api(ABC):
    """An imitated API: its key, its table of routes, and the form of its errors.

    Attributes:
        name: Prefix of its paths, and type of the provider.
        key: The test key that opens it.
        usual: Whether a sandbox's configuration leads to it unless told otherwise.
        errors: What it says with a status: a code and a message.
    """

    name: ClassVar[str]
    key: ClassVar[str]
    usual: ClassVar[bool] = True
    errors: ClassVar[Mapping[int, tuple[str | int, str]]] = {}

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve `library` to the holders of `keys`."""
        self.library = library
        self.keys = keys
        self._routes = self.routes()
        self._from_memory = library.cached(_CACHED_ANSWERS, self._served)

    @abstractmethod
    def routes(self) -> Mapping[str, Route]:
        """Return the table: `POST /search` and the like, with what is done there."""

    @abstractmethod
    def error_reply(self, call: Call, refused: RefusedError) -> Reply:
        """Return the API's own error body."""

    def answer(self, call: Call) -> Reply:
        """Answer as the real API does: route, key, request, in this order."""
        route = self._routes.get(f"{call.method} {call.path}")
        try:
            if route is None:
                raise self.refusal(404, f"Cannot {call.method} {call.path}")
            self.check_key(call)
            return (self._from_memory if route.cached else self._served)(call)
        except ValidationError as error:
            return self.error_reply(call, self.invalid(call, error.errors()[0]))
        except RefusedError as refused:
            return self.error_reply(call, refused)

    def _served(self, call: Call) -> Reply:
        route = self._routes[f"{call.method} {call.path}"]
        made = route.handle(route.request.model_validate(self.fields(call)))
        return made if isinstance(made, Reply) else self.success(call, made)

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return the error body for a status, with the API's own words unless others are given."""
        refused = self.refusal(status)
        refused.message = message or refused.message
        return self.error_reply(call, refused)

    def refusal(self, status: int, message: str = "The request could not be processed.") -> Any:
        """Return the error for a status, in the API's own words where it has some."""
        code, own = self.errors.get(status, self.errors.get(0, ("", "")))
        return RefusedError(status, own or message, code)

    # --- what most APIs do alike -----------------------------------------------------------------

    def sent_key(self, call: Call) -> str:
        """Return the token of a Bearer header."""
        scheme, _, token = call.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""

    def check_key(self, call: Call) -> None:
        """Refuse an unknown key with 401 and one without credit with 402."""
        standing = self.keys.check(self.key, self.sent_key(call))
        if standing is not Standing.GOOD:
            raise self.refusal(401 if standing is Standing.UNKNOWN else 402)

    def fields(self, call: Call) -> Any:
        """Return what a request model reads: the JSON body of a POST, else the query string."""
        if call.method != "POST":
            return dict(call.query)
        try:
            data = call.json()
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise self.no_object()
        return cast("Json", data)

    def no_object(self) -> RefusedError:
        """Return the error for a body that is no JSON object."""
        code = self.errors.get(400, ("", ""))[0]
        return RefusedError(400, "The request body must be a JSON object", code)

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002  for others
        """Return the error for a field that breaks a rule."""
        return RefusedError(400, described(fault), self.errors.get(400, ("", ""))[0])

    def success(self, call: Call, made: Any) -> Reply:  # noqa: ARG002  for others
        """Return the reply to a request that was answered with `made`."""
        return json_reply(made)

    def settings(self, base_url: str) -> Json:
        """Return this API's entry for the `providers` of a web-search.json."""
        return {"name": self.name, "type": self.name, "apiKey": self.key, "baseUrl": base_url}

    def reset(self) -> None:  # noqa: B027  most answers carry no state
        """Forget what earlier requests have changed, such as a balance."""


def where(fault: ErrorDetails) -> str:
    """Return the path of a field, such as `filters.region`."""
    return ".".join(map(str, fault["loc"]))


def said(fault: ErrorDetails) -> str:
    """Return what is wrong with a field, without the library's own prefix."""
    return fault["msg"].removeprefix("Value error, ")


def described(fault: ErrorDetails) -> str:
    """Return the sentence about a field: where, what, and the value that was sent."""
    value = repr(fault["input"])[:_MAX_SHOWN]
    return ": ".join(filter(None, (where(fault), f"{said(fault)}, received {value}")))


def digest_of(call: Call) -> bytes:
    """Return sixteen bytes that are the same for the same request."""
    sent = f"{call.path}?{call.query_string}\n".encode() + call.body
    return hashlib.blake2b(sent, digest_size=16).digest()


def uuid_of(call: Call) -> str:
    """Return the number of a request in the form of a UUID."""
    return str(uuid.UUID(bytes=digest_of(call)))


def listed(values: Iterable[str] | None) -> tuple[str, ...]:
    """Return a list that may be missing as a tuple."""
    return tuple(values or ())
