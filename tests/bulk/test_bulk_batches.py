"""Batches of Ray Data: columns in, columns with results out, one client for each actor."""

from __future__ import annotations

import json
import math
import os
import pickle
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stub_web import CONFIG, StubWeb

from webtools import BadRequestError, ConfigError, InputError, SearchResponse, WebTools
from webtools.bulk import BatchCaller, Options
from webtools_sandbox import SandboxServer

EXAMPLE = Path(__file__).parents[2] / "examples/ray_data.py"


def test_a_batch_keeps_its_columns_and_gains_the_results() -> None:
    call = BatchCaller("search", StubWeb(), Options(column="text"))
    batch = {"text": np.array(["heap", "json"]), "id": np.array([7, 8])}
    client = call(batch)
    assert [*client] == ["text", "id", "status", "result", "error", "cost_usd"]
    assert [*client["id"]] == [7, 8]
    assert (client["status"], client["error"], client["cost_usd"]) == (
        ["ok"] * 2,
        [""] * 2,
        [0.007] * 2,
    )
    responses = [SearchResponse.model_validate_json(text) for text in client["result"]]
    assert [response.queries for response in responses] == [["heap"], ["json"]]


def test_one_failing_row_costs_that_row() -> None:
    def answer(query: str) -> None:
        if query == "bad":
            raise BadRequestError("no", provider="exa", status=400)

    call = BatchCaller("search", StubWeb(answer), Options(column="item"))
    client = call({"item": ["heap", "bad", "zip"]})
    assert client["status"] == ["ok", "failed", "ok"]
    assert math.isnan(client["cost_usd"][1])


def test_after_a_failure_for_all_rows_the_rest_is_skipped_with_the_reason() -> None:
    def answer(query: str) -> None:
        if query != "first":
            raise ConfigError("No key is set.")

    web = StubWeb(answer)
    call = BatchCaller("search", web, Options(column="item", workers=1))
    client = call({"item": ["first", "second", "third"]})
    assert client["status"] == ["ok", "skipped", "skipped"]
    assert client["error"] == ["", "No key is set.", "No key is set."]
    assert web.asked == ["first", "second"]


def test_an_instance_is_pickled_by_the_path_of_its_settings_and_never_with_a_key() -> None:
    call = BatchCaller("search", WebTools(config="/etc/web-search.json"), Options(column="item"))
    data = pickle.dumps(call)
    assert b"/etc/web-search.json" in data
    assert isinstance(pickle.loads(data), BatchCaller)
    with pytest.raises(TypeError):
        pickle.dumps(BatchCaller("search", WebTools(config=CONFIG)))


def test_no_key_is_in_a_result() -> None:
    key: Any = CONFIG["providers"][0]["apiKey"]  # type: ignore[index]
    client = BatchCaller("search", StubWeb(), Options(column="item"))({"item": [f"what is {key}"]})
    assert key not in client["result"][0]


def test_invalid_arguments_are_refused_before_any_batch() -> None:
    with pytest.raises(InputError, match="colour"):
        BatchCaller("search", StubWeb(), Options(arguments={"colour": 1}))


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_the_example_runs_in_a_real_ray_and_no_key_reaches_its_logs(
    tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    settings = webtools_sandbox.config()
    config = tmp_path / ".pi/agent/web-search.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps(settings))
    config.chmod(0o600)
    folder = Path(f"/tmp/ray-{os.getpid()}")  # the path of a socket has a limit
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "none"),
        "RAY_TMPDIR": str(folder),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    process = subprocess.run(
        [sys.executable, str(EXAMPLE), "heap queue", "json decoder", "zip file"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    # Ray itself may report a worker that died on a busy machine, and whose items it gave another.
    lines = sorted(line for line in process.stdout.splitlines() if " ok " in line)
    assert [line.partition(" ok ")[0] for line in lines] == [
        "heap queue",
        "json decoder",
        "zip file",
    ], process.stderr[-2000:]
    assert sum(webtools_sandbox.stats()["requests"].values()) == 3
    key = settings["providers"][0]["apiKey"].encode()
    logs = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(logs) > 3
    assert not [path for path in logs if key in path.read_bytes()]
    shutil.rmtree(folder, ignore_errors=True)
