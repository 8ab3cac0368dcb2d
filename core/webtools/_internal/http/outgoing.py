"""Convert a request to one of httpx, and the errors of httpx to ours."""

from __future__ import annotations

import os
import re
import socket
import ssl
import sys
import time
from functools import lru_cache
from json import JSONEncoder
from typing import NamedTuple, TypeVar

import httpx
from pydantic import SecretStr

from webtools._internal.faults import Fault, with_fault
from webtools._internal.http.engine_logs import IN_OUR_REQUEST
from webtools._internal.text.web_urls import without_login
from webtools._version import __version__
from webtools.errors import RequestError, RequestTimeoutError
from webtools.messages import CONNECT_TIMEOUT, Request, Response

NO_RESPONSE = "no response in time"
_DEFAULT_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "gzip",
    "user-agent": f"agent-webtools/{__version__}",
}
_PROXY_REFUSES_LOGIN = 407
_STATUS = re.compile(r"\d{3}(?= )")  # at the start of httpx's error about a proxy that refuses
_MESSAGES = [
    (httpx.ConnectError, "could not connect to {origin}"),
    (httpx.ProxyError, "the proxy refused the connection to {origin}{status}"),
    (httpx.ProtocolError, "the response was cut off or is not valid HTTP"),
]
_NOT_CONNECTED = httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError
E = TypeVar("E", bound=Exception)
_encode = JSONEncoder(separators=(",", ":")).encode


class Route(NamedTuple):
    """Where a connection goes. Requests with equal routes can share it.

    Attributes:
        process: The process id, because a forked child must not use the sockets of its parent.
        origin: Scheme, host and port.
        proxy: The proxy, or None.
        addresses: The addresses to connect to. Without any, the host is looked up.
    """

    process: int
    origin: str
    proxy: SecretStr | None
    addresses: tuple[str, ...]

    @property
    def needs_tls(self) -> bool:
        """Whether the host or its proxy speaks TLS."""
        urls = [self.origin, self.proxy.get_secret_value() if self.proxy else ""]
        return any(url.startswith("https:") for url in urls)


class Outgoing:
    """A request that is being sent.

    Args:
        request: The request.
        deadline: When its call ends, on the monotonic clock.

    Raises:
        RequestError: The URL is not valid.
        RequestTimeoutError: The deadline has passed.
    """

    def __init__(self, request: Request, deadline: float) -> None:
        self.request = request
        self.deadline = deadline
        self._url, origin = _parse(request.url)
        self.route = Route(os.getpid(), origin, request.proxy, request.addresses)
        if deadline <= time.monotonic():
            raise RequestTimeoutError(NO_RESPONSE)

    @property
    def host(self) -> str:
        return self._url.raw_host.decode("ascii")

    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def build(self) -> httpx.Request:
        """Return the request as it is sent, with all headers."""
        headers = {**_DEFAULT_HEADERS, **self.request.headers}
        content = b""
        if self.request.json is not None:
            content = _encode(self.request.json).encode()
            headers["content-type"] = "application/json"
        if content or self.request.method == "POST":
            headers["content-length"] = str(len(content))
        fields = [(name.encode(), value.encode()) for name, value in headers.items()]
        if not any(name.lower() == b"host" for name, _ in fields):
            fields.insert(0, (b"Host", self._url.netloc))
        seconds = self.seconds_left()
        timeout = {"read": seconds, "write": seconds, "pool": seconds}
        request = httpx.Request(
            self.request.method,
            self._url,
            headers=fields,
            stream=httpx.ByteStream(content),
            extensions={"timeout": {"connect": min(CONNECT_TIMEOUT, seconds), **timeout}},
        )
        request.read()  # for tools that look at the content
        return request

    def build_pinned(self) -> httpx.Request:
        """Return the request with the first of its addresses in the URL, if it has any.

        A transport of the caller then cannot look the host up again. TLS and the `Host` header
        still go by the name.
        """
        request = self.build()
        if self.request.addresses:
            request.extensions["sni_hostname"] = self.host
            request.url = request.url.copy_with(host=self.request.addresses[0])
        return request

    def accept(self, response: Response) -> Response:
        """Return the response, unless it is the proxy's.

        Raises:
            RequestError: The proxy rejected the login.
        """
        if self.request.proxy and response.status == _PROXY_REFUSES_LOGIN:
            raise RequestError("the proxy rejected the login (HTTP 407)", retryable=False)
        return response

    def __enter__(self) -> None:
        """Keep headers out of the logs of httpcore while the request is sent."""
        IN_OUR_REQUEST.set(True)

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Convert errors of httpx to ours."""
        IN_OUR_REQUEST.set(False)
        if isinstance(error, RequestError):
            text = f"{error}{self._proxy_clause()}"
            raise _stripped(error).with_message(text) from None
        if isinstance(error, _engine_errors()):
            if isinstance(error, httpx.HTTPError):
                error.request = httpx.Request(self.request.method, self.route.origin)
            raise self._as_request_error(error) from _stripped(error)

    def _as_request_error(self, error: Exception) -> RequestError:
        fault = Fault.NOT_SENT if isinstance(error, _NOT_CONNECTED) else Fault.NONE
        if isinstance(error, (httpx.TimeoutException, TimeoutError)):
            return with_fault(RequestTimeoutError(f"{NO_RESPONSE}{self._proxy_clause()}"), fault)
        messages = (text for kind, text in _MESSAGES if isinstance(error, kind))
        template = next(messages, "the connection was lost")
        status = _STATUS.match(str(error))
        message = template.format(
            origin=self.route.origin, status=f" with HTTP {status[0]}" if status else ""
        )
        refuses_login = status is not None and status[0] == str(_PROXY_REFUSES_LOGIN)
        text = f"{message}{self._proxy_clause()}{_cause(error)}"
        return with_fault(RequestError(text, retryable=not refuses_login), fault)

    def _proxy_clause(self) -> str:
        """Return a clause that names the proxy, which may be the cause; empty without a proxy."""
        if not self.request.proxy:
            return ""
        source = self.request.proxy_source
        place = without_login(self.request.proxy.get_secret_value())
        return f" through the proxy {place}{f' (from {source})' if source else ''}"


@lru_cache(maxsize=256)
def _parse(text: str) -> tuple[httpx.URL, str]:
    """Return a URL and its origin.

    Raises:
        RequestError: The URL is not valid.
    """
    try:
        url = httpx.URL(text)
        if url.scheme in {"http", "https"} and url.host:
            return url, f"{url.scheme}://{url.netloc.decode('ascii')}"
        fault = "it is not an http(s) URL"
    except (httpx.InvalidURL, UnicodeError) as error:
        fault = str(error)
    raise RequestError(f"the URL cannot be used ({fault})", retryable=False)


def _engine_errors() -> tuple[type[Exception], ...]:
    """Return what httpx raises. It does not convert errors about replies of SOCKS proxies."""
    socksio = sys.modules.get("socksio")  # httpcore imports it if it is installed
    return (httpx.HTTPError, OSError, *([] if socksio is None else [socksio.SOCKSError]))


def _cause(error: BaseException | None) -> str:
    """Return the system's reason for a failed look-up or handshake; otherwise empty."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return f": the certificate is not trusted ({error.verify_message})"
        if isinstance(error, socket.gaierror):
            return f": {error.strerror}"
        error = error.__cause__ or error.__context__
    return ""


def _stripped(error: E) -> E:
    """Remove the traceback and the causes of an error. They refer to headers and bodies."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
