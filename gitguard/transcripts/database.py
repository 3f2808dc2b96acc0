"""Databases in which hosts keep conversations: opened for reading only, and never for long."""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.model.value import Value
from gitguard.transcripts.entries import bytes_at, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from types import UnionType
    from typing import Any

    Kinds = tuple[type | UnionType, ...]

_PATIENCE = 0.5
"""Seconds to wait for a lock, which readers beside a log of changes hardly ever meet."""
_UNKNOWN = ("no such table", "no such column", "unsupported file format")
"""How errors begin that a database of another version gives."""
_DAMAGED = ("database disk image is malformed", "malformed")
_NO_DATABASE = "file is not a database"
_ANOTHER = "Its host may be of a version that keeps conversations in another way"
_VERSIONS, _WITH_LOG = 18, b"\2\2"
"""The offset of SQLite's write and read versions in a file's header; 2 and 2 mean a WAL."""


class Database(Value):
    """A database that is open for reading."""

    path: str
    connection: sqlite3.Connection

    def select(self, query: str, *values: str | int, kinds: Kinds) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, whose cells are of these kinds: numbers, or texts as bytes.

        A cell may hold anything, whatever its column is for. A text that is none comes as an empty
        one. Raises `InvalidDocument` where a number is none, and when rows cannot be read.
        """
        import sqlite3

        try:
            # `yield from` would close a cursor whose connection may be closed already.
            for row in self.connection.execute(query, values):
                yield self._checked(row, kinds)
        except (sqlite3.Error, OverflowError) as error:
            raise _refused(self.path, error) from error

    def _checked(self, row: tuple[Any, ...], kinds: Kinds) -> tuple[Any, ...]:
        cells = list(row)
        for at, kind in enumerate(kinds):
            if isinstance(cells[at], kind):
                continue
            if kind is not bytes:
                refusal = unreadable(self.path, "a row of it has no number where one belongs")
                refusal.hint = _ANOTHER
                raise refusal
            cells[at] = b""
        return tuple(cells)

    def tables(self) -> set[str]:
        """Return the names of its tables."""
        query = "SELECT name FROM sqlite_master WHERE type = 'table'"
        rows = self.select(query, kinds=(bytes,))
        return {name.decode(errors="replace") for (name,) in rows}

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_database(path: str) -> Database:
    """Open a database for reading; nothing of it is changed, and no file comes to lie beside it."""
    import sqlite3
    from urllib.parse import quote

    # The log of changes lies beside the file itself, also where a link leads to it.
    place = os.path.realpath(path)
    # Opening a closed database would create the files of its log of changes, and leave them. One
    # that has no log is locked by whoever writes it, and must not be read without asking.
    is_closed = _has_log(path) and not os.path.exists(f"{place}-wal")
    address = f"file:{quote(place)}?mode=ro"
    if is_closed:
        address += "&immutable=1"
    try:
        connection = sqlite3.connect(address, uri=True, timeout=_PATIENCE)
    except sqlite3.Error as error:
        raise unreadable(path, error) from error
    # As text, one cell that is not UTF-8 would make the whole query fail.
    connection.text_factory = bytes
    return Database(path, connection)


def _has_log(path: str) -> bool:
    return bytes_at(path, _VERSIONS, len(_WITH_LOG)) == _WITH_LOG


def _refused(path: str, error: Exception) -> InvalidDocument:
    refusal = unreadable(path, error)
    if str(error).startswith(_UNKNOWN):
        refusal.hint = _ANOTHER
    elif "readonly" in str(error):
        refusal.hint = "A write to it was broken off; its host puts that right when it is started"
    elif str(error).startswith(_DAMAGED):
        refusal.hint = "It is damaged; `sqlite3 PATH .recover` may save what is left of it"
    elif str(error).startswith(_NO_DATABASE):
        refusal.hint = "Name the host's database; if that is it, its beginning is damaged"
    elif "locked" in str(error):
        refusal.hint = "Another program is writing it; run the command again in a moment"
    return refusal
