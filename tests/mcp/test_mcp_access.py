"""Who may reach the HTTP server."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from webtools.errors import ConfigError
from webtools.mcp.access import (
    Address,
    OneToken,
    listen,
    read_address,
    read_token,
    transport_security,
)

TOKEN = "test-token-of-some-length"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8766", Address("127.0.0.1", 8766)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:80", Address("::1", 80)),
    ],
)
def test_an_address_is_host_and_port(text: str, address: Address) -> None:
    assert read_address(text) == address
    assert text.startswith(address.url_host)


def test_the_token_is_from_the_file_else_from_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token.txt"
    file.write_text(f"{TOKEN}\n")
    variable = {"WEBTOOLS_MCP_TOKEN": "test-token-of-the-variable"}
    assert read_token(str(file), variable) == TOKEN
    assert read_token(None, variable) == "test-token-of-the-variable"
    assert read_token(None, {"WEBTOOLS_MCP_TOKEN": " "}) is None
    monkeypatch.setattr("sys.stdin", io.StringIO(TOKEN))
    assert read_token("-", {}) == TOKEN


@pytest.mark.parametrize("content", [b"", b"short", b"two words of a token", b"\xff" * 20])
def test_an_invalid_token_is_refused_and_not_repeated(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token.txt"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"token\.txt") as raised:
        read_token(str(file), {})
    assert content == b"" or content.decode("latin-1") not in str(raised.value)


def allowed_hosts(host: str, hosts: Sequence[str] = (), token: str | None = None) -> set[str]:
    """Return the allowed `Host` headers, with PORT for the port of the server."""
    address = Address(host, 0)
    with listen(address) as listener:
        port = listener.getsockname()[1]
        security = transport_security(listener, address, hosts, token)
    origins = {
        f"{scheme}://{name}" for scheme in ("http", "https") for name in security.allowed_hosts
    }
    assert set(security.allowed_origins) == origins
    return {name.replace(f":{port}", ":PORT") for name in security.allowed_hosts}


def test_off_loopback_it_takes_a_token_and_a_name() -> None:
    with pytest.raises(ConfigError, match="--token-file.*WEBTOOLS_MCP_TOKEN"):
        allowed_hosts("0.0.0.0", ["tools.example.org"])
    with pytest.raises(ConfigError, match="--allow-host"):
        allowed_hosts("0.0.0.0", token=TOKEN)
    hosts = {"tools.example.org", "tools.example.org:PORT"}
    assert allowed_hosts("0.0.0.0", ["tools.example.org"], TOKEN) == hosts


def test_an_allowed_host_with_a_port_is_allowed_only_on_that_port() -> None:
    hosts = ["tools.example.org:8443", "[2001:db8::1]:8443"]
    assert allowed_hosts("0.0.0.0", hosts, TOKEN) == set(hosts)
    with pytest.raises(ConfigError, match="wildcard"):
        allowed_hosts("0.0.0.0", ["tools.example.org:*"], TOKEN)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_accepts_only_its_names(host: str) -> None:
    assert allowed_hosts(host) == {"127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT"}
    assert "a.example" in allowed_hosts(host, ["a.example"])


def test_an_address_in_use_is_an_error_that_names_it() -> None:
    with listen(Address("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigError, match=f"127.0.0.1:{port}"):
            listen(Address("127.0.0.1", port))


async def test_only_the_token_itself_is_accepted() -> None:
    verifier = OneToken(TOKEN)
    assert await verifier.verify_token(TOKEN) is not None
    for wrong in ("", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "t\udcff"):
        assert await verifier.verify_token(wrong) is None
