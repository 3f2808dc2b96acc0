"""Which host's transcript is this? Told by the first lines of a file, else by where it lies."""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.events import Transcript
from gitguard.transcripts import NAMES, find_format, jsonl
from gitguard.transcripts.entries import open_file, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SQLITE = b"SQLite format 3\0"
_TABLES = {"openclaw": {"transcript_events"}, "opencode": {"message", "part", "session"}}
"""By what databases are known: tables that they have."""
_PLACES = {
    "/.claude/projects/": "claude-code",
    "/.codex/sessions/": "codex",
    "/.gemini/tmp/": "gemini",
    "/.pi/agent/sessions/": "pi",
    "/.openclaw/agents/": "openclaw",
}
"""Where hosts keep their files, for those whose first lines tell nothing."""
_CLAUDE_CODE = {"uuid", "leafUuid", "snapshot", "sessionId"}
_ALIKE = {"openclaw": "pi"}
"""Formats whose lines are those of another; only their place tells them apart."""


def recognise(path: str, name: str = "", conversation: str = "") -> Transcript:
    """Return the transcript at a path: its format, unless named, and which conversation it is.

    A database keeps many conversations; the newest one counts where none is named. Raises
    `InvalidDocument` when the path does not read, or nobody's conversation is there, and
    `InvalidInput` when a file of one conversation is asked for another.
    """
    path = os.path.abspath(path)
    if name:
        find_format(name)
    if os.path.isdir(path):
        return _in_a_place_of_many(path, "openclaw", conversation)
    if is_database(path):
        return _in_a_place_of_many(path, name or _by_tables(path), conversation)
    found = name or _by_lines(path) or _by_place(path)
    if not found:
        raise _nobodys(path)
    if conversation and conversation != _stem(path):
        raise InvalidInput(
            f"`{path}` holds one conversation, and it is not `{conversation}`",
            "Leave --conversation out: it names one in a database or folder of many",
        )
    return Transcript(path, found, _stem(path))


def refuse_another(transcript: Transcript) -> None:
    """Raise `InvalidInput` where a file's content clearly is of another format than it is named.

    It is where its lines are known as another's, and not one of them as its own; where none is
    known, its place tells. What is damaged beyond that may be called what its owner says it is.
    """
    path, named = transcript.path, transcript.format
    if os.path.isdir(path) or is_database(path):
        return  # by their tables they were told, and none is written
    alike = _ALIKE.get(named, named)
    another = ""
    for name in _shown(path):
        if _ALIKE.get(name, name) == alike:
            return
        another = another or name
    another = another or _by_place(path)
    if another and _ALIKE.get(another, another) != alike:
        raise InvalidInput(
            f"`{path}` is a transcript of {another}, not of {named}; it was left as it is",
            "Leave --format out: what is in the file shows whose it is",
        )


def is_database(path: str) -> bool:
    """Say whether a file is a database; raise `InvalidDocument` when it does not read."""
    return _head(path).startswith(_SQLITE)


def _nobodys(path: str) -> InvalidDocument:
    empty = "" if _head(path) else ": it is empty"
    return InvalidDocument(
        f"it cannot be told whose transcript `{path}` is{empty}",
        "Name its format with --format: " + ", ".join(NAMES),
    )


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _head(path: str) -> bytes:
    try:
        handle = open_file(path)
        try:
            return os.pread(handle, len(_SQLITE), 0)
        finally:
            os.close(handle)
    except OSError as error:
        raise unreadable(path, error) from error


def _by_tables(path: str) -> str:
    from gitguard.transcripts.database import open_database

    database = open_database(path)
    try:
        tables = database.tables()
    finally:
        database.close()
    for name, marks in _TABLES.items():
        if marks <= tables:
            return name
    raise _nobodys(path)


def _in_a_place_of_many(path: str, name: str, conversation: str) -> Transcript:
    if name not in _TABLES:
        raise InvalidDocument(f"`{path}` is no transcript of the format `{name}`")
    session = conversation or _newest_session(path, name)
    if not session:
        raise InvalidDocument(
            f"there is no conversation in `{path}`", "Name a transcript's file instead"
        )
    return Transcript(path, name, session)


def _newest_session(path: str, name: str) -> str:
    from gitguard.transcripts.formats.openclaw import reading
    from gitguard.transcripts.formats.opencode import reading as opencode

    if name == "openclaw":
        return reading.newest_session(path)
    return opencode.newest_session(path)


def _by_lines(path: str) -> str:
    """Return the format that the first lines show, empty where none of them does."""
    return next(_shown(path), "")


def _shown(path: str) -> Iterator[str]:
    """Yield what each of the first lines shows, those left out that tell nothing."""
    for line in jsonl.first_documents(path):
        found = _by_line(path, line)
        del line
        if found:
            yield found


def _by_line(path: str, line: dict[str, Any]) -> str:
    if {"type", "payload", "timestamp"} <= line.keys():
        return "codex"
    if "projectHash" in line or "$set" in line:
        return "gemini"
    if {"id", "parentId"} <= line.keys() or (line.get("type") == "session" and "version" in line):
        folder, sessions = os.path.split(os.path.dirname(path))
        is_agents = sessions == "sessions" and os.path.basename(os.path.dirname(folder)) == "agents"
        return "openclaw" if is_agents else "pi"
    if "type" in line and line.keys() & _CLAUDE_CODE:
        return "claude-code"
    return ""


def _by_place(path: str) -> str:
    found = (name for place, name in _PLACES.items() if place in path.replace(os.sep, "/"))
    return next(found, "")
