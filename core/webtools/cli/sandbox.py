"""`webtools sandbox`: serve the sandbox until Ctrl-C."""

from __future__ import annotations

import json
import os
import shlex
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webtools.cli.printing import SUCCESS, USAGE, complain

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


_NAME = "sandbox.json"


def run(options: Namespace) -> int:
    """Serve the sandbox until Ctrl-C."""
    config_path: str | None = options.write_config
    try:
        from webtools_sandbox import serve  # noqa: PLC0415
    except ImportError as error:
        complain(str(error))
        return USAGE

    def announce(server: SandboxServer) -> None:
        config = trial_config(server, Path(config_path or _NAME))
        if config_path is not None:
            write_config(Path(config_path), config)
        print(_welcome(server.url, config, config_path), flush=True)

    serve(port=options.port, latency=options.latency, announce=announce)
    return SUCCESS


def trial_config(server: SandboxServer, path: Path) -> dict[str, Any]:
    """Return a config for a sandbox, with its own cache and log next to the file.

    The provider `direct` may fetch the sandbox's pages.
    """
    config = server.config()
    options = {"allowPrivateHosts": [f"127.0.0.1:{server.port}"]}
    pages = {"name": "direct", "type": "direct", "proxy": "none", "options": options}
    return config | {
        "providers": [*config["providers"], pages],
        "cache": {"enabled": True, "path": f"{path.stem}-cache.sqlite3"},
        "log": {"enabled": True, "path": f"{path.stem}-log.ndjson"},
    }


def write_config(path: Path, config: dict[str, Any]) -> None:
    """Write a config file that only the user may read.

    Raises:
        FileExistsError: The file exists with other content, which may be the user's own keys.
    """
    text = json.dumps(config, indent=2) + "\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        if path.is_file() and path.read_bytes() == text.encode():
            return
        error.strerror = "the file exists and is different; remove it, or choose another path"
        raise
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _welcome(url: str, config: dict[str, Any], config_path: str | None) -> str:
    names = ", ".join(entry["name"] for entry in config["providers"])
    path = shlex.quote(config_path or _NAME)
    config_text = (
        f"Config: written to {path}"
        if config_path
        else f"Config (save it as {path}, or use --write-config):\n{json.dumps(config, indent=2)}"
    )
    return f"""\
Sandbox at {url}, which simulates: {names}
Only the provider "direct" can reach other sites. Press Ctrl-C to stop.

Test keys:
{_keys(config)}

{config_text}

Responses are cached in {config["cache"]["path"]} and calls are logged in
{config["log"]["path"]}, next to the config file. Your own cache and log are not used.

Try in another terminal:
  webtools search --config {path} "priority queue"
  webtools web-deep --config {path} "How do I read a zip file?"
  webtools log tail --config {path}
Make the next request fail, then search with `-p exa --cache refresh` to see the error:
  curl -d '{{"status": 401}}' {url}/_sandbox/faults
"""


def _keys(config: dict[str, Any]) -> str:
    lines: list[str] = []
    for entry in config["providers"]:
        options = {k: v for k, v in entry.get("options", {}).items() if k.endswith("ApiKey")}
        keys = {"apiKey": entry.get("apiKey"), **options}
        lines += [f"  {entry['name']:<12}{k:<12}{v}" for k, v in keys.items() if v]
    return "\n".join(lines)
