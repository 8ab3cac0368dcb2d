"""`storage`: the URL of a server, whose password is never shown."""

from __future__ import annotations

import json
import pickle
import traceback
from typing import Any

import pytest

from webtools import ConfigError
from webtools._internal.pipeline.tool_call import call_services
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
    assert read.full_url == url
    assert "@" not in read.url_without_login
    assert read.url_without_login.lower().startswith("redis")


def test_without_a_url_it_is_a_file_on_this_machine() -> None:
    for storage in ({}, None, {"url": None}):
        config = load(json.dumps({"providers": [PROVIDER], "storage": storage}), "x.json")
        assert (config.storage.full_url, config.storage.url_without_login) == ("", "")
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
def test_an_invalid_server_url_is_refused_and_not_shown(url: Any, fault: str) -> None:
    with pytest.raises(ConfigError, match=r"storage\.url ") as error:
        load(json.dumps(settings(url)), "x.json")
    assert fault in str(error.value)
    assert url == 5 or "redis://127.0.0.1:6379/0" in str(error.value)
    assert PASSWORD not in "".join(traceback.format_exception(error.value))


def test_the_password_is_redacted_and_in_no_repr_or_pickle() -> None:
    config = load(json.dumps(settings(URL)), "x.json")
    accounts = Settings(config).accounts()
    text = f"{config!r}{config}{accounts!r}{config.model_dump_json()}{call_services(accounts)!r}"
    assert PASSWORD not in text
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
