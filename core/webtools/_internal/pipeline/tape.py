"""A tape records calls, and answers them later without keys, settings and a network.

It has JSON lines: a header, then a line per call with its arguments and its response or error, as
they leave the package: without control characters and keys.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakSet

from pydantic import BaseModel

from webtools._internal.faults import Fault
from webtools._internal.http.event_loops import has_running_loop
from webtools._internal.io.locks import share_lock, try_lock, unlock
from webtools._internal.logs.records import LOGGER
from webtools._internal.pipeline.tape_lines import (
    ERRORS,
    MAX_BYTES,
    OPTIONS,
    SAFELY,
    NativeRecord,
    TapedCall,
    key_of,
    read_call,
    read_header,
    read_tape,
    reason_of,
)
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.text.narrowing import is_list, is_object
from webtools._internal.text.nested_texts import add_warning, with_texts
from webtools._internal.text.redaction import Redactor
from webtools._version import __version__
from webtools.config.paths import RECORD_VARIABLE, REPLAY_VARIABLE
from webtools.errors import InputError, Payment, WebToolsError
from webtools.inputs.argument_values import shown
from webtools.tools import READ

NOT_ON_TAPE = "not_on_tape"  # the code of the error
_STRICTNESS = ("off", "pages", "all")  # of the setting `fence`
_MAX_HEADER = 4096  # bytes
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_MAX_COMPARED = 1000  # calls of which the closest is named
_MAX_LINES_SHOWN = 5
_LOCK_ATTEMPTS = 5
_LOCK_PAUSE = 0.001  # seconds


class Tape:
    """What a session records to, and what answers its calls.

    Args:
        record: The file to record to. With `replay`, calls that are not on the tape are made.
        replay: The tape that answers calls.
        appends: Whether to keep the lines of a tape at `record`, as with `replay`.

    Attributes:
        is_of_strangers: Whether sessions without a user belong to different persons, too.
    """

    is_of_strangers = False

    def __init__(
        self,
        record: str | os.PathLike[str] | None = None,
        replay: str | os.PathLike[str] | None = None,
        *,
        appends: bool = False,
    ) -> None:
        self.record = Path(record) if record else None
        self.replay = Path(replay) if replay else None
        self._writer: _Writer | None = None
        self._appends = appends or bool(replay)
        self._replaced: _Content | None = None
        self.is_open = self._was_open = False
        self.renew_lock()
        _tapes.add(self)
        self._calls: list[TapedCall] | None = None
        self._queues: dict[str, deque[TapedCall]] = {}
        if not has_running_loop():
            self.open()

    def __fspath__(self) -> str:
        """Return the path of the file: sessions take a tape that they share as `record`."""
        return str(self.record or self.replay)

    def renew_lock(self) -> None:
        """Let the files be opened, also in a forked process while its parent opens them."""
        self._lock = Lock()

    def open(self) -> None:
        """Read the tape to replay, and open the one to record. Later calls change nothing.

        Raises:
            InputError: A file cannot be used.
        """
        if self.is_open:
            return
        with self._lock:
            self._read()
            if self.record and not self._was_open:
                self.record = self.record.absolute()  # the working folder may change
                fd, content = _open_to_write(self.record, appends=self._appends)
                os.close(fd)  # a lock would not let a second tape be opened in the meantime
                self._replaced = None if self._appends else content
                self._was_open = True
            self.is_open = True

    def _read(self) -> None:
        if self.replay is None or self._calls is not None:
            return
        exists = os.path.lexists(self.replay)  # no error for a path that is too long
        is_new = self.replay == self.record and not exists
        if not (exists or is_new):
            remedy = "Check the path, or record the run first, with record=... or --record"
            raise InputError(f"The tape {self.replay} does not exist. {remedy}.")
        calls = [] if is_new else read_tape(self.replay)[1]
        queues: dict[str, deque[TapedCall]] = {}
        for call in calls:
            if call.native is None:
                queues.setdefault(call.key, deque()).append(call)
        for queue in queues.values():
            # A call without a key or with broken settings is no answer once it was made again.
            answers = [call for call in queue if not call.has_config_error]
            if answers or self.record:
                queue.clear()
                queue.extend(answers)
        self._calls, self._queues = calls, queues  # at once: the process may be forked meanwhile

    def close(self) -> None:
        """Close the file. A later call appends to it. Without a call, an old tape stays as it is.

        Raises:
            InputError: The file was not opened before, and cannot be used.
        """
        if self.record and not self._was_open:
            self.open()
        with self._lock:
            self.is_open, self._writer = False, None

    def unused(self, user: str | None = None) -> list[TapedCall]:
        """Return the calls that were not replayed, in the order of the tape.

        Args:
            user: Leave out those of others; see `name_on_tape`.

        Raises:
            InputError: The tape was not read before, and cannot be used.
        """
        with self._lock:
            self._read()
        unused = [call for queue in self._queues.values() for call in queue.copy()]
        shown = [call for call in unused if user in {None, call.user}]
        return sorted(shown, key=lambda call: call.line)

    def take(self, call: Call, arguments: BaseModel) -> TapedCall | None:
        """Return the call on an open tape that answers a call; None if the call is to be made.

        Raises:
            InputError: The call is not on the tape, and none is made.
        """
        values = _arguments_of(call, arguments)
        for written in (values, call.accounts.redactor.clean(values)):
            if call.taped is None:
                call.taped = self._next(key_of(call.tool, written), call)
        if call.taped is not None:
            _mark_as_replayed(call, call.taped)
        elif self.replay and not self.record and call.tool != READ.name:
            raise self._miss(call, values)  # web_read sends nothing
        return call.taped

    def _next(self, key: str, call: Call) -> TapedCall | None:
        """Return the next recorded call with a key. The output of another user is not read."""
        queue = self._queues.get(key, deque())
        with self._lock:
            for taped in queue:
                if call.tool != READ.name or taped.user == call.user:
                    queue.remove(taped)
                    return taped
        return None

    def records(self, call: Call) -> bool:
        """Return whether a call is to be recorded: it was made, and there is a file for it."""
        return self.record is not None and call.taped is None

    def write_native(self, native: NativeRecord, redactor: Redactor) -> str:
        """Record searches of a model's vendor, which cannot be replayed.

        Returns:
            Why they were not recorded; empty if they were, or if nothing is recorded.
        """
        if self.record is None:
            return ""
        taped = self._record({"native": native.model_dump()}, redactor)
        return taped if isinstance(taped, str) else ""

    def write(
        self,
        call: Call,
        arguments: BaseModel,
        outcome: Any,
        numbers: Mapping[str, int] | None,
        redactor: Redactor,
    ) -> Any:
        """Record a call, and return its response as a replay will.

        Args:
            call: The call.
            arguments: Its checked arguments.
            outcome: Its sanitized response or error.
            numbers: The numbers of its sources by URL.
            redactor: Redacts keys.
        """
        config = call.accounts.config
        line: dict[str, Any] = {
            "id": call.id,
            "user": call.user,
            "tool": call.tool,
            "arguments": _arguments_of(call, arguments),
            "settings": {
                "providers": [account.name for account in call.accounts.accounts],
                "max_results": config.max_results,
                "fence": config.fence,
            },
        }
        if isinstance(outcome, WebToolsError):
            kind = next(each.__name__ for each in type(outcome).__mro__ if each.__name__ in ERRORS)
            line["error"] = outcome.to_details() | {"type": kind, "cost_usd": outcome.cost_usd}
        else:
            line |= {"response": _plain(outcome), "numbers": numbers or {}}
        taped = self._record(line, redactor)
        if isinstance(taped, TapedCall):
            return taped.response
        return outcome if isinstance(outcome, WebToolsError) else add_warning(outcome, taped)

    def _record(self, line: Mapping[str, Any], redactor: Redactor) -> TapedCall | str:
        """Write a line, and return it as a replay will read it, or why it was not written."""
        try:
            return self._append(line, redactor)
        except InputError as error:
            LOGGER.warning("A call was not recorded: %s", error)
            return f"The call was not recorded: {error}"

    def _append(self, line: Mapping[str, Any], redactor: Redactor) -> TapedCall:
        self.open()  # it may have been closed
        writer = self._open_writer()
        line = redactor.clean({**line, "at": datetime.now(UTC).isoformat()})
        data = json.dumps(line).encode()
        taped = read_call(writer.path, 0, data)
        writer.write(data + b"\n")
        return taped

    def _open_writer(self) -> _Writer:
        """Open the file for the first call, which replaces an older tape."""
        if self.record is None:
            raise InputError("The tape is only replayed.")
        with self._lock:
            if self._writer is None:
                self._writer = _Writer(self.record, self._replaced)
                self._replaced = None
            return self._writer

    def _miss(self, call: Call, values: Mapping[str, Any]) -> InputError:
        """Return the error of a call that is not on the tape. It names the closest one."""
        tool, key = call.tool, key_of(call.tool, values)
        made = [each for each in self._calls or () if each.native is None]
        may_name = bool(call.user) or not self.is_of_strangers
        known = [each for each in made if may_name and each.user == call.user]
        calls = [each for each in known if each.tool == tool]
        if equal := [each for each in calls if each.key == key]:
            lines = ", ".join(str(call.line) for call in equal[:_MAX_LINES_SHOWN])
            reason = f"each such call is replayed once, and that was done (line {lines})"
        elif calls:
            reason = _difference(calls[:_MAX_COMPARED], values)
        elif made and not may_name:
            reason = "its other calls are not shown to clients over HTTP"
        elif made and not known:
            reason = "the tape has calls of other users only. Pass the user of the recording"
        else:
            reason = f"the tape has no call of {tool}"
        message = f"{tool} is not on the tape {self.replay} with these arguments: {reason}."
        remedy = "Nothing was sent. Record the run again to replay this call."
        return InputError(f"{message} {remedy}", code=NOT_ON_TAPE)


_tapes: WeakSet[Tape] = WeakSet()
_ambient_lock = Lock()
_ambient: dict[tuple[str, str], Tape] = {}  # by the values of the variables


def ambient_tape() -> Tape | None:
    """Return the tape that the environment names. All calls of the process share it."""
    names = os.environ.get(RECORD_VARIABLE, ""), os.environ.get(REPLAY_VARIABLE, "")
    if not any(names):
        return None
    with _ambient_lock:  # a second tape would replace the first
        if names not in _ambient:
            _ambient[names] = Tape(*names)
        return _ambient[names]


def forget_ambient_tapes() -> None:
    """Close the tapes that the environment named."""
    _ambient.clear()


def _after_fork_in_child() -> None:
    global _ambient_lock  # noqa: PLW0603  # another thread of the parent may have held it
    _ambient_lock = Lock()
    for tape in list(_tapes):
        tape.renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def _arguments_of(call: Call, arguments: BaseModel) -> dict[str, Any]:
    """Return the arguments and options of a call that differ from their defaults."""
    fields = type(arguments).model_fields
    values = {
        name: value
        for name, value in arguments.model_dump(mode="json").items()
        if value != fields[name].get_default(call_default_factory=True)
    }
    values |= {name: True for name in OPTIONS if getattr(call.options, name)}
    # A lone surrogate has no UTF-8.
    return with_texts(values, lambda text, _: text.encode("utf-8", "replace").decode())


def _mark_as_replayed(call: Call, taped: TapedCall) -> None:
    """Keep a call out of the log, and fence its text at least as when it was recorded."""
    call.id = taped.id
    call.services = call.services._replace(log=None)
    config, fence = call.accounts.config, taped.settings.get("fence")
    if fence in _STRICTNESS and _STRICTNESS.index(fence) > _STRICTNESS.index(config.fence):
        config = config.model_copy(update={"fence": fence})
        call.accounts = replace(call.accounts, config=config)


def _difference(calls: list[TapedCall], values: Mapping[str, Any]) -> str:
    """Name the closest call, and the fields that differ."""
    unlike = [
        [
            name
            for name in dict.fromkeys([*call.arguments, *values])
            if call.arguments.get(name) != values.get(name)
        ]
        for call in calls
    ]
    words = _words(values)
    common = [len(words & _words(call.arguments)) for call in calls]
    at = min(range(len(calls)), key=lambda at: (len(unlike[at]), -common[at]))
    old = calls[at].arguments
    fields = "; ".join(
        f"{name} was {shown(old[name])}, not {_shown(values, name)}"
        if name in old
        else f"{name} was not set, and is {shown(values[name])}"
        for name in unlike[at]
    )
    return f"in the closest call (line {calls[at].line}), {fields}"


def _words(values: Mapping[str, Any]) -> set[str]:
    return {*json.dumps(values).casefold().split()}


def _shown(values: Mapping[str, Any], name: str) -> str:
    return shown(values[name]) if name in values else "set"


# --- writing ------------------------------------------------------------------------------------


class _Writer:
    """Appends lines to a tape.

    A line is written by a single `write` to a descriptor opened with `O_APPEND`: lines never mix.
    """

    def __init__(self, path: Path, replaced: _Content | None) -> None:
        """Open a tape, and replace what is on it if that is unchanged."""
        self.path = path
        self._fd, content = _open_to_write(path, appends=replaced is None)
        if replaced is not None and content == replaced:
            _begin(self._fd, path)
        share_lock(self._fd)

    def __del__(self) -> None:
        """Close the file."""
        if (fd := getattr(self, "_fd", -1)) >= 0:
            os.close(fd)

    def write(self, line: bytes) -> None:
        """Write a line.

        Raises:
            InputError: It cannot be written.
        """
        try:
            info = os.fstat(self._fd)
            size = info.st_size
            if not info.st_nlink:
                raise InputError(f"{self.path} was deleted while it was recorded.")
            if size + len(line) > MAX_BYTES:
                raise InputError(f"{self.path} is full: a tape has at most {MAX_BYTES} bytes.")
            if (written := os.write(self._fd, line)) < len(line):  # the disk is full
                if os.fstat(self._fd).st_size == size + written:
                    os.ftruncate(self._fd, size)
                raise InputError(f"The disk has no room for {self.path}.")
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}.") from None


class _Content(NamedTuple):
    """What is on a tape: its header, and how many bytes."""

    header: bytes
    size: int


def _open_to_write(path: Path, *, appends: bool) -> tuple[int, _Content | None]:
    """Open a new file or a tape, for this user only.

    Returns:
        The file, and what is on the tape; None if it is in use, and must not be replaced.

    Raises:
        InputError: It is another file, or cannot be opened.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _NO_LINKS | SAFELY, 0o600)
        try:
            return fd, _check(path, fd, appends=appends)
        except BaseException:
            os.close(fd)
            raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be recorded to: {reason_of(error)}.") from None


def _check(path: Path, fd: int, *, appends: bool) -> _Content | None:
    """Check a file, and begin a tape in an empty one."""
    if not S_ISREG(os.fstat(fd).st_mode):
        raise ValueError("it is not a regular file")
    is_used = _is_used(fd)
    if not os.fstat(fd).st_size:
        if is_used:
            raise ValueError("it is in use and has no header. Choose another file")
        _begin(fd, path)
    os.lseek(fd, 0, os.SEEK_SET)
    header = os.read(fd, _MAX_HEADER).partition(b"\n")[0]
    try:
        read_header(path, header)
    except InputError as error:
        _, _, reason = str(error).rpartition(f"{path}, ")
        raise ValueError(f"it is kept, because {reason.rstrip('.')}") from None
    os.lseek(fd, -1, os.SEEK_END)
    if (appends or is_used) and os.read(fd, 1) != b"\n":
        raise ValueError("its last line is incomplete. Delete that line")
    os.chmod(path, 0o600)  # noqa: PTH101  # it may be another program's copy
    return None if is_used else _Content(header, os.fstat(fd).st_size)


def _is_used(fd: int) -> bool:
    """Return whether a tape is open elsewhere; lock it if not, else keep it from being replaced."""
    for _ in range(_LOCK_ATTEMPTS):
        if try_lock(fd):
            return False
        share_lock(fd)  # waits while another one only looks at it, or begins it
        unlock(fd)  # two who share it would keep each other from locking it
        time.sleep(_LOCK_PAUSE)
    share_lock(fd)
    return True


def _begin(fd: int, path: Path) -> None:
    """Write the header of a tape, and nothing else.

    Raises:
        InputError: There is no room for it.
    """
    os.ftruncate(fd, 0)
    header = {"tape": 1, "webtools": __version__, "created": datetime.now(UTC).isoformat()}
    line = json.dumps(header).encode() + b"\n"
    if os.write(fd, line) < len(line):
        os.ftruncate(fd, 0)  # a part of a header would be taken for another file
        raise InputError(f"The disk has no room for {path}.")


def _plain(value: Any) -> Any:
    """Return a model as JSON data, with the fields that its own JSON leaves out."""
    if isinstance(value, BaseModel):
        fields = vars(value).items()
        return {name: _plain(item) for name, item in fields if not isinstance(item, _UNKEPT)}
    if isinstance(value, datetime):
        return value.isoformat()
    if is_list(value):
        return [_plain(item) for item in value]
    if is_object(value):
        return {name: _plain(item) for name, item in value.items()}
    return value


_UNKEPT = (Fault, Payment)  # facts of a failed page for our own code
