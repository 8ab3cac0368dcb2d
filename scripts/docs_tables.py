"""Tables of the documentation that are made from the models: what fields there are and mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import cleandoc, getdoc
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from webtools import bulk, errors, results
from webtools.inputs.options import CACHE, KEYLESS
from webtools.notebook.table import EVERY, MAGICS, PLAN
from webtools.tools import TOOLS, ToolInput

Row: TypeAlias = Sequence[str]
NOTHING = "-"
_ATTRIBUTE = re.compile(r"    (\w+): (.*)")


# --- words -------------------------------------------------------------------------------------


def table(head: Row, rows: Iterable[Row]) -> str:
    """Write a table in Markdown."""
    every = [head, ["---"] * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in every
    )


def listed(words: Iterable[str], last: str = "or") -> str:
    """Join words as `a, b or c`."""
    *others, end = words
    return f"{', '.join(others)} {last} {end}" if others else end


def usd(amount: float) -> str:
    """Write a price."""
    return f"{amount:.6f}".rstrip("0").rstrip(".")


def attributes(model: type) -> dict[str, str]:
    """Read the sections `Attributes:` of a class and its bases, which say what its fields mean."""
    found: dict[str, str] = {}
    for item in reversed(model.__mro__):
        section = cleandoc(item.__doc__ or "").partition("Attributes:\n")[2]
        name = ""
        for line in section.splitlines():
            if match := _ATTRIBUTE.match(line):
                name = match[1]
                found[name] = match[2]
            elif line.startswith("        "):
                found[name] += " " + line.strip()
            else:
                break
    return found


def summary(model: type) -> str:
    """Return the first line of a class's own docstring."""
    return in_json(cleandoc(model.__doc__ or "").splitlines()[0])


def in_json(text: str) -> str:
    """Write `null` where Python says `None`."""
    return re.sub(r"\bNone\b", "null", text)


# --- what a schema says ------------------------------------------------------------------------


def kind(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """Describe in words what a value may be."""
    if "$ref" in schema:
        target = schema["$ref"].rpartition("/")[2]
        return kind(defs[target], defs) if "enum" in defs[target] else "an object"
    if "anyOf" in schema:
        return listed(kind(item, defs) for item in schema["anyOf"] if item.get("type") != "null")
    if "enum" in schema:
        return listed(f"`{word}`" for word in schema["enum"])
    if schema.get("type") == "array":
        return f"list: {kind(schema['items'], defs)}"
    if schema.get("format") == "date-time":
        return "date and time"
    words = {"boolean": "`true` or `false`", "integer": "whole number"}
    words |= {"number": "number", "string": "text"}
    return words.get(schema.get("type", ""), "an object") + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if (above := schema.get("exclusiveMinimum")) is not None:
        return f" above {above}" + (f", at most {most:,}" if most is not None else "")
    if least is not None and most is not None:
        return f", {least:,} to {most:,}"
    return f", at least {least:,}" if least is not None else ""


def default_of(name: str, schema: Mapping[str, Any], required: Sequence[str]) -> str:
    """Describe what a field has when it is left out."""
    if name in required:
        return "required"
    value = schema.get("default")
    if value is None or value in ("", [], {}):
        return NOTHING
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"{value:,}" if isinstance(value, int) else f"`{value}`"


def _plain_default(field: FieldInfo) -> Any:
    """Return a default that the schema does not tell; 0 says that the settings decide."""
    return field.default if isinstance(field.default, (str, bool)) else None


def fields(model: type[BaseModel], *, mode: Any = "validation") -> Iterator[tuple[str, Row]]:
    """Yield each field's name in Python, and its row: name, values, meaning, default."""
    schema = model.model_json_schema(mode=mode)
    meanings, required = attributes(model), schema.get("required", [])
    for name, field in model.model_fields.items():
        spelled = field.alias or name
        if field.exclude:
            continue
        facts = {"default": _plain_default(field), **schema["properties"][spelled]}
        meaning = in_json(facts.get("description") or meanings.get(name, ""))
        values = kind(facts, schema.get("$defs", {}))
        yield name, [f"`{spelled}`", values, meaning, default_of(spelled, facts, required)]


# --- tools, results, notebooks -----------------------------------------------------------------

_COMMON = {
    "result_count": "How many results there are; pages that failed do not count.",
    "truncation": "What was cut of the text: sizes before and after; null when nothing was.",
    "full_output_path": "Private file with the whole text; null when nothing was cut.",
    "read_handle": "What `web_read` takes to read on; null when nothing was cut.",
    "error": "Null; of a failed call its `type`, `message`, `provider`, `status`, `retryable` and "
    "`retry_after`.",
}
_EMPTY = {"results": "Empty; the text is the result."}
_FREE = {
    "provider": "Null: no request is sent.",
    "cost_usd": "Null: it costs nothing.",
    "cost_is_estimate": "False.",
}
_DETAILS: dict[str, tuple[type[BaseModel], dict[str, str], set[str]]] = {
    "web_search": (results.SearchResponse, {}, set()),
    "web_fetch": (
        results.FetchResponse,
        {
            "results": "The pages in the order asked; one that failed has `error`.",
            "fetched_count": "Pages that came.",
            "failed_count": "Pages that failed.",
        },
        {"pages"},
    ),
    "summarize": (
        results.SummaryResponse,
        _EMPTY
        | {
            "url": "The URL that was summarized.",
            "summary_type": "`summary` or `takeaway`.",
            "engine": "`cecil` or `agnes`.",
            "tokens": "Tokens that the provider counted.",
        },
        {"text"},
    ),
    "web_research": (
        results.ResearchEnvelope,
        {
            "results": "The sources.",
            "meta": "Where they come from, and how far they can be trusted.",
            "synthesis": "The answer and its citations, or null.",
            "provider": "As `meta.provider_used`.",
            "warnings": "As `meta.warnings`.",
            "cost_usd": "As `meta.cost_usd`.",
            "cost_is_estimate": "Whether a part of the price is from the price table, or missing.",
        },
        set(),
    ),
    "web_read": (
        results.ReadResponse,
        _EMPTY | _FREE | {"characters": "Length of the part."},
        set(),
    ),
}


def model_view(name: str) -> str:
    """Show what a model sees of a tool."""
    return f"```text\n{TOOLS[name].description}\n```"


def arguments(name: str) -> str:
    """List the arguments of a tool."""
    model = TOOLS[name].input_model
    rows = table(("Argument", "Value", "Meaning", "Default"), (row for _, row in fields(model)))
    return f"{rows}\n\n{_spellings(model)}"


def _spellings(model: type[ToolInput]) -> str:
    others = [f"`{other}` for `{name}`" for other, name in model.spellings.items()]
    return f"Also taken: camelCase names, {listed(others, 'and')}."


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
    """List the magics with the arguments that are their options, and the options of their own."""
    rows = [
        [
            f"`%{name}`",
            f"`{magic.method}`",
            ", ".join(f"`{option.names[0]}`" for option in magic.own if option != PLAN),
        ]
        for name, magic in MAGICS.items()
        if not magic.new_name
    ]
    meanings = [
        [", ".join(f"`{name}`" for name in option.names), option.help]
        for option in (CACHE, *EVERY, KEYLESS)
    ]
    calls = table(("Magic", "Calls", "Its own options"), rows)
    return f"{calls}\n\n{table(('Option', 'Meaning'), meanings)}"


def error_tree() -> str:
    """Draw the tree of errors."""
    lines = (getdoc(errors) or "").splitlines()
    tree = [line for line in lines if line.startswith("    ")]
    return "```text\n" + cleandoc("\n" + "\n".join(tree)) + "\n```"
