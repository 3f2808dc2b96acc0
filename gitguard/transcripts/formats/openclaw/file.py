"""A session of OpenClaw 2026.3.13: `sessions/<id>.jsonl`, and `sessions/sessions.json` beside it.

A reset begins another file there, so within one there is none; later versions of it may have some.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.model.events import is_token_count
from gitguard.model.value import Value
from gitguard.store.disk.files import read_bytes
from gitguard.transcripts import jsonl
from gitguard.transcripts.entries import COMPACTION, RESET, backwards, parse, time_of, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.transcripts.jsonl import Tell

_TURNING_POINTS = (b'"compaction"', b'"reset"')
_LARGEST_INDEX = 1 << 24
"""Bytes of `sessions.json` beyond which looking a window up costs more than it is worth."""


class SessionFile(Value):
    """One session's lines."""

    path: str
    session: str

    def backwards(self) -> Iterator[bytes]:
        """Yield the lines from the last to the first."""
        return backwards(self.path)

    def forwards(self, since: int, tell: Tell | None = None) -> Iterator[bytes]:
        """Yield the lines behind an offset."""
        return jsonl.forwards(self.path, since, tell)

    def entries(self, since: int) -> Iterator[TranscriptEntry]:
        """Yield all lines behind an offset."""
        from gitguard.transcripts.session_entries import fields_of_openclaw

        return jsonl.entries(self.path, since, fields_of_openclaw)

    def turning_points(self, since: int) -> Iterator[tuple[int, str, float]]:
        """Yield compactions and resets behind an offset."""
        return jsonl.turning_points(self.path, since, _TURNING_POINTS, _turning_point)

    def cursor(self, since: int) -> int:
        """Return the offset to go on from."""
        return jsonl.cursor(self.path, since)

    def window(self) -> int:
        """Return the window that the session's entry tells, 0 if none does."""
        tokens = _entry(os.path.dirname(self.path), self.session).get("contextTokens")
        return tokens if isinstance(tokens, int) and is_token_count(tokens) else 0

    def __enter__(self) -> SessionFile:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing stays open between two questions."""


def _turning_point(line: bytes) -> tuple[str, str, float]:
    entry = parse(line)
    kind = str(entry.get("type"))
    name = str(entry.get("id") or "")
    return kind if kind in (COMPACTION, RESET) else "", name, time_of(entry)


def find_file(folder: str, session: str) -> SessionFile | None:
    """Return a session's file in an agent's folder, None when there is none.

    The session's id is safe in a path. Raises `InvalidDocument` when the agent's folder is missing.
    """
    if not os.path.isdir(folder):
        raise unreadable(folder, "there is no such folder")
    sessions = os.path.join(folder, "sessions")
    path = os.path.join(sessions, f"{session}.jsonl")
    if not os.path.exists(path):
        # One topic of a chat has its own file, which only the entry names.
        # Only its last part counts, so that the index cannot point out of the folder.
        named = os.path.basename(str(_entry(sessions, session).get("sessionFile", "")))
        path = os.path.join(sessions, named)
    return SessionFile(path, session) if os.path.isfile(path) else None


def newest_file(folder: str) -> str:
    """Return the session whose file was written last, empty where there is none."""
    sessions = os.path.join(folder, "sessions")
    try:
        files = [file for file in os.scandir(sessions) if file.name.endswith(".jsonl")]
        newest = max(files, key=lambda file: file.stat().st_mtime_ns, default=None)
    except OSError:
        return ""
    return newest.name.removesuffix(".jsonl") if newest else ""


def _entry(sessions: str, session: str) -> dict[str, Any]:
    """Return a session's entry in `sessions.json`, an empty one where that cannot be read."""
    try:
        index = read_bytes(os.path.join(sessions, "sessions.json"), limit=_LARGEST_INDEX)
    except InvalidDocument:
        return {}
    for entry in parse(index or b"").values():
        if isinstance(entry, dict) and entry.get("sessionId") == session:
            return entry
    return {}
