"""Tables of the documentation about fields, generated from the models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import cleandoc, getdoc
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from webtools import bulk, errors, results
from webtools.cli.native_command import cells
from webtools.inputs.options import CACHE, KEYLESS
from webtools.native import FACTS
from webtools.notebook.table import COMMON_OPTIONS, MAGICS, TIMEOUT
from webtools.tools import ALL_TOOLS

Row: TypeAlias = Sequence[str]
NOTHING = "-"
_ATTRIBUTE = re.compile(r"    (\w+)(?: \([^)]*\))?: (.*)")


# --- words -------------------------------------------------------------------------------------


def table(head: Row, rows: Iterable[Row]) -> str:
    """Write a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines
    )


def listed(words: Iterable[str], last: str = "or") -> str:
    """Join words as `a, b or c`."""
    *others, end = words
    return f"{', '.join(others)} {last} {end}" if others else end


def usd(amount: float) -> str:
    """Write a price."""
    return f"{amount:.6f}".rstrip("0").rstrip(".")


def attributes(model: type) -> dict[str, str]:
    """Read the meanings of fields from the `Attributes:` sections of a class and its bases."""
    meanings: dict[str, str] = {}
    for base in reversed(model.__mro__):
        section = cleandoc(base.__doc__ or "").partition("Attributes:\n")[2]
        name = ""
        for line in section.splitlines():
            if match := _ATTRIBUTE.match(line):
                name = match[1]
                meanings[name] = match[2]
            elif line.startswith("        "):
                meanings[name] += " " + line.strip()
            else:
                break
    return meanings


def in_json(text: str) -> str:
    """Write `null` where Python says `None`."""
    return re.sub(r"\bNone\b", "null", text)


# --- fields ------------------------------------------------------------------------


def kind(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """Describe the values that a schema allows."""
    if "$ref" in schema:
        target = schema["$ref"].rpartition("/")[2]
        return kind(defs[target], defs) if "enum" in defs[target] else "an object"
    if "anyOf" in schema:
        return listed(kind(part, defs) for part in schema["anyOf"] if part.get("type") != "null")
    if "enum" in schema:
        return listed(f"`{word}`" for word in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'], defs).replace('an object', 'objects')}"
    if schema.get("format") == "date-time":
        return "date and time"
    words = {"boolean": "`true` or `false`", "integer": "whole number"}
    words |= {"number": "number", "string": "text"}
    return words.get(schema.get("type", ""), "an object") + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    if (above := schema.get("exclusiveMinimum")) is not None:
        return f" above {above}" + (f", at most {maximum:,}" if maximum is not None else "")
    if minimum is not None and maximum is not None:
        return f", {minimum:,} to {maximum:,}"
    return f", at least {minimum:,}" if minimum is not None else ""


def default_of(name: str, schema: Mapping[str, Any], required: Sequence[str]) -> str:
    """Describe the default of a field."""
    if name in required:
        return "required"
    value = schema.get("default")
    if value is None or value in ("", [], {}):
        return NOTHING
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"{value:,}" if isinstance(value, int) else f"`{value}`"


def _plain_default(field: FieldInfo) -> Any:
    """Return a default that is missing in the schema; 0 means that the settings decide."""
    return field.default if isinstance(field.default, (str, bool)) else None


def fields(model: type[BaseModel], *, mode: Any = "validation") -> Iterator[tuple[str, Row]]:
    """Yield the Python name of each field with its row: name, values, meaning, default."""
    schema = model.model_json_schema(mode=mode)
    meanings, required = attributes(model), schema.get("required", [])
    for name, field in model.model_fields.items():
        json_name = field.alias or name
        if field.exclude:
            continue
        facts = {"default": _plain_default(field), **schema["properties"][json_name]}
        meaning = in_json(facts.get("description") or meanings.get(name, ""))
        values = kind(facts, schema.get("$defs", {}))
        yield name, [f"`{json_name}`", values, meaning, default_of(json_name, facts, required)]


def value_with_default(values: str, default: str) -> str:
    """Describe the values of a setting, with the default marked.

    Args:
        values: The possible values.
        default: The default, "required", or "-" for no default.
    """
    if default == "required":
        return f"{values}, required"
    if default == "-":
        return values
    if default in values:
        return values.replace(default, f"{default} (default)", 1)
    return f"{values}, default {default}"


# --- tools, results, notebooks -----------------------------------------------------------------

_COMMON = {
    "result_count": "Number of results, without failed pages.",
    "truncation": "Sizes of the text before and after it was cut; null if it was not.",
    "full_output_path": "Private file with the whole text; null if nothing was cut.",
    "read_handle": "Handle for `web_read`; null if nothing was cut.",
    "error": "Null, or the error of a failed call: `type`, `message`, `provider`, `status`, "
    "`retryable`, `retry_after` and `code`.",
}
_EMPTY = {"results": "Empty; the text is the result."}
_DETAILS: dict[str, tuple[type[BaseModel], dict[str, str], set[str]]] = {
    "web_search": (results.SearchResponse, {}, set()),
    "web_fetch": (
        results.FetchResponse,
        {
            "results": "The pages in the order of the URLs; a failed page has `error`.",
            "fetched_count": "Number of pages fetched.",
            "failed_count": "Number of pages that failed.",
            "usage": "What the sites allow programs to do with the pages; the strictest of all.",
        },
        {"pages"},
    ),
    "summarize": (
        results.SummaryResponse,
        _EMPTY
        | {
            "url": "URL of the document.",
            "summary_type": "`summary` or `takeaway`.",
            "engine": "`cecil` or `agnes`.",
            "tokens": "Number of tokens, as counted by the provider.",
        },
        {"text"},
    ),
    "web_research": (
        results.ResearchEnvelope,
        {
            "results": "The sources.",
            "meta": "Providers, prices, confidence and warnings.",
            "synthesis": "The answer and its citations, or null.",
        },
        set(),
    ),
    "web_map": (
        results.SiteMap,
        {"results": "The pages: `url`, `title`, and `from`, which is where the page is listed."},
        {"entries"},
    ),
    "web_read": (
        results.ReadResponse,
        _EMPTY | {"characters": "Length of the text in this response."},
        set(),
    ),
}


def arguments(name: str) -> str:
    """List the arguments of a tool."""
    rows = (
        [argument, value_with_default(values, default), meaning]
        for _, (argument, values, meaning, default) in fields(ALL_TOOLS[name].input_model)
    )
    return table(("Argument", "Value", "Meaning"), rows)


def details(name: str) -> str:
    """List the keys that the details of one tool have beside the shared ones."""
    model, extra, left_out = _DETAILS[name]
    return _key_table(_meanings(model) | extra, left_out | _shared().keys())


def shared_details() -> str:
    """List the keys that the details of several tools have."""
    return _key_table(_shared())


def _shared() -> dict[str, str]:
    responses = (results.SearchResponse, results.FetchResponse)
    search, fetch = (_meanings(response) for response in responses)
    return {key: text for key, text in search.items() if key in fetch} | _COMMON


def _meanings(model: type[BaseModel]) -> dict[str, str]:
    return {key: text for key, text in attributes(model).items() if key in model.model_fields}


def _key_table(meanings: Mapping[str, str], left_out: Iterable[str] = ()) -> str:
    rows = ([f"`{key}`", in_json(text)] for key, text in meanings.items() if key not in left_out)
    return table(("Key", "Meaning"), rows)


def model(name: str) -> str:
    """Describe the fields of a result."""
    found: type[BaseModel] = getattr(results, name, None) or getattr(bulk, name)
    rows = (row[:3] for _, row in fields(found, mode="serialization"))
    return table(("Field", "Value", "Meaning"), rows)


def magics() -> str:
    """List the magics with the methods that they call, and the options of all magics."""
    rows = [
        [f"`%{name}`", f"`{magic.method}`"] for name, magic in MAGICS.items() if not magic.new_name
    ]
    meanings = [
        [", ".join(f"`{name}`" for name in option.names), option.help]
        for option in (CACHE, TIMEOUT, *COMMON_OPTIONS, KEYLESS)
    ]
    return f"{table(('Magic', 'Calls'), rows)}\n\n{table(('Option', 'Meaning'), meanings)}"


def native() -> str:
    """List what the search of each model vendor serves."""
    rows = [cells(facts) for facts in FACTS]
    return table(
        [title[0].upper() + title[1:] for title in rows[0]], (list(row.values()) for row in rows)
    )


def error_tree() -> str:
    """Draw the tree of errors."""
    lines = (getdoc(errors) or "").splitlines()
    tree = [line for line in lines if line.startswith("    ")]
    return "```text\n" + cleandoc("\n" + "\n".join(tree)) + "\n```"
