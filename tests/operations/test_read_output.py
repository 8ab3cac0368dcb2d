"""Reading on: what was cut stays reachable to the letter, by its handle and by nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from offline import IO, Stub, answer, client, drive, entry
from servers import RawServer, answering, response

from webtools import Config, InputError, ReadResponse, ToolResult, WebTools, outputs
from webtools._internal.call.present import (
    present_part,
)
from webtools._internal.operations.read_output import read_stored_output
from webtools._internal.pipeline.tool_call import detached
from webtools.fencing import STATEMENT, remove_fences
from webtools.outputs import delete_outputs, handle_of, is_handle, load_output, save_output
from webtools.tools import ReadInput, read_input
from webtools.truncation import MAX_BYTES, MAX_LINES

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
DAY = 24 * 60 * 60
UNKNOWN = "0" * 32


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("webtools.outputs._state", outputs.State())
    return tmp_path


def web_at(url: str, **top: Any) -> WebTools:
    entry = {"name": "exa", "type": "exa", "apiKey": "test-key-1", "baseUrl": url}
    return WebTools(Config.model_validate({"providers": [entry], **top}))


@pytest.fixture
def web() -> Iterator[WebTools]:
    with web_at("http://127.0.0.1:1") as client:
        yield client


def save_text(text: str) -> tuple[str, Path]:
    """Save a text and give its handle and its file."""
    path = save_output(text)
    handle = handle_of(path)
    assert path is not None
    assert handle is not None
    return handle, Path(path)


def part(handle: str, **arguments: Any) -> ReadResponse:
    values = read_input(ReadInput, {"handle": handle, **arguments})
    return drive(read_stored_output(values, detached(IO)))


def parts(handle: str) -> list[ReadResponse]:
    result = [part(handle)]
    while (offset := result[-1].next_offset) is not None:
        assert offset > result[-1].offset
        result.append(part(handle, offset=offset))
    return result


def error_of(handle: str, **arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        part(handle, **arguments)
    return str(caught.value)


def test_a_key_that_was_set_later_is_in_no_two_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "test-key-7Zq3dEf7hI"
    handle, _ = save_text(f"{'word ' * 9_000}{key}{' word' * 9_000}")
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with web_at("http://127.0.0.1:1") as web:
        for offset in range(45_000, 45_000 + len(key), 4):
            texts = [
                web.call_tool("web_read", {"handle": handle, **at}).text
                for at in ({"offset": offset}, {"offset": offset, "find": "word"})
            ]
            assert not [text for text in texts if "7Zq3" in text or "Ef7hI" in text]


# --- to the end --------------------------------------------------------------------------------

ragged = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=[]), max_size=50),  # lone surrogates too
        st.sampled_from(
            ["\n", "\r\n", "\r", "\n" * 3_000, "é" * 30_000, "x" * 60_000, "😀\n" * 900]
        ),
        st.sampled_from(["line of text\n" * 1_000, "\ud83d" * 9, "\udca0x\n" * 20_000]),
    ),
    max_size=12,
).map("".join)


@pytest.mark.no_cover
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ragged)
def test_reading_to_the_end_returns_the_original(text: str) -> None:
    handle, _ = save_text(text)
    result = parts(handle)
    assert "".join(item.content for item in result) == text
    assert {item.total_characters for item in result} == {len(text)}
    assert [item.offset for item in result[1:]] == [item.next_offset for item in result[:-1]]


@pytest.mark.no_cover
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ragged)
def test_every_part_is_shown_whole_and_within_the_budget(text: str) -> None:
    handle, _ = save_text(text)
    for item in parts(handle):
        shown = drive(present_part(item, IO)).text
        assert len(shown.encode("utf-8", "surrogatepass")) <= MAX_BYTES
        assert shown.count("\n") < MAX_LINES
        assert "[Output truncated" not in shown.replace(item.content, "")
        assert remove_fences(shown).startswith(item.content)


def test_parts_end_at_lines_where_there_are_lines() -> None:
    handle, _ = save_text("a line of some words\n" * 9_000)
    assert all(item.content.endswith("words\n") for item in parts(handle)[:-1])


def test_any_offset_inside_a_text_can_be_read_from() -> None:
    text = "".join(random.Random(1).choices("aé漢😀\n", k=5_000))
    handle, _ = save_text(text)
    for offset in range(0, 5_001, 250):
        assert part(handle, offset=offset).content == text[offset:]


def test_an_offset_beyond_the_end_is_refused_with_the_length() -> None:
    handle, _ = save_text("abc")
    assert re.search(rf'offset 4 .*"{handle}".*\b0 to 3\b', error_of(handle, offset=4))


# --- finding -----------------------------------------------------------------------------------

LINES = "".join(f"line {n} of the text\n" for n in range(20_000))


def test_a_passage_is_found_whatever_its_case_and_white_space() -> None:
    handle, _ = save_text(f"{LINES}Here is\n  the Passage.\n{LINES}")
    result = part(handle, find="HERE is the passage")
    assert result.found_at == len(LINES)
    assert result.offset < len(LINES)
    assert result.content.startswith("line ")
    assert "Here is\n  the Passage.\n" in result.content[:1_000]


def test_in_a_text_without_lines_the_part_begins_at_a_word() -> None:
    handle, _ = save_text("word " * 50_000 + "needle" + " word" * 50_000)
    result = part(handle, find="needle")
    assert result.content.startswith("word ")
    assert result.found_at == 250_000
    assert 250_000 - 400 <= result.offset < 250_000
    handle, _ = save_text("w" * 50_000 + "needle")
    assert part(handle, find="needle").offset == 50_000 - 400


@pytest.mark.parametrize("find", ["[a-z]+", "(", "a.c", "\\"])
def test_the_text_to_find_is_not_a_pattern(find: str) -> None:
    handle, _ = save_text("abc")
    assert part(handle, find=find).found_at is None
    handle, _ = save_text(f"abc {find} def")
    assert part(handle, find=find).found_at == 4


def test_a_text_that_does_not_occur_is_no_error(web: WebTools) -> None:
    handle, _ = save_text("abc")
    result = web.call_tool("web_read", {"handle": handle, "offset": 1, "find": "a"})
    assert not result.is_error
    assert '"a"' in result.text
    facts = ("content", "found_at", "next_offset", "offset", "total_characters")
    assert [result.details[name] for name in facts] == ["", None, None, 1, 3]


# --- handles -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "handle",
    [
        "",
        "../../etc/passwd",
        "/etc/passwd",
        f"{UNKNOWN}.txt",
        f"../{UNKNOWN}",
        UNKNOWN[:-1],
        UNKNOWN + "0",
        "F" * 32,
        f"{UNKNOWN[:-1]}\x00",
        f"{UNKNOWN}\n/x",
        "\u0660" * 32,
        "*",
        None,
        7,
    ],
)
def test_only_a_handle_is_accepted(handle: Any, web: WebTools) -> None:
    result = web.call_tool("web_read", {"handle": handle})
    assert result.is_error
    assert result.details["error"]["type"] == "InputError"
    if isinstance(handle, str):
        assert not is_handle(handle)
        with pytest.raises(InputError, match="read_handle"):
            load_output(handle)


def test_a_handle_can_be_in_a_list_and_have_its_other_name(web: WebTools) -> None:
    handle, _ = save_text("abc")
    for text in ({"handle": [handle]}, {"read_handle": f" {handle}\n"}, {"readHandle": handle}):
        assert web.call_tool("web_read", text).details["content"] == "abc"


@pytest.mark.parametrize("tampered", [b"", b"abC", b"abcd", b"\xff\xfe", b"\xed\xa0\x80"])
def test_a_text_that_was_tampered_with_is_refused(tampered: bytes) -> None:
    handle, path = save_text("abc")
    path.write_bytes(tampered)
    assert f'"{handle}"' in error_of(handle)
    save_text("abc")
    assert part(handle).content == "abc"


def test_an_expired_handle_is_refused_though_its_file_is_still_there() -> None:
    handle, path = save_text("abc")
    for age, is_cached in ((DAY - 60, True), (DAY + 60, False)):
        then = time.time() - age
        os.utime(path, (then, then))
        assert path.exists()
        if is_cached:
            assert part(handle).content == "abc"
        else:
            assert "has expired" in error_of(handle)


@posix_only
def test_no_link_pipe_or_folder_is_followed(temp: Path) -> None:
    handle, path = save_text("abc")
    elsewhere = temp / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert handle in error_of(handle)
    path.unlink()
    os.mkfifo(path)
    assert handle in error_of(handle)
    path.unlink()
    path.mkdir()
    assert handle in error_of(handle)


@posix_only
def test_a_folder_open_to_other_users_is_not_read(temp: Path) -> None:
    handle, path = save_text("abc")
    path.parent.chmod(0o755)
    assert handle in error_of(handle)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o755


# --- clearing ----------------------------------------------------------------------------------


def test_clearing_deletes_the_outputs_and_counts_them(temp: Path) -> None:
    assert delete_outputs("own") == (0, 0)
    handle, path = save_text("abc")
    _, other = save_text("defgh")
    for saved in (path, other):
        outputs.claim_output(str(saved), "own")
    running, stale = path.with_name("running.tmp"), path.with_name("stale.tmp")
    running.write_bytes(b"1")
    stale.write_bytes(b"22")
    os.utime(stale, (0, 0))
    assert delete_outputs("own") == outputs.Outputs(files=2, bytes=8)
    assert handle in error_of(handle)
    assert sorted(path.parent.iterdir()) == [running]


# --- what sends one here -----------------------------------------------------------------------

A = "https://a.example/1"
LONG = "one line of text\n" * 9_000
POINTER = re.compile(r"\n\[.*web_read: handle ([0-9a-f]{32}), offset (\d+)\.\]")


def show_page(*texts: str) -> ToolResult:
    urls = [f"https://a.example/{n}" for n in range(1, len(texts) + 1)]
    pages = [{"id": url, "url": url, "text": text} for url, text in zip(urls, texts, strict=True)]
    with client(Stub(answer({"results": pages})), entry("exa")) as web:
        return web.call_tool("web_fetch", {"urls": urls})


def show_summary(text: str) -> ToolResult:
    with client(Stub(answer({"data": {"output": text, "tokens": 1}})), entry("kagi")) as web:
        return web.call_tool("summarize", {"url": A})


def show_hits(*snippets: str) -> ToolResult:
    hits = [{"title": "T", "url": A, "highlights": [snippet]} for snippet in snippets]
    with client(Stub(answer({"results": hits})), entry("exa")) as web:
        return web.call_tool("web_search", {"query": "q", "limit": 100})


@pytest.mark.parametrize("show", [show_page, show_summary])
def test_a_text_that_is_cut_leads_to_the_rest_of_itself(show: Any) -> None:
    result = show(LONG)
    handle, offset = POINTER.findall(result.text)[0]
    assert result.details["read_handle"] == handle == handle_of(result.details["full_output_path"])
    body = remove_fences(result.text.partition("\n\n[Output truncated")[0])
    assert int(offset) == len(body)
    rest = parts(handle)
    full_text = "".join(item.content for item in rest)
    assert full_text == body + full_text[int(offset) :]
    assert LONG.strip() in full_text
    assert STATEMENT not in full_text


def test_several_pages_are_read_from_where_the_first_was_cut() -> None:
    result = show_page("short", *["".join(f"line {n}\n" for n in range(9_000))] * 2)
    [(handle, offset)] = POINTER.findall(result.text)
    first = result.text.partition("https://a.example/3")[0]
    last = int(re.findall(r"^line (\d+)$", first, re.MULTILINE)[-1])
    assert last > 500
    rest = part(handle, offset=int(offset)).content
    assert rest.startswith(f"\nline {last + 1}\n")


def test_pages_that_are_left_out_are_read_from_the_first_of_them() -> None:
    urls = [f"https://a.example/{n}?".ljust(2_000, "a") for n in range(40)]
    pages = [{"id": url, "url": url, "title": f"T{n}", "text": "x"} for n, url in enumerate(urls)]
    with client(Stub(answer({"results": pages})), entry("exa")) as web:
        result = web.call_tool("web_fetch", {"urls": urls})
    [(handle, offset)] = POINTER.findall(result.text)
    count = result.text.count("## T")
    assert 10 < count < 40
    assert part(handle, offset=int(offset)).content.startswith(f"## T{count}\n")


def test_a_cut_list_of_results_is_read_from_the_cut() -> None:
    result = show_hits(*[str(number) * 500 for number in range(100)])
    [(handle, offset)] = POINTER.findall(result.text)
    body = result.text.partition("\n\n[Output truncated")[0]
    assert int(offset) == len(body)
    assert (body + part(handle, offset=int(offset)).content).endswith("99" * 500)


def test_a_list_with_a_huge_result_is_shown_shortened_and_read_from_the_start() -> None:
    result = show_hits("x" * 100_000, "small")
    [(handle, offset)] = POINTER.findall(result.text)
    assert f"   {'x' * 2_000}…\n\n2. See 1.\n   small\n\n[Output" in result.text
    assert offset == "0"
    assert "x" * 100_000 in "".join(item.content for item in parts(handle))


@pytest.mark.parametrize("show", [show_page, show_summary, show_hits])
def test_a_text_shown_in_full_has_no_pointer(show: Any) -> None:
    result = show("short")
    assert result.details["read_handle"] is None
    assert not POINTER.search(result.text)


@pytest.mark.parametrize("seed", range(3))
def test_a_page_of_the_web_can_be_read_to_its_end_by_an_agent(seed: int) -> None:
    words = random.Random(seed).choices(["word", "é漢😀", "\n", "\n\n", "x" * 99], k=12_000)
    page = {"id": A, "url": A, "title": "T", "text": f"{' '.join(words)}."}
    answer = response(json.dumps({"results": [page]}).encode())
    with RawServer(answering(answer)) as server, web_at(server.url) as web:
        result = web.call_tool("web_fetch", {"urls": [A]})
        shown = remove_fences(result.text.partition("\n\n[Output truncated")[0])
        while pointers := POINTER.findall(result.text):
            [(handle, offset)] = pointers
            result = web.call_tool("web_read", {"handle": handle, "offset": offset})
            assert not result.is_error
            shown += result.details["content"]
    assert shown == f"## T\n{A}\n\n{page['text']}"
    assert result.details["next_offset"] is None
    assert result.details["read_handle"] is None


# --- the tool ----------------------------------------------------------------------------------

CORE = {
    *("provider", "results", "result_count", "warnings", "cost_usd", "cost_is_estimate"),
    *("truncation", "full_output_path", "read_handle", "error"),
}


def test_the_text_has_the_position_and_the_next_call(web: WebTools) -> None:
    handle, _ = save_text("line\n" * 5_000)
    first = web.call_tool("web_read", {"handle": handle})
    offset = first.details["next_offset"]
    assert first.text.startswith(f"{STATEMENT}\n<<<")
    assert f"0 to {offset} of 25000" in first.text
    assert POINTER.findall(first.text) == [(handle, str(offset))]
    last = web.call_tool("web_read", {"handle": handle, "offset": 24_995})
    assert remove_fences(last.text).startswith("line\n\n\n[")
    assert "24995 to 25000 of 25000" in last.text
    assert not POINTER.search(last.text)
    hit = web.call_tool("web_read", {"handle": handle, "offset": 24_991, "find": "Line"})
    assert re.search(r'\["Line" .*\b24995\b.*\b24996\b', hit.text)


def test_the_details_have_the_part_and_the_fields_of_every_tool(web: WebTools) -> None:
    handle, _ = save_text("abc\nde")
    details = web.call_tool("web_read", {"handle": handle, "offset": 1}).details
    assert details.keys() >= CORE
    part_of_it = {"content": "bc\nde", "offset": 1, "next_offset": None, "characters": 5}
    assert details.items() >= (part_of_it | {"total_characters": 6, "found_at": None}).items()
    json.dumps(details)


def test_without_a_fence_the_text_is_the_part() -> None:
    handle, _ = save_text("abc")
    with web_at("http://127.0.0.1:1", fence="off") as web:
        text = web.call_tool("web_read", {"handle": handle}).text
    assert re.fullmatch(r"abc\n\n\[.*0 to 3 of 3.*\]", text)


def test_the_method_returns_the_part(web: WebTools) -> None:
    handle, _ = save_text("one\ntwo\n")
    assert web.read(handle, 4) == ReadResponse(
        handle=handle, content="two\n", offset=4, total_characters=8
    )
    assert web.read(handle, find="two").found_at == 4
    assert asyncio.run(web.aread(handle, 0, "two")) == web.read(handle, 0, "two")
    with pytest.raises(InputError, match=UNKNOWN):
        web.read(UNKNOWN)
    with pytest.raises(InputError, match=r'"\.\./x"'):
        web.read("../x")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "handle "),
        ({"handle": "../x"}, '"../x"'),
        ({"handle": UNKNOWN, "offset": -1}, 'offset "-1"'),
        ({"handle": UNKNOWN, "find": "x" * 1001}, "1001"),
    ],
)
def test_invalid_arguments_are_refused(
    arguments: dict[str, Any], named: str, web: WebTools
) -> None:
    result = web.call_tool("web_read", arguments)
    assert result.details["error"]["type"] == "InputError"
    assert named in result.text
