"""The journal file: increments between checkpoints, one line each, appended in one write."""

from __future__ import annotations

import json
import os

from gitguard.model.codec import check_format, dump_line
from gitguard.model.journal import Entry, open_calls, read_entries
from gitguard.model.value import Value
from gitguard.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FORMAT = 1
_READ_LIMIT = 1 << 24
_LOOK_BACK = 1 << 18
"""A call that began longer ago than so many bytes is not taken for a running one."""
_HEADER_LIMIT = 1 << 12
_ROTATE_AT = 1 << 18


_RECENT = 16
"""So many of the folded entries still say what is going on, besides calls that did not end."""


class JournalPart(Value):
    """What of a journal still counts."""

    id: str
    entries: tuple[Entry, ...]
    """Calls that did not end and the newest of what was folded, then what was not."""
    unfolded: tuple[Entry, ...]
    """What lies behind the offset that was folded before."""
    end: int


class JournalFile:
    """Appends to and reads one session's journal; the caller holds the session's lock."""

    def __init__(self, path: str, clock: Callable[[], float]) -> None:
        """Use the file at path, which is made at the first append."""
        self.path = path
        self._clock = clock

    def append(self, entry: Entry) -> None:
        """Add an entry."""
        line = dump_line(entry.line())
        files.append(self.path, self._header() + line if self._is_new() else line)

    def _is_new(self) -> bool:
        return self._size() == 0

    def _size(self) -> int:
        try:
            return os.path.getsize(self.path)
        except FileNotFoundError:
            return 0

    def settle(self) -> None:
        """Make durable what was appended, before an offset in it is recorded."""
        try:
            files.sync_file(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise files.refused(self.path, error) from error

    def _header(self) -> bytes:
        unique = f"{int(self._clock() * 1e6):x}-{os.getpid():x}"
        return dump_line({"format": FORMAT, "journal": unique})

    def read(self, folded_id: str, folded_offset: int) -> JournalPart:
        """Read the journal; folding goes on behind the offset if the id is the same.

        Of a very long one, only what lies around the offset is read; the next read goes on.
        """
        journal_id = self._begun()
        # A crash can take what was folded and not durable; what came after is not folded then.
        whole = journal_id == folded_id and self._size() >= folded_offset
        start = folded_offset if whole else 0
        position = max(start - _LOOK_BACK, 0)
        lines, end = files.complete_lines(self.path, offset=position, limit=_READ_LIMIT)
        folded = 0
        while folded < len(lines) and position < start:
            position += len(lines[folded]) + 1
            folded += 1
        fresh = _entries(lines[folded:])
        recent = max(folded - _RECENT, 0)
        before = [*_open_calls(lines[:recent], lines[recent:]), *lines[recent:folded]]
        return JournalPart(journal_id, _entries(before) + fresh, fresh, end)

    def open_calls(self) -> tuple[Entry, ...]:
        """Return the tool calls that began and never ended, however long ago."""
        self._begun()
        lines, _ = files.complete_lines(self.path, offset=0, limit=_READ_LIMIT)
        return _entries(_open_calls(lines))

    def _begun(self) -> str:
        """Return the journal's id, empty where there is none."""
        header, _ = files.complete_lines(self.path, offset=0, limit=_HEADER_LIMIT)
        begins = (_document(header[0]) if header else None) or {}
        check_format(begins, FORMAT, what=f"`{self.path}`")
        return str(begins.get("journal", ""))

    def rotate(self, part: JournalPart) -> JournalPart | None:
        """Begin a new file once everything in a large one is folded; return what it begins with.

        That is what still says what is going on; it is folded already.
        """
        if part.end <= _ROTATE_AT or self._size() != part.end:
            return None
        recent = part.entries[-_RECENT:]
        running = (entry for entry in open_calls(part.entries) if entry not in recent)
        going_on = (*running, *recent)
        header = self._header()
        data = header + b"".join(dump_line(entry.line()) for entry in going_on)
        files.write_bytes(self.path, data)
        begun = str((_document(header) or {}).get("journal", ""))
        return JournalPart(begun, going_on, (), len(data))


def _open_calls(lines: list[bytes], later: list[bytes] | tuple[bytes, ...] = ()) -> list[bytes]:
    """Return the lines of calls that began and did not end, not even later.

    A journal can have a thousand lines, and most of them say nothing any more: so they are looked
    at as bytes, the way `append` writes them, and not read.
    """
    import re

    call = re.compile(rb'\{"event":"tool-(\w+)",.*?"id":"((?:[^"\\]|\\.)*)"')
    running: dict[bytes, bytes] = {}
    for number, line in enumerate([*lines, *later]):
        found = call.match(line)
        if found and found[1] == b"start" and number < len(lines):
            running[found[2]] = line
        elif found and found[1] != b"start":
            running.pop(found[2], None)
    return list(running.values())


def _entries(lines: list[bytes]) -> tuple[Entry, ...]:
    documents = (_document(line) for line in lines)
    return read_entries(document for document in documents if document is not None)


def _document(line: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None  # a torn line, or nobody's
    return document if isinstance(document, dict) else None
