"""What is read as an item, from which input."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from webtools import InputError
from webtools.bulk import Options
from webtools.bulk.items import Item, count, read_items


def read(operation: Any, source: Any, **options: Any) -> list[Item]:
    return [*read_items(operation, source, Options(**options))]


def write_input(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_lines_are_texts_or_objects_with_the_arguments_of_the_call(tmp_path: Path) -> None:
    lines = '\ufefffirst\n\n  second \r\n{"query": "third", "limit": 3}\n'
    path = write_input(tmp_path, "in.txt", lines)
    result = read("search", path, arguments={"limit": "2", "provider": "exa"})
    assert [item.subject for item in result] == ["first", "second", "third"]
    assert [item.arguments["limit"] for item in result] == [2, 2, 3]
    assert [item.index for item in result] == [0, 1, 2]
    assert count("search", path) == 3


def test_json_lines_and_csv_go_by_the_name_of_the_file(tmp_path: Path) -> None:
    path = write_input(tmp_path, "in.jsonl", '"plain"\n{"queries": ["q"]}\n')
    assert [item.subject for item in read("search", path)] == ["plain", "q"]
    table = 'url,text_max_characters,note\n"https://a.example/x,y",100,\nhttps://b.example/,,\n'
    result = read("fetch", write_input(tmp_path, "in.csv", table))
    assert [item.subject for item in result] == ["https://a.example/x,y", "https://b.example/"]
    assert [item.arguments.get("text_max_characters") for item in result] == [100, None]


def test_a_named_column_is_the_only_argument(tmp_path: Path) -> None:
    path = write_input(tmp_path, "in.csv", "id,link,limit\n7,https://a.example/,no number\n")
    [item] = read("fetch", path, column="link")
    assert item.arguments == {"urls": ["https://a.example/"]}
    with pytest.raises(InputError, match='"href".*"id", "link", "limit"'):
        read("fetch", path, column="href")
    with pytest.raises(InputError, match="--column"):
        read("fetch", path)
    [item] = read("fetch", write_input(tmp_path, "in.jsonl", '{"link": "x"}\n'), column="href")
    assert '"href"' in str(item.fault)


def test_control_characters_of_the_input_are_escaped_in_messages(tmp_path: Path) -> None:
    table = write_input(tmp_path, "in.csv", "a\x1b[31mEVIL\x07,b\nx,y\n")
    for column in (None, "c\x1b[31m"):
        with pytest.raises(InputError) as caught:
            read("search", table, column=column)
        assert str(caught.value).isprintable()
    lines = '{"a\\u001b[31m": "x"}\n{no\x1b[31m json\n[1, "\x1b[31m"]\n{"query": "\\u001b[31m"}\n'
    for item in read("search", write_input(tmp_path, "in.jsonl", lines)):
        assert str(item.fault).isprintable()
    [item] = read(
        "search", write_input(tmp_path, "c.jsonl", '{"a\\u001b[31m": "x"}\n'), column="link"
    )
    assert str(item.fault).isprintable()


def test_stdin_and_any_iterable_are_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a question\n"))
    assert [item.subject for item in read("research", "-")] == ["a question"]
    assert count("research", "-") is None
    arguments = ["one", {"query": "two", "command": "web-news"}]
    assert [item.subject for item in read("research", iter(arguments))] == ["one", "two"]
    assert count("research", arguments) == 2
    assert count("research", iter(arguments)) is None


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("{not json", "JSON"),
        ("[1]", "JSON"),
        ('{"query": "a", "colour": "red"}', '"colour"'),
        ('{"queries": ["a", "b"]}', "queries"),
        ('{"query": "  "}', "query"),
    ],
)
def test_an_item_that_makes_no_sense_carries_its_fault_and_no_other_is_lost(
    tmp_path: Path, given: str, fault: str
) -> None:
    path = write_input(tmp_path, "in.jsonl", f'"first"\n{given}\n"last"\n')
    first, wrong, last = read("search", path)
    assert (first.fault, last.fault) == (None, None)
    assert fault in str(wrong.fault)
    assert wrong.id not in {first.id, last.id}


def test_equal_work_has_an_equal_id_in_any_spelling() -> None:
    [one] = read("search", ["heap"], arguments={"limit": 5})
    [same] = read("search", [{"limit": "5", "q": "heap"}])
    [other] = read("search", ["heap"], arguments={"limit": 6})
    assert one.id == same.id
    assert len({one.id, other.id, read("research", ["heap"])[0].id}) == 3


def test_an_input_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.txt"):
        read("search", tmp_path / "missing.txt")
    path = write_input(tmp_path, "in.csv", "url\n" + "x" * 200_000)
    with pytest.raises(InputError, match=r"in\.csv.*CSV"):
        read("fetch", path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"workers": 0},
        {"attempts": 0},
        {"interval": -1},
        {"host_interval": -1},
        {"cache": "no"},
        {"in_flight": "no"},
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Options(**wrong)
