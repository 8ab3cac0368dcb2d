"""Between our requests and answers and those of httpcore, whose errors become ours.

httpx raises errors of the same names where something is sent through it; it is not imported here,
as that takes longer than a request.
"""

from __future__ import annotations

import re
import socket
import ssl
import sys
import time
import zlib
from contextlib import suppress
from functools import lru_cache
from json import JSONEncoder
from typing import Any

import httpcore

from webtools._version import __version__
from webtools.errors import RequestError, RequestTimeoutError, WebToolsError
from webtools.http.messages import Request, Response
from webtools.http.targets import Target, split
from webtools.text.cleaning import one_line, without_login

_DEFAULT_HEADERS = [
    ("accept", (b"accept", b"application/json")),
    ("accept-encoding", (b"accept-encoding", b"gzip")),
    ("user-agent", (b"user-agent", f"agent-webtools/{__version__}".encode())),
]
LATE = "no answer came in time"
_encode = JSONEncoder(separators=(",", ":")).encode


def errors_named(*names: str) -> tuple[type[Exception], ...]:
    """Return the errors of these names in the engines that have been imported."""
    engines = (httpcore, sys.modules.get("httpx"))
    found = (getattr(engine, name, None) for engine in engines for name in names)
    return tuple(each for each in found if each is not None)


def network_errors() -> tuple[type[Exception], ...]:
    """Return all that says that no answer came."""
    base = ("TimeoutException", "NetworkError", "ProtocolError", "ProxyError", "HTTPError")
    return (*errors_named(*base), *_no_address(), OSError)


def _no_address() -> tuple[type[Exception], ...]:
    return (*errors_named("UnsupportedProtocol", "InvalidURL"), UnicodeError)


@lru_cache(maxsize=256)
def target_of(url: str) -> Target:
    """Split a URL as httpcore wants it.

    Raises:
        RequestError: It cannot be used.
    """
    try:
        return split(url)
    except Exception as error:
        if not isinstance(error, _no_address()):
            raise
        raise as_request_error(error) from bare(error)


def to_httpcore(request: Request, target: Target, deadline: float) -> httpcore.Request:
    """Build the request that httpcore sends."""
    # Headers in their final form: nothing is left to work out.
    headers = [(b"host", target.host)]
    headers += [pair for name, pair in _DEFAULT_HEADERS if name not in request.headers]
    headers += [(name.encode(), value.encode()) for name, value in request.headers.items()]
    content = b""
    if request.json is not None:
        content = _encode(request.json).encode()
        headers.append((b"content-type", b"application/json"))
        headers.append((b"content-length", b"%d" % len(content)))
    # The connection bounds reads and writes; this bounds how long httpcore waits for its own pool.
    bound = {"timeout": {"pool": max(0.0, deadline - time.monotonic())}}
    sent = httpcore.Request(request.method, target.core_url, content=content, extensions=bound)
    sent.headers = headers  # as an argument, each would be checked: 3 % of a call
    return sent


class Body:
    """Collects an answer's body, decompressed and bounded while it arrives."""

    def __init__(self, answer: httpcore.Response, max_bytes: int) -> None:
        self._answer = answer
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in answer.headers
        }
        encoding = self._headers.get("content-encoding")
        self._inflate: Any = _decompressor(encoding) if encoding else None

    def add(self, chunk: bytes) -> None:
        """Add a piece of the body."""
        if self._inflate is not None:
            chunk = self._decompress(chunk)
        self._size += len(chunk)
        if self._size > self._max_bytes:
            size = self._max_bytes // (1024 * 1024)
            message = f"the answer is larger than {size} MiB"
            raise RequestError(message, status=self._answer.status, retryable=False)
        self._parts.append(chunk)

    def _decompress(self, chunk: bytes) -> bytes:
        # Bounded, since a few KB can unfold to gigabytes; one byte more shows that it is too much.
        room = self._max_bytes - self._size + 1
        found = b""
        try:
            while chunk and len(found) < room:
                if self._inflate.eof:  # a compressed body may have several members (RFC 1952)
                    chunk = self._unpadded(chunk)
                    if not chunk:
                        break
                    self._inflate = _decompressor("gzip")
                found += self._inflate.decompress(chunk, room - len(found))
                chunk = self._inflate.unused_data
        except zlib.error as error:
            message = f"the answer cannot be decompressed ({error})"
            status = self._answer.status
            raise RequestError(message, status=status, retryable=False) from error
        return found

    def _unpadded(self, chunk: bytes) -> bytes:
        """Drop the zeros after a member, as others do; they count, or they need never end."""
        rest = chunk.lstrip(b"\0")
        self._size += len(chunk) - len(rest)
        return rest

    def to_response(self) -> Response:
        """Build our response from what was read."""
        if self._parts and self._inflate is not None and not self._inflate.eof:
            raise RequestError("the answer broke off", status=self._answer.status)
        return Response(self._answer.status, self._headers, b"".join(self._parts))


def _decompressor(encoding: str) -> Any:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip" | "deflate":
            return zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header is recognised
        case other:
            message = f'the answer has an unknown content encoding "{one_line(other)[:40]}"'
            raise RequestError(message, retryable=False)


_WANTS_LOGIN = 407
_STATUS = re.compile(r"\d{3}(?= )")  # at the start of what httpcore says of a proxy's refusal
_WORDS = [
    ("ConnectError", "no connection to {origin} could be made"),
    ("ProxyError", "the proxy refused the connection to {origin}{status}"),
    ("ProtocolError", "the answer broke off or is no valid HTTP"),
]


def as_request_error(
    error: Exception, origin: str = "", request: Request | None = None
) -> RequestError:
    """Translate an error of the engine into ours."""
    through = _through(request)
    if isinstance(error, errors_named("TimeoutException")):
        return RequestTimeoutError(f"{LATE}{through}")
    if isinstance(error, _no_address()):
        return RequestError(f"the address cannot be used ({error})", retryable=False)
    known = (words for name, words in _WORDS if isinstance(error, errors_named(name)))
    words = next(known, "the connection broke off")
    status = _STATUS.match(str(error))
    told = words.format(origin=origin, status=f" with HTTP {status[0]}" if status else "")
    wants_login = status is not None and status[0] == str(_WANTS_LOGIN)
    return RequestError(f"{told}{through}{_detail(error)}", retryable=not wants_login)


def naming_proxy(error: RequestError, request: Request) -> WebToolsError:
    """Return an error of ours that names the proxy it happened through, if any."""
    return error.with_message(f"{error}{_through(request)}") if request.proxy else error


def refuse_login(response: Response) -> Response:
    """Return an answer that came through a proxy if it is the site's: 407 is the proxy's.

    Raises:
        RequestError: The proxy wants another login.
    """
    if response.status == _WANTS_LOGIN:
        raise RequestError("the proxy wants another login (HTTP 407)", retryable=False)
    return response


def _through(request: Request | None) -> str:
    """Name the proxy without its login: it, not the site, may be what cannot be reached."""
    if request is None or not request.proxy:
        return ""
    source = f", which {request.proxy_source} names" if request.proxy_source else ""
    return f" through the proxy {without_login(request.proxy.get_secret_value())}{source}"


def _detail(error: BaseException | None) -> str:
    """Find what the system said of a failed look-up or handshake; other texts differ by driver."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return f": the certificate is not trusted ({error.verify_message})"
        if isinstance(error, socket.gaierror):
            return f": {error.strerror}"
        error = error.__cause__ or error.__context__
    return ""


def bare(error: Exception) -> Exception:
    """Cut an error loose from its frames and causes: they hold the request's headers."""
    error.__cause__ = error.__context__ = None
    with suppress(AttributeError):
        del error._request  # type: ignore[attr-defined]  # noqa: SLF001
    return error.with_traceback(None)
