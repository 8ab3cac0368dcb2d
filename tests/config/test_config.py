"""The settings: one source at a time, each fault in its own words, and no key anywhere."""

from __future__ import annotations

import copy
import functools
import json
import os
import pickle
import stat
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import httpx
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import SecretStr

from webtools._internal.text.reader import Place, typed
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
    first_steps,
    load,
)
from webtools.config.config_file import EXAMPLE_LINE, PLACEHOLDER
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, exa

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
    assert str(config_paths()[0]) in second
    assert second.endswith(EXAMPLE_LINE)
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


class Untouchable(Mapping[str, str]):
    """An environment that must not be read, but for the name of a config file."""

    def __getitem__(self, key: str) -> NoReturn:
        if key == "WEBTOOLS_CONFIG":
            raise KeyError(key)
        pytest.fail(f"the environment was read: {key}")

    def __iter__(self) -> NoReturn:
        pytest.fail("the environment was read")

    def __len__(self) -> int:
        raise AssertionError("the environment was read")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    for services in PROVIDERS.values():
        for name in services.about.key_variables:
            monkeypatch.delenv(name, raising=False)
    for name in os.environ:
        if name.startswith(("WEB_SEARCH_", "PI_WEB_SEARCH_")):
            monkeypatch.delenv(name)
    return tmp_path


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


def test_a_byte_order_mark_is_tolerated(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(b"\xef\xbb\xbf" + text_of().encode())
    assert Settings(path).accounts().accounts[0].name == "main"


def test_null_counts_as_absent() -> None:
    config = load(text_of(entry(baseUrl=None, options=None), maxResults=None), ORIGIN)
    assert config.providers[0].options.default_search_limit is None


def test_code_may_use_python_names() -> None:
    config = Config(
        providers=[ProviderConfig(name="a", type="exa", api_key=SecretStr(CANARY), timeout_ms=5)],
        max_results=3,
    )
    assert config == load(text_of(entry(name="a", timeoutMs=5), maxResults=3), ORIGIN)


def test_options_may_be_given_as_the_model() -> None:
    options = PROVIDERS["exa"].about.options.model_validate({"defaultSearchLimit": 7})
    made = ProviderConfig(name="a", type="exa", api_key=SecretStr(CANARY), options=options)
    assert made.options is options


def test_a_type_that_needs_no_key_may_leave_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exa, "ABOUT", replace(exa.ABOUT, needs_key=False))
    config = load('{"providers": [{"name": "a", "type": "exa"}]}', ORIGIN)
    assert Settings(config).accounts().secrets == frozenset()


@pytest.mark.parametrize(
    "url", ["https://api.exa.ai", "http://127.0.0.1:8080/exa", "http://[::1]:80", "HTTP://a_b/c%20"]
)
def test_an_absolute_web_url_is_a_base_url(url: str) -> None:
    assert load(text_of(entry(baseUrl=url)), ORIGIN).providers[0].base_url == url


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


def test_an_infinite_rate_is_refused() -> None:
    text = text_of(entry(maxRequestsPerSecond=1)).replace(": 1}", ": 1e999}")
    assert fault(text).startswith("providers[0].maxRequestsPerSecond ")


def test_a_missing_key_names_its_path_and_the_type() -> None:
    text = '{"providers": [{"name": "a", "type": "kagi"}]}'
    message = fault(text)
    assert message.startswith("providers[0].apiKey ")
    assert "Kagi" in message


@pytest.mark.parametrize("key", ["${EXA_API_KEY}", "$EXA_API_KEY", "${x:-" + CANARY + "}", " $A "])
def test_a_variable_reference_is_no_key(key: str) -> None:
    assert fault(text_of(entry(apiKey=key))).startswith("providers[0].apiKey is taken literally")


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


def test_an_unknown_key_at_the_top_is_named_with_the_nearest() -> None:
    message = fault(text_of(defaultProvder="x"))
    assert message.startswith("defaultProvder ")
    assert 'did you mean "defaultProvider"?' in message
    assert (
        "providers, defaultProvider, maxResults, failover, keyless, cache, log, "
        "research, budget, fetch, storage, fence"
    ) in message


def test_python_spelling_is_unknown_in_a_file() -> None:
    message = fault(text_of(max_results=5))
    assert '"max_results"' in message
    assert '"maxResults"' in message


def test_a_repeated_name_is_refused() -> None:
    assert fault(text_of(entry(), entry(type="kagi"))).startswith(
        'providers[1].name repeats "main"'
    )


def test_an_unknown_default_is_refused_with_the_known_providers() -> None:
    message = fault(text_of(entry(name="a"), entry(name="b"), defaultProvider="c"))
    assert message.startswith('defaultProvider "c" ')
    assert '"a", "b"' in message


@pytest.mark.parametrize("number", [0, 101])
def test_max_results_has_bounds(number: int) -> None:
    message = fault(text_of(maxResults=number))
    assert message.startswith("maxResults ")
    assert message.endswith(f", not {number}")


def test_a_long_word_is_cut_in_a_message() -> None:
    assert len(fault(text_of(defaultProvider="x" * 1000))) < 150


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


@given(st.from_regex(r"https?://[\w.\[\]:-]{1,12}(/[!-~]{0,5})?", fullmatch=True))
def test_what_passes_as_base_url_passes_as_url(url: str) -> None:
    try:
        ProviderConfig(name="a", type="exa", api_key=SecretStr("k"), base_url=url)
    except ConfigError:
        return
    assert httpx.URL(f"{url}/search").host


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
        with pytest.raises(TypeError, match="config file's path") as e:
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
    for made in (Settings({"providers": [entry]}), Settings(config)):
        assert secrets_of(made) == {CANARY}  # also where the key has been given already
        data = pickle.dumps(made)
        assert CANARY.encode() not in data
        assert b"secret_manager" in data
        assert secrets_of(pickle.loads(data)) == {CANARY}


def test_sources_of_one_function_are_one_and_copies_share_it() -> None:
    source = KeySource(secret_manager)
    assert copy.deepcopy(source) is copy.copy(source) is source
    assert len({source, KeySource(secret_manager)}) == 1
    assert source != KeySource(keyless_manager)


def test_the_function_is_asked_at_the_first_use_and_once() -> None:
    asked: list[int] = []

    def give() -> str:
        asked.append(1)
        return CANARY

    settings = Settings({"providers": [{"name": "exa", "type": "exa", "apiKey": give}]})
    assert not asked
    assert secrets_of(settings) == secrets_of(settings) == {CANARY}
    assert asked == [1]
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
    [(broken_manager, "raises LookupError"), (keyless_manager, "is empty"), (dict, "gives a dict")],
)
def test_a_function_that_gives_no_key_is_a_config_error(function: Any, fault: str) -> None:
    settings = Settings({"providers": [{"name": "exa", "type": "exa", "apiKey": function}]})
    with pytest.raises(ConfigError, match=fault) as caught:
        settings.accounts()
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def secrets_of(settings: Settings) -> frozenset[str]:
    return settings.accounts().secrets


def test_a_config_can_be_copied() -> None:
    config = make_config()
    assert copy.deepcopy(config) == copy.copy(config) == config
    assert copy.deepcopy(Settings(config)).accounts() == Settings(config).accounts()


def test_settings_are_pickled_as_the_path_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", text_of())
    again = pickle.loads(pickle.dumps(Settings(path)))
    assert again.accounts() == Settings(path).accounts()
    assert (
        pickle.loads(pickle.dumps(Settings(environ={"EXA_API_KEY": CANARY}))).environ is os.environ
    )


@pytest.mark.parametrize(
    "values",
    [{"api_key": f"{CANARY} "}, {"apikey": CANARY}, {"type": 3}, {"options": {"k": CANARY}}],
)
def test_faulty_code_gets_a_config_error_without_the_key(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        ProviderConfig(**dict[str, Any](name="a", type="exa", api_key=CANARY) | values)
    assert_hides_the_key(caught.value)


def test_a_faulty_entry_in_code_is_named_by_its_path_without_the_key() -> None:
    entries: Any = [entry(), entry(name="b", apiKey=CANARY + " ")]
    with pytest.raises(ConfigError, match=r"^providers\[1\]\.apiKey ") as caught:
        Config(providers=entries)
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
    assert [(each.name, each.type) for each in config.providers] == [
        ("exa", "exa"),
        ("kagi", "kagi"),
    ]
    assert config.providers[0].api_key == SecretStr(CANARY)
    assert (config.default_provider, config.max_results, warnings) == (None, None, [])


@pytest.mark.parametrize("environ", [{}, {"EXA_API_KEY": ""}, {"EXA_API_KEY": " \t"}])
def test_a_blank_key_counts_as_absent(environ: dict[str, str]) -> None:
    assert environment_config(environ) == (None, [])


def test_the_first_variable_that_is_set_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = ("A_KEY", "B_KEY", "C_KEY")
    monkeypatch.setattr(exa, "ABOUT", replace(exa.ABOUT, key_variables=variables))
    config, _ = environment_config({"A_KEY": " ", "B_KEY": "test-key-b", "C_KEY": "test-key-c"})
    assert config is not None
    assert config.providers[0].api_key == SecretStr("test-key-b")


@pytest.mark.parametrize(
    ("text", "expected", "has_warning"),
    [
        ("7", 7, False),
        (" 100 ", 100, False),
        ("", None, False),
        ("0", 1, True),
        ("101", 100, True),
        ("five", None, True),
        ("7.5", None, True),
    ],
)
def test_the_number_of_results_is_clamped_with_a_warning(
    text: str, expected: int | None, has_warning: bool
) -> None:
    environ = {"EXA_API_KEY": CANARY, "WEB_SEARCH_MAX_RESULTS": text}
    config, warnings = environment_config(environ)
    assert config is not None
    assert config.max_results == expected
    assert [w.split()[0] for w in warnings] == ["WEB_SEARCH_MAX_RESULTS"] * has_warning


@pytest.mark.parametrize("key", [f"{CANARY} x", f"{CANARY}é", "${EXA_KEY}"])
def test_a_faulty_key_in_the_environment_is_named_by_its_variable(home: Path, key: str) -> None:
    with pytest.raises(ConfigError, match="EXA_API_KEY") as caught:
        Settings(environ={"EXA_API_KEY": key}).accounts()
    assert_hides_the_key(caught.value)


# --- one source at a time ----------------------------------------------------------------------


def test_our_file_comes_before_that_of_pi(home: Path) -> None:
    ours, theirs = config_paths()
    assert ours.name == theirs.name == "web-search.json"
    assert theirs == home / ".pi/agent/web-search.json"
    assert find_config() is None
    write(theirs, text_of(entry(name="pi")))
    assert find_config() == theirs
    write(ours, text_of(entry(name="ours")))
    assert find_config() == ours
    assert Settings().accounts().origin == str(ours)


@pytest.mark.skipif(sys.platform != "linux", reason="the folder is the platform's")
def test_our_file_is_in_the_users_config_folder(home: Path) -> None:
    assert config_paths()[0] == home / "xdg/webtools/web-search.json"


def test_with_a_file_the_environment_is_not_read(home: Path) -> None:
    write(config_paths()[0], text_of())
    settings = Settings(environ=Untouchable())
    assert settings.accounts().accounts[0].name == "main"


@pytest.mark.parametrize("kind", ["config", "path"])
def test_what_the_code_passes_in_comes_before_the_file(home: Path, kind: str) -> None:
    write(config_paths()[0], "not even JSON")
    path = write(home / "mine.json", text_of(entry(name="mine")))
    config = load(path.read_text(), str(path)) if kind == "config" else path
    settings = Settings(config, environ=Untouchable())
    assert settings.accounts().accounts[0].name == "mine"
    assert settings.accounts().origin == ("the code" if kind == "config" else str(path))


def test_construction_reads_nothing(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "none.json", environ=Untouchable())
    assert repr(settings) == f"Settings({tmp_path / 'none.json'})"
    assert repr(Settings()) == "Settings(None)"


def test_a_tilde_is_the_home_folder(home: Path) -> None:
    write(home / "mine.json", text_of())
    assert Settings("~/mine.json").accounts().origin == str(home / "mine.json")


def test_a_named_file_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    with pytest.raises(ConfigError) as caught:
        Settings(path).accounts()
    assert str(path) in str(caught.value)
    assert EXAMPLE_LINE not in str(caught.value)


def test_a_file_that_cannot_be_read_is_no_reason_to_go_on(home: Path) -> None:
    config_paths()[0].mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"web-search\.json.*Is a directory"):
        Settings(environ=Untouchable()).accounts()


def test_a_denied_file_is_no_reason_to_go_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(config_paths()[0], text_of())

    def deny(path: Path, **_: Any) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", deny)
    with pytest.raises(ConfigError, match=r"web-search\.json.*Permission denied"):
        Settings(environ=Untouchable()).accounts()


def test_a_link_to_nowhere_is_no_reason_to_go_on(home: Path) -> None:
    ours = config_paths()[0]
    ours.parent.mkdir(parents=True)
    ours.symlink_to(home / "gone.json")
    with pytest.raises(ConfigError, match="link"):
        Settings(environ=Untouchable()).accounts()


def test_a_path_that_no_file_can_have_is_an_error() -> None:
    with pytest.raises(ConfigError, match="null"):
        Settings("a\0b").accounts()


def test_a_file_that_is_not_utf_8_is_an_error_without_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(text_of().encode() + b"\xff")
    with pytest.raises(ConfigError, match=r"UTF-8.*byte \d+") as caught:
        Settings(path).accounts()
    assert_hides_the_key(caught.value)


def test_a_faulty_file_is_reported_without_the_key(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", text_of() + "x")
    with pytest.raises(ConfigError, match="JSON.*line 1") as caught:
        Settings(path).accounts()
    assert_hides_the_key(caught.value)


# --- changes show at the next call -------------------------------------------------------------


def test_nothing_is_read_again_while_nothing_changes(tmp_path: Path) -> None:
    settings = Settings(write(tmp_path / "c.json", text_of()))
    assert settings.accounts() is settings.accounts()
    settings = Settings(make_config())
    assert settings.accounts() is settings.accounts()


def test_a_file_that_appears_changes_and_vanishes_is_noticed(home: Path) -> None:
    settings = Settings(environ={"EXA_API_KEY": CANARY})
    assert settings.accounts().origin == "the environment"
    path = write(config_paths()[0], text_of(entry(name="one")))
    assert settings.accounts().accounts[0].name == "one"
    write(path, text_of(entry(name="other")))
    assert settings.accounts().accounts[0].name == "other"
    path.unlink()
    assert settings.accounts().accounts[0].name == "exa"


def test_a_replaced_file_of_the_same_size_and_time_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", text_of(entry(name="one")))
    settings = Settings(path)
    settings.accounts()
    other = write(tmp_path / "d.json", text_of(entry(name="two")))
    times = path.stat()
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)
    assert settings.accounts().accounts[0].name == "two"


def test_a_key_that_changes_in_the_environment_is_noticed(home: Path) -> None:
    environ = {"EXA_API_KEY": "test-key-one"}
    settings = Settings(environ=environ)
    first = settings.accounts()
    assert settings.accounts() is first
    environ["EXA_API_KEY"] = "test-key-two"
    assert settings.accounts().accounts[0].key == "test-key-two"
    environ["WEB_SEARCH_MAX_RESULTS"] = "500"
    assert settings.accounts().config.max_results == 100
    assert settings.accounts().warnings
    environ.clear()
    assert settings.accounts() == Accounts((), "the environment")


def test_the_process_environment_is_the_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings()
    assert settings.accounts().accounts == ()
    monkeypatch.setenv("EXA_API_KEY", CANARY)
    assert settings.accounts().accounts[0].key == CANARY


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


def test_a_pacer_outlives_an_edit_that_keeps_its_rate(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", text_of(entry(maxRequestsPerSecond=2)))
    settings = Settings(path)
    before = settings.accounts().accounts[0].pacer
    write(path, text_of(entry(maxRequestsPerSecond=2), maxResults=5))
    assert settings.accounts().config.max_results == 5
    assert settings.accounts().accounts[0].pacer is before
    write(path, text_of(entry(maxRequestsPerSecond=1)))
    assert settings.accounts().accounts[0].pacer is not before


def test_threads_share_one_reading(tmp_path: Path) -> None:
    settings = Settings(write(tmp_path / "c.json", text_of(entry(maxRequestsPerSecond=2))))
    seen: list[Accounts] = []
    threads = [threading.Thread(target=lambda: seen.append(settings.accounts())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(accounts) for accounts in seen}) == 1


# --- which provider serves ---------------------------------------------------------------------


def accounts_of(*types: str, default: str | None = None) -> Accounts:
    entries = [entry(name=f"{kind}-{i}", type=kind) for i, kind in enumerate(types)]
    top = {"defaultProvider": default} if default else {}
    return Settings(load(text_of(*entries, **top), ORIGIN)).accounts()


def test_the_named_provider_serves() -> None:
    accounts = accounts_of("exa", "exa", default="exa-0")
    assert accounts.select("search", "exa-1").name == "exa-1"


def test_without_a_name_the_default_serves_if_it_can() -> None:
    accounts = accounts_of("exa", "kagi", "exa", default="exa-2")
    assert accounts.select("search").name == "exa-2"
    assert accounts.select("fetch").name == "exa-2"
    assert accounts.select("summarize").name == "kagi-1"


def test_without_a_default_the_first_that_can_serves() -> None:
    accounts = accounts_of("kagi", "exa", "exa")
    assert accounts.select("search").name == "kagi-0"
    assert accounts.select("fetch").name == "exa-1"


def test_an_unknown_name_is_refused_with_the_known() -> None:
    with pytest.raises(ConfigError, match='"tavily".*"exa-0", "kagi-1"'):
        accounts_of("exa", "kagi").select("search", "tavily")


def test_a_misspelt_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r'"exa0".*did you mean "exa-0"\?'):
        accounts_of("exa", "kagi").select("search", "exa0")


def test_a_named_provider_that_cannot_is_refused_with_those_that_can() -> None:
    with pytest.raises(ConfigError, match='"exa-0".*summarize.*"kagi-1"') as caught:
        accounts_of("exa", "kagi").select("summarize", "exa-0")
    assert caught.value.provider == "exa-0"


def test_a_named_provider_that_cannot_is_refused_with_a_type_that_can() -> None:
    with pytest.raises(ConfigError, match='"exa-0".*summarize.*"kagi"'):
        accounts_of("exa").select("summarize", "exa-0")


def test_without_a_provider_that_can_the_file_and_the_types_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", text_of(entry(type="brave")))
    kinds = '"exa", "kagi", "tavily", "firecrawl", "parallel", "jina"'
    with pytest.raises(ConfigError, match=f"{path}.*fetch.*{kinds}"):
        Settings(path).accounts().select("fetch")


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
def test_without_file_and_key_four_lines_say_what_is_missing_and_what_is_enough(
    home: Path, environ: dict[str, str], capability: Any, variable: str
) -> None:
    sentence, keys, file, without_key = _advice(capability, **environ)
    assert sentence.startswith(f"{variable} ")
    able = [services for services in PROVIDERS.values() if services.can(capability)]
    named = [name for services in able for name in services.about.key_variables]
    assert [name for name in named if name not in keys] == []
    assert str(config_paths()[0]) in file
    assert "webtools config init" in file
    assert file.endswith(EXAMPLE_LINE)
    assert "webtools demo" in without_key


def test_the_example_on_one_line_is_a_valid_config() -> None:
    assert load(EXAMPLE_LINE, ORIGIN).providers[0].type == "exa"
    assert "\n" not in EXAMPLE_LINE


def test_where_the_demo_is_not_installed_its_extra_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "pip install" not in _advice()[-1]
    monkeypatch.setattr(first_steps, "find_spec", {"aiohttp": None}.get)
    assert "pip install 'agent-webtools[cli]'" in _advice()[-1]


def test_in_a_notebook_the_advice_names_magics(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(get_ipython=object)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    advice = _advice()
    assert "%env" in advice[1]
    assert "%env WEB_SEARCH_KEYLESS=1" in advice[-1]
    assert "%web_sandbox" in advice[-1]
    shell.get_ipython = lambda: None  # imported by a program that is no shell
    assert "%" not in "".join(_advice())


def test_variables_of_one_provider_are_listed_together(home: Path) -> None:
    assert "BRAVE_API_KEY (or BRAVE_SEARCH_API_KEY), " in _advice()[1]
    assert "SEARXNG_URL (or SEARX_HOST), the address" in _advice()[1]


@pytest.mark.parametrize(
    ("reader", "switch"),
    [
        (None, "WebTools(keyless=True)"),
        ("keyless command", "--keyless"),
        ("command", "WEB_SEARCH_KEYLESS=1"),  # such as `bulk`, which has no such option
        ("mcp", '"WEB_SEARCH_KEYLESS": "1"'),
    ],
)
def test_the_way_without_a_key_is_one_that_the_reader_has(
    home: Path, reader: Place | None, switch: str
) -> None:
    token = typed.set(reader)
    try:
        advice = _advice()
    finally:
        typed.reset(token)
    assert switch in advice[-1]
    assert ('"env"' in advice[1]) == (reader == "mcp")
    assert ("api_keys" in advice[1]) == (reader is None)


@pytest.mark.parametrize("capability", ["search", "fetch"])
def test_an_unknown_name_without_any_key_is_named_first(home: Path, capability: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings(environ={}).accounts().chain(capability, "exaa")
    fault, keys, *_ = str(caught.value).splitlines()
    assert '"exaa"' in fault
    assert '"exa"' in fault
    assert "EXA_API_KEY" in keys


def test_a_type_without_its_key_is_refused_with_the_variable_that_adds_it(home: Path) -> None:
    accounts = Settings(environ={"EXA_API_KEY": "test-key-1"}).accounts()
    with pytest.raises(ConfigError, match='"brave".*"exa".*BRAVE_API_KEY'):
        accounts.select("search", "brave")


def test_a_name_without_any_key_is_reported_as_a_missing_key(home: Path) -> None:
    with pytest.raises(ConfigError, match="^KAGI_API_KEY"):
        Settings(environ={}).accounts().select("search", "exa")


@pytest.mark.parametrize("key", [PLACEHOLDER, "exa_..."])
def test_the_key_of_the_example_is_refused(tmp_path: Path, key: str) -> None:
    path = write(tmp_path / "c.json", EXAMPLE.replace(PLACEHOLDER, key))
    with pytest.raises(ConfigError) as caught:
        Settings(path).accounts()
    assert 'apiKey of "exa-main"' in str(caught.value)
    assert f"`webtools config set-key exa-main --config {path}`" in str(caught.value)


# --- what no file is ---------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_is_read_and_a_silent_one_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools.config.config_file._LONGEST_SILENCE", 0.05)
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


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", " " * (1024 * 1024 + 1))
    with pytest.raises(ConfigError, match="1024 KiB"):
        Settings(path).accounts()


def test_an_empty_path_is_refused() -> None:
    with pytest.raises(ConfigError, match="empty"):
        Settings("")


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
    ours, theirs = config_paths()
    assert all(part in lines[0] for part in ("KAGI_API_KEY", str(ours), str(theirs)))
    assert lines[3].startswith("maxResults: 5")
    assert lines[-1].startswith("Warning: WEB_SEARCH_MAX_RESULTS ")
    assert CANARY not in "".join(lines)


def test_check_fails_when_nothing_is_configured(home: Path) -> None:
    with pytest.raises(ConfigError, match="^KAGI_API_KEY"):
        check(Settings(environ={}))


def test_a_key_too_short_to_be_cut_out_of_texts_is_refused() -> None:
    with pytest.raises(ConfigError, match="EXA_API_KEY is too short"):
        environment_config({"EXA_API_KEY": "exa"})


def test_check_describes_what_the_code_passes_in() -> None:
    assert check(Settings(make_config()))[0] == "Source: the code"


def test_the_search_for_the_key_would_find_it() -> None:
    def leak(key: str) -> NoReturn:
        raise ConfigError(f"not shown, but among the local variables: {len(key)}")

    with pytest.raises(ConfigError) as caught:
        leak(CANARY)
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert CANARY in "".join(shown.format())
