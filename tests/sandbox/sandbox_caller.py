"""Callers of the sandbox: over HTTP, or directly without a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from typing import Any

import httpx

from webtools_sandbox import EXA_KEY, KAGI_V0_KEY, KAGI_V1_KEY, SandboxServer
from webtools_sandbox.apis.base import Api
from webtools_sandbox.wire import Call

DOCS, NEWS = "https://docs.example", "https://news.example"


class Caller:
    """Calls a running sandbox, by default with a valid key."""

    def __init__(self, server: SandboxServer) -> None:
        self.server = server
        self.http = httpx.Client(trust_env=False)

    def exa(self, path: str, *, key: str = EXA_KEY, **body: Any) -> httpx.Response:
        url = self.server.base_url("exa") + path
        return self.http.post(url, json=body, headers={"x-api-key": key})

    def v1(self, path: str, *, key: str = KAGI_V1_KEY, **body: Any) -> httpx.Response:
        url = f"{self.server.base_url('kagi')}/api/v1{path}"
        return self.http.post(url, json=body, headers={"Authorization": f"Bearer {key}"})

    def v0(self, path: str, *, key: str = KAGI_V0_KEY, **params: str) -> httpx.Response:
        url = f"{self.server.base_url('kagi')}/api/v0{path}"
        return self.http.get(url, params=params, headers={"Authorization": f"Bot {key}"})


class Desk:
    """Calls a simulated API without a server.

    Attributes:
        api: The API.
        auth: The name and the format of the header with the key. Default: those of the API.
        key: The key to send, or None.
    """

    def __init__(self, api: Api) -> None:
        self.api = api
        self.auth: tuple[str, str] | None = None
        self.key: str | None = api.key

    def send(
        self, method: str, path: str, *, params: Any = None, content: bytes = b"", **headers: str
    ) -> httpx.Response:
        api = self.api.at(path)
        name, form = self.auth or (api.header, f"{api.scheme.title()} {{}}".lstrip())
        keyed = {} if self.key is None else {name: form.format(self.key)}
        query = str(httpx.QueryParams(params or {}))
        sent = httpx.Headers({**keyed, **{k.replace("_", "-"): v for k, v in headers.items()}})
        reply = api.answer(Call(method, path, query, sent, content))
        shown = {"content-type": reply.content_type, **reply.headers}
        return httpx.Response(reply.status, content=reply.body, headers=shown)

    def get(self, path: str, **params: Any) -> httpx.Response:
        return self.send("GET", path, params=params)

    def post(self, path: str, **body: Any) -> httpx.Response:
        content = json.dumps(body).encode()
        return self.send("POST", path, content=content, content_type="application/json")

    def with_key(self, key: str | None) -> Desk:
        other = copy(self)
        other.key = key
        return other


MakeDesk = Callable[[type[Api]], Desk]
