"""Faults on demand: which requests fail, and the response that they get."""

from __future__ import annotations

import gzip
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from webtools_sandbox.models import VENDORS
from webtools_sandbox.models.base import ModelVendor
from webtools_sandbox.wire import JSON_TYPE, Reply, json_reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webtools_sandbox.models.turn import SearchFault
    from webtools_sandbox.wire import Call, Site

Body = Literal["html", "cut", "huge", "bomb", "empty", "gzip", "echo", "hangup"]
FaultBody = Body | bytes | dict[str, Any] | list[Any] | None

_BODIES = frozenset(get_args(Body))
_SEARCH_FAULTS: Mapping[str | None, frozenset[SearchFault]] = {
    vendor.name: vendor.search_faults for vendor in VENDORS
}
_HTML = (
    b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>"
    b"<body><center><h1>502 Bad Gateway</h1></center></body></html>"
)


class FaultSettings(TypedDict, total=False):
    """The keyword arguments of `SandboxServer.fault`. `Fault` describes them."""

    provider: str | None
    path: str | None
    containing: str | None
    times: int | None
    status: int | None
    retry_after: float | str | None
    retry_after_as_date: bool
    delay: float
    body: FaultBody
    headers: Mapping[str, str]
    mib: float
    reset: bool
    drip: float
    drip_headers: float
    search: SearchFault | None


@dataclass(frozen=True)
class Fault:
    """A fault: the requests that it matches, and the response that they get.

    Attributes:
        provider: Type of the provider, such as `exa`, or `pages` for the pages of the corpus.
            Default: all.
        path: End of the path, such as `/search`. Default: all paths.
        containing: Text in the query string or the body of the request. Default: any.
        times: Number of requests to which the fault applies, or None for all. Default: 1.
        status: HTTP status. The body is then an error body of the API, unless `body` is set.
        retry_after: `Retry-After` in seconds, or the value of the header as a string.
        retry_after_as_date: Whether to send `Retry-After` as an HTTP date, `retry_after` seconds
            from now.
        delay: Seconds to wait before the response.
        body: The body. `html`: an HTML page. `empty`: no bytes. `echo`: an error that repeats the
            key of the request. `cut`: half of the body, then the end. `huge`: `mib` MiB of JSON.
            `bomb`: the same, compressed with gzip. `gzip`: the usual response, compressed.
            `hangup`: the connection ends without a response. Bytes are sent unchanged as JSON; a
            dict or list is encoded as JSON.
        headers: Further headers, such as `Location`.
        mib: Size of `huge` and `bomb` in MiB.
        reset: Whether to reset the connection (RST) instead of responding. With `cut`, the reset
            follows the first half.
        drip: Seconds between the bytes of the body.
        drip_headers: Seconds between the bytes of the status line and the headers.
        search: What goes wrong in the search of a model vendor, which `provider` must name.
            `error`: the search fails. `outside`: a result and a citation are outside the filters.
            `uncounted` (not of `google`): the number of searches is missing. Of `anthropic` only:
            `pause` pauses the answer, and with `later` the result comes with the next response.
    """

    provider: str | None = None
    path: str | None = None
    containing: str | None = None
    times: int | None = 1
    status: int | None = None
    retry_after: float | str | None = None
    retry_after_as_date: bool = False
    delay: float = 0.0
    body: FaultBody = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    mib: float = 20.0
    reset: bool = False
    drip: float = 0.0
    drip_headers: float = 0.0
    search: SearchFault | None = None

    def __post_init__(self) -> None:
        """Refuse a body or a fault of the search that would silently do nothing."""
        if isinstance(self.body, str) and self.body not in _BODIES:
            names = ", ".join(sorted(_BODIES))
            raise ValueError(f"Unknown fault body {self.body!r}. Use {names}, or bytes.")
        if self.search is not None and self.search not in _SEARCH_FAULTS.get(self.provider, ()):
            pairs = [
                f"{name}: {', '.join(sorted(kinds))}" for name, kinds in _SEARCH_FAULTS.items()
            ]
            raise ValueError(
                f"No search={self.search!r} for provider={self.provider!r}. Use one of "
                f"{'; '.join(pairs)}."
            )

    def hits(self, provider: str, call: Call) -> bool:
        """Return whether the fault matches a request."""
        if self.provider not in {None, provider}:
            return False
        if self.path is not None and not call.path.endswith(self.path):
            return False
        request_text = (
            f"{call.query} {call.body.decode(errors='replace')}" if self.containing else ""
        )
        return self.containing is None or self.containing in request_text


def fault_from_json(data: Mapping[str, Any]) -> Fault:
    """Read a fault from the body of `POST /_sandbox/faults`.

    The keys are those of `Fault`. `body_text` is a body to send unchanged.

    Raises:
        ValueError: A key or a value is invalid.
    """
    settings = dict(data)
    names = [*FaultSettings.__annotations__, "body_text"]
    if unknown := settings.keys() - {*names}:
        raise ValueError(f"Unknown key {min(unknown)!r}. Use {', '.join(names)}.")
    if "body_text" in settings:
        settings["body"] = str(settings.pop("body_text")).encode()
    return Fault(**settings)


class FaultBoard:
    """The current faults. They can be changed from any thread."""

    def __init__(self) -> None:
        """Create a board without faults."""
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> None:
        """Add a fault; earlier faults are tried first."""
        with self._lock:
            self._faults.append(fault)

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            self._faults.clear()

    def take(self, provider: str, call: Call) -> Fault | None:
        """Return the first fault that matches a request, and count the request."""
        if not self._faults:
            return None
        with self._lock:
            for index, fault in enumerate(self._faults):
                if fault.hits(provider, call):
                    self._use_up(index, fault)
                    return fault
        return None

    def _use_up(self, index: int, fault: Fault) -> None:
        if fault.times is None:
            return
        if fault.times <= 1:
            del self._faults[index]
        else:
            self._faults[index] = replace(fault, times=fault.times - 1)


def faulty_reply(fault: Fault, site: Site, call: Call) -> Reply:
    """Return the response of a fault. `delivery` decides how it is sent."""
    reply = _content(fault, site, call)
    headers = {**reply.headers, **_retry_after(fault), **fault.headers}
    if fault.body == "gzip":
        headers["Content-Encoding"] = "gzip"
        return replace(reply, body=gzip.compress(reply.body), headers=headers)
    return replace(reply, headers=headers)


def _content(fault: Fault, site: Site, call: Call) -> Reply:
    status, body = fault.status or 200, fault.body
    if body in ("html", "empty"):
        page = _HTML if body == "html" else b""
        return Reply(status, page, "text/html; charset=utf-8" if page else JSON_TYPE)
    if body == "echo":
        return site.failure(
            call, fault.status or 401, f"The key {site.sent_key(call)} was not accepted."
        )
    if isinstance(body, bytes):
        return Reply(status, body)
    if isinstance(body, dict | list):
        return json_reply(body, status=status)
    if fault.status is not None:
        return site.failure(call, status)
    return (
        site.answer_with(fault.search, call) if isinstance(site, ModelVendor) else site.answer(call)
    )


def _retry_after(fault: Fault) -> dict[str, str]:
    if fault.retry_after is None:
        return {}
    if not fault.retry_after_as_date:
        return {"Retry-After": str(fault.retry_after)}
    when = datetime.now(UTC) + timedelta(seconds=float(fault.retry_after))
    return {"Retry-After": format_datetime(when, usegmt=True)}
