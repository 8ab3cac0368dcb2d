"""The same work on Ray: the same rows, no key on the way, and a limit for all actors together."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from stub_web import StubWeb

from webtools import ConfigError, WebTools, bulk
from webtools.bulk import Options, on_ray
from webtools.bulk.items import items_of
from webtools.bulk.limits import LocalLimiter
from webtools.bulk.working import Plan
from webtools_sandbox import SandboxServer

SCRIPT = """
import json, sys, tempfile
import ray
from webtools import WebTools, bulk

if __name__ == "__main__":
    config, out, folder = sys.argv[1:]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _temp_dir=folder,
             _node_ip_address="127.0.0.1", logging_level="ERROR", object_store_memory=10**8)
    options = bulk.Options(workers=2, arguments={"limit": 2})
    queries = [f"heap {i}" for i in range(40)]
    web = WebTools(config=config)
    print(bulk.run("search", queries, out, web=web, options=options, on="ray").ok)
    print(bulk.run("search", queries, out, web=web, options=options, on="ray").resumed)
    ray.shutdown()
"""


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (extra `ray`)")
def test_two_actors_of_a_real_ray_make_the_rows_that_one_process_makes(
    tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    settings = webtools_sandbox.config()
    key = settings["providers"][0]["apiKey"]
    config, out = tmp_path / "config.json", tmp_path / "rows.jsonl"
    config.write_text(json.dumps(settings))
    folder = Path(f"/tmp/ray-{os.getpid()}")  # a socket's path may not be long
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(config), str(out), str(folder)],
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.stdout.split() == ["40", "40"], done.stderr[-2000:]
    assert sum(webtools_sandbox.stats()["requests"].values()) == 40
    logs = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(logs) > 3
    assert not [path for path in logs if key.encode() in path.read_bytes()]
    here = tmp_path / "here.jsonl"
    options = Options(arguments={"limit": 2})
    queries = [f"heap {i}" for i in range(40)]
    bulk.run("search", queries, here, web=WebTools(config=config), options=options)
    assert _told(out) == _told(here)


def _told(path: Path) -> list[dict[str, Any]]:
    rows = sorted(bulk.read(path), key=lambda row: row.index)
    return [row.model_dump(exclude={"ms", "at"}) for row in rows]


# --- without Ray: what goes there and back -----------------------------------------------------


class Remote:
    """What Ray makes of a class: its methods are called with `remote`."""

    def __init__(self, kind: Callable[[], LocalLimiter]) -> None:
        limiter = kind()
        self.reserve = SimpleNamespace(remote=limiter.reserve)

    def remote(self) -> Remote:
        return self


class Data:
    """What stands for Ray Data: blocks and batches of one process, pickled as they travel."""

    def __init__(self) -> None:
        self.blocks = 0
        self.DataContext = SimpleNamespace(get_current=SimpleNamespace)

    def from_items(self, items: list[Any], override_num_blocks: int) -> Data:
        self.items, self.blocks = items, override_num_blocks
        return self

    def ActorPoolStrategy(self, size: int) -> int:  # noqa: N802
        return size

    def map_batches(
        self, kind: Any, *, fn_constructor_args: Any, batch_size: int, **_: Any
    ) -> Data:
        self.actors = [kind(*fn_constructor_args), kind(*fn_constructor_args)]
        self.size = batch_size
        return self

    def iter_rows(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self.items), self.size):
            some = self.items[start : start + self.size]
            given = {"item": [each["item"] for each in some]}
            made = self.actors[start // self.size % 2](given)
            for row, stopped in zip(made["row"], made["stopped"], strict=True):
                yield {"row": row, "stopped": stopped}


class Ray:
    def __init__(self) -> None:
        self.data = Data()
        self.told: list[str] = []
        self.runs = False

    def is_initialized(self) -> bool:
        return self.runs

    def init(self, **_: Any) -> None:
        self.told.append("init")

    def shutdown(self) -> None:
        self.told.append("shutdown")

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def remote(self, **_: Any) -> Any:
        return Remote


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    ray = Ray()
    modules = {"ray": ray, "ray.data": ray.data}
    monkeypatch.setattr(on_ray, "import_module", modules.__getitem__)
    monkeypatch.setattr(on_ray, "_check_travels", lambda _: None)
    return ray


def test_work_is_cut_into_blocks_and_ray_is_started_and_ended(tmp_path: Path, ray: Ray) -> None:
    out = tmp_path / "rows.jsonl"
    options = Options(workers=2, interval=0.0001)
    web, queries = StubWeb(), [f"q{i}" for i in range(30)]
    summary = bulk.run("search", queries, out, web=web, options=options, on="ray")
    assert (summary.ok, ray.data.blocks, ray.data.size) == (30, 4, 8)
    assert ray.told == ["init", "shutdown"]
    again = bulk.run("search", queries, out, web=web, options=options, on="ray")
    assert (again.resumed, ray.told) == (30, ["init", "shutdown"])
    assert len(web.asked) == 30
    ray.runs = True
    bulk.run("search", ["one"], tmp_path / "one.jsonl", web=web, on="ray")
    assert ray.told == ["init", "shutdown"]


def test_what_stops_one_actor_is_told_and_what_others_made_is_kept(
    tmp_path: Path, ray: Ray
) -> None:
    def answer(query: str) -> None:
        if query == "q3":
            raise ConfigError("No key is set.")

    out, queries = tmp_path / "rows.jsonl", [f"q{i}" for i in range(24)]
    web, options = StubWeb(answer), Options(workers=1)
    summary = bulk.run("search", queries, out, web=web, options=options, on="ray")
    assert summary.stopped == "No key is set."
    assert {row.subject for row in bulk.read(out)} >= {"q0", "q1", "q2", "q4"}
    assert not {row.subject for row in bulk.read(out)} & {"q3", "q8"}


async def test_a_run_that_is_cancelled_leaves_the_rest_to_the_next(
    tmp_path: Path, ray: Ray
) -> None:
    out, web = tmp_path / "rows.jsonl", StubWeb(seconds=0.02)
    queries = [f"q{i}" for i in range(40)]
    work = bulk.arun("search", queries, out, web=web, options=Options(workers=1), on="ray")
    task = asyncio.ensure_future(work)
    while len(web.asked) < 6:  # noqa: ASYNC110  it happens in a thread
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len([*bulk.read(out)]) < 40


def test_settings_that_hold_keys_do_not_travel() -> None:
    web = WebTools(config={"providers": [{"name": "e", "type": "exa", "apiKey": "test-key-ray-1"}]})
    with pytest.raises(ConfigError, match="cannot go to Ray's workers") as caught:
        on_ray._check_travels(web)
    assert "test-key-ray-1" not in str(caught.value)
    plan = Plan(WebTools(config="/etc/web-search.json"), "search", Options())
    assert b"web-search.json" in pickle.dumps(plan)
    [item] = items_of("search", ["heap"], Options())
    assert pickle.loads(pickle.dumps(item)) == item


def test_without_ray_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'agent-webtools\[ray\]'"):
        bulk.run("search", ["heap"], tmp_path / "rows.jsonl", web=StubWeb(), on="ray")
    assert not [*tmp_path.iterdir()]
