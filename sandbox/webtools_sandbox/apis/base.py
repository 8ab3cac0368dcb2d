"""The base of the simulated APIs: keys, requests, and the format of responses and errors.

The data file of an API contains its texts: `errors` (by status: a code, a message and further
fields), `keys` (the errors for a `missing` or `unknown` key and one with `no_credit`), `invalid`
(the error for a field), `error` (the body of an error), `answer` (fields of every response) and
`headers` (by status). `error` and `answer` are templates: `{message}`, `{code}`, `{status}`,
`{id}`, `{uuid}` and the names in `facts` are replaced by their values. Fields without a value are
left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from webtools_sandbox.keys import KeyRing
from webtools_sandbox.library import NO_FILTERS, Filters, PageHit
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from webtools_sandbox.library import Library

Json = dict[str, Any]
_CACHED_REPLIES = 512
_MAX_SHOWN = 80
_DEFAULT_KEY_ERRORS: Json = {"unknown": {"status": 401}, "no_credit": {"status": 402}}
_UNKNOWN_ERROR = ("", "The request could not be processed.")
_NAME = re.compile(r"\{(\w+)\}")


class RefusedError(Exception):
    """The request breaks a documented rule. The API converts this into its own error body."""

    def __init__(self, status: int, message: str, code: str | int = "", **more: Any) -> None:
        """Store the parts of the error body; `more` are fields of this API alone."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.more = more


class JsonRequest(BaseModel):
    """The fields of a JSON body. A quoted number is not accepted as a number."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class CamelRequest(JsonRequest):
    """The fields of a JSON body, named in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class QueryRequest(BaseModel):
    """The parameters of a query string, in which every value is text."""

    model_config = ConfigDict(extra="allow", frozen=True)


def not_blank(value: object) -> object:
    """Refuse a blank text."""
    if isinstance(value, str) and not value.strip():
        raise ValueError("expected a non-empty string")
    return value


def one_of(choices: Collection[str], fold: Callable[[str], str] = str) -> AfterValidator:
    """Return a validator that accepts only these words and returns `fold` of them."""

    def check(value: str) -> str:
        if fold(value) not in choices:
            raise ValueError(f"Input should be one of {', '.join(sorted(choices))}")
        return fold(value)

    return AfterValidator(check)


def _empty_if_null(value: object) -> object:
    return () if value is None else value


NonBlank = Annotated[str, BeforeValidator(not_blank)]
HttpUrl = Annotated[str, Field(pattern=r"^https?://")]
Country = Annotated[str | None, Field(pattern="^[A-Za-z]{2}$")]
# A list that may be missing or null.
Texts = Annotated[tuple[str, ...], Strict(strict=False), BeforeValidator(_empty_if_null)]


class BadField:
    """A field that breaks a rule.

    Attributes:
        loc: Its path.
        kind: The rule, in pydantic's words: `missing`, `int_parsing` and the like.
        value: The value in the request.
        message: What is wrong with it.
    """

    def __init__(self, error: ValidationError) -> None:
        """Take the first error that pydantic reports."""
        first = error.errors()[0]
        self.loc, self.kind, self.value = first["loc"], first["type"], first["input"]
        self.message = first["msg"].removeprefix("Value error, ")

    @property
    def name(self) -> str:
        """Its path as text, such as `filters.region`."""
        return ".".join(map(str, self.loc))

    def __str__(self) -> str:
        """Return a sentence with the path, the rule and the value."""
        value = repr(self.value)[:_MAX_SHOWN]
        return ": ".join(filter(None, (self.name, f"{self.message}, received {value}")))


class Route:
    """Decorator of a method of an `Api` that serves one or several endpoints.

    Args:
        request: The model of the query string or of the JSON body. The method is called with an
            instance, and returns a reply or a JSON body.
        endpoints: Such as `POST /search`.
        cached: Cache the response to a request: it does not change within a day.
    """

    handle: Callable[[Any, Any], object]

    def __init__(self, request: type[BaseModel], *endpoints: str, cached: bool = False) -> None:
        self.request = request
        self.endpoints = endpoints
        self.cached = cached

    def __call__(self, handle: Callable[[Any, Any], object]) -> Route:
        """Store the method."""
        self.handle = handle
        return self


class Api:
    """A simulated API: its key, its routes, and the format of its responses.

    Attributes:
        name: Prefix of its paths, and type of the provider.
        key: The test key that it accepts; empty if it needs no key.
        header: The header with the key.
        scheme: The word before the key, in lower case; empty if the key comes alone.
        keyless: Whether requests without a key are accepted too.
        is_default: Whether the configuration of a sandbox contains it by default.
        data: Its data file.
    """

    name: ClassVar[str]
    key: ClassVar[str] = ""
    header: ClassVar[str] = "authorization"
    scheme: ClassVar[str] = "bearer"
    keyless: ClassVar[bool] = False
    is_default: ClassVar[bool] = False
    data: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve `library` to clients with one of `keys`."""
        self.library = library
        self.keys = keys
        members = (member for kind in type(self).__mro__ for member in vars(kind).values())
        routes = [member for member in members if isinstance(member, Route)]
        self._routes = {endpoint: route for route in routes for endpoint in route.endpoints}
        self._cached_reply = lru_cache(_CACHED_REPLIES)(self._reply)

    def at(self, path: str) -> Api:  # noqa: ARG002 - for subclasses
        """Return the API that serves a path: this one, or another version of it."""
        return self

    def answer(self, call: Call) -> Reply:
        """Check the route, the key and the request, in the order of the real APIs, and answer."""
        route = self._routes.get(f"{call.method} {call.path}")
        try:
            if route is None:
                raise self.refusal(404)
            self.check_key(call)
            return (self._cached_reply if route.cached else self._reply)(call)
        except ValidationError as error:
            return self.error_reply(call, self.invalid(BadField(error)))
        except RefusedError as refused:
            return self.error_reply(call, refused)

    def _reply(self, call: Call) -> Reply:
        route = self._routes[f"{call.method} {call.path}"]
        result = route.handle(self, route.request.model_validate(self.fields(call)))
        return result if isinstance(result, Reply) else self.success(call, result)

    def hits(
        self, query: str, filters: Filters = NO_FILTERS, *, count: int, first: int = 0
    ) -> list[PageHit]:
        """Return a page of the hits of a search, best first."""
        return list(self.library.search(query, filters)[first : first + count])

    # --- errors ----------------------------------------------------------------------------------

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return the error reply for a status, by default with the API's own message."""
        return self.error_reply(call, self.refusal(status, message or ""))

    def refusal(
        self, status: int, message: str = "", code: str | int = "", **more: Any
    ) -> RefusedError:
        """Return the error for a status, by default with the API's own message and code."""
        errors = self.data.get("errors", {})
        own_code, own_message, *rest = errors.get(str(status), errors.get("0", _UNKNOWN_ERROR))
        message = message or own_message or _UNKNOWN_ERROR[1]
        return RefusedError(status, message, code or own_code, **{**dict(*rest), **more})

    def refused_key(self, kind: str) -> RefusedError:
        """Return the error for a key that is `missing`, `unknown` or has `no_credit`."""
        errors = _DEFAULT_KEY_ERRORS | self.data.get("keys", {})
        return self.refusal(**errors.get(kind, errors["unknown"]))

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a field that breaks a rule."""
        form = {"status": 400, "message": "{}"} | self.data.get("invalid", {})
        return self.refusal(form["status"], form["message"].format(field))

    def no_object(self) -> RefusedError:
        """Return the error for a body that is not a JSON object."""
        return self.refusal(400, "The request body must be a JSON object")

    def error_body(self, call: Call, refused: RefusedError) -> Json:
        """Return the body of an error."""
        error = {"message": refused.message, "code": refused.code, "status": refused.status}
        values = {**self.data.get("facts", {}), **error, **_ids(call), **refused.more}
        body: Json = _fill(self.data["error"], values)
        return body

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:
        """Return the reply to a refused request."""
        headers = {**self.headers(call, refused.status), **refused.more.get("headers", {})}
        body = self.error_body(call, refused)
        return json_reply(body, status=refused.status, headers=headers)

    # --- defaults of most APIs --------------------------------------------------------------------

    def sent_key(self, call: Call) -> str:
        """Return the key of a request, or an empty string."""
        value = call.headers.get(self.header, "")
        if not self.scheme:
            return value
        scheme, _, token = value.partition(" ")
        return token.strip() if scheme.lower() == self.scheme else ""

    def check_key(self, call: Call) -> None:
        """Raise the error for a key that is not accepted."""
        if not self.key or (self.keyless and self.header not in call.headers):
            return
        key = self.sent_key(call)
        key_status = self.keys.check(self.key, key)
        if key_status != "valid":
            raise self.refused_key(key_status if key else "missing")

    def fields(self, call: Call) -> Any:
        """Return the input of a request model: the JSON body of a POST, else the query string."""
        if call.method != "POST":
            return dict(call.query)
        try:
            data = call.json()
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise self.no_object()
        return cast("Json", data)

    def success(self, call: Call, body: Any) -> Reply:
        """Return the reply to a successful request."""
        if "answer" in self.data:
            body = {**_fill(self.data["answer"], _ids(call)), **body}
        return json_reply(body, headers=self.headers(call, 200))

    def headers(self, call: Call, status: int) -> dict[str, str]:  # noqa: ARG002 - for subclasses
        """Return the headers of a response."""
        return dict(self.data.get("headers", {}).get(str(status), {}))

    def settings(self, base_url: str) -> Json:
        """Return this API's entry for the `providers` of a web-search.json."""
        key = {"apiKey": self.key} if self.key else {}
        return {"name": self.name, "type": self.name, **key, "baseUrl": base_url}


def _ids(call: Call) -> Json:
    return {"id": call.number, "uuid": call.uuid}


def _fill(template: Any, values: Mapping[str, Any]) -> Any:
    """Replace the names in a template by their values."""
    if isinstance(template, Mapping):
        fields = cast("Mapping[str, Any]", template).items()
        filled = {name: _fill(part, values) for name, part in fields}
        return {name: value for name, value in filled.items() if value not in (None, "")}
    if not isinstance(template, str):
        return template
    name = _NAME.fullmatch(template)
    return values.get(name[1]) if name else template.format_map(values)
