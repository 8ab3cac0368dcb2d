"""Reads error bodies by a table: where the words and codes stand, and what the codes mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from webtools.errors import ProviderError
from webtools.http.messages import OK, Response
from webtools.providers.about import About
from webtools.providers.errors import failure
from webtools.providers.parsing import maybe_object
from webtools.providers.protocols import Account
from webtools.text.narrowing import is_list, is_object

ITSELF = ""  # as the place of the faults: the body is the fault


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a code says, where it says more than the status.

    Attributes:
        code: Regular expression for the whole of the code.
        kind: The class of the error.
        statuses: Statuses with which it means that; none for all.
        remedy: What to do, unless it is what one does about every error of the class; `{name}`
            stands for the provider's name.
    """

    code: str
    kind: type[ProviderError]
    statuses: tuple[int, ...] = ()
    remedy: str = ""

    def fits(self, code: str, status: int) -> bool:
        """Tell whether a code of an answer is meant."""
        known = not self.statuses or status in self.statuses
        return known and re.fullmatch(self.code, code) is not None


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """How the error bodies of an API are made.

    Attributes:
        faults: Fields that hold the faults, of which the first that is filled counts: an object,
            a list, or words alone. `ITSELF` for a body that is the fault.
        code: Field of a fault with its code.
        words: Fields of a fault with its message, of which the first that is filled counts.
        shown: Fields that are told in brackets behind the message, where all are there.
        meanings: What codes mean; the first that fits counts.
    """

    faults: tuple[str, ...]
    code: str
    words: tuple[str, ...]
    shown: tuple[str, ...] = ()
    meanings: tuple[Meaning, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What an error body said.

    Attributes:
        faults: The faults, as the API sent them.
        words: A message of each.
        kind: The class of the error, or None where the status decides.
        remedy: What to do, or "" for what one does about every such error.
    """

    faults: list[dict[str, Any]]
    words: list[Any]
    kind: type[ProviderError] | None = None
    remedy: str = ""


def read_error_body(table: ErrorTable, response: Response, account: Account) -> ErrorBody:
    """Read an error body; one that is no JSON has no faults."""
    faults = _faults(maybe_object(response.json_or_none()), table)
    words = [_words(fault, table) for fault in faults]
    codes = [str(fault.get(table.code)) for fault in faults]
    fitting = (m for m in table.meanings if any(m.fits(code, response.status) for code in codes))
    meaning = next(fitting, None)
    if meaning is None:
        return ErrorBody(faults, words)
    return ErrorBody(faults, words, meaning.kind, meaning.remedy.format(name=account.name))


def read_failure(
    about: About, table: ErrorTable, response: Response, account: Account
) -> ProviderError | None:
    """Return the error that an answer means by a table; None for a success, which is HTTP 200."""
    if response.status == OK:
        return None
    said = read_error_body(table, response, account)
    return failure(about.title, response, account, said.words, kind=said.kind, hint=said.remedy)


def _faults(body: dict[str, Any], table: ErrorTable) -> list[dict[str, Any]]:
    for name in table.faults:
        value = body.get(name) if name else body
        if not value:
            continue
        if isinstance(value, str):
            return [{**body, table.words[0]: value}]
        found: list[Any] = value if is_list(value) else [value]
        return [each if is_object(each) else {table.words[0]: each} for each in found]
    return []


def _words(fault: dict[str, Any], table: ErrorTable) -> Any:
    said = next(filter(None, (fault.get(name) for name in table.words)), None)
    shown = [fault.get(name) for name in table.shown]
    if isinstance(said, str) and shown and all(isinstance(each, (str, int)) for each in shown):
        return f"{said.rstrip('. ')} ({', '.join(map(str, shown))})"
    return said or fault.get(table.code)
