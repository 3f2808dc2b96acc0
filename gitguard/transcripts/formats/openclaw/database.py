"""A session of OpenClaw 2026.8 and later: rows of `agent/openclaw-agent.sqlite`, only ever read.

From about 2,500 bytes on rows are compressed, also new ones. An index keeps their kinds and times
readable, so that counting never has to decompress.
"""

from __future__ import annotations

import os

from gitguard.model.events import is_token_count
from gitguard.model.value import Value
from gitguard.transcripts.database import Database, open_database
from gitguard.transcripts.entries import COMPACTION, RESET, parse, unix_seconds
from gitguard.transcripts.plain_lines import zstd_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.transcripts.jsonl import Tell

_LARGEST_ROW = 1 << 22
"""Bytes beyond which the host itself compresses no row."""
_FIRST, _LAST = 500, 2_000
"""Rows that are read of a conversation's beginning and end: all would take a prompt seconds."""
_TELLING = """session_id = ? AND (
    event_json IS NOT NULL OR instr(navigation_json, '"role":"toolResult"') = 0)"""
"""Results of tools, which are most of what is compressed, tell nothing here."""


class SessionRows(Value):
    """One session's rows."""

    session: str
    database: Database

    def backwards(self) -> Iterator[bytes]:
        """Yield the rows from the newest to the oldest."""
        return self._entries("1 ORDER BY seq DESC")

    def forwards(self, since: int, tell: Tell | None = None) -> Iterator[bytes]:
        """Yield the rows from a number on; of very many, the first and the last ones."""
        first_ones, end = since + _FIRST, self.end()
        last_ones = max(first_ones, end - _LAST)
        if tell is not None and last_ones > first_ones:
            tell(
                f"the conversation has {end - since:,} entries; its first {_FIRST:,} and its "
                f"last {_LAST:,} were read"
            )
        yield from self._entries("seq >= ? AND seq < ? ORDER BY seq", since, first_ones)
        yield from self._entries("seq >= ? ORDER BY seq", last_ones)

    def entries(self, since: int) -> Iterator[TranscriptEntry]:
        """Yield all rows from a number on."""
        from gitguard.model.conversation import BROKEN, TranscriptEntry
        from gitguard.transcripts.fast_json import reader
        from gitguard.transcripts.jsonl import entry_of
        from gitguard.transcripts.session_entries import fields_of_openclaw

        rows = self.database.select(
            "SELECT seq, event_json, event_zstd FROM transcript_events"
            " WHERE session_id = ? AND seq >= ? ORDER BY seq",
            *(self.session, since),
            kinds=(int, bytes, bytes),
        )
        read = reader(0)
        for seq, text, compressed in rows:
            raw, problem = _row_text(text, compressed)
            if problem:
                yield TranscriptEntry(seq, seq + 1, kind=BROKEN, problem=problem)
            else:
                yield entry_of(seq, seq + 1, raw, read=read, translate=fields_of_openclaw)

    def turning_points(self, since: int) -> Iterator[tuple[int, str, float]]:
        """Yield compactions and resets from a number on."""
        end = self.end()
        rows = self.database.select(
            "SELECT seq, event_type, created_at FROM transcript_event_identities WHERE"
            " session_id = ? AND seq >= ? AND seq < ? AND event_type IN (?, ?) ORDER BY seq",
            *(self.session, since, end, COMPACTION, RESET),
            kinds=(int, bytes, int | float),
        )
        for seq, kind, created_at in rows:
            yield seq + 1, kind.decode(), unix_seconds(created_at)
        yield end, "", 0

    def cursor(self, since: int) -> int:
        """Return the number to go on from."""
        return since if since <= self.end() else 0

    def window(self) -> int:
        """Return the window that the session's entry tells, 0 if none does."""
        query = "SELECT entry_json FROM session_nodes WHERE current_session_id = ?"
        for (entry,) in self.database.select(query, self.session, kinds=(bytes,)):
            tokens = parse(entry).get("contextTokens")
            if isinstance(tokens, int) and is_token_count(tokens):
                return tokens
        return 0

    def end(self) -> int:
        """Return the number behind the newest row, 0 if there is none."""
        if "transcript_events" not in self.database.tables():
            return 0
        query = "SELECT max(seq) FROM transcript_events WHERE session_id = ?"
        [(newest,)] = self.database.select(query, self.session, kinds=(int | None,))
        return 0 if newest is None else newest + 1

    def newest_session(self) -> str:
        """Return the session of which the newest row is, empty where there is none."""
        query = (
            "SELECT session_id FROM transcript_event_identities ORDER BY created_at DESC LIMIT 1"
        )
        rows = self.database.select(query, kinds=(bytes,))
        return next((session.decode(errors="replace") for (session,) in rows), "")

    def __enter__(self) -> SessionRows:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    def _entries(self, which: str, *values: int) -> Iterator[bytes]:
        query = f"SELECT event_json, event_zstd FROM transcript_events WHERE {_TELLING} AND {which}"
        rows = self.database.select(query, self.session, *values, kinds=(bytes, bytes))
        for text, compressed in rows:
            yield _row_text(text, compressed)[0]


def database_in(folder: str) -> str:
    """Return where an agent's folder has its database."""
    return os.path.join(folder, "agent", "openclaw-agent.sqlite")


def find_rows(path: str, session: str) -> SessionRows | None:
    """Return a session's rows in a database, None when there are none."""
    if not os.path.isfile(path):
        return None
    rows = SessionRows(session, open_database(path))
    has_rows = False
    try:
        has_rows = rows.end() > 0
    finally:
        if not has_rows:
            rows.database.close()
    return rows if has_rows else None


def newest_rows(path: str) -> str:
    """Return the session in a database of which the newest row is, empty where there is none."""
    if not os.path.isfile(path):
        return ""
    with SessionRows("", open_database(path)) as rows:
        return rows.newest_session()


def _row_text(text: bytes, compressed: bytes) -> tuple[bytes, str]:
    """Return what a row says, or else why it cannot be told."""
    if text:
        return text, ""
    if not compressed:
        return b"", "the row holds no text"
    # Without it, a compressed row is reported as broken, and all other rows are still read.
    zstd = zstd_module()
    if zstd is None:
        return b"", "it is compressed, and this Python lacks `backports.zstd` to read it"
    try:
        return bytes(zstd.ZstdDecompressor().decompress(compressed, _LARGEST_ROW)), ""
    except zstd.ZstdError:
        return b"", "it is compressed, and what is there does not decompress"
