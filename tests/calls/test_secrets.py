"""Every way out of the package, searched for the keys that went in."""

from __future__ import annotations

import asyncio
import html
import json
import logging
import pickle
import traceback
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from servers import Proxy, RawServer, answering, response

from langchain_webtools import WebToolkit
from llamaindex_webtools import WebToolsSpec
from webtools import Config, ConfigError, ToolResult, WebTools, WebToolsError
from webtools._internal.pipeline import retries
from webtools._internal.text.redaction import Redactor
from webtools.config import Settings, check
from webtools_sandbox import SandboxServer

NEEDLE = "canary"  # a part of every secret here that no spelling changes
API_KEY = "test-key-canary-4f/1d+9a&7c<3e>5b\"2'8=6\\0%1"
V0_KEY = 'test-key-canary-v0-9c&d"e/f'
PASSWORD = "test-key-canary-proxy&1/2"
CREDENTIALS = b64encode(f"user:{PASSWORD}".encode()).decode()
NEEDLES = [NEEDLE, CREDENTIALS]
PAGE = "https://docs.example/page"


class LeakError(AssertionError):
    """A key came out."""


# --- the hunt ----------------------------------------------------------------------------------


def search_text(where: str, text: str | bytes) -> None:
    shown = text.decode("latin-1") if isinstance(text, bytes) else text
    for needle in NEEDLES:
        if needle in shown:
            at = shown.index(needle)
            raise LeakError(f"{where}: …{shown[max(0, at - 300) : at + 60]}…")


def search_value(where: str, value: Any) -> None:
    """Search all that a result shows, also to those who store or send it."""
    search_text(f"{where}, str", str(value))
    search_text(f"{where}, repr", repr(value))
    search_text(f"{where}, pickle", pickle.dumps(value))
    for name in ("details", "artifact", "raw_output"):
        details = getattr(value, name, None)
        if isinstance(details, dict):
            search_text(f"{where}, {name}", json.dumps(details, ensure_ascii=False))
            search_spilled(where, details.get("full_output_path"))


def search_spilled(where: str, path: str | None) -> None:
    if path is not None:
        search_text(f"{where}, spill file", Path(path).read_bytes())


def search_error(where: str, error: BaseException, *, with_locals: bool = True) -> None:
    """Search an error with all that hangs on it."""
    for captured in {False, with_locals}:
        trace = traceback.TracebackException.from_exception(error, capture_locals=captured)
        search_text(f"{where}, traceback, locals {captured}", "".join(trace.format()))
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        item = waiting.pop()
        if item is None or item in seen:
            continue
        seen.append(item)
        waiting += [item.__cause__, item.__context__]
        search_text(f"{where}, error", f"{item} {item!r} {item.args!r} {vars(item)!r}")
    search_text(f"{where}, pickled error", pickle.dumps(error))
    if isinstance(error, WebToolsError):
        search_text(f"{where}, error details", json.dumps(error.to_details()))


@contextmanager
def hunting(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], *ignored: str
) -> Iterator[None]:
    """Search what is logged (by anyone, at any level), printed and warned of meanwhile."""
    caplog.set_level(logging.DEBUG)
    for name in ignored:
        caplog.set_level(logging.INFO, name)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield
    for record in caplog.records:
        search_text(f"log of {record.name}", f"{record.getMessage()} {vars(record)!r}")
    search_text("log", caplog.text)
    search_text("output", "".join(capfd.readouterr()))
    search_text("warnings", " ".join(str(item.message) for item in warned))


# --- the ways in -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One capability of one provider, and how its API would repeat the keys it knows."""

    name: str
    echo: str
    tool: str
    arguments: dict[str, Any]
    fails: Callable[[str], Any]
    finds: Callable[[str], Any]

    @property
    def method(self) -> str:
        return self.tool.removeprefix("web_")


def exa_error(text: str) -> Any:
    return {"error": text, "tag": text, "requestId": text}


def v1_error(text: str) -> Any:
    return {"meta": {"id": text}, "errors": [{"code": text, "message": text}]}


def v0_error(text: str) -> Any:
    return {"meta": {"id": text}, "data": None, "error": [{"code": 2, "msg": text}]}


def hit(text: str) -> dict[str, Any]:
    url = f"https://a.example/{quote(text, safe='')}"
    return {"t": 0, "id": text, "url": url, "title": text, "snippet": text, "author": text}


def exa_hits(text: str) -> Any:
    found = {**hit(text), "publishedDate": text, "highlights": [text, text], "image": text}
    return {"results": [found] * 2, "warnings": [text], "notices": [{"message": text}]}


def exa_pages(text: str) -> Any:
    page = {"id": PAGE, "url": PAGE, "title": text, "author": text, "summary": text}
    page |= {"text": f"{text}\n" * 1500, "highlights": [text]}  # type: ignore[dict-item]
    return {"results": [page], "statuses": [{"id": PAGE, "status": "success"}]}


def search_for(provider: str) -> dict[str, Any]:
    return {"queries": ["json", "asyncio"], "provider": provider}


JOBS = [
    Job("exa search", API_KEY, "web_search", search_for("exa"), exa_error, exa_hits),
    Job(
        "exa fetch", API_KEY, "web_fetch", {"urls": [PAGE], "provider": "exa"}, exa_error, exa_pages
    ),
    Job(
        "kagi v1 search",
        f"{API_KEY} {V0_KEY}",
        "web_search",
        search_for("kagi"),
        v1_error,
        lambda text: {"meta": {"id": text}, "data": {"search": [hit(text)], "news": [hit(text)]}},
    ),
    Job(
        "kagi v0 search",
        f"{API_KEY} {V0_KEY}",
        "web_search",
        search_for("kagi-v0"),
        v0_error,
        lambda text: {"meta": {"id": text}, "data": [hit(text), {"t": 1, "list": [text]}]},
    ),
    Job(
        "kagi summary",
        f"{API_KEY} {V0_KEY}",
        "summarize",
        {"url": PAGE, "provider": "kagi"},
        v0_error,
        lambda text: {"data": {"output": f"{text}\n" * 1500, "tokens": 9, "x": text}},
    ),
]


@dataclass
class Ways:
    """All the ways to make a call; each gives back a result or an error."""

    web: WebTools
    found: list[tuple[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.langchain = {tool.name: tool for tool in WebToolkit(web=self.web).get_tools()}
        spec = WebToolsSpec(web=self.web)
        self.llamaindex = {tool.metadata.get_name(): tool for tool in spec.to_tool_list()}

    def call(self, tool: str, arguments: Any, *, method: str | None = None) -> None:
        """Make a call in every way, blocking and awaited."""
        self.call_plainly(tool, arguments, method=method)
        message = {"type": "tool_call", "id": "1", "name": tool, "args": arguments}
        lang, llama = self.langchain.get(tool), self.llamaindex.get(tool)
        if lang is not None and llama is not None:
            self._note("LangChain", lambda: lang.invoke(message))
            self._note("LangChain, bare", lambda: lang.invoke(arguments))
            self._note("LlamaIndex", lambda: llama.call(**arguments))
        asyncio.run(self._acall(tool, arguments, message, method))

    def call_plainly(self, tool: str, arguments: Any, *, method: str | None = None) -> None:
        """Make a call in the two ways that all others take."""
        self._note("call_tool", lambda: self.web.call_tool(tool, arguments))
        if method is not None:
            self._note(method, lambda: getattr(self.web, method)(**arguments))

    async def _acall(self, tool: str, arguments: Any, message: Any, method: str | None) -> None:
        web, lang, llama = self.web, self.langchain.get(tool), self.llamaindex.get(tool)
        await self._anote("acall_tool", lambda: web.acall_tool(tool, arguments))
        if method is not None:
            await self._anote(f"a{method}", lambda: getattr(web, f"a{method}")(**arguments))
        if lang is not None and llama is not None:
            await self._anote("LangChain, awaited", lambda: lang.ainvoke(message))
            await self._anote("LlamaIndex, awaited", lambda: llama.acall(**arguments))

    def _note(self, way: str, call: Callable[[], Any]) -> None:
        try:
            self.found.append((way, call()))
        except Exception as error:  # noqa: BLE001  whatever comes is searched
            self.found.append((way, error))

    async def _anote(self, way: str, call: Callable[[], Any]) -> None:
        try:
            self.found.append((way, await call()))
        except Exception as error:  # noqa: BLE001  whatever comes is searched
            self.found.append((way, error))

    def search(self, *, with_locals: bool = True) -> None:
        for way, thing in self.found:
            if isinstance(thing, BaseException):
                search_error(way, thing, with_locals=with_locals)
            else:
                search_value(way, thing)


def settings(sandbox: SandboxServer, **every: Any) -> Config:
    def entry(name: str, kind: str, **options: Any) -> dict[str, Any]:
        client = {"name": name, "type": kind, "apiKey": API_KEY, "options": options}
        return {**client, "baseUrl": sandbox.base_url(kind), **every}

    kagi_v0 = entry("kagi-v0", "kagi", searchApi="v0", v0ApiKey=V0_KEY)
    entries = [entry("exa", "exa"), entry("kagi", "kagi", v0ApiKey=V0_KEY), kagi_v0]
    return Config.model_validate({"providers": entries})


def proxy_url(proxy: Proxy) -> str:
    return f"http://user:{quote(PASSWORD, safe='')}@127.0.0.1:{proxy.port}"


@pytest.fixture(scope="module")
def server() -> Iterator[SandboxServer]:
    with SandboxServer(keys=[API_KEY, V0_KEY]) as client:
        yield client


@pytest.fixture
def sandbox(server: SandboxServer, monkeypatch: pytest.MonkeyPatch) -> SandboxServer:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    monkeypatch.setattr(retries, "MAX_RETRIES", 1)
    server.reset()
    return server


# --- what servers do ---------------------------------------------------------------------------

Fault = Callable[[Job], dict[str, Any]]

SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON-escaped": lambda text: json.dumps(text)[1:-1],
    "percent-encoded": lambda text: quote(text, safe=" "),
    "HTML-escaped": html.escape,
}


def failing(status: int, **more: Any) -> Fault:
    return lambda job: {"status": status, "body": job.fails(job.echo), **more}


def error_with_key(spell: Callable[[str], str]) -> Fault:
    return lambda job: {"status": 401, "body": job.fails(spell(job.echo))}


def results_with_key(spell: Callable[[str], str]) -> Fault:
    return lambda job: {"body": job.finds(spell(job.echo))}


def cut_body(length: int) -> Fault:
    """Let the end of a message that is cut at 500 characters fall into the key."""
    return lambda job: {"status": 400, "body": job.fails("x" * length + job.echo)}


def markup(job: Job) -> bytes:
    return f"<html><title>{html.escape(job.echo)}</title><p>{job.echo}</p></html>".encode()


def shapeless(job: Job) -> Any:
    return {"results": job.echo, "data": {"search": job.echo, "x": job.echo}, "x": [job.echo]}


FAULTS: dict[str, Fault] = {
    "key echoed by the API": lambda _: {"body": "echo"},
    **{f"401 {name}": error_with_key(spell) for name, spell in SPELLINGS.items()},
    **{f"400 cut after {length}": cut_body(length) for length in (470, 477, 484, 491, 498)},
    "402": failing(402),
    "429": failing(429, retry_after=0),
    "429 for long": failing(429, retry_after=999),
    "500": failing(500),
    "503": failing(503),
    "error with status 200": failing(200),
    "HTML": lambda job: {"body": markup(job)},
    "502 in HTML": lambda job: {"status": 502, "body": markup(job)},
    "redirect": failing(302),
    "reset": lambda _: {"reset": True},
    "hang-up": lambda _: {"body": "hangup"},
    "cut": lambda _: {"body": "cut"},
    "cut JSON": lambda job: {"body": json.dumps(job.finds(job.echo)).encode()[:-9]},
    "another shape": lambda job: {"body": shapeless(job)},
    "a list": lambda job: {"body": [job.echo]},
    "no number": lambda job: {"body": json.dumps([job.echo, float("nan")]).encode()},
    **{f"results {name}": results_with_key(spell) for name, spell in SPELLINGS.items()},
    "failed page": lambda job: {
        "body": {
            "results": [],
            "statuses": [{"id": PAGE, "status": "error", "error": {"tag": job.echo}}],
        }
    },
}


# What is in the way of each of these differs; what is in the way of the others is the same text.
IN_EVERY_WAY = {"key echoed by the API", "401 plain", "reset", "results plain"}


def drive(
    web: WebTools, sandbox: SandboxServer, fault: Fault, *jobs: Job, in_every_way: bool = False
) -> Ways:
    ways = Ways(web)
    call = ways.call if in_every_way else ways.call_plainly
    for job in jobs or JOBS:
        sandbox.clear_faults()
        sandbox.fault(times=None, **fault(job))  # type: ignore[misc]
        call(job.tool, job.arguments, method=job.method)
    return ways


@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_of_a_server_leaks_a_key(
    sandbox: SandboxServer,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    name: str,
) -> None:
    with hunting(caplog, capfd), WebTools(config=settings(sandbox)) as web:
        ways = drive(web, sandbox, FAULTS[name], in_every_way=name in IN_EVERY_WAY)
        ways.search()
    assert len(ways.found) == (9 if name in IN_EVERY_WAY else 2) * len(JOBS)


def test_no_success_reset_or_time_out_leaks_a_key(
    sandbox: SandboxServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with hunting(caplog, capfd):
        with WebTools(config=settings(sandbox)) as web:
            drive(web, sandbox, lambda _: {"status": 418, "provider": "no-provider"}).search()
        with WebTools(config=settings(sandbox)) as web:
            drive(web, sandbox, lambda _: {"reset": True, "body": "cut"}, JOBS[0]).search()
        with WebTools(config=settings(sandbox, timeoutMs=20)) as web:
            drive(web, sandbox, lambda _: {"delay": 9}).search()
        with WebTools(config=settings(sandbox, timeoutMs=20, maxRequestsPerSecond=0.1)) as web:
            drive(web, sandbox, lambda _: {"status": 503}).search()


def test_no_response_header_leaks_a_key(
    sandbox: SandboxServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    headers = {"X-Echo": API_KEY, "Location": f"https://a.example/{quote(API_KEY)}"}
    # At level DEBUG, httpcore logs the status line and the headers of answers, whatever they hold.
    with hunting(caplog, capfd, "httpcore"), WebTools(config=settings(sandbox)) as web:
        for status in (200, 302, 401, 429):
            drive(web, sandbox, failing(status, headers=headers, retry_after=API_KEY)).search()


SECRETS = f"{API_KEY} {PASSWORD} {CREDENTIALS}"
REFUSAL = "407 Proxy Authentication Required"
PROXY_ANSWERS = {
    "none": b"",
    "refused": response(b"", REFUSAL),
    "refused with the password": response(SECRETS.encode(), REFUSAL),
    "refused with the password in JSON": response(json.dumps(exa_error(SECRETS)).encode(), REFUSAL),
    "garbage": b"\x00garbage " + SECRETS.encode() + b"\r\n\r\n",
}


@pytest.mark.parametrize("answer", PROXY_ANSWERS.values(), ids=PROXY_ANSWERS)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_proxy_leaks_a_password(
    sandbox: SandboxServer,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    answer: bytes,
    scheme: str,
) -> None:
    with hunting(caplog, capfd), Proxy(refuse=answer) as proxy:
        every = {"proxy": proxy_url(proxy)}
        if scheme == "https":
            every["baseUrl"] = f"https://127.0.0.1:{sandbox.port}"
        with WebTools(config=settings(sandbox, **every)) as web:
            drive(web, sandbox, lambda job: {"body": job.finds(SECRETS)}, JOBS[0], JOBS[4]).search()
    assert any(CREDENTIALS.encode() in received for received in proxy.requests)


@pytest.mark.parametrize("way", ["header", "reason", "bad header", "bad chunk"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_httpcores_log_of_our_requests_holds_no_header_of_an_answer(
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    way: str,
    asynchronous: bool,
) -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answers = {
        "header": response(b"{}", headers=[("x-echo", API_KEY)]),
        "reason": response(b"{}", f"401 {API_KEY}"),
        "bad header": f"HTTP/1.1 200 OK\r\n{API_KEY}\r\n\r\n".encode(),
        "bad chunk": chunked + f"{API_KEY}\r\n".encode(),
    }
    config = entry(timeoutMs=3000)
    with hunting(caplog, capfd), RawServer(answering(answers[way], keep_open=False)) as server:
        config["providers"][0]["baseUrl"] = server.url
        web = WebTools(config)
        call = {"queries": ["json"]}
        if asynchronous:
            _awaited(web, "web_search", call)
        else:
            web.call_tool("web_search", call)
    logged = [record.getMessage() for record in caplog.records if "httpcore" in record.name]
    assert any("request" in message for message in logged)


def test_the_logs_of_other_users_of_httpcore_stay_as_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with RawServer(answering(response(b"{}", headers=[("x-own", "mine")]))) as server:
        WebTools(entry(baseUrl=server.url)).call_tool("web_search", {"queries": ["json"]})
        caplog.clear()
        httpx.get(server.url)
    assert "mine" in caplog.text


# --- what callers and settings do --------------------------------------------------------------


def call_with_key(job: Job, **changed: Any) -> tuple[str, Any]:
    return job.tool, {**job.arguments, **changed}


INPUTS: dict[str, tuple[str, Any]] = {
    "query": call_with_key(JOBS[0], queries=[API_KEY]),
    "query of a GET": call_with_key(JOBS[3], queries=[V0_KEY]),
    "query and another": call_with_key(JOBS[0], queries=[API_KEY, "json"]),
    "blank query": call_with_key(JOBS[0], queries=["\x00", API_KEY]),
    "URL": call_with_key(JOBS[1], urls=[API_KEY]),
    "URL that holds it": call_with_key(JOBS[1], urls=[f"https://a.example/{quote(API_KEY)}"]),
    "URL to summarize": call_with_key(JOBS[4], url=f"https://a.example/{quote(V0_KEY)}"),
    "domain": call_with_key(JOBS[0], include_domains=[API_KEY]),
    "date": call_with_key(JOBS[0], start_published_date=API_KEY),
    "category": call_with_key(JOBS[0], category=API_KEY),
    "language": call_with_key(JOBS[4], target_language=API_KEY),
    "engine": call_with_key(JOBS[4], engine=API_KEY),
    "limit": call_with_key(JOBS[0], limit=API_KEY),
    "provider": call_with_key(JOBS[0], provider=API_KEY),
    "unknown argument": call_with_key(JOBS[0], unknown=API_KEY),
    "no mapping": ("web_search", API_KEY),
    "name of the tool": (API_KEY, {}),
}


@pytest.mark.parametrize("fault", [{}, {"status": 400}, {"status": 503}, {"reset": True}], ids=str)
def test_a_key_in_an_argument_is_not_returned(
    sandbox: SandboxServer,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    fault: dict[str, Any],
) -> None:
    with hunting(caplog, capfd), WebTools(config=settings(sandbox)) as web:
        for name, (tool, arguments) in INPUTS.items():
            if fault:
                sandbox.fault(times=None, **fault)
            ways = Ways(web)
            if name in {"no mapping", "name of the tool"}:
                for result in (web.call_tool(tool, arguments), _awaited(web, tool, arguments)):
                    ways.found.append((name, result))
            else:
                call = ways.call_plainly if fault else ways.call
                call(tool, arguments, method=tool.removeprefix("web_"))
            for way, thing in ways.found:
                if way.startswith("LlamaIndex") and not isinstance(thing, Exception):
                    thing.raw_input = {}  # the arguments of the call
            # The frames of the caller and of the method hold what was given to them.
            ways.search(with_locals=False)


def _awaited(web: WebTools, tool: str, arguments: Any) -> ToolResult:
    return asyncio.run(web.acall_tool(tool, arguments))


def entry(**changed: Any) -> dict[str, Any]:
    good = {"name": "exa", "type": "exa", "apiKey": API_KEY}
    return {"providers": [{**good, **changed}]}


LOST = "e3b0c442-98fc-1c14-9afb-f4c8996fb924"  # a key set only in wrong places
MISPLACED: dict[str, Callable[[str], dict[str, Any]]] = {
    "default": lambda key: {**entry(), "defaultProvider": key},
    "fallback": lambda key: entry(fetchFallback=key),
    "chain": lambda key: {**entry(), "research": {"chain": {"web": [key]}}},
    "command": lambda key: {**entry(), "research": {"chain": {key: ["exa"]}}},
    "name of a setting": lambda key: {**entry(), key: 1},
    "name in an entry": lambda key: entry(**{key: 1}),
    "name of an option": lambda key: entry(options={key: 1}),
    "name": lambda key: entry(name=key),
    "name twice": lambda key: {"providers": entry(name=key)["providers"] * 2},
    "type": lambda key: entry(type=key),
    "fence": lambda key: {**entry(), "fence": key},
    "number": lambda key: {**entry(), "maxResults": key},
}


@pytest.mark.parametrize("make", MISPLACED.values(), ids=MISPLACED)
@pytest.mark.parametrize("key", [API_KEY, LOST, f"{LOST}x{LOST}"], ids=["set", "lost", "long"])
def test_a_key_set_in_the_place_of_a_name_is_shown_nowhere(
    tmp_path: Path, make: Callable[[str], dict[str, Any]], key: str
) -> None:
    path = tmp_path / "web-search.json"
    data = make(key)
    if key != LOST and "research" not in data:
        data["providers"][0]["apiKey"] = key
    path.write_text(json.dumps(data))
    try:
        message = "\n".join(check(Settings(path)))
    except ConfigError as error:
        message = str(error)
    result = WebTools(path).call_tool("web_search", {"queries": ["a"], "provider": "other"})
    for part in (key[:20], json.dumps(key)[1:20]):
        assert part not in message
        assert part not in result.text


BAD_FILES: dict[str, str] = {
    "cut": json.dumps(entry())[:-3],
    "key without quotes": json.dumps(entry()).replace(json.dumps(API_KEY), NEEDLE),
    "NaN": json.dumps(entry(timeoutMs=float("nan"))),
    "a text": json.dumps(API_KEY),
    "a list": json.dumps([entry()]),
    "unknown key": json.dumps(entry(apikey=API_KEY)),
    "unknown option": json.dumps(entry(options={"v0ApiKey": V0_KEY})),
    "bad type": json.dumps(entry(type="exo")),
    "bad number": json.dumps(entry(timeoutMs="soon")),
    "key as a list": json.dumps(entry(apiKey=[API_KEY])),
    "key with a blank": json.dumps(entry(apiKey=f"{API_KEY} x")),
    "key with a control": json.dumps(entry(apiKey=f"{API_KEY}\n")),
    "key as a reference": json.dumps(entry(apiKey=f"${{{API_KEY}}}")),
    "bad base URL": json.dumps(entry(baseUrl="nowhere")),
    "bad proxy": json.dumps(entry(proxy=f"socks5://user:{PASSWORD}@a.example")),
    "bad port of the proxy": json.dumps(entry(proxy=f"http://user:{PASSWORD}@a.example:99999")),
    "twice": json.dumps({"providers": entry()["providers"] * 2}),
    "key twice": json.dumps(entry()).replace('"apiKey"', '"apiKey": "x", "apiKey"'),
    "unknown default": json.dumps({**entry(), "defaultProvider": "kagi"}),
    "key of v0": json.dumps(entry(type="kagi", options={"v0ApiKey": f"{V0_KEY}\t"})),
    "key of v0 as a number": json.dumps(entry(type="kagi", options={"v0ApiKey": [V0_KEY]})),
}


@pytest.mark.parametrize("text", BAD_FILES.values(), ids=BAD_FILES)
def test_no_bad_config_file_leaks_a_key(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    text: str,
) -> None:
    path = tmp_path / "web-search.json"
    path.write_text(text)
    del text
    with hunting(caplog, capfd):
        ways = Ways(WebTools(path))
        ways.call("web_search", {"queries": ["json"]}, method="search")
        assert {getattr(thing, "is_error", True) for _, thing in ways.found} <= {True}
        ways.search()


@pytest.mark.parametrize(
    "environment",
    [
        {"EXA_API_KEY": f"{API_KEY} x"},
        {"KAGI_API_KEY": f"{API_KEY}\x7f"},
        {"EXA_API_KEY": API_KEY, "WEB_SEARCH_MAX_RESULTS": "many"},
        {"EXA_API_KEY": API_KEY.partition("/")[0]},
    ],
    ids=["blank", "control", "bad number", "fetch only"],
)
def test_no_environment_leaks_a_key(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    environment: dict[str, str],
) -> None:
    monkeypatch.setattr(
        "webtools.config.settings.config_paths", lambda: (tmp_path / "a", tmp_path / "b")
    )
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    environment.clear()
    with hunting(caplog, capfd):
        ways = Ways(WebTools())
        ways.call("summarize", {"url": PAGE}, method="summarize")
        ways.search()
    monkeypatch.undo()


def test_a_config_refused_in_code_leaks_no_key() -> None:
    for text in BAD_FILES.values():
        with suppress(ValueError):
            _refused(json.loads(text))


def _refused(data: Any) -> None:
    for make in (Config.model_validate, lambda values: Config(**values)):
        try:
            make(data)
        except (WebToolsError, TypeError) as error:
            # This frame and those of pydantic's caller hold the data itself.
            if isinstance(error, WebToolsError):
                search_error("config", error, with_locals=False)


def test_objects_with_keys_show_none(sandbox: SandboxServer) -> None:
    config = settings(sandbox, proxy=f"http://user:{quote(PASSWORD, safe='')}@a.example")
    web = WebTools(config=config)
    web._settings.accounts()
    for thing in (web, web._settings, web._settings.accounts(), config, config.providers):
        search_text("repr", f"{thing!r} {thing}")
    for thing in (web, config, config.providers, web._settings.accounts()):
        with pytest.raises(TypeError, match="holds API keys"):
            pickle.dumps(thing)
    search_text("JSON", config.model_dump_json())


def test_displays_and_copies_have_no_keys(sandbox: SandboxServer) -> None:
    web = WebTools(settings(sandbox))
    arguments = {
        "query": f"what is {API_KEY}?",
        "urls": ["https://a.example/", f"key={API_KEY}"],
        "n": 3,
    }
    before = repr(arguments)
    redacted = web.redact(arguments)
    search_text("redacted", repr(redacted))
    assert redacted["urls"][0] == "https://a.example/"
    assert repr(arguments) == before


# --- the hunt itself ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "key echoed by the API",
        "401 HTML-escaped",
        "400 cut after 477",
        "500",
        "results plain",
        "results percent-encoded",
    ],
)
def test_the_hunt_finds_a_key_when_the_gate_is_open(
    sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(Redactor, "text", lambda _, text: text)
    with WebTools(config=settings(sandbox)) as web:
        for job in JOBS:
            with pytest.raises(LeakError):
                drive(web, sandbox, FAULTS[name], job).search()


def test_the_hunt_finds_a_key_in_a_log_an_output_and_a_warning(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    tellers: list[Callable[[str], object]] = [
        logging.getLogger("any").debug,
        print,
        warnings.warn,
    ]
    for tell in tellers:
        caplog.clear()
        with pytest.raises(LeakError), hunting(caplog, capfd):
            tell(API_KEY)


@pytest.mark.parametrize("is_file", [True, False])
def test_keys_of_the_environment_that_other_settings_hide_are_redacted(
    is_file: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = {"KAGI_API_KEY": "test-key-kagi-0123", "ACME_MODEL_API_KEY": "test-key-acme-0123"}
    for name, key in hidden.items():
        monkeypatch.setenv(name, key)
    config = {"providers": [{"name": "exa", "type": "exa", "apiKey": "test-key-exa-0123"}]}
    path = tmp_path / "c.json"
    path.write_text(json.dumps(config))
    redacted = WebTools(path if is_file else config).redact([*hidden.values()])
    assert redacted == ["[redacted]"] * 2
