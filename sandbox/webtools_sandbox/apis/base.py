"""What the imitated APIs share: who may ask, what is read of a request, the form of an answer.

What an API says in its own words stands in its data file: `errors` (with a status: a code, a
message and what else is known), `keys` (how a `missing` or `unknown` key and one with `no_credit`
are refused), `invalid` (how a field is), `error` (the body of an error), `answer` (what each answer
has beside its own) and `headers` (of a status). In `error` and `answer`, `{message}`, `{code}`,
`{status}`, `{id}`, `{uuid}` and the names of `facts` stand for what is so called; what nobody knows
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
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

from webtools_sandbox.keys import KeyRing, Standing
from webtools_sandbox.library import NO_FILTERS, Filters, Found
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from webtools_sandbox.library import Library

Json = dict[str, Any]
_CACHED_ANSWERS = 512
_MAX_SHOWN = 80
_USUAL_REFUSALS: Json = {"unknown": {"status": 401}, "no_credit": {"status": 402}}
_UNKNOWN_ERROR = ("", "The request could not be processed.")
_NAME = re.compile(r"\{(\w+)\}")


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


class CamelRequest(JsonRequest):
    """The fields of a JSON body that are named in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class QueryRequest(BaseModel):
    """The parameters of a query string, where everything is text."""

    model_config = ConfigDict(extra="allow", frozen=True)


def not_blank(value: object) -> object:
    """Refuse a text without a letter in it."""
    if isinstance(value, str) and not value.strip():
        raise ValueError("expected a non-empty string")
    return value


def one_of(known: Collection[str], fold: Callable[[str], str] = str) -> AfterValidator:
    """Return a validator that takes these words alone, and returns them as `fold` does."""

    def check(value: str) -> str:
        if fold(value) not in known:
            raise ValueError(f"Input should be one of {', '.join(sorted(known))}")
        return fold(value)

    return AfterValidator(check)


def _or_none(value: object) -> object:
    return () if value is None else value


NonBlank = Annotated[str, BeforeValidator(not_blank)]
HttpUrl = Annotated[str, Field(pattern=r"^https?://")]
Country = Annotated[str | None, Field(pattern="^[A-Za-z]{2}$")]
# A list that may be missing or null.
Texts = Annotated[tuple[str, ...], Strict(strict=False), BeforeValidator(_or_none)]


class BadField:
    """A field that breaks a rule.

    Attributes:
        loc: Its path.
        kind: The rule, in pydantic's words: `missing`, `int_parsing` and the like.
        value: What was sent.
        said: What is wrong with it.
    """

    def __init__(self, error: ValidationError) -> None:
        """Take the first fault that was found."""
        first = error.errors()[0]
        self.loc, self.kind, self.value = first["loc"], first["type"], first["input"]
        self.said = first["msg"].removeprefix("Value error, ")

    @property
    def name(self) -> str:
        """Its path as text, such as `filters.region`."""
        return ".".join(map(str, self.loc))

    def __str__(self) -> str:
        """Return the sentence about it: where, what, and the value that was sent."""
        value = repr(self.value)[:_MAX_SHOWN]
        return ": ".join(filter(None, (self.name, f"{self.said}, received {value}")))


class Route:
    """Says of a method of an `Api` what it answers, as its decorator.

    Args:
        request: What is read of the query string or of the JSON body; the method is called with it,
            and returns a reply, or what is sent as JSON.
        served: The requests that it answers: `POST /search` and the like.
        cached: Answer the same request from memory: nothing in the answer changes within a day.
    """

    handle: Callable[[Any, Any], object]

    def __init__(self, request: type[BaseModel], *served: str, cached: bool = False) -> None:
        self.request = request
        self.served = served
        self.cached = cached

    def __call__(self, handle: Callable[[Any, Any], object]) -> Route:
        """Take the method."""
        self.handle = handle
        return self


class Api:
    """An imitated API: its key, its routes, and the form of its answers.

    Attributes:
        name: Prefix of its paths, and type of the provider.
        key: The test key that opens it; an empty one where everybody may ask.
        header: The header that carries the key.
        scheme: The word before the key, in lower case; empty where the key stands alone.
        keyless: Whether who sends no key at all may ask too.
        usual: Whether a sandbox's configuration leads to it unless told otherwise.
        data: Its data file.
    """

    name: ClassVar[str]
    key: ClassVar[str] = ""
    header: ClassVar[str] = "authorization"
    scheme: ClassVar[str] = "bearer"
    keyless: ClassVar[bool] = False
    usual: ClassVar[bool] = False
    data: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve `library` to the holders of `keys`."""
        self.library = library
        self.keys = keys
        made = (each for kind in type(self).__mro__ for each in vars(kind).values())
        routes = [each for each in made if isinstance(each, Route)]
        self._routes = {served: route for route in routes for served in route.served}
        self._from_memory = library.cached(_CACHED_ANSWERS, self._served)

    def at(self, path: str) -> Api:  # noqa: ARG002  for others
        """Return what serves a path: this API, or another version of it."""
        return self

    def answer(self, call: Call) -> Reply:
        """Answer as the real API does: route, key, request, in this order."""
        route = self._routes.get(f"{call.method} {call.path}")
        try:
            if route is None:
                raise self.refusal(404)
            self.check_key(call)
            return (self._from_memory if route.cached else self._served)(call)
        except ValidationError as error:
            return self.error_reply(call, self.invalid(BadField(error)))
        except RefusedError as refused:
            return self.error_reply(call, refused)

    def _served(self, call: Call) -> Reply:
        route = self._routes[f"{call.method} {call.path}"]
        made = route.handle(self, route.request.model_validate(self.fields(call)))
        return made if isinstance(made, Reply) else self.success(call, made)

    def found(
        self, query: str, filters: Filters = NO_FILTERS, *, count: int, first: int = 0
    ) -> list[Found]:
        """Return a page of the hits of a search, best first."""
        hits = self.library.search(query, filters)[first : first + count]
        return [Found(self.library, hit.document, query, hit.score) for hit in hits]

    # --- errors ----------------------------------------------------------------------------------

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return the error body for a status, with the API's own words unless others are given."""
        return self.error_reply(call, self.refusal(status, message or ""))

    def refusal(
        self, status: int, message: str = "", code: str | int = "", **more: Any
    ) -> RefusedError:
        """Return the error for a status, in the API's own words unless others are given."""
        known = self.data.get("errors", {})
        own_code, own, *rest = known.get(str(status), known.get("0", _UNKNOWN_ERROR))
        words = message or own or _UNKNOWN_ERROR[1]
        return RefusedError(status, words, code or own_code, **{**dict(*rest), **more})

    def refused_key(self, kind: str) -> RefusedError:
        """Return the error for a key that is `missing`, `unknown` or has `no_credit`."""
        known = _USUAL_REFUSALS | self.data.get("keys", {})
        return self.refusal(**known.get(kind, known["unknown"]))

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a field that breaks a rule."""
        how = {"status": 400, "message": "{}"} | self.data.get("invalid", {})
        return self.refusal(how["status"], how["message"].format(field))

    def no_object(self) -> RefusedError:
        """Return the error for a body that is no JSON object."""
        return self.refusal(400, "The request body must be a JSON object")

    def error_body(self, call: Call, refused: RefusedError) -> Json:
        """Return the body of an error."""
        said = {"message": refused.message, "code": refused.code, "status": refused.status}
        known = {**self.data.get("facts", {}), **said, **_numbers(call), **refused.more}
        body: Json = _filled(self.data["error"], known)
        return body

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:
        """Return the reply to a request that is refused."""
        headers = {**self.headers(call, refused.status), **refused.more.get("headers", {})}
        body = self.error_body(call, refused)
        return json_reply(body, status=refused.status, headers=headers)

    # --- what most APIs do alike -----------------------------------------------------------------

    def sent_key(self, call: Call) -> str:
        """Return the key that a request carries; empty where there is none."""
        value = call.headers.get(self.header, "")
        if not self.scheme:
            return value
        scheme, _, token = value.partition(" ")
        return token.strip() if scheme.lower() == self.scheme else ""

    def check_key(self, call: Call) -> None:
        """Refuse who has no good key, unless none is needed."""
        if not self.key or (self.keyless and self.header not in call.headers):
            return
        key = self.sent_key(call)
        standing = self.keys.check(self.key, key)
        if standing is not Standing.GOOD:
            raise self.refused_key(standing.value if key else "missing")

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

    def success(self, call: Call, made: Any) -> Reply:
        """Return the reply to a request that was answered with `made`."""
        if "answer" in self.data:
            made = {**_filled(self.data["answer"], _numbers(call)), **made}
        return json_reply(made, headers=self.headers(call, 200))

    def headers(self, call: Call, status: int) -> dict[str, str]:  # noqa: ARG002  for others
        """Return the headers of an answer."""
        return dict(self.data.get("headers", {}).get(str(status), {}))

    def settings(self, base_url: str) -> Json:
        """Return this API's entry for the `providers` of a web-search.json."""
        key = {"apiKey": self.key} if self.key else {}
        return {"name": self.name, "type": self.name, **key, "baseUrl": base_url}

    def reset(self) -> None:
        """Forget what earlier requests have changed, such as a balance."""


def _numbers(call: Call) -> Json:
    return {"id": call.number, "uuid": call.uuid}


def _filled(shape: Any, known: Mapping[str, Any]) -> Any:
    """Return a shape with what its names stand for."""
    if isinstance(shape, Mapping):
        fields = cast("Mapping[str, Any]", shape).items()
        made = {name: _filled(each, known) for name, each in fields}
        return {name: each for name, each in made.items() if each not in (None, "")}
    if not isinstance(shape, str):
        return shape
    whole = _NAME.fullmatch(shape)
    return known.get(whole[1]) if whole else shape.format_map(known)
