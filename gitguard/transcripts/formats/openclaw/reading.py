"""OpenClaw's transcripts, of both generations (recorded with 2026.3.13 and 2026.9.6).

A transcript's path is the agent's folder, `<state>/agents/<agent>`; which generation keeps the
session is found out there. The path may also be one session's file, or a database. What an entry
says is the same in both.
"""

from __future__ import annotations

import os

from gitguard.model.transcript import Compactions, Message
from gitguard.transcripts.entries import RESET, count, parse
from gitguard.transcripts.formats.openclaw.file import SessionFile, find_file
from gitguard.transcripts.session_lines import message_of, newest
from gitguard.transcripts.session_lines import newest_summary as summary_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.events import Reading, Transcript
    from gitguard.transcripts.jsonl import Tell

    class SessionSource(Protocol):
        """A session as one generation keeps it."""

        def backwards(self) -> Iterator[bytes]:
            """Yield the entries from the newest to the oldest."""

        def forwards(self, since: int, tell: Tell | None = None) -> Iterator[bytes]:
            """Yield the entries behind a position."""

        def entries(self, since: int) -> Iterator[TranscriptEntry]:
            """Yield all entries from a position on, whole."""

        def turning_points(self, since: int) -> Iterator[tuple[int, str, float]]:
            """Yield what `entries.count` counts."""

        def cursor(self, since: int) -> int:
            """Return the position to go on from, 0 where there are fewer entries."""

        def window(self) -> int:
            """Return the window the host reckons with, 0 if it does not tell."""

        def __enter__(self) -> object: ...

        def __exit__(self, *_: object) -> None:
            """Let go of what was opened."""


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Find the newest usage since the last compaction or reset, from the end backwards."""
    source = _find(transcript)
    if not source:
        return None
    with source:
        reading = newest(source.backwards(), across=across)
        return reading.replace(window=source.window() or None) if reading else None


def newest_summary(transcript: Transcript, since: float) -> str:
    """Return the summary of a compaction that ended since a time in Unix seconds, empty if none."""
    source = _find(transcript)
    if not source:
        return ""
    with source:
        return summary_in(source.backwards(), since)


def messages(
    transcript: Transcript, tell: Tell | None = None, *, since: int = 0
) -> Iterator[Message]:
    """Yield what was said since the last reset."""
    source = _find(transcript)
    if not source:
        return
    with source:
        begin = source.cursor(since)
        for behind, kind, _ in source.turning_points(begin):
            begin = behind if kind == RESET else begin
        for row in source.forwards(begin, tell):
            message = message_of(parse(row)) if b'"message"' in row else None
            if message:
                yield message


def compactions(transcript: Transcript, since: int = 0) -> Compactions:
    """Count the compactions since the last reset; the cursor is a byte offset or a row's number."""
    source = _find(transcript)
    if not source:
        return Compactions()
    with source:
        begin = source.cursor(since)
        return count(source.turning_points(begin), begin)


def entries(transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
    """Yield every line or row; a position is a byte offset or a row's number."""
    source = _find(transcript)
    if not source:
        return
    with source:
        yield from source.entries(since)


def newest_session(path: str) -> str:
    """Return the session that was written last in an agent's folder or database, empty if none."""
    from gitguard.transcripts.formats.openclaw.database import database_in, newest_rows
    from gitguard.transcripts.formats.openclaw.file import newest_file

    if os.path.isfile(path):
        return newest_rows(path)
    return newest_rows(database_in(path)) or newest_file(path)


def file_of(transcript: Transcript) -> str:
    """Return the file that a session is kept in, empty where there is none or a database."""
    source = _find(transcript)
    if not source:
        return ""
    with source:
        return source.path if isinstance(source, SessionFile) else ""


def _find(transcript: Transcript) -> SessionSource | None:
    """Return where the session is kept, None before anything was said in it."""
    from gitguard.transcripts.formats.openclaw.database import database_in, find_rows

    path, session = transcript.path, transcript.session
    if os.path.isfile(path):
        return find_rows(path, session) if path.endswith(".sqlite") else SessionFile(path, session)
    if not session or not all(c.isalnum() or c in "-_." for c in session):
        return None  # the id becomes a file's name, and must not lead out of the folder
    # Of a session in both, the database counts: it is what newer versions write.
    return find_rows(database_in(path), session) or find_file(path, session)
