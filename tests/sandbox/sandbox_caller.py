"""How these tests talk to the sandbox."""

from __future__ import annotations

from typing import Any

import httpx

from webtools_sandbox import EXA_KEY, KAGI_V0_KEY, KAGI_V1_KEY, SandboxServer


class Caller:
    """Calls an imitated API with a good key unless told otherwise."""

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
