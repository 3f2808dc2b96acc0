"""Marks of our own faults: appended without a lock, counted when they are read.

A fault that comes back at every tool call fills the file; then it is written anew, each fault once
with its count, and what is oldest goes first.
"""

from __future__ import annotations

import os
import re

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.model.codec import dump_line, load_json
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_FILE = "faults.jsonl"
_MOST = 1 << 16
"""The size in bytes from which the file is written anew, at most half as large."""
_MOST_TOLD = 500
"""Characters of an error that are kept."""
_VARYING = re.compile(r"\b[0-9a-f]{7,64}\b|\d+(?:[.,:-]\d+)*")
"""Ids, numbers and times, by which two reports of one cause differ."""


def note(folders: Iterable[str], at: str, doing: str, error: str) -> None:
    """Leave a mark in the first folder that takes it; raise nothing, whatever happens."""
    line = dump_line({"at": at, "doing": doing, "error": error[:_MOST_TOLD]})
    for folder in folders:
        try:
            if os.path.isdir(folder):
                _make_room(os.path.join(folder, _FILE))
                files.append(os.path.join(folder, _FILE), line)
                return
        except (OSError, GitguardError):
            continue  # marking a fault must not raise another


def read(folders: Iterable[str]) -> list[dict[str, Any]]:
    """Return the marks, oldest first, one for each cause; `times` and `last` say how often it came.

    Marks that differ in numbers and ids alone have one cause; the newest text stands for it.
    """
    return _counted(mark for folder in folders for mark in _marks(os.path.join(folder, _FILE)))


def forget(folders: Iterable[str]) -> None:
    """Remove the marks."""
    for folder in folders:
        files.remove(os.path.join(folder, _FILE))


def _marks(path: str) -> list[dict[str, Any]]:
    try:
        lines, _ = files.complete_lines(path, offset=0, limit=2 * _MOST)
    except GitguardError as error:
        return [{"at": "", "doing": "reading faults", "error": error.message}]
    return [_mark(line) for line in lines]


def _mark(line: bytes) -> dict[str, Any]:
    try:
        return load_json(line, what="a fault")
    except InvalidDocument:
        return {"at": "", "doing": "unknown", "error": "unreadable mark"}


def _counted(marks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    by_cause: dict[tuple[str, str], dict[str, Any]] = {}
    for mark in marks:
        cause = str(mark.get("doing")), _VARYING.sub("0", str(mark.get("error")))
        first = by_cause.setdefault(cause, mark)
        if first is not mark:
            first["times"] = _times(first) + _times(mark)
            first["last"] = mark.get("last") or mark.get("at")
            first["error"] = mark.get("error")
    return list(by_cause.values())


def _times(mark: dict[str, Any]) -> int:
    times = mark.get("times")
    return times if isinstance(times, int) else 1


def _make_room(path: str) -> None:
    if not os.path.exists(path) or os.path.getsize(path) < _MOST:
        return
    newest_first: list[bytes] = []
    room = _MOST // 2
    for mark in sorted(_counted(_marks(path)), key=_last_seen, reverse=True):
        room -= len(line := dump_line(mark))
        if room < 0:
            break
        newest_first.append(line)
    files.write_bytes(path, b"".join(reversed(newest_first)))


def _last_seen(mark: dict[str, Any]) -> str:
    return str(mark.get("last") or mark.get("at"))
