"""Stores on SQLite and Redis, and instances of `WebTools` that share one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from webtools_calls import Worker

from webtools import WebTools
from webtools_sandbox import SandboxServer


@dataclass(frozen=True)
class SharedStore:
    """A store, as the settings name it.

    Attributes:
        folder: What each machine keeps in files is below it.
        url: The Redis server; empty for SQLite.
    """

    folder: Path
    url: str = ""

    def settings(self, machine: str) -> dict[str, Any]:
        """Return the settings of a machine; those that share a SQLite file are one machine."""
        path = self.file if not self.url else self.folder / machine / "webtools.sqlite3"
        storage = {"storage": {"url": self.url}} if self.url else {}
        return {"cache": {"path": str(path)}, **storage}

    @property
    def file(self) -> Path:
        return self.folder / "webtools.sqlite3"


class Shared:
    """The sandbox, and instances of `WebTools` that share a store."""

    def __init__(self, store: SharedStore, sandbox: SandboxServer, stack: ExitStack) -> None:
        self.store = store
        self.sandbox = sandbox
        self._stack = stack

    def web(self, *providers: str, **settings: Any) -> WebTools:
        """Return an instance for these providers; see `settings` for the rest."""
        return self._stack.enter_context(WebTools(self.settings(*providers, **settings)))

    def worker(self, *providers: str, frozen: bool = False, **settings: Any) -> Worker:
        """Start a process with such an instance."""
        return self._stack.enter_context(Worker(self.settings(*providers, **settings), frozen))

    def settings(
        self,
        *providers: str,
        machine: str = "first",
        entry: dict[str, Any] | None = None,
        cache: dict[str, Any] | None = None,
        **rest: Any,
    ) -> dict[str, Any]:
        """Make settings.

        Args:
            providers: Names of the sandbox's providers, the default one first.
            machine: The machine on which the instance is; a SQLite file is on all of them.
            entry: More settings of each provider.
            cache: Settings of the cache, which is off without them.
            others: More top-level settings.
        """
        config = self.sandbox.config()
        entries = {
            provider["name"]: {**provider, **(entry or {})} for provider in config["providers"]
        }
        stored = self.store.settings(machine)
        return {
            **config,
            "providers": [entries[name] for name in providers],
            "defaultProvider": providers[0],
            **stored,
            "cache": {**stored["cache"], **(cache or {"enabled": False})},
            **rest,
        }

    def requests(self, provider: str = "") -> int:
        """Count the requests to a provider since the last count."""
        requests = self.sandbox.stats()["requests"].items()
        self.sandbox.reset_stats()
        return sum(number for path, number in requests if path.startswith(f"/{provider}"))


MakeShared: TypeAlias = Callable[[SharedStore], Shared]
