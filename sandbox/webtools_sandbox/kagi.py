"""Stand-in for the Kagi API, both generations of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webtools_sandbox import _kagi_v0, _kagi_v1

if TYPE_CHECKING:
    from webtools_sandbox.keys import KeyRing
    from webtools_sandbox.library import Library
    from webtools_sandbox.wire import Call, Reply

V1_KEY = _kagi_v1.KEY
V0_KEY = _kagi_v0.KEY
DEFAULT_BALANCE = 10_000.0


class KagiApi:
    """Hands each request to the generation its path names."""

    def __init__(self, library: Library, keys: KeyRing, balance: float = DEFAULT_BALANCE) -> None:
        """Serve `library` to the holders of `keys`; version 0 starts with `balance` dollars."""
        self._v1 = _kagi_v1.KagiV1(library, keys)
        self._v0 = _kagi_v0.KagiV0(library, keys, balance)

    def answer(self, call: Call) -> Reply:
        """Answer as kagi.com does."""
        return self._generation(call).answer(call)

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return the error body of the generation that `call` is for."""
        return self._generation(call).failure(call, status, message)

    def settings(self, base_url: str) -> dict[str, Any]:
        """Return the entry of a web-search.json."""
        entry: dict[str, Any] = {"name": "kagi", "type": "kagi", "apiKey": V1_KEY}
        return entry | {"baseUrl": base_url, "options": {"v0ApiKey": V0_KEY}}

    def sent_key(self, call: Call) -> str:
        """Return the token of the Authorization header."""
        return call.headers.get("authorization", "").partition(" ")[2].strip()

    def reset(self) -> None:
        """Restore the balance of version 0."""
        self._v0.reset()

    def _generation(self, call: Call) -> _kagi_v0.KagiV0 | _kagi_v1.KagiV1:
        return self._v0 if call.path.startswith("/api/v0/") else self._v1
