"""The lines of a tape, and how a tape is read.

A tape is not trusted: its size is limited, and every line is checked by the models of the results.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    Field,
    JsonValue,
    ValidationError,
)
from pydantic_core import from_json

from webtools import errors
from webtools._internal.late_imports import resolve
from webtools._internal.text.narrowing import is_list, is_object
from webtools._internal.text.web_urls import has_login, is_web_url
from webtools.errors import ConfigError, InputError, Payment, WebToolsError
from webtools.inputs.argument_values import shown
from webtools.tools import ALL_TOOLS

MAX_BYTES = 64 * 1024 * 1024
OPTIONS = ("robots", "snippets")  # of a call; they change its response
ERRORS: dict[str, type[WebToolsError]] = {name: getattr(errors, name) for name in errors.__all__}
SAFELY = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_MAX_CALLS = 100_000
_MAX_LINE = 16 * 1024 * 1024  # bytes
_MAX_NAME = 200  # characters
_MAX_NUMBER = 2**53
_MAX_SOURCE = 10**9  # number of a source
_MAX_COUNT = 10**6  # searches, or USD, of one response
_URLS = {"url", "url_final", "markdown_url"}


def _check_name(text: str) -> str:
    if len(text) > _MAX_NAME or not text.isprintable():
        raise ValueError(f"{shown(text)} is not a name")
    return text


def _check_kind(text: str) -> str:
    if text not in ERRORS:
        raise ValueError(f"{shown(text)} is not the class of an error")
    return text


Name = Annotated[str, AfterValidator(_check_name)]


class TapeHeader(BaseModel):
    """The first line of a tape."""

    tape: Literal[1]
    webtools: Name
    created: AwareDatetime


class TapedError(BaseModel):
    """The error of a call, as in the details of a result."""

    type: Annotated[str, AfterValidator(_check_kind)]
    message: str
    provider: Name | None = None
    status: int | None = None
    retryable: bool = False
    retry_after: float | None = None
    cost_usd: float | None = None
    code: Name | None = None
    price: Name | None = None
    currency: Name | None = None
    scheme: Name | None = None

    def to_error(self) -> WebToolsError:
        """Return the error to raise."""
        names = {"provider", "status", "retryable", "retry_after", "cost_usd", "code"}
        payment = Payment(self.price, self.currency, self.scheme)
        facts = {**self.model_dump(include=names), "payment": payment if any(payment) else None}
        return ERRORS[self.type](self.message, **facts)


class NativeRecord(BaseModel):
    """Searches that the vendor of a model has made; see `Session.record_native`.

    Attributes:
        sources: URL and title of each source.
        citations: URLs of the sources that the model cites.
        unlisted: URLs of sources that the model may have made up. They cannot be opened.
    """

    vendor: Name
    queries: list[str] = []
    sources: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = []
    citations: list[str] = []
    unlisted: list[str] = []
    refused: list[str] = []
    notes: list[str] = []
    searches: int = Field(0, ge=0, le=_MAX_COUNT)
    cost_usd: float | None = Field(None, ge=0, le=_MAX_COUNT)
    is_estimate: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing but the name of the vendor."""
        facts = self.model_dump(exclude={"vendor", "is_estimate"})
        return not any(facts.values())


class TapedCall(BaseModel):
    """A call on a tape.

    Attributes:
        line: Number of the line.
        id: ID of the call.
        user: The user of its session; see `name_on_tape`.
        tool: Name of the tool; empty for searches of a model's vendor.
        arguments: The arguments that differ from their defaults, as the tool's input model
            normalizes them.
        at: When the call ended.
        settings: The settings that shape its response.
        response: The response, as a model; None for a failed call.
        error: Why the call failed.
        numbers: The numbers of its sources in the session, by URL.
        native: Searches of a model's vendor. They are reported, but cannot be replayed.
    """

    line: int
    id: Name = ""
    user: Name = ""
    tool: Name = ""
    arguments: dict[str, JsonValue] = {}  # pydantic copies it
    at: AwareDatetime
    settings: dict[str, JsonValue] = {}
    response: Any = None
    error: TapedError | None = None
    numbers: dict[str, Annotated[int, Field(ge=1, le=_MAX_SOURCE)]] = {}
    native: NativeRecord | None = None

    @property
    def key(self) -> str:
        """What equal calls have in common."""
        return key_of(self.tool, self.arguments)

    @property
    def has_config_error(self) -> bool:
        """Whether the call failed for want of a key, or because of the settings."""
        return self.error is not None and self.error.type == ConfigError.__name__

    def summary(self) -> dict[str, Any]:
        """Return the line, the tool and the arguments."""
        return {"line": self.line, "tool": self.tool, "arguments": self.arguments}

    def outcome(self) -> Any:
        """Return the response.

        Raises:
            WebToolsError: The call failed.
        """
        if self.error is not None:
            raise self.error.to_error()
        return self.response


def name_on_tape(user: str) -> str:
    """Return a name for a user that is equal on all tapes; empty for no user."""
    return hashlib.sha256(user.encode("utf-8", "surrogatepass")).hexdigest()[:16] if user else ""


def key_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a text that is equal for equal calls."""
    return json.dumps([tool, arguments], sort_keys=True)


def read_tape(path: Path) -> tuple[TapeHeader, list[TapedCall]]:
    """Read a tape.

    Raises:
        InputError: The file is not a tape, or one of its lines is not valid.
    """
    first, *lines = read_file(path).split(b"\n")
    header = read_header(path, first)
    if lines and lines.pop():
        refuse_line(path, len(lines) + 2, "it is incomplete. Delete it to use the others")
    if len(lines) > _MAX_CALLS:
        raise InputError(f"{path} has {len(lines)} calls; a tape has at most {_MAX_CALLS}.")
    return header, [read_call(path, number, line) for number, line in enumerate(lines, 2)]


def read_file(path: Path) -> bytes:
    """Read a regular file of limited size.

    Raises:
        InputError: It cannot be read, or is too large.
    """
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | SAFELY)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(f"{path} cannot be read: it is not a regular file.")
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from None
    if len(data) > MAX_BYTES:
        raise InputError(f"{path} is too large: it may have at most {MAX_BYTES} bytes.")
    return data


def reason_of(error: Exception) -> str:
    """Return why a file cannot be used."""
    return getattr(error, "strerror", None) or str(error)


def read_header(path: Path, line: bytes) -> TapeHeader:
    """Read the first line.

    Raises:
        InputError: It is not the header of a tape, or that of another version.
    """
    try:
        values = from_json(line, allow_inf_nan=False)
        version = values.get("tape") if is_object(values) else None
        if isinstance(version, int) and version != 1:
            version_text = f"it is a tape of version {shown(version)}, but this webtools reads 1"
            refuse_line(path, 1, f"{version_text}. Record it again")
        return TapeHeader.model_validate(values)
    except (ValueError, RecursionError):
        refuse_line(path, 1, "it is not the header of a tape. Choose a file that was recorded")


def read_call(path: Path, number: int, line: bytes) -> TapedCall:
    """Read a line after the first.

    Raises:
        InputError: It is not valid.
    """
    if len(line) > _MAX_LINE:
        refuse_line(path, number, f"it is longer than {_MAX_LINE} bytes")
    try:
        values = from_json(line, allow_inf_nan=False)
        check_values(values)
        call = TapedCall.model_validate({**values, "line": number})
        if call.native is None:
            _read_response(call)
    except ValidationError as error:
        [fault, *_] = error.errors(include_url=False, include_input=False)
        place = shown(".".join(map(str, fault["loc"])))
        refuse_line(path, number, f"{place} is not valid: {fault['msg']}")
    except (ValueError, TypeError, RecursionError) as error:
        # The message names the line of the tape; the parser has seen only this one.
        refuse_line(path, number, str(error).replace("at line 1 column", "at character"))
    return call


def refuse_line(path: Path, number: int, reason: str) -> NoReturn:
    """Raise the error of a line."""
    raise InputError(f"{path}, line {number} cannot be used: {reason}.")


def _read_response(call: TapedCall) -> None:
    """Replace the data of a response by its model.

    Raises:
        ValueError: It is not a response of the tool.
    """
    tool = ALL_TOOLS.get(call.tool)
    if tool is None:
        raise ValueError(f"{shown(call.tool)} is not a tool")
    if unknown := call.arguments.keys() - {*tool.input_model.model_fields, *OPTIONS}:
        raise ValueError(f"{shown(min(unknown))} is not an argument of {tool.name}")
    if (call.response is None) == (call.error is None):
        raise ValueError("a call has either a response or an error")
    if call.error is None:
        call.response = resolve(tool.response).model_validate(call.response)
        if tool.url_argument and not tool.url_switch:
            _check_urls(call.response, call.arguments.get(tool.url_argument))
    check_values([call.response, call.error])  # a text may have been read as a number


def _check_urls(response: Any, requested: Any) -> None:
    """Check that a response is about the URLs of the call.

    Raises:
        ValueError: It has other pages.
    """
    pages = getattr(response, "pages", [response])
    urls = requested if is_list(requested) else [requested]
    if [*dict.fromkeys(page.url for page in pages)] != [*dict.fromkeys(urls)]:
        raise ValueError("its response is not about the URLs of the call")


def check_values(value: Any, name: str = "") -> None:
    """Check the numbers and URLs of a line.

    Raises:
        ValueError: A number is too large, a cost negative, or a URL not a web URL.
    """
    if isinstance(value, (int, float)):
        if not -_MAX_NUMBER < value < _MAX_NUMBER or (name == "cost_usd" and value < 0):
            raise ValueError(f"{shown(name)} has the value {shown(value)}")
    elif isinstance(value, str):
        if value and name in _URLS and (not is_web_url(value) or has_login(value)):
            raise ValueError(f"{shown(name)} {shown(value)} is not an http(s) URL without a login")
    elif is_list(value):
        for item in value:
            check_values(item, "url" if name == "citations" else name)
    elif is_object(value):
        for key, item in value.items():
            check_values(item, key)
    elif isinstance(value, BaseModel):
        check_values(vars(value))
