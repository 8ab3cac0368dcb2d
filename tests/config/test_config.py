"""Settings: their sources, their errors, and keys that are never shown."""

from __future__ import annotations

import functools
import json
import os
import pickle
import stat
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import SecretStr

from webtools import WebTools
from webtools.config import (
    EXAMPLE,
    Accounts,
    Config,
    KeySource,
    ProviderConfig,
    Settings,
    check,
    config_paths,
    environment_config,
    find_config,
    load,
)
from webtools.config.config_file import example_line
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS

CANARY = "test-key-canary-7f3a"
ORIGIN = "/etc/web-search.json"


def entry(**values: Any) -> dict[str, Any]:
    return {"name": "main", "type": "exa", "apiKey": CANARY} | values


def text_of(*entries: dict[str, Any], **top: Any) -> str:
    return json.dumps({"providers": entries or [entry()], **top})


def fault(text: str) -> str:
    """Load what is wrong; give the message without the file's name and the example."""
    with pytest.raises(ConfigError) as caught:
        load(text, ORIGIN)
    message = str(caught.value)
    assert_hides_the_key(caught.value)
    assert message.startswith(f"{ORIGIN}: ")
    first, second = message.split("\n")
    assert second.endswith(example_line())
    return first.removeprefix(f"{ORIGIN}: ").removesuffix(".")


def our_frames(error: BaseException) -> traceback.TracebackException:
    """Capture the locals as crash reporters do, but not of the test's own frames."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename == __file__:
        tb = tb.tb_next
    return traceback.TracebackException(type(error), error, tb, capture_locals=True)


def assert_hides_the_key(error: BaseException) -> None:
    assert error.__cause__ is None
    assert error.__context__ is None
    assert CANARY not in "".join(our_frames(error).format())
    assert CANARY not in repr(error)
    assert "input_value" not in str(error)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


# --- what is valid -----------------------------------------------------------------------------


def test_the_example_is_valid() -> None:
    config = load(EXAMPLE, ORIGIN)
    assert config.default_provider == "exa-main"
    assert config.providers[0].options.default_search_limit == 5


def test_every_setting_is_read() -> None:
    config = load(
        text_of(
            entry(
                baseUrl="http://127.0.0.1:8080/exa/",
                timeoutMs=600_000,
                maxRequestsPerSecond=0.5,
                proxy="http://user:word@proxy:3128",
                options={"searchType": "fast", "searchHighlights": True},
            ),
            entry(
                name="kagi", type="kagi", options={"searchApi": "v0", "v0ApiKey": "test-key-old"}
            ),
            defaultProvider="kagi",
            maxResults=100,
        ),
        ORIGIN,
    )
    exa, kagi = Settings(config).accounts().accounts
    assert (exa.base_url, exa.timeout, exa.key) == ("http://127.0.0.1:8080/exa", 600.0, CANARY)
    assert exa.options.search_type == "fast"
    assert exa.pacer is not None
    assert exa.proxy == SecretStr("http://user:word@proxy:3128")
    assert (kagi.base_url, kagi.timeout, kagi.pacer) == (PROVIDERS["kagi"].about.origin, None, None)
    assert kagi.options.search_api == "v0"
    assert config.max_results == 100


def test_code_may_use_python_names() -> None:
    config = Config(
        providers=[ProviderConfig(name="a", type="exa", api_key=SecretStr(CANARY), timeout_ms=5)],
        max_results=3,
    )
    assert config == load(text_of(entry(name="a", timeoutMs=5), maxResults=3), ORIGIN)


# --- each fault in its own words ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "line 1, column 1"),
        ('{"providers": [\n  {]}', "line 2, column 4"),
        ('{"a": "\\q"}', "line 1, column 8"),
        ('{"maxResults": NaN}', "NaN"),
        ("[" * 200_000, "nested"),
        ('{"providers": [], "providers": []}', '"providers" twice'),
        ("[]", "JSON object"),
        ("null", "JSON object"),
        ("{}", "providers is missing"),
        ('{"providers": {}}', "providers must"),
        ('{"providers": []}', "providers is empty"),
        ('{"providers": [7]}', "providers[0]"),
        ('{"providers": [{}]}', "providers[0].name"),
    ],
)
def test_a_text_of_another_shape_is_refused_with_its_place(text: str, expected: str) -> None:
    assert expected in fault(text)


@pytest.mark.parametrize(
    ("values", "path", "named"),
    [
        ({"name": ""}, "name", ()),
        ({"name": " a"}, "name", ()),
        ({"name": "\x1b[2J"}, "name", ()),
        ({"name": 5}, "name", ("string",)),
        ({"type": "exxa"}, "type", ('"exxa"', 'did you mean "exa"?', '"kagi"')),
        ({"type": "none"}, "type", ('"none"', '"exa", "kagi"')),
        ({"apiKey": ""}, "apiKey is empty", ()),
        ({"apiKey": " \n"}, "apiKey is empty", ()),
        ({"apiKey": None}, "apiKey is missing", ("Exa",)),
        ({"apiKey": [CANARY]}, "apiKey", ("string",)),
        ({"baseUrl": 1}, "baseUrl", ("string",)),
        ({"timeoutMs": 0}, "timeoutMs", ("1", "not 0")),
        ({"timeoutMs": 600_001}, "timeoutMs", ("600000", "not 600001")),
        ({"type": "provider-of-mine"}, "type", ('"exa"',)),
        ({"timeoutMs": "5"}, "timeoutMs", ("integer", 'not "5"')),
        ({"timeoutMs": "5 seconds"}, "timeoutMs", ("integer",)),
        ({"timeoutMs": True}, "timeoutMs", ("integer", "not true")),
        ({"maxRequestsPerSecond": 0}, "maxRequestsPerSecond", ("not 0",)),
        ({"maxRequestsPerSecond": -1.5}, "maxRequestsPerSecond", ("not -1.5",)),
        ({"options": []}, "options", ("object",)),
        ({"options": {"searchType": "x"}}, "options.searchType", ("'auto'",)),
        (
            {"options": {"defaultSearchLimit": "5"}},
            "options.defaultSearchLimit",
            ("integer", '"5"'),
        ),
        ({"options": {"defaultSearchLimit": 101}}, "options.defaultSearchLimit", ("100", "101")),
        (
            {"options": {"defaultFetchTextMaxCharacters": 0}},
            "options.defaultFetchTextMaxCharacters",
            ("1", "not 0"),
        ),
        ({"type": "kagi", "options": {"v0ApiKey": f"{CANARY} x"}}, "options.v0ApiKey", ()),
        ({"apikey": CANARY}, "apikey", ('"apiKey"', "name, type, apiKey")),
        ({"options": {"defaultSearchLimt": 5}}, "options.", ('"defaultSearchLimit"',)),
        ({"\x1b[2J": 1}, r'"\x1b[2J"', ()),
    ],
)
def test_a_faulty_entry_is_refused_with_its_path_and_value(
    values: dict[str, Any], path: str, named: tuple[str, ...]
) -> None:
    message = fault(text_of(entry(name="first"), entry(**values)))
    assert message.startswith(f"providers[1].{path}")
    assert all(part in message for part in named)


@pytest.mark.parametrize("key", ["${EXA_API_KEY}", "$EXA_API_KEY", "${x:-" + CANARY + "}", " $A "])
def test_a_variable_reference_is_not_a_key(key: str) -> None:
    assert fault(text_of(entry(apiKey=key))).startswith("providers[0].apiKey looks like a variable")


@pytest.mark.parametrize("bad", ["\n", " ", "\x00", "é", "\u200b", "\x7f"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(bad: str) -> None:
    assert fault(text_of(entry(apiKey=CANARY + bad))).startswith("providers[0].apiKey ")


@pytest.mark.parametrize(
    "url",
    [
        "api.exa.ai",
        "/exa",
        "ftp://a",
        "https://",
        "https://a?x=1",
        "https://a#b",
        f"https://user:{CANARY}@a",
        "https://a b",
        "https://a:99999",
        "https://a:0",
        "https://[::1",
        "https://a\n",
        "https://é.example",
    ],
)
def test_another_base_url_is_refused_and_not_shown(url: str) -> None:
    assert fault(text_of(entry(baseUrl=url))).startswith("providers[0].baseUrl ")


@pytest.mark.parametrize(
    "url", ["socks5://a", f"{CANARY}@a:1", f"http://{CANARY}@", "http://a/b", "http://a b@c", ""]
)
def test_another_proxy_is_refused_and_not_shown(url: str) -> None:
    assert fault(text_of(entry(proxy=url))).startswith("providers[0].proxy ")


def test_an_unknown_default_is_refused_with_the_known_providers() -> None:
    message = fault(text_of(entry(name="a"), entry(name="b"), defaultProvider="c"))
    assert message.startswith('defaultProvider "c" ')
    assert '"a", "b"' in message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(["exa", "kagi", "a", "http://a", ""]) | JSON
SECRETS = st.sampled_from([CANARY, CANARY + " ", "\n" + CANARY, f"http://{CANARY}@a", [CANARY]])
ENTRY = st.fixed_dictionaries(
    {"name": WORDS, "type": WORDS, "apiKey": SECRETS},
    optional={"proxy": SECRETS, "baseUrl": SECRETS, "timeoutMs": SECRETS, "x": SECRETS}
    | {"options": st.fixed_dictionaries({}, optional={"v0ApiKey": SECRETS, "x": SECRETS})},
)
NEAR = st.fixed_dictionaries(
    {"providers": st.lists(ENTRY | JSON, max_size=3)},
    optional={"defaultProvider": WORDS, "maxResults": JSON, "cache": JSON},
)


def message_of(text: str) -> str:
    try:
        load(text, ORIGIN)
    except ConfigError as error:
        return str(error)
    return ""


@given(st.text() | (JSON | NEAR).map(json.dumps))
@example('{"providers": [{"name": "\\ud800"}]}')
@example('{"\\ud800": 1}')
@example('{"providers": [{"self": 1}]}')
@example('{"maxResults": ' + "9" * 5000 + "}")
@hypothesis_settings(max_examples=150, deadline=None)
def test_any_text_is_a_config_or_a_config_error_without_the_key(text: str) -> None:
    message = message_of(text)
    assert CANARY not in message
    assert message.encode()[:1] in {b"", b"/"}  # and it can be printed


# --- keys stay hidden --------------------------------------------------------------------------


def make_config() -> Config:
    return load(
        text_of(
            entry(proxy=f"http://u:{CANARY}@p"),
            entry(name="kagi", type="kagi", options={"v0ApiKey": CANARY + "-v0"}),
        ),
        ORIGIN,
    )


def test_no_form_of_a_config_shows_a_key() -> None:
    config = make_config()
    accounts = Settings(config).accounts()
    forms = [config, config.providers[0], accounts, *accounts.accounts, Settings(config)]
    dumps = [config.model_dump(), config.model_dump_json(), config.model_dump(by_alias=True)]
    assert CANARY not in "".join(repr(form) + str(form) for form in [*forms, *dumps])


def test_a_config_is_not_pickled() -> None:
    config = make_config()
    for holder in (config, config.providers[0], Settings(config).accounts(), Settings(config)):
        with pytest.raises(TypeError, match="path of the config file") as e:
            pickle.dumps(holder)
        assert CANARY not in str(e.value)


def secret_manager() -> str:
    return CANARY


def broken_manager() -> str:
    raise LookupError(f"no access to {CANARY}")


def keyless_manager() -> str:
    return ""


def test_settings_whose_key_a_function_gives_are_pickled_without_the_key() -> None:
    entry = {"name": "exa", "type": "exa", "apiKey": secret_manager}
    config = Config(
        providers=[ProviderConfig(name="e", type="exa", api_key=KeySource(secret_manager))]
    )
    for settings in (Settings({"providers": [entry]}), Settings(config)):
        assert secrets_of(settings) == {CANARY}  # also where the key has been given already
        data = pickle.dumps(settings)
        assert CANARY.encode() not in data
        assert b"secret_manager" in data
        assert secrets_of(pickle.loads(data)) == {CANARY}


def test_the_key_function_is_called_once_at_first_use() -> None:
    calls: list[int] = []

    def give() -> str:
        calls.append(1)
        return CANARY

    settings = Settings({"providers": [{"name": "exa", "type": "exa", "apiKey": give}]})
    assert not calls
    assert secrets_of(settings) == secrets_of(settings) == {CANARY}
    assert calls == [1]
    assert CANARY not in repr(settings._config) + str(settings._config) + repr(settings.accounts())
    assert CANARY not in str(settings._config and settings._config.model_dump_json())


def test_a_function_that_another_process_could_not_import_is_refused() -> None:
    key = CANARY
    for function in (lambda: key, functools.partial(str, CANARY)):
        entry = {"name": "exa", "type": "exa", "apiKey": function}
        with pytest.raises(TypeError, match="imported") as caught:
            pickle.dumps(Settings({"providers": [entry]}))
        assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (broken_manager, "raises LookupError"),
        (keyless_manager, "is empty"),
        (dict, "returns a dict"),
    ],
)
def test_a_function_that_gives_no_key_is_a_config_error(function: Any, fault: str) -> None:
    settings = Settings({"providers": [{"name": "exa", "type": "exa", "apiKey": function}]})
    with pytest.raises(ConfigError, match=fault) as caught:
        settings.accounts()
    assert CANARY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("GATEWAY_API_KEY", f"Bearer {CANARY}", CANARY),
        ("GATEWAY_API_KEY", f"test-key-of-others-1,{CANARY};", CANARY),
        ("OLD_API_KEY", f"-----BEGIN KEY-----\n{CANARY}\n-----END KEY-----", CANARY),
        (
            "CELERY_BROKER_URL",
            "amqp://app:pass7word@mq1//;amqp://app:other8pass2@mq2//",
            "pass7word",
        ),
        ("ES_URL", "https://a:pass7word@es1:9200,https://a:other8pass2@es2:9200", "other8pass2"),
        ("DATABASE_URL", f"postgres://app:{CANARY}@db/app?name=svc@prod-eu-west-1", CANARY),
        ("DATABASE_URL", "postgres://app:Zx81kQpv44Lm:x@db/app", "Zx81kQpv44Lm:x"),
        ("database_uri", "mysql://app:p4ssword1@db/app", "p4ssword1"),
        ("REDIS_HOST", "redis://:kQz-WvB!nMx-Lp7@cache:6379", "kQz-WvB!nMx-Lp7"),
        ("DATABASE_URL", "postgres://app:p%C3%A4ss81kQpv44Lm@db/app", "p\u00e4ss81kQpv44Lm"),
        ("PIP_INDEX_URL", f"https://token:{CANARY}@packages.example/simple", CANARY),
        ("MYSQL_PROXY", "mysql://app:pass7word@db:3306", "pass7word"),
        ("SCRAPER_PROXY", "http://u:pass7word@p1:8080,http://u:other8pass2@p2:8080", "other8pass2"),
        ("https_proxy", "me:secret@p.example:3128", "secret"),
    ],
)
def test_secrets_of_the_environment_are_redacted_beside_any_settings(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, secret: str
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("NO_PROXY", "*")
    with WebTools({"providers": [{"name": "direct", "type": "direct"}]}) as web:
        assert web.redact(f"It is {secret} here") == "It is [redacted] here"


def test_words_of_the_environment_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "LOCAL_API_KEY": "not-needed",
        "NOTED_API_KEY": f"{CANARY} # 2024-01-01 prod",
        "DATABASE_URL": "postgres://postgres:postgres@localhost/app",
        "OTHER_URL": "postgres://app:change-me@localhost/app postgres://app:2024@localhost/app",
        "REDIS_URL": "redis://localhost:6379/0",
        "CONTACT_URL": "mailto:team-web@example.com",
        "DOCKER_HOST": "ssh://ubuntu22@10.0.0.1",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    with WebTools({"providers": [{"name": "direct", "type": "direct"}]}) as web:
        text = "not-needed: postgres and redis of team-web on localhost:6379, ubuntu22, 2024-01-01"
        assert web.redact(text) == text
        assert web.redact(f"change-me {CANARY}") == "change-me [redacted]"


def test_a_function_that_has_failed_is_not_called_to_redact(tmp_path: Path) -> None:
    calls: list[int] = []

    def give() -> str:
        calls.append(1)
        raise LookupError

    web = WebTools(tmp_path / "missing.json", api_keys={"exa": give})
    assert web.redact(["a", CANARY]) == web.redact(["a", CANARY]) == ["a", CANARY]
    assert calls == [1]


def test_the_placeholder_of_an_example_is_not_removed_from_texts(tmp_path: Path) -> None:
    path = tmp_path / "web-search.json"
    entry = {"name": "exa", "type": "exa", "apiKey": "YOUR_EXA_API_KEY"}
    path.write_text(json.dumps({"providers": [entry]}))
    web = WebTools(path, api_keys={"exa": CANARY})
    assert web.redact(f"YOUR_EXA_API_KEY {CANARY}") == "YOUR_EXA_API_KEY [redacted]"


def secrets_of(settings: Settings) -> frozenset[str]:
    return settings.accounts().secrets


@pytest.mark.parametrize(
    "values",
    [{"api_key": f"{CANARY} "}, {"apikey": CANARY}, {"type": 3}, {"options": {"k": CANARY}}],
)
def test_faulty_code_gets_a_config_error_without_the_key(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        ProviderConfig(**dict[str, Any](name="a", type="exa", api_key=CANARY) | values)
    assert_hides_the_key(caught.value)


def test_secrets_lists_every_key() -> None:
    secrets = Settings(make_config()).accounts().secrets
    assert secrets == {CANARY, CANARY + "-v0", f"http://u:{CANARY}@p"}


# --- the environment ---------------------------------------------------------------------------


def test_each_key_in_the_environment_switches_a_provider_on() -> None:
    config, warnings = environment_config(
        {"KAGI_API_KEY": "test-key-kagi", "EXA_API_KEY": f" {CANARY}\n"}
    )
    assert config is not None
    assert [(provider.name, provider.type) for provider in config.providers] == [
        ("exa", "exa"),
        ("kagi", "kagi"),
    ]
    assert config.providers[0].api_key == SecretStr(CANARY)
    assert (config.default_provider, config.max_results, warnings) == (None, None, [])


@pytest.mark.parametrize("environ", [{}, {"EXA_API_KEY": ""}, {"EXA_API_KEY": " \t"}])
def test_a_blank_key_counts_as_absent(environ: dict[str, str]) -> None:
    assert environment_config(environ) == (None, [])


@pytest.mark.parametrize("key", [f"{CANARY} x", f"{CANARY}é", "${EXA_KEY}"])
def test_a_faulty_key_in_the_environment_is_named_by_its_variable(home: Path, key: str) -> None:
    with pytest.raises(ConfigError, match="EXA_API_KEY") as caught:
        Settings(environ={"EXA_API_KEY": key}).accounts()
    assert_hides_the_key(caught.value)


# --- one source at a time ----------------------------------------------------------------------


def test_our_file_comes_before_that_of_pi(home: Path) -> None:
    own, foreign = config_paths()
    assert own.name == foreign.name == "web-search.json"
    assert foreign == home / ".pi/agent/web-search.json"
    assert find_config() is None
    write(foreign, text_of(entry(name="pi")))
    assert find_config() == foreign
    write(own, text_of(entry(name="ours")))
    assert find_config() == own
    assert Settings().accounts().origin == str(own)


@pytest.mark.skipif(sys.platform != "linux", reason="the folder is the platform's")
def test_our_file_is_in_the_users_config_folder(home: Path) -> None:
    assert config_paths()[0] == home / ".config/webtools/web-search.json"


def test_a_named_file_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    with pytest.raises(ConfigError) as caught:
        Settings(path).accounts()
    assert str(path) in str(caught.value)
    assert example_line() not in str(caught.value)


def test_a_file_that_cannot_be_read_is_an_error(home: Path) -> None:
    config_paths()[0].mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"web-search\.json.*Is a directory"):
        Settings(environ={"EXA_API_KEY": CANARY}).accounts()  # not in place of the file


def test_a_file_that_is_not_utf_8_is_an_error_without_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(text_of().encode() + b"\xff")
    with pytest.raises(ConfigError, match=r"UTF-8.*byte \d+") as caught:
        Settings(path).accounts()
    assert_hides_the_key(caught.value)


# --- changes show at the next call -------------------------------------------------------------


def test_a_file_that_appears_changes_and_vanishes_is_noticed(home: Path) -> None:
    settings = Settings(environ={"EXA_API_KEY": CANARY})
    assert settings.accounts().origin == "the environment"
    path = write(config_paths()[0], text_of(entry(name="one")))
    assert settings.accounts().accounts[0].name == "one"
    write(path, text_of(entry(name="other")))
    assert settings.accounts().accounts[0].name == "other"
    path.unlink()
    assert settings.accounts().accounts[0].name == "exa"


def test_a_file_that_turns_faulty_is_an_error_until_it_is_mended(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", text_of())
    settings = Settings(path)
    settings.accounts()
    write(path, "{")
    for _ in range(2):
        with pytest.raises(ConfigError):
            settings.accounts()
    write(path, text_of(entry(name="again")))
    assert settings.accounts().accounts[0].name == "again"


# --- which provider serves ---------------------------------------------------------------------


def accounts_of(*types: str, default: str | None = None) -> Accounts:
    entries = [entry(name=f"{kind}-{i}", type=kind) for i, kind in enumerate(types)]
    top = {"defaultProvider": default} if default else {}
    return Settings(load(text_of(*entries, **top), ORIGIN)).accounts()


def test_without_a_name_the_default_serves_if_it_can() -> None:
    accounts = accounts_of("exa", "kagi", "exa", default="exa-2")
    assert accounts.select("search").name == "exa-2"
    assert accounts.select("fetch").name == "exa-2"
    assert accounts.select("summarize").name == "kagi-1"


def test_an_unknown_name_is_refused_with_the_known() -> None:
    with pytest.raises(ConfigError, match='"tavily".*"exa-0", "kagi-1"'):
        accounts_of("exa", "kagi").select("search", "tavily")


def test_a_named_provider_that_cannot_is_refused_with_those_that_can() -> None:
    with pytest.raises(ConfigError, match='"exa-0".*summarize.*"kagi-1"') as caught:
        accounts_of("exa", "kagi").select("summarize", "exa-0")
    assert caught.value.provider == "exa-0"


def _advice(capability: Any = "search", **environ: str) -> list[str]:
    """Return the lines of the error where nothing is configured."""
    with pytest.raises(ConfigError) as caught:
        Settings(environ=environ).accounts().select(capability)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("environ", "capability", "variable"),
    [
        ({}, "search", "KAGI_API_KEY"),
        ({}, "summarize", "KAGI_API_KEY"),
        ({}, "fetch", "EXA_API_KEY"),
        ({"EXA_API_KEY": CANARY}, "summarize", "KAGI_API_KEY"),
        ({"BRAVE_API_KEY": CANARY}, "fetch", "EXA_API_KEY"),
    ],
)
def test_without_file_and_key_the_lines_say_what_is_missing_and_what_is_enough(
    home: Path, environ: dict[str, str], capability: Any, variable: str
) -> None:
    sentence, short, keys, file, without_key = _advice(capability, **environ)
    assert sentence.startswith(f"{variable} ")
    assert len(short) <= 160
    able = [services for services in PROVIDERS.values() if services.can(capability)]
    named = [name for services in able for name in services.about.key_variables]
    assert [name for name in named if name not in keys] == []
    assert any(name in short for name in named)
    assert str(config_paths()[0]) in file
    assert "webtools config init" in file
    shown = json.loads(file[file.index("{") :])
    assert PROVIDERS[shown["providers"][0]["type"]].can(capability)
    assert load(json.dumps(shown), "file").providers
    assert "webtools demo" in without_key


@pytest.mark.parametrize("command", ["web", "web-deep", "web-news", "web-docs"])
@pytest.mark.parametrize("kind", [*PROVIDERS.types()])
def test_no_error_asks_for_a_key_that_is_set(
    home: Path, monkeypatch: pytest.MonkeyPatch, kind: str, command: Any
) -> None:
    names = PROVIDERS[kind].about.key_variables[:1]
    for name in names:
        monkeypatch.setenv(name, CANARY)
    web = WebTools()
    messages: list[str] = []
    for call in (
        lambda: web.plan("the tallest tower of Spain", command=command),
        lambda: web._settings.accounts().select("search"),
        lambda: web._settings.accounts().select("summarize"),
    ):
        try:
            call()
        except ConfigError as error:
            messages.append(str(error))
    assert [name for name in names if name in "".join(messages)] == []


def _options_of_types() -> list[Any]:
    return [
        pytest.param(kind, name, info.alias, id=f"{kind}-{name}")
        for kind in PROVIDERS.types()
        for name, info in PROVIDERS[kind].about.options.model_fields.items()
    ]


@pytest.mark.parametrize(("kind", "name", "alias"), _options_of_types())
def test_options_take_both_spellings_in_code_and_in_a_file(
    kind: str, name: str, alias: str
) -> None:
    about = PROVIDERS[kind].about
    values = {
        "default_search_limit": 3,
        "default_fetch_text_max_characters": 900,
        "v0_api_key": CANARY,
        "allow_private_hosts": ["intranet.example"],
    }
    read: list[Any] = []
    for key in (name, alias):
        value = values.get(
            name, about.options.model_fields[name].get_default(call_default_factory=True)
        )
        item = {"name": "p", "type": kind, "options": {key: value}}
        if about.key_variables:
            item["apiKey"] = CANARY
        if about.url_variables:
            item["baseUrl"] = "http://127.0.0.1:1"
        for config in (load(json.dumps({"providers": [item]}), "c.json"), Config(providers=[item])):
            read.append(config.providers[0].options)
    assert all(options == read[0] for options in read)
    if name != alias:
        item["options"] = {name: value, alias: value}
        with pytest.raises(ConfigError, match=f"{alias}.*{name}"):
            load(json.dumps({"providers": [item]}), "c.json")


@pytest.mark.parametrize(
    ("misspelt", "name"), [("searchDept", "searchDepth"), ("search_dept", "search_depth")]
)
def test_the_spelling_that_an_error_names_is_one_that_works(misspelt: str, name: str) -> None:
    with pytest.raises(ConfigError, match=f'"{name}"'):
        load(text_of(entry(type="tavily", options={misspelt: "fast"})), "c.json")
    assert load(text_of(entry(type="tavily", options={name: "fast"})), "c.json")


@pytest.mark.parametrize(
    "use",
    [
        lambda: WebTools(loop_guard=False),  # type: ignore[call-arg]
        lambda: Config(providers=[entry()], loop_guard=True),  # type: ignore[call-arg]
        lambda: load(text_of(entry(), loopGuard={"enabled": True}), "c.json"),
    ],
)
def test_a_removed_setting_is_named_as_removed(use: Callable[[], object]) -> None:
    with pytest.raises((ConfigError, TypeError), match=r"(?i)loop_?guard.*removed in 0\.4\.0"):
        use()


def test_a_proxy_without_a_login_does_not_keep_settings_from_a_pickle() -> None:
    item = {"name": "e", "type": "exa", "apiKey": secret_manager}
    for proxy in ("none", "http://127.0.0.1:3128"):
        config = Config(providers=[item | {"proxy": proxy}])
        assert pickle.loads(pickle.dumps(config)).providers[0].proxy == config.providers[0].proxy
    with pytest.raises(TypeError, match="proxy") as caught:
        pickle.dumps(Config(providers=[item | {"proxy": f"http://user:{CANARY}@127.0.0.1:3128"}]))
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("key", ["YOUR_EXA_API_KEY", "YOUR_KAGI_API_KEY", "exa_..."])
def test_the_key_of_the_example_is_refused(tmp_path: Path, key: str) -> None:
    path = write(tmp_path / "c.json", EXAMPLE.replace("YOUR_EXA_API_KEY", key))
    with pytest.raises(ConfigError) as caught:
        Settings(path).accounts()
    assert 'apiKey of "exa-main"' in str(caught.value)
    assert f"`webtools config set-key exa-main --config {path}`" in str(caught.value)


# --- what no file is ---------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_is_read_and_a_silent_one_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools.config.config_file._PIPE_TIMEOUT", 0.05)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)
    try:
        with pytest.raises(ConfigError, match="pipe"):
            Settings(path).accounts()
    finally:
        os.close(held)
    writer = threading.Thread(target=path.write_text, args=(text_of(entry()),))
    writer.start()
    time.sleep(0.05)  # a pipe without a writer is empty
    assert Settings(path).accounts().accounts[0].type == "exa"
    writer.join()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file here")
def test_an_endless_file_is_refused() -> None:
    with pytest.raises(ConfigError, match="/dev/zero"):
        Settings("/dev/zero").accounts()


# --- the check ---------------------------------------------------------------------------------


def test_check_describes_a_file_without_its_keys(tmp_path: Path) -> None:
    entries = (entry(), entry(name="k", type="kagi", baseUrl="http://127.0.0.1:1/k"))
    path = write(tmp_path / "c.json", text_of(*entries, defaultProvider="k", maxResults=9))
    source, main, k, default, limit = check(Settings(path))[:5]
    assert str(path) in source
    assert all(part in main for part in ('"main"', "exa", "search, fetch", "https://api.exa.ai"))
    assert all(part in k for part in ('"k"', "search, fetch, summarize", "http://127.0.0.1:1/k"))
    assert (default[-3:], limit[-3:]) == (": k", ": 9")


def test_check_describes_what_is_set_for_one_provider_without_a_secret(tmp_path: Path) -> None:
    secret = "canary-login-0815"
    kagi = entry(
        name="k",
        type="kagi",
        timeoutMs=2500,
        maxRequestsPerSecond=0.5,
        proxy=f"http://me:{secret}@127.0.0.1:3128",
        options={"v0ApiKey": CANARY, "searchApi": "v0", "defaultSearchLimit": None},
    )
    exa = entry(fetchFallback="direct", options={"defaultSearchLimit": 7})
    path = write(tmp_path / "c.json", text_of(exa, kagi, fence="all"))
    lines = check(Settings(path))
    assert {'fetchFallback: "direct"', "defaultSearchLimit: 7"} <= {*lines[1].split("; ")}
    assert {
        "timeoutMs: 2,500",
        "maxRequestsPerSecond: 0.5",
        "proxy: http://127.0.0.1:3128",
        'searchApi: "v0"',
        "v0ApiKey: present",
    } <= {*lines[2].split("; ")}
    assert "Fence: all" in lines
    assert not {text for text in (CANARY, secret, "me:") if text in "".join(lines)}


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_check_warns_of_a_file_that_others_may_read(tmp_path: Path, mode: int) -> None:
    path = write(tmp_path / "c.json", text_of())
    path.chmod(mode)
    assert check(Settings(path))[-1].endswith(f"chmod 600 {path}")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_check_names_the_variables(home: Path) -> None:
    environ = {"KAGI_API_KEY": CANARY, "WEB_SEARCH_MAX_RESULTS": "x"}
    lines = check(Settings(environ=environ))
    own, foreign = config_paths()
    assert all(part in lines[0] for part in ("KAGI_API_KEY", str(own), str(foreign)))
    assert lines[3].startswith("maxResults: 5")
    assert lines[-1].startswith("Warning: WEB_SEARCH_MAX_RESULTS ")
    assert CANARY not in "".join(lines)


def test_a_key_too_short_to_be_cut_out_of_texts_is_refused() -> None:
    with pytest.raises(ConfigError, match="EXA_API_KEY is too short"):
        environment_config({"EXA_API_KEY": "exa"})
