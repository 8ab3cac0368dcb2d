from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtools.inputs.options import Option
from webtools.notebook.line import OptionError, completions, read_line

PROVIDER = Option(("--provider", "-p"), "provider", "name of the provider")
CATEGORY = Option(("--category",), "category", "kind of page", choices=("news", "people"))
OPTIONS = [
    PROVIDER,
    CATEGORY,
    Option(("--include-domain",), "include_domains", "only from here", "list"),
    Option(("--text",), "text", "the text", "flag"),
]


@pytest.mark.parametrize(
    ("line", "values", "rest"),
    [
        ("", {}, ""),
        ("  rust async  ", {}, "rust async"),
        ("say \"hi\" 'there'", {}, "say \"hi\" 'there'"),
        ("-p exa rust", {"provider": "exa"}, "rust"),
        ("--provider=exa rust", {"provider": "exa"}, "rust"),
        ('--provider "my exa" rust', {"provider": "my exa"}, "rust"),
        ("--provider='my exa' rust", {"provider": "my exa"}, "rust"),
        ("-p {name} rust", {"provider": "{name}"}, "rust"),
        ("-p a -p b", {"provider": "b"}, ""),
        ("--include-domain a --include-domain b x", {"include_domains": ["a", "b"]}, "x"),
        ("--text   rust", {"text": True}, "rust"),
        ("rust --text -p exa", {}, "rust --text -p exa"),
        ("--text -- -p exa", {"text": True}, "-p exa"),
        ("-p 'it is", {"provider": "'it"}, "is"),
        ('-p "a"b c', {"provider": '"a"b'}, "c"),
        ("-p -1 c", {"provider": "-1"}, "c"),
    ],
)
def test_options_precede_the_query(line: str, values: dict[str, Any], rest: str) -> None:
    assert read_line(line, OPTIONS) == (values, rest)


@pytest.mark.parametrize("line", ["rust --provider exa", "rust --provder=exa --"])
def test_an_option_behind_the_query_is_a_word_of_it_with_a_warning(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read_line(line, OPTIONS) == ({}, line)
    assert "--provider" in capsys.readouterr().err
    assert read_line(f"-- {line}", OPTIONS) == ({}, line)
    assert read_line("git log --oneline", OPTIONS) == ({}, "git log --oneline")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--nope x", "^--nope .*--provider, --category, --include-domain"),
        ("-site:a x", "-- before"),
        ("- x", "^- "),
        ("-p", "^-p .*provider"),
        ("--provider=", "^--provider "),
        ("--provider= exa", "^--provider "),
        ("--text=yes x", "^--text "),
    ],
)
def test_a_wrong_option_is_named_with_the_remedy(line: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_line(line, OPTIONS)


@given(st.text())
def test_any_query_after_two_dashes_is_kept(query: str) -> None:
    assert read_line(f"-p exa -- {query}", OPTIONS) == ({"provider": "exa"}, query.strip())


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("", []),
        ("rust", []),
        ("--p", ["--provider", "-p", "--category", "--include-domain", "--text"]),
        ("--text --p", ["--provider", "-p", "--category", "--include-domain", "--text"]),
        ("rust --p", []),
        ("--provider ", PROVIDER),
        ("-p ex", PROVIDER),
        ("--provider=ex", PROVIDER),
        ("--provider=exa ", []),
        ("-p exa --category ", CATEGORY),
        ("-p exa rust ", []),
        ("--nope=", []),
        ("--nope ", []),
    ],
)
def test_completion_offers_options_and_values(line: str, offered: Any) -> None:
    assert completions(line, OPTIONS) == offered
