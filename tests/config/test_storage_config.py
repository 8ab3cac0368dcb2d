"""`storage`: a server by its URL, whose password is shown nowhere."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import traceback
from typing import Any

import pytest

from webtools import Config, ConfigError, WebTools
from webtools._internal.pipeline.tool_call import call_services
from webtools._internal.storage.redis_store import RedisStore
from webtools.config import Settings, StorageConfig, check, load

PASSWORD = "test-key-of-the-store-5a90"
URL = f"redis://writer:{PASSWORD}@store.example:6380/2"
PROVIDER = {"name": "exa", "type": "exa", "apiKey": "test-key-0123456789"}


def settings(url: Any, **more: Any) -> dict[str, Any]:
    return {"providers": [PROVIDER], "storage": {"url": url}, "log": {"enabled": False}, **more}


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "redis://127.0.0.1",
        "rediss://h:1/",
        "redis://[::1]:6379/15",
        "redis://:p%40ss@h",
        "REDIS://h",
    ],
)
def test_urls_of_servers_are_taken(url: str) -> None:
    read = load(json.dumps(settings(url)), "x.json").storage
    assert read.clear == url
    assert "@" not in read.place
    assert read.place.lower().startswith("redis")


def test_without_a_url_it_is_a_file_on_this_machine() -> None:
    for storage in ({}, None, {"url": None}):
        config = load(json.dumps({"providers": [PROVIDER], "storage": storage}), "x.json")
        assert (config.storage.clear, config.storage.place) == ("", "")
    assert any(line.startswith("Storage: a file") for line in check(Settings(config)))


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("", "empty"),
        ("store.example", "rediss://"),
        ("http://h", "rediss://"),
        (f"mysql://u:{PASSWORD}@h", "rediss://"),
        (f"redis://u:{PASSWORD}@", "host"),
        (f"redis://u:{PASSWORD}@h/x", "database"),
        (f"redis://u:{PASSWORD}@h?socket_timeout=99", "query"),
        (f"redis://u:{PASSWORD}@h:0", "port"),
        (f"redis://u:{PASSWORD}@h:99999", "port"),
        (f"redis://u:{PASSWORD}@300.1.1.1", "host"),
        (f"redis://u:{PASSWORD}@[::z]", "host"),
        (f"redis://u:{PASSWORD}@h /1", "ASCII"),
        (5, "string"),
    ],
)
def test_what_is_no_url_of_a_server_is_refused_with_its_fault_and_not_shown(
    url: Any, fault: str
) -> None:
    with pytest.raises(ConfigError, match=r"storage\.url ") as error:
        load(json.dumps(settings(url)), "x.json")
    assert fault in str(error.value)
    assert url == 5 or "redis://127.0.0.1:6379/0" in str(error.value)
    assert PASSWORD not in "".join(traceback.format_exception(error.value))


def test_the_password_is_redacted_and_in_no_repr_or_pickle() -> None:
    config = load(json.dumps(settings(URL)), "x.json")
    accounts = Settings(config).accounts()
    shown = f"{config!r}{config}{accounts!r}{config.model_dump_json()}{call_services(accounts)!r}"
    assert PASSWORD not in shown
    assert PASSWORD not in accounts.redactor.text(f"x {PASSWORD} {URL}")
    with pytest.raises(TypeError):
        pickle.dumps(config.storage)
    for url in ("redis://h/1", None):
        storage = StorageConfig(url=url)  # type: ignore[arg-type]
        assert pickle.loads(pickle.dumps(storage)) == storage


def test_the_check_names_the_place_alone() -> None:
    text = "\n".join(check(Settings(load(json.dumps(settings(URL)), "x.json"))))
    assert "Storage: redis://store.example:6380/2" in text
    assert "Cache: in the storage" in text
    assert PASSWORD not in text
    short = "\n".join(check(Settings(settings("redis://:abc@h"))))
    assert "Warning: " in short
    assert "password" in short


def test_other_servers_are_other_facilities_and_equal_ones_the_same() -> None:
    def of(url: str) -> Any:
        return call_services(Settings(settings(url)).accounts())

    one, other = of("redis://h/1"), of("redis://h/2")
    assert one is of("redis://h/1")
    assert one is not other
    assert isinstance(one.store, RedisStore)
    assert one.store is not other.store


def test_a_storage_can_be_given_in_code() -> None:
    config = Config(providers=[PROVIDER], storage=StorageConfig(url=URL))  # type: ignore[arg-type]
    assert config.storage.clear == URL
    with WebTools(config) as web:
        assert web.redact(f"x {PASSWORD}") == "x [redacted]"


ALONE = """
import sys
from webtools.config import Settings
from webtools._internal.pipeline.tool_call import call_services
call_services(Settings({"providers": [{"name": "d", "type": "direct"}]}).accounts())
print([name for name in sys.modules if name.partition(".")[0] == "redis"])
"""


def test_without_a_server_nothing_of_it_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
