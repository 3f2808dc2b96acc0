"""Databases in which hosts keep conversations: opened for reading only, and never for long."""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.model.value import Value
from gitguard.transcripts.entries import unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from typing import Any

_PATIENCE = 0.5
"""Seconds to wait for a lock, which readers beside a log of changes hardly ever meet."""
_UNKNOWN = ("no such table", "no such column", "unsupported file format")
"""How errors begin that a database of another version gives."""


class Database(Value):
    """A database that is open for reading. Texts come as bytes, whatever they hold."""

    path: str
    connection: sqlite3.Connection

    def select(self, query: str, *values: str | int) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query; raise `InvalidDocument` when they do not read."""
        import sqlite3

        try:
            # `yield from` would close a cursor whose connection may be closed already.
            for row in self.connection.execute(query, values):  # noqa: UP028
                yield row
        except sqlite3.Error as error:
            raise _refused(self.path, error) from error

    def tables(self) -> set[str]:
        """Return the names of its tables."""
        found = self.select("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name.decode(errors="replace") for (name,) in found}

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def open_database(path: str) -> Database:
    """Open a database for reading; nothing of it is changed, and no file comes to lie beside it."""
    import sqlite3
    from urllib.parse import quote

    # Opening a closed database would create the files of its log of changes, and leave them.
    is_closed = not os.path.exists(f"{path}-wal")
    address = f"file:{quote(os.path.abspath(path))}?mode=ro{'&immutable=1' * is_closed}"
    try:
        connection = sqlite3.connect(address, uri=True, timeout=_PATIENCE)
    except sqlite3.Error as error:
        raise unreadable(path, error) from error
    connection.text_factory = bytes
    return Database(path, connection)


def _refused(path: str, error: sqlite3.Error) -> InvalidDocument:
    refusal = unreadable(path, error)
    if str(error).startswith(_UNKNOWN):
        refusal.hint = "Its host may be of a version that keeps conversations in another way"
    elif "locked" in str(error):
        refusal.hint = "Another program is writing it; run the command again in a moment"
    return refusal
