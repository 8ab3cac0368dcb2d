"""Arguments of `WebTools` override the config file and the environment."""

from __future__ import annotations

import json
import pickle
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from webtools import ConfigError, InputError, ProviderError, WebTools

KEY = "test-key-in-code-0001"
OTHER = "test-key-elsewhere-0002"
pytestmark = pytest.mark.usefixtures("home")

OVER_BUDGET = (ProviderError, ConfigError, InputError)


class Exa(httpx.MockTransport):
    """Answers every search with one result, and keeps the requests."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        super().__init__(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        result = {"title": "PEP 634", "url": "https://peps.python.org/pep-0634/", "id": "1"}
        return httpx.Response(200, json={"results": [result]})

    @property
    def keys(self) -> list[str]:
        return [request.headers["x-api-key"] for request in self.requests]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(request.content) for request in self.requests]


@pytest.fixture
def exa() -> Exa:
    return Exa()


def write(path: Path, *entries: dict[str, Any], **top: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"providers": entries, **top}), encoding="utf-8")
    path.chmod(0o600)
    return path


def entry(name: str = "exa-main", **values: Any) -> dict[str, Any]:
    return {"name": name, "type": "exa", "apiKey": OTHER, **values}


# --- keys --------------------------------------------------------------------------------------


def test_a_key_in_code_is_enough_to_search(exa: Exa) -> None:
    response = WebTools(api_keys={"exa": KEY}, transport=exa).search("match")
    assert response.provider == "exa"
    assert exa.keys == [KEY]


def test_a_function_can_return_the_key(exa: Exa) -> None:
    WebTools(api_keys={"exa": lambda: KEY}, transport=exa).search("match")
    assert exa.keys == [KEY]


def test_a_key_in_code_replaces_that_of_the_one_entry_of_its_type(home: Path, exa: Exa) -> None:
    path = write(home / "team.json", entry(baseUrl="https://exa.example.com"))
    response = WebTools(path, api_keys={"exa": KEY}, transport=exa).search("match")
    assert response.provider == "exa-main"
    assert exa.keys == [KEY]
    assert exa.requests[0].url.host == "exa.example.com"


def test_a_key_for_a_type_of_several_entries_is_refused_with_their_names(home: Path) -> None:
    path = write(home / "team.json", entry("exa-one"), entry("exa-two"))
    with pytest.raises(ConfigError) as caught:
        WebTools(path, api_keys={"exa": KEY}).search("match")
    assert '"exa-one"' in str(caught.value)
    assert '"exa-two"' in str(caught.value)


@pytest.mark.parametrize(
    ("api_keys", "named"),
    [
        ({"exaa": KEY}, '"exa"'),
        ({"exa": "short"}, 'api_keys["exa"]'),
        ({"searxng": KEY}, "SearXNG"),
        (KEY, "api_keys"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused_at_once_and_not_shown(
    api_keys: Any, named: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        WebTools(api_keys=api_keys)
    assert named in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_key_in_code_is_in_no_repr_local_or_pickle() -> None:
    web = WebTools(api_keys={"exa": KEY})
    assert KEY not in repr(web)
    assert KEY not in web.redact(f"the key is {KEY}")
    with pytest.raises(TypeError, match="API keys"):
        pickle.dumps(web)
    frames: list[str] = []
    try:
        WebTools(api_keys={"exa": KEY}, max_results=0)
    except ConfigError as error:
        own = error.__traceback__.tb_next if error.__traceback__ else None
        frames = [
            *traceback.TracebackException(ConfigError, error, own, capture_locals=True).format()
        ]
    assert frames
    assert KEY not in "".join(frames)


# --- settings ----------------------------------------------------------------------------------


def from_environment(_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXA_API_KEY", OTHER)


def from_usual_file(home: Path, _monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / ".config/webtools/web-search.json", entry())


SOURCES = [from_environment, from_usual_file]


@pytest.mark.parametrize("source", SOURCES)
def test_keyword_settings_apply_on_top_of_every_source(
    home: Path, exa: Exa, source: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    source(home, monkeypatch)
    web = WebTools(max_results=2, cache=False, budget={"calls_per_process": 2}, transport=exa)
    web.search("match")
    web.search("match")
    assert [body["numResults"] for body in exa.bodies] == [2, 2]  # the second is not cached
    with pytest.raises(OVER_BUDGET, match="budget"):
        web.search("match")


def test_a_part_keeps_the_settings_that_the_code_does_not_name(home: Path, exa: Exa) -> None:
    path = write(
        home / "team.json", entry(), budget={"callsPerProcess": 1}, cache={"enabled": False}
    )
    web = WebTools(path, budget={"usd_per_day": 5}, cache={"ttl_ms": 1000}, transport=exa)
    web.search("match")
    with pytest.raises(OVER_BUDGET, match="callsPerProcess"):
        web.search("match")


def test_providers_can_be_listed_in_code(exa: Exa, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAGI_API_KEY", OTHER)
    entries = [{"name": "mine", "type": "exa", "api_key": KEY}]
    assert WebTools(providers=entries, transport=exa).search("match").provider == "mine"


def test_settings_survive_a_pickle() -> None:
    web = pickle.loads(pickle.dumps(WebTools(keyless=True, max_results=4)))
    assert "wikipedia" in {step.provider for step in web.plan("match").chain}


def test_an_unknown_setting_is_refused_with_the_nearest_known_one() -> None:
    make: Any = WebTools
    for wrong, meant in (("max_result", "max_results"), ("api_key", "api_keys")):
        with pytest.raises(TypeError, match=f'"{wrong}" .did you mean "{meant}"'):
            make(**{wrong: KEY})


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"max_results": 1000}, "max_results"),
        ({"budget": {"usd_per_dya": 1}}, "budget.usd_per_dya"),
        ({"cache": 3}, "cache"),
        ({"fence": "some"}, "fence"),
    ],
)
def test_a_setting_that_is_not_valid_is_refused_at_once(
    settings: dict[str, Any], named: str
) -> None:
    with pytest.raises(ConfigError, match=named):
        WebTools(**settings)


# --- the file that a variable names ------------------------------------------------------------


def test_a_variable_names_the_config_file(
    home: Path, exa: Exa, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_usual_file(home, monkeypatch)
    monkeypatch.setenv("WEBTOOLS_CONFIG", str(write(home / "team.json", entry("exa-team"))))
    assert WebTools(transport=exa).search("match").provider == "exa-team"
    own = write(home / "own.json", entry("exa-own"))
    assert WebTools(own, transport=exa).search("match").provider == "exa-own"


def test_a_named_file_that_is_missing_is_an_error_that_names_the_variable(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_usual_file(home, monkeypatch)
    monkeypatch.setenv("WEBTOOLS_CONFIG", str(home / "none.json"))
    with pytest.raises(ConfigError, match=r"none\.json.*WEBTOOLS_CONFIG"):
        WebTools().search("match")


# --- snippets of Exa ---------------------------------------------------------------------------


def test_exa_returns_highlights_unless_a_file_decides(
    exa: Exa, monkeypatch: pytest.MonkeyPatch
) -> None:
    WebTools(api_keys={"exa": KEY}, transport=exa).search("match")
    monkeypatch.setenv("EXA_API_KEY", OTHER)
    WebTools(transport=exa).search("case")
    assert [body["contents"] for body in exa.bodies] == [{"highlights": True}] * 2


def test_a_file_decides_on_highlights_and_a_search_can_request_them(home: Path, exa: Exa) -> None:
    with WebTools(write(home / "team.json", entry()), transport=exa) as web:
        web.search("match")
        web.search("match", snippets=True)  # not the cached response without snippets
    assert [body.get("contents") for body in exa.bodies] == [None, {"highlights": True}]
