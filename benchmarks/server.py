"""The sandbox in a process of its own, over HTTP or TLS."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import trustme


@dataclass(frozen=True)
class Server:
    """A running sandbox, as the measuring process sees it."""

    url: str
    config: dict[str, Any]
    config_path: str
    certificates: str | None

    def latency(self, seconds: float) -> None:
        self._call("POST", "latency", {"seconds": seconds})

    def connections(self) -> int:
        return int(self._call("GET", "stats")["connections"])

    def requests(self) -> int:
        return sum(self._call("GET", "stats")["requests"].values())

    def _call(self, method: str, name: str, body: Any = None) -> Any:
        verify = httpx.create_ssl_context() if self.certificates else True
        with httpx.Client(verify=verify) as client:
            answer = client.request(method, f"{self.url}/_sandbox/{name}", json=body)
        return answer.raise_for_status().json()


def _serve(tls: str) -> None:
    """Run in the child: serve until standard input is closed."""
    import ssl

    from webtools_sandbox import SandboxServer

    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
    with SandboxServer(ssl_context=context, keys=_KEYS.values()) as server:
        config = server.config()
        for provider in config["providers"]:
            provider["apiKey"] = _KEYS.get(provider["type"], provider.get("apiKey"))
            # The raw client requests no highlights either, and older figures have none.
            provider.get("options", {}).pop("searchHighlights", None)
            if "v0ApiKey" in provider.get("options", {}):
                provider["options"]["v0ApiKey"] = _KEYS["kagi v0"]
        print(json.dumps({"url": server.url, "config": config}), flush=True)
        sys.stdin.read()


# As long as real ones: a key of plain words would have to be looked for in every text with them.
_KEYS = {
    name: f"test-key-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    for name in ("exa", "kagi", "kagi v0", "brave", "context7", "perplexity")
}
# The call that most parts measure, as the raw client beside ours makes it.
QUERY = "json decoder"
LIMIT = 10
BODY = {"query": QUERY, "type": "auto", "numResults": LIMIT}
HEADERS = {"x-api-key": _KEYS["exa"]}


@contextmanager
def running(*, tls: bool = False) -> Iterator[Server]:
    """Start the sandbox; with `tls` its certificate is trusted through `SSL_CERT_FILE`."""
    with tempfile.TemporaryDirectory() as folder:
        chain, roots = _certificates(Path(folder)) if tls else ("", None)
        command = [sys.executable, "-m", "benchmarks.server", chain]
        child = subprocess.Popen(command, stdin=-1, stdout=-1, text=True)
        assert child.stdout is not None
        facts = json.loads(child.stdout.readline())
        config = Path(folder, "web-search.json")
        config.write_text(json.dumps(facts["config"]))
        before = os.environ.get("SSL_CERT_FILE")
        if roots:
            os.environ["SSL_CERT_FILE"] = roots
        try:
            yield Server(facts["url"], facts["config"], str(config), roots)
        finally:
            if roots:
                os.environ.pop("SSL_CERT_FILE")
            if before:
                os.environ["SSL_CERT_FILE"] = before
            child.communicate()


def _certificates(folder: Path) -> tuple[str, str]:
    authority = trustme.CA()
    chain, roots = folder / "server.pem", folder / "roots.pem"
    authority.issue_cert("127.0.0.1", "localhost").private_key_and_cert_chain_pem.write_to_path(
        str(chain)
    )
    import certifi

    # The real bundle too, so that loading it costs what it costs a user.
    roots.write_bytes(Path(certifi.where()).read_bytes() + authority.cert_pem.bytes())
    return str(chain), str(roots)


if __name__ == "__main__":
    _serve(sys.argv[1] if len(sys.argv) > 1 else "")
